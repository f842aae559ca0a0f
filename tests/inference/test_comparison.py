"""Paired differences, Holm's correction, winners and the verdict."""

import numpy as np
import pytest
from scipy import stats

import voros
from voros.inference.comparison import holm

SCENARIO = voros.Scenario(0.3, 0.3, (1 / 20, 1 / 10))


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(5)
    positive = rng.random(800) < 0.2
    signal = positive + rng.normal(size=800)
    return positive, {
        "poor": signal + 2 * rng.normal(size=800),
        "good": signal,
        "twin": signal + 0.1 * rng.normal(size=800),
    }


@pytest.fixture(scope="module")
def comparison(cases):
    positive, scores = cases
    return voros.compare(positive, scores, SCENARIO, n_resamples=500, random_state=0)


def test_every_pair_is_compared_the_better_first(comparison):
    assert [{p.first, p.second} for p in comparison.pairs] == [
        {"good", "twin"},
        {comparison.ranking[0], "poor"},
        {comparison.ranking[1], "poor"},
    ]
    assert all(pair.difference >= 0 for pair in comparison.pairs)
    pair = comparison.pair("poor", "good")
    expected = comparison.models["good"].estimate - comparison.models["poor"].estimate
    assert pair.difference == pytest.approx(expected)
    with pytest.raises(KeyError, match="'good' and 'nobody' were not compared"):
        comparison.pair("good", "nobody")


def test_differences_are_paired_resample_by_resample(comparison):
    pair = comparison.pair("good", "twin")
    first, second = comparison.models[pair.first], comparison.models[pair.second]
    assert np.allclose(pair.distribution, first.distribution - second.distribution)
    # The variation that both share through the same cases cancels.
    assert np.std(pair.distribution) < 0.5 * first.standard_error


def test_p_values_agree_with_intervals(comparison):
    for pair in comparison.pairs:
        assert (pair.p_value < 0.05) == (not pair.low <= 0 <= pair.high)


def test_the_verdict_tells_leads_from_chance(comparison):
    best = comparison.ranking[0]
    other = "twin" if best == "good" else "good"
    assert comparison.verdict.startswith(f"{best} has the highest partial VOROS")
    assert f"its lead over {other} could be chance" in comparison.verdict
    assert not comparison.differs(comparison.pair("good", "twin"))
    assert comparison.differs(comparison.pair(best, "poor"))


def test_shares_won_add_up_and_go_to_the_better(comparison):
    assert sum(comparison.shares_won.values()) == pytest.approx(1)
    assert comparison.shares_won["poor"] == 0


def test_a_tie_is_shared(cases):
    positive, scores = cases
    same = {"a": scores["good"], "b": 2 * scores["good"]}
    result = voros.compare(positive, same, SCENARIO, n_resamples=100, random_state=0)
    assert result.shares_won == {"a": 0.5, "b": 0.5}
    assert result.pairs[0].p_value == 1
    assert (result.pairs[0].low, result.pairs[0].high) == (0, 0)


def test_the_lower_expected_cost_wins(cases):
    positive, scores = cases
    result = voros.compare(
        positive, scores, SCENARIO, metric="expected_cost", n_resamples=200, random_state=0
    )
    assert result.ranking[-1] == "poor"
    assert result.pair("good", "poor").difference < 0
    assert result.shares_won["poor"] < 0.05
    assert "has the lowest expected cost" in result.verdict


def test_tables_hold_pairs_and_models(comparison):
    pytest.importorskip("pandas")
    frame = comparison.frame("pandas")
    assert frame["difference"].tolist() == [pair.difference for pair in comparison.pairs]
    assert comparison.models_frame("pandas")["model"].tolist() == list(comparison.ranking)
    assert comparison.verdict in repr(comparison)
    assert "<table>" in comparison._repr_html_()


def test_holms_correction_by_its_definition():
    rng = np.random.default_rng(0)
    for p_values in rng.random((50, 6)) ** 3:
        adjusted = holm(p_values)
        for level in (0.01, 0.05, 0.2):
            rejected, left = set(), sorted(range(6), key=lambda i: p_values[i])
            while left and p_values[left[0]] <= level / len(left):
                rejected.add(left.pop(0))
            assert {i for i in range(6) if adjusted[i] <= level} == rejected


def test_auroc_comparison_agrees_with_a_paired_test_on_placements(cases):
    positive, scores = cases
    result = voros.compare(
        positive,
        {name: scores[name] for name in ("good", "poor")},
        SCENARIO,
        metric="auroc",
        random_state=0,
    )

    def placements(score):
        above = np.mean(score[positive][:, None] > score[~positive], axis=1)
        below = np.mean(score[~positive][:, None] < score[positive], axis=1)
        return above, below

    good, poor = placements(scores["good"]), placements(scores["poor"])
    error = np.sqrt(sum(np.var(g - p, ddof=1) / len(g) for g, p in zip(good, poor, strict=True)))
    difference = good[0].mean() - poor[0].mean()
    pair = result.pairs[0]
    assert pair.difference == pytest.approx(difference)
    half_width = stats.norm.ppf(0.975) * error
    assert (pair.low, pair.high) == pytest.approx(
        (difference - half_width, difference + half_width), abs=0.2 * half_width
    )


def test_what_cannot_be_compared_is_refused(cases):
    positive, scores = cases
    with pytest.raises(ValueError, match="neither better nor worse"):
        voros.compare(positive, scores, SCENARIO, metric="threshold")
    with pytest.raises(ValueError, match="at least two"):
        voros.compare(positive, {"good": scores["good"]}, SCENARIO)


def test_progress_is_told_and_changes_nothing(cases, comparison):
    positive, scores = cases
    told = []
    again = voros.compare(
        positive,
        scores,
        SCENARIO,
        n_resamples=500,
        random_state=0,
        progress=lambda *done: told.append(done),
    )
    assert told == [(done, 500) for done in range(1, 501)]
    assert again.models["good"].distribution.tolist() == (
        comparison.models["good"].distribution.tolist()
    )
