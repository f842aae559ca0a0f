r"""Values of cases: the cost of missing each case, and of a false alarm on it.

Limits count cases. Costs add up these values: with a cost ratio c, a miss of case i costs its
miss value :math:`v_i` and a false alarm on case j costs :math:`c\,w_j`, so a threshold costs

.. math:: c \sum_{j \in FP} w_j + \sum_{i \in FN} v_i.

Divided by its maximum it is the normalised cost. This cost, the hull and the best threshold at each
cost ratio are those of counts, with sums of values in place of counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from voros.core.arguments import check_choice
from voros.core.arrays import as_vector, check_same_length, check_weights
from voros.core.cases import check_risks, check_scores
from voros.exceptions import ArgumentError
from voros.typing import AnyArray, BoolArray, FloatArray

VALUE_SUMS = "sum(miss_value of positives)", "sum(false_alarm_cost of negatives)"
"""Names in errors for sums that must be above 0."""

ThresholdOn: TypeAlias = Literal["score", "value"]
THRESHOLDS_ON: tuple[ThresholdOn, ...] = get_args(ThresholdOn)
"""Thresholds apply to the score, or to the score times the case's miss value."""


@dataclass(frozen=True, eq=False)
class CaseValues:
    """The cost of missing each case, and of a false alarm on it."""

    miss_value: FloatArray
    false_alarm_cost: FloatArray

    @classmethod
    def read(
        cls, y_true: Any, miss_value: Any, false_alarm_cost: Any, sample_weight: Any = None
    ) -> CaseValues | None:
        """Read the values of cases, one for each or one for all; None without values.

        Cases of weight 0 are left out, as `check_cases` does.

        Examples
        --------
        >>> values = CaseValues.read([1, 0], miss_value=[250, 40], false_alarm_cost=5)
        >>> values.of_class(np.array([True, False])).tolist()
        [250.0, 5.0]
        """
        if miss_value is None and false_alarm_cost is None:
            return None
        labels = as_vector(y_true, "y_true")
        columns = [
            _per_case(values, name, labels)
            for name, values in (("miss_value", miss_value), ("false_alarm_cost", false_alarm_cost))
        ]
        if sample_weight is not None:
            weights = check_weights(sample_weight)
            check_same_length(y_true=labels, sample_weight=weights)
            columns = [column[weights > 0] for column in columns]
        return cls(*columns)

    def take(self, rows: AnyArray) -> CaseValues:
        """Return the values of some of the cases."""
        return CaseValues(self.miss_value[rows], self.false_alarm_cost[rows])

    def of_class(self, positive: BoolArray) -> FloatArray:
        """Return the cost of an error on each case at a cost ratio of 1."""
        return np.where(positive, self.miss_value, self.false_alarm_cost)


def _per_case(values: Any, name: str, labels: AnyArray) -> FloatArray:
    if values is None or np.ndim(values) == 0:
        values = np.full(len(labels), 1.0 if values is None else values)
    column = check_weights(values, name=name)
    check_same_length(**{"y_true": labels, name: column})
    return column


def refuse_values(name: str, arguments: Mapping[str, Any]) -> None:
    """Raise where values of cases are among the arguments, which ``name`` does not support."""
    for value in ("miss_value", "false_alarm_cost"):
        if arguments.get(value) is not None:
            raise ArgumentError(
                value, f" cannot be combined with {name}, which counts cases; leave one of them out"
            )


def compared_scores(y_score: Any, miss_value: Any, threshold_on: ThresholdOn) -> Any:
    """Return the numbers that thresholds apply to: the scores, or the scores times miss values.

    Examples
    --------
    >>> compared_scores([0.5, 0.2], [10, 100], "value").tolist()
    [5.0, 20.0]
    """
    check_choice(threshold_on, "threshold_on", THRESHOLDS_ON)
    if threshold_on == "score":
        return y_score
    scores = check_scores(y_score)
    if miss_value is None:
        raise ArgumentError(
            "miss_value",
            "=None; the threshold is on the expected value, score times value, so each case needs "
            "a value",
        )
    check_risks(scores, ", where the threshold is on score times value")
    return np.asarray(scores * _per_case(miss_value, "miss_value", scores))
