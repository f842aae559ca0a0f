"""Time partial VOROS beside its peers, in one run, as ratios.

Timings of one machine at one time say little; ratios within a run travel better. Processor time is
counted, all calls being of one thread, so that neighbours on the machine matter less. Each row
names what it is measured against and the bound it should keep.
"""

from __future__ import annotations

import tempfile
import time
import timeit
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from reading import READERS, inside_a_process, score_process, whole_process, write_cases
from sklearn.metrics import roc_auc_score

import voros

LARGE, MEDIUM, SMALL = 10_000_000, 100_000, 7_802
PREVALENCE = 0.1
LIMITS = {"min_precision": 0.5, "capacity": 0.1, "cost_ratio": (1 / 40, 1 / 20)}

Cases = tuple[NDArray[np.int64], NDArray[np.float64]]


def make_cases(n_cases: int) -> Cases:
    rng = np.random.default_rng(0)
    y_true = (rng.random(n_cases) < PREVALENCE).astype(np.int64)
    return y_true, rng.normal(size=n_cases) + 1.5 * y_true


def seconds(call: Callable[[], object], *, at_least: float = 0.4) -> float:
    """Best of several runs, each long enough for the clock."""
    timer = timeit.Timer(call, timer=time.process_time)
    number = max(1, int(at_least / 4 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(repeat=5, number=number)) / number


def score(cases: Cases) -> float:
    return voros.partial_voros_score(*cases, **LIMITS)  # type: ignore[arg-type]


def extra_memory(cases: Cases) -> float:
    """Peak of what is allocated during a call, as a multiple of the scores."""
    tracemalloc.start()
    score(cases)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / cases[1].nbytes


def selection_seconds(n_models: int = 140, n_cases: int = 20_000) -> tuple[float, float]:
    """Time to rank many models, and to do no more than sort their scores."""
    rng = np.random.default_rng(1)
    y_true, signal = make_cases(n_cases)
    scores = {f"model {i}": signal + rng.normal(size=n_cases) for i in range(n_models)}
    scenario = voros.Scenario(**LIMITS)  # type: ignore[arg-type]
    ranking = seconds(partial(voros.select_model, y_true, scores, scenario))
    return ranking, seconds(lambda: [np.sort(column) for column in scores.values()])


def row(what: str, value: float, bound: str, kept: bool) -> None:
    print(f"{what:<58}{value:>10.2f}   {bound:<12}{'kept' if kept else 'BROKEN'}")


def reading_rows() -> None:
    """Scoring a Parquet file of ten million rows, beside reading it; see `reading`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cases.parquet")
        write_cases(file)
        beside = inside_a_process(file)
        alone = whole_process("-c", READERS["read_table"], file)
        scoring = score_process(file, "a tenth")
    for capacity, bound in (("a tenth", 0.7), ("half", 2.0), ("no limit", 2.0)):
        ratio = beside.score[capacity] / beside.read
        row(f"Parquet, capacity {capacity}: score / read", ratio, f"<= {bound:g}", ratio <= bound)
    ratio = scoring / alone
    row("voros score / a process that only reads", ratio, "<= 1.5", ratio <= 1.5)


def main() -> None:
    large, medium, small = make_cases(LARGE), make_cases(MEDIUM), make_cases(SMALL)
    ours = {len(c[0]): seconds(partial(score, c)) for c in (small, medium, large)}
    sort = {len(c[0]): seconds(partial(np.sort, c[1])) for c in (medium, large)}
    auroc = {len(c[0]): seconds(partial(roc_auc_score, *c)) for c in (small, large)}
    for size, taken in ours.items():
        print(f"partial_voros_score, n = {size:>10,}: {taken * 1e3:9.3f} ms")
    print(f"{'ratio':<58}{'measured':>10}   bound")
    ratio = ours[LARGE] / sort[LARGE]
    row("n = 1e7: ours / numpy.sort", ratio, "<= 1.5", ratio <= 1.5)
    ratio = auroc[LARGE] / ours[LARGE]
    row("n = 1e7: roc_auc_score / ours", ratio, ">= 25", ratio >= 25)
    ratio = auroc[SMALL] / ours[SMALL]
    row("n = 7,802: roc_auc_score / ours", ratio, ">= 5", ratio >= 5)
    growth, sort_growth = ours[LARGE] / ours[MEDIUM], sort[LARGE] / sort[MEDIUM]
    row("growth 1e5 to 1e7, ours / numpy.sort", growth / sort_growth, "<= 1", growth <= sort_growth)
    ranking, sorting = selection_seconds()
    row("select_model, 140 models of 20,000: seconds", ranking, "<= 1", ranking <= 1)
    ratio = ranking / sorting
    row("the same / numpy.sort of every model", ratio, "<= 8", ratio <= 8)
    memory = extra_memory(large)
    row("n = 1e7: peak extra memory / memory of the scores", memory, "<= 3", memory <= 3)
    reading_rows()


if __name__ == "__main__":
    main()
