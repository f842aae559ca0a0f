"""Who should raise the alarm? Four prognoses of SUPPORT2 under limits, from scores to a page."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from itertools import chain, count, groupby
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from voros import OperatingPoints, Scenario, winner_map
from voros.core.decision import solve
from voros.datasets import Support2, load_support2
from voros.datasets.support2 import OutcomeName
from voros.io import write_whole
from voros.models import count_models
from voros.text.numbers import percent, short
from voros.typing import BoolArray
from voros_studies.folders import check_folder, folder_for

OUTCOME: OutcomeName = "hospital_death_within_7_days"
COST_RATIO = (1 / 40, 1 / 9)
SCENARIO = Scenario(min_precision=0.2, capacity=0.1, cost_ratio=COST_RATIO)
CELLS = 100
"""Floors, and capacities, of the winner map."""

SHOWN_CAPACITIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SHOWN_FLOOR = 0.2
TOLERANCE = 0.01
NOT_FEASIBLE = "-"
DEFAULT_FOLDER = Path("voros-demo")


def score_prognoses(
    points_by_model: Mapping[str, OperatingPoints], min_precision: float, capacity: float
) -> dict[str, float | None]:
    """Partial VOROS of each prognosis; None where no threshold meets the limits."""
    scenario = Scenario(min_precision, capacity, COST_RATIO)
    results = {name: solve(points, scenario) for name, points in points_by_model.items()}
    return {name: r.partial_voros if r.can_alarm else None for name, r in results.items()}


def winner(scores: Mapping[str, float | None]) -> str:
    """Name the prognosis of highest score, and those within the tolerance of it."""
    ranked = sorted(scores, key=lambda name: scores[name] or 0.0, reverse=True)
    best, second = (scores[name] or 0.0 for name in ranked[:2])
    return ranked[0] if best - second > TOLERANCE else f"{ranked[0]} or {ranked[1]}"


def runs(winners: Mapping[float, str]) -> str:
    """Say which prognosis wins over which range of capacities."""
    said = []
    for name, run in groupby(winners, key=winners.__getitem__):
        capacities = list(run)
        ends = f"{percent(capacities[0])}"
        ends += f" to {percent(capacities[-1])}" if len(capacities) > 1 else ""
        said.append(f"{name} at {ends}")
    return ", ".join(said)


def _line(first: str, cells: list[str], last: str) -> str:
    return f"  {first:<16}" + "".join(f"{cell:>15}" for cell in cells) + f"   {last}"


def _introduction(patients: Support2, y_true: BoolArray) -> Iterator[str]:
    yield "Who should raise the alarm for a death in hospital within 7 days?"
    yield (
        f"SUPPORT2: {len(y_true):,} patients with all four prognoses, {int(y_true.sum()):,} such "
        f"deaths ({percent(y_true.mean())}). A miss costs 9 to 40 false alarms."
    )
    yield ""
    yield _line("", list(patients.prognoses), "best")
    auroc = {name: float(roc_auc_score(y_true, r)) for name, r in patients.prognoses.items()}
    yield _line("AUROC", [short(a) for a in auroc.values()], max(auroc, key=auroc.__getitem__))


def _table(points: Mapping[str, OperatingPoints], floor: float) -> Iterator[str]:
    said = f"precision at least {percent(floor)}" if floor else "no precision floor"
    yield f"partial VOROS, {said}; alarms for at most"
    winners = {}
    for capacity in SHOWN_CAPACITIES:
        scores = score_prognoses(points, floor, capacity)
        cells = [NOT_FEASIBLE if s is None else short(s) for s in scores.values()]
        winners[capacity] = winner(scores)
        yield _line(f"{percent(capacity)} of patients", cells, winners[capacity])
    yield f"  Best: {runs(winners)}."


def screen(patients: Support2) -> Iterator[str]:
    """Return the lines of one screen: the question, the answer and one table."""
    y_true = patients.outcome(OUTCOME)
    points = count_models(y_true, patients.prognoses)
    yield from _introduction(patients, y_true)
    yield from _table(points, SHOWN_FLOOR)
    yield f"  {NOT_FEASIBLE}: more patients share the top score than the capacity admits."
    yield ""
    yield "Answer: not simply the physicians, whom AUROC names. It depends on the ward's capacity."


def unused_folder(folder: Path) -> Path:
    """Return ``folder``, or the first numbered one after it that does not exist."""
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(f for f in chain([folder], numbered) if not f.exists())


def run_demo(folder: Path = DEFAULT_FOLDER) -> None:
    """Print one screen, and write a figure, the interactive page and a small study to a folder."""
    check_folder(folder.parent)
    patients = load_support2().with_all_prognoses()
    print(*screen(patients), sep="\n", flush=True)
    folder = unused_folder(folder)
    try:
        with folder_for(folder):
            _write_everything(patients, folder)
    except BaseException:
        # The folder is new, so it holds only this unfinished demonstration.
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _write_everything(patients: Support2, folder: Path) -> None:
    print(f"\nMove the limits yourself   {_write_page(patients, folder)}", flush=True)
    write_whole(folder / "overview.png", draw_overview(patients))
    print(f"ROC curves and winner map  {folder / 'overview.png'}", flush=True)
    print("A dozen trained models ... a minute, please", flush=True)
    _run_study(folder / "study")
    print(f"Which of them, and where   {folder / 'study' / 'summary.html'}")


def draw_overview(patients: Support2) -> bytes:
    """Draw the limits on the left, and who wins under which limits on the right."""
    from voros.plotting import RocDisplay, WinnerMapDisplay
    from voros.present.report.figures import figure_bytes, headless_pyplot

    points = count_models(patients.outcome(OUTCOME), patients.prognoses)
    winners = winner_map(
        points,
        min_precisions=np.linspace(0.12, 0.6, CELLS),
        capacities=np.geomspace(0.005, 0.5, CELLS),
        cost_ratio=COST_RATIO,
    )
    figure, panels = headless_pyplot().subplots(ncols=2, figsize=(10, 5), layout="constrained")
    RocDisplay.from_points(points, SCENARIO, ax=panels[0])
    WinnerMapDisplay(winners).plot(panels[1], log_capacity=True)
    return figure_bytes(figure, "png")


def _write_page(patients: Support2, folder: Path) -> Path:
    from voros.present.explorer import write_page

    return write_page(
        patients.outcome(OUTCOME),
        dict(patients.prognoses),
        SCENARIO,
        folder / "explore.html",
        title="Who should raise the alarm?",
        outcome="hospital death within 7 days",
        cases="patients",
    )


def _run_study(folder: Path) -> None:
    from voros_studies.experiments import RunOptions
    from voros_studies.hospital import run_support2

    study = run_support2(folder, OUTCOME, RunOptions(quick=True, progress=False))
    write_whole(folder / "tables.txt", study.text() + "\n")


if __name__ == "__main__":
    run_demo(*map(Path, sys.argv[1:]))
