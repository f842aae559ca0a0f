"""The worklist: the k highest scores of each period that reach a threshold raise an alarm."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.cases import check_cases, check_scores, label_or_remembered
from voros.core.counting import order_by_score
from voros.core.decision import Decision
from voros.core.grouped_cases import seen_before
from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, Periods, read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import ArgumentError
from voros.io.documents import read_document
from voros.io.frames import make_frame
from voros.io.writing import json_text, saved, with_checksum
from voros.models import model_column
from voros.policy.allowed import choose
from voros.policy.by_subgroup import PER_1000
from voros.policy.deployment import Deployment
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.policy.saved_policy import policy_arguments
from voros.policy.threshold_policy import ThresholdPolicy, plain_label
from voros.text.numbers import count, short, threshold_text
from voros.text.table import ReprMixin, Table
from voros.typing import BoolArray, FloatArray

MEASURED = {
    "mean_alarms": ("alarms", count),
    "mean_precision": ("precision", short),
    "mean_recall": ("recall", short),
    "expected_cost": ("expected cost", short),
    "cost_per_1000": (PER_1000, short),
}
"""Measures that compare worklist and threshold policy: title of the column, and its format."""

WORKLIST_FORMAT = "voros worklist"
WORKLIST_SCHEMA = 2
"""Increases whenever the fields of a file change."""


@dataclass(frozen=True, eq=False, repr=False)
class WorklistEvaluation(ReprMixin):
    """A worklist beside the threshold policy, on the same cases.

    Attributes
    ----------
    worklist, threshold : PolicyEvaluation
        With scores tied at the end of a list, the counts of the worklist are means over all ways to
        break the tie. It has no intervals: whether a case is listed depends on the other cases.
    n_full, n_periods : int
        Periods with a full list, and all periods.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(capacity=1, per="day", cost_ratio=0.1, exceed=0)
    >>> result = voros.worklist([1, 0, 1], [9, 8, 5], scenario, periods=["mon", "mon", "tue"])
    >>> result.evaluate([1, 0, 1], [7, 6, 6], periods=["thu", "thu", "fri"])
                          alarms  precision  recall  expected cost  cost of 1,000 cases, in misses
               worklist        2          1       1              0                               0
               threshold       0          -       0          0.952                             667
               the list is full in 2 of 2 periods
    """

    worklist: PolicyEvaluation
    threshold: PolicyEvaluation
    n_full: int
    n_periods: int

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The measures of the worklist and of the threshold policy, a mapping for each."""
        both = {"worklist": self.worklist, "threshold": self.threshold}
        return [
            {"deployed": name} | {of: getattr(evaluation, of) for of in MEASURED}
            for name, evaluation in both.items()
        ]

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for the worklist and one for the threshold policy."""
        first, second = self.rows
        return make_frame({name: [first[name], second[name]] for name in first}, backend)

    def _parts(self) -> tuple[Table, str]:
        rows = [
            (row["deployed"], *(write(row[name]) for name, (_, write) in MEASURED.items()))
            for row in self.rows
        ]
        table = Table.from_rows([("", *(title for title, _ in MEASURED.values())), *rows])
        return table, f"the list is full in {self.n_full:,} of {self.n_periods:,} periods"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Worklist(ReprMixin):
    """A worklist decided on validation data; `worklist` makes one.

    Attributes
    ----------
    threshold : float
        The score below which no case is listed: the threshold of least expected cost that keeps
        the precision floor.
    score : float
        Partial VOROS of the worklist, in the region of the mean capacity, as that of the policy.
    policy : ThresholdPolicy
        The threshold policy on the same cases.
    validation : WorklistEvaluation or None
        Both on the validation cases; not saved.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(capacity=1, per="day", cost_ratio=0.1, exceed=0)
    >>> result = voros.worklist([1, 0, 1], [9, 8, 5], scenario, periods=["mon", "mon", "tue"])
    >>> result.predict([7, 6, 4], periods=["thu", "thu", "fri"])
    array([ True, False, False])
    """

    threshold: float
    score: float
    policy: ThresholdPolicy
    validation: WorklistEvaluation | None = None

    @property
    def scenario(self) -> Scenario:
        """The limits and costs; the capacity is the length of the list."""
        return self.policy.scenario

    @property
    def model(self) -> str | None:
        """The name of the model whose scores the list is for."""
        return self.policy.model

    @property
    def pos_label(self) -> Any:
        """The positive label of the validation data, where it was stated."""
        return self.policy.pos_label

    def predict(self, y_score: Any, *, periods: Any = None, times: Any = None) -> BoolArray:
        """Return which cases are listed; of cases tied at the end of a list, the first in order."""
        check_aligned(y_score=y_score, periods=periods, times=times)
        scores = check_scores(model_column(y_score, self.model))
        in_periods = _periods(self.scenario, scores, periods, times)
        order = np.argsort(-scores.astype(np.float64), kind="stable")
        alarm = scores >= self.threshold
        alarm[order] &= seen_before(in_periods.codes[order]) < int(self.scenario.capacity)
        return np.asarray(alarm)

    def evaluate(
        self,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        periods: Any = None,
        times: Any = None,
    ) -> WorklistEvaluation:
        """Evaluate worklist and threshold policy on new cases, both thresholds fixed.

        Returns
        -------
        WorklistEvaluation
        """
        check_aligned(y_true=y_true, y_score=y_score, periods=periods, times=times)
        label = label_or_remembered(y_true, pos_label, self.pos_label)
        column = model_column(y_score, self.model)
        positive, scores, _ = check_cases(y_true, column, label, both_classes=False)
        in_periods = _periods(self.scenario, y_true, periods, times)
        return self._compared(PeriodCases.from_cases(in_periods, positive, scores))

    def _compared(self, cases: PeriodCases) -> WorklistEvaluation:
        """Evaluate worklist and threshold policy on the same cases."""
        k, periods = int(self.scenario.capacity), cases.periods
        tested = self.policy.evaluate(cases.positive, cases.scores, periods=periods)
        deployed = Deployment(
            np.array([self.threshold]),
            np.empty(0),
            self.scenario.without_capacity(),
            None,
            f"the {k:,} highest of each {self.scenario.per}",
        )
        listed = deployed.evaluate_points(worklist_points(cases, k), tested.confidence_level)
        above = periods.codes[cases.scores >= self.threshold]
        n_full = np.count_nonzero(np.bincount(above, minlength=periods.n_periods) >= k)
        return WorklistEvaluation(listed, tested, int(n_full), periods.n_periods)

    def _parts(self) -> tuple[str | Table, ...]:
        opening = (
            f"the {self.scenario.capacity:,} highest scores of each {self.scenario.per}, if at "
            f"least {threshold_text(self.threshold)}"
        )
        return opening, *(() if self.validation is None else self.validation._parts())

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the worklist as JSON text, and write it to a file if a path is given."""
        fields = {
            "format": WORKLIST_FORMAT,
            "schema": WORKLIST_SCHEMA,
            "threshold": self.threshold,
            "score": self.score,
            "policy": self.policy.fields(),
        }
        return saved(json_text(with_checksum(fields)), path, force=force)

    @classmethod
    def from_json(cls, source: str | Path) -> Worklist:
        """Read a worklist back from JSON text or from a file.

        Returns
        -------
        Worklist
        """
        fields = read_document(source, "saved worklist").saved(WORKLIST_FORMAT, WORKLIST_SCHEMA)
        return cls(
            threshold=float(fields["threshold"].number(finite=False)),
            score=fields["score"].number(0, 1),
            policy=ThresholdPolicy(**policy_arguments(fields["policy"])),
        )


def worklist(
    y_true: Any,
    y_score: Any,
    scenario: Scenario,
    *,
    pos_label: Any = None,
    periods: Any = None,
    times: Any = None,
    model: str | None = None,
) -> Worklist:
    """Decide a worklist: the k highest scores of each period above a threshold, k the capacity.

    A list never exceeds its capacity, so its threshold can be lower than one that must keep the
    capacity alone. But the k highest scores are known only when all cases of a period are: this
    suits a list that is made each morning, and not an alarm at the bedside.

    Parameters
    ----------
    y_true, y_score, pos_label
        As in `voros.partial_voros_score`.
    scenario : Scenario
        With a capacity per period. The precision floor is for all listed cases together.
    periods, times : array-like of shape (n_cases,), optional
        The period of each case, or the time that it falls in.
    model : str, optional
        Name of the model, to be saved with the threshold.

    Returns
    -------
    Worklist
        To apply, evaluate and save.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(capacity=1, per="day", cost_ratio=0.1, exceed=0)
    >>> days = ["mon", "mon", "mon", "tue", "tue", "wed"]
    >>> result = voros.worklist([1, 1, 0, 1, 0, 0], [9, 8, 2, 5, 3, 1], scenario, periods=days)
    >>> result.threshold, result.policy.threshold()
    (5.0, 9.0)
    >>> result
    the 1 highest scores of each day, if at least 5
               alarms  precision  recall  expected cost  cost of 1,000 cases, in misses
    worklist        2          1   0.667          0.303                             167
    threshold       1          1   0.333          0.606                             333
    the list is full in 2 of 3 periods
    """
    check_aligned(y_true=y_true, y_score=y_score, periods=periods, times=times)
    _check(check_scenario(scenario))
    positive, scores, _ = check_cases(y_true, y_score, pos_label)
    in_periods = _periods(scenario, y_true, periods, times)
    observed = OperatingPoints.from_cases(positive, scores, periods=in_periods)
    policy = ThresholdPolicy.from_points(observed, scenario, model=model)
    policy = replace(policy, pos_label=plain_label(pos_label))
    cases = PeriodCases.from_cases(in_periods, positive, scores)
    points = worklist_points(cases, int(scenario.capacity))
    feasible = points.precise_enough(scenario.min_precision)
    most = observed.max_alarms(scenario)
    decision = Decision(points=points, scenario=scenario, feasible=feasible, max_alarms=most)
    _, choice = choose(decision, "single")
    listed = Worklist(threshold=choice.threshold, score=decision.partial_voros, policy=policy)
    return replace(listed, validation=listed._compared(cases))


def _check(scenario: Scenario) -> None:
    scenario.refuse_recall_floor("worklists")
    if scenario.per is None:
        raise ArgumentError("per", " is needed: a worklist is one of each period, such as 'day'")
    if scenario.prevalence is not None:
        raise ArgumentError(
            "prevalence",
            f"={scenario.prevalence!r}; a worklist is filled from observed cases, which cannot "
            "be reweighted",
        )


def _periods(scenario: Scenario, y_true: Any, periods: Any, times: Any) -> Periods:
    in_periods = read_periods(scenario, y_true, periods, times)
    assert in_periods is not None
    return in_periods


def worklist_points(cases: PeriodCases, k: int) -> OperatingPoints:
    """Count the cases that a worklist of length k lists at every threshold.

    A threshold lists the cases above it that are among the k highest of their period. So the counts
    are those of operating points of the k highest, among all cases.
    """
    listed = listed_share(cases.scores, cases.periods, k)
    order, ranked, last = order_by_score(cases.scores)
    tp, fp = (
        np.cumsum(np.where(members, listed, 0.0)[order])[last]
        for members in (cases.positive, ~cases.positive)
    )
    n_positive = int(np.count_nonzero(cases.positive))
    sizes = n_positive, len(cases.positive) - n_positive
    points = OperatingPoints.with_never_alarm(ranked[last], tp, fp, *sizes)
    # A score at which no case is listed adds no threshold.
    rows = np.flatnonzero(np.append(1.0, np.diff(points.alarms)) > 0)
    return points.take(rows, covers=points.covers)


def listed_share(scores: FloatArray, periods: Periods, k: int) -> FloatArray:
    """Return the chance of each case to be among the k highest of its period; ties are random.

    Examples
    --------
    >>> days = Periods.from_column(["mon", "mon", "mon", "tue"])
    >>> listed_share(np.array([3.0, 2.0, 2.0, 1.0]), days, 2).tolist()
    [1.0, 0.5, 0.5, 1.0]
    """
    codes = periods.codes
    order = np.lexsort((-scores, codes))
    ranked, owner = scores[order], codes[order]
    first = np.append(True, (ranked[1:] != ranked[:-1]) | (owner[1:] != owner[:-1]))
    run = np.cumsum(first) - 1
    start, size = np.flatnonzero(first), np.bincount(run)
    sizes = periods.sizes
    before = start - (np.cumsum(sizes) - sizes)[owner[start]]
    share = np.empty(len(scores))
    share[order] = np.clip((k - before) / size, 0.0, 1.0)[run]
    return share
