"""``voros experiment``: the paper's studies, on MIMIC-IV, eICU and SUPPORT2."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voros.cli.failures import say
from voros.io import check_folder

if TYPE_CHECKING:
    from voros.studies.experiments import Options, StudyResult

app = typer.Typer(
    no_args_is_help=True,
    help="Run the paper's studies: 140 models, selected on validation, tested, with intervals.",
)

LARGEST_SEED = 2**32 - 1

MOST_PATIENTS = 1_000_000
"""Three times as many as MIMIC-IV has."""

Data = Annotated[
    Path, typer.Option("--data", metavar="FOLDER", help="As PhysioNet distributes it.")
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="Where everything is written. An interrupted run in it is taken up again.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Fit 12 models rather than 140.")]
Jobs = Annotated[int | None, typer.Option("--jobs", help="Fits side by side; default one a core.")]
Limit = Annotated[float, typer.Option("--time-limit", help="Minutes that a single fit may take.")]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", min=0, max=LARGEST_SEED, help="Of the split, the fits and the resamples."
    ),
]

DEFAULT_MINUTES = 30.0


def _options(out: Path, quick: bool, jobs: int | None, time_limit: float, seed: int) -> Options:
    from voros.studies.experiments import Options

    check_folder(out)
    return Options(
        quick=quick,
        jobs=jobs,
        time_limit=60 * time_limit,
        random_state=seed,
        progress=sys.stderr.isatty(),
    )


def _announce(text: str) -> None:
    for line in text.splitlines():
        say(line)


def _show(result: StudyResult, out: Path) -> None:
    sys.stdout.write(result.text())
    say(f"everything is in {out}; open {out / 'summary.html'}")


@app.command()
def mimic(
    data: Data,
    out: Out,
    quick: Quick = False,
    jobs: Jobs = None,
    time_limit: Limit = DEFAULT_MINUTES,
    seed: Seed = 0,
) -> None:
    """MIMIC-IV 2.x or 3.x: death in the rest of the hospital stay, from the first 48 hours."""
    from voros.studies.experiments import run_mimic

    _show(run_mimic(data, out, _options(out, quick, jobs, time_limit, seed), _announce), out)


@app.command()
def eicu(
    data: Data,
    out: Out,
    quick: Quick = False,
    jobs: Jobs = None,
    time_limit: Limit = DEFAULT_MINUTES,
    seed: Seed = 0,
) -> None:
    """eICU: death after the first 48 hours, from the features that FIDDLE's authors released."""
    from voros.studies.experiments import run_eicu

    _show(run_eicu(data, out, _options(out, quick, jobs, time_limit, seed), _announce), out)


@app.command()
def support2(
    out: Out,
    outcome: Annotated[
        str, typer.Option("--outcome", help="hospital_death_within_7_days or hospital_death.")
    ] = "hospital_death_within_7_days",
    quick: Quick = False,
    jobs: Jobs = None,
    time_limit: Limit = DEFAULT_MINUTES,
    seed: Seed = 0,
) -> None:
    """SUPPORT2, which comes with voros: death in hospital, from the physiology of day 3."""
    from voros.studies.experiments import run_support2

    options = _options(out, quick, jobs, time_limit, seed)
    _show(run_support2(out, outcome, options, _announce), out)


@app.command()
def generate(
    out: Out,
    patients: Annotated[
        int, typer.Option("--patients", min=1, max=MOST_PATIENTS, help="How many to make up.")
    ] = 1000,
    release: Annotated[str, typer.Option("--release", help="2.0, 2.2 or 3.1.")] = "3.1",
    seed: Seed = 0,
) -> None:
    """Make up a MIMIC-IV release, to try the experiment before the data arrive."""
    from voros.studies.experiments.synthetic import write_release

    check_folder(out)
    stays = write_release(out, patients, release=release, random_state=seed)
    say(f"made up {patients} patients with {len(stays)} ICU stays in {out}")
