"""SUPPORT2: 9,105 seriously ill hospital patients, and four opinions on who would die.

The Study to Understand Prognoses and Preferences for Outcomes and Risks of
Treatments followed adults at five teaching hospitals of the United States from
1989 to 1994 [1]_. Physiology was measured on the third day of the study. Two
severity scores and the forecast of a regression model use it; the fourth opinion
is the physician's estimate. ``data/README.md`` beside this file states the origin
of the data and the terms of use.

References
----------
.. [1] Knaus WA, Harrell FE, Lynn J, et al. The SUPPORT prognostic model:
   objective estimates of survival for seriously ill hospitalized adults.
   Annals of Internal Medicine 1995; 122:191-203.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.io.frames import make_frame
from voros.typing import AnyArray, BoolArray

Table: TypeAlias = dict[str, AnyArray]
"""Columns by name."""

OutcomeName: TypeAlias = Literal[
    "hospital_death",
    "hospital_death_within_7_days",
    "death_within_2_months",
    "death_within_6_months",
]
"""The outcomes of `Support2.outcome`."""

_OUTCOMES: Mapping[str, tuple[str, str, float]] = {
    "hospital_death": ("hospdead", "slos", np.inf),
    "hospital_death_within_7_days": ("hospdead", "slos", 7),
    "death_within_2_months": ("death", "d.time", 60),
    "death_within_6_months": ("death", "d.time", 180),
}
"""Columns of the event and of its day, and the last day that counts."""

_COLUMNS = {
    "features": "age sex race edu income dzgroup dzclass num.co scoma ca diabetes dementia hday "
    "meanbp wblc hrt resp temp pafi alb bili crea sod ph glucose bun urine adlp adls adlsc",
    "outcomes": "hospdead slos death d.time dnr dnrday",
    "prognoses": "sps aps surv2m prg2m surv6m prg6m",
}
"""The variables of each table, in order."""

_KINDS: Mapping[type, str] = {
    str: "sex race income dzgroup dzclass ca dnr",
    int: "num.co hday slos d.time",
    bool: "diabetes dementia hospdead death",
}
"""Types of the columns that are not measurements."""


@dataclass(frozen=True, eq=False, repr=False)
class Support2:
    """The patients of SUPPORT2, one row each, in the order of the original file.

    Each table is a dict of arrays by column. Column names are those of the original
    file. A missing number is NaN, a missing word an empty string. The arrays of
    `load_support2` are read-only: copy one before changing it.

    Parameters
    ----------
    features : dict of str to ndarray
        Data from early in the stay, with physiology of the third study day.

        - who: ``age`` (years), ``sex``, ``race``, ``edu`` (years of schooling),
          ``income`` (US dollars a year, four bands);
        - illness: ``dzgroup`` and its coarser ``dzclass``, ``num.co`` (number of
          other illnesses), ``ca`` (cancer: no, yes or metastatic), ``diabetes``,
          ``dementia``, ``scoma`` (coma score, 0 to 100), ``hday`` (day of the
          hospital stay on which the study began);
        - physiology: ``meanbp`` (mean arterial pressure), ``wblc`` (white cells,
          thousands), ``hrt`` (heart rate), ``resp`` (breaths a minute), ``temp``
          (Celsius), ``pafi`` (PaO2/FiO2), ``alb`` (albumin), ``bili`` (bilirubin),
          ``crea`` (creatinine), ``sod`` (sodium), ``ph`` (arterial), ``glucose``,
          ``bun`` (urea nitrogen), ``urine`` (output);
        - daily living, number of activities needing help: ``adlp`` (said by the
          patient), ``adls`` (by a relative), ``adlsc`` (the two reconciled, with
          gaps filled by the study).
    outcomes : dict of str to ndarray
        Later events: ``hospdead`` (died in this hospital stay), ``slos`` (days from
        entering the study to discharge or death in hospital), ``death`` and
        ``d.time`` (died during follow-up; its days), ``dnr`` and ``dnrday`` (when
        resuscitation was declined). The last two are no features: where nobody
        declined, ``dnrday`` repeats ``slos``.
    prognoses : dict of str to ndarray
        Four risks, where higher is worse: ``"SPS"``, the SUPPORT physiology score;
        ``"APACHE III"``, the acute physiology score; ``"SUPPORT model"`` and
        ``"physicians"``, their estimates of the risk of death within two months.
        NaN where none was recorded, as for 1,649 estimates of physicians.
    six_month_prognoses : dict of str to ndarray
        The risk of death within six months, from ``"SUPPORT model"`` and
        ``"physicians"``.

    Examples
    --------
    >>> data = load_support2()
    >>> data
    Support2(9105 patients, 7456 with all four prognoses)
    >>> complete = data.with_all_prognoses()
    >>> died = complete.outcome("hospital_death_within_7_days")
    >>> int(died.sum())
    608
    >>> list(complete.prognoses)
    ['SPS', 'APACHE III', 'SUPPORT model', 'physicians']
    """

    features: Table
    outcomes: Table
    prognoses: Table
    six_month_prognoses: Table

    def __len__(self) -> int:
        """Return the number of patients."""
        return len(self.outcomes["death"])

    def __repr__(self) -> str:
        complete = int(self._has_all_prognoses().sum())
        return f"Support2({len(self)} patients, {complete} with all four prognoses)"

    def take(self, rows: AnyArray | slice) -> Support2:
        """Return the patients marked by a mask, or those at the given positions.

        Examples
        --------
        >>> data = load_support2()
        >>> len(data.take(data.features["dzgroup"] == "Coma"))
        596
        """
        tables = (self.features, self.outcomes, self.prognoses, self.six_month_prognoses)
        return Support2(
            *({name: column[rows] for name, column in table.items()} for table in tables)
        )

    def with_all_prognoses(self) -> Support2:
        """Return the patients with all four prognoses.

        Examples
        --------
        >>> len(load_support2().with_all_prognoses())
        7456
        """
        return self.take(self._has_all_prognoses())

    def outcome(self, name: OutcomeName) -> BoolArray:
        """Return whether each patient had the outcome called ``name``.

        Parameters
        ----------
        name : str
            - ``"hospital_death"``: died in this hospital stay;
            - ``"hospital_death_within_7_days"``: died in this hospital stay by the
              seventh day after entering the study;
            - ``"death_within_2_months"``, ``"death_within_6_months"``: died anywhere
              within 60 or 180 days, which is known for every patient.

        Examples
        --------
        >>> data = load_support2()
        >>> round(float(data.outcome("hospital_death").mean()), 3)
        0.259
        """
        if name not in _OUTCOMES:
            accepted = ", ".join(_OUTCOMES)
            raise ValueError(f"name={name!r} is not an outcome of SUPPORT2; accepted: {accepted}")
        event, days, most = _OUTCOMES[name]
        return np.logical_and(self.outcomes[event], self.outcomes[days] <= most)

    def frame(self, backend: str | None = None) -> Any:
        """Return features, outcomes and prognoses side by side as a data frame.

        Missing numbers stay NaN, and missing words become nulls.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library to use; by default the first one that is installed.
        """
        columns = {
            name: [word or None for word in column.tolist()] if column.dtype.kind == "U" else column
            for name, column in (self.features | self.outcomes | self.prognoses).items()
        }
        return make_frame(columns, backend)

    def _has_all_prognoses(self) -> BoolArray:
        risks = np.column_stack(list(self.prognoses.values()))
        return np.asarray(~np.isnan(risks).any(axis=1))


def load_support2() -> Support2:
    """Load SUPPORT2, which is part of the package and not downloaded.

    The file is read once; later calls return the same arrays.

    Returns
    -------
    Support2
        Features, outcomes and prognoses of 9,105 patients.

    Examples
    --------
    Who ranked the early hospital deaths best?

    >>> from sklearn.metrics import roc_auc_score
    >>> data = load_support2().with_all_prognoses()
    >>> died = data.outcome("hospital_death_within_7_days")
    >>> for forecaster, risk in data.prognoses.items():
    ...     print(f"{forecaster:13} {roc_auc_score(died, risk):.3f}")
    SPS           0.773
    APACHE III    0.773
    SUPPORT model 0.860
    physicians    0.874
    """
    return _every_patient().take(slice(None))


@cache
def _every_patient() -> Support2:
    variables = _read_variables()
    kind_of = {name: kind for kind, names in _KINDS.items() for name in names.split()}
    parts = {
        part: {name: _column(variables[name], kind_of.get(name, float)) for name in names.split()}
        for part, names in _COLUMNS.items()
    }
    raw = parts["prognoses"]
    risks = {
        "SPS": raw["sps"],
        "APACHE III": raw["aps"],
        "SUPPORT model": 1.0 - raw["surv2m"],
        "physicians": 1.0 - raw["prg2m"],
    }
    later_risks = {"SUPPORT model": 1.0 - raw["surv6m"], "physicians": 1.0 - raw["prg6m"]}
    tables = (parts["features"], parts["outcomes"], risks, later_risks)
    for table in tables:
        for column in table.values():
            column.flags.writeable = False
    return Support2(*tables)


def _read_variables() -> dict[str, list[str]]:
    packed = files("voros.datasets").joinpath("data", "support2.csv.gz").read_bytes()
    text = gzip.decompress(packed).decode("ascii")
    # A line holds one variable, which compresses better by a quarter than one patient. No
    # value contains a comma, so no other parsing is needed.
    lines = (line.split(",") for line in text.splitlines())
    return {name: values for name, *values in lines}


def _column(values: Sequence[str], kind: type) -> AnyArray:
    if kind is str:
        return np.array(values)
    # Parsing each distinct value once takes less than half the time.
    numbers = {value: float(value or "nan") for value in set(values)}
    return np.array([numbers[value] for value in values]).astype(kind)
