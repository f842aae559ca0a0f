"""The search for the thresholds that can be chosen, in the rows of an engine.

Counts by ranges of scores bound the score from both sides. Only the ranges that keep the bounds
apart are counted again, more finely. Once their rows are few, they are fetched and every distinct
score is counted.

The points hold every threshold that can matter in the scenarios they were counted for, and each
chosen threshold is a score that occurs. Some of the other thresholds are missing, and some are the
ends of ranges, with the alarms that these raise. A policy of these points meets the limits at every
cost ratio, and is the best one on the costs they were counted for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.core.decision import solve
from voros.core.operating_points import OperatingPoints
from voros.core.pruning import most_cases
from voros.core.scenario import Scenario
from voros.engines.backends import as_lazy, collect
from voros.engines.binned_points import CLOSED, BinnedScores, Bounds, check_tolerance
from voros.engines.bins import Bins, Columns
from voros.engines.first_pass import Totals, read_rows
from voros.engines.plan import (
    LARGEST_ANSWER,
    RowQuery,
    buckets_to_count,
    finest_level,
    rows_in,
)
from voros.engines.queries import ModelRows
from voros.engines.scales import Scale, scale_for
from voros.typing import BoolArray

SAMPLE_ROWS = 100_000
"""First rows, from which the first count is planned; a bad guess costs a pass."""

FIRST_BUCKETS, FINER_BUCKETS = 2**14, 2**17
"""Buckets of the first count, of all rows, and of later counts, of few rows."""

FETCHED_AT_ONCE = 0.3
"""Share of the largest answer up to which the rows of the first cut are fetched and not counted."""

MARGIN, NOISE = 1.25, 3.0
"""Factor by which a cut lies beyond the capacity, and standard deviations by which a sample must
rule scores out."""

SELECTIVE = 0.4
"""A cut is used if it keeps less than this share of the rows."""

MANY_OPEN = 2**14
"""With more open ranges an interval is accepted, unless ``tolerance`` asks for exactness.

If labels alternate along the scores, each open range matters at a few costs only and hardly changes
the score, and splitting them all takes nearly every row.
"""

MANY_ROWS, ENOUGH = 10**9, 1e-6
"""Beyond this number of rows an interval of this width is accepted by default."""


def expected_cost(frame: Any) -> str | None:
    """Describe the passes and the interval to expect of more than a billion rows.

    Counting the rows is fast for Parquet.

    Returns
    -------
    str or None
        None for a smaller frame.
    """
    lazy = as_lazy(frame)
    rows = collect(lazy.select(nw.len().alias("rows"))).item(0, "rows")
    if rows <= MANY_ROWS:
        return None
    return f"{rows:,} rows take three to five passes, to an interval of {ENOUGH:g} or narrower"


@dataclass(frozen=True)
class Aim:
    """The scenarios to decide, and how exactly.

    Attributes
    ----------
    scenarios : sequence of Scenario
        Without any, every score is counted.
    tolerance, for_many : float
        Largest width of an interval, and largest width where very many ranges are open.
    """

    scenarios: Sequence[Scenario]
    tolerance: float
    for_many: float

    @classmethod
    def at(cls, scenarios: Sequence[Scenario], tolerance: float | None, n_rows: int) -> Aim:
        """Choose a tolerance by the number of rows where none is passed."""
        if tolerance is None:
            return cls(scenarios, ENOUGH if n_rows > MANY_ROWS else 0.0, ENOUGH)
        return cls(scenarios, tolerance, tolerance)

    def accepts(self, bound: Bounds) -> bool:
        """Whether a bound is narrow enough."""
        many = np.count_nonzero(bound.undecided) > MANY_OPEN
        enough = self.for_many if many else self.tolerance
        return enough > 0 and bound.upper - bound.lower <= enough

    def accepted(self, binned: BinnedScores) -> float:
        """Return the tolerance that the final counts meet."""
        widths = (high - low for low, high in map(binned.bounds, self.scenarios))
        return self.tolerance if max(widths, default=0.0) <= CLOSED else self.for_many

    def open_ranges(self, binned: BinnedScores, at_most: int) -> BoolArray:
        """Mark the ranges that must be counted more finely."""
        if self.scenarios:
            bounds = map(binned.score_bounds, self.scenarios)
            masks = [bound.undecided for bound in bounds if not self.accepts(bound)]
            return np.asarray(sum(masks, np.zeros(len(binned.bins), dtype=np.bool_)))
        if len(binned.bins) > at_most:
            raise ValueError(
                f"the frame has more than {at_most:,} distinct scores; pass a scenario, so "
                "that only the scores that can matter to it are counted one by one"
            )
        return ~binned.bins.single


@dataclass(frozen=True, eq=False)
class EngineSource:
    """The rows of a model in an engine.

    Attributes
    ----------
    rows : ModelRows
    scale : Scale
    at_most : int
        Rows of the largest answer.
    """

    rows: ModelRows
    scale: Scale
    at_most: int

    def split_from(self, all_rows: Bins, cut: float, share: float) -> Bins:
        """Count the rows from a cut up, which are expected to be this share of all rows."""
        above = replace(all_rows, least=np.maximum(all_rows.least, cut))
        level = finest_level(above, self.scale, min(self.at_most, FIRST_BUCKETS))
        query = RowQuery(scale=self.scale, level=level, low=cut)
        few = int(FETCHED_AT_ONCE * self.at_most)
        fetched = self.rows.fetch(query, 2 * few) if share * all_rows.rows[0] <= few else None
        parts = self.rows.count(query) if fetched is None else Bins.from_rows(fetched)
        return all_rows.split_off(parts, cut)

    def split(self, ranges: Bins, wanted: BoolArray) -> Bins:
        """Count open ranges more finely, and by distinct scores where their rows are few."""
        if ranges.rows[wanted].sum() <= self.at_most:
            # The filter may let as many other rows through.
            query = rows_in(ranges, wanted, self.scale)
            fetched = self.rows.fetch(query, 2 * self.at_most)
            if fetched is not None:
                return ranges.refined(wanted, Bins.from_rows(fetched))
        buckets = min(self.at_most, FINER_BUCKETS)
        plan = buckets_to_count(ranges, wanted, self.scale, buckets)
        return ranges.refined(plan.chosen, self.rows.count(plan.query))


def count_frame(
    frame: Any,
    *,
    label: str,
    scores: Sequence[str],
    weight: str | None = None,
    pos_label: Any = None,
    scenarios: Sequence[Scenario] = (),
    tolerance: float | None = None,
    largest_answer: int = LARGEST_ANSWER,
) -> dict[str, OperatingPoints]:
    """Count the operating points of one or more models in as few passes as they need.

    Parameters
    ----------
    frame : Polars LazyFrame, DuckDB relation or Spark data frame
    label : str
        The column of labels.
    scores : sequence of str
        A column of scores for each model.
    weight : str, optional
        The column of case weights.
    pos_label : label, optional
        The positive class; needed unless the labels are bool, {0, 1} or {-1, 1}.
    scenarios : sequence of Scenario
        Scenarios that the counts must decide; by default every distinct score is counted.
    tolerance : float in [0, 1), optional
        Largest width of the certified interval of each score. By default 0, the exact score, and
        1e-6 where that takes many passes: for more than a billion rows, and where more than 16,384
        ranges of scores remain open.
    largest_answer : int
        Rows of counts that one pass may bring into this process. Rows that can matter are fetched
        once there are no more than that; as many others may come with them.

    Returns
    -------
    dict of str to OperatingPoints
        By score column; their `covers` is a `BinnedScores`, with the certified interval.

    Examples
    --------
    >>> import polars as pl, voros
    >>> frame = pl.LazyFrame({"ill": [True, False, True, False], "risk": [0.9, 0.8, 0.7, 0.1]})
    >>> scenario = voros.Scenario(0.5, 0.5, cost_ratio=(0.2, 0.4))
    >>> points = count_frame(frame, label="ill", scores=["risk"], scenarios=[scenario])["risk"]
    >>> counted = points.covers
    >>> counted.exact, voros.evaluate(points, scenario=scenario).score == counted.interval[0]
    (True, True)
    """
    accepted = None if tolerance is None else check_tolerance(tolerance)
    models, totals = read_rows(frame, label, scores, weight, pos_label)
    aim = Aim.at(scenarios, accepted, totals.rows)
    return {
        name: search(rows, totals, totals.ranges[name], aim, largest_answer).points
        for name, rows in models.items()
    }


def search(
    rows: ModelRows, totals: Totals, ends: tuple[float, float], aim: Aim, at_most: int
) -> BinnedScores:
    """Count the scores of a model, which lie between two ends, until an aim is met."""
    sample, all_rows = rows.sample(min(SAMPLE_ROWS, at_most)), _whole(totals, ends)
    source = EngineSource(rows, _scale(sample, ends), at_most)
    binned = partial(
        BinnedScores,
        n_positive=totals.positive,
        n_negative=totals.negative,
        one_case=totals.one_case,
    )
    if len(sample[0]) == totals.rows:
        bins = Bins.from_rows(sample)
        rows.usage.rows_counted += totals.rows
    else:
        cut = _cut(sample, totals, aim.scenarios)
        bins = source.split_from(all_rows, cut, float(np.mean(sample[0] >= cut)))
    while (open_ranges := aim.open_ranges(binned(bins=bins), at_most)).any():
        bins = source.split(bins, open_ranges)
    counted = binned(bins=bins, scenarios=tuple(aim.scenarios), usage=rows.usage)
    return replace(counted, tolerance=aim.accepted(counted))


def _whole(totals: Totals, ends: tuple[float, float]) -> Bins:
    """Return one bin of all rows, before any score is counted."""
    low, high = (min(score, LARGEST_FINITE) for score in ends)
    n_rows, tp, fp = (np.array([n]) for n in (totals.rows, totals.positive, totals.negative))
    return Bins(np.array([low]), np.array([high]), n_rows, tp, fp)


def _scale(sample: Columns, ends: tuple[float, float]) -> Scale:
    finite = np.isfinite(sample[0])
    if not finite.any():
        return Scale.up_to(1.0)
    scores = sample[0][finite]
    low, high = ends if np.isfinite(ends).all() else (scores.min(), scores.max())
    return scale_for(scores, sample[1][finite], float(low), float(high))


def _cut(sample: Columns, totals: Totals, scenarios: Sequence[Scenario]) -> float:
    """Guess a score below which thresholds are out of reach or too costly; -inf for none."""
    scores, positive, *weights = sample
    if not scenarios or positive.all() or not positive.any():
        return -np.inf
    mass = weights[0] / weights[0].mean() if weights else None
    points = OperatingPoints.from_cases(positive, scores, mass)
    cut = min(
        max(_out_of_reach(points, scenario, totals), _too_costly(points, scenario))
        for scenario in scenarios
    )
    return cut if np.mean(scores >= cut) < SELECTIVE else -np.inf


def _out_of_reach(points: OperatingPoints, scenario: Scenario, totals: Totals) -> float:
    """Return the score of a sample below which every threshold exceeds the capacity."""
    most = most_cases(scenario, totals.positive, totals.negative, totals.one_case)
    expected = most / (totals.positive + totals.negative) * points.n_cases
    beyond = points.alarms > MARGIN * expected + NOISE * np.sqrt(expected) + 1
    return _first_marked(points, beyond)


def _too_costly(points: OperatingPoints, scenario: Scenario) -> float:
    """Return the score of a sample below which no threshold pays, in whatever order the cases are.

    A threshold below cannot pay if the false alarms between the best threshold and the cut cost
    more, even at the lowest cost ratio, than all positives below the best threshold are worth.
    """
    decision = solve(points, scenario.without_capacity())
    points = decision.points
    cheapest = scenario.costs.ratio_range(points.negatives_per_positive)[0]
    if not 0 < cheapest < np.inf:
        return -np.inf
    worth = np.where(decision.feasible, points.tp - cheapest * points.fp, -np.inf)
    best = np.argmax(worth)
    missed = points.n_positive - points.tp[best]
    added = np.maximum(points.fp - points.fp[best], 0.0)
    noise = NOISE * np.sqrt(missed + cheapest**2 * added)
    return _first_marked(points, missed + noise < cheapest * added)


def _first_marked(points: OperatingPoints, marks: BoolArray) -> float:
    return float(points.thresholds[np.argmax(marks)]) if marks.any() else -np.inf
