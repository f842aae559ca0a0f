"""PhysioNet/Computing in Cardiology Challenge 2012: 48 hours of ICU stays, open access.

The layout is ``set-a/132539.txt`` (Time, Parameter, Value) beside ``Outcomes-a.txt``; sets a, b and
c are read from a folder, from an archive, or from a folder of archives.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from voros.typing import AnyArray, BoolArray, FloatArray
from voros_studies.experiments.cases import LabelledCases, StudyContext
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.experiment import AS_PUBLISHED, RunOptions, asked_metadata
from voros_studies.experiments.folder import sha256_of
from voros_studies.experiments.rivals import compare_forecasts
from voros_studies.experiments.splits import SplitsResult, run_splits
from voros_studies.experiments.splits_summary import write_splits
from voros_studies.flow import FlowStep
from voros_studies.hospital.archives import archived_files
from voros_studies.hospital.channels import TIME_VARYING
from voros_studies.hospital.features import (
    ALL_SUMMARIES,
    BUCKET_HOURS,
    HARDLY_MEASURED,
    HOURS,
    N_BUCKETS,
    measured_recently,
    stack,
    summarise,
)
from voros_studies.hospital.layout import check_columns, check_few_left_out

SETS = ("a", "b", "c")
REMEDY = "Download it again from PhysioNet (challenge-2012 1.0.0)"

OUTCOME_COLUMNS = ("RecordID", "SAPS-I", "SOFA", "In-hospital_death")
DESCRIPTORS = ("RecordID", "Age", "Gender", "ICUType")
"""Written once, at 00:00; -1 means unknown. Weight is charted later too."""

PLAUSIBLE: Mapping[str, tuple[float, float]] = {
    "Cholesterol": (20, 1000),
    "DiasABP": (1, 250),
    "Glucose": (10, 2000),
    "HR": (1, 350),
    "Lactate": (0.05, 40),
    "NIDiasABP": (1, 250),
    "NISysABP": (1, 375),
    "pH": (6.3, 8.4),
    "Platelets": (0, 3000),
    "RespRate": (0, 150),
    "SaO2": (1, 100),
    "SysABP": (1, 375),
    "Temp": (26, 45),
    "WBC": (0, 1000),
    "Weight": (20, 500),
}
"""The parameters of the paper's channels, and the weight; others are not read. Readings beyond
the bounds, those of MIMIC-IV, are implausible and left out."""

PAPER_CHANNELS: Mapping[str, tuple[str, ...]] = {
    "bp_diastolic_mmHg": ("DiasABP", "NIDiasABP"),
    "bp_systolic_mmHg": ("SysABP", "NISysABP"),
    "heart_rate": ("HR",),
    "oxygen_saturation": ("SaO2",),
    "resp_rate": ("RespRate",),
    "temp": ("Temp",),
    "cholesterol": ("Cholesterol",),
    "glucose": ("Glucose",),
    "lactic_acid": ("Lactate",),
    "pH": ("pH",),
    "platelets": ("Platelets",),
    "white_blood_cell_count": ("WBC",),
}
"""The paper's channels that the data have, 12 of 13: there is no hemoglobin, only a hematocrit."""

LACKING = tuple(channel.name for channel in TIME_VARYING if channel.name not in PAPER_CHANNELS)

WARDS = {1: "coronary", 2: "cardiac surgery", 3: "medical", 4: "surgical"}
"""Meaning of ICUType."""

SEXES = {0: "F", 1: "M"}
RIVALS = ("SAPS-I", "SOFA")
"""Bedside scores in the outcome files."""

CHALLENGE_TITLE = "PhysioNet Challenge 2012, death in hospital"
SPLITS = 20


def run_physionet2012(
    data: str | Path,
    out: str | Path,
    options: RunOptions = AS_PUBLISHED,
    *,
    n_splits: int = SPLITS,
    sets: Sequence[str] | None = None,
    test_set: str | None = None,
) -> SplitsResult:
    """Run the study on random splits of the challenge's stays, each in a folder of its own.

    Parameters
    ----------
    data, sets
        See `read_challenge`.
    out : path-like
        The run's folder. Fits, intervals and splits in it are not repeated.
    options : RunOptions, optional
        The seed is that of the first split; the others follow.
    n_splits : int, default 20
    test_set : str, optional
        A set for testing only; the others are split into training and validation.

    Returns
    -------
    SplitsResult

    Examples
    --------
    Two splits, a dozen models:

    >>> options = RunOptions(quick=True)
    >>> run_physionet2012("challenge-2012", "study", options, n_splits=2)  # doctest: +SKIP

    What is named is looked at first:

    >>> run_physionet2012("no-such-folder", "study")
    Traceback (most recent call last):
    voros_studies.experiments.errors.ExperimentError: no-such-folder: there is no such folder or
    archive
    """
    stays = read_challenge(data, sets)
    cases, studied = challenge_cases(stays)
    held_out = _held_out(stays.set_name[studied], test_set)
    files = [Path(data)] if Path(data).is_file() else sorted(Path(data).glob("Outcomes-*.txt"))
    notes = [*(f"{path.name}: SHA-256 {sha256_of(path)}" for path in files), *stays.notes]
    options.announce("\n".join([*notes, repr(cases)]))
    options.brief([str(data)], LACKING)
    scores = {name: stays.outcomes[name][studied] for name in RIVALS}
    description = {
        "experiment": "physionet2012",
        "sets": "".join(np.unique(stays.set_name)),
        "test_set": test_set or "",
    }
    result = run_splits(
        *(CHALLENGE_TITLE, cases, Path(out), options),
        n_splits=n_splits,
        description=description,
        test=held_out if test_set else None,
        context=_context(stays, cases, studied, notes),
        find_rivals=partial(compare_forecasts, CHALLENGE_TITLE, scores),
    )
    metadata = asked_metadata(options, {**description, "first seed": options.random_state})
    noted = [("data", note) for note in notes]
    write_splits(Path(out), result, [*metadata, *noted, ("cases", repr(cases))])
    return result


def _context(
    stays: ChallengeStays, cases: LabelledCases, studied: BoolArray, notes: Sequence[str]
) -> StudyContext:
    sex, ward = (
        np.array([names.get(code, "") for code in stays.descriptors[column][studied]])
        for column, names in (("Gender", SEXES), ("ICUType", WARDS))
    )
    described = {"age": cases.feature("age"), "sex": sex, "ICU": ward}
    described["weight, kg"] = cases.feature("weight")
    described |= {name: stays.outcomes[name][studied] for name in RIVALS}
    for name, members in PAPER_CHANNELS.items():
        described[f"{name}, mean"] = ALL_SUMMARIES["mean"](stays.buckets(*members)[studied])
    left_out = "".join(f"; left out: {n:,} {what}" for what, n in stays.left_out.items())
    flow = (
        FlowStep(f"stays of 48 h or more{left_out}", len(stays)),
        FlowStep("studied", len(cases), len(stays) - len(cases), HARDLY_MEASURED),
    )
    return StudyContext(tuple(notes), flow, described)


def _held_out(sets: AnyArray, test_set: str | None) -> BoolArray:
    held_out = np.asarray(sets == test_set)
    if test_set is not None and (held_out.all() or not held_out.any()):
        there = ", ".join(np.unique(sets))
        raise ValueError(f"test_set={test_set!r}; accepted is one of several sets, here {there}")
    return held_out


@dataclass(frozen=True, eq=False, kw_only=True)
class ChallengeStays:
    """The stays of one or more sets, in the order of set and RecordID.

    ``sums`` and ``counts`` are of the plausible readings of each parameter, by stay and 2 hours;
    ``implausible`` counts the readings that were left out, and ``left_out`` the rows and stays that
    deviate from the layout, by reason.
    """

    record: AnyArray
    set_name: AnyArray
    descriptors: Mapping[str, FloatArray]
    outcomes: Mapping[str, FloatArray]
    sums: Mapping[str, FloatArray]
    counts: Mapping[str, AnyArray]
    implausible: Mapping[str, int]
    left_out: Mapping[str, int]

    def __len__(self) -> int:
        """Count the stays."""
        return len(self.record)

    def buckets(self, *parameters: str) -> FloatArray:
        """Return the mean reading of any of the parameters by stay and bucket, NaN for none."""
        total = sum(self.sums[name] for name in parameters)
        count = np.asarray(sum(self.counts[name] for name in parameters))
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    @property
    def notes(self) -> list[str]:
        """Sentences on what was read and what was left out."""
        sets = ", ".join(f"{s} {(self.set_name == s).sum()}" for s in np.unique(self.set_name))
        slips = [f"{name} {n}" for name, n in self.implausible.items() if n]
        return [
            f"PhysioNet/CinC Challenge 2012 (ODC-By), stays by set: {sets}",
            f"implausible readings left out: {', '.join(slips) or 'none'}",
            *(f"left out: {n:,} {what}" for what, n in self.left_out.items()),
        ]


def read_challenge(data: str | Path, sets: Sequence[str] | None = None) -> ChallengeStays:
    """Read the challenge's stays from a folder or an archive.

    Parameters
    ----------
    data : path-like
        A folder with ``set-a/`` and ``Outcomes-a.txt`` and the like, an archive of it (tar or
        zip), or a folder with an archive of each set.
    sets : sequence of str, optional
        Some of "a", "b", "c"; by default all that are found. Files of other sets are not read.

    Raises
    ------
    ExperimentError
        When a file is missing, or more than `MOST_LEFT_OUT` of the rows or stays deviate from the
        layout. Fewer are left out and counted.
    """
    gathered = _Gathered(Path(data))
    for name, content in _files(Path(data), SETS if sets is None else sets):
        gathered.take(name, content)
    return gathered.stays(sets)


RECORD_FILE = re.compile(r"(?:^|.*/)set-([a-c])/(\d+)\.txt")
OUTCOME_FILE = re.compile(r"(?:^|.*/)Outcomes-([a-c])\.txt")
SET_ARCHIVE = re.compile(r"set-([a-c])\.(zip|tar|tar\.(gz|xz|bz2)|tgz)")


def _files(path: Path, sets: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of every file of the sets, in folders or archives."""
    if path.is_dir():
        for inner in sorted(path.rglob("*")):
            if archive := SET_ARCHIVE.fullmatch(inner.name):
                yield from _files(inner, sets) if archive[1] in sets else ()
            elif inner.is_file() and _matters(inner.as_posix(), sets):
                yield inner.as_posix(), inner.read_bytes()
        return
    yield from archived_files(path, partial(_matters, sets=sets), REMEDY)


def _matters(name: str, sets: Sequence[str]) -> bool:
    match = RECORD_FILE.fullmatch(name) or OUTCOME_FILE.fullmatch(name)
    return match is not None and match[1] in sets


@dataclass
class _Gathered:
    """Collects files in any order."""

    source: Path
    series: dict[tuple[str, int], _Record | None] = field(default_factory=dict)
    outcomes: dict[str, dict[int, dict[str, float]]] = field(default_factory=dict)

    def take(self, name: str, content: bytes) -> None:
        text = content.decode("utf-8", errors="replace")
        if match := OUTCOME_FILE.fullmatch(name):
            self._check_new(name, match[1] in self.outcomes)
            self.outcomes[match[1]] = _read_outcomes(name, text)
        elif match := RECORD_FILE.fullmatch(name):
            key = (match[1], int(match[2]))
            self._check_new(name, key in self.series)
            self.series[key] = _read_record(key[1], text)

    def _check_new(self, name: str, known: bool) -> None:
        if known:
            raise ExperimentError(f"{self.source}: {name} is there twice. Remove one of them")

    def stays(self, sets: Sequence[str] | None) -> ChallengeStays:
        chosen = self._chosen(sets)
        left_out: Counter[str] = Counter()
        records: dict[tuple[str, int], _Record] = {}
        for name in chosen:
            records |= self._complete(name, left_out)
        outcomes = [self.outcomes[name][record] for name, record in records]
        n_rows = sum(record.n_rows for record in records.values())
        rows = sum((record.left_out for record in records.values()), Counter())
        check_few_left_out(self.source, rows.total(), n_rows, "rows cannot be read", REMEDY)
        return _put_together(records, outcomes, left_out + rows)

    def _complete(self, name: str, left_out: Counter[str]) -> dict[tuple[str, int], _Record]:
        """Return the stays of a set whose file and outcome can be read; count the others."""
        outcomes = self.outcomes[name]
        records = {
            key: record for key, record in sorted(self.series.items()) if key[0] == name and record
        }
        readable = {record for _, record in records}
        known = {record for held, record in self.series if held == name} | set(outcomes)
        for what, lacking in (
            (f"stays without a readable row in Outcomes-{name}.txt", known - set(outcomes)),
            (f"stays without a readable file in set-{name}", known - readable),
        ):
            if lacking:
                which = f"{what}, {min(lacking)} the first"
                check_few_left_out(self.source, len(lacking), len(known), which, REMEDY)
                left_out[what] += len(lacking)
        return {key: record for key, record in records.items() if key[1] in outcomes}

    def _chosen(self, sets: Sequence[str] | None) -> list[str]:
        there = sorted({name for name, _ in self.series} & set(self.outcomes))
        chosen = there if sets is None else sorted(sets)
        missing = [name for name in chosen if name not in there]
        if missing or not chosen:
            wanted = " and ".join(missing or SETS[:2])
            raise ExperimentError(
                f"{self.source}: there is no set {wanted}, with set-{wanted[0]}/ and "
                f"Outcomes-{wanted[0]}.txt. Name the folder or archive with both"
            )
        return chosen


PLACE = {name: place for place, name in enumerate(PLAUSIBLE)}
BUCKETED = (len(PLAUSIBLE), N_BUCKETS)


@dataclass
class _Record:
    """One stay: descriptors, and sums and counts of readings by parameter and bucket."""

    n_rows: int
    descriptors: dict[str, float] = field(default_factory=dict)
    sums: FloatArray = field(default_factory=partial(np.zeros, BUCKETED))
    counts: AnyArray = field(default_factory=partial(np.zeros, BUCKETED, dtype=np.int32))
    implausible: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


TIME = re.compile(r"(\d+):([0-5]\d)")
UNNAMED = "rows without the name of a parameter"
"""Set c has thousands of them."""

UNREADABLE = "rows without a time, a name and a number"


def _read_record(record: int, text: str) -> _Record | None:
    """Read the file of a stay; return None for another layout or another stay."""
    header, *lines = text.split() or [""]
    if header != "Time,Parameter,Value":
        return None
    stay = _Record(len(lines))
    # A repeated row is one reading; the order of rows does not matter.
    for line, n_rows in Counter(lines).items():
        try:
            at, parameter, value = line.split(",")
            hours, number = _hours(at), float(value)
        except ValueError:
            stay.left_out[UNREADABLE] += n_rows
            continue
        if parameter:
            _take_reading(stay, hours, parameter, number)
        else:
            stay.left_out[UNNAMED] += n_rows
    return stay if stay.descriptors.get("RecordID") == record else None


def _hours(at: str) -> float:
    match = TIME.fullmatch(at)
    if match is None:
        raise ValueError(f"{at} is not a time from 00:00 on")
    return int(match[1]) + int(match[2]) / 60


def _take_reading(stay: _Record, hours: float, parameter: str, value: float) -> None:
    if parameter in DESCRIPTORS:
        stay.descriptors[parameter] = value
        return
    unknown = parameter == "Weight" and value == -1
    if parameter not in PLAUSIBLE or hours >= HOURS or unknown:
        return
    low, high = PLAUSIBLE[parameter]
    if not low <= value <= high:
        stay.implausible[parameter] += 1
        return
    at = PLACE[parameter], int(hours // BUCKET_HOURS)
    stay.sums[at] += value
    stay.counts[at] += 1


def _read_outcomes(name: str, text: str) -> dict[int, dict[str, float]]:
    """Return the outcomes by stay, without unreadable and contradictory rows."""
    rows = csv.DictReader(io.StringIO(text))
    check_columns(Path(name), rows.fieldnames or (), OUTCOME_COLUMNS, REMEDY)
    # A repeated row is one outcome.
    distinct = {tuple(row[column] for column in OUTCOME_COLUMNS) for row in rows}
    outcomes = [outcome for row in distinct if (outcome := _outcome(row)) is not None]
    n_rows = Counter(outcome["RecordID"] for outcome in outcomes)
    return {int(row["RecordID"]): row for row in outcomes if n_rows[row["RecordID"]] == 1}


def _outcome(row: Sequence[str | None]) -> dict[str, float] | None:
    try:
        numbers = [float(value) for value in row if value is not None]
        outcome = dict(zip(OUTCOME_COLUMNS, numbers, strict=True))
    except ValueError:
        return None
    is_valid = outcome["RecordID"].is_integer() and outcome["In-hospital_death"] in (0, 1)
    return outcome if is_valid else None


def _put_together(
    records: Mapping[tuple[str, int], _Record],
    outcomes: Sequence[Mapping[str, float]],
    left_out: Mapping[str, int],
) -> ChallengeStays:
    stays = list(records.values())
    sums = np.stack([stay.sums for stay in stays], axis=1)
    counts = np.stack([stay.counts for stay in stays], axis=1)
    return ChallengeStays(
        record=np.array([record for _, record in records]),
        set_name=np.array([name for name, _ in records]),
        descriptors={
            name: _known([stay.descriptors.get(name, -1.0) for stay in stays])
            for name in DESCRIPTORS
        },
        outcomes={name: _known([row[name] for row in outcomes]) for name in OUTCOME_COLUMNS},
        sums=dict(zip(PLAUSIBLE, sums, strict=True)),
        counts=dict(zip(PLAUSIBLE, counts, strict=True)),
        implausible={name: sum(stay.implausible[name] for stay in stays) for name in PLAUSIBLE},
        left_out=left_out,
    )


def _known(values: Sequence[float]) -> FloatArray:
    numbers = np.array(values, dtype=np.float64)
    return np.where(numbers < 0, np.nan, numbers)


def challenge_cases(stays: ChallengeStays) -> tuple[LabelledCases, BoolArray]:
    """Return the studied stays with their features, and which of all stays are studied.

    Features are the paper's 8 summaries over 3 windows of the 12 of its 13 channels that the data
    have, with age, gender and mean weight. As in the paper, a stay is studied if at least 3 of the
    channels were measured in the last 16 of the 48 hours.
    """
    studied = measured_recently(stays.buckets(*names) for names in PAPER_CHANNELS.values())
    features: dict[str, FloatArray] = {}
    for name, members in PAPER_CHANNELS.items():
        features |= summarise(stays.buckets(*members)[studied], name, ALL_SUMMARIES)
    features |= {name: column[studied] for name, column in _static(stays).items()}
    X, names = stack(features)
    died = stays.outcomes["In-hospital_death"][studied] == 1
    cases = LabelledCases(X, died, stays.record[studied], names)
    cases.check_both_outcomes("the challenge's stays", REMEDY)
    return cases, studied


def _static(stays: ChallengeStays) -> dict[str, FloatArray]:
    gender = stays.descriptors["Gender"]
    return {
        "age": stays.descriptors["Age"],
        **{f"gender={word}": (gender == code) * 1.0 for code, word in SEXES.items()},
        "weight": ALL_SUMMARIES["mean"](stays.buckets("Weight")),
    }
