"""PhysioNet/Computing in Cardiology Challenge 2019: hourly rows of ICU stays, and sepsis.

The layout is ``training_setA/p000001.psv``: one file for each stay, one row for each hour, 40
columns and ``SepsisLabel``, which is 1 from six hours before the onset. Folders and archives of
files of this layout are read alike, whatever their names are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from voros.typing import AnyArray, BoolArray, FloatArray
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import digest
from voros_studies.hospital.archives import archived_files
from voros_studies.hospital.layout import check_few_left_out

VITALS = ("HR", "O2Sat", "Temp", "SBP", "MAP", "DBP", "Resp", "EtCO2")
LABS = (
    *("BaseExcess", "HCO3", "FiO2", "pH", "PaCO2", "SaO2", "AST", "BUN", "Alkalinephos"),
    *("Calcium", "Chloride", "Creatinine", "Bilirubin_direct", "Glucose", "Lactate", "Magnesium"),
    *("Phosphate", "Potassium", "Bilirubin_total", "TroponinI", "Hct", "Hgb", "PTT", "WBC"),
    *("Fibrinogen", "Platelets"),
)
MEASURED = (*VITALS, *LABS)
DESCRIBED = ("Age", "Gender", "Unit1", "Unit2", "HospAdmTime", "ICULOS")
COLUMNS = (*MEASURED, *DESCRIBED)
LABEL = "SepsisLabel"
LABEL_LEAD = 6
"""Hours from the first row whose label is 1 to the onset."""

STAY_FILE = re.compile(r"(?:^|.*/)(p\d+)\.psv")
REMEDY = "Download it again from PhysioNet (challenge-2019 1.0.0)"


@dataclass(frozen=True, eq=False, kw_only=True)
class HourlyStays:
    """The rows of all stays, one stay after the other.

    Attributes
    ----------
    names : tuple of str
        Of the stays, in the order of their files' names.
    stay : ndarray of int, shape (n_rows,)
        The stay of each row, from 0.
    values : ndarray of float32, shape (n_rows, 40)
        In the order of `COLUMNS`; NaN where nothing was measured.
    label : ndarray of bool, shape (n_rows,)
    deviations : mapping of str to int
        Kinds of deviation from the layout, and how often they occur.
    """

    names: tuple[str, ...]
    stay: AnyArray
    values: FloatArray
    label: BoolArray
    deviations: Counter[str]

    def __len__(self) -> int:
        """Count the stays."""
        return len(self.names)

    @cached_property
    def first(self) -> AnyArray:
        """The first row of each stay."""
        return np.searchsorted(self.stay, np.arange(len(self)))

    @cached_property
    def hour(self) -> AnyArray:
        """Number of the row within its stay, from 0: the clock of the Challenge's own score."""
        return np.arange(len(self.stay)) - self.first[self.stay]

    @cached_property
    def onset(self) -> FloatArray:
        """Hour of the onset of each stay, infinite where there is none."""
        onset = np.full(len(self), np.inf)
        rows = np.flatnonzero(self.label)[::-1]
        onset[self.stay[rows]] = self.hour[rows] + LABEL_LEAD
        return onset

    @property
    def septic(self) -> BoolArray:
        """Which stays have an onset."""
        return np.isfinite(self.onset)

    def column(self, name: str) -> FloatArray:
        """Return a column by its name."""
        return self.values[:, COLUMNS.index(name)]

    @cached_property
    def fingerprint(self) -> str:
        """A digest that identifies the data."""
        return digest(" ".join(self.names), self.stay, self.values, self.label)

    @property
    def notes(self) -> list[str]:
        """Sentences on what was read and what deviates from the layout."""
        counted = ", ".join(f"{name} {n:,}" for name, n in self.deviations.items() if n)
        at_start = int(np.count_nonzero(self.onset == LABEL_LEAD))
        return [
            f"PhysioNet/CinC Challenge 2019 (CC BY 4.0): {len(self):,} stays, "
            f"{len(self.stay):,} hours, {np.count_nonzero(self.septic):,} with sepsis",
            f"stays whose first row is labelled already, so that the onset may be earlier than "
            f"taken: {at_start:,}",
            f"deviations from the layout: {counted or 'none'}",
        ]


def read_hours(data: str | Path) -> HourlyStays:
    """Read the stays of a folder or an archive, file by file.

    Rows that do not have a number in each of the 41 places are left out, files that lack columns
    or rows too, as long as they are few; all are counted, as are rows whose hour does not follow
    the one before and labels that fall back to 0.

    Returns
    -------
    HourlyStays

    Examples
    --------
    >>> read_hours("no-such-folder")
    Traceback (most recent call last):
    voros_studies.experiments.errors.ExperimentError: no-such-folder: there is no such folder or
    archive
    """
    deviations: Counter[str] = Counter()
    stays: dict[str, FloatArray] = {}
    for name, content in _files(Path(data)):
        rows = _read_stay(content.decode("utf-8", errors="replace"), deviations)
        if not len(rows):
            deviations["files left out"] += 1
        elif name in stays:
            raise ExperimentError(f"{data}: the stay {name} is there twice. Remove one of them")
        else:
            stays[name] = rows
    if not stays:
        raise ExperimentError(
            f"{data}: there is no stay in it. Name the folder or archive with files such as "
            "training_setA/p000001.psv"
        )
    names = sorted(stays)
    values = np.concatenate([stays[name] for name in names])
    n_files = deviations["files left out"]
    check_few_left_out(data, n_files, n_files + len(stays), "files cannot be read", REMEDY)
    n_rows = deviations["rows left out"] + deviations["rows without a label left out"]
    check_few_left_out(data, n_rows, n_rows + len(values), "rows cannot be read", REMEDY)
    return HourlyStays(
        names=tuple(names),
        stay=np.repeat(np.arange(len(names)), [len(stays[name]) for name in names]),
        values=values[:, :-1],
        label=values[:, -1] == 1,
        deviations=deviations,
    )


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each stay."""
    if path.is_dir():
        for file in sorted(path.rglob("p*.psv")):
            if STAY_FILE.fullmatch(file.as_posix()):
                yield file.stem, file.read_bytes()
        return
    for name, content in archived_files(path, STAY_FILE.fullmatch, REMEDY):
        yield Path(name).stem, content


def _read_stay(text: str, deviations: Counter[str]) -> FloatArray:
    """Return the rows of a stay: the 40 columns, then the label."""
    head, *lines = text.split() or [""]
    places = {name: place for place, name in enumerate(head.split("|"))}
    wanted = (*COLUMNS, LABEL)
    if not places.keys() >= set(wanted) or not lines:
        return np.empty((0, len(wanted)), dtype=np.float32)
    order = [places[name] for name in wanted]
    rows = _parse(lines, len(places), deviations)[:, order]
    labelled = np.isin(rows[:, -1], (0, 1))
    deviations["rows without a label left out"] += int(np.count_nonzero(~labelled))
    rows = rows[labelled]
    deviations["hours that do not follow"] += int(np.count_nonzero(np.diff(rows[:, -2]) != 1))
    deviations["labels that fall back"] += int(np.count_nonzero(np.diff(rows[:, -1]) < 0))
    return rows


def _parse(lines: list[str], n_fields: int, deviations: Counter[str]) -> FloatArray:
    """Return the numbers of lines; those that are not lines of numbers are left out."""
    try:
        rows = np.loadtxt(lines, delimiter="|", dtype=np.float32, ndmin=2)
        if rows.shape[1] == n_fields:
            return np.asarray(rows)
    except ValueError:
        pass
    kept = []
    for line in lines:
        try:
            row = [float(field) for field in line.split("|")]
        except ValueError:
            row = []
        if len(row) == n_fields:
            kept.append(row)
    deviations["rows left out"] += len(lines) - len(kept)
    return np.asarray(np.array(kept, dtype=np.float32).reshape(len(kept), n_fields))
