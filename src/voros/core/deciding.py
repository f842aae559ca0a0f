"""What a scenario decides about operating points, wherever the cases behind them are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from voros.core.decision import Decision, solve
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario


def decide(points: OperatingPoints, scenario: Scenario, *, every_cost: bool = True) -> Decision:
    """Decide as `solve` does; of cases on a device only the thresholds that matter are counted.

    Parameters
    ----------
    points, scenario
        As in `solve`.
    every_cost : bool, default True
        Whether the hull at other costs than the scenario's is asked for.

    Raises
    ------
    IncompleteCountsError
        Where the points do not cover the scenario.
    """
    points.covers.check_scenario(scenario)
    cases = points.on_device
    if cases is None:
        return solve(points, scenario)
    # Imported lazily: most cases are in memory.
    from voros.core.device_curve import count_area, count_choosable

    decision = solve(count_choosable(cases, scenario, every_cost=every_cost), scenario)
    return replace(decision, observed=points, count_area=partial(count_area, cases, scenario))
