"""Fit candidates in parallel, each within a time limit; finished fits are kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import RunFolder, save_json
from voros_studies.experiments.grid import Candidate

TIME_LIMIT = 30 * 60.0
"""Seconds a single fit may take: the paper's half hour."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""Fits run in parallel already, so each gets one thread."""

OnFinished = Callable[[Candidate, dict[str, Any]], None]

WORKER = "voros_studies.experiments.worker"
"""The module that a worker process runs."""


class FitWorker:
    """A worker process and the pipe to it."""

    def __init__(self, folder: RunFolder, random_state: int) -> None:
        self._overdue = False
        source = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-m", WORKER, str(folder.root), str(random_state)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("the worker was started without pipes")
        self._questions, self._answers = self._process.stdin, self._process.stdout

    def wait_until_ready(self) -> None:
        """Wait for the imports, which take seconds on a busy machine and are not part of a fit."""
        self._answers.readline()

    def fit(self, candidate: Candidate, time_limit: float) -> dict[str, Any]:
        """Fit one candidate; beyond the time limit kill the process, which ends its use."""
        asked = {"family": candidate.family, "parameters": candidate.parameters}
        clock = threading.Timer(time_limit, self._end_overdue)
        clock.start()
        try:
            answer = self._ask(json.dumps(asked))
        finally:
            clock.cancel()
        if answer:
            return dict(json.loads(answer))
        return {"name": candidate.name, **self._why_no_answer(time_limit)}

    def _end_overdue(self) -> None:
        self._overdue = True
        self._process.kill()

    def _ask(self, line: str) -> str:
        try:
            self._questions.write(line + "\n")
            self._questions.flush()
            return self._answers.readline()
        except BrokenPipeError:
            return ""

    def _why_no_answer(self, time_limit: float) -> dict[str, Any]:
        code = self._process.wait()
        if self._overdue:
            return {"status": "timed out", "time_limit": time_limit}
        return {"status": "failed", "reason": f"the process ended with code {code}"}

    @property
    def usable(self) -> bool:
        """Whether the process still answers."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.communicate()


def run_grid(
    folder: RunFolder,
    candidates: Sequence[Candidate],
    *,
    random_state: int = 0,
    jobs: int | None = None,
    time_limit: float = TIME_LIMIT,
    on_finished: OnFinished | None = None,
) -> dict[str, dict[str, Any]]:
    """Fit the candidates without a finished fit, and return every record by name.

    ``folder`` comes from `open_run`; finished fits in it are kept. A fit is killed
    after ``time_limit`` seconds and recorded as timed out. ``on_finished`` is called with each
    candidate and its record as it finishes, and with those finished before. Where results can no
    longer be written, an `ExperimentError` is raised and everything finished is kept.
    """
    records, todo = {}, []
    for candidate in candidates:
        record = folder.read_record(candidate.name)
        if record is None or not _is_settled(record, time_limit):
            todo.append(candidate)
            continue
        records[candidate.name] = record
        if on_finished:
            on_finished(candidate, record)
    if todo:
        pool = _WorkerPool(folder=folder, random_state=random_state, time_limit=time_limit)
        with closing(pool.fit_all(todo, min(jobs or os.cpu_count() or 1, len(todo)))) as fits:
            for candidate, record in fits:
                records[candidate.name] = _kept(folder, record)
                if on_finished:
                    on_finished(candidate, record)
    return {candidate.name: records[candidate.name] for candidate in candidates}


def _kept(folder: RunFolder, record: dict[str, Any]) -> dict[str, Any]:
    """Write the record of a failed fit; the worker writes those of finished fits."""
    if record["status"] == "stopped":
        raise ExperimentError(record["reason"])
    if record["status"] != "done":
        save_json(folder.record(record["name"]), record)
    return record


def _is_settled(record: dict[str, Any], time_limit: float) -> bool:
    # Repeat a fit that ran out of time only if it now has more.
    ran_out = record["status"] == "timed out" and record["time_limit"] >= time_limit
    return bool(record["status"] == "done" or ran_out)


@dataclass(kw_only=True)
class _WorkerPool:
    """The worker processes of one run, each used by one thread at a time."""

    folder: RunFolder
    random_state: int
    time_limit: float
    workers: list[FitWorker] = field(default_factory=list)
    idle: SimpleQueue[FitWorker] = field(default_factory=SimpleQueue)
    stopped: threading.Event = field(default_factory=threading.Event)

    def fit_all(
        self, todo: Sequence[Candidate], jobs: int
    ) -> Generator[tuple[Candidate, dict[str, Any]], None, None]:
        """Yield each candidate with its record as it finishes."""
        with ThreadPoolExecutor(jobs) as threads:
            fits = {threads.submit(self._fit, candidate): candidate for candidate in todo}
            try:
                for fit in as_completed(fits):
                    yield fits[fit], fit.result()
            finally:
                # Also on ctrl-C: threads end when their processes do.
                self.stopped.set()
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in self.workers:
                    worker.close()

    def _fit(self, candidate: Candidate) -> dict[str, Any]:
        worker = self._worker()
        record = worker.fit(candidate, self.time_limit)
        if record["status"] == "stopped":
            self.stopped.set()
        if worker.usable:
            self.idle.put(worker)
        return record

    def _worker(self) -> FitWorker:
        if self.stopped.is_set():
            raise CancelledError
        try:
            return self.idle.get_nowait()
        except Empty:
            worker = FitWorker(self.folder, self.random_state)
            self.workers.append(worker)
            worker.wait_until_ready()
            return worker
