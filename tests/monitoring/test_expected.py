"""Expected precision: mean risks by hand, bets one by one, and what a user reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from monitoring_streams import FIRST_DAY

import voros
from voros.core.risk_curve import RiskCurve
from voros.exceptions import ArgumentError
from voros.monitoring.evidence import late_weights
from voros.monitoring.precision import Units
from voros.monitoring.settings import Settings
from voros.monitoring.unlabelled import CALIBRATION_STAKES, calibration_evidence

DAY = 86_400.0


def cases(n: int, seed: int, drift: float = 0.0, spread: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(0, spread, n)
    return rng.random(n) < 1 / (1 + np.exp(-log_odds - drift)), 1 / (1 + np.exp(-log_odds))


def alarm_at_half(floor: float = 0.55) -> voros.ThresholdPolicy:
    scenario = voros.Scenario(min_precision=floor, cost_ratio=0.05)
    positive = np.arange(100) < 40
    return voros.ThresholdPolicy.from_validation(positive, np.where(positive, 0.5, 0.1), scenario)


def ward(floor: float = 0.55, path: Path | None = None, **options: Any) -> voros.Monitor:
    """Alarm at a risk of .5; calibrated on 2,000 cases."""
    labels, risks = cases(2000, seed=0)
    validation = labels, risks
    return voros.Monitor(alarm_at_half(floor), path, window=30, validation=validation, **options)


def feed(monitor: voros.Monitor, *parts: tuple[Any, Any]) -> None:
    """Ten cases a day, and the labels of alarms that are 30 days old."""
    labels, risks = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    ids, day = np.arange(len(risks)), np.arange(len(risks)) // 10
    alarms = monitor.update(risks, cases=ids, times=FIRST_DAY + day).alarms
    known = alarms & (day + 30 <= day[-1])
    monitor.label(labels[known], cases=ids[known], times=FIRST_DAY + day[known] + 30)


def test_the_mean_is_that_of_the_open_alarms() -> None:
    monitor = ward()
    labels, risks = cases(1000, seed=1)
    feed(monitor, (labels, risks))
    rows = (risks >= 0.5) & (np.arange(1000) // 10 + 30 >= 99)
    curve = RiskCurve.from_cases(*cases(2000, seed=0))
    watch = monitor.status()["expected precision"]
    assert watch.n == rows.sum()
    assert watch.estimate == pytest.approx(curve.risks(risks[rows])[0].mean())
    assert watch.estimate == pytest.approx(risks[rows].mean(), abs=0.03)
    assert watch.verdict == "too early to tell"
    assert watch.words == (
        f"expected precision: too early to tell; {watch.estimate:.3f} is expected of the {watch.n} "
        f"alarms whose windows are open (interval {watch.low:.3f} to {watch.high:.3f}; floor "
        "0.55), if a risk still means what it did on validation"
    )


def test_milder_cases_are_a_warning_before_any_label() -> None:
    monitor = ward(floor=0.65)
    _, risks = cases(400, seed=2, spread=0.2)
    monitor.update(risks, cases=np.arange(400), times=FIRST_DAY + np.arange(400) // 20)
    status = monitor.status()
    assert status["precision"].verdict == "too early to tell"
    assert status["expected precision"].verdict == status.verdict == "watch"


def test_the_newest_alarms_warn_before_all_open_ones() -> None:
    monitor = ward(floor=0.62)
    risks = np.concatenate([np.full(400, 0.7), np.full(n_new := 40, 0.5)])
    monitor.update(risks[:400], cases=np.arange(400), times=FIRST_DAY + np.arange(400) // 20)
    assert monitor.status()["expected precision"].verdict == "too early to tell"
    days = FIRST_DAY + 20 + np.arange(n_new) // 5
    monitor.update(risks[400:], cases=400 + np.arange(n_new), times=days)
    watch = monitor.status()["expected precision"]
    curve = RiskCurve.from_cases(*cases(2000, seed=0))
    expected = curve.risks(risks)[0]
    assert watch.estimate == pytest.approx(expected.mean())
    assert watch.estimate > 0.62
    assert watch.verdict == "watch"
    # The window is 30 days: its newest quarter begins on the twentieth, with the milder cases.
    high = curve.mean(risks[400:], np.arange(n_new)).high
    assert watch.words.endswith(
        f"; {expected[-1]:.3f} of the 40 newest alarms (at most {high:.3f})"
    )


def test_newest_alarms_that_differ_by_chance_do_not_warn() -> None:
    monitor = ward(floor=0.78)
    # As many high risks as low ones: their mean is below the floor, by less than chance.
    monitor.update(np.full(400, 0.9), cases=np.arange(400), times=FIRST_DAY + np.arange(400) // 20)
    mixed = np.where(np.arange(40) % 2, 0.5, 0.9)
    monitor.update(mixed, cases=400 + np.arange(40), times=FIRST_DAY + 20 + np.arange(40) // 5)
    curve = RiskCurve.from_cases(*cases(2000, seed=0))
    mean, spread = curve.mean(mixed, np.arange(40)), curve.risks(mixed)[0].std()
    assert mean.high < 0.78 < mean.value + np.hypot(mean.high - mean.value, 2 * spread / 40**0.5)
    assert monitor.status()["expected precision"].verdict == "too early to tell"


def test_few_open_alarms_are_no_warning() -> None:
    monitor = ward(floor=0.9)
    monitor.update(np.full(29, 0.51), cases=np.arange(29), times=np.full(29, FIRST_DAY))
    assert monitor.status()["expected precision"].verdict == "too early to tell"
    monitor.update([0.51], cases=[29], times=[FIRST_DAY])
    assert monitor.status()["expected precision"].verdict == "watch"


@pytest.mark.parametrize(("drift", "more"), [(-1.5, False), (1.5, True)])
def test_the_estimate_is_withdrawn_with_a_date(drift: float, more: bool) -> None:
    monitor = ward(floor=0.3)
    feed(monitor, cases(600, seed=3), cases(900, seed=4, drift=drift))
    watch = monitor.status()["expected precision"]
    assert (watch.verdict, watch.estimate, watch.low) == ("unknown", None, None)
    assert watch.since is not None
    assert watch.noticed is not None
    # The first changed alarms have their labels on day 90.
    assert np.datetime64(watch.noticed) - FIRST_DAY in range(91, 121)
    assert abs((np.datetime64(watch.since) - FIRST_DAY).astype(int) - 60) < 15
    said = re.fullmatch(
        f"expected precision: unknown; withdrawn on {watch.noticed}, because a risk no longer "
        f"means what it did on validation: of \\d+ alarms since about {watch.since}, (\\d+) were "
        "true, and (\\d+) to (\\d+) would be expected",
        watch.words,
    )
    assert said is not None
    true, low, high = map(int, said.groups())
    assert (true > high) if more else (true < low)
    assert monitor.status().verdict == monitor.status()["precision"].verdict


@pytest.mark.parametrize("single", [True, False])
def test_evidence_is_that_of_bets_one_by_one(single: bool) -> None:
    rng, n = np.random.default_rng(5), 60
    sizes = np.ones(n) if single else rng.integers(1, 5, n).astype(float)
    true = rng.binomial(sizes.astype(int), 0.2).astype(float)
    unlabelled = np.minimum(sizes - true, rng.random(n) < 0.2).astype(float)
    low, high = sizes * 0.3, sizes * 0.4
    units = Units(np.arange(n) * DAY, np.arange(n) * DAY, sizes, true, unlabelled, single)
    settings = Settings(window=0)
    evidence = calibration_evidence(units, (low, high), settings)
    capital = np.ones((n + 1, 6))  # bets that begin with each unit, and one stake for each row
    start, late = [], []
    weights = np.exp(late_weights(n))
    for i in range(n):
        scale = 1.0 if single else max(sizes[:i], default=np.inf)
        parts = min(1 / scale, 1.5 / sizes[i]) if not single else 1.0
        few, many = low[i] - true[i] - unlabelled[i], true[i] - high[i]
        for j in range(i + 1):
            for k, stake in enumerate(CALIBRATION_STAKES):
                capital[j, k] *= 1 + stake * few * parts
                capital[j, 3 + k] *= 1 + stake * many * parts
        start.append(capital[0].mean())
        late.append(weights[: i + 1] @ capital[: i + 1].mean(axis=1))
    np.testing.assert_allclose(np.exp(evidence.start), start)
    np.testing.assert_allclose(np.exp(evidence.late), late)
    assert evidence.start_bound == evidence.late_bound == pytest.approx(np.log(2 / 0.05))


def test_an_open_window_says_nothing_of_the_risks() -> None:
    monitor = ward()
    _, risks = cases(600, seed=6)
    ids, times = np.arange(600), FIRST_DAY + np.arange(600) // 60
    monitor.update(risks, cases=ids, times=times)
    monitor.label(np.zeros(600, int), cases=ids, times=times)
    assert monitor.status()["expected precision"].evidence == 0.0
    monitor.advance(str(FIRST_DAY + 60))
    assert monitor.status()["expected precision"].verdict == "unknown"


def test_the_file_keeps_the_calibration_until_another_policy(tmp_path: Path) -> None:
    path = tmp_path / "ward.voros"
    with ward(path=path) as monitor:
        feed(monitor, cases(300, seed=7))
        words = monitor.status().words
    with voros.Monitor.open(path) as again:
        assert again.status().words == words
    with voros.Monitor.open(path) as again:
        again.adopt(again.policy)
        assert "expected" not in again.status().words
        again.adopt(again.policy, validation=cases(500, seed=8))
        assert "no window of an alarm is open" in again.status()["expected precision"].words


def test_patients_are_units() -> None:
    labels, risks = cases(500, seed=9)
    copies = np.repeat(labels, 4), np.repeat(risks, 4), np.repeat(np.arange(500), 4)
    monitor = voros.Monitor(alarm_at_half(), window=5, validation=copies)
    times = FIRST_DAY + np.arange(2000) // 100
    monitor.update(copies[1], cases=np.arange(2000), times=times, groups=copies[2])
    alone = voros.Monitor(alarm_at_half(), window=5, validation=(labels, risks))
    alone.update(risks, cases=np.arange(500), times=FIRST_DAY + np.arange(500) // 25)
    watches = [m.status()["expected precision"] for m in (monitor, alone)]
    # Units of patients stay open for two windows, so some more of them are open.
    assert watches[0].n > 4 * watches[1].n
    half, half_alone = ((w.high or 0) - (w.estimate or 0) for w in watches)
    assert half == pytest.approx(half_alone, rel=0.3)


def test_what_cannot_be_calibrated_is_refused() -> None:
    policy = alarm_at_half()
    labels, risks = cases(100, seed=10)
    for validation, message in (
        ([labels, risks], "validation is a list; accepted is a tuple"),
        ((labels,), "validation is a tuple of 1"),
        ((labels, risks[:50]), "50"),
        ((labels, risks, np.arange(50)), "50"),
        ((np.zeros(100), risks), "class"),
    ):
        with pytest.raises(ValueError, match=message):
            voros.Monitor(policy, validation=validation)
    streams = {"a": (labels, risks), "b": (labels, 1 - risks)}
    scenario = voros.Scenario(0.1, 1.0, cost_ratio=0.1)
    joint = voros.allocate(
        {name: y for name, (y, _) in streams.items()},
        {name: s for name, (_, s) in streams.items()},
        scenario,
        capacity=0.5,
    )
    with pytest.raises(ArgumentError, match="validation is not accepted with a JointPolicy"):
        voros.Monitor(joint, validation=(labels, risks))


def test_policies_over_stays_refuse_validation_cases() -> None:
    points = voros.alarm_points(
        stay=[1, 1, 2, 2],
        time=[0, 5, 0, 5],
        score=[0.1, 0.7, 0.2, 0.1],
        events=([1], [8]),
        rule=voros.AlarmRule(snooze="12h", horizon="12h"),
    )
    limits = voros.Scenario(0.2, capacity=2.0, per="patient-day", cost_ratio=0.05)
    policy = voros.ThresholdPolicy.from_points(points, limits)
    with pytest.raises(ArgumentError, match="validation is not accepted with a policy over stays"):
        voros.Monitor(policy, validation=cases(100, seed=11))


@pytest.mark.slow
def test_the_page_shows_what_was_expected(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    monitor = ward(floor=0.3)
    feed(monitor, cases(300, seed=3), cases(900, seed=4, drift=-1.5))
    watch = monitor.status()["expected precision"]
    past, withdrawn = watch.history, np.datetime64(watch.noticed, "s").astype(float)
    assert np.isnan(past["estimate"][past["time"] > withdrawn + DAY]).all()
    assert np.isfinite(past["estimate"][past["time"] < withdrawn]).all()
    changed = past["time"] > (FIRST_DAY + 65).astype("datetime64[s]").astype(float)
    assert np.nanmean(past["observed"][changed]) < np.nanmean(past["observed"][~changed]) - 0.1
    text = monitor.report(tmp_path / "ward.html").read_text("utf-8")
    assert "Expected precision of alarms whose windows were open" in text
    assert watch.words in text


@pytest.mark.slow
@pytest.mark.parametrize("n_validation", [100, 1000])
def test_risks_that_still_hold_are_rarely_withdrawn(n_validation: int) -> None:
    withdrawn = 0
    for seed in range(200):
        monitor_curve = RiskCurve.from_cases(*cases(n_validation, seed=seed))
        labels, risks = cases(6000, seed=10_000 + seed)
        labels, risks = labels[risks >= 0.5], risks[risks >= 0.5]
        n = len(risks)
        units = Units(np.arange(n) * DAY, np.arange(n) * DAY, np.ones(n), labels, np.zeros(n), True)
        low, high = monitor_curve.risks(risks)[1:]
        withdrawn += (
            calibration_evidence(units, (low, high), Settings(window=0)).broken_at is not None
        )
    assert withdrawn <= 10
