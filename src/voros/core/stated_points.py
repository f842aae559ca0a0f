"""Check stated counts and rates, such as those of a published curve."""

from __future__ import annotations

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from voros.core.arrays import as_floats, as_vector, check_same_length
from voros.core.cases import check_class_sizes, check_scores
from voros.core.coverage import EVERY_SCORE, GIVEN_POINTS, Coverage
from voros.core.exact_limits import is_whole
from voros.exceptions import ArgumentError
from voros.text.numbers import count
from voros.typing import AnyArray

Stated: TypeAlias = tuple[AnyArray, AnyArray, AnyArray, float, float, float, Coverage]
"""Thresholds, true and false positives by rising alarms; class sizes, one case and coverage."""


def counts_of_rates(
    fpr: Any, tpr: Any, n_positive: float, n_negative: float
) -> tuple[AnyArray, AnyArray]:
    """Convert the rates of a curve to true and false positives."""
    rates = {"fpr": _as_counts(fpr, "fpr"), "tpr": _as_counts(tpr, "tpr")}
    check_same_length(**rates)
    check_class_sizes(n_positive, n_negative)
    for name, rate in rates.items():
        if not np.all((rate >= 0) & (rate <= 1)):
            raise ValueError(f"{name} must lie within [0, 1]; it spans {_span(rate)}")
    return rates["tpr"] * float(n_positive), rates["fpr"] * float(n_negative)


def read_counts(
    tp: Any, fp: Any, n_positive: float, n_negative: float, thresholds: Any, every_score: bool
) -> Stated:
    """Read counts in any order; parameters as in `OperatingPoints.from_counts`."""
    tp, fp = _as_counts(tp, "tp"), _as_counts(fp, "fp")
    stated = np.full(len(tp), np.nan)
    if thresholds is not None:
        stated = as_floats(as_vector(thresholds, "thresholds"), "thresholds")
    check_same_length(tp=tp, fp=fp, thresholds=stated)
    check_class_sizes(n_positive, n_negative)
    n_positive, n_negative = _plain(n_positive), _plain(n_negative)
    for counts, name, most, size in (
        (tp, "tp", n_positive, "n_positive"),
        (fp, "fp", n_negative, "n_negative"),
    ):
        if not np.all((counts >= 0) & (counts <= most)):
            raise ValueError(
                f"{name} must lie within [0, {most:g}], {size}; it spans {_span(counts)}"
            )
    order = np.lexsort((tp, tp + fp))
    order = order[(tp + fp)[order] > 0]
    tp, fp = tp[order], fp[order]
    covers = _covered(tp + fp, n_positive + n_negative, every_score)
    return stated[order], tp, fp, n_positive, n_negative, 1.0, covers


def _covered(alarms: AnyArray, n_cases: float, every_score: bool) -> Coverage:
    """Return the coverage: every distinct score if stated, or if alarms rise one by one."""
    if every_score and not (len(alarms) and alarms[-1] == n_cases):
        raise ArgumentError(
            "every_score",
            f"=True, and the points flag at most {count(alarms[-1] if len(alarms) else 0)} of "
            f"{count(n_cases)} cases; at the lowest score all of them are flagged",
        )
    one_by_one = len(alarms) == n_cases and np.array_equal(alarms, np.arange(1, len(alarms) + 1))
    return EVERY_SCORE if every_score or one_by_one else GIVEN_POINTS


def _as_counts(values: Any, name: str) -> AnyArray:
    """Return counts in a type whose sums do not overflow."""
    counts = check_scores(values, name=name)
    return counts.astype(np.int64 if is_whole(counts) else np.float64)


def _plain(size: float) -> int | float:
    # A Python number, which prints without the name of its type.
    return int(size) if isinstance(size, Integral) else float(size)


def _span(values: AnyArray) -> str:
    return f"[{values.min():g}, {values.max():g}]"
