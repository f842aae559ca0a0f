"""What is not known, and what the numbers suggest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voros.monitoring.change import ALIKE, neighbour_correlation
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
    yield from _left_out(tallies, still_open, settings, watches)
    yield from _alike_in_words(watches)
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


def _alike_in_words(watches: tuple[Watch, ...]) -> Iterator[str]:
    """Say where neighbouring periods are alike, which limits on periods do not allow for."""
    for watch in watches:
        if watch.name not in ("capacity", "cost"):
            continue
        alike = neighbour_correlation(
            watch.history[watch.name if watch.name == "cost" else "alarms"]
        )
        if alike * np.sqrt(watch.n) > ALIKE:
            yield (
                f"{watch.name}: neighbouring periods are alike (correlation {alike:.2f}); a limit "
                "that is kept only over longer times is called broken more often than alpha says"
            )


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


def _left_out(
    tallies: Tallies, still_open: int, settings: Settings, watches: tuple[Watch, ...]
) -> Iterator[str]:
    if still_open:
        yield f"{still_open:,} alarms of the last {settings.window:g} days do not count yet"
    if not tallies.late + tallies.changed:
        return
    yield (
        f"{tallies.late:,} labels came and {tallies.changed:,} were corrected after the window had "
        "closed; they count as they are known now. A longer window waits for them"
    )
    said = _reversed(tallies, settings, watches)
    if said is not None:
        yield said


def _reversed(tallies: Tallies, settings: Settings, watches: tuple[Watch, ...]) -> str | None:
    """Say what the labels known when the windows closed showed, where those of today do not."""
    precision = next((watch for watch in watches if watch.name == "precision"), None)
    then = tallies.as_at_close()
    if precision is None or precision.limit is None or not then.alarms:
        return None
    low, high = then.interval(precision.n, settings)
    was = "kept" if low >= precision.limit else "broken" if high < precision.limit else None
    if was in (None, precision.verdict):
        return None
    return (
        f"labels that came or were corrected later have reversed the verdict on precision: with "
        f"those known when the windows closed, {then.true:,.0f} of {then.alarms:,.0f} alarms were "
        f"true, and it would be {was}"
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
