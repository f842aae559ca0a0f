r"""A case with several alarms counts once: one visit serves them all.

The alarms of the union replace their sum. Give each case to the stream that would alarm it first,
and count an alarm of a stream only on the cases given to it: that is at most the union, whatever
thresholds are chosen. With :math:`\lambda` the multiplier of the problem with these counts,

.. math:: S + \lambda (K - |u \cap E|) + \sum_i \max_j (s_{ij} - \lambda |(u \cup A_{ij}) \cap E_i|)

bounds what can be saved once some streams have alarmed the cases u and saved S: E are the cases
given to them, :math:`E_i` those given to the stream i that is still open, :math:`A_{ij}` its alarms
at option j and :math:`s_{ij}` what they save, and K the capacity. A depth-first search cut by this
bound is exact. The last stream is read off one running count. The search is limited in size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.core.deficit_search import ROUNDING, Options
from voros.core.shared_capacity import (
    SharedChoice,
    Stream,
    multiplier,
    options_of,
    share_capacity,
    whole_costs,
)

MOST_UNIONS = 100_000
"""Unions counted before the search gives up."""


@dataclass
class _Search:
    """Options of each stream, and the best choice so far.

    `step` has, for each stream, the first option that alarms each case; `given` the stream that
    each case is given to.
    """

    options: list[Options]
    step: list[AnyArray]
    given: AnyArray
    price: float
    max_alarms: float
    best: tuple[int, ...]
    best_saved: int
    best_visits: int
    n_unions: int = 0

    def new_alarms(self, stream: int, counted: BoolArray) -> AnyArray:
        """Return how many of the counted cases each option of a stream alarms."""
        steps = self.step[stream][counted]
        return np.cumsum(np.bincount(steps, minlength=len(self.options[stream].rows) + 1))[:-1]

    def heights(self, stream: int, alarmed: BoolArray) -> FloatArray:
        """Return what each option saves, less the price of its cases and of those alarmed."""
        mine = self.given == stream
        visits = np.count_nonzero(alarmed & mine) + self.new_alarms(stream, mine & ~alarmed)
        return np.asarray(self.options[stream].saved - self.price * visits)


def share_visits(
    streams: Sequence[Stream], scores: Sequence[AnyArray], max_alarms: float
) -> SharedChoice:
    """Choose one point for each stream: least cost with at most ``max_alarms`` cases alarmed.

    Raises
    ------
    ValueError
        When the search would take too long.

    Examples
    --------
    Alarms of both streams for the same two cases are two visits:

    >>> from voros.core.operating_points import OperatingPoints
    >>> y, s = [1, 1, 0, 0], np.array([0.9, 0.8, 0.2, 0.1])
    >>> stream = Stream.within(OperatingPoints.from_scores(y, s), false_alarm=0.1)
    >>> share_visits([stream, stream], [s, s], 2).alarms
    (2, 2)
    """
    units = whole_costs(streams)
    costs = zip(streams, units.costs, strict=True)
    options = [options_of(stream, *cost, max_alarms) for stream, cost in costs]
    search = _start(streams, options, scores, max_alarms)
    nobody = np.zeros(len(scores[0]), dtype=np.bool_)
    bound = _bound(search, nobody, 0) + search.price * max_alarms
    _descend(search, nobody, (), 0)
    rows = tuple(int(o.rows[i]) for o, i in zip(options, search.best, strict=True))
    return SharedChoice.of(
        streams, rows, units, bound=bound, price=search.price, n_states=search.n_unions
    )


def _start(
    streams: Sequence[Stream],
    options: list[Options],
    scores: Sequence[AnyArray],
    max_alarms: float,
) -> _Search:
    """Begin with what is best where every alarm counts: its union is no larger than the sum."""
    step = [_first_option(*each) for each in zip(streams, options, scores, strict=True)]
    never = np.iinfo(np.int64).max
    entered = [np.append(o.alarms, never)[at] for o, at in zip(options, step, strict=True)]
    given = np.argmin(np.column_stack(entered), axis=1)
    known = share_capacity(streams, max_alarms).rows
    best = tuple(int(np.flatnonzero(o.rows == r)[0]) for o, r in zip(options, known, strict=True))
    saved = sum(int(o.saved[i]) for o, i in zip(options, best, strict=True))
    union = np.any([at <= i for at, i in zip(step, best, strict=True)], axis=0)
    visits = int(np.count_nonzero(union))
    search = _Search(options, step, given, 0.0, max_alarms, best, saved, visits)
    counted = [_counted(search, stream) for stream in range(len(options))]
    search.price = multiplier(counted, max_alarms)
    return search


def _first_option(stream: Stream, options: Options, scores: AnyArray) -> AnyArray:
    """Return the first option that alarms each case; their number where none does."""
    falling = stream.points.thresholds[options.rows]
    return np.searchsorted(-falling, -np.asarray(scores, dtype=np.float64), side="left")


def _counted(search: _Search, stream: int) -> Options:
    """Options with the alarms on the cases given to the stream alone, each number once."""
    option, visits = search.options[stream], search.new_alarms(stream, search.given == stream)
    last = np.append(visits[1:] > visits[:-1], True)
    return Options(visits[last], option.saved[last], option.rows[last])


def _bound(search: _Search, alarmed: BoolArray, first: int) -> float:
    """What the streams from the first open one on can save at most, less the price of visits."""
    streams = range(first, len(search.options))
    return float(sum(search.heights(stream, alarmed).max() for stream in streams))


def _descend(search: _Search, alarmed: BoolArray, chosen: tuple[int, ...], saved: int) -> None:
    """Try the options of the next stream, the most promising first."""
    search.n_unions += 1
    if search.n_unions > MOST_UNIONS:
        raise ValueError(
            f"overlap='once' compares unions of alarms, and more than {MOST_UNIONS:,} are left; "
            "use fewer streams, fewer distinct scores (round them), or overlap='each'"
        )
    stream = len(chosen)
    if stream == len(search.options) - 1:
        _finish(search, alarmed, chosen, saved)
        return
    heights = search.heights(stream, alarmed)
    visited = np.count_nonzero(alarmed & (search.given < stream))
    rest = _bound(search, alarmed, stream + 1) + search.price * (search.max_alarms - visited)
    margin = ROUNDING * max(1.0, abs(saved + rest))
    for position in np.argsort(-heights, kind="stable").tolist():
        if saved + heights[position] + rest + margin < search.best_saved:
            break
        union = alarmed | (search.step[stream] <= position)
        if np.count_nonzero(union) <= search.max_alarms:
            option = search.options[stream]
            _descend(search, union, (*chosen, position), saved + int(option.saved[position]))


def _finish(search: _Search, alarmed: BoolArray, chosen: tuple[int, ...], saved: int) -> None:
    """Take the last stream as far as the capacity allows."""
    stream = len(chosen)
    visits = np.count_nonzero(alarmed) + search.new_alarms(stream, ~alarmed)
    position = int(np.searchsorted(visits, search.max_alarms, side="right")) - 1
    total = saved + int(search.options[stream].saved[position])
    key = (-total, int(visits[position]))
    if key < (-search.best_saved, search.best_visits):
        search.best, search.best_saved = (*chosen, position), total
        search.best_visits = int(visits[position])
