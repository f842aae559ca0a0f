"""What a study found, as tables: the paper's two kinds, the differences, and the fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voros.policy.deployment import PolicyEvaluation
from voros.studies.experiments.grid import Candidate
from voros.studies.experiments.intervals import CostIntervals
from voros.studies.experiments.study import CONFIDENCE, GUARANTEED, Deployed
from voros.studies.paper.cells import SCENARIOS
from voros.studies.paper.layout import STRATEGY_LABELS, Column, Table, Value
from voros.studies.paper.writers import as_text

LABELS: Mapping[str, str] = {
    **STRATEGY_LABELS,
    GUARANTEED: f"max partial VOROS, guaranteed {CONFIDENCE:.0%}",
}


@dataclass(frozen=True, eq=False)
class StudyResult:
    """Everything a study found.

    Attributes
    ----------
    title : str
    deployed : tuple of Deployed
    intervals : mapping of int to mapping of str to CostIntervals
        By scenario and strategy.
    records : mapping of str to dict
        How each fit went.
    rivals : tuple of Table
        Tables of anything else the models were compared with.
    """

    title: str
    deployed: tuple[Deployed, ...]
    intervals: Mapping[int, Mapping[str, CostIntervals]]
    records: Mapping[str, dict[str, Any]]
    rivals: tuple[Table, ...] = ()

    def of(self, scenario: int) -> list[Deployed]:
        """Return what was deployed in one scenario, strategy by strategy."""
        return [one for one in self.deployed if one.scenario == scenario]

    def label(self, model: str) -> str:
        """Return a model's name, short enough for a legend."""
        record = self.records[model]
        return Candidate(record["family"], record["parameters"]).label

    @property
    def tables(self) -> tuple[Table, ...]:
        """Main, detailed and difference tables, then those against rivals."""
        numbers = sorted({one.scenario for one in self.deployed})
        return (
            self._main(numbers),
            *(self._detailed(number) for number in numbers),
            *(self._differences(number) for number in numbers),
            *self.rivals,
        )

    def text(self) -> str:
        """Return every table as text."""
        return "\n".join(map(as_text, self.tables))

    def __repr__(self) -> str:
        return self.text()

    def _main(self, numbers: Sequence[int]) -> Table:
        columns = [Column("strategy", "", "strategy")]
        for number in numbers:
            group = f"scenario {number}: {limits_in_words(number)}"
            columns += [
                Column(f"scenario_{number}_cost", group, "test cost", least_is_best=True),
                Column(f"scenario_{number}_low", group, "low"),
                Column(f"scenario_{number}_high", group, "high"),
                Column(f"scenario_{number}_kept", group, "limits kept"),
            ]
        rows = []
        for strategies in zip(*(self.of(number) for number in numbers), strict=True):
            row: list[Value] = [LABELS[strategies[0].strategy]]
            for one in strategies:
                cost = self.intervals[one.scenario][one.strategy].cost
                row += [cost.estimate, cost.low, cost.high, kept(one.test)]
            rows.append(tuple(row))
        title = f"{self.title}: expected normalised cost on the test set, 95 % intervals"
        return Table("main", title, tuple(columns), tuple(rows))

    def _detailed(self, number: int) -> Table:
        one = self.of(number)[0]
        columns = [Column("strategy", "", "strategy")]
        for part, most in (("validation", one.valid.max_alarms), ("test", one.test.max_alarms)):
            group = f"{part} set, at most {most:g} alarms"
            columns += [
                Column(f"{part}_cost", group, "cost", least_is_best=True),
                Column(f"{part}_precision", group, "precision"),
                Column(f"{part}_alarms", group, "alarms", decimals=1),
                Column(f"{part}_kept", group, "limits kept"),
            ]
        columns.append(Column("model", "", "model"))
        rows = tuple(
            (LABELS[one.strategy], *_values(one.valid), *_values(one.test), self.label(one.model))
            for one in self.of(number)
        )
        title = f"{self.title}, scenario {number}: {limits_in_words(number)}"
        return Table(f"scenario_{number}", title, tuple(columns), rows)

    def _differences(self, number: int) -> Table:
        columns = (
            Column("strategy", "", "strategy"),
            Column("excess", "", "test cost above partial VOROS"),
            Column("low", "", "low"),
            Column("high", "", "high"),
            Column("verdict", "", "verdict"),
            Column("cost_aware", "", "same model, thresholds by cost"),
        )
        rows = []
        for one in self.of(number):
            found = self.intervals[number][one.strategy]
            if one.strategy != "partial_voros":
                excess = found.excess
                rows.append(
                    (
                        LABELS[one.strategy],
                        excess.estimate,
                        excess.low,
                        excess.high,
                        found.verdict,
                        one.cost_aware_test,
                    )
                )
        title = f"{self.title}, scenario {number}: paired differences in test cost, 95 % intervals"
        return Table(f"scenario_{number}_differences", title, columns, tuple(rows))


def _values(found: PolicyEvaluation) -> tuple[Value, ...]:
    precision: Value = found.mean_precision if found.mean_alarms else "no alarms"
    return found.expected_cost, precision, found.mean_alarms, kept(found)


def kept(found: PolicyEvaluation) -> str:
    """Say whether both limits were kept, and which was not."""
    broken = ", ".join(violation.limit for violation in found.violations)
    return f"no ({broken})" if broken else "yes"


def limits_in_words(number: int) -> str:
    """Describe one of the paper's scenarios."""
    scenario = SCENARIOS[number]
    low, high = scenario.costs.support
    return (
        f"precision at least {scenario.min_precision:g}, alarms at most {scenario.capacity:g} of "
        f"the cases, a miss worth {1 / high:.0f} to {1 / low:.0f} false alarms"
    )
