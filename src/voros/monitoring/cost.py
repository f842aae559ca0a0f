"""Expected cost against a budget: false alarms and misses, as far as somebody looked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from voros.monitoring.bets import STAKE_WEIGHTS, ratio_bets
from voros.monitoring.confidence import ratio_interval
from voros.monitoring.evidence import weigh
from voros.monitoring.settings import Settings
from voros.monitoring.status import Judgement, Seen, Watch
from voros.policy import ThresholdPolicy

SHOWN_PER = 1000
"""Costs are shown for this many cases."""


def mean_cost_ratio(policy: ThresholdPolicy, cost_ratio: float | None) -> float:
    """Return what a false alarm costs against a miss: as it is known, or on average."""
    if cost_ratio is not None:
        return float(cost_ratio)
    costs, odds = policy.scenario.costs, policy.n_negative / policy.n_positive
    nodes, weights = costs.nodes(np.array(costs.support, dtype=np.float64))
    return float(weights @ costs.to_ratio(nodes, odds) / weights.sum())


def cost_watch(
    rows: Sequence[tuple[Any, ...]], ratio: float, max_cost: float, settings: Settings
) -> Watch:
    """Judge the mean cost per case, in misses, over periods whose windows have closed.

    A case without a label adds nothing: the true cost is at least what is counted, so a budget
    that is shown to be broken is broken. That it is kept can be said only where all have labels.
    """
    table = np.array(rows, dtype=float).reshape(-1, 5)
    begins, cases, false_alarms, misses, unlabelled = table.T
    costs, alpha = ratio * false_alarms + misses, settings.alpha
    bets = ratio_bets(costs, max_cost, cases)
    weighed = weigh(bets, STAKE_WEIGHTS, alpha, settings.run_length, begins=begins)
    total, missing = float(cases.sum()), int(unlabelled.sum())
    low, high = ratio_interval(costs, alpha, cases) if total else (0.0, np.inf)
    known = not missing and bool(np.isfinite(high))
    found = Seen().then(weighed, begins).judge(known and high <= max_cost)
    estimate = float(costs.sum() / total) if total else None
    return Watch(
        "cost",
        "unknown" if missing and found.verdict == "too early to tell" else found.verdict,
        _words(found, estimate, max_cost, missing, int(total)),
        max_cost,
        estimate,
        low if total else None,
        high if known else None,
        len(begins),
        weighed.ratio,
        found.since,
        found.noticed,
        {"time": begins, "cost": SHOWN_PER * costs / cases},
    )


def _words(
    found: Judgement, estimate: float | None, max_cost: float, missing: int, cases: int
) -> str:
    if estimate is None:
        return "cost: too early to tell; no window has closed"
    seen = f"{SHOWN_PER * estimate:.1f} misses' worth in 1,000 cases, of {SHOWN_PER * max_cost:.1f}"
    if missing:
        seen += (
            f", counted without the {missing:,} of {cases:,} cases that nobody labelled: the true "
            "cost is at least this"
        )
    since = f" since about {found.since}" if found.since else ""
    return f"cost: {found.verdict}{since}; {seen}"
