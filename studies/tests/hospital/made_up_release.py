"""A made-up MIMIC-IV release: the real headers and types, invented patients, a planted signal.

Patients carry a hidden severity that raises the risk of death and shifts what is charted;
everything untidy that real charts hold is in it on purpose.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from voros.core.arguments import check_choice

RELEASES = ("2.0", "2.2", "3.1")

TABLE_HEADERS = MappingProxyType(
    {
        "hosp/patients": "subject_id gender anchor_age anchor_year anchor_year_group dod",
        "hosp/admissions": "subject_id hadm_id admittime dischtime deathtime admission_type "
        "admit_provider_id admission_location discharge_location insurance language "
        "marital_status race edregtime edouttime hospital_expire_flag",
        "icu/icustays": "subject_id hadm_id stay_id first_careunit last_careunit intime outtime "
        "los",
        "icu/chartevents": "subject_id hadm_id stay_id caregiver_id charttime storetime itemid "
        "value valuenum valueuom warning",
    }
)
"""The columns of each table, in the order of the release."""

NOT_IN_2_0 = frozenset({"admit_provider_id", "caregiver_id"})
"""Columns that came after 2.0."""

YEAR_GROUPS = ("2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019")
BASE_RISK, SEVERITY_ON_RISK = -2.0, 1.6
"""Log-odds of death at severity 0, and how fast they rise with it."""


@dataclass(frozen=True)
class Charted:
    """How an item is charted: unit, usual value, spread, shift with severity, readings in 48 h."""

    unit: str
    usual: float
    spread: float
    shift: float
    readings: float


ITEMS = MappingProxyType(
    {
        220045: Charted("bpm", 85.0, 12.0, 8.0, 30.0),
        220179: Charted("mmHg", 120.0, 15.0, -9.0, 25.0),
        220050: Charted("mmHg", 118.0, 15.0, -9.0, 5.0),
        220180: Charted("mmHg", 65.0, 10.0, -5.0, 25.0),
        220210: Charted("insp/min", 18.0, 4.0, 2.5, 28.0),
        224690: Charted("insp/min", 18.0, 4.0, 2.5, 3.0),
        220277: Charted("%", 97.0, 1.5, -0.8, 28.0),
        223761: Charted("°F", 98.4, 0.8, 0.1, 10.0),
        223762: Charted("°C", 36.9, 0.5, 0.05, 3.0),
        220621: Charted("mg/dL", 140.0, 40.0, 12.0, 4.0),
        220228: Charted("g/dl", 11.0, 1.8, -0.4, 3.0),
        225668: Charted("mmol/L", 1.8, 0.7, 0.9, 2.0),
        223830: Charted("units", 7.38, 0.06, -0.03, 2.0),
        227457: Charted("K/uL", 210.0, 70.0, -10.0, 3.0),
        220546: Charted("K/uL", 10.0, 3.5, 1.0, 3.0),
        220603: Charted("mg/dL", 160.0, 35.0, 0.0, 0.2),
        226512: Charted("kg", 81.0, 18.0, 0.0, 0.9),
        226707: Charted("Inch", 67.0, 4.0, 0.0, 0.5),
        226730: Charted("cm", 170.0, 10.0, 0.0, 0.3),
        220739: Charted("", 4.0, 0.5, 0.0, 6.0),
    }
)
"""What is charted; the last item, a coma score, is one that the experiment does not read."""

DUPLICATED, IMPLAUSIBLE, WITHOUT_NUMBER, ODD_UNIT = 0.05, 0.01, 0.02, 0.005
"""Shares of the rows that are there twice, are slips, carry text only, or name a strange unit."""

DIE_IN_ICU = 0.7
"""Share of the deaths in hospital that are in the ICU."""

DIE_LATER = 0.08
"""Share of the survivors whose death after the hospital stay is recorded."""

UNCHARTED = 0.04
"""Share of the stays of which nothing was charted."""

ON_CHART_HOURS = (-3.0, 70.0)
"""Hours from admission to the ICU between which readings fall: some before, many after the 48."""


@dataclass(frozen=True)
class Stay:
    """One ICU stay, and the severity that its chart shows."""

    subject_id: int
    hadm_id: int
    stay_id: int
    intime: datetime
    severity: float


def write_release(
    folder: Path, n_patients: int, *, release: str = "2.2", random_state: int = 0
) -> list[Stay]:
    """Write a made-up release as PhysioNet lays one out, and return its stays.

    A fifth of the patients come back: to the ICU within the same hospital stay, or in a later one.
    The release, one of `RELEASES`, says whose columns, years and insurances to follow.
    """
    check_choice(release, "release", RELEASES)
    rng = np.random.default_rng(random_state)
    stays = write_hospital(folder, n_patients, release=release, rng=rng)
    write_release_table(folder, "icu/chartevents", chart_rows(stays, rng), release)
    return stays


def write_hospital(
    folder: Path, n_patients: int, *, release: str, rng: np.random.Generator
) -> list[Stay]:
    """Write patients, admissions and stays, and no chart; see `write_release`."""
    hospital = _Hospital(release, rng)
    for number in range(n_patients):
        hospital.admit(10_000_000 + 7 * number)
    write_release_table(folder, "hosp/patients", hospital.patients, release)
    write_release_table(folder, "hosp/admissions", hospital.admissions, release)
    write_release_table(folder, "icu/icustays", hospital.icustays, release)
    return hospital.stays


class _Hospital:
    """Admits patients one by one, and keeps the rows of three tables."""

    def __init__(self, release: str, rng: np.random.Generator) -> None:
        self._rng = rng
        newest = release.startswith("3")
        self._groups = (*YEAR_GROUPS, "2020 - 2022") if newest else YEAR_GROUPS
        common = ("Medicare", "Medicaid", "Other")
        self._insurances = (*common, "Private", "") if newest else common
        self.patients: list[dict[str, Any]] = []
        self.admissions: list[dict[str, Any]] = []
        self.icustays: list[dict[str, Any]] = []
        self.stays: list[Stay] = []

    def admit(self, subject_id: int) -> None:
        year = int(self._rng.integers(2110, 2200))
        self.patients.append(
            {
                "subject_id": subject_id,
                "gender": self._rng.choice(["F", "M"]),
                "anchor_age": int(self._rng.integers(18, 92)),
                "anchor_year": year,
                "anchor_year_group": self._rng.choice(self._groups),
            }
        )
        came = datetime(year, 1, 1) + timedelta(minutes=int(self._rng.integers(0, 300 * 24 * 60)))
        for _ in range(1 + int(self._rng.random() < 0.12)):
            left, died = self._hospital_stay(subject_id, came)
            if died:
                return
            came = left + timedelta(days=float(self._rng.uniform(20, 400)))
        if self._rng.random() < DIE_LATER:
            self.patients[-1]["dod"] = (came + timedelta(days=200)).date()

    def _hospital_stay(self, subject_id: int, came: datetime) -> tuple[datetime, bool]:
        hadm_id = 20_000_000 + len(self.admissions)
        severity = float(self._rng.normal())
        died = bool(self._rng.random() < 1 / (1 + np.exp(-BASE_RISK - SEVERITY_ON_RISK * severity)))
        left = came + timedelta(hours=float(self._rng.uniform(2, 8)))
        for _ in range(1 + int(self._rng.random() < 0.1)):
            left = self._icu_stay(subject_id, hadm_id, left, severity)
        if died and self._rng.random() < DIE_IN_ICU:
            left = self.icustays[-1]["outtime"]
        else:
            left += timedelta(hours=float(self._rng.uniform(1, 100)))
        if died:
            self.patients[-1]["dod"] = left.date()
        self.admissions.append(
            {
                "subject_id": subject_id,
                "hadm_id": hadm_id,
                "admittime": came,
                "dischtime": left,
                "deathtime": left if died else None,
                "admission_type": "URGENT",
                "insurance": self._rng.choice(self._insurances),
                "race": "UNKNOWN",
                "hospital_expire_flag": int(died),
            }
        )
        return left, died

    def _icu_stay(self, subject_id: int, hadm_id: int, came: datetime, severity: float) -> datetime:
        stay_id = 30_000_000 + len(self.icustays)
        hours = float(self._rng.gamma(2.5, 36.0)) + 6
        left = came + timedelta(hours=hours)
        self.icustays.append(
            {
                "subject_id": subject_id,
                "hadm_id": hadm_id,
                "stay_id": stay_id,
                "first_careunit": "Medical Intensive Care Unit (MICU)",
                "last_careunit": "Medical Intensive Care Unit (MICU)",
                "intime": came,
                "outtime": left,
                "los": hours / 24,
            }
        )
        self.stays.append(Stay(subject_id, hadm_id, stay_id, came, severity))
        return left + timedelta(hours=float(self._rng.uniform(5, 30)))


def chart_rows(stays: Sequence[Stay], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield the chart of every stay, in no order of time, with all that is untidy in charts."""
    for stay in stays:
        if rng.random() < UNCHARTED:
            continue
        rows = [row for item in ITEMS for row in _readings(stay, item, rng)]
        rows += [rows[i] for i in np.flatnonzero(rng.random(len(rows)) < DUPLICATED)]
        for i in rng.permutation(len(rows)).tolist():
            yield rows[i]


def _readings(stay: Stay, item: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    how = ITEMS[item]
    center = rng.normal(how.usual + how.shift * stay.severity, how.spread / 2)
    for hours in rng.uniform(*ON_CHART_HOURS, size=rng.poisson(how.readings)).tolist():
        at = (stay.intime + timedelta(hours=hours)).replace(second=0, microsecond=0)
        number = round(float(rng.normal(center, how.spread / 2)), 2)
        fate = rng.random()
        if fate < IMPLAUSIBLE:
            number *= 1000
        odd = IMPLAUSIBLE < fate < IMPLAUSIBLE + ODD_UNIT
        text_only = fate > 1 - WITHOUT_NUMBER
        yield {
            "subject_id": stay.subject_id,
            "hadm_id": stay.hadm_id,
            "stay_id": stay.stay_id,
            "caregiver_id": 6,
            "charttime": at,
            "storetime": at + timedelta(minutes=7),
            "itemid": item,
            "value": 'Not done, "see note"' if text_only else number,
            "valuenum": None if text_only else number,
            "valueuom": "furlong" if odd else how.unit,
            "warning": 0,
        }


def write_release_table(
    folder: Path, name: str, rows: Iterable[dict[str, Any]], release: str = "2.2"
) -> None:
    """Write a table with the columns it has in a release; what a row lacks is empty."""
    columns = TABLE_HEADERS[name].split()
    kept = [column for column in columns if release != "2.0" or column not in NOT_IN_2_0]
    write_table(folder / f"{name}.csv.gz", kept, rows)


def write_table(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as a gzipped CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8", newline="", compresslevel=1) as text:
        writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            dates = {n: f"{v:%Y-%m-%d %H:%M:%S}" for n, v in row.items() if isinstance(v, datetime)}
            writer.writerow(row | dates)
