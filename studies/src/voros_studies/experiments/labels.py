"""How tables and pages name strategies and scenarios."""

from __future__ import annotations

from collections.abc import Mapping

from voros.text.table import Column
from voros_studies.experiments.study import GUARANTEED, MARGIN, STUDY_CONFIDENCE, WITH_MARGIN
from voros_studies.paper.cells import SCENARIOS
from voros_studies.paper.paper_tables import STRATEGY_LABELS, limits_in_short

LABELS: Mapping[str, str] = {
    **STRATEGY_LABELS,
    WITH_MARGIN: f"max partial VOROS, limits tightened by {MARGIN:.0%}",
    GUARANTEED: f"max partial VOROS, guaranteed {STUDY_CONFIDENCE:.0%}",
}


def cost_columns(number: int, **others: str) -> list[Column]:
    """Return the columns of a test cost and its interval in a scenario, and others by name.

    One of the others is ``kept``: whether the limits were.
    """
    name, group = f"scenario_{number}", f"scenario {number}: {scenario_in_words(number)}"
    return [
        Column("test cost", f"{name}_cost", group, least_if=f"{name}_kept"),
        *(
            Column(title, f"{name}_{key}", group)
            for key, title in {"low": "low", "high": "high", **others}.items()
        ),
    ]


def scenario_in_words(number: int) -> str:
    """Describe one of the paper's scenarios."""
    scenario = SCENARIOS[number]
    low, high = scenario.costs.support
    worth = f"a miss worth {1 / high:.0f} to {1 / low:.0f} false alarms"
    return f"{limits_in_short(scenario)}, {worth}"
