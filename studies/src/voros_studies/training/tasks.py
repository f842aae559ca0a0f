"""Fit every loss on every data set and size, and keep the counts of alarms in a file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

from voros_studies.training.fitting import N_STEPS, Fitter, fit_task
from voros_studies.training.partial_auc import start_fits
from voros_studies.training.splits import Task

Counts = dict[str, np.ndarray]


def count_tasks(
    path: Path,
    tasks: Iterable[Task],
    count: Callable[[Task], Counts],
    announce: Callable[[str], object] = str,
) -> None:
    """Run the tasks that a file does not hold yet; save all results after each."""
    counts = read_counts(path)
    for task in tasks:
        if f"{task.name}, cases" in counts:
            continue
        began = time.perf_counter()
        filed = {f"{task.name}, {name}": values for name, values in count(task).items()}
        counts |= filed
        save_counts(path, counts)
        announce(f"{path.stem} of {task.name}: {time.perf_counter() - began:.0f} s")


def count_networks(
    folder: Path, task: Task, seeds: Sequence[int], n_steps: int | None = None
) -> Counts:
    """Fit all losses with both architectures on every seed; return their counts, and the cases."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    fitter = Fitter.read(folder, task, seeds, device)
    n_jobs = max(1, (os.cpu_count() or 1) - 1)
    with ProcessPoolExecutor(n_jobs, get_context("spawn")) as executor:
        path = folder / f"{task.data}.npz"
        rival = partial(start_fits, executor, path, task.n_train, seeds, n_steps)
        counts = fit_task(fitter, rival if find_spec("libauc") else None, n_steps or N_STEPS)
    return {**counts, "cases": fitter.n_cases}


def read_counts(path: Path) -> Counts:
    """Read the file of `save_counts`; return an empty result if it does not exist."""
    if not path.exists():
        return {}
    with np.load(path) as held:
        return {name: held[name] for name in held.files}


def save_counts(path: Path, results: Counts) -> None:
    """Write everything to a new file, then replace the old one."""
    unfinished = path.with_name("unfinished.npz")
    np.savez_compressed(unfinished, allow_pickle=False, **results)
    unfinished.replace(path)
