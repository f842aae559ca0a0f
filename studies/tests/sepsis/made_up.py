"""Stays in the layout of the Challenge of 2019, with a signal before the onset."""

from __future__ import annotations

import numpy as np

from voros_studies.sepsis.hours import COLUMNS, LABEL, MEASURED

HEADER = "|".join((*COLUMNS, LABEL))
NORMAL = {"HR": 85, "O2Sat": 97, "Temp": 36.9, "SBP": 122, "MAP": 82, "DBP": 62, "Resp": 18}
NORMAL |= {"Lactate": 1.5, "WBC": 10, "Creatinine": 1.0, "Platelets": 220, "FiO2": 0.3}


def stay_rows(rng, n_hours, onset=None):
    """The rows of a stay as numbers: vital signs most hours, laboratory values now and then."""
    rows = np.full((n_hours, len(COLUMNS) + 1), np.nan)
    hour = np.arange(n_hours)
    rise = 0 * hour if onset is None else np.clip(1 - (onset - hour) / 14, 0, 1)
    for name, level in NORMAL.items():
        signal = 1 + 0.35 * rise if name in {"HR", "Resp", "Lactate"} else 1
        values = level * signal * (1 + 0.05 * rng.normal(size=n_hours))
        known = rng.random(n_hours) < (0.85 if name in MEASURED[:7] else 0.15)
        rows[:, COLUMNS.index(name)] = np.where(known, values.round(2), np.nan)
    for name, value in {"Age": 60, "Gender": 1, "HospAdmTime": -0.5}.items():
        rows[:, COLUMNS.index(name)] = value
    rows[:, COLUMNS.index("ICULOS")] = hour + 1
    rows[:, -1] = 0 if onset is None else hour >= onset - 6
    return rows


def text_of(rows):
    lines = ("|".join("NaN" if np.isnan(v) else f"{v:g}" for v in row) for row in rows)
    return "\n".join([HEADER, *lines]) + "\n"


def write_stays(folder, n_stays, seed=0, first=1):
    """Write stays, a fifth of them septic, and return their rows by name."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for number in range(first, first + n_stays):
        n_hours = int(rng.integers(20, 50))
        onset = int(rng.integers(12, n_hours)) if number % 5 == 0 else None
        rows = stay_rows(rng, n_hours, onset)
        written[f"p{number:06d}"] = rows
        (folder / f"p{number:06d}.psv").write_text(text_of(rows))
    return written
