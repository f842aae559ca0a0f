"""A capacity in each period, and visits that serve several alarms: against every choice."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from slower import slow

import voros
from voros.allocation import relaxation, search
from voros.allocation.relaxation import fill
from voros.allocation.search import Effort, Search
from voros.allocation.search_space import PeriodLimit, SearchSpace
from voros.exceptions import NeverAlarmWarning

EXCEED = (None, 0.0, 0.2, 0.4)


def draw(rng, n_cases, n_streams, n_values, n_days):
    while True:
        y = rng.random((n_cases, n_streams)) < 0.4
        if (y.any(axis=0) & ~y.all(axis=0)).all():
            return y, rng.integers(0, n_values, y.shape), rng.integers(0, n_days, n_cases)


def within(alarms, days, capacity, exceed, once):
    """Count the alarms of each day that has cases, and compare with the limit as documented."""
    counted = alarms.any(axis=1).astype(int) if once else alarms.sum(axis=1)
    per_day = np.array([counted[days == day].sum() for day in np.unique(days)])
    if per_day.sum() > capacity * len(per_day):
        return False
    above = Fraction(int((per_day > capacity).sum()), len(per_day))
    return exceed is None or above <= Fraction(str(exceed))


def cheapest(y, s, ratios, floors, allowed, once):
    """Least cost, then fewest alarms, over all choices of thresholds."""
    columns = [[*np.unique(column).tolist(), np.inf] for column in s.T]
    best = None
    for thresholds in itertools.product(*columns):
        alarms = s >= np.array(thresholds)
        tp, raised = (alarms & y).sum(axis=0), alarms.sum(axis=0)
        if (tp < floors * raised).any() or not allowed(alarms):
            continue
        cost = sum(
            ratio * int(n - r) + int(p - r)
            for ratio, n, r, p in zip(ratios, raised, tp, y.sum(axis=0), strict=True)
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


def medium(rng, n_streams, n_cases, limit, once):
    """Options with random savings that rise, and the cases they alarm, with ties."""
    saved, steps = [], []
    for _ in range(n_streams):
        size = int(rng.integers(8, 16))
        saved.append(np.append(0, np.cumsum(rng.integers(1, 30, size - 1))))
        steps.append(rng.integers(1, size + 4, n_cases).clip(max=size))
    periods = rng.integers(0, limit.n_periods, n_cases)
    return saved, steps, periods


def alarms_of(positions, steps, periods, limit, once):
    """Count the alarms of each period, case by case."""
    raised = np.array([step <= at for step, at in zip(steps, positions, strict=True)])
    counted = raised.any(axis=0) if once else raised.sum(axis=0)
    return np.array([counted[periods == p].sum() for p in range(limit.n_periods)])


def keeps(alarms, limit):
    return (alarms > limit.capacity).sum() <= limit.n_above and alarms.sum() <= limit.total


def every_choice(saved, steps, periods, limit, once):
    """What each choice within the limit saves, with its options and alarms of the periods."""
    for positions in itertools.product(*map(range, map(len, saved))):
        alarms = alarms_of(positions, steps, periods, limit, once)
        if keeps(alarms, limit):
            yield sum(int(s[i]) for s, i in zip(saved, positions, strict=True)), positions, alarms


LIMITS = [
    (True, PeriodLimit(20, 0, 1)),
    (True, PeriodLimit(7, 1, 5, 32)),
    (True, PeriodLimit(9, 0, 4)),
    (False, PeriodLimit(12, 0, 5)),
    (False, PeriodLimit(12, 2, 6, 70)),
    (False, PeriodLimit(12, 1, 6)),
]


def in_node(node, positions, alarms, limit):
    """Say whether a choice lies in a part of the space, and is not beyond what it says."""
    above = alarms > limit.capacity
    inside = np.all((node.low <= positions) & (positions <= node.high))
    return (
        inside and not np.any(above & node.within) and (node.above | above).sum() <= limit.n_above
    )


@pytest.mark.parametrize(("once", "limit"), LIMITS)
@pytest.mark.parametrize(
    ("neighbours", "max_gap"), [(64, 0.0), (0, 0.02), (0, 0.1), slow(64, 0.02), slow(0, 0.0)]
)
def test_every_step_of_a_search_bounds_the_best_choice(
    monkeypatch, once, limit, max_gap, neighbours
):
    """A better choice is in a part that is left, whose bound it keeps, at every step."""
    monkeypatch.setattr(search, "NEIGHBOURS", neighbours)
    monkeypatch.setattr(search, "EXACT_NODES", 2)
    data = medium(np.random.default_rng(limit.capacity), 3, 60, limit, once)
    choices = list(every_choice(*data, limit, once))
    best = max(saved for saved, _, _ in choices)
    space = SearchSpace.from_steps(*data, limit, once=once)
    state = Search(space, 1000.0, Effort(max_gap=max_gap))
    while not state.ended:
        state.step()
        assert keeps(alarms_of(state.best.options, *data[1:], limit, once), limit)
        assert state.best.saved <= best <= state.bound
        nodes = [node for _, _, node in state.nodes]
        for saved, positions, alarms in choices:
            # A long search drops choices that are better by less than the accepted gap.
            if saved - state.best.saved > max_gap * (1000 - state.best.saved):
                homes = [node for node in nodes if in_node(node, positions, alarms, limit)]
                assert max(node.bound for node in homes) + state.margin + 0.5 >= saved
    assert best - state.best.saved <= max_gap * (1000 - best) + 1e-9
    assert state.gap <= max_gap
    if max_gap == 0:
        assert state.best.saved == best
        assert state.best.alarms == min(a.sum() for s, _, a in choices if s == best)


@pytest.mark.parametrize("limit", [limit for once, limit in LIMITS if not once])
def test_no_two_streams_chosen_again_improve_an_improved_choice(limit):
    for seed in range(10):
        data = medium(np.random.default_rng(seed), 4, 60, limit, once=False)
        saved, steps, periods = data
        space = SearchSpace.from_steps(*data, limit, once=False)
        options = Search(space, 1000.0, Effort())._improved([0] * 4)
        total = sum(int(s[i]) for s, i in zip(saved, options, strict=True))
        for i, j in itertools.combinations(range(4), 2):
            rest = sum(int(saved[k][options[k]]) for k in range(4) if k not in (i, j))
            for at in itertools.product(range(len(saved[i])), range(len(saved[j]))):
                if rest + saved[i][at[0]] + saved[j][at[1]] > total:
                    moved = list(options)
                    moved[i], moved[j] = at
                    assert not keeps(alarms_of(moved, steps, periods, limit, once=False), limit)


def test_shares_of_cases_that_barely_lower_the_bound_are_left(monkeypatch):
    """Steps without an end each lowered it by a little less than the one before."""
    calls, generate = [], relaxation._generate

    def counted(*own):
        calls.append(own)
        assert len(calls) < 500
        return generate(*own)

    monkeypatch.setattr(search, "NEIGHBOURS", 0)
    monkeypatch.setattr(search, "EXACT_NODES", 2)
    monkeypatch.setattr(relaxation, "_generate", counted)
    limit = PeriodLimit(7, 1, 5, 32)
    data = medium(np.random.default_rng(7), 3, 60, limit, once=True)
    state = Search(SearchSpace.from_steps(*data, limit, once=True), 1000.0, Effort(max_gap=0.02))
    while not state.ended:
        state.step()
    assert state.gap <= 0.02


def test_a_search_that_drops_better_choices_counts_them_in_its_bound(monkeypatch):
    """Without rounding the choice stays poor, and all others are within the accepted gap."""
    monkeypatch.setattr(Search, "_within", lambda *_: None)
    monkeypatch.setattr(search, "EXACT_NODES", 1)
    limit = PeriodLimit(12, 0, 5)
    data = medium(np.random.default_rng(limit.capacity), 3, 60, limit, once=False)
    best = max(saved for saved, _, _ in every_choice(*data, limit, once=False))
    state = Search(SearchSpace.from_steps(*data, limit, once=False), 1000.0, Effort(max_gap=0.9))
    while state.nodes:
        state.step()
        assert state.bound >= best
    assert state.best.saved < best


def test_shares_count_no_more_than_the_cases_with_an_alarm():
    """Whatever the shares are, and all of the cases where each stream has one option."""
    rng, limit = np.random.default_rng(8), PeriodLimit(30, 0, 3)
    data = medium(rng, 3, 60, limit, once=True)
    space = SearchSpace.from_steps(*data, limit, once=True)
    high = np.array([len(saved) - 2 for saved in space.saved])
    for low in (np.zeros(3, dtype=int), high // 2, high):
        for power in (0, 1, 8):
            shares = space.shares_within(low, high, rng.random(space.steps.shape) ** power)
            tables = space.shared_tables(low, high, shares)
            for at in rng.integers(low, high + 1, (50, 3)):
                counted = sum(t[i] for t, i in zip(tables, at - low, strict=True))
                alarms = alarms_of(at, *data[1:], limit, once=True)
                assert np.all(counted <= alarms)
                assert np.all(counted >= (alarms - 1e-3) * (low == high).all())


@pytest.mark.parametrize("limit", [limit for once, limit in LIMITS if not once])
def test_the_best_of_all_choices_between_two_is_found(limit):
    rng = np.random.default_rng(limit.n_periods)
    data = medium(rng, 3, 60, limit, once=False)
    space = SearchSpace.from_steps(*data, limit, once=False)
    for _ in range(10):
        ends = [np.sort(rng.integers(0, len(saved), 2)) for saved in space.saved]
        low, high = np.array(ends).T
        best = space.best_between(low, high, space.chosen([0] * 3))
        inside = [
            (-saved, int(alarms.sum()), positions)
            for saved, positions, alarms in every_choice(*data, limit, once=False)
            if positions == (0, 0, 0) or np.all((low <= positions) & (positions <= high))
        ]
        assert (-best.saved, best.alarms) == min(inside)[:2]
        assert best.within
        assert (-best.saved, best.alarms, best.options) in inside


@pytest.mark.slow
@pytest.mark.parametrize(("once", "limit"), LIMITS)
def test_few_choices_are_tried_unless_that_takes_too_long(monkeypatch, once, limit):
    monkeypatch.setattr(search, "WEIGHED_EVERY", 1)
    data = medium(np.random.default_rng(limit.n_periods), 3, 60, limit, once)
    choices = every_choice(*data, limit, once)
    best = min((-saved, int(alarms.sum())) for saved, _, alarms in choices)
    space = SearchSpace.from_steps(*data, limit, once=once)
    for rate in (search.TRIED_IN_A_SECOND, 1.0):
        monkeypatch.setattr(search, "TRIED_IN_A_SECOND", rate)
        state = Search(space, 1000.0, Effort()).run()
        assert (-state.best.saved, state.best.alarms) == best
        assert state.gap == 0
        if rate > 1 and not once:
            assert state.n_nodes <= 2


def test_options_of_one_period_are_mixed_as_a_linear_program_does():
    rng, limit = np.random.default_rng(6), PeriodLimit(40, 0, 1)
    for _ in range(50):
        sizes = rng.integers(1, 12, 3)
        worth = [np.sort(rng.normal(size=size)) for size in sizes]
        alarms = [np.sort(rng.integers(0, 80, size) / 4)[:, None] for size in sizes]
        mixture = fill(limit, list(zip(worth, alarms, strict=True)))
        owner = np.repeat(np.arange(3), sizes)
        program = linprog(
            -np.concatenate(worth),
            np.concatenate(alarms).T,
            [limit.capacity],
            np.arange(3)[:, None] == owner,
            np.ones(3),
        )
        if mixture is None:
            assert program.status == 2
            continue
        shares, _, (price,), _ = mixture
        worths = [share @ own for share, own in zip(shares, worth, strict=True)]
        used = [share @ own for share, own in zip(shares, alarms, strict=True)]
        dual = price * limit.capacity
        dual += sum((own - price * a[:, 0]).max() for own, a in zip(worth, alarms, strict=True))
        assert sum(worths) == pytest.approx(-program.fun, rel=1e-9, abs=1e-9)
        assert dual == pytest.approx(-program.fun, rel=1e-9, abs=1e-9)
        assert sum(used) <= limit.capacity + 1e-9
        assert all(share.min() >= 0 and share.sum() == pytest.approx(1) for share in shares)


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
    counts = np.array([alarm[day == shift].sum() for shift in range(20)])
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
    with pytest.warns(NeverAlarmWarning, match="stream 'a': no threshold that raises an alarm"):
        policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.1), **how)
    assert policy.thresholds() == {"a": np.inf, "b": 4.0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exceed": 0.1}, r"exceed=0\.1 requires a capacity per period, such as per='day'"),
        ({"per": "day"}, "per='day' needs the period of each case"),
        ({"per": "day", "periods": [0, 1]}, "periods"),
        ({"periods": [0, 1, 0, 1]}, "periods needs a capacity per period"),
        ({"per": "day", "capacity": 0.5, "periods": [0] * 4}, "capacity=0.5 per 'day'; accepted"),
        ({"per": "day", "exceed": 2, "periods": [0] * 4}, "exceed=2; accepted is a share"),
    ],
)
def test_refusals_name_the_argument(changes, message):
    y, s = [[1, 0], [0, 1], [1, 1], [0, 0]], [[4, 1], [3, 2], [2, 3], [1, 4]]
    with pytest.raises(ValueError, match=message):
        voros.allocate(y, s, voros.Scenario(cost_ratio=0.1), **{"capacity": 2} | changes)


def test_new_cases_need_their_periods():
    y, s = [[1, 0], [0, 1], [1, 1], [0, 0]], [[4, 1], [3, 2], [2, 3], [1, 4]]
    how = {"capacity": 2, "per": "day", "periods": [0, 0, 1, 1]}
    policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.1), exceed=0.0, **how)
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
    said = re.search(r"at most (\S+) % above the least cost", repr(quick))
    assert said is not None
    assert 1 <= float(said[1]) / (100 * quick.certificate.gap) < 1.01
    assert voros.JointPolicy.from_json(quick.to_json()) == quick
    tested = quick.evaluate(y, s, periods=how["periods"])
    assert tested.capacity_kept
    better = voros.allocate(y, s, scenario, max_gap=0.02, **how)
    assert better.certificate.gap <= 0.02
    # The least cost is at most as high as either, and within what both say.
    assert better.default.cost <= quick.default.cost
    assert better.default.cost >= quick.default.cost * (1 - quick.certificate.gap) - 1e-6


def test_progress_is_reported_to_its_end():
    y, s, how = hard(160)
    seen = []
    voros.allocate(
        y, s, voros.Scenario(cost_ratio=0.2), progress=lambda *done: seen.append(done), **how
    )
    total = search.TIME_PARTS
    assert seen == [(done, total) for done in range(1, total + 1)]


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


@pytest.mark.parametrize("overlap", ["each", "once"])
def test_the_solver_prints_nothing(capfd: pytest.CaptureFixture[str], overlap: str) -> None:
    y, s, how = hard(160)
    voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), overlap=overlap, **how)
    assert capfd.readouterr() == ("", "")
