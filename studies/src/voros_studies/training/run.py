"""Run the study of losses: write the splits, fit networks and trees, and make the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from voros import Scenario
from voros.core.arguments import check_count
from voros.installing import missing_package
from voros_studies.evidence.sources import DataSet
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import save
from voros_studies.paper.cells import ScenarioName
from voros_studies.paper.paper_tables import table_files
from voros_studies.tables import Table
from voros_studies.training.prepare import N_SEEDS, made_up_top, write_splits
from voros_studies.training.splits import find_tasks
from voros_studies.training.summary import losses_table, read_costs

SIZES = (2500, 10_000, 50_000)


def run_training(
    datasets: Sequence[DataSet],
    out: Path,
    *,
    n_seeds: int = N_SEEDS,
    sizes: Sequence[int] = SIZES,
    n_steps: int | None = None,
    scenarios: Mapping[ScenarioName, Scenario] | None = None,
    announce: Callable[[str], object] = str,
) -> Table:
    """Compare losses on every data set, and a made-up one, and write everything to a folder.

    Networks need torch. LibAUC's losses and LightGBM's trees are fitted where these packages are
    installed. An interrupted run goes on with the next data set and size.

    Parameters
    ----------
    datasets : sequence of DataSet
        As `voros_studies.evidence.sources.find_datasets` reads them.
    out : Path
        Gets ``splits``, ``counts.npz``, ``trees.npz`` and the table as ``training.csv``.
    n_seeds : int, default 20
    sizes : sequence of int
        Training cases; a data set with fewer is left out of that size.
    n_steps : int, optional
        Of every network; for a trial.
    scenarios : mapping of names to Scenario, optional
        In place of those of the evidence; the table numbers them.
    announce : callable
        Called with a line for each part.
    """
    if not datasets:
        raise ExperimentError("no data set was found; at least one is needed")
    check_count(n_seeds, "n_seeds", "a whole number of at least 1")
    if find_spec("torch") is None:
        raise missing_package("the study of losses", "torch")
    for package in ("libauc", "lightgbm"):
        if find_spec(package) is None:
            announce(f"{package} is not installed: its losses are left out")
    splits = out / "splits"
    write_splits([*datasets, made_up_top()], splits, n_seeds, scenarios)
    _count_alarms(splits, out, range(n_seeds), tuple(sizes), n_steps, announce)
    return write_table(splits, out)


def _count_alarms(
    splits: Path,
    out: Path,
    seeds: Sequence[int],
    sizes: tuple[int, ...],
    n_steps: int | None,
    announce: Callable[[str], object],
) -> None:
    # Imported lazily: torch is large and optional.
    from voros_studies.training.tasks import count_networks, count_tasks
    from voros_studies.training.trees import count_trees

    tasks = find_tasks(splits, sizes)
    networks = partial(count_networks, splits, seeds=seeds, n_steps=n_steps)
    count_tasks(out / "counts.npz", tasks, networks, announce)
    if find_spec("lightgbm") is not None:
        trees = partial(count_trees, splits, seeds=seeds)
        count_tasks(out / "trees.npz", tasks, trees, announce)


def write_table(splits: Path, out: Path) -> Table:
    """Turn the counts of a folder into its table."""
    paths = [path for path in (out / "counts.npz", out / "trees.npz") if path.exists()]
    table = losses_table(read_costs(paths, splits))
    for name, content in table_files([table]).items():
        save(out / name, content)
    return table
