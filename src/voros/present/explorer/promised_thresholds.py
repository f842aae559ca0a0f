"""Thresholds of a page that come with a guarantee, tested when the page is made.

A page itself tests the guarantee for the population of independent cases. Guarantees for the next
cases, for periods, or for patients with several cases need the cases, which a page does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee import Guarantee
from voros.io.writing import plain
from voros.plotting.straight_lines import marked_runs
from voros.typing import BoolArray


def promised_thresholds(
    points_by_model: Mapping[str, OperatingPoints],
    held: Mapping[str, OperatingPoints],
    scenario: Scenario,
    guarantee: Guarantee,
) -> dict[str, Any]:
    """Return the thresholds that keep the limits of a scenario, ready for JSON.

    Of each model: first and last positions of runs of held thresholds, and the guaranteed
    threshold of greatest recall, held or not. Alpha is split over the models.

    Examples
    --------
    >>> from voros.present.explorer.thinning import useful_points
    >>> positive = np.arange(400) % 4 == 0
    >>> points = OperatingPoints.from_scores(positive, positive + np.arange(400) / 1000)
    >>> held = {"a": useful_points(points)}
    >>> limits = Scenario(0.5, 0.5, cost_ratio=0.1)
    >>> promised_thresholds({"a": points}, held, limits, Guarantee())["models"]
    [{'runs': [[9, 99]], 'lowest': 1.0, 'alarms': 100}]
    """
    share = guarantee.split(len(points_by_model))
    return {
        "confidence": float(guarantee.only_confidence),
        "horizon": None if guarantee.horizon is None else int(guarantee.horizon),
        "models": [
            _promised(points, held[name], share.allowed(points, scenario))
            for name, points in points_by_model.items()
        ],
    }


def _promised(points: OperatingPoints, held: OperatingPoints, allowed: BoolArray) -> dict[str, Any]:
    # Over stays thresholds of as many alarms are in the order of the events that they catch.
    order = np.argsort(-points.thresholds)
    rows = order[np.searchsorted(-points.thresholds[order], -held.thresholds[1:])]
    most = int(np.argmax(np.where(allowed, points.tp, -1)))
    lowest = {"lowest": plain(points.thresholds[most]), "alarms": plain(points.alarms[most])}
    runs = [[start, stop - 1] for start, stop in marked_runs(allowed[rows])]
    return {"runs": runs} | ({} if most == 0 else lowest)
