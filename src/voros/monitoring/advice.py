"""What is not known, and what the numbers suggest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voros.monitoring.precision import Tallies
from voros.monitoring.settings import Settings
from voros.monitoring.status import Watch
from voros.monitoring.store import PeriodTotals
from voros.policy import ThresholdPolicy

RECENT_PERIODS = 30
"""Periods whose alarms suggest the prevalence of today."""


def notes_on(
    tallies: Tallies,
    still_open: int,
    periods: PeriodTotals,
    policy: ThresholdPolicy,
    settings: Settings,
    watches: tuple[Watch, ...],
    followed: bool,
) -> Iterator[str]:
    """Say what was left out, what cannot be known, and what to do."""
    yield from _left_out(tallies, still_open, settings)
    yield _recall_in_words(followed)
    suggested = suggested_prevalence(periods, policy, settings)
    if suggested is not None:
        validated = policy.n_positive / (policy.n_positive + policy.n_negative)
        yield (
            f"prevalence: the alarms of the last periods suggest {suggested:.3f} (validation: "
            f"{validated:.3f}), if only the share of positives has changed"
        )
    if any(watch.verdict in ("broken", "watch") for watch in watches if watch.name == "precision"):
        yield "advice: monitor.renew() proposes a threshold from labelled recent cases"


def _recall_in_words(followed: bool) -> str:
    if not followed:
        return (
            "recall: unknown; no case without an alarm has a label, and labels that nobody looks "
            "for are not late labels. A random sample of those cases, labelled, would show it"
        )
    return (
        "recall: some cases without an alarm have a label; recall can be estimated from them only "
        "if they are all, or a random sample"
    )


def _left_out(tallies: Tallies, still_open: int, settings: Settings) -> Iterator[str]:
    if still_open:
        yield f"{still_open:,} alarms of the last {settings.window:g} days do not count yet"
    if tallies.never:
        true, n, never = tallies.true, tallies.counted + tallies.never, tallies.never
        yield (
            f"{never:,} alarms have no label and are left out, as if labels were missing by "
            f"chance; with them precision could be from {true / n:.3f} to {(true + never) / n:.3f}"
        )
    if tallies.late:
        yield (
            f"{tallies.late:,} labels came after the window had closed and do not count; lengthen "
            "it"
        )
    if tallies.changed:
        yield (
            f"{tallies.changed:,} labels were corrected after they had counted; the evidence keeps "
            "what was known then"
        )


def suggested_prevalence(
    periods: PeriodTotals, policy: ThresholdPolicy, settings: Settings
) -> float | None:
    """Solve share of alarms = prevalence x recall + (1 - prevalence) x false positive rate.

    It holds under label shift: scores within each class are as they were at validation.
    """
    ratio, choice = settings.cost_ratio, policy.default
    if ratio is not None:
        choice = next(c for c in policy.choices if c.cost_ratio_low <= ratio < c.cost_ratio_high)
    cases = periods.cases[-RECENT_PERIODS:].sum()
    fpr = choice.fp / policy.n_negative
    if not cases or not choice.recall > fpr:
        return None
    share = periods.alarms[-RECENT_PERIODS:].sum() / cases
    return float(np.clip((share - fpr) / (choice.recall - fpr), 0.0, 1.0))
