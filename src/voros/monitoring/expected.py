r"""The precision to expect of alarms whose labels are still to come, and whether to expect it.

The expected precision is the mean calibrated risk of the alarms whose windows are open. It is right
as long as a score means the same risk as on the validation cases, whatever happens to the scores;
confidence-based performance estimation (CBPE) rests on the same assumption. So the assumption is
tested on the alarms whose windows have closed: given the units before, a unit with s true alarms
has :math:`\sum r_l \le E[s] \le \sum r_h`, where :math:`r_l` and :math:`r_h` are its risks two
standard errors lower and higher. :math:`1 + \lambda (\sum r_l - s)/b` and :math:`1 + \lambda (s -
\sum r_h)/b` are bets on the two ways in which that can fail. Once they show that it has failed, the
estimate is withdrawn for good: a mean of wrong risks would reassure.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voros.core.calibration import Estimate
from voros.core.risk_curve import RiskCurve
from voros.io.documents import read_document
from voros.io.writing import json_text
from voros.monitoring.evidence import Evidence, ratio_bets, weigh
from voros.monitoring.precision import CURVE_POINTS, Alarms, Units, all_units
from voros.monitoring.settings import Settings, day_of
from voros.monitoring.status import Verdict, Watch, counted
from voros.typing import AnyArray, BoolArray, FloatArray

CALIBRATION_STAKES = np.array([0.1, 0.3, 0.6])
"""Parts of the evidence that are put on the next alarm being true, or false."""

CALIBRATION_START = 0.5
"""Part of alpha for risks that were wrong from the start; the rest is for later changes."""

FEWEST_OPEN = 30
"""Alarms without which no warning is given."""

IF = "if a risk still means what it did on validation"


def curve_text(curve: RiskCurve | None) -> str:
    """Return a calibration as JSON; nothing where there is none."""
    return "" if curve is None else json_text(curve, indent=None)


def read_curve(text: str | None) -> RiskCurve | None:
    """Read a calibration back."""
    if not text:
        return None
    values: dict[str, Any] = read_document(text, "calibration of a monitor").value
    ends, knots = (tuple(values[name]) for name in ("ends", "knots"))
    matrices = {name: np.array(values[name], dtype=float) for name in ("line", "covariance")}
    return RiskCurve(on_logits=values["on_logits"], ends=ends, knots=knots, **matrices)


def calibration_evidence(
    units: Units, risks: tuple[FloatArray, FloatArray], settings: Settings
) -> Evidence:
    """Weigh units that have closed against the sums of their risks, lower and higher ones.

    An alarm without a label counts as what makes least evidence, on each side.
    """
    lower, higher = risks
    largest = 1.0 if units.one_true else None
    bets = [
        ratio_bets(units.alarms + excess, 1.0, units.alarms, CALIBRATION_STAKES, largest)
        for excess in (lower - units.true - units.unlabelled, units.true - higher)
    ]
    weights = np.full(2 * len(CALIBRATION_STAKES), 0.5 / len(CALIBRATION_STAKES))
    return weigh(
        np.hstack(bets),
        weights,
        settings.alpha,
        settings.run_length,
        begins=units.begins,
        start_share=CALIBRATION_START,
    )


def expected_watch(
    alarms: Alarms,
    curve: RiskCurve,
    floor: float,
    now: float,
    settings: Settings,
    *,
    curves: bool = False,
) -> Watch:
    """Expect the precision of open alarms, or say since when nothing is expected any more."""
    units, codes = all_units(alarms, settings.window_seconds)
    closed = units.ends < now
    ended = units.only(closed)
    risks = _sums_by_unit(curve, alarms, codes, closed)
    evidence = calibration_evidence(ended, risks, settings)
    at, ends = evidence.broken_at, units.ends[codes]
    withdrawn = np.inf if at is None else float(ended.ends[at])
    mean = _expected(alarms, codes, ends, curve, now)
    n_open = int((ends >= now).sum())
    verdict: Verdict = "too early to tell"
    if at is not None:
        verdict, words = "unknown", _withdrawn_in_words(ended, at, evidence.changes[at], risks)
    elif mean is None:
        words = f"no window of an alarm is open (floor {floor:g})"
    else:
        verdict = "watch" if n_open >= FEWEST_OPEN and mean.high < floor else verdict
        words = _open_in_words(mean, n_open, floor)
    shown = {} if mean is None or at is not None else vars(mean)
    return Watch(
        name="expected precision",
        verdict=verdict,
        words=f"expected precision: {verdict}; {words}",
        limit=floor,
        estimate=shown.get("value"),
        low=shown.get("low"),
        high=shown.get("high"),
        n=n_open,
        evidence=evidence.ratio,
        since=None if at is None else day_of(evidence.changes[at]),
        noticed=None if at is None else day_of(withdrawn),
        history=_curves(alarms, codes, ends, curve, (now, withdrawn)) if curves else {},
    )


def _sums_by_unit(
    curve: RiskCurve, alarms: Alarms, codes: AnyArray, closed: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the lower and of the higher risks of units that have closed."""
    _, *ends = curve.risks(alarms.scores)
    low, high = (np.bincount(codes, risks, len(closed)).astype(float)[closed] for risks in ends)
    return low, high


def _expected(
    alarms: Alarms, codes: AnyArray, ends: FloatArray, curve: RiskCurve, time: float
) -> Estimate | None:
    """Expect the precision of the alarms that were open at a time."""
    rows = (alarms.times <= time) & (ends >= time)
    return curve.mean(alarms.scores[rows], codes[rows]) if rows.any() else None


def _curves(
    alarms: Alarms,
    codes: AnyArray,
    ends: FloatArray,
    curve: RiskCurve,
    until: tuple[float, float],
) -> dict[str, FloatArray]:
    """Return what was expected over time, until it was withdrawn, and what labels showed."""
    now, withdrawn = until
    first = float(alarms.times[0]) if len(alarms.times) else now
    times = np.linspace(first, now, CURVE_POINTS) if first < now else np.zeros(0)
    rows = np.full((len(times), 4), np.nan)
    for row, time in enumerate(times.tolist()):
        mean = _expected(alarms, codes, ends, curve, time)
        if mean is not None and time < withdrawn:
            rows[row, :3] = mean.value, mean.low, mean.high
        labels = alarms.labels[(alarms.times <= time) & (ends >= time)]
        labels = labels[~np.isnan(labels)]
        rows[row, 3] = labels.mean() if len(labels) else np.nan
    return {
        "time": times,
        **dict(zip(("estimate", "low", "high", "observed"), rows.T, strict=True)),
    }


def _open_in_words(mean: Estimate, n: int, floor: float) -> str:
    return (
        f"{mean.value:.3f} is expected of the {counted(n, 'alarm')} whose windows are open "
        f"(interval {mean.low:.3f} to {mean.high:.3f}; floor {floor:g}), {IF}"
    )


def _withdrawn_in_words(
    units: Units, at: int, since: float, risks: tuple[FloatArray, FloatArray]
) -> str:
    """Say when, and what was seen since the risks changed."""
    rows = np.flatnonzero(units.begins[: at + 1] >= since)
    n, true, unlabelled = units.only(rows).sums
    low, high = (float(r[rows].sum()) for r in risks)
    missing = f" and {unlabelled:,.0f} have no label" if unlabelled else ""
    return (
        f"withdrawn on {day_of(units.ends[at])}, because a risk no longer means what it did on "
        f"validation: of {counted(int(n), 'alarm')} since about {day_of(since)} {true:,.0f} were "
        f"true{missing}, and {low:,.0f} to {high:,.0f} would be expected"
    )
