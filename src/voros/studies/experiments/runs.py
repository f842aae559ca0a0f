"""Fit every candidate that is not yet fitted: in parallel, within a time limit, and for keeps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from voros.studies.experiments.errors import ExperimentError
from voros.studies.experiments.folder import RunFolder, save_json
from voros.studies.experiments.grid import Candidate

TIME_LIMIT = 30 * 60.0
"""Seconds a single fit may take: the paper's half hour."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""Fits run side by side already: threads inside each would only fight over the cores."""

OnFinished = Callable[[Candidate, dict[str, Any]], None]


WORKER = "voros.studies.experiments.worker"
"""The module that a process of its own runs."""


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

    def fit(self, candidate: Candidate, time_limit: float) -> dict[str, Any]:
        """Fit one candidate; past the limit the process is killed, and so is unusable after."""
        asked = {"family": candidate.family, "parameters": candidate.parameters}
        clock = threading.Timer(time_limit, self._end_overdue)
        clock.start()
        try:
            answer = self._ask(json.dumps(asked))
        finally:
            clock.cancel()
        if answer:
            return dict(json.loads(answer))
        return {"name": candidate.name, **self._why_silent(time_limit)}

    def _end_overdue(self) -> None:
        self._overdue = True
        self._process.kill()

    def _ask(self, line: str) -> str:
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("the worker was started without pipes")
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            return self._process.stdout.readline()
        except BrokenPipeError:
            return ""

    def _why_silent(self, time_limit: float) -> dict[str, Any]:
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
    """Fit what is not yet fitted, and return the record of every candidate by name.

    Parameters
    ----------
    folder : RunFolder
        Of `open_run`. A finished fit in it is taken as it is.
    candidates : sequence of Candidate
    random_state : int, default 0
        The seed of every fit.
    jobs : int, optional
        Fits side by side; by default one per core.
    time_limit : float, default 1800
        Seconds after which a fit is killed and recorded as timed out.
    on_finished : callable, optional
        Told of each candidate and its record as it finishes, and of those finished before.

    Raises
    ------
    ExperimentError
        When results can no longer be written. Everything finished is kept.
    """
    tell = on_finished or _tell_nobody
    records, todo = _already_fitted(folder, candidates, time_limit)
    for candidate in candidates:
        if candidate.name in records:
            tell(candidate, records[candidate.name])
    if todo:
        crew = _Crew(folder, random_state, time_limit, tell)
        records |= crew.fit_all(todo, min(jobs or os.cpu_count() or 1, len(todo)))
    return {candidate.name: records[candidate.name] for candidate in candidates}


def _tell_nobody(_candidate: Candidate, _record: dict[str, Any]) -> None:
    """Take note of nothing."""


def _already_fitted(
    folder: RunFolder, candidates: Sequence[Candidate], time_limit: float
) -> tuple[dict[str, dict[str, Any]], list[Candidate]]:
    records = {}
    for candidate in candidates:
        record = folder.read_record(candidate.name)
        if record is not None and _is_settled(record, time_limit):
            records[candidate.name] = record
    return records, [candidate for candidate in candidates if candidate.name not in records]


def _is_settled(record: dict[str, Any], time_limit: float) -> bool:
    # A fit that ran out of time is worth another try only if it is given more of it.
    ran_out = record["status"] == "timed out" and record["time_limit"] >= time_limit
    return bool(record["status"] == "done" or ran_out)


class _Crew:
    """The workers of one run, each served by a thread."""

    def __init__(
        self, folder: RunFolder, random_state: int, time_limit: float, tell: OnFinished
    ) -> None:
        self._folder = folder
        self._random_state = random_state
        self._time_limit = time_limit
        self._tell = tell
        self._todo: SimpleQueue[Candidate] = SimpleQueue()
        self._records: dict[str, dict[str, Any]] = {}
        self._workers: list[FitWorker] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def fit_all(self, todo: Sequence[Candidate], jobs: int) -> dict[str, dict[str, Any]]:
        for candidate in todo:
            self._todo.put(candidate)
        with ThreadPoolExecutor(jobs) as threads:
            serving = [threads.submit(self._serve) for _ in range(jobs)]
            try:
                for thread in serving:
                    thread.result()
            finally:
                # Also on ctrl-C: threads end once their processes are gone.
                self._stopped.set()
                self._close_all()
        return self._records

    def _serve(self) -> None:
        worker: FitWorker | None = None
        while not self._stopped.is_set():
            try:
                candidate = self._todo.get_nowait()
            except Empty:
                return
            if worker is None or not worker.usable:
                worker = self._hire()
            record = worker.fit(candidate, self._time_limit)
            if not self._stopped.is_set():
                self._take(candidate, record)

    def _hire(self) -> FitWorker:
        worker = FitWorker(self._folder, self._random_state)
        with self._lock:
            self._workers.append(worker)
        return worker

    def _take(self, candidate: Candidate, record: dict[str, Any]) -> None:
        if record["status"] == "stopped":
            self._stopped.set()
            raise ExperimentError(record["reason"])
        if record["status"] != "done":
            save_json(self._folder.record(candidate.name), record)
        with self._lock:
            self._records[candidate.name] = record
            self._tell(candidate, record)

    def _close_all(self) -> None:
        with self._lock:
            for worker in self._workers:
                worker.close()
