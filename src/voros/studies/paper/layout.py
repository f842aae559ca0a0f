"""Cells laid out as the paper's tables: values and columns, not yet text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from voros.core.scenario import Scenario, as_fraction
from voros.policy.deployment import PolicyEvaluation
from voros.studies.paper.cells import SCENARIOS, STRATEGY_ORDER, Absent, Cell

Value: TypeAlias = str | float | Absent

STRATEGY_LABELS = {
    "voros": "max VOROS",
    "partial_auroc": "max pAUROC",
    "recall": "max recall",
    "partial_voros": "max partial VOROS",
}

SETS = {"valid": "validation", "test": "test"}


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Unique, for CSV.
    group, title : str
        The two rows of the heading.
    decimals : int
        To show; a number that is whole is shown whole if `decimals` is 1.
    least_is_best : bool
        Whether the least value stands out.
    """

    name: str
    group: str
    title: str
    decimals: int = 3
    least_is_best: bool = False


@dataclass(frozen=True)
class Table:
    """A table of values; `name` serves as a file name."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Why cells are absent."""
        reasons = [v.reason for row in self.rows for v in row if isinstance(v, Absent)]
        return tuple(f"absent: {reason}" for reason in dict.fromkeys(reasons))


def main_table(dataset: str, cells: Sequence[Cell]) -> Table:
    """Lay out test costs by strategy, in both scenarios, and whether the limits were kept."""
    columns = [Column("strategy", "", "strategy")]
    for number, scenario in SCENARIOS.items():
        group = f"scenario {number}: {_limits(scenario)}"
        columns += [
            Column(f"scenario_{number}_cost", group, "test cost", least_is_best=True),
            Column(f"scenario_{number}_valid_kept", group, "kept, validation"),
            Column(f"scenario_{number}_test_kept", group, "kept, test"),
        ]
    rows = tuple(
        (
            STRATEGY_LABELS[strategy],
            *(
                value
                for number in SCENARIOS
                for value in _main_values(_find(cells, dataset, number, strategy))
            ),
        )
        for strategy in STRATEGY_ORDER
    )
    title = f"{dataset}: expected normalised cost on the test set (lower is better)"
    return Table(f"{_slug(dataset)}_main", title, tuple(columns), rows)


def detailed_table(dataset: str, number: int, cells: Sequence[Cell]) -> Table:
    """Lay out cost, precision, alarms and limits on both sets, for one scenario."""
    columns = [Column("strategy", "", "strategy")]
    for split, words in SETS.items():
        found = [getattr(_find(cells, dataset, number, s), split) for s in STRATEGY_ORDER]
        group = f"{words} set" + _capacity(found)
        columns += [
            Column(f"{split}_cost", group, "cost", least_is_best=True),
            Column(f"{split}_precision", group, "precision"),
            Column(f"{split}_alarms", group, "alarms", decimals=1),
            Column(f"{split}_kept", group, "limits kept"),
        ]
    rows = tuple(
        (
            STRATEGY_LABELS[strategy],
            *_detailed_values(_find(cells, dataset, number, strategy).valid),
            *_detailed_values(_find(cells, dataset, number, strategy).test),
        )
        for strategy in STRATEGY_ORDER
    )
    title = f"{dataset}, scenario {number}: {_limits(SCENARIOS[number])}"
    return Table(f"{_slug(dataset)}_scenario_{number}", title, tuple(columns), rows)


def _main_values(cell: Cell) -> tuple[Value, ...]:
    cost = cell.test if isinstance(cell.test, Absent) else cell.test.expected_cost
    return cost, _kept(cell.valid), _kept(cell.test)


def _detailed_values(account: PolicyEvaluation | Absent) -> tuple[Value, ...]:
    if isinstance(account, Absent):
        return (account,) * 4
    return account.expected_cost, account.mean_precision, account.mean_alarms, _kept(account)


def _kept(account: PolicyEvaluation | Absent) -> Value:
    if isinstance(account, Absent):
        return account
    broken = ", ".join(violation.limit for violation in account.violations)
    return f"no ({broken})" if broken else "yes"


def _find(cells: Sequence[Cell], dataset: str, number: int, strategy: str) -> Cell:
    wanted = (dataset, number, strategy)
    return next(c for c in cells if (c.dataset, c.scenario, c.strategy) == wanted)


def _capacity(accounts: Sequence[PolicyEvaluation | Absent]) -> str:
    counts = [a.max_alarms for a in accounts if isinstance(a, PolicyEvaluation)]
    return f", at most {counts[0]:g} alarms" if counts else ""


def _limits(scenario: Scenario) -> str:
    low, high = map(as_fraction, scenario.costs.support)
    return (
        f"precision at least {scenario.min_precision:g}, alarms at most {scenario.capacity:g} of "
        f"the cases, cost ratio uniform on [{low}, {high}]"
    )


def _slug(dataset: str) -> str:
    return dataset.lower().replace("-", "_")
