r"""What scores show without labels: a change, the prevalence today, the expected precision.

A conformal test finds changes of the scores, harmful or not. If periods with similar numbers of
cases are exchangeable, the rank of a period's statistic among those so far, with ties broken at
random, is uniform and independent of the ranks before (Vovk, Gammerman and Shafer, 2005). So a
density of the rank, such as :math:`\kappa p^{\kappa-1}`, is a bet with mean 1. The statistics are
the share of alarms, the mean score and the standard deviation of the scores in the period. Each is
ranked among periods with similar numbers of cases, because a mean of few cases varies more.

The prevalence that recent alarms suggest, if only the share of positives has changed: under label
shift the share of alarms is :math:`a = \pi\,t + (1 - \pi) f`, with the recall t and the false
positive rate f of the validation cases (Rogan and Gladen, 1978). All three are estimates with exact
limits. A prevalence is within the interval if the two sides differ by no more than these limits
allow, with their distances added as standard deviations are. Where days vary more than independent
cases would, the limits of a are wider, as with groups (`voros.core.clusters`).

The expected precision is the mean calibrated risk of the alarms whose windows are open. Alarms from
before a change dilute that mean, so the newer half and the newest quarter of a window can warn too;
their intervals also include how much the risks vary. The expectation is right as long as a score
means the same risk as on the validation cases, however the scores change; confidence-based
performance estimation (CBPE) makes the same assumption. It is tested on the alarms whose windows
have closed: given the units before, a unit with s true alarms has :math:`\sum r_l \le E[s] \le \sum
r_h`, where :math:`r_l` and :math:`r_h` are its risks two standard errors lower and higher. :math:`1
+ \lambda (\sum r_l - s)/b` and :math:`1 + \lambda (s - \sum r_h)/b` are bets on the two ways in
which that can fail. Once they show a failure, the estimate is withdrawn for good, because a mean of
wrong risks would reassure.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.calendar import Calendar
from voros.core.calibration import Estimate
from voros.core.clusters import GroupedShare, allowance, groups_in_variance
from voros.core.exact_intervals import binomial_limits
from voros.core.risk_curve import RiskCurve
from voros.io.writing import json_text
from voros.monitoring.evidence import Evidence, ratio_bets, weigh
from voros.monitoring.precision import CURVE_POINTS, Alarms, Units, all_units
from voros.monitoring.settings import Settings, day_of
from voros.monitoring.status import Judgement, Verdict, Watch, judge
from voros.monitoring.store import PeriodTotals
from voros.policy.threshold_policy import ThresholdPolicy
from voros.text.numbers import count, counted, interval, percent, short
from voros.typing import AnyArray, BoolArray, FloatArray

POWERS = (0.2, 0.5)
"""Values of kappa in bets on ranks near 0 and near 1."""

VOLUME_RATIO = 1.5
"""Periods are compared where their numbers of cases differ by less than about this factor."""

START_SHARE = 0.04
"""Part of alpha for a change at the start, where there are few periods to compare with."""

ALIKE = 1.5
"""Standard errors above which neighbouring periods are taken as correlated."""

RECENT_PERIODS = 30
"""Number of latest periods whose alarms suggest the prevalence of today."""

PREVALENCES = np.linspace(0.0, 1.0, 10_001)
"""Grid of prevalences; three decimals are shown."""

CALIBRATION_STAKES = np.array([0.1, 0.3, 0.6])
"""Parts of the evidence that are bet on the next alarm being true, or false."""

CALIBRATION_START = 0.5
"""Part of alpha for risks that were wrong from the start; the rest is for later changes."""

FEWEST_OPEN = 30
"""Fewest open alarms that can give a warning."""

NEWER_PARTS = (2, 4)
"""The newer half and the newest quarter of a window warn too: older alarms dilute a change."""


def uniform_numbers(n: int, seed: int) -> FloatArray:
    """Return n random numbers between 0 and 1, which depend only on position and seed.

    Raw numbers of a bit generator are the same in every version of numpy.

    Examples
    --------
    >>> numbers = uniform_numbers(10_000, seed=1)
    >>> bool(abs(numbers.mean() - 0.5) < 0.01 and numbers.min() > 0)
    True
    """
    raw = np.random.Philox(seed).random_raw(n) >> np.uint64(11)
    return np.asarray((raw + 0.5) / 2.0**53)


def conformal_ranks(
    values: FloatArray, classes: AnyArray | None = None, seed: int = 0
) -> FloatArray:
    """Return the rank of each value among itself and those before, as a share, ties at random.

    With classes, it is the rank among those of the same class (Mondrian).

    Examples
    --------
    >>> ranks = conformal_ranks(np.array([3.0, 1.0, 9.0]))
    >>> bool(ranks[1] < 0.5 and ranks[2] > 2 / 3)
    True
    """
    classes = np.zeros(len(values), dtype=int) if classes is None else classes
    so_far: dict[int, list[float]] = {}
    draws, ranks = uniform_numbers(len(values), seed), np.empty(len(values))
    for place, (value, kind) in enumerate(zip(values.tolist(), classes.tolist(), strict=True)):
        seen = so_far.setdefault(kind, [])
        below, upto = bisect_left(seen, value), bisect_right(seen, value)
        ranks[place] = (below + draws[place] * (upto - below + 1)) / (len(seen) + 1)
        insort(seen, value)
    return ranks


def volume_classes(cases: FloatArray) -> AnyArray:
    """Return the class of each number of cases; a class spans a factor of `VOLUME_RATIO`.

    Examples
    --------
    >>> volume_classes(np.array([1.0, 2.0, 40.0, 41.0, 5.0])).tolist()
    [0, 1, 9, 9, 3]
    """
    return np.asarray(np.floor(np.log(cases) / np.log(VOLUME_RATIO) + 1e-9).astype(int))


def rank_bets(ranks: FloatArray) -> FloatArray:
    """Return log factors of bets on ranks near 0, and on ranks near 1."""
    columns = [
        np.log(power) + (power - 1) * np.log(side)
        for power in POWERS
        for side in (ranks, 1.0 - ranks)
    ]
    return np.column_stack(columns)


def statistics_of(periods: PeriodTotals) -> AnyArray:
    """Return the share of alarms, the mean score and the standard deviation of each period."""
    mean = periods.totals / periods.cases
    spread = np.sqrt(np.maximum(periods.squares / periods.cases - mean**2, 0.0))
    return np.column_stack([periods.alarms / periods.cases, mean, spread])


def neighbour_correlation(values: FloatArray) -> float:
    """Return the correlation of neighbours, after removing the largest change of the mean.

    Examples
    --------
    >>> wave, step = np.sin(np.arange(200) / 5), np.repeat([0.0, 9.0], 50) + np.tile([1, 0], 50)
    >>> round(neighbour_correlation(wave), 2), round(neighbour_correlation(step), 2)
    (1.0, -1.0)
    """
    n = len(values)
    if n < 3:
        return 0.0
    before, rows = np.cumsum(values)[:-1], np.arange(1, n)
    apart = (before / rows - (values.sum() - before) / (n - rows)) ** 2 * rows * (n - rows)
    split = int(np.argmax(apart)) + 1
    rest = np.concatenate([part - part.mean() for part in (values[:split], values[split:])])
    spread = float(rest @ rest)
    correlation = float(rest[1:] @ rest[:-1]) / spread if spread > 0 else 0.0
    # Two means are estimated, which lowers it by about this.
    return min(correlation + (2 + 4 * correlation) / n, 1.0)


def change_watch(
    ended: PeriodTotals, settings: Settings, name: str = "scores", unit: str = "period"
) -> Watch:
    """Judge whether the scores of periods, or stays, have changed."""
    statistics = statistics_of(ended)
    finite = np.isfinite(statistics).all(axis=1)
    statistics, begins = statistics[finite], ended.starts[finite]
    classes = volume_classes(ended.cases[finite])
    factors = np.hstack(
        [rank_bets(conformal_ranks(column, classes, i)) for i, column in enumerate(statistics.T)]
    )
    evidence = weigh(factors, settings, begins, start_share=START_SHARE)
    correlation = neighbour_correlation(statistics[:, 1])
    alike = correlation * np.sqrt(len(begins)) > ALIKE
    judgement = judge(evidence, begins, kept=False)
    changed = judgement.verdict == "broken"
    verdict: Verdict = "kept" if not changed else "unknown" if alike else "watch"
    return Watch(
        name=name,
        unit=unit,
        verdict=verdict,
        words=f"{name}: " + _words(verdict, judgement, len(begins), correlation, unit),
        n=len(begins),
        evidence=evidence.ratio,
        since=judgement.since if verdict == "watch" else None,
        noticed=judgement.noticed if verdict == "watch" else None,
        curves=lambda: {"time": begins, "mean": statistics[:, 1], "evidence": evidence.gaps},
    )


def _words(verdict: Verdict, judgement: Judgement, n: int, alike: float, unit: str) -> str:
    if verdict == "watch":
        return (
            f"watch; they have changed since about {judgement.since}, noticed on "
            f"{judgement.noticed}. A change need not be harmful: labels show whether the "
            "limits still hold"
        )
    if verdict == "unknown":
        return (
            f"unknown; they vary, but neighbouring {unit}s are correlated ({short(alike)}), and "
            "the test assumes that they are exchangeable"
            + (". Compare weeks or months with score_unit" if unit == "period" else "")
        )
    return f"no change seen over {n:,} {unit}s"


def by_unit(periods: PeriodTotals, unit: str, wider: str) -> PeriodTotals:
    """Combine the periods of a calendar into wider ones."""
    calendar, blocks = Calendar.from_name(unit), Calendar.from_name(wider)
    if calendar is None or blocks is None or not len(periods.names):
        return periods
    begins = calendar.begins(calendar.numbers_of(periods.names)).astype("datetime64[us]")
    numbers, first, codes = np.unique(
        blocks.numbers(begins), return_index=True, return_inverse=True
    )
    sums = (np.bincount(codes, column).astype(float) for column in periods[2:])
    return PeriodTotals(blocks.names(numbers), periods.starts[first], *sums)


def prevalence_in_words(
    periods: PeriodTotals, policy: ThresholdPolicy, settings: Settings
) -> str | None:
    """Return which prevalence the recent alarms suggest; None where they suggest none."""
    ratio, choice = settings.cost_ratio, policy.default
    if ratio is not None:
        choice = next(c for c in policy.choices if c.cost_ratio_low <= ratio < c.cost_ratio_high)
    alarms, cases = periods.alarms[-RECENT_PERIODS:], periods.cases[-RECENT_PERIODS:]
    fpr = choice.fp / policy.n_negative
    if not cases.sum() or not choice.recall > fpr:
        return None
    share = alarms.sum() / cases.sum()
    suggested = float(np.clip((share - fpr) / (choice.recall - fpr), 0.0, 1.0))
    validated = policy.n_positive / (policy.n_positive + policy.n_negative)
    within, origin = "no interval: validated on patients or weighted cases", policy.origin
    if origin is not None and origin.n_groups is None and isinstance(origin.n_positive, int):
        sizes, level = (origin.n_positive, origin.n_negative), 1 - settings.alpha
        ends = prevalence_interval(alarms, cases, (choice.recall, fpr), sizes, level)
        if ends is None:
            return (
                "prevalence: no share of positives explains the alarms of the last periods, so "
                "scores have changed within a class"
            )
        within = f"{percent(level)} interval {interval(*ends)}"
    return (
        f"prevalence: the alarms of the last periods suggest {short(suggested)} ({within}; "
        f"validation: {short(validated)}), if only the share of positives has changed"
    )


def prevalence_interval(
    alarms: FloatArray,
    cases: FloatArray,
    rates: tuple[float, float],
    sizes: tuple[float, float],
    confidence_level: float,
) -> tuple[float, float] | None:
    """Return the least and the largest prevalence that fit the alarms; None where none fits.

    Parameters
    ----------
    alarms, cases : ndarray of shape (n_periods,)
    rates : tuple of two floats
        Recall and false positive rate at validation.
    sizes : tuple of two floats
        Positives and negatives at validation, as observed.
    confidence_level : float

    Examples
    --------
    >>> days = np.full(30, 4.0), np.full(30, 40.0)
    >>> prevalence_interval(*days, (0.6, 0.05), (1000, 9000), 0.95)
    (0.0584, 0.1277)
    """
    n_cases, share = cases.sum(), alarms.sum() / cases.sum()
    n_days = float(groups_in_variance(cases[:, None])[0])
    errors = GroupedShare.from_counts(alarms[:, None], cases[:, None]).residuals
    independent = share * (1 - share) / n_cases
    design = max(float(np.sum(errors**2)) / independent, 1.0) if independent else 1.0
    # Of the share of alarms, the recall and the false positive rate.
    estimate = np.array([share, *rates])[:, None]
    kept = n_cases * allowance(n_days, (1 - confidence_level) / 2) / design
    of = np.array([kept, *sizes])[:, None]
    # The threshold was chosen for its rates on these cases, so their limits have half the error.
    chosen = (1 + confidence_level) / 2
    limits = [
        binomial_limits(share * n, n, sure)
        for share, n, sure in zip(estimate, of, (confidence_level, chosen, chosen), strict=True)
    ]
    low, high = np.stack(limits, axis=1)
    weight = np.stack([np.ones_like(PREVALENCES), PREVALENCES, 1 - PREVALENCES])
    over = estimate[0] - np.sum(weight[1:] * estimate[1:], axis=0)
    down, up = weight * (estimate - low), weight * (high - estimate)
    most = np.sqrt(down[0] ** 2 + np.sum(up[1:] ** 2, axis=0))
    least = np.sqrt(up[0] ** 2 + np.sum(down[1:] ** 2, axis=0))
    fits = PREVALENCES[(over <= most) & (over >= -least)]
    return (float(fits[0]), float(fits[-1])) if len(fits) else None


def curve_text(curve: RiskCurve | None) -> str:
    """Return a calibration as JSON; empty text for None."""
    return "" if curve is None else json_text(curve, indent=None)


def read_curve(text: str | None) -> RiskCurve | None:
    """Read a calibration back."""
    if not text:
        return None
    values = json.loads(text)
    arrays = {name: np.array(values[name], dtype=float) for name in ("line", "covariance")}
    return RiskCurve(**values | arrays)


def calibration_evidence(
    units: Units, risks: tuple[FloatArray, FloatArray], settings: Settings
) -> Evidence:
    """Weigh closed units against the sums of their lower and of their higher risks.

    On each side, an alarm without a label counts as the label with less evidence.
    """
    lower, higher = risks
    largest = 1.0 if units.one_true else None
    bets = [
        ratio_bets(units.alarms + excess, 1.0, units.alarms, CALIBRATION_STAKES, largest)
        for excess in (lower - units.true - units.unlabelled, units.true - higher)
    ]
    return weigh(np.hstack(bets), settings, units.begins, start_share=CALIBRATION_START)


@dataclass(frozen=True, eq=False)
class Expectation:
    """Alarms and their risks, the unit of each, and when its window closes."""

    alarms: Alarms
    curve: RiskCurve
    codes: AnyArray
    ends: FloatArray

    def open_at(self, time: float) -> BoolArray:
        """Return which alarms had an open window at a time."""
        return np.asarray((self.alarms.times <= time) & (self.ends >= time))

    def mean(self, rows: BoolArray) -> Estimate:
        """Return the expected precision of some alarms."""
        return self.curve.mean(self.alarms.scores[rows], self.codes[rows])

    def judge(self, floor: float, now: float, window: float) -> tuple[Verdict, str, dict[str, Any]]:
        """Return the verdict on the open alarms, its words, and the estimate with its interval."""
        opened = self.open_at(now)
        n_open = int(opened.sum())
        if not n_open:
            return "too early to tell", f"no window of an alarm is open (floor {floor:g})", {}
        mean, newer = self.mean(opened), ""
        is_low = n_open >= FEWEST_OPEN and mean.high < floor
        if not is_low:
            newer = self.newer_below(floor, now, window)
        words = (
            f"{short(mean.value, floor)} is expected of the {counted(n_open, 'alarm')} whose "
            f"windows are open (interval {interval(mean.low, mean.high)}; floor {floor:g}), "
            "if a risk still means what it did on validation"
        )
        values = {"estimate": mean.value, "low": mean.low, "high": mean.high}
        return "watch" if is_low or newer else "too early to tell", words + newer, values

    def newer_below(self, floor: float, now: float, window: float) -> str:
        """Return a warning where the newer open alarms are expected to be below the floor.

        The interval includes how far few alarms differ from others by chance.
        """
        for part in NEWER_PARTS:
            rows = self.open_at(now) & (self.alarms.times >= now - window / part)
            n_rows = int(rows.sum())
            if n_rows < FEWEST_OPEN:
                continue
            mean = self.mean(rows)
            excess = self.curve.risks(self.alarms.scores[rows])[0] - mean.value
            sums = np.bincount(np.unique(self.codes[rows], return_inverse=True)[1], excess)
            chance = 2 * float(np.sqrt(sums @ sums)) / n_rows
            high = mean.value + float(np.hypot(mean.high - mean.value, chance))
            if high < floor:
                newest = counted(n_rows, "newest alarm")
                return f"; {mean.value:.3f} of the {newest} (at most {high:.3f})"
        return ""

    def curves(self, now: float, withdrawn: float) -> dict[str, FloatArray]:
        """Return the expected precision over time, until withdrawn, and the observed one."""
        first = float(self.alarms.times[0]) if len(self.alarms.times) else now
        times = np.linspace(first, now, CURVE_POINTS) if first < now else np.zeros(0)
        rows = np.full((len(times), 4), np.nan)
        for row, time in zip(rows, times.tolist(), strict=True):
            opened = self.open_at(time)
            labels = self.alarms.labels[opened]
            if opened.any() and time < withdrawn:
                mean = self.mean(opened)
                row[:3] = mean.value, mean.low, mean.high
            if not np.isnan(labels).all():
                row[3] = np.nanmean(labels)
        names = ("estimate", "low", "high", "observed")
        return {"time": times, **dict(zip(names, rows.T, strict=True))}


def expected_watch(
    alarms: Alarms, curve: RiskCurve, floor: float, now: float, settings: Settings
) -> Watch:
    """Estimate the precision of open alarms, or say when the estimate was withdrawn."""
    units, codes = all_units(alarms, settings.window_seconds)
    expectation = Expectation(alarms, curve, codes, units.ends[codes])
    closed, (_, *bands) = units.ends < now, curve.risks(alarms.scores)
    ended = units.only(closed)
    low, high = (np.bincount(codes, risks, len(closed)).astype(float)[closed] for risks in bands)
    evidence, withdrawn = calibration_evidence(ended, (low, high), settings), np.inf
    at = evidence.broken_at
    if at is None:
        verdict, words, values = expectation.judge(floor, now, settings.window_seconds)
    else:
        verdict, since, withdrawn = "unknown", float(evidence.changes[at]), float(ended.ends[at])
        words = _withdrawn_in_words(ended, at, since, (low, high))
        values = {"since": day_of(since), "noticed": day_of(withdrawn)}
    return Watch(
        name="expected precision",
        verdict=verdict,
        words=f"expected precision: {verdict}; {words}",
        limit=floor,
        n=int(expectation.open_at(now).sum()),
        evidence=evidence.ratio,
        curves=lambda: expectation.curves(now, withdrawn),
        **values,
    )


def _withdrawn_in_words(
    units: Units, at: int, since: float, risks: tuple[FloatArray, FloatArray]
) -> str:
    """Say when, and what labels have shown since the risks changed."""
    rows = np.flatnonzero(units.begins[: at + 1] >= since)
    n, true, unlabelled = units.only(rows).sums
    low, high = (float(r[rows].sum()) for r in risks)
    missing = f", {count(unlabelled)} without a label" if unlabelled else ""
    return (
        f"withdrawn on {day_of(units.ends[at])}, because a risk no longer means what it did on "
        f"validation: of {counted(int(n), 'alarm')} since about {day_of(since)}, {count(true)} "
        f"were true{missing}, and {count(round(low))} to {count(round(high))} would be expected"
    )
