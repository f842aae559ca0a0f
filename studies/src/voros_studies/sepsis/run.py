"""Run the study on sepsis: a file for each split, then tables, a figure and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from voros import Scenario
from voros.core.arguments import check_count
from voros.installing import package_versions
from voros.present.document import Picture, render_document
from voros.typing import BoolArray
from voros_studies.experiments.cases import LabelledCases, Split, split_around_test, split_patients
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import finished_or_computed, save
from voros_studies.paper.cells import ScenarioName
from voros_studies.paper.paper_tables import ShownAsTables, table_files
from voros_studies.sepsis.bedside import LACKING
from voros_studies.sepsis.figure import CAPTION, draw_events
from voros_studies.sepsis.hours import HourlyStays, read_hours
from voros_studies.sepsis.one_split import (
    OTHER_ROWS,
    RULE,
    SCENARIO,
    SepsisData,
    quick_sepsis_grid,
    run_split,
    sepsis_grid,
)
from voros_studies.sepsis.tables import (
    TITLE,
    answer,
    limits_in_words,
    models_table,
    scores_table,
    selected_table,
)
from voros_studies.tables import Table

N_SPLITS = 10


@dataclass(frozen=True, eq=False, repr=False)
class SepsisResult(ShownAsTables):
    """The records of all splits, and the tables over them.

    ``test_ratio`` is the size of the test part over that of the others, and 0 where all splits have
    the same test stays.
    """

    splits: Sequence[Mapping[str, Any]]
    test_ratio: float
    scenario: Scenario

    @property
    def tables(self) -> tuple[Table, ...]:
        """Tables of the selected models, of every model, and of both scores."""
        return (
            selected_table(self.splits, self.test_ratio, self.scenario),
            models_table(self.splits, self.test_ratio, self.scenario),
            scores_table(self.splits, self.test_ratio),
        )

    @property
    def seconds(self) -> float:
        """Processor time of the splits."""
        return float(sum(split["seconds"] for split in self.splits))


def run_physionet2019(
    data: str | Path,
    out: str | Path,
    *,
    test_data: str | Path | None = None,
    n_splits: int = N_SPLITS,
    quick: bool = False,
    random_state: int = 0,
    scenarios: Mapping[ScenarioName, Scenario] | None = None,
    announce: Callable[[str], None] | None = None,
) -> SepsisResult:
    """Choose models and thresholds at several levels on random splits, and test them.

    Each split is one file, written whole; a split with a file is not run again.

    Parameters
    ----------
    data, test_data : path-like
        Folders or archives with files such as ``p000001.psv``. Stays of ``test_data``, such as
        those of another hospital, are the test part of every split.
    out : path-like
        Folder for all results.
    n_splits, random_state : int
        Splits, and the seed of the first; the others follow.
    quick : bool, default False
        Fit two models rather than twelve.
    scenarios : mapping of a name to a Scenario, optional
        The limits, if not those of the study: one scenario, with a capacity per patient-day.
    announce : callable, optional
        Called with a line about what was read, and one for each split.

    Returns
    -------
    SepsisResult

    Examples
    --------
    Two splits:

    >>> run_physionet2019("training_setA", "runs/sepsis", n_splits=2)  # doctest: +SKIP

    >>> run_physionet2019("no-such-folder", "runs/sepsis")
    Traceback (most recent call last):
    voros_studies.experiments.errors.ExperimentError: no-such-folder: there is no such folder or
    archive
    """
    check_count(n_splits, "n_splits", "a whole number of at least 1")
    scenario = _only_scenario(scenarios)
    grid = quick_sepsis_grid() if quick else sepsis_grid()
    stays, held_out, notes = _read(data, test_data)
    say = announce or (lambda _: None)
    for note in notes:
        say(note)
    computed = SepsisData.from_stays(stays, scenario)
    seeds = range(random_state, random_state + n_splits)
    splits = []
    for seed in seeds:
        split = _split(stays, held_out, seed)
        path = Path(out) / "splits" / f"split-{seed:02d}.json"
        identity = {
            "fingerprint": stays.fingerprint,
            "test_data": test_data is not None,
            "seed": seed,
            "limits": f"{scenario!r} {RULE!r}",
            "candidates": [candidate.name for candidate in grid],
            "version": package_versions("voros")["voros"],
        }
        compute = partial(run_split, computed, split, seed, grid)
        splits.append(finished_or_computed(path, identity, compute))
        say(f"split {seed}: {splits[-1]['seconds']:.0f} s of processor time, {path}")
    learnt = len(stays) - len(split.test)
    ratio = 0.0 if held_out is not None else len(split.test) / learnt
    result = SepsisResult(splits, ratio, scenario)
    write_result(Path(out), result, notes)
    return result


def _only_scenario(scenarios: Mapping[ScenarioName, Scenario] | None) -> Scenario:
    held = list((scenarios or {"": SCENARIO}).values())
    if len(held) > 1 or held[0].per != SCENARIO.per:
        raise ExperimentError(
            f"scenarios={scenarios!r}; accepted is one scenario, with a capacity per patient-day: "
            'capacity = 0.1 and per = "patient-day"'
        )
    return held[0]


def _read(
    data: str | Path, test_data: str | Path | None
) -> tuple[HourlyStays, BoolArray | None, list[str]]:
    """Return all stays, which of them are for testing only, and notes."""
    stays = read_hours(data)
    if test_data is None:
        return stays, None, stays.notes
    others = read_hours(test_data)
    joined = HourlyStays(
        names=stays.names + others.names,
        stay=np.concatenate([stays.stay, others.stay + len(stays)]),
        values=np.concatenate([stays.values, others.values]),
        label=np.concatenate([stays.label, others.label]),
        deviations=Counter(),
    )
    notes = [*stays.notes, *(f"test: {note}" for note in others.notes)]
    return joined, np.arange(len(joined)) >= len(stays), notes


def _split(stays: HourlyStays, held_out: BoolArray | None, seed: int) -> Split:
    """Split by stay, because the Challenge does not identify patients."""
    n = len(stays)
    cases = LabelledCases(np.zeros((n, 0)), stays.septic, np.arange(n), ())
    if held_out is None:
        return split_patients(cases, seed)
    return split_around_test(cases, held_out, seed)


def write_result(root: Path, result: SepsisResult, notes: Sequence[str]) -> None:
    """Write tables, figure and page."""
    for name, content in table_files(result.tables).items():
        save(root / "tables" / name, content)
    drawn = draw_events(result.splits[0], result.scenario)
    save(root / "figures" / "events.png", drawn)
    sizes = ", ".join(f"{part} {n:,}" for part, n in result.splits[0]["sizes"].items())
    n_splits = len(result.splits)
    page = render_document(
        "voros_studies.experiments",
        "summary.html",
        title=f"{TITLE}: {n_splits} split{'' if n_splits == 1 else 's'}",
        answers=[answer(result.splits, result.scenario)],
        ran=[
            *(("data", note) for note in notes),
            ("limits", limits_in_words(result.scenario)),
            ("stays", f"{sizes}; a stay is a patient, since the Challenge names none"),
            ("fitted rows", f"all before an onset, and {OTHER_ROWS:.0%} of the others"),
            *((name, f"without {lacking}") for name, lacking in LACKING.items()),
            ("processor time", f"{result.seconds / 60:.1f} minutes"),
        ],
        tables=result.tables,
        pictures=[Picture(drawn, CAPTION)],
        steps=[],
        reviewer=[],
        long_tables=[],
    )
    save(root / "summary.html", page)
