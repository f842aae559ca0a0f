from __future__ import annotations

import numpy as np
import oracles
import pytest

import voros
from voros import Scenario, evaluate


@pytest.fixture(scope="module")
def problem() -> oracles.Problem:
    rng = np.random.default_rng(11)
    y_true = (rng.random(150) < 0.4).astype(int)
    y_score = (rng.normal(size=150) + y_true).round(1)
    return oracles.Problem(
        y_true.tolist(), y_score.tolist(), oracles.Fraction(2, 5), oracles.Fraction(75), 0.05, 0.6
    )


@pytest.fixture(scope="module")
def result(problem) -> voros.evaluation.Evaluation:
    scenario = Scenario(min_precision=0.4, capacity=0.5, cost_ratio=(0.05, 0.6))
    return evaluate(problem.y_true, problem.y_score, scenario)


def test_score_equals_brute_force(problem, result) -> None:
    assert result.score == pytest.approx(oracles.partial_voros(problem), abs=1e-10)


def test_choices_cover_the_range_of_costs_without_gap(result) -> None:
    lows = [c.cost_ratio_low for c in result.choices]
    highs = [c.cost_ratio_high for c in result.choices]
    assert (lows[0], highs[-1]) == (0.05, 0.6)
    assert lows[1:] == highs[:-1]
    assert len(lows) > 1


def test_each_choice_is_the_cheapest_feasible_threshold_on_its_interval(problem, result) -> None:
    for choice in result.choices:
        for ratio in np.linspace(choice.cost_ratio_low, choice.cost_ratio_high, 7):
            cheapest = min(ratio * fp - tp for tp, fp in oracles.feasible_counts(problem))
            assert ratio * choice.fp - choice.tp == pytest.approx(cheapest, abs=1e-9)


def test_each_choice_counts_what_its_threshold_flags(problem, result) -> None:
    y_true, y_score = np.array(problem.y_true), np.array(problem.y_score)
    for choice in result.choices:
        flagged = y_score >= choice.threshold
        assert choice.tp == (flagged & (y_true == 1)).sum()
        assert choice.alarms == flagged.sum() == choice.tp + choice.fp
        assert choice.precision == pytest.approx(y_true[flagged].mean())
        assert choice.recall == pytest.approx(choice.tp / y_true.sum())


def test_normalised_area_at_any_cost_equals_brute_force(problem, result) -> None:
    ratios = [0.001, 0.05, 0.2, 0.6, 0.66, 3.0]
    expected = [oracles.best_share(problem, c) for c in ratios]
    assert result.normalised_area(ratios) == pytest.approx(expected, abs=1e-12)
    assert result.normalised_area(0.2) == pytest.approx(expected[2], abs=1e-12)
    assert isinstance(result.normalised_area(0.2), float)
    assert 0 <= result.normalised_area(np.inf) <= 1
    with pytest.raises(ValueError, match="cost_ratio=-1; accepted are numbers of at least 0"):
        result.normalised_area(-1)


def test_the_mean_of_the_normalised_area_is_the_score(result) -> None:
    ratios = np.linspace(0.05, 0.6, 20_001)
    assert result.normalised_area(ratios).mean() == pytest.approx(result.score, abs=1e-4)


def test_highest_precision_within_capacity(problem, result) -> None:
    within = [(tp, fp) for tp, fp in oracles.count_thresholds(problem) if 0 < tp + fp <= 75]
    precision, tp = max((tp / (tp + fp), tp) for tp, fp in within)
    assert result.most_precise.precision == pytest.approx(precision)
    assert result.most_precise.recall == pytest.approx(tp / problem.n_positive)


def test_a_known_cost_has_one_choice(problem) -> None:
    result = evaluate(problem.y_true, problem.y_score, Scenario(cost_ratio=0.2))
    assert len(result.choices) == 1
    assert result.choices[0].cost_ratio_low == result.choices[0].cost_ratio_high == 0.2


def test_shows_itself_in_a_terminal_and_in_a_notebook(result) -> None:
    text, html = repr(result), result._repr_html_()
    for shown in (text, html):
        assert f"{result.score:.3f}" in shown
        assert "precision" in shown
        assert f"{result.choices[0].threshold:.6g}" in shown
    assert html.count("<tr>") == len(result.summary()) + 1 + len(result.choices)


def test_a_long_table_of_choices_is_cut_and_counted() -> None:
    rng = np.random.default_rng(0)
    y_true = (rng.random(5000) < 0.5).astype(int)
    scenario = Scenario(cost_ratio=(0.01, 5))
    result = evaluate(y_true, rng.normal(size=5000) + y_true, scenario)
    rest = len(result.choices) - 12
    assert rest > 0
    assert repr(result).endswith(f"... and {rest} more")
    assert f"... and {rest} more" in result._repr_html_()


def test_never_alarm_is_named_in_the_table() -> None:
    with pytest.warns(voros.NeverAlarmWarning):
        result = evaluate([0, 1, 0], [3, 2, 1], Scenario(min_precision=0.9, cost_ratio=0.1))
    assert "only raising no alarm" in repr(result)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_in_every_library(result, library) -> None:
    module = pytest.importorskip(library)
    kinds = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table"}
    table = result.frame(library)
    assert isinstance(table, getattr(module, kinds[library]))
    assert len(table) == len(result.choices)


def test_an_unknown_table_library_is_refused(result) -> None:
    with pytest.raises(ValueError, match="backend='excel' is not one of pandas, polars, pyarrow"):
        result.frame("excel")
