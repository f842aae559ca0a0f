"""How tables and pages name strategies and scenarios."""

from __future__ import annotations

from collections.abc import Mapping

from voros import Scenario
from voros_studies.experiments.study import (
    AUROC,
    GUARANTEED,
    LOG_LOSS,
    MARGIN,
    STUDY_CONFIDENCE,
    WITH_MARGIN,
)
from voros_studies.paper.cells import ScenarioName
from voros_studies.paper.paper_tables import STRATEGY_LABELS, limits_in_short
from voros_studies.tables import Column

LABELS: Mapping[str, str] = {
    **STRATEGY_LABELS,
    AUROC: "max AUROC",
    LOG_LOSS: "min log loss",
    WITH_MARGIN: f"max partial VOROS, limits tightened by {MARGIN:.0%}",
    GUARANTEED: f"max partial VOROS, guaranteed {STUDY_CONFIDENCE:.0%}",
}


def cost_columns(number: ScenarioName, scenario: Scenario, **others: str) -> list[Column]:
    """Return the columns of a test cost and its interval in a scenario, and others by name.

    ``kept`` is whether the limits were kept.
    """
    name, group = f"scenario_{number}", f"scenario {number}: {scenario_in_words(scenario)}"
    return [
        Column("test cost", f"{name}_cost", group, least_if=f"{name}_kept"),
        *(
            Column(title, f"{name}_{key}", group)
            for key, title in {"low": "low", "high": "high", **others}.items()
        ),
    ]


def scenario_in_words(scenario: Scenario) -> str:
    """Describe the limits and costs of a scenario.

    Examples
    --------
    >>> import voros
    >>> scenario_in_words(Scenario(min_precision=0.15, capacity=0.5, cost_ratio=(1 / 9, 1 / 6)))
    'precision at least 0.15, alarms at most 0.5 of the cases, a miss worth 6 to 9 false alarms'
    >>> scenario_in_words(Scenario(cost_ratio=voros.costs.miss_costs(5, 10)))
    'precision at least 0, alarms at most 1 of the cases, a miss worth 5 to 10 false alarms'
    """
    return f"{limits_in_short(scenario)}, {worth_of_a_miss(scenario)}"


def worth_of_a_miss(scenario: Scenario) -> str:
    """Describe the costs of a scenario."""
    costs = scenario.costs
    if costs.over == "t":
        return f"costs {costs!r}"
    ends = costs.support
    if costs.over == "ratio":
        ends = 1 / ends[1], 1 / ends[0]
    worth = " to ".join(dict.fromkeys(f"{end:.3g}" for end in ends))
    return f"a miss worth {worth} false alarms"
