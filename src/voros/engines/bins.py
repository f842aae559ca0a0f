"""Cases counted by ranges of scores.

Bins are disjoint and ordered from the highest scores down. The lowest score of a bin is a threshold
whose alarms are known; the order of the cases inside a bin is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np

from voros.engines.keys import IntArray
from voros.typing import AnyArray, BoolArray, FloatArray

Columns: TypeAlias = Sequence[AnyArray]
"""Scores, labels and, if there are any, weights of some rows."""


class ChangedDataError(ValueError):
    """Two passes over a frame disagree.

    Examples
    --------
    >>> raise changed(counted=7, expected=8)
    Traceback (most recent call last):
    voros.engines.bins.ChangedDataError: a later pass counted 7 rows where an earlier one counted 8,
    or other scores: the frame changed, or is drawn at random, between passes. Write it to a
    file first
    """


@dataclass(frozen=True, eq=False)
class Bins:
    """Counts per range of scores, from the highest scores down.

    Attributes
    ----------
    least, greatest : ndarray of shape (n_bins,)
        The range of each bin's scores.
    rows : ndarray of int, shape (n_bins,)
    positive, negative : ndarray of shape (n_bins,)
        Cases of each class, or the sum of their weights.
    """

    least: FloatArray
    greatest: FloatArray
    rows: IntArray
    positive: AnyArray
    negative: AnyArray

    @classmethod
    def from_columns(cls, columns: Mapping[str, AnyArray], weighted: bool) -> Bins:
        """Make bins from the columns of an answer, whose rows are in any order."""
        order = _descending(columns["least"])
        kind = np.float64 if weighted else np.int64
        least, rows = columns["least"][order], columns["rows"][order].astype(np.int64)
        positive = columns["positive"][order].astype(kind)
        negative = columns["negative"][order].astype(kind) if weighted else rows - positive
        return cls(least, columns["greatest"][order], rows, positive, negative)

    @classmethod
    def from_rows(cls, columns: Columns) -> Bins:
        """Count rows by distinct scores."""
        scores, positive, *weights = columns
        order = np.argsort(scores)
        ordered = scores[order]
        begin = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(order)])
        mass = weights[0] if weights else np.ones(len(scores), dtype=np.int64)
        counted = {
            "rows": np.diff(np.append(begin, len(order))),
            "least": ordered[begin],
            "greatest": ordered[begin],
            "positive": np.add.reduceat(np.where(positive, mass, 0)[order], begin),
            "negative": np.add.reduceat(np.where(positive, 0, mass)[order], begin),
        }
        return cls.from_columns(counted, bool(weights))

    def __len__(self) -> int:
        """Return the number of bins."""
        return len(self.least)

    @property
    def single(self) -> BoolArray:
        """Whether each bin holds one distinct score, so that nothing inside it is unknown."""
        return np.asarray((self.least == self.greatest) | (self.rows == 1))

    def take(self, chosen: AnyArray) -> Bins:
        """Return the chosen bins."""
        return Bins(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def contain(self, scores: FloatArray) -> tuple[BoolArray, IntArray]:
        """Return whether each score lies in a bin, and for those that do, in which."""
        position = len(self) - np.searchsorted(self.least[::-1], scores, side="right")
        inside = position < len(self)
        inside[inside] = scores[inside] <= self.greatest[position[inside]]
        return inside, position[inside]

    def refined(self, chosen: BoolArray, parts: Bins) -> Bins:
        """Replace the chosen bins by finer ones.

        Parts outside the chosen bins are skipped: a filter may let more rows through than were
        asked for.
        """
        parents = self.take(chosen)
        inside, home = parents.contain(parts.least)
        parts = parts.take(inside)
        counted = np.bincount(home, weights=parts.rows, minlength=len(parents))
        outside = np.any(parts.greatest > parents.greatest[home])
        if outside or not np.array_equal(counted, parents.rows):
            raise changed(counted.sum(), parents.rows.sum())
        return join(self.take(~chosen), parts)

    def split_off(self, parts: Bins, cut: float) -> Bins:
        """Replace a single bin from `cut` up by finer bins; the rest stays one bin."""
        rest = int(self.rows[0] - parts.rows.sum())
        lowest = float(self.least[0])
        outside = np.any(parts.least < max(cut, lowest)) or (rest > 0 and cut <= lowest)
        if rest < 0 or outside or parts.greatest.max(initial=-np.inf) != self.greatest[0]:
            raise changed(parts.rows.sum(), self.rows[0])
        if rest == 0:
            return parts
        remainder = Bins(
            self.least,
            np.nextafter([cut], -np.inf),
            np.array([rest]),
            # Sums of weights are rounded, so a difference may fall below 0.
            np.maximum(self.positive - parts.positive.sum(), 0),
            np.maximum(self.negative - parts.negative.sum(), 0),
        )
        return join(parts, remainder)


def _descending(values: FloatArray) -> AnyArray | slice:
    """Return an index that puts the highest first, without sorting where they rise already."""
    rising = bool(np.all(values[:-1] < values[1:]))
    return slice(None, None, -1) if rising else np.argsort(-values)


def join(one: Bins, other: Bins) -> Bins:
    """Return the bins of both arguments, from the highest scores down."""
    columns = [
        np.concatenate([getattr(one, field.name), getattr(other, field.name)])
        for field in fields(Bins)
    ]
    both = Bins(*columns)
    return both.take(np.argsort(-both.least, kind="stable"))


def changed(counted: float, expected: float) -> ChangedDataError:
    """Return the error of a pass that disagrees with an earlier one."""
    return ChangedDataError(
        f"a later pass counted {counted:.0f} rows where an earlier one counted {expected:.0f}, or "
        "other scores: the frame changed, or is drawn at random, between passes. "
        "Write it to a file first"
    )
