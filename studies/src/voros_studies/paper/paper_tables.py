"""The paper's tables: cells laid out, shown and saved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voros import Scenario
from voros.core.exact_limits import as_fraction
from voros.policy import PolicyEvaluation
from voros_studies.paper.cells import (
    DATASETS,
    SCENARIOS,
    STRATEGY_ORDER,
    Cell,
    ScenarioName,
    read_cells,
)
from voros_studies.tables import Absent, Column, Table, Value

STRATEGY_LABELS = {
    "voros": "max VOROS",
    "partial_auroc": "max pAUROC",
    "recall": "max recall",
    "partial_voros": "max partial VOROS",
}

TEXT_FILE = "tables.txt"


class ShownAsTables(ABC):
    """A result with tables, which are its text."""

    @property
    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """All tables."""

    def text(self) -> str:
        """Return every table as text."""
        return tables_text(self.tables)

    def __repr__(self) -> str:
        return self.text()


@dataclass(frozen=True, eq=False, repr=False)
class PaperTables(ShownAsTables):
    r"""The paper's results: two main tables, and four detailed ones.

    Attributes
    ----------
    cells : tuple of Cell
        Every number behind the tables, with the deployed thresholds and violations.

    Examples
    --------
    >>> from itertools import product
    >>> places, lacking = product(DATASETS, SCENARIOS, STRATEGY_ORDER), Absent("no file")
    >>> tables = PaperTables(tuple(Cell(*place, lacking, lacking) for place in places))
    >>> len(tables.main), len(tables.detailed), sorted(tables.files())[:2]
    (2, 4, ['eicu_main.csv', 'eicu_main.tex'])
    """

    cells: tuple[Cell, ...]

    @property
    def main(self) -> tuple[Table, ...]:
        """One table for each dataset: test costs in both scenarios."""
        return tuple(main_table(dataset, self.cells) for dataset in DATASETS)

    @property
    def detailed(self) -> tuple[Table, ...]:
        """One table for each dataset and scenario: validation and test."""
        return tuple(
            detailed_table(dataset, number, self.cells)
            for dataset in DATASETS
            for number in SCENARIOS
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """The main tables, then the detailed ones."""
        return (*self.main, *self.detailed)

    def files(self) -> dict[str, str]:
        """Return the files of `write`: content by file name."""
        return table_files(self.tables)

    def write(
        self,
        folder: str | Path,
        *,
        figures: Mapping[str, bytes] | None = None,
        force: bool = False,
    ) -> list[Path]:
        """Save all tables as text, CSV and LaTeX in a new or existing folder: all files or none.

        Parameters
        ----------
        folder : path-like
        figures : mapping of str to bytes, optional
            Pictures to save beside them, as `reproduce_figures` draws them.
        force : bool, default False
            Replace files that are there already.

        Returns
        -------
        list[Path]
        """
        from voros.io import write_together
        from voros_studies.folders import folder_for

        files: dict[str, str | bytes] = {**self.files(), **(figures or {})}
        with folder_for(folder) as target:
            paths: dict[str | Path, str | bytes] = {
                target / name: content for name, content in files.items()
            }
            write_together(paths, force=force)
        return [Path(path) for path in paths]


def reproduce_tables(folder: str | Path) -> PaperTables:
    r"""Compute the paper's tables from a folder of the authors' prediction files.

    Parameters
    ----------
    folder : path-like
        Holds files such as ``scenario1_pvoros_valid.csv`` and ``scenario1_pvoros_test.csv`` with
        columns ``y_true`` and ``proba_y_eq_1``. A missing file leaves its cells absent, with the
        reason; an unreadable one is an error that names it.

    Returns
    -------
    PaperTables

    Notes
    -----
    Thresholds are decided on the validation files alone. Expected costs are exact, where the
    paper averages over a grid of 1,000 cost ratios: they differ from its procedure by less than
    3e-6. Mean precision and mean alarms are over the same distribution of costs.

    Examples
    --------
    >>> import tempfile
    >>> folder, text = Path(tempfile.mkdtemp()), "y_true,proba_y_eq_1\n1,0.9\n0,0.2\n0,0.4\n"
    >>> for part in ("valid", "test"):
    ...     _ = (folder / f"scenario1_recall_{part}.csv").write_text(text)
    >>> print(reproduce_tables(folder).main[0].title)
    MIMIC-IV: expected normalised cost on the test set (lower is better)
    """
    return PaperTables(read_cells(folder))


def tables_text(tables: Sequence[Table]) -> str:
    """Return tables as text, one below the other."""
    return "\n\n".join(table.text() for table in tables) + "\n"


def table_files(tables: Sequence[Table]) -> dict[str, str]:
    """Return tables as text, CSV and LaTeX: content by file name."""
    content = {TEXT_FILE: tables_text(tables)}
    for table in tables:
        content |= {f"{table.name}.csv": table.csv(), f"{table.name}.tex": table.latex()}
    return content


def main_table(dataset: str, cells: Sequence[Cell]) -> Table:
    """Lay out test costs by strategy, in both scenarios, and whether the limits were kept."""
    columns = [Column("strategy")]
    rows: list[list[Value]] = [[STRATEGY_LABELS[strategy]] for strategy in STRATEGY_ORDER]
    for number, scenario in SCENARIOS.items():
        name, group = f"scenario_{number}", f"scenario {number}: {_in_words(scenario)}"
        columns += [
            Column("test cost", f"{name}_cost", group, least_if=f"{name}_test_kept"),
            Column("limits kept, validation", f"{name}_valid_kept", group),
            Column("limits kept, test", f"{name}_test_kept", group),
        ]
        for row, cell in zip(rows, _column(cells, dataset, number), strict=True):
            row += [evaluated(cell.test)[0], limits_kept(cell.valid), limits_kept(cell.test)]
    title = f"{dataset}: expected normalised cost on the test set (lower is better)"
    return Table(tuple(columns), tuple(map(tuple, rows)), title, f"{_slug(dataset)}_main")


def detailed_table(dataset: str, number: ScenarioName, cells: Sequence[Cell]) -> Table:
    """Lay out cost, precision, alarms and limits on both sets, for one scenario."""
    column = _column(cells, dataset, number)
    valid, test = _capacity([c.valid for c in column]), _capacity([c.test for c in column])
    columns = (
        Column("strategy"),
        *evaluation_columns("valid", f"validation set{valid}"),
        *evaluation_columns("test", f"test set{test}"),
    )
    rows = tuple(
        (STRATEGY_LABELS[cell.strategy], *evaluated(cell.valid), *evaluated(cell.test))
        for cell in column
    )
    title = f"{dataset}, scenario {number}: {_in_words(SCENARIOS[number])}"
    return Table(columns, rows, title, f"{_slug(dataset)}_scenario_{number}")


def evaluation_columns(name: str, group: str) -> list[Column]:
    """Return the columns for the results on one set of cases; see `evaluated`."""
    return [
        Column("cost", f"{name}_cost", group, least_if=f"{name}_kept"),
        Column("precision", f"{name}_precision", group),
        Column("alarms", f"{name}_alarms", group, decimals=1),
        Column("limits kept", f"{name}_kept", group),
    ]


def evaluated(evaluation: PolicyEvaluation | Absent) -> tuple[Value, ...]:
    """Return cost, precision, alarms, and whether the limits were kept."""
    if isinstance(evaluation, Absent):
        return (evaluation,) * 4
    precision: Value = evaluation.mean_precision if evaluation.mean_alarms else "no alarms"
    return evaluation.expected_cost, precision, evaluation.mean_alarms, limits_kept(evaluation)


def limits_kept(evaluation: PolicyEvaluation | Absent) -> Value:
    """Return whether both limits were kept, or which one was broken."""
    if isinstance(evaluation, Absent):
        return evaluation
    broken = ", ".join(violation.limit for violation in evaluation.violations)
    return f"no ({broken})" if broken else "yes"


def limits_in_short(scenario: Scenario) -> str:
    """Return both limits in words, without the costs."""
    return (
        f"precision at least {scenario.min_precision:g}, alarms at most {scenario.capacity:g} of "
        "the cases"
    )


def _in_words(scenario: Scenario) -> str:
    low, high = map(as_fraction, scenario.costs.support)
    return f"{limits_in_short(scenario)}, cost ratio uniform on [{low}, {high}]"


def _column(cells: Sequence[Cell], dataset: str, number: ScenarioName) -> list[Cell]:
    """The cells of a dataset in a scenario, in the order of the strategies."""
    return [cell for cell in cells if (cell.dataset, cell.scenario) == (dataset, number)]


def _capacity(evaluations: Sequence[PolicyEvaluation | Absent]) -> str:
    counts = [one.max_alarms for one in evaluations if isinstance(one, PolicyEvaluation)]
    return f", at most {counts[0]:g} alarms" if counts else ""


def _slug(dataset: str) -> str:
    return dataset.lower().replace("-", "_")
