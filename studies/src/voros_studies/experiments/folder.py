"""The folder of a run: its files, and how a run recognises its folder."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.installing import package_versions
from voros.io import write_whole
from voros.text.table import csv_text
from voros.typing import AnyArray, BoolArray, FloatArray
from voros_studies.experiments.cases import LabelledCases, Split, fill_and_scale
from voros_studies.experiments.errors import ExperimentError, explaining_full_disk

Part: TypeAlias = Literal["valid", "test"]
SCORED_PARTS: tuple[Part, ...] = ("valid", "test")
"""The parts that models score."""

PREDICTION_COLUMNS = ("patient", "y_true", "proba_y_eq_1")
"""The authors' layout, so that tools for their files read ours."""

RECORDED_PACKAGES = ("voros", "numpy", "scipy", "scikit-learn", "duckdb", "pyarrow")


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run.

    Examples
    --------
    >>> folder = RunFolder(Path("runs/support2"))
    >>> folder.prediction("LR_C=10", "valid").as_posix()
    'runs/support2/predictions/LR_C=10_valid.csv'
    """

    root: Path

    def prediction(self, name: str, part: Part) -> Path:
        """Return the file of a model's scores."""
        return self.root / "predictions" / f"{name}_{part}.csv"

    def record(self, name: str) -> Path:
        """Return the file of a fit's record; written last, so its presence means *finished*."""
        return self.root / "fits" / f"{name}.json"

    @property
    def features(self) -> Path:
        """The arrays that the fits read."""
        return self.root / "features.npz"

    @property
    def run(self) -> Path:
        """Data, versions and seed of the run."""
        return self.root / "run.json"

    def read_record(self, name: str) -> dict[str, Any] | None:
        """Return the record of a fit, or None if it never finished."""
        path = self.record(name)
        return dict(json.loads(path.read_text())) if path.exists() else None


def save(path: Path, data: bytes | str) -> None:
    """Write a file of the run, whole or not at all, even if the process is killed."""
    with explaining_full_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data, force=True)


def save_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a mapping as readable JSON, whole or not at all."""
    save(path, json.dumps(content, indent=2) + "\n")


def finished_or_computed(
    path: Path, identity: Mapping[str, Any], compute: Callable[[], Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the finished record of the same identity, or compute and save it.

    The record includes the seconds of processor time.
    """
    held: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if held.get("identity") == identity:
        return held
    started = time.process_time()
    content = compute()
    seconds = round(time.process_time() - started, 2)
    save_json(path, {"identity": identity, "seconds": seconds, **content})
    return dict(json.loads(path.read_text()))


def digest(*content: str | AnyArray) -> str:
    """Return a digest of texts and arrays, which identifies finished work.

    Examples
    --------
    >>> digest("a", np.array([1.0]))[:8] == digest("a", np.array([2.0]))[:8]
    False
    """
    sha = hashlib.sha256()
    for part in content:
        data = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes()
        sha.update(len(data).to_bytes(8, "big") + data)
    return sha.hexdigest()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, so that others can compare theirs."""
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def file_name(text: str) -> str:
    """Return a text without characters that file names must not have.

    Examples
    --------
    >>> file_name("model selected by partial VOROS"), file_name("SAPS-I")
    ('model_selected_by_partial_VOROS', 'SAPS-I')
    """
    return re.sub(r"[^\w=.-]+", "_", text)


def run_versions() -> dict[str, str]:
    """Return the versions of the platform, Python and the packages that compute."""
    return {"platform": platform.platform(), **package_versions(*RECORDED_PACKAGES)}


def hardware() -> str:
    """Describe the machine."""
    cores = os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        size = f", {memory:.0f} GiB of memory"
    except (AttributeError, OSError, ValueError):  # Windows has no such call
        size = ""
    return f"{cores} cores of {platform.processor() or platform.machine()}{size}"


def open_run(
    root: Path, cases: LabelledCases, split: Split, description: Mapping[str, Any]
) -> RunFolder:
    """Create the folder of a run, or open the existing one.

    Raises
    ------
    ExperimentError
        When the folder holds another run: other data, another split or another seed.
    """
    folder = RunFolder(root)
    identity = {"fingerprint": cases.fingerprint, **description}
    if folder.run.exists():
        _check_same_run(folder, identity)
    with explaining_full_disk(folder.run):
        for place in (folder.prediction("", "valid"), folder.record("")):
            place.parent.mkdir(parents=True, exist_ok=True)
    if not folder.run.exists():
        sizes = {part: len(rows) for part, rows in split.parts.items()}
        save_json(folder.run, {"identity": identity, "sizes": sizes, "versions": run_versions()})
    if not folder.features.exists():
        _write_features(folder, cases, split)
    return folder


def _check_same_run(folder: RunFolder, identity: Mapping[str, Any]) -> None:
    held = json.loads(folder.run.read_text())["identity"]
    differing = sorted(key for key in {*held, *identity} if held.get(key) != identity.get(key))
    if differing:
        raise ExperimentError(
            f"{folder.run}: the folder holds another run, with a different {', '.join(differing)}. "
            "Name another output folder, or remove this one to start over"
        )


def _write_features(folder: RunFolder, cases: LabelledCases, split: Split) -> None:
    arrays: dict[str, Any] = {"feature_names": np.array(cases.feature_names)}
    scaled = fill_and_scale(*(cases.X[rows] for rows in split.parts.values()))
    for X, (part, chosen) in zip(scaled, split.parts.items(), strict=True):
        arrays[f"X_{part}"] = X
        arrays[f"y_{part}"] = cases.y[chosen]
        arrays[f"patient_{part}"] = cases.patient[chosen]
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    save(folder.features, packed.getvalue())


def scores_text(patient: AnyArray, y_true: BoolArray, score: FloatArray) -> str:
    r"""Return a model's scores as text in the authors' layout, with every digit.

    Examples
    --------
    >>> scores_text(np.array([7]), np.array([True]), np.array([0.1]))
    'patient,y_true,proba_y_eq_1\n7,1,0.1\n'
    """
    rows = zip(patient.tolist(), y_true.astype(int).tolist(), score.tolist(), strict=True)
    return csv_text(PREDICTION_COLUMNS, rows)


def read_scores(path: Path) -> tuple[AnyArray, BoolArray, FloatArray]:
    """Read patients, labels and scores from a file in the authors' layout.

    Raises
    ------
    ExperimentError
        When the file is missing or damaged.
    """
    try:
        with path.open(encoding="utf-8") as lines:
            header = tuple(next(lines, "").strip().split(","))
            if header != PREDICTION_COLUMNS:
                raise ValueError(f"its columns are {', '.join(header)}")
            patient, y_true, score = np.loadtxt(lines, delimiter=",", ndmin=2, unpack=True)
        return patient.astype(np.int64), y_true.astype(bool), score
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ExperimentError(
            f"{path}: not readable as predictions ({reason}). Remove it and the record of the same "
            "name under fits/, and run the command again: only that model is fitted again"
        ) from error
