"""Counts by fixed bins, which add up across days and sites without a row leaving its place.

The bins are cells of the float key and do not depend on the data, so that summaries made apart
fit together. What binning lost is not guessed at: `bounds` brackets it in any scenario.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voros.engines.bins import Bins
from voros.engines.bounds import score_bounds
from voros.engines.intake import read_cases
from voros.engines.keys import KEY_BITS, IntArray, cell_end, cell_of, cell_start
from voros.engines.plan import Plan, Wanted
from voros.engines.refinement import whole_range
from voros.inputs import (
    AnyArray,
    BoolArray,
    as_vector,
    check_labels,
    check_same_length,
    check_scores,
    check_weights,
)
from voros.roc import OperatingPoints
from voros.scenario import Scenario

SCHEMA = "voros.binned-counts/1"
"""What a saved summary calls itself; the number rises when its fields change."""

FEWEST_BITS, MOST_BITS = 12, 24
"""12 leave one bin per octave; beyond 24 an answer need not be small any more."""


@dataclass(frozen=True, eq=False)
class BinnedCounts:
    """Cases of each class by ranges of scores: a summary that adds up.

    Attributes
    ----------
    bits : int
        Leading bits of the float key that tell bins apart: 20 make 256 bins per octave.
    cells : ndarray of int, shape (n_bins,)
        Numbers of the bins that hold cases, from the highest scores down.
    rows : ndarray of int, shape (n_bins,)
    positive, negative : ndarray of shape (n_bins,)
        Cases of each class, or the sum of their weights.
    one_case : float
        The smallest weight; 1 without weights.

    Examples
    --------
    Two sites count at home, and the sum is bounded in a scenario:

    >>> import voros
    >>> here = BinnedCounts.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> there = BinnedCounts.from_scores([1, 0, 0], [0.6, 0.2, 0.3])
    >>> both = here + there
    >>> both.n_positive, both.n_negative
    (3, 4)
    >>> both.bounds(voros.Scenario(0.5, 0.5, cost_ratio=(0.2, 0.4)))
    (0.618265812802711, 0.618265812802711)
    """

    bits: int
    cells: IntArray
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
        pos_label: Any = None,
        sample_weight: Any = None,
        bits: int = 20,
    ) -> BinnedCounts:
        """Summarise labels and scores in memory; parameters as in `OperatingPoints.from_scores`."""
        level = _level(bits)
        positive, scores = _positive(y_true, pos_label), check_scores(y_score)
        check_same_length(y_true=positive, y_score=scores)
        weights = None if sample_weight is None else check_weights(sample_weight)
        if weights is not None:
            check_same_length(y_true=positive, sample_weight=weights)
            counted = weights > 0
            positive, scores, weights = positive[counted], scores[counted], weights[counted]
        cells, home = np.unique(cell_of(scores, level), return_inverse=True)
        rows = np.bincount(home)
        mass = np.ones(len(home)) if weights is None else weights
        right = np.bincount(home, weights=np.where(positive, mass, 0.0))
        false = np.bincount(home, weights=np.where(positive, 0.0, mass))
        if weights is None:
            right, false = right.astype(np.int64), false.astype(np.int64)
        one_case = 1.0 if weights is None else float(weights.min())
        down = slice(None, None, -1)
        return cls(bits, cells[down], rows[down], right[down], false[down], one_case)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        pos_label: Any = None,
        bits: int = 20,
    ) -> BinnedCounts:
        """Summarise a frame of an engine; parameters as in `OperatingPoints.from_frame`."""
        level = _level(bits)
        cases, totals = read_cases(frame, label, [score], weight, pos_label)
        parts = cases.count(Plan({score: Wanted(level)}))[score]
        bins = whole_range(totals, score).split_off(parts, -np.inf, level)
        cells = cell_of(bins.least, level)
        return cls(bits, cells, bins.rows, bins.positive, bins.negative, totals.one_case)

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
        """Counts by range of scores; the lowest of each is the bin's own edge."""
        level = _level(self.bits)
        levels = np.full(len(self.cells), level)
        ends = cell_start(self.cells, level), cell_end(self.cells, level)
        return Bins(*ends, levels, self.rows, self.positive, self.negative)

    @property
    def points(self) -> OperatingPoints:
        """Operating points at the lower edges of the bins, which are thresholds one can set."""
        for name, total in (("positive", self.n_positive), ("negative", self.n_negative)):
            if total == 0:
                raise ValueError(f"these counts hold no {name} case; both classes are needed")
        return self.bins.points(self.n_positive, self.n_negative, self.one_case)

    def bounds(self, scenario: Scenario) -> tuple[float, float]:
        """Lowest and highest partial VOROS that the counts allow in a scenario."""
        return score_bounds(self.bins, self.points, scenario).interval

    def coarser(self, bits: int) -> BinnedCounts:
        """The same counts in fewer and wider bins."""
        if bits > self.bits:
            raise ValueError(f"bits={bits} is finer than these counts, which have {self.bits}")
        _level(bits)
        cells, first = np.unique(-(self.cells >> (self.bits - bits)), return_index=True)
        rows, right, false = (
            np.add.reduceat(count, first) for count in (self.rows, self.positive, self.negative)
        )
        return BinnedCounts(bits, -cells, rows, right, false, self.one_case)

    def __add__(self, other: BinnedCounts) -> BinnedCounts:
        """Add the counts of another day or site; the wider of the two sets of bins is kept."""
        if not isinstance(other, BinnedCounts):
            return NotImplemented
        bits = min(self.bits, other.bits)
        mine, theirs = self.coarser(bits), other.coarser(bits)
        cells, home = np.unique(-np.concatenate([mine.cells, theirs.cells]), return_inverse=True)
        rows, right, false = (
            _added(home, getattr(mine, name), getattr(theirs, name))
            for name in ("rows", "positive", "negative")
        )
        one_case = min(self.one_case, other.one_case)
        return BinnedCounts(bits, -cells, rows, right, false, one_case)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the summary as JSON, and write it to a file if a path is given.

        An existing file is replaced only with ``force=True``.
        """
        columns = ("cells", "rows", "positive", "negative")
        record = {"schema": SCHEMA, "bits": self.bits, "one_case": self.one_case}
        record |= {name: getattr(self, name).tolist() for name in columns}
        text = json.dumps(record)
        if path is not None:
            from voros.files import write_whole

            write_whole(path, text, force=force)
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> BinnedCounts:
        """Read a summary from JSON text or from a file.

        Examples
        --------
        >>> counts = BinnedCounts.from_scores([1, 0], [0.9, 0.8])
        >>> BinnedCounts.from_json(counts.to_json()).cells.tolist() == counts.cells.tolist()
        True
        """
        is_text = isinstance(source, str) and source.lstrip().startswith("{")
        text = str(source) if is_text else Path(source).read_text(encoding="utf-8")
        return _from_record(json.loads(text))

    def __repr__(self) -> str:
        """Summarise the summary."""
        return (
            f"BinnedCounts({len(self.cells):,} bins of {self.bits} bits, "
            f"n_positive={self.n_positive:g}, n_negative={self.n_negative:g})"
        )


def _positive(y_true: Any, pos_label: Any) -> BoolArray:
    """Tell who is positive; unlike a curve, a summary may lack one class."""
    labels = as_vector(y_true, "y_true")
    only = set(labels.tolist()) if labels.dtype.kind in "biuf" else set()
    if pos_label is None and len(only) == 1 and only <= {-1, 0, 1}:
        return np.asarray(labels == 1)
    return check_labels(labels, pos_label)


def _level(bits: int) -> int:
    if not (isinstance(bits, int) and FEWEST_BITS <= bits <= MOST_BITS):
        raise ValueError(
            f"bits={bits!r}; accepted is a whole number within [{FEWEST_BITS}, {MOST_BITS}]"
        )
    return KEY_BITS - bits


def _added(home: IntArray, mine: AnyArray, theirs: AnyArray) -> AnyArray:
    both = np.concatenate([mine, theirs])
    total = np.zeros(home.max(initial=-1) + 1, dtype=both.dtype)
    np.add.at(total, home, both)
    return total


def _from_record(record: Any) -> BinnedCounts:
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        found = record.get("schema") if isinstance(record, dict) else type(record).__name__
        raise ValueError(f"not a summary of the schema {SCHEMA!r}; found {found!r}")
    names = ("cells", "rows", "positive", "negative")
    cells, rows, right, false = (np.asarray(record[name]) for name in names)
    _check_counts(cells, rows, right, false)
    _level(record["bits"])
    return BinnedCounts(record["bits"], cells, rows, right, false, float(record["one_case"]))


def _check_counts(cells: IntArray, *counts: AnyArray) -> None:
    if any(len(count) != len(cells) for count in counts):
        raise ValueError("a summary needs as many counts as cells; the file is damaged")
    if np.any(np.diff(cells) >= 0) or any(np.any(~(count >= 0)) for count in counts):
        raise ValueError(
            "a summary needs falling cells and counts of at least 0; the file is damaged"
        )
