"""Which limits bind, which could be met, and messages about both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.decision import Decision, decide
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.text.numbers import count, count_within, short
from voros.typing import BoolArray

CHANCE = 0.5
"""The AUROC of random scores."""


@dataclass(frozen=True)
class MostPrecise:
    """The highest precision within the capacity, and the threshold that reaches it.

    `precision` is 0 when no threshold within the capacity has a true positive.
    """

    precision: float
    recall: float
    alarms: float
    threshold: float


def most_precise(points: OperatingPoints, allowed: BoolArray) -> MostPrecise:
    """Find the most precise allowed threshold; of equals, the one with the greatest recall."""
    row = points.most_precise_row(allowed)
    if len(row) == 0:
        return MostPrecise(0.0, 0.0, 0.0, float("inf"))
    columns = (points.precision, points.tpr, points.alarms, points.thresholds)
    return MostPrecise(*(column[row].item() for column in columns))


def binding_limits(decision: Decision) -> tuple[str, ...]:
    """Name the limits without which other thresholds would be chosen in the range of costs.

    Where lifting any one limit leads to the same choice but lifting all does not, all bind.
    """
    scenario = decision.scenario
    within_all = _chosen_counts(decision)

    def others_chosen(limits: Scenario) -> bool:
        return (
            _chosen_counts(decide(decision.counted_points, limits, every_cost=False)) != within_all
        )

    if not others_chosen(scenario.without_limits()):
        return ()
    lifted = {
        "precision": scenario.changed(min_precision=0.0),
        "recall": scenario.changed(min_recall=None),
        "capacity": scenario.without_capacity(),
    }
    bound = tuple(name for name in scenario.limit_names if others_chosen(lifted[name]))
    return bound or scenario.limit_names


def _chosen_counts(decision: Decision) -> list[tuple[float, float]]:
    """True and false positives of the thresholds that are best somewhere in the range of costs."""
    rows = decision.chosen_rows
    return list(zip(decision.points.tp[rows], decision.points.fp[rows], strict=True))


def reversal_note(decision: Decision) -> str:
    """Say that alarms at the lowest scores would meet the limits; empty where they would not."""
    points, scenario = decision.points, decision.scenario
    if points.on_device or not points.covers.whole_curve or scenario.per is not None:
        return ""
    tp, fp = points.n_positive - points.tp, points.n_negative - points.fp
    alarms = tp + fp
    meets = (alarms > 0) & (alarms <= decision.max_alarms)
    meets &= tp >= scenario.min_precision * alarms
    meets &= tp >= (scenario.min_recall or 0.0) * points.n_positive
    fpr, tpr = np.append(points.fpr, 1.0), np.append(points.tpr, 1.0)
    auroc = float(np.diff(fpr) @ (tpr[1:] + tpr[:-1])) / 2
    if auroc >= CHANCE or not meets.any():
        return ""
    return (
        f". The ranking is inverted: the AUROC is {short(auroc)}, and with reversed scores the "
        "limits could be met. Scores may be those of the other class, as predict_proba(X)[:, 0] "
        "gives, or pos_label the other label"
    )


def limits_message(decision: Decision) -> str:
    """Say why no threshold with alarms is feasible, which limit binds, and what could be met."""
    return _binding_message(decision) + reversal_note(decision)


def _binding_message(decision: Decision) -> str:
    points, scenario, max_alarms = decision.points, decision.scenario, decision.max_alarms
    capable = decision.capable
    opening = "no threshold that raises an alarm meets"
    if scenario.min_recall is not None:
        opening = f"no threshold meets a recall floor of {scenario.min_recall:g} and"
    opening += f" a precision floor of {scenario.min_precision:g}"
    if scenario.has_capacity:
        capacity = f"{scenario.capacity!r} {scenario.rule}".rstrip()
        opening += f" within {count_within(max_alarms)} alarms (a capacity of {capacity})"
    if len(points) == 1:
        return f"{opening}. The points hold no threshold that raises an alarm"
    if capable.sum() == 1 and scenario.per_period:
        return f"{opening}. The capacity binds: the highest score alone exceeds it"
    if capable.sum() == 1:
        fewest = points.alarms[1:].min()
        return (
            f"{opening}. The capacity binds: the highest scores are tied, and the fewest alarms "
            f"any threshold raises is {count(fewest)}"
        )
    if scenario.min_recall is not None:
        return f"{opening}. {_within_reach(decision, capable)}"
    best = most_precise(points, capable)
    advice = (
        f"{opening}. The precision floor binds: the highest precision"
        f"{' within the capacity' if scenario.has_capacity else ''} is "
        f"{short(best.precision, scenario.min_precision)}, at a recall of {short(best.recall)} "
        f"({count(best.alarms)} alarms)"
    )
    precise = points.precise_enough(scenario.min_precision) & (points.alarms > 0)
    if precise.any() and not scenario.per_period:
        enough = points.alarms[precise][0]
        advice += f"; with a capacity of {count(enough)} alarms the floor could be met"
    return advice


def _within_reach(decision: Decision, capable: BoolArray) -> str:
    """Name the limits that bind beside a recall floor, and values at which they could be met."""
    points, scenario = decision.points, decision.scenario
    recalled = points.recalls_enough(scenario.recall_floor)
    precise = points.precise_enough(scenario.floor) & (points.alarms > 0)
    reached = {}
    rows = np.flatnonzero(capable & precise)
    if len(rows):
        row = rows[np.argmax(points.tp[rows])]
        reached["recall floor"] = (
            f"a recall of {short(points.tpr[row])} ({count(points.alarms[row])} alarms)"
        )
    best = most_precise(points, capable & recalled)
    if best.alarms:
        reached["precision floor"] = (
            f"a precision of {short(best.precision)} ({count(best.alarms)} alarms)"
        )
    if (precise & recalled).any() and not scenario.per_period:
        reached["capacity"] = f"a capacity of {count(points.alarms[precise & recalled][0])} alarms"
    if not reached:
        return "No single limit binds: without any one of them the others still cannot be met"
    binds = "binds" if len(reached) == 1 else "bind together"
    could = ", or ".join(reached.values())
    return f"The {' and the '.join(reached)} {binds}: with the other limits {could} could be met"
