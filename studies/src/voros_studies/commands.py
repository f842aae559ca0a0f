"""``voros paper``, ``voros experiment`` and ``voros demo``: the paper's tables and studies."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from voros.cli.options import OutputOptions, bundled, option, output_to
from voros.cli.terminal import STANDARD_OUTPUT, Sheet, say, show, show_progress
from voros.present.report.values import evaluation_values
from voros_studies.folders import check_folder
from voros_studies.tables import Absent

if TYPE_CHECKING:
    from voros import Scenario
    from voros.io.source import Source
    from voros.typing import FloatArray
    from voros_studies.evidence.sources import DataSet
    from voros_studies.experiments import RunOptions, StudyResult
    from voros_studies.experiments.splits import SplitsResult
    from voros_studies.paper import Cell

experiment = typer.Typer(
    no_args_is_help=True,
    help="Run the paper's studies: 140 models, selected on validation, tested, with intervals.",
)

LARGEST_SEED = 2**32 - 1

MOST_ROWS = 200_000
"""Most cases of a table in the comparison of losses: all of the largest open one."""

Data = Annotated[Path, option("As PhysioNet distributes it.", metavar="FOLDER")]
Out = Annotated[
    Path,
    option(
        "Folder for all results. The command resumes an interrupted run in it.", metavar="FOLDER"
    ),
]
Seed = Annotated[int, option("Of the split and the fits.", min=0, max=LARGEST_SEED)]


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Options that every study has."""

    out: Out
    quick: bool = option("Fit 12 models rather than 140.", "--quick", default=False)
    jobs: int | None = option("Fits side by side; default one a core.")
    time_limit: float = option("Minutes that a single fit may take.", default=30.0)
    seed: Seed = 0
    scenarios: Path | None = option(
        "Your own limits in place of the paper's two.", metavar="FILE.toml"
    )
    models: str | None = option(
        "Your own estimators in place of the grid: a dict called models in a Python file "
        "or module.",
        metavar="FILE.py",
    )

    @property
    def options(self) -> RunOptions:
        """Options of one study."""
        from voros_studies.experiments import RunOptions
        from voros_studies.experiments.model_file import own_models

        check_folder(self.out)
        own: dict[str, Any] = {}
        if scenarios := _scenarios_of(self.scenarios):
            own["scenarios"] = scenarios
        if self.models is not None:
            own["models"] = own_models(self.models)
        return RunOptions(
            quick=self.quick,
            jobs=self.jobs,
            time_limit=60 * self.time_limit,
            random_state=self.seed,
            announce=_announce,
            command=shlex.join(["voros", *sys.argv[1:]]),
            **own,
        )


def _scenarios_of(path: Path | None) -> dict[Any, Scenario] | None:
    from voros.io import read_scenarios

    return None if path is None else read_scenarios(path)


def _announce(text: str) -> None:
    for line in text.splitlines():
        say(line)


def _show(result: StudyResult | SplitsResult, out: Path) -> None:
    sys.stdout.write(result.text())
    say(f"everything is in {out}; open {out / 'summary.html'}")


@experiment.command()
@bundled
def mimic(
    data: Data,
    study: StudyOptions,
    outcome: str = option("Death in the icu, as in the paper, or in hospital.", default="icu"),
    min_hours: float = option("Hours that a stay must have lasted.", default=50.0),
) -> None:
    """MIMIC-IV 2.x or 3.x: death in the ICU or the hospital, from the first 48 hours."""
    from voros_studies.hospital import run_mimic
    from voros_studies.hospital.extraction import CohortRule

    rule = CohortRule(cast("Any", outcome), min_hours)
    _show(run_mimic(data, study.out, study.options, rule=rule), study.out)


@experiment.command()
@bundled
def eicu(data: Data, study: StudyOptions) -> None:
    """eICU: death after the first 48 hours, from the features that FIDDLE's authors released."""
    from voros_studies.hospital import run_eicu

    _show(run_eicu(data, study.out, study.options), study.out)


@experiment.command()
@bundled
def physionet2012(
    data: Annotated[Path, option("Folder or archive with set-a, Outcomes-a.txt.", metavar="PATH")],
    study: StudyOptions,
    splits: int = option("Random splits.", min=1, default=20),
    sets: str | None = option("Such as ab; default all that are there."),
    test_set: str | None = option("Keep this set for testing alone."),
) -> None:
    """PhysioNet Challenge 2012, open to all: death in hospital, from the first 48 hours."""
    from voros_studies.hospital import run_physionet2012

    result = run_physionet2012(
        *(data, study.out, study.options),
        n_splits=splits,
        sets=sets and sets.replace(",", ""),
        test_set=test_set,
    )
    _show(result, study.out)


@experiment.command()
@bundled
def physionet2019(
    data: Annotated[Path, option("Folder or archive with p*.psv files.", metavar="PATH")],
    out: Out,
    test_data: Path | None = option("Stays for testing only, in the same layout.", metavar="PATH"),
    splits: int = option("Random splits.", min=1, default=10),
    quick: bool = option("Fit 2 models rather than 12.", "--quick", default=False),
    seed: Seed = 0,
    scenarios: Path | None = option(
        "Your own scenario, with a capacity per patient-day.", metavar="FILE.toml"
    ),
) -> None:
    """PhysioNet Challenge 2019, open to all: alarms before sepsis, hour by hour in the ICU."""
    from voros_studies.sepsis import run_physionet2019

    check_folder(out)
    result = run_physionet2019(
        *(data, out),
        test_data=test_data,
        n_splits=splits,
        quick=quick,
        random_state=seed,
        scenarios=_scenarios_of(scenarios),
        announce=_announce,
    )
    sys.stdout.write(result.tables[0].text() + "\n")
    say(f"everything is in {out}; open {out / 'summary.html'}")


@experiment.command()
@bundled
def support2(
    study: StudyOptions,
    outcome: str = option(
        "hospital_death_within_7_days or hospital_death.", default="hospital_death_within_7_days"
    ),
) -> None:
    """SUPPORT2, which comes with voros: death in hospital, from the physiology of day 3."""
    from voros_studies.hospital import run_support2

    _show(run_support2(study.out, cast("Any", outcome), study.options), study.out)


@experiment.command()
@bundled
def table(
    data: Annotated[Path, option("Features and outcome, CSV or Parquet.", metavar="FILE")],
    label: Annotated[str, option("Column of the outcome.", metavar="COLUMN")],
    study: StudyOptions,
    positive: str | None = option("Value of the outcome to predict; by default 1, true or yes."),
    group: str | None = option("Column of the patients.", metavar="COLUMN"),
    split: str | None = option("Column with train, valid and test.", metavar="COLUMN"),
    splits: int | None = option("Random splits; default 1.", min=1),
    test_data: Path | None = option("Cases to test on alone.", metavar="FILE"),
    ignore: list[str] | None = option(
        "A column to leave out of the features; may be repeated.", metavar="COLUMN"
    ),
) -> None:
    """Your own table: the same study, with your own limits and models."""
    from voros_studies.experiments.table import TableColumns
    from voros_studies.experiments.table_study import run_table

    columns = TableColumns(
        label=label, positive=positive, group=group, split=split, ignore=tuple(ignore or ())
    )
    result = run_table(
        data, study.out, columns, study.options, n_splits=splits, test_data=test_data
    )
    _show(result, study.out)


def score_rows(folder: Path, model: str, source: Source) -> FloatArray:
    """Return the risk of every row of a file by a saved model, for ``voros apply``."""
    from voros_studies.experiments.saved_models import score_frame
    from voros_studies.experiments.table import read_frame

    return score_frame(folder, model, read_frame(source))


@dataclass(frozen=True, kw_only=True)
class OpenDataOptions:
    """Options that name the open data sets and the output folder."""

    out: Out
    data: list[Path] | None = option("With the tables as CSV; may be repeated.", metavar="FOLDER")
    physionet2012: Path | None = option("Its folder or archive.", metavar="PATH")
    only: list[str] | None = option("A data set by name; may be repeated.")
    scenarios: Path | None = option(
        "Your own limits in place of the study's three.", metavar="FILE.toml"
    )

    def read(self, **limit: int) -> list[DataSet]:
        """Read the data sets that are found."""
        from voros_studies.evidence.sources import find_datasets

        check_folder(self.out)
        return find_datasets(self.data or (), self.physionet2012, self.only or (), say, **limit)


@experiment.command()
@bundled
def evidence(
    sets: OpenDataOptions, splits: int = option("Random splits of each.", min=1, default=10)
) -> None:
    """Many open data sets: compare the costs of choosing by partial VOROS and by other scores."""
    from voros_studies.evidence import run_evidence

    own = _scenarios_of(sets.scenarios)
    result = run_evidence(sets.read(), sets.out, n_splits=splits, scenarios=own, progress=True)
    sys.stdout.write(result.text())
    say(f"everything is in {sets.out}; the figure is {sets.out / 'evidence.png'}")


@experiment.command()
@bundled
def training(
    sets: OpenDataOptions,
    seeds: int = option("Random splits of each.", min=1, default=20),
    size: list[int] | None = option("Training cases; may be repeated.", min=100),
    steps: int | None = option("Of each network, for a trial.", min=1),
) -> None:
    """Many open data sets: compare log loss with losses that aim at the cost within limits."""
    from voros_studies.training.run import SIZES, run_training

    options = {"n_seeds": seeds, "sizes": tuple(size or SIZES), "n_steps": steps}
    datasets = sets.read(most=MOST_ROWS)
    own = _scenarios_of(sets.scenarios)
    table = run_training(datasets, sets.out, scenarios=own, announce=say, **cast("Any", options))
    sys.stdout.write(table.text())
    say(f"everything is in {sets.out}; the table is {sets.out / 'training.csv'}")


SUMMARY = ("expected_cost", "mean_precision", "mean_alarms", "max_alarms", "satisfied")
"""A row of CSV: one strategy on one set of cases."""


@bundled
def paper(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Holds the authors' *_valid.csv and *_test.csv files."
        ),
    ],
    show_options: OutputOptions,
    output: Path | None = output_to(
        "Save the tables as text, CSV and LaTeX, and the figures.", "FOLDER"
    ),
) -> None:
    """Print the paper's tables, computed from the predictions in FOLDER."""
    from voros_studies.paper import reproduce_figures, reproduce_tables

    if output is not None:
        if output == STANDARD_OUTPUT:
            raise ValueError("-o - is not a folder; without -o the tables go to standard output")
        check_folder(output)
    with show_progress("computing the paper's tables"):
        tables = reproduce_tables(folder)
    if output is not None:
        figures = reproduce_figures(folder)
        written = tables.write(output, figures=figures, force=show_options.force)
        say(f"wrote {len(written)} files to {output}")
    if show_options.for_programs:
        show(_sheet(tables.cells), show_options)
    else:
        sys.stdout.write(tables.text())


def _sheet(cells: Sequence[Cell]) -> Sheet:
    return Sheet(
        rows=[_row(cell, name) for cell in cells for name in ("valid", "test")],
        document={"cells": [_place(cell) | _evaluations(cell) for cell in cells]},
    )


def _place(cell: Cell) -> dict[str, Any]:
    return {"dataset": cell.dataset, "scenario": cell.scenario, "strategy": cell.strategy}


def _evaluations(cell: Cell) -> dict[str, Any]:
    parts = {"valid": cell.valid, "test": cell.test}
    return {
        name: {"absent": one.reason} if isinstance(one, Absent) else evaluation_values(one)
        for name, one in parts.items()
    }


def _row(cell: Cell, name: str) -> dict[str, Any]:
    evaluation = _evaluations(cell)[name]
    values = {column: evaluation.get(column) for column in (*SUMMARY, "absent")}
    return _place(cell) | {"cases": name} | values


@bundled
def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where figures and the page are written.")
    ] = Path("voros-demo"),
) -> None:
    """Show who should raise the alarm: four prognoses of SUPPORT2, by AUROC and within limits."""
    from voros_studies.demo import run_demo

    run_demo(folder)
