"""Counts by fixed bins, which can be added across days and sites without sharing a row.

The bins are buckets of the float key. They do not depend on the data, so that counts of different
data fit together. `bounds` gives an interval that contains the score in any scenario. A
`voros.SiteCounts` saves them, with what was counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.arguments import check_count
from voros.core.cases import check_cases, check_sum_of_weights
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.engines.binned_points import BinnedScores
from voros.engines.bins import Bins
from voros.engines.keys import (
    HIGHEST_KEY,
    KEY_BITS,
    LOWEST_KEY,
    IntArray,
    bucket_end,
    bucket_of,
    bucket_start,
)
from voros.engines.small_bins import Ranges, overlapping, without_small
from voros.exceptions import ArgumentError
from voros.io.documents import Entry
from voros.text.numbers import count
from voros.typing import AnyArray

COLUMNS = ("buckets", "widths", "rows", "positive", "negative")
"""Saved for every bin."""

FIELDS = ("bits", "one_case", *COLUMNS)
"""Saved for the counts of one model."""

ROUNDING = 1e-9
"""Relative tolerance for sums of weights."""

FEWEST_BITS, MOST_BITS = 12, 24
"""12 bits make one bin per octave; beyond 24 an answer may be large."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BinnedCounts:
    """Cases of each class by ranges of scores; counts of different cases can be added.

    Attributes
    ----------
    bits : int
        Leading bits of the float key that are equal within a bin: 20 make 256 bins per octave.
    buckets : ndarray of int, shape (n_bins,)
        Number of the lowest bucket of each bin that holds cases, from the highest scores down.
    widths : ndarray of int, shape (n_bins,)
        Number of buckets in each bin: 1 unless `merge_small_bins` merged some.
    rows : ndarray of int, shape (n_bins,)
    positive, negative : ndarray of shape (n_bins,)
        Cases of each class, or the sum of their weights.
    one_case : float
        The smallest weight; 1 without weights.

    Examples
    --------
    Two sites count their cases, and the sum bounds the score of all:

    >>> import voros
    >>> here = BinnedCounts.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> there = BinnedCounts.from_scores([1, 0, 0], [0.6, 0.2, 0.3])
    >>> both = here + there
    >>> both.n_positive, both.n_negative
    (3, 4)
    >>> both.bounds(voros.Scenario(0.5, 0.5, cost_ratio=(0.2, 0.4)))
    (0.618265812802711, 0.618265812802711)
    """

    holds_counts: ClassVar[bool] = True
    """Functions that need cases recognise counts by it."""

    bits: int
    buckets: IntArray
    widths: IntArray
    rows: IntArray
    positive: AnyArray
    negative: AnyArray
    one_case: float = 1.0

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        bits: int = 20,
        pos_label: Any = None,
        sample_weight: Any = None,
    ) -> BinnedCounts:
        """Count labels and scores in memory; parameters as in `OperatingPoints.from_scores`.

        Returns
        -------
        BinnedCounts
        """
        level = _level(bits)
        check_aligned(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
        positive, scores, weights = check_cases(
            y_true, y_score, pos_label, sample_weight, both_classes=False
        )
        buckets, rows = bucket_of(scores, level), np.ones(len(scores), dtype=np.int64)
        mass: AnyArray = rows if weights is None else weights
        check_sum_of_weights(mass)
        counts = rows, np.where(positive, mass, 0), np.where(positive, 0, mass)
        one_case = 1.0 if weights is None else float(weights.min())
        return _grouped(bits, Ranges(buckets, buckets), counts, one_case)

    @property
    def n_positive(self) -> float:
        """Positive cases, or the sum of their weights."""
        total: float = self.positive.sum().item()
        return total

    @property
    def n_negative(self) -> float:
        """Negative cases, or the sum of their weights."""
        total: float = self.negative.sum().item()
        return total

    @property
    def bins(self) -> Bins:
        """Counts by ranges of scores that extend from edge to edge."""
        level, ranges = _level(self.bits), self._ranges
        ends = bucket_start(ranges.first, level), bucket_end(ranges.last, level)
        return Bins(*ends, *self._counts)

    @property
    def points(self) -> OperatingPoints:
        """Operating points at the lower edges of the bins.

        A scenario whose score the bins leave open is refused with the certified interval.
        """
        return self.binned.points

    @property
    def binned(self) -> BinnedScores:
        """The counts with bounds on the score in every scenario."""
        for name, total in (("positive", self.n_positive), ("negative", self.n_negative)):
            if total == 0:
                raise ValueError(f"these counts hold no {name} case; both classes are needed")
        return BinnedScores(
            bins=self.bins,
            n_positive=self.n_positive,
            n_negative=self.n_negative,
            one_case=self.one_case,
        )

    def bounds(self, scenario: Scenario) -> tuple[float, float]:
        """Return the lowest and highest partial VOROS that the counts allow in a scenario.

        Returns
        -------
        tuple[float, float]
        """
        return self.binned.bounds(scenario)

    def coarser(self, bits: int) -> BinnedCounts:
        """Return the same counts in fewer and wider bins.

        Returns
        -------
        BinnedCounts
        """
        if bits > self.bits:
            raise ValueError(f"bits={bits} is finer than these counts, which have {self.bits}")
        _level(bits)
        shift = self.bits - bits
        ranges = Ranges(*(ends >> shift for ends in self._ranges))
        return _grouped(bits, ranges, self._counts, self.one_case)

    def merge_small_bins(self, min_rows: int) -> BinnedCounts:
        """Merge neighbouring bins until each holds at least this many rows; the interval widens.

        Returns
        -------
        BinnedCounts

        Examples
        --------
        >>> counts = BinnedCounts.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.26])
        >>> counts.merge_small_bins(2).rows.tolist()
        [2, 2]
        """
        n_rows = int(self.rows.sum())
        if n_rows < check_count(min_rows, "min_rows", "a whole number of at least 1"):
            raise ArgumentError("min_rows", f"={min_rows}, and there are {n_rows} cases in all")
        return self if self.rows.min() >= min_rows else self._merged_until(self.rows, min_rows)

    def since(self, earlier: BinnedCounts, min_rows: int) -> BinnedCounts:
        """Merge bins until each holds at least ``min_rows`` rows more than in earlier counts.

        The difference of the two counts then has no bin with fewer rows.

        Returns
        -------
        BinnedCounts

        Raises
        ------
        ValueError
            If fewer rows were added in total, or cases of the earlier counts are missing.

        Examples
        --------
        >>> y_true, y_score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.3, 0.26, 0.7, 0.1]
        >>> earlier = BinnedCounts.from_scores(y_true[:4], y_score[:4])
        >>> BinnedCounts.from_scores(y_true, y_score).since(earlier, 2).rows.tolist()
        [6]
        """
        both = self + earlier
        later, before = both._filled(self), both._filled(earlier)
        growth, slack = later.rows - before.rows, ROUNDING * before.n_positive
        lost = np.minimum(later.positive - before.positive, later.negative - before.negative)
        if growth.min() < 0 or lost.min() < -slack:
            raise ValueError(
                "cases of the earlier counts are missing, or have another label or score; "
                "the same cases and later ones are accepted"
            )
        if growth.sum() < min_rows:
            raise ValueError(
                f"{growth.sum()} cases were added since the earlier counts; at least "
                f"{min_rows} are needed"
            )
        return later._merged_until(growth, min_rows)

    def _filled(self, counts: BinnedCounts) -> BinnedCounts:
        """Return these bins with the counts of others, whose bins lie within these."""
        inner = counts.coarser(self.bits)
        ranges = Ranges(*map(np.append, self._ranges, inner._ranges))
        nothing = map(np.zeros_like, self._counts)
        added = tuple(map(np.append, nothing, inner._counts))
        return _grouped(self.bits, ranges, added, counts.one_case)

    def _merged_until(self, rows: IntArray, min_rows: int) -> BinnedCounts:
        """Merge neighbouring bins until each holds at least ``min_rows`` of these rows."""
        level = _level(self.bits)
        rising = Ranges(*(ends[::-1] for ends in self._ranges))
        starts = without_small(rising, rows[::-1], min_rows)
        first = np.append(LOWEST_KEY >> level, starts)
        last = np.append(starts - 1, HIGHEST_KEY >> level)
        tiles = Ranges(*map(np.append, (first, last), self._ranges))
        nothing = np.zeros((3, len(first)), dtype=np.int64)
        counts = tuple(map(np.append, nothing, self._counts))
        return _grouped(self.bits, tiles, counts, self.one_case)

    @property
    def _counts(self) -> tuple[AnyArray, ...]:
        return self.rows, self.positive, self.negative

    @property
    def _ranges(self) -> Ranges:
        return Ranges(self.buckets, self.buckets + self.widths - 1)

    def __add__(self, other: BinnedCounts) -> BinnedCounts:
        """Add the counts of another day or site; overlapping bins become one."""
        if not isinstance(other, BinnedCounts):
            return NotImplemented
        bits = min(self.bits, other.bits)
        mine, theirs = self.coarser(bits), other.coarser(bits)
        ranges = Ranges(*map(np.append, mine._ranges, theirs._ranges))
        counts = tuple(map(np.append, mine._counts, theirs._counts))
        return _grouped(bits, ranges, counts, min(self.one_case, other.one_case))

    def __radd__(self, other: object) -> BinnedCounts:
        """Start a sum: Python's ``sum`` adds the first counts to 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def fields(self) -> dict[str, Any]:
        """Return the fields that a document saves."""
        return {name: getattr(self, name) for name in FIELDS}

    @classmethod
    def from_entries(cls, entries: Mapping[str, Entry]) -> BinnedCounts:
        """Read counts from the entries of a document, which are those of `fields`.

        Returns
        -------
        BinnedCounts
        """
        bits = entries["bits"].whole(FEWEST_BITS, MOST_BITS)
        buckets = _read_buckets(entries["buckets"], bits)
        counts = cls(
            bits=bits,
            buckets=buckets,
            widths=_read_widths(entries["widths"], buckets, bits),
            rows=np.array(entries["rows"].wholes(1), dtype=np.int64),
            positive=_read_counts(entries["positive"]),
            negative=_read_counts(entries["negative"]),
            one_case=float(entries["one_case"].number(0)),
        )
        _check_consistent(counts, entries)
        return counts

    def __repr__(self) -> str:
        """Return bins, bits and cases in one line."""
        return (
            f"BinnedCounts({len(self.buckets):,} bins of {self.bits} bits, "
            f"n_positive={count(self.n_positive)}, n_negative={count(self.n_negative)})"
        )


def _level(bits: int) -> int:
    accepted = f"a whole number within [{FEWEST_BITS}, {MOST_BITS}]"
    return KEY_BITS - check_count(bits, "bits", accepted, FEWEST_BITS, MOST_BITS)


def _grouped(
    bits: int, ranges: Ranges, counts: tuple[AnyArray, ...], one_case: float
) -> BinnedCounts:
    """Make one bin of each group of overlapping ranges; it spans the whole group."""
    order = np.argsort(ranges.first, kind="stable")
    ranges = Ranges(ranges.first[order], ranges.last[order])
    home = overlapping(ranges)
    begin = np.flatnonzero(np.diff(home, prepend=-1))
    first, last = ranges.first[begin], np.maximum.accumulate(ranges.last)
    ends = last[np.append(begin[1:], len(home)) - 1] if len(home) else last
    # `add.reduceat` refuses empty arrays.
    summed = [np.add.reduceat(c[order], begin) if len(home) else c[:0] for c in counts]
    rows, tp, fp = (count[::-1] for count in summed)
    return BinnedCounts(
        bits=bits,
        buckets=first[::-1],
        widths=(ends - first + 1)[::-1],
        rows=rows,
        positive=tp,
        negative=fp,
        one_case=one_case,
    )


def _read_buckets(entry: Entry, bits: int) -> IntArray:
    level = KEY_BITS - bits
    buckets = entry.wholes(int(LOWEST_KEY) >> level, int(HIGHEST_KEY) >> level)
    for item, (one, other) in zip(entry.items()[1:], pairwise(buckets), strict=True):
        if not one > other:
            item.refuse(f"a bucket below the one before it, {one}")
    return np.array(buckets, dtype=np.int64)


def _read_widths(entry: Entry, buckets: IntArray, bits: int) -> IntArray:
    highest = int(HIGHEST_KEY) >> (KEY_BITS - bits)
    widths = entry.wholes(1, 2**MOST_BITS)
    above = [highest + 1, *buckets.tolist()]
    for item, bucket, beyond in zip(entry.items(), buckets.tolist(), above, strict=False):
        if bucket + item.value > beyond:
            item.refuse(f"a width that ends below the bucket above, {beyond}")
    return np.array(widths, dtype=np.int64)


def _read_counts(entry: Entry) -> AnyArray:
    counts = entry.numbers(0)
    integers = all(isinstance(count, int) for count in counts)
    return np.array(counts, dtype=np.int64 if integers else np.float64)


def _check_consistent(counts: BinnedCounts, entries: Mapping[str, Entry]) -> None:
    """Raise, naming the key, unless buckets, rows and counts can describe the same cases."""
    for name in COLUMNS[1:]:
        if len(getattr(counts, name)) != len(counts.buckets):
            entries[name].contradict(f"has another length than buckets, {len(counts.buckets)}")
    if counts.positive.dtype != counts.negative.dtype:
        entries["positive"].contradict("and negative: one is whole numbers, the other is not")
    both = counts.positive + counts.negative
    if counts.positive.dtype.kind == "i":
        _check_unweighted(counts, both, entries)
    elif len(both) and not (counts.one_case > 0 and np.isfinite(both.sum())):
        entries["one_case"].refuse("the smallest weight, above 0")
    elif np.any(both < counts.rows * counts.one_case * (1 - ROUNDING)):
        entries["rows"].contradict("count more cases than the weights add up to")


def _check_unweighted(counts: BinnedCounts, both: AnyArray, entries: Mapping[str, Entry]) -> None:
    if counts.one_case != 1:
        entries["one_case"].refuse("1 where the counts are whole")
    wrong = np.flatnonzero(both != counts.rows)
    if len(wrong):
        entries["rows"].items()[wrong[0]].contradict(
            f"is {counts.rows[wrong[0]]}; positive and negative add up to {both[wrong[0]]}"
        )
