"""The MIMIC-IV features once more: plain Python, one reading at a time, from the files themselves.

Nothing of the package is used. What is the same is the definition, written out here a second time
from the paper's tables and from the page in docs/.
"""

from __future__ import annotations

import csv
import gzip
import math
import statistics
from collections import defaultdict
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

ITEM_TO_CHANNEL = {
    224643: "bp_diastolic_mmHg", 225310: "bp_diastolic_mmHg", 220180: "bp_diastolic_mmHg",
    220051: "bp_diastolic_mmHg", 227243: "bp_systolic_mmHg", 224167: "bp_systolic_mmHg",
    220179: "bp_systolic_mmHg", 225309: "bp_systolic_mmHg", 220050: "bp_systolic_mmHg",
    220603: "cholesterol", 220621: "glucose", 226537: "glucose", 220045: "heart_rate",
    226730: "height", 226707: "height", 220228: "hemoglobin", 225668: "lactic_acid",
    220277: "oxygen_saturation", 220227: "oxygen_saturation", 223830: "pH", 220274: "pH",
    227457: "platelets", 224422: "resp_rate", 220210: "resp_rate", 224689: "resp_rate",
    224690: "resp_rate", 223762: "temp", 223761: "temp", 224639: "weight", 226512: "weight",
    220546: "white_blood_cell_count",
}  # fmt: skip

VITALS_AND_LABS = sorted(set(ITEM_TO_CHANNEL.values()) - {"weight", "height"})

PLAUSIBLE = {
    "bp_diastolic_mmHg": (1, 250), "bp_systolic_mmHg": (1, 375), "heart_rate": (1, 350),
    "oxygen_saturation": (1, 100), "resp_rate": (0, 150), "temp": (26, 45),
    "cholesterol": (20, 1000), "glucose": (10, 2000), "hemoglobin": (1, 30),
    "lactic_acid": (0.05, 40), "pH": (6.3, 8.4), "platelets": (0, 3000),
    "white_blood_cell_count": (0, 1000), "weight": (20, 500), "height": (100, 250),
}  # fmt: skip

START_HOUR = {"0-48h": 0, "24-48h": 24, "32-48h": 32}


def read_table(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S")


def died(stay: dict, patient: dict, admission: dict, outcome: str) -> bool:
    if outcome == "hospital":
        return admission["hospital_expire_flag"] == "1"
    if not patient["dod"]:
        return False
    day = datetime.strptime(patient["dod"], "%Y-%m-%d")
    return moment(stay["intime"]) <= day <= moment(stay["outtime"])


def cohort(folder: Path, outcome: str = "icu", min_hours: float = 50.0) -> dict[int, dict]:
    patients = {row["subject_id"]: row for row in read_table(folder / "hosp/patients.csv.gz")}
    admissions = {row["hadm_id"]: row for row in read_table(folder / "hosp/admissions.csv.gz")}
    kept = {}
    for stay in read_table(folder / "icu/icustays.csv.gz"):
        patient, admission = patients[stay["subject_id"]], admissions[stay["hadm_id"]]
        came = moment(stay["intime"])
        if not stay["outtime"] or moment(stay["outtime"]) - came < timedelta(hours=min_hours):
            continue
        if admission["deathtime"] and moment(admission["deathtime"]) - came <= timedelta(hours=48):
            continue
        kept[int(stay["stay_id"])] = {
            "patient": int(stay["subject_id"]),
            "intime": came,
            "died": died(stay, patient, admission, outcome),
            "age": int(patient["anchor_age"]) + came.year - int(patient["anchor_year"]),
            "gender": patient["gender"],
            "insurance": admission["insurance"],
        }
    return kept


def in_channel_unit(item: int, number: float, unit: str) -> float | None:
    word = unit.lower().replace(" ", "")
    if item in (223761, 223762):
        fahrenheit = {"°f": True, "°c": False, "": item == 223761}.get(word)
        if fahrenheit is None:
            return None
        return (number - 32) * 5 / 9 if fahrenheit else number
    if item in (226707, 226730):
        inches = {"inch": True, "cm": False, "": item == 226707}.get(word)
        return None if inches is None else number * (2.54 if inches else 1)
    return None if word == "furlong" else number


def charted(folder: Path, stays: dict[int, dict]) -> dict[tuple[int, str], list]:
    """Readings by stay and channel: the minute since admission, and the value."""
    readings: dict[tuple[int, str], list] = defaultdict(list)
    seen = set()
    for row in read_table(folder / "icu/chartevents.csv.gz"):
        stay, item = int(row["stay_id"]), int(row["itemid"])
        if stay not in stays or item not in ITEM_TO_CHANNEL or not row["valuenum"]:
            continue
        same = (stay, item, row["charttime"], float(row["valuenum"]), row["valueuom"])
        if same in seen:
            continue
        seen.add(same)
        seconds = (moment(row["charttime"]) - stays[stay]["intime"]).total_seconds()
        channel = ITEM_TO_CHANNEL[item]
        value = in_channel_unit(item, float(row["valuenum"]), row["valueuom"])
        low, high = PLAUSIBLE[channel]
        if 0 <= seconds < 48 * 3600 and value is not None and low <= value <= high:
            readings[stay, channel].append((seconds, value))
    return readings


def by_bucket(readings: list) -> dict[int, float]:
    grouped = defaultdict(list)
    for seconds, value in readings:
        grouped[int(seconds // 7200)].append(value)
    return {bucket: math.fsum(values) / len(values) for bucket, values in grouped.items()}


def summaries(series: dict[int, float]) -> dict[str, float]:
    nan = math.nan
    if not series:
        missing = ("time since last", "mean", "variance", "min", "median", "max", "slope")
        return {"ever measured": 0.0, **dict.fromkeys(missing, nan)}
    values = list(series.values())
    return {
        "ever measured": 1.0,
        "time since last": 48.0 - 2 * (max(series) + 1),
        "mean": statistics.fmean(values),
        "variance": statistics.pvariance(values),
        "min": min(values),
        "median": statistics.median(values),
        "max": max(values),
        "slope": slope(series),
    }


def slope(series: dict[int, float]) -> float:
    """In exact fractions, by the normal equations."""
    n = len(series)
    if n < 2:
        return math.nan
    hours = [Fraction(2 * bucket) for bucket in series]
    values = [Fraction(value) for value in series.values()]
    top = n * sum(h * v for h, v in zip(hours, values, strict=True)) - sum(hours) * sum(values)
    return float(top / (n * sum(h * h for h in hours) - sum(hours) ** 2))


def slow_features(folder: Path, outcome: str = "icu", min_hours: float = 50.0) -> dict[int, dict]:
    """Patient, outcome and every feature of each stay that is studied, by stay."""
    stays = cohort(folder, outcome, min_hours)
    readings = charted(folder, stays)
    studied = {}
    for stay, record in sorted(stays.items()):
        series = {name: by_bucket(readings[stay, name]) for name in PLAUSIBLE}
        recent = [name for name in VITALS_AND_LABS if any(b >= 16 for b in series[name])]
        if len(recent) >= 3:
            studied[stay] = {**record, "features": features_of(record, series)}
    return studied


def features_of(record: dict, series: dict[str, dict[int, float]]) -> dict[str, float]:
    features = {}
    for name in VITALS_AND_LABS:
        for window, start in START_HOUR.items():
            inside = {b: v for b, v in series[name].items() if 2 * b >= start}
            for summary, value in summaries(inside).items():
                features[f"{name} {summary} {window}"] = value
    known = {"Medicare", "Medicaid", "Private", "Other", "No charge", ""}
    insurance = record["insurance"] if record["insurance"] in known else "Other"
    for word in known - {""}:
        features[f"insurance={word}"] = float(insurance == word)
    for word in "FM":
        features[f"gender={word}"] = float(record["gender"] == word)
    weights = series["weight"].values()
    features["weight"] = statistics.fmean(weights) if weights else math.nan
    features["age"] = float(record["age"])
    return features
