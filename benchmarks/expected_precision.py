"""Expected precision before labels arrive, in four worlds, beside CBPE.

Run ``python benchmarks/expected_precision.py PART [n]``: ``worlds`` (n streams of each world),
``null`` (false withdrawals where the assumption holds) or ``figure``. docs/theory/monitoring.md has
the results. Thirty cases come every day; a policy is validated on the first year, and the labels of
its alarms come 60 days late. After 180 days of deployment something changes, or nothing.

CBPE (confidence-based performance estimation) is written down here after NannyML's documentation:
risks are calibrated by isotonic regression on the reference (here the validation cases), the
estimate of a chunk is the mean risk of its alarms, and an alert is an estimate outside the mean
plus or minus three standard deviations of the precision realised in the chunks of the reference.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

import voros
from voros.core.risk_curve import RiskCurve
from voros.monitoring.precision import Alarms, closed_units, precision_watch
from voros.monitoring.settings import SECONDS_PER_DAY, Settings
from voros.monitoring.status import Watch
from voros.monitoring.unlabelled import FEWEST_OPEN, Expectation, expected_watch
from voros.typing import AnyArray, BoolArray, FloatArray

FLOOR, PER_DAY, CHUNK = 0.45, 30, 900
VALIDATION, CHANGE, DAYS, WINDOW = 365, 545, 790, 60
WORLDS = ("none", "covariate shift", "concept drift", "both")
NEVER = 10**6


class World(NamedTuple):
    """A stream of cases: the day, the score and the outcome of each."""

    day: AnyArray
    score: FloatArray
    positive: BoolArray

    def part(self, rows: Any) -> World:
        """Return some of the cases."""
        return World(self.day[rows], self.score[rows], self.positive[rows])


def risk_of(log_odds: FloatArray) -> FloatArray:
    """Return the risk of log odds."""
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def world(kind: str, seed: int) -> World:
    """Draw a stream; the score is the risk, until it is not.

    Covariate shift brings borderline patients, whose risk is as before. Concept drift makes the
    outcome rarer at every score (log odds lower by 1); with both it is more frequent (by .6).
    """
    rng, n = np.random.default_rng(seed), PER_DAY * DAYS
    day = np.repeat(np.arange(DAYS), PER_DAY)
    before, borderline, drawn = rng.normal(0, 1, n), rng.normal(0.75, 0.3, n), rng.random(n)
    shifted = (day >= CHANGE) & (kind in ("covariate shift", "both"))
    place = np.where(shifted, borderline, before)
    drift = np.where(day >= CHANGE, {"concept drift": -1.0, "both": 0.6}.get(kind, 0.0), 0.0)
    log_odds = -2.2 + 1.6 * place
    return World(day, risk_of(log_odds), drawn < risk_of(log_odds + drift))


def policy_of(cases: World) -> voros.ThresholdPolicy:
    """Choose a threshold with 90 % confidence in the floor."""
    scenario = voros.Scenario(min_precision=FLOOR, capacity=0.2, cost_ratio=(1 / 6, 1 / 2))
    return voros.ThresholdPolicy.from_validation(
        cases.positive, cases.score, scenario, guarantee=voros.Guarantee(0.9), n_models=1
    )


class Said(NamedTuple):
    """What was said in a stream, or in each of several; days are counted from the change.

    Attributes
    ----------
    before, after : float
        True precision.
    expected : float
        Mean of what was expected of alarms after the change, while it was stated.
    watch, withdrawn, broken : float
        The first day of *expected precision: watch*, of its withdrawal, and the first day on which
        labels showed precision to be broken.
    cbpe : float
        Mean estimate of the chunks after the change.
    alerts_before, alerts_after : float
        Chunks with an alert.
    alert : float
        The first day of an alert after the change.
    """

    before: Any
    after: Any
    expected: Any
    watch: Any
    withdrawn: Any
    broken: Any
    cbpe: Any
    alerts_before: Any
    alerts_after: Any
    alert: Any


def listen(kind: str, seed: int) -> Said:
    """Run one stream through the monitor's code, and through CBPE."""
    cases = world(kind, seed)
    valid, rest = (cases.part(rows) for rows in (cases.day < VALIDATION, cases.day >= VALIDATION))
    policy = policy_of(valid)
    threshold, curve = policy.threshold(), RiskCurve.from_cases(valid.positive, valid.score)
    raised = rest.part(rest.score >= threshold)
    changed, settings = raised.day >= CHANGE, Settings(window=WINDOW)
    final = expected_watch(_alarms(raised), curve, FLOOR, _now(DAYS + 1), settings)
    withdrawn = _day(final.noticed)
    daily = [(day, *_expected(raised, curve, day)) for day in range(VALIDATION, DAYS)]
    below = [
        day
        for day, n, _, high in daily
        if (n >= FEWEST_OPEN and high < FLOOR) or _newer(raised, curve, day)
    ]
    stated = [value for day, _, value, _ in daily if CHANGE + WINDOW < day < withdrawn]
    return Said(
        float(raised.positive[~changed].mean()),
        float(raised.positive[changed].mean()),
        float(np.mean(stated)) if stated else np.nan,
        min([day for day in below if day < withdrawn], default=CHANGE + NEVER) - CHANGE,
        withdrawn - CHANGE,
        _broken(raised, settings) - CHANGE,
        *cbpe(valid, rest, threshold),
    )


def _now(day: float) -> float:
    return SECONDS_PER_DAY * day


def _day(date: str | None) -> float:
    return CHANGE + NEVER if date is None else float(np.datetime64(date, "D").astype(int))


def _alarms(raised: World) -> Alarms:
    """Return alarms with their labels, which nobody sees before the window has closed."""
    times, labels = _now(1) * raised.day, raised.positive.astype(float)
    return Alarms(times, [None] * len(times), labels, labels, raised.score)


def _expected(raised: World, curve: RiskCurve, day: int) -> tuple[int, float, float]:
    """Return how many alarms are open on a day, what to expect of them, and the upper end."""
    rows = (raised.day <= day) & (raised.day + WINDOW >= day)
    mean = curve.mean(raised.score[rows], np.arange(rows.sum()))
    return int(rows.sum()), mean.value, mean.high


def _newer(raised: World, curve: RiskCurve, day: int) -> bool:
    """Whether the newer of the open alarms warn."""
    alarms, codes = _alarms(raised), np.arange(len(raised.day))
    expectation = Expectation(alarms, curve, codes, alarms.times + _now(WINDOW))
    return bool(expectation.newer_below(FLOOR, _now(day), _now(WINDOW)))


def _broken(raised: World, settings: Settings) -> float:
    units = closed_units(_alarms(raised), settings.window_seconds, _now(DAYS + 1))[0]
    watch = precision_watch(units, FLOOR, settings)
    return _day(watch.noticed if watch.verdict == "broken" else None)


def cbpe_estimates(valid: World, chunks: list[World], threshold: float) -> FloatArray:
    """Return the mean risk of the alarms of each chunk, risks by isotonic regression."""
    order = np.argsort(valid.score)
    fitted = isotonic_regression(valid.positive[order].astype(float)).x
    raised = (chunk.score[chunk.score >= threshold] for chunk in chunks)
    return np.array([np.interp(score, valid.score[order], fitted).mean() for score in raised])


def cbpe(valid: World, rest: World, threshold: float) -> tuple[float, float, float, float]:
    """Estimate every chunk after the change, and count alerts before it and after."""
    realised = [chunk.positive[chunk.score >= threshold].mean() for chunk in _chunks(valid)]
    low, high = (np.mean(realised) + side * 3 * np.std(realised) for side in (-1, 1))
    chunks = list(_chunks(rest))
    estimate = cbpe_estimates(valid, chunks, threshold)
    alert = (estimate < low) | (estimate > high)
    first, last = (np.array([chunk.day[row] for chunk in chunks]) for row in (0, -1))
    after = first >= CHANGE
    said = last[alert & after]
    return (
        float(estimate[after].mean()),
        float(alert[last < CHANGE].mean()),
        float(alert[after].mean()),
        float(said[0] - CHANGE) if len(said) else NEVER,
    )


def _chunks(cases: World) -> list[World]:
    """Cut cases into chunks; the last one is kept although it is shorter, as NannyML does."""
    return [cases.part(slice(i, i + CHUNK)) for i in range(0, len(cases.day), CHUNK)]


def worlds(n: int) -> None:
    """Print, for each world, what was true and what was said."""
    for kind in WORLDS:
        said = Said(*np.array([listen(kind, 1000 + seed) for seed in range(n)]).T)
        print(f"{kind}: precision {said.before.mean():.3f} before, {said.after.mean():.3f} after")
        print(
            f"  expected {_mean(said.expected)}; warned before the change "
            f"{_share(said.watch < 0)}, after {_share((said.watch >= 0) & (said.watch < NEVER))}, "
            f"on day {_middle(said.watch)}"
        )
        early = said.withdrawn <= WINDOW
        print(
            f"  withdrawn before any label of the changed cases {_share(early)}, after "
            f"{_share(~early & (said.withdrawn < NEVER))}, on day {_middle(said.withdrawn)}; "
            f"broken by labels {_share(said.broken < NEVER)}, on day {_middle(said.broken)}"
        )
        print(
            f"  CBPE {_mean(said.cbpe)}; chunks with an alert before "
            f"{said.alerts_before.mean():.3f}, after {said.alerts_after.mean():.3f}; streams with "
            f"one after {_share(said.alert < NEVER)}, on day {_middle(said.alert)}",
            flush=True,
        )


def _mean(values: FloatArray) -> str:
    return f"{np.nanmean(values):.3f}" if np.isfinite(values).any() else "nothing"


def _share(flags: BoolArray) -> str:
    share = flags.mean()
    return f"{100 * share:.1f} % ({100 * np.sqrt(share * (1 - share) / len(flags)):.1f})"


def _middle(days: FloatArray) -> str:
    low, middle, high = np.quantile(days, [0.25, 0.5, 0.75], method="lower")
    shown = [f"{day:.0f}" if day < NEVER else "never" for day in (middle, low, high)]
    return f"{shown[0]} ({shown[1]} to {shown[2]})"


def false_withdrawals(n: int) -> None:
    """Count streams in which the estimate is withdrawn although risks mean what they did."""
    for name, draw in NULLS.items():
        rng, withdrawn = np.random.default_rng(1), 0
        for _ in range(n):
            valid, raised, patients = draw(rng)
            groups = patients[: len(valid.day)] if patients is not None else None
            curve = RiskCurve.from_cases(valid.positive, valid.score, groups)
            alarms = _alarms(raised)
            if patients is not None:
                alarms = alarms._replace(patients=patients[len(valid.day) :].astype(str).tolist())
            now = _now(raised.day[-1] + 10 * WINDOW)
            watch = expected_watch(alarms, curve, FLOOR, now, Settings(window=WINDOW))
            withdrawn += watch.noticed is not None
        print(f"{name}: {_share(np.arange(n) < withdrawn)} withdrawn", flush=True)


Null = tuple[World, World, AnyArray | None]
"""Validation cases, alarms, and the patients of both, one after the other."""


def _bent(place: FloatArray) -> FloatArray:
    """Log odds that rise, stay, and rise again."""
    return np.asarray(-3 + 2.5 * np.tanh(place) + np.maximum(place - 2, 0) * 3)


def _null(rng: np.random.Generator, n_valid: int, risk: str = "line", same: int = 1) -> Null:
    """Draw validation cases and 3,000 alarms, the top fifth of the scores."""
    n, n_alarms = n_valid // same, 3000 // same
    place = np.append(rng.normal(size=n), rng.normal(size=20 * n_alarms))
    curve = {"line": -2.2 + 1.6 * place, "bent": _bent(place), "steps": -2.2 + 2 * np.round(place)}
    positive = rng.random(len(place)) < risk_of(curve[risk])
    score = {"steps": np.round(place)}.get(risk, place)
    rows = np.append(np.arange(n), n + np.flatnonzero(place[n:] > 0.84)[:n_alarms])
    # Several cases of a patient share score and outcome.
    rows = np.repeat(rows, same)
    cases = World(np.arange(len(rows)) // 8, score[rows], positive[rows])
    first = np.arange(len(rows)) < n * same
    patients = rows if same > 1 else None
    return cases.part(first), cases.part(~first), patients


NULLS: dict[str, Callable[[np.random.Generator], Null]] = {
    "100 cases": lambda rng: _null(rng, 100),
    "300 cases": lambda rng: _null(rng, 300),
    "1,000 cases": lambda rng: _null(rng, 1000),
    "10,000 cases": lambda rng: _null(rng, 10_000),
    "10,000 cases, bent risk": lambda rng: _null(rng, 10_000, "bent"),
    "1,000 cases, five scores": lambda rng: _null(rng, 1000, "steps"),
    "10,000 cases, five scores": lambda rng: _null(rng, 10_000, "steps"),
    "1,000 cases of 250 patients": lambda rng: _null(rng, 1000, same=4),
}


def figure(n: int, path: str = "docs/images/expected-precision.png") -> None:
    """Draw one stream of each world: what was expected, what came, and when it was withdrawn."""
    from matplotlib import pyplot as plt

    drawing, grid = plt.subplots(
        2, 2, figsize=(9, 5.6), sharex=True, sharey=True, layout="constrained"
    )
    for ax, kind in zip(grid.flat, WORLDS, strict=True):
        _draw(ax, kind, seed=1000 + n)
    handles, labels = grid[1, 1].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    drawing.savefig(path, dpi=110)


def _draw(axes: Any, kind: str, seed: int) -> None:
    cases = world(kind, seed)
    valid, rest = (cases.part(rows) for rows in (cases.day < VALIDATION, cases.day >= VALIDATION))
    threshold = policy_of(valid).threshold()
    curve = RiskCurve.from_cases(valid.positive, valid.score)
    raised = rest.part(rest.score >= threshold)
    watch: Watch = expected_watch(
        _alarms(raised), curve, FLOOR, _now(DAYS - 1), Settings(window=WINDOW)
    )
    past, days = watch.history, watch.history["time"] / _now(1) - CHANGE
    axes.fill_between(days, past["low"], past["high"], alpha=0.2)
    axes.plot(days, past["estimate"], label="expected before labels")
    axes.plot(days, past["observed"], color="grey", label="as labels came, 60 days later")
    chunks = _chunks(rest)
    for row, level in enumerate(cbpe_estimates(valid, chunks, threshold).tolist()):
        ends = chunks[row].day[0] - CHANGE, chunks[row].day[-1] + 1 - CHANGE
        axes.plot(ends, [level] * 2, color="C1", label="" if row else "CBPE, by 900 cases")
    axes.axhline(FLOOR, color="C3", linestyle="--", label="floor")
    axes.axvline(0, color="black", linewidth=0.8, linestyle=":", label="change")
    withdrawn = _day(watch.noticed) - CHANGE
    if withdrawn < NEVER:
        axes.axvline(withdrawn, color="C0", linewidth=1.2, label="estimate withdrawn")
    title = "no change" if kind == "none" else kind
    axes.set(title=title, xlim=(days[0], days[-1]), ylim=(0.2, 0.8))
    axes.set_ylabel("precision" if kind in WORLDS[::2] else "")
    axes.set_xlabel("days after the change" if kind in WORLDS[2:] else "")


if __name__ == "__main__":
    parts = {"worlds": (worlds, 200), "null": (false_withdrawals, 1000), "figure": (figure, 0)}
    run, n = parts[sys.argv[1] if len(sys.argv) > 1 else "worlds"]
    run(int(sys.argv[2]) if len(sys.argv) > 2 else n)
