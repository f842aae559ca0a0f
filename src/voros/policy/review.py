r"""A review band: alarm at once, review, or nothing, by two thresholds on the score.

A review costs k misses and reveals the truth. Of n(t) cases at or above t, TP(t) are positive.
Alarms from a on and reviews from r to a cost :math:`c\,FP(a) + k (n(r) - n(a)) + P - TP(r)` misses.
For every a the best r has the lowest :math:`k\,n(r) - TP(r)` within the review capacity, whatever c
is. So one pass over a finds the best pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.arguments import check_number
from voros.core.cases import check_scores, label_or_remembered
from voros.core.costs import LARGEST_RATIO
from voros.core.decision import Decision, at_deployment, solve
from voros.core.exact_limits import keeps_floor
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import ArgumentError, InfeasibleError
from voros.io.documents import read_document
from voros.io.writing import json_text, saved, with_checksum
from voros.models import check_thresholds, model_column, read_points, refuse_stays
from voros.policy.deployment import alarm_rows
from voros.policy.saved_policy import saved_scenario
from voros.policy.threshold_policy import plain_label, saved_label
from voros.text.numbers import count, count_within, short, threshold_text
from voros.text.table import ReprMixin, Table
from voros.typing import AnyArray, FloatArray

__all__ = ["ReviewBand", "ReviewCounts", "review_band"]

LEVELS = ("alarm", "review", "nothing")

Levels: TypeAlias = tuple[float, float, float]
"""A count for each level."""

BAND_FORMAT, BAND_SCHEMA = "voros review band", 2


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReviewCounts(ReprMixin):
    """Counts of two thresholds on some cases.

    Attributes
    ----------
    cases, positive : tuple of three floats
        Cases that raise an alarm, are reviewed, and neither; and the positives among each.
    max_alarms, max_reviews : float
        The capacities, as numbers of cases.
    cost : float
        Cost in misses of false alarms, reviews, and positives without either.

    Examples
    --------
    >>> counts = ReviewCounts(
    ...     cases=(2, 2, 4), positive=(2, 1, 1), max_alarms=4, max_reviews=2, cost=1.2
    ... )
    >>> counts.precision, counts.recall, counts.cost_per_1000
    (1.0, 0.75, 150.0)
    """

    cases: Levels
    positive: Levels
    max_alarms: float
    max_reviews: float
    cost: float

    @property
    def precision(self) -> float:
        """Share of the alarms that are correct; NaN where there are none."""
        return self.positive[0] / self.cases[0] if self.cases[0] else float("nan")

    @property
    def recall(self) -> float:
        """Share of the positives that raise an alarm or are reviewed."""
        return (self.positive[0] + self.positive[1]) / sum(self.positive)

    def meets_floors(self, scenario: Scenario) -> bool:
        """Whether neither precision nor recall is below its floor."""
        alarmed, caught = np.array(self.positive[:1]), np.array([sum(self.positive[:2])])
        precise = keeps_floor(alarmed, self.cases[0], scenario.min_precision)
        recalled = keeps_floor(caught, sum(self.positive), scenario.recall_floor)
        return bool(precise[0] and recalled[0])

    @property
    def cost_per_1000(self) -> float:
        """Cost of 1,000 cases, in misses."""
        return 1000 * self.cost / sum(self.cases)

    def _parts(self) -> tuple[Table, str]:
        rows = zip(LEVELS, self.cases, self.positive, strict=True)
        table = [("", "cases", "positive"), *((n, count(c), count(p)) for n, c, p in rows)]
        said = (
            f"precision {short(self.precision)}, recall {short(self.recall)}, cost of 1,000 cases "
            f"{short(self.cost_per_1000)} misses; at most "
            f"{count_within(self.max_alarms, *self.cases)} alarms and "
            f"{count_within(self.max_reviews, *self.cases)} reviews"
        )
        return Table.from_rows(table), said


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReviewBand(ReprMixin):
    """Two thresholds decided on validation cases; `review_band` makes one.

    Attributes
    ----------
    alarm_threshold, review_threshold : float
        Alarm from the first on, review from the second up to the first. Both are +inf if nothing is
        done, and they are equal if nothing is reviewed.
    scenario : Scenario
    review_capacity, review_cost : float
    validation : ReviewCounts
    model : str or None
        Name of the model whose scores the thresholds are for.
    pos_label : label or None
        The positive label of the validation cases, where it was stated.

    Examples
    --------
    >>> limits = Scenario(min_precision=0.9, cost_ratio=0.5)
    >>> band = review_band([1, 0, 1, 0], [9, 8, 7, 6], limits, review_capacity=2, review_cost=0.1)
    >>> band.alarm_threshold, band.review_threshold
    (9.0, 7.0)
    >>> band.evaluate([1, 0, 1], [9, 7, 5]).recall
    0.5
    """

    alarm_threshold: float
    review_threshold: float
    scenario: Scenario
    review_capacity: float
    review_cost: float
    validation: ReviewCounts
    model: str | None = None
    pos_label: Any = None

    def predict(self, y_score: Any) -> AnyArray:
        """Return "alarm", "review" or "nothing" for each case."""
        scores = check_scores(model_column(y_score, self.model))
        level = np.where(scores >= self.review_threshold, LEVELS[1], LEVELS[2])
        return np.where(scores >= self.alarm_threshold, LEVELS[0], level)

    def evaluate(
        self, y_true: Any, y_score: Any = None, *, pos_label: Any = None, sample_weight: Any = None
    ) -> ReviewCounts:
        """Count alarms and reviews of other cases.

        Parameters are those of `voros.evaluate`; `pos_label` is by default that of validation.

        Returns
        -------
        ReviewCounts
        """
        if y_score is not None:
            check_aligned(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
            y_score = model_column(y_score, self.model)
            pos_label = label_or_remembered(y_true, pos_label, self.pos_label)
        how = {"pos_label": pos_label, "sample_weight": sample_weight}
        points = at_deployment(_points(y_true, y_score, self.scenario, how), self.scenario)
        max_reviews = _reviews_allowed(self.review_capacity, points)
        thresholds = np.array([self.alarm_threshold, self.review_threshold])
        return _counts(points, thresholds, self.scenario, self.review_cost, max_reviews)

    def most(self, n_cases: int) -> tuple[float, float]:
        """Return the most alarms and the most reviews of a number of cases.

        Returns
        -------
        tuple of two floats
        """
        reviewed = Scenario(capacity=self.review_capacity, cost_ratio=1.0)
        return self.scenario.max_alarms(n_cases, 0.0), reviewed.max_alarms(n_cases, 0.0)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the band as JSON text, and write it to a file if a path is given.

        `from_json` reads numbers back exactly. An existing file is replaced only with
        ``force=True``.
        """
        fields = {"format": BAND_FORMAT, "schema": BAND_SCHEMA, **vars(self)}
        fields |= {"scenario": self.scenario.fields(), "pos_label": saved_label(self.pos_label)}
        return saved(json_text(with_checksum(fields)), path, force=force)

    @classmethod
    def from_json(cls, source: str | Path) -> ReviewBand:
        """Read a band back from JSON text or from a file.

        Returns
        -------
        ReviewBand
        """
        fields = read_document(source, "saved review band").saved(BAND_FORMAT, BAND_SCHEMA)
        return cls(
            alarm_threshold=float(fields["alarm_threshold"].number(finite=False)),
            review_threshold=float(fields["review_threshold"].number(finite=False)),
            scenario=saved_scenario(fields["scenario"]),
            review_capacity=fields["review_capacity"].number(0),
            review_cost=fields["review_cost"].number(0),
            validation=fields["validation"].record(ReviewCounts),
            model=fields["model"].value,
            pos_label=fields["pos_label"].value,
        )

    @property
    def words(self) -> str:
        """The scores from which alarms are raised, and cases reviewed, in words."""
        alarm, review = self.alarm_threshold, self.review_threshold
        said = "no alarm" if np.isinf(alarm) else f"alarm from {threshold_text(alarm)} on"
        return f"{said}, " + (
            f"review from {threshold_text(review)}" if review < alarm else "no review"
        )

    def _parts(self) -> tuple[str, Table, str]:
        return self.words, *self.validation._parts()


def review_band(
    y_true: Any,
    y_score: Any = None,
    scenario: Scenario | None = None,
    *,
    review_capacity: float,
    review_cost: float,
    pos_label: Any = None,
    sample_weight: Any = None,
    model: str | None = None,
) -> ReviewBand:
    """Choose two thresholds of least expected cost: alarm, review, or nothing.

    A review is assumed to reveal the truth: a reviewed case is neither a miss nor a false alarm.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `partial_voros_score`; `OperatingPoints` may replace `y_true` and `y_score`.
    scenario : Scenario
        Precision floor and capacity limit the alarms; a recall floor counts reviews too. The pair
        is best at the mean cost ratio. A capacity per period is refused.
    review_capacity : float or int
        The most reviews: a share of the cases, or a number of them.
    review_cost : float
        Cost of a review, in misses; a false alarm costs the cost ratio.
    model : str, optional
        Name of the model, saved with the band.

    Returns
    -------
    ReviewBand

    Raises
    ------
    InfeasibleError
        If alarms and reviews together cannot meet a recall floor.

    Notes
    -----
    The thresholds are chosen on these cases and come without a guarantee.

    Examples
    --------
    >>> import voros
    >>> y, score = [1, 1, 0, 1, 0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
    >>> limits = voros.Scenario(min_precision=0.9, capacity=0.5, cost_ratio=0.5)
    >>> band = voros.policy.review_band(y, score, limits, review_capacity=2, review_cost=0.1)
    >>> band
    alarm from 0.8 on, review from 0.6
             cases  positive
    alarm        2         2
    review       2         1
    nothing      4         1
    precision 1, recall 0.750, cost of 1,000 cases 150 misses; at most 4 alarms and 2 reviews
    >>> band.predict([0.95, 0.65, 0.1]).tolist()
    ['alarm', 'review', 'nothing']
    """
    limits = check_scenario(scenario)
    if limits.per is not None:
        raise ArgumentError(
            "capacity", f" per {limits.per} is not kept by a review band; leave the period out"
        )
    accepted = f"a cost in misses, from 0 to {LARGEST_RATIO:g}"
    cost = check_number(review_cost, "review_cost", accepted, 0.0, LARGEST_RATIO)
    how = {"pos_label": pos_label, "sample_weight": sample_weight}
    counted = _points(y_true, y_score, limits, how)
    decision = solve(counted, limits.changed(min_recall=None))
    points, max_reviews = decision.points, _reviews_allowed(review_capacity, decision.points)
    ratio = limits.costs.mean_ratio(float(points.n_negative / points.n_positive))
    enough = points.recalls_enough(limits.recall_floor)
    value = np.where(enough, cost * points.alarms - points.tp, np.inf)
    review = best_reviews(points.alarms, value, max_reviews)
    total = ratio * points.fp - cost * points.alarms + value[review]
    total[~decision.feasible] = np.inf
    alarm = int(np.argmin(total))
    if np.isinf(total[alarm]):
        raise InfeasibleError(_unmet(decision, limits, max_reviews))
    thresholds = points.thresholds[[alarm, review[alarm]]]
    return ReviewBand(
        alarm_threshold=float(thresholds[0]),
        review_threshold=float(thresholds[1]),
        scenario=limits,
        review_capacity=review_capacity,
        review_cost=cost,
        validation=_counts(points, thresholds, limits, cost, max_reviews),
        model=model,
        pos_label=plain_label(pos_label),
    )


def is_review_band(source: str | Path) -> bool:
    """Return whether JSON text or a file holds a review band."""
    document = read_document(source, "saved policy").value
    return isinstance(document, dict) and document.get("format") == BAND_FORMAT


def best_reviews(alarms: AnyArray, value: FloatArray, max_reviews: float) -> AnyArray:
    """Return, for alarms at every row, the row of least value that reviews may reach.

    Rows are in order of rising alarms. Of equal values that with fewest reviews is returned. The
    best rows of ranges are computed by doubling the length: the range of each row is covered by two
    ranges whose length is a power of two.
    """
    stop = np.searchsorted(alarms, alarms + max_reviews, side="right")
    length, best, size = stop - np.arange(len(alarms)), np.arange(len(alarms)), 1
    review = best.copy()
    while size <= length.max():
        rows = np.flatnonzero((length >= size) & (length < 2 * size))
        review[rows] = _lower(value, best[rows], best[stop[rows] - size])
        best = _lower(value, best[: max(len(best) - size, 0)], best[size:])
        size *= 2
    return review


def _lower(value: FloatArray, first: AnyArray, second: AnyArray) -> AnyArray:
    """Return the row of lower value of each pair, or the first if they are equal."""
    return np.where(value[second] < value[first], second, first)


def _points(y_true: Any, y_score: Any, scenario: Scenario, how: dict[str, Any]) -> OperatingPoints:
    points = read_points(y_true, y_score, scenario, **how)
    refuse_stays({"": points}, "a review band")
    check_thresholds(points)
    return points.in_memory()


def _reviews_allowed(review_capacity: float, points: OperatingPoints) -> float:
    """Return the review capacity as a number of reviews."""
    try:
        capacity = Scenario(capacity=review_capacity, cost_ratio=1.0)
        return capacity.max_alarms(points.n_cases, points.one_case)
    except ValueError as error:
        raise ArgumentError("review_capacity", str(error).removeprefix("capacity")) from None


def _counts(
    points: OperatingPoints,
    thresholds: FloatArray,
    scenario: Scenario,
    review_cost: float,
    max_reviews: float,
) -> ReviewCounts:
    rows = alarm_rows(points, thresholds)
    cases = np.diff([0, *points.alarms[rows], points.n_cases]).astype(float).tolist()
    positive = np.diff([0, *points.tp[rows], points.n_positive]).astype(float).tolist()
    ratio = scenario.costs.mean_ratio(float(points.negatives_per_positive))
    return ReviewCounts(
        cases=tuple(cases),
        positive=tuple(positive),
        max_alarms=scenario.max_alarms(points.n_cases, points.one_case),
        max_reviews=max_reviews,
        cost=ratio * (cases[0] - positive[0]) + review_cost * cases[1] + positive[2],
    )


def _unmet(decision: Decision, scenario: Scenario, max_reviews: float) -> str:
    """Say which recall alarms and reviews can reach within the other limits."""
    points = decision.points
    last = np.searchsorted(points.alarms, points.alarms + max_reviews, side="right") - 1
    most = points.tp[last[decision.feasible]].max()
    return (
        f"no two thresholds meet a recall floor of {scenario.min_recall:g}: with the other limits "
        f"and at most {count(max_reviews // 1)} reviews a recall of "
        f"{short(most / points.n_positive)} could be met"
    )
