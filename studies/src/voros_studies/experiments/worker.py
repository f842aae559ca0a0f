"""A process that fits one candidate after another and can be killed at any time.

It is started as ``python -m voros_studies.experiments.worker FOLDER SEED``, reads candidates as
lines of JSON from its standard input, and answers each with the fit's record. A separate process,
rather than a thread or a fork, is what lets a time limit really end a fit.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import (
    SCORED_PARTS,
    RunFolder,
    run_versions,
    save,
    save_json,
    scores_text,
)
from voros_studies.experiments.grid import Candidate
from voros_studies.experiments.model_file import make_candidate


def fit_candidate(
    folder: RunFolder, arrays: Mapping[str, Any], candidate: Candidate, random_state: int
) -> dict[str, Any]:
    """Fit, predict, write both prediction files and then the record; return the record."""
    estimator = candidate.estimator(random_state)
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(arrays["X_train"], arrays["y_train"])
        scores = {part: estimator.predict_proba(arrays[f"X_{part}"])[:, 1] for part in SCORED_PARTS}
    seconds = time.process_time() - started
    for part, score in scores.items():
        text = scores_text(arrays[f"patient_{part}"], arrays[f"y_{part}"], score)
        save(folder.prediction(candidate.name, part), text)
    record = _record(candidate, random_state, seconds, caught)
    save_json(folder.record(candidate.name), record)
    return record


def _record(
    candidate: Candidate,
    random_state: int,
    seconds: float,
    caught: list[warnings.WarningMessage],
) -> dict[str, Any]:
    # Stopping after one iteration is one of the paper's settings: not converging is recorded, and
    # no reason to stop.
    unfinished = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    return {
        "name": candidate.name,
        "status": "done",
        "family": candidate.family,
        "parameters": candidate.parameters,
        "random_state": random_state,
        "seconds": round(seconds, 3),
        "finished": time.time(),
        "converged": not unfinished,
        "warnings": sorted({str(w.message) for w in caught if w not in unfinished}),
        "versions": run_versions(),
    }


def serve(folder: RunFolder, random_state: int) -> None:
    """Announce that the imports are done, then fit candidates until the standard input ends."""
    # Output of libraries must not mix with the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    with np.load(folder.features) as packed:
        arrays = {name: packed[name] for name in packed.files}
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        candidate = make_candidate(asked["family"], asked["parameters"])
        try:
            answer = fit_candidate(folder, arrays, candidate, random_state)
        except ExperimentError as error:
            answer = {"name": candidate.name, "status": "stopped", "reason": str(error)}
        except Exception as error:  # One failed fit must not end the others.
            reason = f"{type(error).__name__}: {error}"
            answer = {"name": candidate.name, "status": "failed", "reason": reason}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    root, seed = cast("tuple[str, str]", sys.argv[1:3])
    # The parent process may have been killed; the fit is kept.
    with suppress(BrokenPipeError):
        serve(RunFolder(Path(root)), int(seed))
