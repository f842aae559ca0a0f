"""From cases to a folder with everything: fits, tables, figures, policies and a summary page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from voros import Scenario
from voros.core.arguments import check_count
from voros.progress import Bar
from voros.text.table import csv_text
from voros_studies.experiments.cases import (
    NO_CONTEXT,
    LabelledCases,
    Split,
    StudyContext,
    split_patients,
)
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import (
    RunFolder,
    hardware,
    open_run,
    run_versions,
    save,
    save_json,
)
from voros_studies.experiments.grid import Candidate, paper_grid, quick_grid
from voros_studies.experiments.model_file import models_digest
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.reviewer import StudyParts, reviewer_tables, study_flow
from voros_studies.experiments.rivals import Rivals
from voros_studies.experiments.run_summary import draw_study, render_summary
from voros_studies.experiments.runs import TIME_LIMIT, OnFinished, run_grid
from voros_studies.experiments.saved_models import ModelSource, save_models
from voros_studies.experiments.study import (
    Deployed,
    Scored,
    check_scenarios,
    cost_intervals,
    run_study,
)
from voros_studies.paper.cells import SCENARIOS, ScenarioName
from voros_studies.paper.paper_tables import table_files
from voros_studies.tables import Table

FindRivals = Callable[[Split, Sequence[Deployed], tuple[Scored, Scored], Path], Rivals]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How to run an experiment.

    Parameters
    ----------
    quick : bool, default False
        Fit a dozen candidates rather than the paper's 140.
    jobs : int, optional
        Fits side by side; by default one per core.
    time_limit : float, default 1800
        Seconds a single fit may take.
    random_state : int, default 0
        Seed of the split, of every fit and of the resamples.
    models : tuple of Candidate, optional
        The user's models in place of the grid; `own_models` reads them.
    scenarios : mapping of names to Scenario, optional
        The user's limits and costs in place of the paper's two. The capacity is a share of the
        cases, since validation and test cases differ in number.
    progress : bool, default True
        Whether to draw a bar on the standard error stream.
    announce : callable, optional
        Called with what was found and what is missing, before the fits.
    command : str, optional
        The command line, for the page.

    Examples
    --------
    >>> options = RunOptions(quick=True, jobs=2)
    >>> len(options.candidates), len(RunOptions().candidates), options.cores
    (12, 140, 2)
    """

    quick: bool = False
    jobs: int | None = None
    time_limit: float = TIME_LIMIT
    random_state: int = 0
    models: tuple[Candidate, ...] = ()
    # Left out of the repr, because the signatures of all studies show these options.
    scenarios: Mapping[ScenarioName, Scenario] = field(
        default_factory=lambda: SCENARIOS, repr=False
    )
    progress: bool = True
    announce: Callable[[str], object] = str
    command: str = ""

    def __post_init__(self) -> None:
        if self.jobs is not None:
            check_count(self.jobs, "jobs", "a whole number of at least 1")
        if not self.time_limit > 0:
            raise ValueError(f"time_limit={self.time_limit}; accepted are seconds above 0")
        check_scenarios(self.scenarios)
        if self.quick and self.models:
            raise ValueError("quick=True chooses from the paper's grid; with models= leave it out")

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates to fit."""
        return self.models or (quick_grid() if self.quick else paper_grid())

    @property
    def cores(self) -> int:
        """Number of parallel fits."""
        return self.jobs or os.cpu_count() or 1

    def brief(self, present: Sequence[str], lacking: Sequence[str] = ()) -> None:
        """Announce what was found and what is missing."""
        lines = [f"found: {text}" for text in present]
        self.announce("\n".join([*lines, *(f"lacks: {text}" for text in lacking or ("nothing",))]))

    @property
    def identity(self) -> dict[str, Any]:
        """Seed, scenarios and models, which identify the run."""
        own = {} if self.scenarios is SCENARIOS else {"scenarios": str(dict(self.scenarios))}
        models = {"models": models_digest(self.models)} if self.models else {}
        return {"random_state": self.random_state, **own, **models}


AS_PUBLISHED = RunOptions()
"""The paper's grid and time limit."""


def file_found(name: str, path: Path) -> str:
    """Say which file serves as a table, and its size."""
    return f"{name}: {path} ({path.stat().st_size / 1e6:,.1f} MB)"


def run_experiment(
    title: str,
    cases: LabelledCases,
    root: Path,
    options: RunOptions,
    *,
    description: Mapping[str, Any],
    split: Split | None = None,
    context: StudyContext = NO_CONTEXT,
    find_rivals: FindRivals | None = None,
    encoder: Any = None,
) -> StudyResult:
    """Fit the grid, run the study, and write everything into one folder.

    Parameters
    ----------
    title : str
        Of tables and page.
    cases : LabelledCases
    root : Path
        The folder; an unfinished run of the same study in it is resumed.
    options : RunOptions
    description : mapping
        Further values that identify the run.
    split : Split, optional
        By default `split_patients` makes one.
    context : StudyContext, optional
        Description of the cases for tables and page.
    find_rivals : callable, optional
        Compares the deployed policies with other forecasts, given the split.
    encoder : transformer, optional
        Turns the user's rows into features; saved with the chosen models.

    Returns
    -------
    StudyResult

    Examples
    --------
    A dozen models on 400 cases, half a minute:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 1))
    >>> cases = LabelledCases(X, X[:, 0] > rng.normal(1, 1, 400), np.arange(400), ("lactate",))
    >>> how = RunOptions(quick=True, progress=False)
    >>> result = run_experiment("Ward", cases, Path("out"), how, description={})  # doctest: +SKIP
    >>> print(result.tables[0].text())  # doctest: +SKIP
    """
    split = split or split_patients(cases, options.random_state)
    split.check_both_outcomes(cases)
    identity = {**description, **options.identity}
    folder = open_run(root, cases, split, identity)
    records = run_grid(
        folder,
        options.candidates,
        random_state=options.random_state,
        jobs=options.cores,
        time_limit=options.time_limit,
        on_finished=_fits_bar(len(options.candidates)) if options.progress else None,
    )
    result, valid, test = study_run(title, folder, records, split, options.scenarios, find_rivals)
    parts = StudyParts(cases, split, context, valid, test)
    source = ModelSource(cases, split, options.random_state, encoder)
    notes = (*context.notes, *save_models(folder, result, source))
    metadata = [*asked_metadata(options, identity), *_metadata(cases, split, records, notes)]
    _write(folder, result, parts, metadata)
    return result


def study_run(
    title: str,
    folder: RunFolder,
    records: Mapping[str, dict[str, Any]],
    split: Split,
    scenarios: Mapping[ScenarioName, Scenario],
    find_rivals: FindRivals | None = None,
) -> tuple[StudyResult, Scored, Scored]:
    """Study the finished fits of a run."""
    names = [name for name, record in records.items() if record["status"] == "done"]
    if not names:
        raise ExperimentError(
            f"{folder.root / 'fits'}: not one fit finished; the records say why. Give more time "
            "with a longer limit, or fix what they name, and run the command again"
        )
    valid, test = (Scored.read(folder, names, part) for part in ("valid", "test"))
    deployed = tuple(run_study(valid, test, scenarios))
    kept = folder.root / "intervals"
    intervals = {
        # The same resamples on every split, so that splits with one test set can be compared.
        number: cost_intervals(list(ones), test, kept=kept)
        for number, ones in groupby(deployed, key=attrgetter("scenario"))
    }
    rivals = find_rivals(split, deployed, (valid, test), kept) if find_rivals else None
    return StudyResult(title, deployed, intervals, records, rivals), valid, test


def asked_metadata(options: RunOptions, identity: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the settings, and the machine that computed the run, for a page."""
    grid = f"the paper's {len(options.candidates)} models"
    if options.quick:
        grid = f"quick: {len(options.candidates)} of the paper's {len(paper_grid())} models"
    if options.models:
        grid = f"own models: {', '.join(model.name for model in options.models)}"
    return [
        *([("command", options.command)] if options.command else []),
        *((name.replace("_", " "), str(value)) for name, value in identity.items() if value != ""),
        ("grid", grid),
        ("time limit of a fit", f"{options.time_limit:g} s"),
        ("hardware", hardware()),
    ]


def _fits_bar(n_fits: int) -> OnFinished:
    """Return a function that counts finished fits on a progress bar."""
    bar, done = Bar("fits"), count(1)
    return lambda _candidate, _record: bar(next(done), n_fits)


def _metadata(
    cases: LabelledCases, split: Split, records: Mapping[str, dict[str, Any]], notes: Sequence[str]
) -> list[tuple[str, str]]:
    done = [record for record in records.values() if record["status"] == "done"]
    not_done = [name for name, record in records.items() if record["status"] != "done"]
    parts = {part: cases.y[rows] for part, rows in split.parts.items()}
    sizes = ", ".join(f"{part} {len(y)} ({y.mean():.3f} positive)" for part, y in parts.items())
    packages = ", ".join(f"{name} {number}" for name, number in run_versions().items())
    return [
        *(("data", note) for note in notes),
        ("digest", f"{cases.fingerprint} (of features and outcomes)"),
        ("cases", repr(cases)),
        ("split", f"{split.how}: {sizes}"),
        (
            "fits",
            f"{len(done)} finished in {sum(r['seconds'] for r in done):.0f} s of one core; "
            f"{sum(not r['converged'] for r in done)} stopped before they converged, as the "
            "grid's iteration limits intend",
        ),
        *(("not finished", name) for name in not_done),
        ("versions", packages),
    ]


def _table_files(tables: Sequence[Table], study: str) -> dict[str, str]:
    """Return the files of tables; CSV has no title, so each row names the study."""
    files = table_files(tables)
    for table in tables:
        names = [*(column.name or column.title for column in table.columns), "study"]
        files[f"{table.name}.csv"] = csv_text(names, [(*row, study) for row in table.rows])
    return files


def _write(
    folder: RunFolder,
    result: StudyResult,
    parts: StudyParts,
    metadata: Sequence[tuple[str, str]],
) -> None:
    reviewer = reviewer_tables(result, parts)
    pictures = draw_study(result, parts.valid, parts.test)
    for name, content in _table_files((*result.tables, *reviewer), result.title).items():
        save(folder.root / "tables" / name, content)
    for name, image in pictures.items():
        save(folder.root / "figures" / name, image)
    for one in result.deployed:
        name = f"scenario_{one.scenario}_{one.strategy}.json"
        save(folder.root / "policies" / name, one.policy.to_json())
    listed = [{"name": name, "text": text} for name, text in metadata]
    save_json(folder.root / "study.json", {"title": result.title, "metadata": listed})
    page = render_summary(result, metadata, pictures, reviewer, study_flow(parts))
    save(folder.root / "summary.html", page)
