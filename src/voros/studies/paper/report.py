"""All tables of the paper together: from a folder of predictions to files of tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from voros.studies.paper.cells import DATASETS, SCENARIOS, Cell, read_cells
from voros.studies.paper.layout import Table, detailed_table, main_table
from voros.studies.paper.writers import as_csv, as_latex, as_text

TEXT_FILE = "tables.txt"


@dataclass(frozen=True, eq=False)
class PaperTables:
    """The paper's results: two main tables, and four detailed ones.

    Attributes
    ----------
    cells : tuple of Cell
        Every number behind the tables, with the deployed thresholds and violations.
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

    def text(self) -> str:
        """Return all six tables as text."""
        return "\n".join(as_text(table) for table in (*self.main, *self.detailed))

    def files(self) -> dict[str, str]:
        """Return what `write` writes: content by file name."""
        content = {TEXT_FILE: self.text()}
        for table in (*self.main, *self.detailed):
            content[f"{table.name}.csv"] = as_csv(table)
            content[f"{table.name}.tex"] = as_latex(table)
        return content

    def write(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Save all tables as text, CSV and LaTeX: all files or none.

        Parameters
        ----------
        folder : path-like
            Made if it does not exist.
        force : bool, default False
            Whether to replace files that are there already.
        """
        from voros.io import folder_for, write_together

        with folder_for(folder) as target:
            paths: dict[str | Path, str | bytes] = {
                target / name: content for name, content in self.files().items()
            }
            write_together(paths, force=force)
        return [Path(path) for path in paths]

    def __repr__(self) -> str:
        """Show all tables."""
        return self.text()


def reproduce_tables(folder: str | Path) -> PaperTables:
    """Compute the paper's tables from a folder of the authors' prediction files.

    Parameters
    ----------
    folder : path-like
        Holds files such as ``scenario1_pvoros_valid.csv`` and ``scenario1_pvoros_test.csv`` with
        columns ``y_true`` and ``proba_y_eq_1``. A missing file leaves its cells absent, with the
        reason; an unreadable one is an error that names it.

    Notes
    -----
    Thresholds are decided on the validation files alone. Expected costs are exact, where the
    paper averages over a grid of 1,000 cost ratios: they differ from its procedure by less than
    3e-6. Mean precision and mean alarms are over the same distribution of costs.
    """
    return PaperTables(read_cells(folder))
