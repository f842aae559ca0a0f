"""Names and units of measurements in a table of characteristics."""

from __future__ import annotations

READABLE = {
    "age": "age, years",
    "bp_diastolic_mmHg": "diastolic blood pressure, mmHg",
    "bp_systolic_mmHg": "systolic blood pressure, mmHg",
    "heart_rate": "heart rate, per minute",
    "oxygen_saturation": "oxygen saturation, %",
    "resp_rate": "respiratory rate, per minute",
    "temp": "temperature, °C",
    "cholesterol": "cholesterol, mg/dl",
    "glucose": "glucose, mg/dl",
    "hemoglobin": "haemoglobin, g/dl",
    "lactic_acid": "lactic acid, mmol/l",
    "platelets": "platelets, thousand per µl",
    "white_blood_cell_count": "white blood cells, thousand per µl",
    "edu": "education, years",
    "dzgroup": "diagnosis",
    "dzclass": "class of diagnosis",
    "num.co": "comorbidities, number",
    "scoma": "coma score, 0 to 100",
    "ca": "cancer",
    "hday": "day in hospital at entry",
    "meanbp": "mean arterial pressure, mmHg",
    "wblc": "white blood cells, thousand per µl",
    "hrt": "heart rate, per minute",
    "resp": "respiratory rate, per minute",
    "pafi": "PaO2 / FiO2, mmHg",
    "alb": "albumin, g/dl",
    "bili": "bilirubin, mg/dl",
    "crea": "creatinine, mg/dl",
    "sod": "sodium, mmol/l",
    "ph": "arterial pH",
    "bun": "blood urea nitrogen, mg/dl",
    "urine": "urine, ml per day",
    "adlp": "activities of daily living needing help, by patient",
    "adls": "activities of daily living needing help, by relative",
    "adlsc": "activities of daily living needing help, reconciled",
}
"""Columns of MIMIC-IV, the 2012 challenge and SUPPORT2, with the units they are kept in."""


def name_with_unit(name: str) -> str:
    """Name a column of a study for a reader; in unknown names underscores become spaces.

    Examples
    --------
    >>> name_with_unit("heart_rate, mean"), name_with_unit("weight, kg"), name_with_unit("my_lab")
    ('heart rate, per minute, mean', 'weight, kg', 'my lab')
    """
    stem, comma, rest = name.partition(", ")
    return READABLE.get(stem, stem.replace("_", " ")) + comma + rest
