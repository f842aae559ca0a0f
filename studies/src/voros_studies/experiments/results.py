"""The results of a study as tables: the paper's two kinds, differences and fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voros import Scenario
from voros_studies.experiments.labels import LABELS, cost_columns, scenario_in_words
from voros_studies.experiments.model_file import make_candidate
from voros_studies.experiments.rivals import Rivals
from voros_studies.experiments.study import GUARANTEED_BY, STUDIED, CostIntervals, Deployed
from voros_studies.paper.cells import ScenarioName
from voros_studies.paper.paper_tables import (
    ShownAsTables,
    evaluated,
    evaluation_columns,
    limits_kept,
)
from voros_studies.tables import Column, Table, Value


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult(ShownAsTables):
    """All results of a study.

    ``intervals`` are by scenario and strategy, ``records`` describe each fit, and ``rivals`` are
    other forecasts that the models were compared with.

    Examples
    --------
    Of a run that has just begun, with one fit done:

    >>> record = {"family": "RF", "parameters": {"max_depth": 4}}
    >>> result = StudyResult("SUPPORT2", (), {}, {"rf-4": record})
    >>> result.scenarios, result.label("rf-4")
    ({}, 'RF, depth 4')
    """

    title: str
    deployed: tuple[Deployed, ...]
    intervals: Mapping[ScenarioName, Mapping[str, CostIntervals]]
    records: Mapping[str, dict[str, Any]]
    rivals: Rivals | None = None

    @property
    def scenarios(self) -> dict[ScenarioName, Scenario]:
        """The scenarios by number or name."""
        return {one.scenario: one.limits for one in self.deployed}

    def deployed_in(self, scenario: ScenarioName) -> list[Deployed]:
        """Return the deployed policies of one scenario by strategy."""
        return [one for one in self.deployed if one.scenario == scenario]

    def label(self, model: str) -> str:
        """Return a model's name, short enough for a legend."""
        record = self.records[model]
        return make_candidate(record["family"], record["parameters"]).label

    @property
    def tables(self) -> tuple[Table, ...]:
        """Main, detailed and difference tables, then those of rivals."""
        return (
            self._main(),
            *map(self._detailed, self.scenarios),
            *map(self._differences, self.scenarios),
            *([] if self.rivals is None else [self.rivals.table]),
        )

    def _main(self) -> Table:
        columns = [Column("strategy")]
        rows: list[list[Value]] = [[LABELS[strategy]] for strategy in STUDIED]
        for number, scenario in self.scenarios.items():
            columns += cost_columns(number, scenario, kept="limits kept")
            for row, one in zip(rows, self.deployed_in(number), strict=True):
                cost = self.intervals[number][one.strategy].cost
                row += [cost.estimate, cost.low, cost.high, limits_kept(one.test)]
        title = f"{self.title}: expected normalised cost on the test set, 95 % intervals"
        return Table(tuple(columns), tuple(map(tuple, rows)), title, "main")

    def _detailed(self, number: ScenarioName) -> Table:
        deployed = self.deployed_in(number)
        valid, test = deployed[0].valid.max_alarms, deployed[0].test.max_alarms
        columns = (
            Column("strategy"),
            *evaluation_columns("validation", f"validation set, at most {valid:g} alarms"),
            *evaluation_columns("test", f"test set, at most {test:g} alarms"),
            Column("model"),
        )
        rows = tuple(
            (
                *(LABELS[one.strategy], *evaluated(one.valid), *evaluated(one.test)),
                self.label(one.model),
            )
            for one in deployed
        )
        title = f"{self.title}, scenario {number}: {scenario_in_words(self.scenarios[number])}"
        return Table(columns, rows, title, f"scenario_{number}")

    def _differences(self, number: ScenarioName) -> Table:
        columns = (
            Column("strategy"),
            Column("test cost above partial VOROS", "excess"),
            *map(Column, ("low", "high", "verdict")),
            Column("limits kept", "kept"),
            Column("ranking only", "ranking_only"),
        )
        rows = []
        for one in self.deployed_in(number):
            intervals = self.intervals[number][one.strategy]
            more, verdict = intervals.excess, intervals.verdict
            if one.strategy == GUARANTEED_BY:
                verdict = "compared with"
            values = (more.estimate, more.low, more.high, verdict)
            rows.append((LABELS[one.strategy], *values, limits_kept(one.test), one.ranking_only))
        title = f"{self.title}, scenario {number}: paired differences in test cost, 95 % intervals"
        return Table(columns, tuple(rows), title, f"scenario_{number}_differences")
