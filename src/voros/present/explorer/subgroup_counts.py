"""Counts of each subgroup for a page: few thresholds, between any two of which lie enough cases.

A page holds no rows. Counts of subgroups at every threshold would show the subgroup of each case,
so they are kept at thresholds with at least `FEWEST_CASES` between any two of them, and the page
shows the nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from voros.core.cases import check_scores
from voros.core.clusters import GroupedCounts
from voros.core.operating_points import OperatingPoints
from voros.core.subgroups import FEWEST_CASES, Subgroups
from voros.exceptions import ArgumentError
from voros.present.explorer.replicates import packed
from voros.typing import AnyArray, BoolArray

CONFIDENCE = 0.95
"""Confidence that the intervals of one measure hold in all subgroups together."""


def subgroup_counts(
    positive: BoolArray,
    scores: Mapping[str, Any],
    held: Mapping[str, OperatingPoints],
    subgroups: Subgroups,
) -> dict[str, Any]:
    """Return counts of every subgroup at some of the thresholds that a page holds, ready for JSON.

    Examples
    --------
    >>> positive, score = np.tile([True, False], 10), np.arange(20, 0, -1) / 20
    >>> points = OperatingPoints.from_scores(positive, score)
    >>> subgroups = Subgroups.from_columns({"sex": ["f", "m"] * 10})
    >>> result = subgroup_counts(positive, {"a": score}, {"a": points}, subgroups)
    >>> result["names"], result["positives"], result["models"][0]["kept"]
    (['sex: f', 'sex: m'], [10, 0], [9])
    """
    parts = subgroups.partitions
    positives = np.concatenate(
        [np.bincount(part.codes[positive], minlength=len(part.names)) for part in parts]
    )
    sizes = np.concatenate([part.sizes for part in parts])
    names = [f"{part.column}: {name}" for part in parts for name in part.names]
    _check_sizes(names, sizes)
    models = [
        _counted(positive, check_scores(scores[name]), points, subgroups)
        for name, points in held.items()
    ]
    return {
        "names": names,
        "positives": positives.tolist(),
        "negatives": (sizes - positives).tolist(),
        "confidence": CONFIDENCE,
        "smallest": FEWEST_CASES,
        "notes": list(subgroups.notes),
        "models": models,
    }


def _check_sizes(names: Sequence[str], sizes: AnyArray) -> None:
    """Refuse subgroups that are small even when pooled: anybody may get the page."""
    named = zip(names, sizes, strict=True)
    few = [f"{name} ({size})" for name, size in named if size < FEWEST_CASES]
    if few:
        raise ArgumentError(
            "by",
            f" has subgroups of fewer than {FEWEST_CASES} cases, also when the small ones are "
            f"pooled: {', '.join(few)}; put them together with others",
        )


def _counted(
    positive: BoolArray,
    scores: AnyArray,
    points: OperatingPoints,
    subgroups: Subgroups,
) -> dict[str, Any]:
    """Count true and false positives of each subgroup at the kept thresholds."""
    kept = _apart(points.alarms[1:], len(positive))
    thresholds = points.thresholds[1:][kept]
    counted = [
        GroupedCounts.from_cases(part.codes, positive, scores, thresholds)
        for part in subgroups.partitions
    ]
    tp, fp = (np.concatenate([getattr(one, name) for one in counted]).T for name in ("tp", "fp"))
    return {"kept": kept.tolist(), **packed(np.stack([tp, fp], axis=2))}


def _apart(alarms: AnyArray, n_cases: int) -> AnyArray:
    """Return positions of thresholds with enough cases before, between and behind them."""
    kept, last = [], 0
    for position, raised in enumerate(alarms.tolist()):
        if raised - last >= FEWEST_CASES and n_cases - raised >= FEWEST_CASES:
            kept.append(position)
            last = raised
    return np.array(kept, dtype=np.int64)
