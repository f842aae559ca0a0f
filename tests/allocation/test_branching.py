"""A capacity in each period, and visits that serve several alarms: against every choice."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import voros
from voros.allocation import branching
from voros.allocation.prices import Cells, PeriodLimit, bound_of, price_cells
from voros.core.deficit_search import Options
from voros.exceptions import NeverAlarmWarning

EXCEED = (None, 0.0, 0.2, 0.4)


def draw(rng, n_cases, n_streams, n_values, n_days):
    while True:
        y = rng.random((n_cases, n_streams)) < 0.4
        if (y.any(axis=0) & ~y.all(axis=0)).all():
            return y, rng.integers(0, n_values, y.shape), rng.integers(0, n_days, n_cases)


def within(alarms, days, capacity, exceed, once):
    """Count the alarms of each day that has cases, and compare with the limit by its words."""
    counted = alarms.any(axis=1).astype(int) if once else alarms.sum(axis=1)
    each = np.array([counted[days == day].sum() for day in np.unique(days)])
    if each.sum() > capacity * len(each):
        return False
    above = Fraction(int((each > capacity).sum()), len(each))
    return exceed is None or above <= Fraction(str(exceed))


def cheapest(y, s, ratios, floors, allowed, once):
    """Least cost, then fewest alarms, over all choices of thresholds."""
    columns = [[*np.unique(column).tolist(), np.inf] for column in s.T]
    best = None
    for thresholds in itertools.product(*columns):
        alarms = s >= np.array(thresholds)
        right, raised = (alarms & y).sum(axis=0), alarms.sum(axis=0)
        if (right < floors * raised).any() or not allowed(alarms):
            continue
        cost = sum(
            ratio * int(n - r) + int(p - r)
            for ratio, n, r, p in zip(ratios, raised, right, y.sum(axis=0), strict=True)
        )
        used = int(alarms.any(axis=1).sum() if once else raised.sum())
        best = min(best or (cost, used), (cost, used))
    return best


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize("overlap", ["each", "once"])
@pytest.mark.parametrize("n_problems", [24, pytest.param(500, marks=pytest.mark.slow)])
def test_no_thresholds_cost_less_within_any_rule_on_periods(overlap, n_problems):
    rng, above = np.random.default_rng(n_problems), 0
    for i in range(n_problems):
        n_streams = int(rng.integers(1, 4))
        y, s, days = draw(rng, 16, n_streams, 7, int(rng.integers(1, 7)))
        ratios = [Fraction(1, int(k)) for k in rng.integers(2, 9, n_streams)]
        floors = rng.choice([0.0, 0.5, 0.75], n_streams)
        capacity, exceed, once = int(rng.integers(1, 5)), EXCEED[i % 4], overlap == "once"
        scenarios = {
            str(j): voros.Scenario(float(floor), cost_ratio=float(ratio))
            for j, (floor, ratio) in enumerate(zip(floors, ratios, strict=True))
        }
        limits = {"capacity": capacity, "per": "day", "exceed": exceed, "overlap": overlap}
        policy = voros.allocate(y, s, scenarios, periods=days, **limits)
        alarms = np.column_stack(list(policy.predict(s).values()))

        def allowed(raised, days=days, capacity=capacity, exceed=exceed, once=once):
            return within(raised, days, capacity, exceed, once)

        cost, used = cheapest(y, s, ratios, floors, allowed, once)
        assert allowed(alarms)
        assert policy.default.cost == pytest.approx(float(cost), rel=1e-12)
        assert (alarms.any(axis=1).sum() if once else alarms.sum()) == used
        assert policy.default.n_flagged_cases == (used if once else None)
        assert policy.certificate.relaxed_cost <= policy.default.cost + 1e-9
        above += policy.default.n_above > 0
    assert above > n_problems // 20


def milp_saved(options, cells):
    """What SciPy's integer program saves: options as columns, and a visit for each cell."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    sizes = [len(option.rows) for option in options]
    first = np.cumsum([0, *sizes])
    n_cells, total = len(cells.sizes), first[-1]
    above = total + n_cells + np.arange(cells.limit.n_periods)
    need, load = [], np.zeros((cells.limit.n_periods, above[-1] + 1))
    one = np.zeros((len(sizes), above[-1] + 1))
    for i, size in enumerate(sizes):
        one[i, first[i] : first[i + 1]] = 1
        for cell in np.flatnonzero(cells.step[i] < size):
            row = np.zeros(above[-1] + 1)
            row[first[i] + cells.step[i][cell] : first[i + 1]], row[total + cell] = -1, 1
            need.append(row)
    load[cells.periods, total + np.arange(n_cells)] = cells.sizes
    load[np.arange(cells.limit.n_periods), above] = -cells.sizes.sum()
    few = np.zeros(above[-1] + 1)
    few[above] = 1
    limits = [
        LinearConstraint(one, 1, 1),
        LinearConstraint(np.array(need), 0, np.inf),
        LinearConstraint(load, -np.inf, cells.limit.capacity),
        LinearConstraint(few[None], -np.inf, cells.limit.n_above),
    ]
    worth = np.zeros(above[-1] + 1)
    worth[:total] = -np.concatenate([option.saved for option in options])
    found = milp(worth, constraints=limits, integrality=1, bounds=Bounds(0, 1))
    return -found.fun


def medium(rng, n_streams, n_cases, limit, once):
    """Options with random savings that rise, and the cases they alarm, with ties."""
    options, steps = [], []
    for _ in range(n_streams):
        size = int(rng.integers(8, 16))
        saved = np.append(0, np.cumsum(rng.integers(1, 30, size - 1)))
        options.append(Options(np.arange(size), saved, np.arange(size)))
        steps.append(rng.integers(1, size + 4, n_cases).clip(max=size))
    periods = rng.integers(0, limit.n_periods, n_cases)
    sizes = [len(option.rows) for option in options]
    return options, Cells.from_steps(steps, sizes, periods, limit, once=once)


LIMITS = [
    (True, PeriodLimit(30, 0, 1)),
    pytest.param(True, PeriodLimit(12, 1, 5), marks=pytest.mark.slow),
    (False, PeriodLimit(20, 0, 5)),
    pytest.param(False, PeriodLimit(25, 2, 6), marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("once", "limit"), LIMITS)
def test_equals_an_integer_program(once, limit):
    rng = np.random.default_rng(limit.capacity)
    for _ in range(3):
        options, cells = medium(rng, 4, 80, limit, once)
        problem = branching._Problem(options, cells, price_cells(options, cells))
        found = branching._Best(problem, 1000.0, branching.Effort()).found()
        assert found.gap == 0
        saved = found.chosen.saved
        assert saved == pytest.approx(milp_saved(options, cells), abs=1e-6)
        assert saved <= bound_of(options, cells, problem.prices) + 1e-6
        assert limit.holds(cells.loads(problem._marked(found.chosen.positions)))


@pytest.mark.parametrize(("once", "limit"), [(True, PeriodLimit(12, 1, 5, 55)), *LIMITS])
def test_every_step_of_a_search_bounds_the_best_choice(once, limit):
    """The first choice, the search that is ended and the program: best within what each says."""
    rng = np.random.default_rng(limit.capacity)
    options, cells = medium(rng, 3, 60, limit, once)
    prices = price_cells(options, cells)
    problem = branching._Problem(options, cells, prices)
    best = max(
        sum(int(o.saved[i]) for o, i in zip(options, at, strict=True))
        for at in itertools.product(*(range(len(o.rows)) for o in options))
        if limit.holds(cells.loads(problem._marked(at)))
    )
    found = branching._Best(problem, 1000.0, branching.Effort())
    for step in (lambda: None, found._improve, found._solve):
        step()
        assert limit.holds(cells.loads(problem._marked(found.chosen.positions)))
        assert found.chosen.saved <= best <= found.bound + 1e-6 * best
    assert found.chosen.saved == best
    assert found.gap < 1e-5


def test_one_period_with_a_plain_sum_is_the_shared_capacity():
    rng = np.random.default_rng(3)
    y = rng.random((400, 3)) < 0.3
    s = rng.normal(size=y.shape) + y
    scenario = voros.Scenario(0.4, cost_ratio=0.2)
    plain = voros.allocate(y, s, scenario, capacity=90)
    once = {"capacity": 90, "per": "year", "exceed": 0.0, "periods": np.zeros(400)}
    by_period = voros.allocate(y, s, scenario, **once)
    assert by_period.default.cost == plain.default.cost
    assert sum(by_period.default.alarms) == sum(plain.default.alarms)
    assert by_period.default.n_above == 0


def test_groups_share_the_capacity_of_each_day():
    rng = np.random.default_rng(5)
    ward, y = rng.choice(["a", "b"], 300), rng.random(300) < 0.3
    s, day = rng.normal(size=300) + 1.5 * y, rng.integers(0, 20, 300)
    scenario = voros.Scenario(cost_ratio=0.1)
    limits = {"capacity": 3, "per": "shift", "exceed": 0.1, "periods": day}
    policy = voros.allocate(y, s, scenario, by=ward, **limits)
    tested = policy.evaluate(y, s, by=ward, periods=day)
    alarm = policy.predict(s, by=ward)
    counts = np.array([alarm[day == each].sum() for each in range(20)])
    assert tested.by_period.alarms == tuple(counts)
    assert tested.by_period.n_above == policy.default.n_above == (counts > 3).sum() <= 2
    assert tested.capacity_kept
    assert "2 periods above 3: kept" in repr(tested)
    assert voros.JointPolicy.from_json(policy.to_json()) == policy
    stricter = voros.allocate(y, s, scenario, by=ward, **limits | {"exceed": 0.0})
    assert stricter.default.cost >= policy.default.cost
    crowded = stricter.evaluate(y, s, by=ward, periods=np.zeros(300))
    assert not crowded.capacity_kept
    assert crowded.by_period.n_above == 1


def test_calendar_days_without_a_case_count():
    """Two days between the cases have none: the mean is over all four."""
    y, s = [1, 1, 0, 1, 1, 0], [6, 5, 4, 6, 5, 4]
    times = ["2024-01-01"] * 3 + ["2024-01-04"] * 3
    how = {"capacity": 1, "per": "day", "by": list("ababab"), "times": times}
    mean = voros.allocate(y, s, voros.Scenario(cost_ratio=0.1), **how)
    assert mean.max_alarms == 4
    never = voros.allocate(y, s, voros.Scenario(cost_ratio=0.1), exceed=0.0, **how)
    assert (sum(mean.default.alarms), sum(never.default.alarms)) == (4, 2)


def test_a_stream_that_no_period_has_place_for_warns():
    y, s = {"a": [1, 1, 0, 0], "b": [1, 1, 0, 0]}, {"a": [2, 2, 2, 1], "b": [4, 3, 2, 1]}
    how = {"capacity": 1, "per": "day", "exceed": 0.0, "periods": [0, 0, 1, 1]}
    with pytest.warns(NeverAlarmWarning, match="stream 'a': no threshold but never alarm"):
        policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.1), **how)
    assert policy.thresholds() == {"a": np.inf, "b": 4.0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exceed": 0.1}, r"per, which exceed=0\.1 needs"),
        ({"per": "day"}, "per='day' needs the period of each case"),
        ({"per": "day", "periods": [0, 1]}, "periods"),
        ({"periods": [0, 1, 0, 1]}, "periods needs a capacity per period"),
        ({"per": "day", "capacity": 0.5, "periods": [0] * 4}, "capacity=0.5 per 'day'; accepted"),
        ({"per": "day", "n_periods": 2}, "n_periods=2 and per='day' exclude"),
        ({"per": "day", "exceed": 2, "periods": [0] * 4}, "exceed=2; accepted is a share"),
    ],
)
def test_refusals_name_the_argument(changes, message):
    y, s = [[1, 0], [0, 1], [1, 1], [0, 0]], [[4, 1], [3, 2], [2, 3], [1, 4]]
    with pytest.raises(ValueError, match=message):
        voros.allocate(y, s, voros.Scenario(cost_ratio=0.1), **{"capacity": 2} | changes)


def test_shares_of_a_limit_on_each_period_are_refused():
    y, s = [[1, 0], [0, 1], [1, 1], [0, 0]], [[4, 1], [3, 2], [2, 3], [1, 4]]
    how = {"capacity": 2, "per": "day", "periods": [0, 0, 1, 1]}
    policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.1), exceed=0.0, **how)
    with pytest.raises(ValueError, match=r"exceed=0\.0 of the policy: streams have shares"):
        policy.stream_scores(y, s, periods=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="needs the period of each case"):
        policy.evaluate(y, s)


def hard(n_cases=400):
    rng = np.random.default_rng(14)
    y, s, days = draw(rng, n_cases, 4, n_cases, n_cases // 20)
    return y, s + y, {"capacity": 6, "per": "day", "exceed": 0.2, "periods": days}


def test_a_search_that_is_ended_says_how_far_it_may_be_off():
    y, s, how = hard()
    scenario = voros.Scenario(cost_ratio=0.2)
    quick = voros.allocate(y, s, scenario, max_seconds=1e-6, **how)
    assert 0 < quick.certificate.gap < 1
    assert f"at most {quick.certificate.gap:.2%} above the least cost" in repr(quick)
    assert voros.JointPolicy.from_json(quick.to_json()) == quick
    tested = quick.evaluate(y, s, periods=how["periods"])
    assert tested.capacity_kept
    better = voros.allocate(y, s, scenario, max_gap=0.02, **how)
    assert better.certificate.gap <= 0.02
    # The least cost is at most as high as either, and within what both say.
    assert better.default.cost <= quick.default.cost
    assert better.default.cost >= quick.default.cost * (1 - quick.certificate.gap) - 1e-6


def test_the_work_of_a_search_is_limited_and_reported(monkeypatch):
    y, s, how = hard(160)
    monkeypatch.setattr(branching, "MOST_WORK", 1)
    seen = []
    policy = voros.allocate(
        y, s, voros.Scenario(cost_ratio=0.2), progress=lambda *done: seen.append(done), **how
    )
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert policy.certificate.n_states == 1
    monkeypatch.undo()
    exact = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), **how)
    # The integer program went on, and found the same cost.
    assert policy.default.cost == pytest.approx(exact.default.cost, rel=1e-5)
    assert policy.certificate.gap < 1e-4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_seconds": 0}, "max_seconds=0; accepted is a number of seconds above 0"),
        ({"max_gap": 1}, "max_gap=1; accepted is a share of the cost"),
        ({"progress": "yes"}, "progress='yes'; accepted are True, False"),
    ],
)
def test_when_to_stop_is_checked(changes, message):
    y, s, how = hard(160)
    with pytest.raises(ValueError, match=message):
        voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), **how, **changes)
