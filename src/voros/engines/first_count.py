"""The first count of all cases, planned by a look at the first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.core.scenario import Scenario
from voros.engines.bins import Bins, changed
from voros.engines.first_pass import Totals, count_totals, totals_of, with_totals
from voros.engines.held import HeldRows
from voros.engines.pilot import PILOT_MARGIN, SELECTIVE, Pilot
from voros.engines.plan import PassPlan, Wanted
from voros.engines.queries import POSITIVE, WEIGHT, LazyCases
from voros.engines.scales import BITS, Scale, linear_scale
from voros.typing import AnyArray

PILOT_ROWS = 100_000
"""Rows from which the first count is planned."""

HELD_PER_ANSWER, COLLECTED_PER_ANSWER = 8, 2
"""Rows that are held for each row of the largest answer; fewer where a query brings them."""

WIDE_COSTS = 4.0
"""Greatest cost ratio beside the smallest, from which thresholds at many scores may be chosen."""

MISLED = 0.5
"""Share of the rows beyond the ends of a scale that show that it was made of the wrong rows."""


@dataclass(frozen=True, eq=False)
class Counted:
    """What is known of all models' scores after a pass."""

    cases: LazyCases
    totals: Totals
    bins: dict[str, Bins]
    scales: Mapping[str, Scale]
    held: HeldRows | None = None
    tolerance: float = 0.0


def most_held(cases: LazyCases, at_most: int) -> int:
    """Rows that this process may hold."""
    return at_most * (COLLECTED_PER_ANSWER if cases.adapter.batches is None else HELD_PER_ANSWER)


def first_count(cases: LazyCases, scenarios: Sequence[Scenario], at_most: int) -> Counted:
    """Count all cases, or those from a guessed cut up: the capacity leaves the others out of reach.

    Without a cut the totals come of the same pass.
    """
    first = cases.pilot(PILOT_ROWS)
    n_rows = len(first[POSITIVE])
    most = min(at_most, PILOT_ROWS) if cases.adapter.groups_slowly else at_most
    few = n_rows < PILOT_ROWS and n_rows * len(cases.models) <= most
    totals = None
    if cases.weighted or (not few and _worth_a_cut(cases, first, scenarios)):
        cases, totals = count_totals(cases)
        few = totals.rows * len(cases.models) <= most
    if few:
        plan = PassPlan(dict.fromkeys(cases.models, Wanted(BITS, 0)))
        scales = dict.fromkeys(cases.models, BITS)
    else:
        scales, plan = _first_plan(cases, first, totals, scenarios, at_most)
    if totals is None:
        return _with_totals(cases, plan, scales)
    held = _held_from_cut(cases, plan.wanted, first, totals, most_held(cases, at_most))
    bins = {
        name: _whole(totals, name).split_off(parts, plan.wanted[name].low)
        for name, parts in (held or cases).count(plan).items()
    }
    return Counted(cases, totals, bins, scales, held)


def _held_from_cut(
    cases: LazyCases,
    wanted: Mapping[str, Wanted],
    first: Mapping[str, AnyArray],
    totals: Totals,
    at_most: int,
) -> HeldRows | None:
    """Read the rows above a cut at once, where the first rows say that they are few."""
    shares = [np.mean(first[cases.models[name]] >= want.low) for name, want in wanted.items()]
    if sum(shares) * totals.rows > at_most / 2:
        return None
    rows = cases.hold(wanted, at_most // len(wanted))
    whole = {name: _whole(totals, name) for name in wanted}
    above = {
        name: replace(whole[name], least=np.array([want.low])) for name, want in wanted.items()
    }
    return None if rows is None else HeldRows(rows, above)


def _first_plan(
    cases: LazyCases,
    first: Mapping[str, AnyArray],
    totals: Totals | None,
    scenarios: Sequence[Scenario],
    at_most: int,
) -> tuple[dict[str, Scale], PassPlan]:
    each = min(_first_cells(cases, scenarios), at_most // len(cases.models))
    scales, wanted = {}, {}
    for name, short in cases.models.items():
        ends = None if totals is None else totals.ranges[name]
        pilot = Pilot.of(first[short], first[POSITIVE], first.get(WEIGHT), ends)
        scales[name] = pilot.scale()
        cut = -np.inf
        if totals is not None:
            cut = _cut(pilot, scenarios, totals, by_costs=cases.adapter.groups_slowly)
        wanted[name] = pilot.wanted(scales[name], cut, each)
    return scales, PassPlan(wanted)


def _first_cells(cases: LazyCases, scenarios: Sequence[Scenario]) -> int:
    """Cells of a first count; in this process twice as many where wide costs leave much open."""
    ranges = np.array([scenario.costs.ratio_range(1.0) for scenario in scenarios]).reshape(-1, 2)
    wide = ranges.max(initial=0.0) > WIDE_COSTS * ranges.min(initial=np.inf)
    finer = wide and cases.adapter.batches is not None
    return cases.adapter.first_answer * (2 if finer else 1)


def _worth_a_cut(
    cases: LazyCases, first: Mapping[str, AnyArray], scenarios: Sequence[Scenario]
) -> bool:
    """Whether a pass for the totals may pay: the count after it then leaves most rows out."""
    share = max((_least_in_reach(scenario) for scenario in scenarios), default=1.0)
    if share * PILOT_MARGIN < SELECTIVE:
        return True
    if not cases.adapter.groups_slowly:
        return False
    pilots = [Pilot.of(first[m], first[POSITIVE], None, None) for m in cases.models.values()]
    return all(_cost_cut(pilot, scenarios) > -np.inf for pilot in pilots)


def _cut(pilot: Pilot, scenarios: Sequence[Scenario], totals: Totals, *, by_costs: bool) -> float:
    """Score below which no threshold is in reach, or none pays; a guess."""
    share = PILOT_MARGIN * max((_share_in_reach(totals, s) for s in scenarios), default=1.0)
    in_reach = pilot.cut(share) if share < SELECTIVE else -np.inf
    if in_reach > -np.inf and not by_costs:
        return in_reach
    return max(in_reach, _cost_cut(pilot, scenarios))


def _cost_cut(pilot: Pilot, scenarios: Sequence[Scenario]) -> float:
    cut = min((pilot.cost_cut(scenario) for scenario in scenarios), default=-np.inf)
    return cut if pilot.share_above(cut) < SELECTIVE else -np.inf


def _with_totals(cases: LazyCases, plan: PassPlan, scales: Mapping[str, Scale]) -> Counted:
    """Count all rows, check them in the same pass, and add them up."""
    try:
        bins = cases.count(plan, checked=True)
    except Exception:
        # Some engines fail on NaN of themselves; a count of totals says which rows, and how many.
        count_totals(cases)
        raise
    totals = totals_of(bins, cases.label)
    capped = with_totals(cases, totals)
    if capped is not cases:
        bins = capped.count(plan)
    for part in bins.values():
        if part.rows.sum() != totals.rows:
            raise changed(part.rows.sum(), totals.rows)
    scales = {
        name: _refitted(scales[name], part, totals.ranges[name]) for name, part in bins.items()
    }
    return Counted(capped, totals, bins, scales)


def _refitted(scale: Scale, bins: Bins, ends: tuple[float, float]) -> Scale:
    """Return a scale for all scores, where the first rows were like few of the others."""
    beyond = (bins.least < scale.lowest) | (bins.greatest > scale.highest)
    if bins.rows[beyond].sum() <= MISLED * bins.rows.sum():
        return scale
    return linear_scale(*ends) or BITS


def _whole(totals: Totals, name: str) -> Bins:
    """Everything in one bin: what is known before any score is counted."""
    low, high = (min(score, LARGEST_FINITE) for score in totals.ranges[name])
    n_rows, tp, fp = (np.array([n]) for n in (totals.rows, totals.positive, totals.negative))
    return Bins(np.array([low]), np.array([high]), n_rows, tp, fp, np.ones(1, dtype=np.bool_))


def _least_in_reach(scenario: Scenario) -> float:
    """Share of the cases that is in reach whatever the number of cases of each class."""
    return 0.0 if scenario.capacity_is_count else scenario.capacity


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
