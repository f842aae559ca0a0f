"""The paper's two studies, for whoever has the data: from PhysioNet's folders to the tables."""

from __future__ import annotations

from pathlib import Path

from voros.studies.experiments.briefing import Announce, Briefing, file_found, tell_nobody
from voros.studies.experiments.eicu import FiddleRelease, eicu_cases, find_fiddle
from voros.studies.experiments.estimate import chart_seconds, grid_seconds
from voros.studies.experiments.experiment import Options, run_experiment
from voros.studies.experiments.extraction import Extraction, extract
from voros.studies.experiments.mimic import mimic_cases
from voros.studies.experiments.release import SourceTable, find_tables
from voros.studies.experiments.results import StudyResult

MIMIC_CASES, MIMIC_FEATURES = 15_500, 321
"""Training stays and features of the paper's cohort, to estimate times with before it is known."""

EICU_SHARE_OF_TRAINING = 0.5

EXTRACTED = "extracted"
"""Folder within a run's for what was read from the release."""


def run_mimic(
    data: str | Path,
    out: str | Path,
    options: Options | None = None,
    announce: Announce = tell_nobody,
) -> StudyResult:
    """Run the study on a MIMIC-IV release, and write everything into one folder.

    Parameters
    ----------
    data : path-like
        The release's folder, with ``hosp/`` and ``icu/``.
    out : path-like
        The run's folder. What is in it of the same run is not done again.
    options : Options, optional
    announce : callable, optional
        Told what was found, what is lacking and how long it will take, before it starts.

    Raises
    ------
    ExperimentError
        When something about the data is wrong; the message names the file and the remedy.
    """
    options = options or Options()
    tables = find_tables(Path(data))
    announce(str(_mimic_briefing(tables, Path(out), options)))
    extraction = extract(tables, Path(out) / EXTRACTED)
    announce(str(extraction.flow))
    cases = mimic_cases(extraction)
    announce(repr(cases))
    return run_experiment(
        "MIMIC-IV, death in the rest of the hospital stay",
        cases,
        Path(out),
        options,
        description={"experiment": "mimic"},
        notes=_mimic_notes(extraction),
    )


def _mimic_briefing(tables: dict[str, SourceTable], out: Path, options: Options) -> Briefing:
    found = tuple(file_found(name, table.path) for name, table in tables.items())
    seconds = grid_seconds(options.candidates, MIMIC_CASES, MIMIC_FEATURES, options.cores)
    if not (out / EXTRACTED / "extraction.json").exists():
        seconds += chart_seconds(tables["icu/chartevents"].path)
    return Briefing(found, (), seconds)


def _mimic_notes(extraction: Extraction) -> list[str]:
    return [str(extraction.flow), *map(str, extraction.counts)]


def run_eicu(
    data: str | Path,
    out: str | Path,
    options: Options | None = None,
    announce: Announce = tell_nobody,
) -> StudyResult:
    """Run the study on FIDDLE's eICU release; see `run_mimic`.

    Parameters
    ----------
    data : path-like
        The folder ``FIDDLE_eicu`` of PhysioNet's mimic-eicu-fiddle-feature.
    out : path-like
    options : Options, optional
    announce : callable, optional
    """
    options = options or Options()
    release = find_fiddle(Path(data))
    briefing = _eicu_briefing(release, options)
    announce(str(briefing))
    cases = eicu_cases(release)
    announce(repr(cases))
    return run_experiment(
        "eICU, death after the first 48 hours",
        cases,
        Path(out),
        options,
        description={"experiment": "eicu"},
        notes=[*briefing.found, *(f"lacking: {text}" for text in briefing.lacking)],
    )


def _eicu_briefing(release: FiddleRelease, options: Options) -> Briefing:
    n_stays = release.static.shape[0]
    static, dynamic = release.static_features, release.dynamic_features
    found = [
        file_found("population", release.population),
        file_found(f"static features, {len(static.names)} of them used", release.static.path),
        file_found(f"dynamic features, {len(dynamic.names)} of them used", release.dynamic.path),
        *(f"not in the paper's table, taken too: {text}" for text in static.added + dynamic.added),
    ]
    n_features = len(static.names) + 18 * len(dynamic.names)
    n_train = int(n_stays * EICU_SHARE_OF_TRAINING)
    seconds = grid_seconds(options.candidates, n_train, n_features, options.cores)
    return Briefing(tuple(found), static.lacking + dynamic.lacking, seconds)
