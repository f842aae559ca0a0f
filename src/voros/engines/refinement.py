"""Count, bound, and look closer only where it can matter, until the bounds meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from voros.core.arrays import LARGEST_FINITE, BoolArray
from voros.core.scenario import Scenario
from voros.engines.binned_points import BinnedPoints
from voros.engines.bins import Bins
from voros.engines.first_pass import Totals
from voros.engines.keys import KEY_BITS, cell_of, span_bits
from voros.engines.plan import (
    CUT_BITS,
    FIRST_ANSWER,
    REFINED_ANSWER,
    SMALLEST_ANSWER,
    PassPlan,
    Wanted,
    finest_level,
    first_cut,
    next_plan,
)
from voros.engines.queries import LazyCases

PILOT_ROWS = 100_000
"""Rows from which the first cut is guessed. A bad guess costs a pass, never a number."""

PILOT_MARGIN = 1.25
"""How far beyond the capacity the first cut aims."""

SELECTIVE = 0.4
"""A cut that keeps more than this share of the rows is not worth the pass it may cost."""


def refine(
    cases: LazyCases, totals: Totals, scenarios: Sequence[Scenario], tolerance: float, at_most: int
) -> dict[str, Bins]:
    """Count every model's scores as finely as the scenarios need.

    Without scenarios every distinct score is counted.
    """
    bins = _first_count(cases, totals, scenarios, at_most)
    while True:
        undecided = {
            name: _undecided(part, totals, scenarios, tolerance, at_most)
            for name, part in bins.items()
        }
        undecided = {name: mask for name, mask in undecided.items() if mask.any()}
        if not undecided:
            return bins
        plan = next_plan(bins, undecided, min(at_most, REFINED_ANSWER) if scenarios else at_most)
        for name, parts in cases.count(plan).items():
            bins[name] = bins[name].refined(plan.chosen[name], parts)


def _undecided(
    bins: Bins, totals: Totals, scenarios: Sequence[Scenario], tolerance: float, at_most: int
) -> BoolArray:
    if not scenarios:
        if len(bins) > at_most:
            raise ValueError(
                f"the frame has more than {at_most:,} distinct scores; pass a scenario, so "
                "that only the scores that can matter to it are counted one by one"
            )
        return ~bins.single
    points = BinnedPoints.of(bins, totals.positive, totals.negative, totals.one_case)
    bounds = [points.score_bounds(scenario) for scenario in scenarios]
    if tolerance > 0:
        bounds = [bound for bound in bounds if bound.upper - bound.lower > tolerance]
    nothing = np.zeros(len(bins), dtype=np.bool_)
    masks = [nothing, *(bound.undecided for bound in bounds)]
    return np.asarray(np.logical_or.reduce(masks))


def _first_count(
    cases: LazyCases, totals: Totals, scenarios: Sequence[Scenario], at_most: int
) -> dict[str, Bins]:
    """Count from a guessed cut up: the capacity leaves the scores below it out of reach."""
    whole = {name: whole_range(totals, name) for name in cases.models}
    # Level of the cells at which a first cut may fall.
    alignment = {
        name: max(int(span_bits(part.least, part.greatest)[0]) - CUT_BITS, 0)
        for name, part in whole.items()
    }
    share = max((_share_in_reach(totals, s) for s in scenarios), default=1.0) * PILOT_MARGIN
    cuts = dict.fromkeys(whole, -np.inf)
    if totals.rows > at_most and share < SELECTIVE:
        cuts = _guess_cuts(cases, alignment, share)
    levels = _first_levels(whole, cuts, at_most)
    wanted = {name: Wanted(levels[name], low=cut) for name, cut in cuts.items()}
    return {
        name: whole[name].split_off(parts, cuts[name], alignment[name])
        for name, parts in cases.count(PassPlan(wanted)).items()
    }


def whole_range(totals: Totals, name: str) -> Bins:
    """Everything in one bin: what is known before any score is counted."""
    low, high = (min(score, LARGEST_FINITE) for score in totals.ranges[name])
    counts = (np.array([count]) for count in (totals.rows, totals.positive, totals.negative))
    return Bins(np.array([low]), np.array([high]), np.array([KEY_BITS]), *counts)


def _first_levels(
    whole: Mapping[str, Bins], cuts: Mapping[str, float], at_most: int
) -> dict[str, int]:
    rows = {name: part.rows for name, part in whole.items()}
    if sum(int(count[0]) for count in rows.values()) <= at_most:
        return dict.fromkeys(whole, 0)
    each = max(min(FIRST_ANSWER, at_most // len(whole)), SMALLEST_ANSWER)
    return {
        name: finest_level(
            span_bits(np.maximum(part.least, cuts[name]), part.greatest), rows[name], each
        )
        for name, part in whole.items()
    }


def _guess_cuts(cases: LazyCases, alignment: Mapping[str, int], share: float) -> dict[str, float]:
    plan = PassPlan({name: Wanted(level) for name, level in alignment.items()})
    return {
        name: first_cut(
            cell_of(bins.least, alignment[name]),
            bins.positive + bins.negative,
            alignment[name],
            share,
        )
        for name, bins in cases.head(PILOT_ROWS).count(plan).items()
    }


def _share_in_reach(totals: Totals, scenario: Scenario) -> float:
    """Share of the cases, before any reweighting, that a feasible threshold can flag at most."""
    n_cases = totals.positive + totals.negative
    capacity = scenario.capacity / n_cases if scenario.capacity_is_count else scenario.capacity
    if scenario.prevalence is None:
        return capacity
    # Divided by each class, which is never empty: a tiny one vanishes beside the other.
    lightest = min(
        scenario.prevalence * n_cases / totals.positive,
        (1 - scenario.prevalence) * n_cases / totals.negative,
    )
    return capacity / lightest
