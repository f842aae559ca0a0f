"""Cases that a device counts, and the scenarios they are counted for."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import voros
from voros.core.decision import STRATEGIES, Decision
from voros.core.limits import (
    binding_limits,
    limits_message,
    most_precise,
)

SCENARIOS = (
    voros.Scenario(cost_ratio=(1 / 9, 1 / 6)),
    voros.Scenario(0.3, 0.1, cost_ratio=(1 / 40, 1 / 20)),
    voros.Scenario(0.5, 0.3, cost_ratio=(0.2, 0.9)),
    voros.Scenario(0.9, 0.02, cost_ratio=(0.1, 0.3)),
    voros.Scenario(0.2, 0.2, cost_ratio=(0.1, 0.3), prevalence=0.05),
    voros.Scenario(cost_ratio=voros.costs.uniform_t(0, 1)),
    voros.Scenario(cost_ratio=(0.2, 0.9), min_recall=0.6),
    voros.Scenario(0.3, 0.5, cost_ratio=(0.1, 0.3), prevalence=0.1, min_recall=0.5),
    voros.Scenario(0.3, 0.6, cost_ratio=(0.1, 0.3), min_recall=0.8),
)


def draws(n_cases: int, seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    ill = rng.random(n_cases) < 0.2
    score = rng.normal(size=n_cases) + 1.2 * ill
    yield "normal", ill, score
    yield "ties", ill, np.round(score, 1)
    yield "few values", ill, np.round(score)
    yield "crowded", ill, 1 / (1 + np.exp(6 - 3 * score))
    ends = score.copy()
    ends[:5], ends[5:9], ends[9:20], ends[20:30] = np.inf, -np.inf, 0.0, -0.0
    yield "infinities and zeros", ill, ends
    ends = ends.copy()
    ends[30:40] = np.finfo(np.float64).max
    yield "infinities and the greatest float", ill, ends
    yield "long tail", ill, np.exp(5 * score)
    yield "whole", ill, np.round(score * 100).astype(np.int64)
    yield "large whole", ill, np.round(score * 100).astype(np.int64) + 2**60
    yield "one value", ill, np.ones(n_cases)
    yield "sorted", np.sort(ill), np.sort(score)
    yield "many zeros", ill, np.where(score > 1, score, 0.0)


def example() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    ill = rng.random(4000) < 0.2
    return ill, (rng.normal(size=4000) + 1.2 * ill).astype(np.float32)


def rows_of(decision: Decision, rows: Any) -> str:
    """Format rows for comparison; integers beyond the range of floats have NaN as threshold."""
    columns = (decision.points.thresholds, decision.points.tp, decision.points.fp)
    return repr([column[rows].tolist() for column in columns])


def most_true_alarms(decision: Decision) -> np.ndarray:
    """Rows of the hull, less those with as many false alarms as the next row: they tie at t = 1."""
    index = decision.hull.index
    return index[np.diff(decision.points.fp[index], append=np.inf) > 0]


def assert_decides(
    decision: Decision, expected: Decision, what: str, *, many: bool = False
) -> None:
    """Compare every part of a decision; for many cases, what the costs of the scenario need."""
    for name in STRATEGIES:
        if many and name == "partial_auroc":
            with pytest.raises(voros.exceptions.IncompleteCountsError, match="in memory"):
                decision.score(name)
            continue
        assert decision.score(name) == pytest.approx(expected.score(name), abs=1e-12), (what, name)
    assert decision.can_alarm == expected.can_alarm, what
    rows = attrgetter("chosen_rows") if many else most_true_alarms
    assert rows_of(decision, rows(decision)) == rows_of(expected, rows(expected)), what
    most = [decision.highest_recall], [expected.highest_recall]
    assert rows_of(decision, most[0]) == rows_of(expected, most[1]), what
    if not expected.can_alarm:
        # Whether reversed scores meet the limits is checked in memory only.
        said = limits_message(expected).partition(". The ranking is inverted")[0]
        enough = "; with a capacity of"
        heard = limits_message(decision)
        assert heard.partition(enough)[:2] == said.partition(enough)[:2], what


def assert_shows(decision: Decision, expected: Decision, what: str) -> None:
    for name in ("partial_voros", "voros"):
        assert decision.score(name) == pytest.approx(expected.score(name), abs=1e-12), (what, name)
    assert decision.can_alarm == expected.can_alarm, what
    chosen = decision.chosen_rows, expected.chosen_rows
    assert rows_of(decision, chosen[0]) == rows_of(expected, chosen[1]), what
    assert binding_limits(decision) == binding_limits(expected), what
    best = (
        repr(most_precise(compared.points, compared.capable)) for compared in (decision, expected)
    )
    assert next(best) == next(best), what
