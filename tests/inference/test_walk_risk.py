"""The bound against a closed form, and against simulated worst cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import voros.inference.future_floor as future_floor
import voros.inference.walk_risk as walk_risk
from voros.inference.future_floor import CHANCES
from voros.inference.next_cases import starting_ranks
from voros.inference.prediction import Requirement, requirement
from voros.inference.walk_risk import Walk, mean_over_chances


def plan(
    n_cases: int, horizon: int, floor: float, most: int, level: float = 0.05, start: int = 0
) -> Walk:
    ranks = (start,) if start else starting_ranks(n_cases, horizon, floor, level, most)
    return Walk(n_cases, horizon, floor, level, ranks, most)


@pytest.mark.parametrize("margin", [0.0, 1.0, 2.33, 3.3])
def test_the_mean_over_chances_of_a_normal_test_is_known(margin: float) -> None:
    """Validation and future with equal normal noise: one passes, the other breaks."""
    passing = norm.sf(margin * np.sqrt(2) - CHANCES)
    assert mean_over_chances(passing) == pytest.approx(norm.sf(margin), rel=1e-3)


@pytest.mark.parametrize("horizon", [100_000, 400_000])
@pytest.mark.parametrize("margin", [1.6, 2.5])
def test_with_many_cases_the_risk_of_a_margin_is_that_of_one_normal_test(
    horizon: int, margin: float
) -> None:
    walk = plan(100_000, horizon, 0.5, 20_000, start=8_000)
    wanted = walk.wanted(np.full(len(walk.shares), margin))
    found = walk.risk_at_shares(walk.tests(np.ceil(wanted).astype(int)))
    inside = (walk.shares > 0.1) & (walk.shares < 0.18)
    # More by what walks that start between two risky stretches may add.
    assert (found[inside] > 0.98 * norm.sf(margin)).all()
    assert (found[inside] < 1.09 * norm.sf(margin)).all()


@pytest.mark.parametrize(
    "walk",
    [plan(2000, 2000, 0.4, 340), plan(7831, 7832, 0.5, 740, 0.0004), plan(1000, 1000, 0.3, 38)],
)
def test_finer_grids_find_no_more_risk_than_is_allowed(
    walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = requirement(walk)
    fine = np.arange(-3.0, 6.01, 0.1)
    for module in (future_floor, walk_risk):
        monkeypatch.setattr(module, "CHANCES", fine)
    monkeypatch.setattr(future_floor, "PRECISIONS", 200)
    monkeypatch.setattr(future_floor, "MOST_COUNTS", 10_000)
    monkeypatch.setattr(walk_risk, "SHARE_RATIO", 1.06)
    monkeypatch.setattr(walk_risk, "START_PLACES", 60)
    again = Walk(walk.n_cases, walk.horizon, walk.min_precision, walk.level, walk.starts, walk.most)
    tests = again.tests(needs.right)
    for start in needs.starts[:: max(1, len(needs.starts) // 3)].tolist():
        assert again.risk(needs.right, tests, start) <= walk.level


def draw(precision: np.ndarray, edges: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Alarms and right alarms at each edge, of a population given by precisions between edges."""
    where = np.searchsorted(edges, rng.random(n))
    right = rng.random(n) < np.append(precision, 0.0)[where]
    counts = [np.bincount(where, weights, len(edges) + 1)[:-1] for weights in (None, right)]
    return np.cumsum(counts, axis=1)


def broken_share(
    walk: Walk, needs: Requirement, start: int, precision: np.ndarray, edges: np.ndarray, runs: int
) -> float:
    """How often the last threshold of a walk breaks the floor in the next cases."""
    rng, broken = np.random.default_rng(0), 0
    floor = walk.min_precision
    for _ in range(runs):
        alarms, right = draw(precision, edges, walk.n_cases, rng)
        tested = (alarms >= start) & (alarms <= walk.most)
        failed = tested & (right < needs.right[np.minimum(alarms, walk.most).astype(int)])
        alive = tested & (np.cumsum(failed) == 0)
        if alive.any():
            last = np.flatnonzero(alive)[-1]
            future, future_right = draw(precision, edges, walk.horizon, rng)
            broken += bool(future_right[last] < floor * future[last])
    return broken / runs


def test_a_precision_that_falls_at_once_uses_up_the_risk_and_no_more() -> None:
    """All positives come first: then every threshold is safe or hopeless, the worst for a walk."""
    walk = plan(2000, 2000, 0.4, 1200, level=0.2, start=60)
    needs = requirement(walk)
    edges = np.linspace(0, 0.6, 601)[1:]
    precision = np.where(edges <= 0.1, 1.0, 0.0)
    share = broken_share(walk, needs, int(needs.starts[0]), precision, edges, 2000)
    error = np.sqrt(0.2 * 0.8 / 2000)
    assert 0.2 - 6 * error < share <= 0.2 + 3 * error


@pytest.mark.parametrize("swing", [0.0, 0.02, 0.1])
def test_a_precision_that_hovers_about_the_risky_one_breaks_no_more(swing: float) -> None:
    """Walks that may start anywhere, and meet one risky threshold after the other."""
    walk = plan(2000, 2000, 0.4, 400, level=0.2, start=40)
    needs = requirement(walk)
    edges = np.linspace(0, 0.3, 301)[1:]
    # The right alarms of a population whose next cases break the floor by a chance of one in four.
    boundary = 0.4 * edges + 0.67 * np.sqrt(0.24 * edges / 2000)
    waves = swing * 0.01 * np.sin(2 * np.pi * np.arange(300) / 12)
    precision = np.clip(np.diff(boundary + waves, prepend=0) / np.diff(edges, prepend=0), 0, 1)
    share = broken_share(walk, needs, int(needs.starts[0]), precision, edges, 1500)
    assert share <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 1500)
