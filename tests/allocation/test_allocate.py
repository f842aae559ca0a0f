"""`allocate` against every choice of thresholds, counted case by case."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from slower import slow

import voros
from voros.exceptions import NeverAlarmWarning


def outcomes(rng, n_cases=14, n_streams=2, n_scores=8):
    y = rng.random((n_cases, n_streams)) < 0.4
    y[0], y[1] = True, False
    return y, rng.integers(0, n_scores, (n_cases, n_streams)) + 2 * y


def candidates(scores):
    return [np.inf, *np.unique(scores)]


def keeps_floor(y, alarm, floor):
    return (y & alarm).sum() >= Fraction(floor).limit_denominator(100) * alarm.sum()


def cheapest(y, s, ratios, weights, floors, count, most):
    """Try every threshold of every stream; ``count`` says how alarms are counted."""
    best = None
    for thresholds in itertools.product(*(candidates(column) for column in s.T)):
        alarms = s >= np.array(thresholds)
        if count(alarms) > most:
            continue
        columns = zip(y.T, alarms.T, floors, strict=True)
        if not all(keeps_floor(*column) for column in columns):
            continue
        cost = sum(
            w * (c * int((a & ~p).sum()) + int((p & ~a).sum()))
            for w, c, p, a in zip(weights, ratios, y.T, alarms.T, strict=True)
        )
        key = (cost, int(count(alarms)))
        best = min(best or key, key)
    return best


def total(alarms):
    return alarms.sum()


def union(alarms):
    return alarms.any(axis=1).sum()


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize(
    ("overlap", "count", "n_problems"),
    [("each", total, 60), ("once", union, 10), slow("each", total, 120), slow("once", union, 40)],
)
def test_no_thresholds_cost_less(overlap, count, n_problems):
    rng = np.random.default_rng(0)
    for _ in range(n_problems):
        n_streams = int(rng.integers(1, 4))
        y, s = outcomes(rng, 12, n_streams, 6)
        ratios = [Fraction(1, int(k)) for k in rng.integers(2, 9, n_streams)]
        weights = [int(w) for w in rng.integers(1, 4, n_streams)]
        floors = rng.choice([0.0, 0.5, 0.75], n_streams)
        names = [str(i) for i in range(n_streams)]
        most = int(rng.integers(1, 12))
        scenarios = {
            name: voros.Scenario(float(floor), cost_ratio=float(ratio))
            for name, floor, ratio in zip(names, floors, ratios, strict=True)
        }
        with_capacity = {"capacity": most, "overlap": overlap}
        policy = voros.allocate(
            y, s, scenarios, miss_weight=dict(zip(names, weights, strict=True)), **with_capacity
        )
        alarms = np.column_stack(list(policy.predict(s).values()))
        cost, used = cheapest(y, s, ratios, weights, floors, count, most)
        assert policy.default.cost == pytest.approx(float(cost), rel=1e-12)
        assert count(alarms) == used


def test_streams_of_other_forms_are_the_same():
    pd, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    y, s = outcomes(np.random.default_rng(1), 40, 3, 30)
    scenario = voros.Scenario(0.4, cost_ratio=0.2)
    expected = voros.allocate(y, s, scenario, capacity=0.5)
    names = ["0", "1", "2"]
    frames = [pd.DataFrame(matrix, columns=names) for matrix in (y.astype(int), s)]
    assert voros.allocate(*frames, scenario, capacity=0.5) == expected
    mapping = [dict(zip(names, matrix.T, strict=True)) for matrix in (y, s)]
    assert voros.allocate(*mapping, scenario, capacity=0.5) == expected
    assert voros.allocate(sparse.csr_matrix(y), s, scenario, capacity=0.5) == expected
    proba = [np.column_stack([1 - column, column]) for column in s.T]
    assert voros.allocate(y, proba, scenario, capacity=0.5) == expected


def groups_data(seed, n_cases=60):
    rng = np.random.default_rng(seed)
    ward = rng.choice(["a", "b", "c"], n_cases)
    y = rng.random(n_cases) < 0.35
    return y, rng.integers(0, 25, n_cases) + 5 * y, ward


def test_groups_are_streams_of_their_own_cases():
    y, s, ward = groups_data(2)
    scenario = voros.Scenario(0.4, cost_ratio=0.25)
    policy = voros.allocate(y, s, scenario, capacity=0.3, by=ward)
    points = {
        name: voros.OperatingPoints.from_scores(y[ward == name], s[ward == name]) for name in "abc"
    }
    assert voros.allocate(points, scenario=scenario, capacity=0.3) == policy
    alarm = policy.predict(s, by=ward)
    assert alarm.sum() == sum(policy.default.alarms) <= 18
    limits = np.array([policy.thresholds()[name] for name in ward])
    assert np.array_equal(alarm, s >= limits)


def test_evaluation_counts_case_by_case():
    rng = np.random.default_rng(4)
    y, s = outcomes(rng, 200, 2, 100)
    scenario = voros.Scenario(0.5, cost_ratio=(0.1, 0.3))
    policy = voros.allocate(y, s, scenario, capacity=40, miss_weight={"0": 2.0, "1": 1.0})
    new_y, new_s = outcomes(rng, 150, 2, 100)
    tested = policy.evaluate(new_y, new_s)
    alarms = new_s >= np.array(policy.default.thresholds)
    assert [stream.tp for stream in tested.streams] == (alarms & new_y).sum(axis=0).tolist()
    assert [stream.fp for stream in tested.streams] == (alarms & ~new_y).sum(axis=0).tolist()
    misses = (~alarms & new_y).sum(axis=0)
    fp = (alarms & ~new_y).sum(axis=0)
    assert tested.cost == pytest.approx(2 * (0.2 * fp[0] + misses[0]) + 0.2 * fp[1] + misses[1])
    assert tested.alarms == alarms.sum()
    assert tested.capacity_kept == (alarms.sum() <= 40)
    pytest.importorskip("pandas")
    assert len(tested.frame()) == 2
    assert "together" in repr(tested)
    assert "<table>" in tested._repr_html_()


def test_intervals_are_clopper_pearson():
    from scipy.stats import binomtest

    y, s = outcomes(np.random.default_rng(5), 100, 1, 60)
    policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.3)
    (stream,) = policy.evaluate(y, s).streams
    limits = binomtest(stream.tp, stream.alarms).proportion_ci(0.95, "exact")
    assert stream.precision_interval == pytest.approx((limits.low, limits.high))


def test_saved_and_read_back_the_same(tmp_path):
    y, s = outcomes(np.random.default_rng(9), 60, 2, 50)
    costs = {"0": voros.Scenario(0.4, cost_ratio=(0.1, 0.4)), "1": voros.Scenario(cost_ratio=0.1)}
    policy = voros.allocate(y, s, costs, capacity=0.5)
    path = tmp_path / "joint.json"
    policy.to_json(path)
    assert voros.JointPolicy.from_json(path) == policy
    text = policy.to_json().replace('"n_states": ', '"n_states": 9')
    with pytest.raises(ValueError, match="was changed after it was saved"):
        voros.JointPolicy.from_json(text)
    text = policy.to_json().replace('"overlap": "each"', '"overlap": "once"')
    with pytest.raises(ValueError, match="was changed after it was saved"):
        voros.JointPolicy.from_json(text.replace('"once"', '"twice"'))


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
def test_more_capacity_never_costs_more_and_never_alarm_saves_nothing():
    y, s = outcomes(np.random.default_rng(12), 80, 3, 40)
    scenario = voros.Scenario(0.5, cost_ratio=0.2)
    saved = [voros.allocate(y, s, scenario, capacity=k).saved_share for k in range(2, 100, 9)]
    assert saved == sorted(saved)
    assert saved[0] >= 0
    assert saved[-1] <= 1
    strict = voros.Scenario(1.0, cost_ratio=0.2)
    assert voros.allocate(y, s, strict, capacity=60).saved_share <= saved[-1]


def test_a_floor_that_cannot_be_met_warns_and_names_the_stream():
    y = {"ok": [1, 1, 0, 0], "bad": [0, 0, 1, 1]}
    s = {"ok": [4, 3, 2, 1], "bad": [4, 3, 2, 1]}
    with pytest.warns(NeverAlarmWarning, match="stream 'bad': no threshold that raises an alarm"):
        policy = voros.allocate(y, s, voros.Scenario(0.9, cost_ratio=0.1), capacity=0.5)
    assert policy.thresholds() == {"ok": 3.0, "bad": np.inf}
    assert "never" in policy._repr_html_()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"capacity": 0}, "capacity=0; accepted is a float within"),
        ({"capacity": 1.5}, "capacity=1.5; accepted is a float within"),
        ({"y_true": None}, "y_true"),
        (
            {"miss_weight": 1e308},
            r"miss_weight=1e\+308 of stream '0'; accepted is a number above 0",
        ),
        ({"miss_weight": 10**400}, "miss_weight=10+ of stream '0'; accepted is a number above 0"),
        ({"capacity": True}, "capacity=True; accepted is a float within"),
        ({"miss_weight": -1}, "miss_weight=-1 of stream '0'; accepted is a number above 0"),
        ({"miss_weight": {"0": 1}}, "miss_weight is given for '0'; accepted is one for all"),
        ({"overlap": "twice"}, "overlap='twice'"),
        (
            {"scenario": voros.Scenario(cost_ratio=0.1, capacity=2, per="day")},
            "per='day' of stream '0': a capacity for each period is the shared one",
        ),
        ({"scenario": voros.Scenario(cost_ratio=0.1, prevalence=0.2)}, "prevalence=0.2 of stream"),
        (
            {"guarantee": voros.Guarantee(0.9, horizon=10)},
            "horizon=10: a shared capacity is promised for the population",
        ),
        (
            {
                "guarantee": voros.Guarantee(0.9),
                "groups": [0, 0, 1, 1],
                "per": "day",
                "periods": [0, 0, 1, 1],
            },
            "groups and a guarantee per period are mutually exclusive",
        ),
        (
            {
                "guarantee": voros.Guarantee(0.9),
                "per": "day",
                "exceed": 0.0,
                "periods": [0, 0, 1, 1],
            },
            "exceed=0.0: no number of periods can show",
        ),
        ({"groups": [0, 0, 1, 1]}, "which only a guarantee uses"),
    ],
)
def test_refusals_name_the_argument(changes, message):
    y, s = [[1, 0], [0, 1], [1, 1], [0, 0]], [[4, 1], [3, 2], [2, 3], [1, 4]]
    arguments = {"scenario": voros.Scenario(cost_ratio=0.1), "capacity": 2} | changes
    scenario, y = arguments.pop("scenario"), arguments.pop("y_true", y)
    with pytest.raises(ValueError, match=message):
        voros.allocate(y, s, scenario, **arguments)


def test_new_cases_of_other_streams_are_refused():
    y, s, ward = groups_data(13)
    policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.3, by=ward)
    with pytest.raises(ValueError, match="by is needed"):
        policy.predict(s)
    with pytest.raises(ValueError, match="by holds 'd'; accepted are 'a', 'b', 'c'"):
        policy.predict(s[:1], by=["d"])


@pytest.mark.parametrize("by", [None, np.arange(100) % 2])
def test_whole_numbers_that_no_threshold_sets_apart_are_refused(by):
    labels, scores = np.repeat([0, 1], 50), 2**60 + np.arange(100)
    labels_and_scores = (labels, scores) if by is not None else ({"a": labels}, {"a": scores})
    ward = voros.Scenario(0.5, 0.3, (0.1, 0.3))
    with pytest.raises(ValueError, match=r"whole numbers of 2\*\*53 or beyond"):
        voros.allocate(*labels_and_scores, ward, capacity=20, by=by)
