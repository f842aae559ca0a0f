"""The bound against a closed form, small populations counted out, and worst cases drawn."""

from __future__ import annotations

import numpy as np
import pytest
from fixed_sequences import sequence
from scipy.stats import beta, binom, norm

from voros.guarantee.next_cases.fixed_sequence import FixedSequence, needed_to_keep
from voros.guarantee.next_cases.needed import RiskBound, requirement


def by_margin(walk: FixedSequence, margin: float) -> np.ndarray:
    alarms = np.arange(walk.start - 1, walk.most + 1)
    wanted = np.ceil(walk.min_precision * alarms + margin * walk.deviation(alarms)).astype(int)
    rising = np.maximum.accumulate(wanted)
    return np.maximum.accumulate((rising - alarms)[::-1])[::-1] + alarms


@pytest.mark.parametrize("horizon", [20_000, 60_000])
@pytest.mark.parametrize("margin", [1.6, 2.5])
def test_with_many_cases_the_risk_of_a_margin_is_that_of_one_normal_test(
    horizon: int, margin: float
) -> None:
    walk = sequence(20_000, horizon, 0.5, 0.05, 1_600, 4_000)
    # More by what holds between the points that are computed, and by the order of risky places.
    risk = RiskBound(walk).risk(by_margin(walk, margin))
    assert norm.sf(margin) < risk < 2 * norm.sf(margin)


def one_bad_threshold(
    walk: FixedSequence, needed: np.ndarray, share: float, precision: np.ndarray
) -> np.ndarray:
    """Risk where every case above a threshold has the same chance, and none below it any.

    Every threshold up to there has this precision, so the walk deploys the last one it passes;
    the risk is at least that of passing there and breaking there.
    """
    alarms = np.arange(walk.n_cases + 1)
    tested = (alarms >= walk.start) & (alarms <= walk.most)
    risks = []
    for one in precision:
        passes = binom.sf(needed[alarms[tested] - walk.start + 1] - 1, alarms[tested], one)
        future = np.arange(1, walk.horizon + 1)
        breaks = binom.cdf(needed_to_keep(future, walk.min_precision) - 1, future, one)
        risks.append(
            (binom.pmf(alarms[tested], walk.n_cases, share) @ passes)
            * (binom.pmf(future, walk.horizon, share) @ breaks)
        )
    return np.array(risks)


@pytest.mark.parametrize(
    "walk",
    [
        sequence(400, 400, 0.4, 0.1, 40, 200),
        sequence(300, 30, 0.05, 0.1, 60, 200),
        sequence(200, 2000, 0.8, 0.1, 60, 150),
    ],
)
def test_no_single_threshold_has_more_risk_than_the_bound(walk: FixedSequence) -> None:
    needed = requirement(walk)
    bound = RiskBound(walk).risk(needed)
    shares = np.linspace(1.3 * walk.start, walk.most, 12) / walk.n_cases
    precision = np.linspace(0.5, 1.0, 40) * min(1.0, 3 * walk.min_precision)
    for share in shares.tolist():
        assert one_bad_threshold(walk, needed, share, precision).max() <= bound


def by_quadrature(walk: FixedSequence, needed: int) -> float:
    """Chance to start and break, if the precision at the start is worst for each future.

    The chance of a broken floor falls with the precision: its fall, times the chance to start.
    """
    levels = (np.arange(200) + 0.5) / 200
    precision = np.linspace(0.0, 1.0, 2001)
    starts = binom.sf(needed - 1, walk.start - 1, (precision[1:] + precision[:-1]) / 2)
    future = np.arange(1, walk.horizon + 1)
    breaks = binom.cdf(
        needed_to_keep(future, walk.min_precision)[:, None] - 1, future[:, None], precision
    )
    shares = beta.ppf(levels, walk.start, walk.n_cases - walk.start + 1)
    chance = np.array([binom.pmf(future, walk.horizon, share) @ breaks for share in shares])
    return float(np.mean(-np.diff(chance, axis=1) @ starts))


@pytest.mark.parametrize("needed", [26, 30, 36])
def test_the_start_alone_has_the_risk_of_one_test(needed: int) -> None:
    walk = sequence(600, 400, 0.4, 0.1, 61, 200)
    exact = by_quadrature(walk, needed)
    assert exact < walk.start_risk(needed) < 1.2 * exact + 0.0002


def test_more_right_alarms_are_less_risk_everywhere() -> None:
    walk = sequence(500, 500, 0.3, 0.1, 40, 200)
    few, many = (by_margin(walk, margin) for margin in (1.5, 1.8))
    assert RiskBound(walk).risk(many) < RiskBound(walk).risk(few)


def test_without_a_test_everything_is_at_risk() -> None:
    walk = sequence(500, 500, 0.3, 0.1, 40, 200)
    assert RiskBound(walk).risk(np.ones(162, dtype=int)) > 0.999


def test_where_nothing_can_pass_only_what_is_set_aside_is_left() -> None:
    walk = sequence(500, 500, 0.3, 0.1, 40, 200)
    impossible = np.arange(39, 201) + 1
    assert RiskBound(walk).risk(impossible) == pytest.approx(0.001 * walk.alpha, rel=0.1)


def population(
    kind: str, walk: FixedSequence, edges: np.ndarray, at: float, level: float
) -> np.ndarray:
    """Precision between neighbouring shares of alarms, for a worst case."""
    if kind == "positives first":
        first = walk.min_precision * at
        return np.clip((first - np.append(0, edges[:-1])) / np.diff(edges, prepend=0), 0, 1)
    risky = walk.risky
    column = int(np.argmin(np.abs(np.cumsum(risky.weights) - (1 - level))))
    hovering = risky.at(edges)[:, column] * edges
    return np.clip(np.diff(hovering, prepend=0) / np.diff(edges, prepend=0), 0, 1)


def broken_share(walk: FixedSequence, precision: np.ndarray, edges: np.ndarray, runs: int) -> float:
    """How often the last threshold of a walk breaks the floor in the next cases."""
    rng = np.random.default_rng(0)
    needed, floor = requirement(walk), walk.min_precision
    chances = np.append(np.diff(edges, prepend=0), max(1 - edges[-1], 0))

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        alarms = rng.multinomial(n, chances / chances.sum(), size=runs)[:, :-1]
        return np.cumsum(alarms, axis=1), np.cumsum(rng.binomial(alarms, precision), axis=1)

    (alarms, tp), (future, future_tp) = draw(walk.n_cases), draw(walk.horizon)
    tested = (alarms >= walk.start) & (alarms <= walk.most)
    at = np.clip(alarms - walk.start + 1, 0, len(needed) - 1)
    failed = np.cumsum(tested & (tp < needed[at]), axis=1) > 0
    alive = tested & ~failed
    last = alive.shape[1] - 1 - np.argmax(alive[:, ::-1], axis=1)
    rows = np.arange(runs)
    short = future_tp[rows, last] < needed_to_keep(future[rows, last], floor)
    return float(np.mean(alive.any(axis=1) & short))


@pytest.mark.parametrize(
    ("kind", "level"), [("positives first", 0), ("hover", 0.3), ("hover", 0.05)]
)
@pytest.mark.parametrize(
    "walk",
    [
        sequence(1000, 20, 0.5, 0.2, 400, 900),
        pytest.param(sequence(2000, 2000, 0.4, 0.2, 60, 1200), marks=pytest.mark.slow),
        pytest.param(sequence(5000, 100, 0.01, 0.2, 500, 3000), marks=pytest.mark.slow),
        pytest.param(sequence(1000, 20_000, 0.05, 0.2, 60, 600), marks=pytest.mark.slow),
    ],
)
def test_worst_cases_break_no_more_than_alpha(walk: FixedSequence, kind: str, level: float) -> None:
    """Seeds are fixed; three standard errors are allowed."""
    edges = np.linspace(0, min(1.1 * walk.most / walk.n_cases, 1.0), 401)[1:]
    middle = np.sqrt(walk.start * walk.most) / walk.n_cases
    precision = population(kind, walk, edges, middle, level)
    share = broken_share(walk, precision, edges, 2000)
    assert share <= walk.alpha + 3 * np.sqrt(walk.alpha * (1 - walk.alpha) / 2000)


@pytest.mark.slow
def test_positives_first_use_up_most_of_alpha() -> None:
    """All positives come first: every threshold is safe or hopeless, the worst for a walk."""
    walk = sequence(2000, 2000, 0.4, 0.2, 60, 1200)
    edges = np.linspace(0, 0.6, 601)[1:]
    share = broken_share(walk, population("positives first", walk, edges, 0.2, 0), edges, 4000)
    assert 0.75 * walk.alpha < share
