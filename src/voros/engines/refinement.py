"""Count, bound, and look closer only where it can matter, until the bounds meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voros.core.scenario import Scenario
from voros.engines.binned_points import CLOSED, BinnedScores, Bounds
from voros.engines.bins import Bins, join
from voros.engines.first_count import Counted, first_count, most_held
from voros.engines.first_pass import Totals
from voros.engines.held import HeldRows
from voros.engines.plan import (
    MOST_PARENTS,
    REFINED_ANSWER,
    PassPlan,
    Wanted,
    next_plan,
    rows_let_through,
    rows_wanted,
)
from voros.engines.queries import LazyCases
from voros.engines.scales import BITS, Scale
from voros.typing import BoolArray

HELD_ANSWER = 2**16
"""Cells of a count of held rows: bins are bounded at more expense than such rows are counted."""

MANY_BINS, RUN = 2**15, 16
"""Number of bins from which runs of this length are looked at first."""

MANY_ROWS, ENOUGH = 10**9, 1e-6
"""Beyond this number of rows an interval of this width is enough unless another is asked for.

And where a great many bins are open: if labels alternate along the scores, they are so at costs so
close together that they hardly move the score, and to split them all takes nearly every row.
"""


def expected_cost(n_rows: int) -> str | None:
    """Say how many passes so many rows take, and how exact the answer is; None below a billion.

    Examples
    --------
    >>> expected_cost(3 * 10**9)
    '3,000,000,000 rows take three to five passes, to an interval of 1e-06 or narrower'
    """
    if n_rows <= MANY_ROWS:
        return None
    return f"{n_rows:,} rows take three to five passes, to an interval of {ENOUGH:g} or narrower"


@dataclass(frozen=True)
class Aim:
    """How wide an interval may be, and how wide where a great many bins are open."""

    tolerance: float
    for_many: float

    def reached(self, bound: Bounds) -> bool:
        """Whether a bound is narrow enough."""
        many = np.count_nonzero(bound.undecided) > MOST_PARENTS
        enough = self.for_many if many else self.tolerance
        return enough > 0 and bound.upper - bound.lower <= enough


def refine(
    cases: LazyCases, scenarios: Sequence[Scenario], tolerance: float | None, at_most: int
) -> Counted:
    """Count every model's scores as finely as the scenarios need.

    Without scenarios every distinct score is counted.
    """
    counted = first_count(cases, scenarios, at_most)
    cases, totals, bins = counted.cases, counted.totals, counted.bins
    aim = Aim(tolerance or 0.0, tolerance or 0.0)
    if tolerance is None:
        aim = Aim(ENOUGH if totals.rows > MANY_ROWS else 0.0, ENOUGH)
    held = counted.held
    if scenarios:
        bins = {name: _thinned(part, totals, scenarios, aim) for name, part in bins.items()}
    while True:
        found = {
            name: _undecided(part, totals, scenarios, aim, at_most) for name, part in bins.items()
        }
        undecided = {name: mask for name, (mask, _) in found.items() if mask.any()}
        if not undecided:
            widest = max(width for _, width in found.values())
            tolerance = aim.tolerance if widest <= CLOSED else aim.for_many
            return replace(counted, bins=bins, tolerance=tolerance)
        held = _held(held, counted, bins, undecided, at_most)
        wanted = min(at_most, REFINED_ANSWER) if scenarios else at_most
        if held is None:
            plan = next_plan(bins, undecided, counted.scales, wanted)
        else:
            plan = _plan_held(held, bins, undecided, counted.scales, wanted)
        for name, parts in (held or cases).count(plan).items():
            bins[name] = bins[name].refined(plan.chosen[name], parts)


def _held(
    held: HeldRows | None,
    counted: Counted,
    bins: Mapping[str, Bins],
    undecided: Mapping[str, BoolArray],
    at_most: int,
) -> HeldRows | None:
    """Return rows of undecided bins in this process, read if need be; None where they are many."""
    if held is not None and any(
        np.any(held.covered(name, bins[name].take(mask))) for name, mask in undecided.items()
    ):
        return held
    most_rows = most_held(counted.cases, at_most)
    chosen = _to_hold(bins, undecided, most_rows)
    if chosen is None:
        return None
    wanted = {
        name: rows_wanted(bins[name], mask, counted.scales[name]) for name, mask in chosen.items()
    }
    if sum(rows_let_through(bins[name], want) for name, want in wanted.items()) > 2 * most_rows:
        return None
    parents = {name: bins[name].take(mask) for name, mask in chosen.items()}
    # The rows of the bins, and as many that come along.
    rows = counted.cases.hold(wanted, 2 * most_rows)
    return None if rows is None else HeldRows(rows, parents)


def _to_hold(
    bins: Mapping[str, Bins], undecided: Mapping[str, BoolArray], at_most: int
) -> Mapping[str, BoolArray] | None:
    """Mark the undecided bins whose rows to hold; None where a count makes them fewer sooner.

    Where to split them all takes more passes than to read them all, they are read by parts, from
    the highest scores down.
    """
    rows = {name: np.where(mask, bins[name].rows, 0) for name, mask in undecided.items()}
    n_rows = sum(int(of_bin.sum()) for of_bin in rows.values())
    if n_rows <= at_most:
        return undecided
    passes = max(np.count_nonzero(mask) for mask in undecided.values()) / MOST_PARENTS
    if passes < n_rows / at_most:
        return None
    each = at_most // len(undecided)
    parts = {name: mask & (np.cumsum(rows[name]) <= each) for name, mask in undecided.items()}
    return {name: mask for name, mask in parts.items() if mask.any()} or None


def _plan_held(
    held: HeldRows,
    bins: Mapping[str, Bins],
    undecided: Mapping[str, BoolArray],
    scales: Mapping[str, Scale],
    at_most: int,
) -> PassPlan:
    """Plan a count of held rows: by distinct scores where a great many bins are open."""
    chosen = {}
    for name, mask in undecided.items():
        covered = mask.copy()
        covered[mask] = held.covered(name, bins[name].take(mask))
        if covered.any():
            chosen[name] = covered
    if max(np.count_nonzero(mask) for mask in chosen.values()) > MOST_PARENTS:
        return PassPlan(dict.fromkeys(chosen, Wanted(BITS, 0)), chosen)
    return next_plan(bins, chosen, scales, min(at_most, HELD_ANSWER))


def _thinned(bins: Bins, totals: Totals, scenarios: Sequence[Scenario], aim: Aim) -> Bins:
    """Merge runs of bins that do not matter: fewer bins are bounded faster."""
    if len(bins) < MANY_BINS:
        return bins
    runs = bins.merged(RUN)
    open_runs, _ = _undecided(runs, totals, scenarios, aim, len(runs))
    return join(runs.take(~open_runs), bins.take(np.repeat(open_runs, RUN)[: len(bins)]))


def _undecided(
    bins: Bins, totals: Totals, scenarios: Sequence[Scenario], aim: Aim, at_most: int
) -> tuple[BoolArray, float]:
    """Mark the bins that must be split; with the width of the widest interval."""
    if not scenarios:
        if len(bins) > at_most:
            raise ValueError(
                f"the frame has more than {at_most:,} distinct scores; pass a scenario, so "
                "that only the scores that can matter to it are counted one by one"
            )
        return ~(bins.single & bins.occurs), 0.0
    binned = BinnedScores(
        bins=bins,
        n_positive=totals.positive,
        n_negative=totals.negative,
        one_case=totals.one_case,
    )
    bounds = [binned.score_bounds(scenario) for scenario in scenarios]
    masks = [bound.undecided for bound in bounds if not aim.reached(bound)]
    # A threshold that is shown is a score that occurs.
    shown = [bound.shown & ~bins.occurs for bound in bounds]
    widest = max(bound.upper - bound.lower for bound in bounds)
    return np.logical_or.reduce([*shown, *masks]), widest
