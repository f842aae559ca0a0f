"""Scores on a device and on the CPU, beside sorting, scikit-learn and torchmetrics.

Draws float32 scores and bool labels, a tenth of them positive and 1.2 standard deviations higher,
and times all ways in turn, once each is warm: the median of several rounds, with the device
synchronised. Extra memory is the peak beyond the arrays themselves: of the device's allocator, or
of this process where Linux says it.

    python benchmarks/devices.py --device cuda --cases 1e5 1e7 1e9
    python benchmarks/devices.py --device cpu --cases 1e5 1e7
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import voros

SCENARIOS = {
    "voros, capacity 0.1": voros.Scenario(capacity=0.1, cost_ratio=(1 / 40, 1 / 20)),
    "voros, no limits": voros.Scenario(cost_ratio=(1 / 9, 1 / 6)),
}

SELECTIONS = {
    "select_model, precision 0.2, capacity 0.1": voros.Scenario(0.2, 0.1, (1 / 40, 1 / 20)),
    "select_model, no limits": voros.Scenario(cost_ratio=(1 / 9, 1 / 6)),
}
"""Of two models, the second one 1.1 standard deviations apart."""

LONGEST = 20.0
"""Seconds after which a way is not timed again."""

CLEAR_PEAK = Path("/proc/self/clear_refs")
"""Where Linux forgets the peak of a process's memory, if 5 is written there."""

MOST_IN_MEMORY = 10**8
"""Cases up to which the slower ways are timed on a CPU: they take minutes and tens of GB beyond."""


def draw(n_cases: int, device: str, seed: int = 0) -> tuple[Any, Any]:
    source = "cuda" if torch.cuda.is_available() else device
    generator = torch.Generator(device=source).manual_seed(seed)
    ill = torch.rand(n_cases, device=source, generator=generator) < 0.1
    return ill.to(device), scores_of(ill, generator, 1.2).to(device)


def scores_of(ill: Any, generator: Any, apart: float) -> Any:
    """Draw scores; those of the ill are `apart` standard deviations higher."""
    score = torch.randn(len(ill), device=ill.device, generator=generator)
    for first in range(0, len(ill), 2**26):
        part = slice(first, first + 2**26)
        score[part] += apart * ill[part]
    return score


def ways(ill: Any, score: Any, device: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, scenario in SCENARIOS.items():
        yield name, partial(voros.partial_voros_score, ill, score, scenario)
    yield from selections(ill, score)
    if device == "cpu":
        yield from _in_memory(ill.numpy(), score.numpy())
        if len(score) > MOST_IN_MEMORY:
            return
    yield "torch.sort", lambda: torch.sort(score)
    auroc = _torchmetrics()
    if auroc is not None:
        yield "torchmetrics AUROC", lambda: float(auroc(score, ill.int()))
        unchecked = partial(auroc, validate_args=False)
        yield "torchmetrics AUROC, unchecked", lambda: float(unchecked(score, ill.int()))


def selections(ill: Any, score: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    generator = torch.Generator(device=score.device).manual_seed(1)
    models = {"a": score, "b": scores_of(ill, generator, 1.1)}
    for name, scenario in SELECTIONS.items():
        yield name, partial(voros.select_model, ill, models, scenario)


def _in_memory(ill: Any, score: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "numpy.sort", lambda: np.sort(score)
    if len(score) <= MOST_IN_MEMORY:
        from sklearn.metrics import roc_auc_score

        yield "scikit-learn AUROC", lambda: roc_auc_score(ill, score)


def _torchmetrics() -> Any:
    try:
        from torchmetrics.functional.classification import binary_auroc
    except ImportError:
        return None
    return binary_auroc


def first_call(action: Callable[[], Any], device: str) -> dict[str, Any]:
    """Call once, which may compile, and see how much memory a second call takes for a while."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer, seconds = _timed(action, device)
    gc.collect()
    extra = (_memory_on_cuda if device == "cuda" else _memory_of_process)(action)
    return {"first_ms": 1e3 * seconds, "extra_gib": extra, "answer": answer}


def _memory_on_cuda(action: Callable[[], Any]) -> float:
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    _timed(action, "cuda")
    return float(torch.cuda.max_memory_allocated() - before) / 2**30


def _memory_of_process(action: Callable[[], Any]) -> float | None:
    if not CLEAR_PEAK.exists():
        return None
    # What an earlier call has freed must not serve this one unseen.
    ctypes.CDLL(None).malloc_trim(0)
    CLEAR_PEAK.write_text("5")
    before = _peak()
    action()
    return _peak() - before


def _peak() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20


def _timed(action: Callable[[], Any], device: str) -> tuple[float | None, float]:
    """Return the answer where it is a score, and the seconds it took."""
    start = time.perf_counter()
    answer = action()
    if device == "cuda":
        torch.cuda.synchronize()
    return answer if isinstance(answer, float) else None, time.perf_counter() - start


def compare(n_cases: int, device: str, repeats: int) -> list[dict[str, Any]]:
    """Time every way: the first call, and then all of them in turn, so that none is the coldest."""
    actions = dict(ways(*draw(n_cases, device), device))
    rows: dict[str, dict[str, Any]] = {
        name: {"cases": n_cases, "device": device, "way": name} for name in actions
    }
    for name in list(actions):
        try:
            rows[name] |= first_call(actions[name], device)
        except torch.cuda.OutOfMemoryError:
            rows[name] |= {"error": "out of memory"}
            del actions[name]
    times = {name: [rows[name]["first_ms"]] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            if times[name][0] < 1e3 * LONGEST:
                times[name].append(1e3 * _timed(action, device)[1])
    for name, taken in times.items():
        rows[name]["ms"] = statistics.median(taken[1:] or taken)
    for row in rows.values():
        print(json.dumps(row), flush=True)
    return list(rows.values())


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| cases | device | way | time | extra memory |", "|---|---|---|---|---|"]
    for row in rows:
        took = f"{row['ms']:.3g} ms" if "ms" in row else row["error"]
        extra = row.get("extra_gib")
        memory = "" if extra is None else f"{extra:.3f} GiB"
        lines.append(f"| {row['cases']:.0e} | {row['device']} | {row['way']} | {took} | {memory} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--cases", nargs="+", type=float, default=[1e5, 1e7])
    parser.add_argument("--repeats", type=int, default=25)
    options = parser.parse_args()
    rows = []
    for n_cases in options.cases:
        rows += compare(int(n_cases), options.device, options.repeats)
    print(table(rows))


if __name__ == "__main__":
    main()
