"""Cases and labels in any order, each once; what the monitor then says."""

from __future__ import annotations

import numpy as np
import pytest
from monitoring_streams import FIRST_DAY, days, feed, make_policy

import voros
from voros.monitoring.ratios import CapacityLimit, Counts, capacity_watch, cost_watch
from voros.monitoring.settings import Settings


def precision_words(monitor: voros.Monitor) -> str:
    return monitor.status()["precision"].words


def test_nothing_yet() -> None:
    status = voros.Monitor(make_policy()).status()
    assert status.verdict == "too early to tell"
    assert status.words.startswith("no cases yet")


def test_a_stream_well_above_the_floor_is_kept() -> None:
    monitor = voros.Monitor(make_policy(), window=3)
    feed(monitor, np.tile([1, 0], 200), delay=2)
    watch = monitor.status()["precision"]
    assert watch.verdict == "kept"
    assert watch.estimate == 0.5
    assert watch.low is not None
    assert watch.low >= 0.25


def test_a_stream_below_the_floor_is_broken_from_its_first_day() -> None:
    monitor = voros.Monitor(make_policy(), window=3)
    feed(monitor, np.tile(np.r_[1, np.zeros(9, int)], 10), delay=2)
    watch = monitor.status()["precision"]
    assert (watch.verdict, watch.since) == ("broken", "2026-01-02")
    assert "broken since about 2026-01-02" in watch.words
    # With one true alarm in ten, 20 alarms have 2: evidence by hand, alarm by alarm.
    assert watch.noticed is not None
    assert watch.noticed > "2026-01-20"


def test_a_late_change_is_watched_first_and_broken_later() -> None:
    good, bad = np.tile([1, 0], 250), np.tile(np.r_[1, np.zeros(9, int)], 30)
    watches = []
    for n in (0, 130, 300):
        monitor = voros.Monitor(make_policy(), window=1)
        feed(monitor, np.r_[good, bad[:n]], delay=1)
        watches.append(monitor.status()["precision"])
    assert [watch.verdict for watch in watches] == ["kept", "watch", "broken"]
    change = days(501)[500]
    for watch in watches[1:]:
        assert abs(np.datetime64(watch.since) - change) <= np.timedelta64(3, "D")


def test_labels_in_any_order_give_the_same_state() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(300) < 0.2).astype(int)
    when, cases = days(300), np.arange(300)
    later = when + rng.integers(0, 10, 300)
    said = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(300)
        monitor = voros.Monitor(make_policy(), window=10)
        if seed == 2:  # labels may come before their cases
            monitor.label(labels[order], cases=cases[order], times=later[order])
        monitor.update(np.full(300, 0.9), cases=cases, times=when)
        monitor.label(labels[order], cases=cases[order], times=later[order])
        monitor.advance("2027-01-01")
        said.add(monitor.status().words)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("per", "hours", "n_periods"),
    [("hour", 1, 239), ("shift", 8, 29), ("shift 06:00,18:00", 12, 19), ("week", 168, 9)],
)
def test_periods_without_a_case_are_filled_whatever_the_calendar(per, hours, n_periods) -> None:
    """A case in the first, the fifth and the last of some periods; the last one goes on."""
    y_true, scores = [1, 0, 1, 0], [0.9, 0.6, 0.8, 0.1]
    scenario = voros.Scenario(capacity=1, per=per, cost_ratio=0.05)
    policy = voros.ThresholdPolicy.from_validation(y_true, scores, scenario, periods=range(4))
    begun = np.datetime64("2026-01-05T06:00" if "," in per else "2026-01-05T07:00")
    steps = np.array([0, 4, n_periods]) * np.timedelta64(hours, "h")
    monitor = voros.Monitor(policy)
    for case, time in enumerate(begun + steps):
        monitor.update([0.9], cases=[case], times=[time])
    past = monitor.status()["capacity"].history
    assert len(past["alarms"]) == n_periods
    assert np.flatnonzero(past["alarms"]).tolist() == [0, 4]


def test_an_alarm_does_not_count_before_its_window_closes() -> None:
    monitor = voros.Monitor(make_policy(), window=30)
    monitor.update([0.9], cases=["a"], times=["2026-01-01"])
    monitor.label([0], cases=["a"], times=["2026-01-02"])
    assert monitor.status()["precision"].n == 0
    monitor.advance("2026-01-31")
    assert monitor.status()["precision"].n == 0
    monitor.advance("2026-02-01")
    assert monitor.status()["precision"].n == 1


def test_early_labels_do_not_bias() -> None:
    """Deaths are known at once and survivals late; counted as they come, all looks well."""
    monitor = voros.Monitor(make_policy(floor=0.25), window=30)
    labels = np.tile([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 12)
    when = days(120)
    monitor.update(np.full(120, 0.9), cases=np.arange(120), times=when)
    came = when + np.where(labels == 1, 0, 30)
    so_far = came <= when[-1]
    monitor.label(labels[so_far], cases=np.arange(120)[so_far], times=came[so_far])
    watch = monitor.status()["precision"]
    assert labels[so_far].mean() > 0.12
    assert watch.n == 89
    assert watch.estimate == pytest.approx(labels[:89].mean())


def test_labels_count_as_they_are_known_now() -> None:
    monitor = voros.Monitor(make_policy(), window=10)
    monitor.update([0.9] * 3, cases=["a", "b", "c"], times=["2026-01-01"] * 3)
    monitor.label([1, 1], cases=["a", "b"], times=["2026-01-03", "2026-01-03"])
    monitor.label([0], cases=["a"], times=["2026-01-08"])
    monitor.label([0, 1], cases=["b", "c"], times=["2026-01-20", "2026-01-21"])
    status = monitor.status()
    assert "1 of 3 alarms were true" in status["precision"].words


def labelled_later(labels: np.ndarray, delays: np.ndarray, floor: float) -> list[voros.Status]:
    """Four alarms a day, a window of 30 days, and a status every 40 days; NaN: no label comes."""
    monitor, n = voros.Monitor(make_policy(floor, capacity=1.0), window=30), len(labels)
    cases, when, said = np.arange(n), days(n, 4).astype("M8[h]"), []
    came = when + np.where(np.isnan(delays), 0, 24 * delays).astype("m8[h]")
    for look in FIRST_DAY + np.arange(40, n // 4 + 80, 40):
        now = when <= look
        monitor.update(np.full(now.sum(), 0.9), cases=cases[now], times=when[now])
        known = ~np.isnan(delays) & (came <= look)
        monitor.label(labels[known], cases=cases[known], times=came[known])
        monitor.advance(look)
        said.append(monitor.status())
    return said


@pytest.mark.parametrize(("true", "wrong"), [(0.2, "kept"), (0.45, "broken")])
def test_labels_that_come_after_the_window_mislead_nobody(true: float, wrong: str) -> None:
    """One class is known within five days, the other an hour after the window has closed."""
    labels = (np.random.default_rng(0).random(600) < true).astype(int)
    late = labels == (1 if wrong == "broken" else 0)
    said = [
        status["precision"].verdict
        for status in labelled_later(labels, np.where(late, 30 + 1 / 24, 3.0), floor=0.3)
    ]
    assert wrong not in said
    assert said[-1] == ("broken" if wrong == "kept" else "kept")


@pytest.mark.parametrize(
    ("true", "missing", "wrong"), [(0.2, (0.0, 0.6), "kept"), (0.4, (0.6, 0.0), "broken")]
)
def test_labels_that_never_come_leave_the_limit_unknown(
    true: float, missing: tuple, wrong: str
) -> None:
    rng = np.random.default_rng(1)
    labels = (rng.random(1200) < true).astype(int)
    never = rng.random(1200) < np.where(labels == 1, *missing)
    said = labelled_later(labels, np.where(never, np.nan, 3.0), floor=0.3)
    assert wrong not in [status["precision"].verdict for status in said]
    watch = said[-1]["precision"]
    assert watch.verdict == said[-1].verdict == "unknown"
    tp, n = int(labels[~never].sum()), len(labels)
    assert "unknown; with all labels precision would be from" in watch.words
    assert f"from {tp / n:.3f} to {(tp + never.sum()) / n:.3f}" in watch.words
    assert watch.low <= tp / n <= (tp + never.sum()) / n <= watch.high


@pytest.mark.parametrize(("true", "verdict"), [(0.6, "kept"), (0.05, "broken")])
def test_a_few_missing_labels_leave_a_clear_verdict(true: float, verdict: str) -> None:
    rng = np.random.default_rng(3)
    labels = (rng.random(800) < true).astype(int)
    said = labelled_later(labels, np.where(np.arange(800) % 100, 3.0, np.nan), floor=0.3)
    assert said[-1]["precision"].verdict == verdict
    assert "and 8 alarms have no label" in said[-1]["precision"].words


def test_corrections_that_reverse_a_verdict_are_said() -> None:
    """Half of the positives are labelled 0 at first, and corrected after the window."""
    rng = np.random.default_rng(2)
    labels = (rng.random(800) < 0.5).astype(int)
    wrong = (labels == 1) & (rng.random(800) < 0.7)
    monitor = voros.Monitor(make_policy(floor=0.3), window=30)
    feed(monitor, labels & ~wrong, delay=5)
    assert monitor.status()["precision"].verdict == "broken"
    cases = np.flatnonzero(wrong)
    monitor.label(np.ones(len(cases), int), cases=cases, times=days(800)[cases] + 45)
    status = monitor.status()
    assert status["precision"].verdict == "kept"
    before = int((labels & ~wrong).sum())
    assert any(
        f"{before} of 800 alarms were true, and it would be broken" in note for note in status.notes
    )


def test_missing_labels_are_said() -> None:
    monitor = voros.Monitor(make_policy(), window=10)
    monitor.update([0.9] * 3, cases=["a", "b", "c"], times=["2026-01-01"] * 3)
    monitor.label([1], cases=["a"], times=["2026-01-30"])
    monitor.advance("2026-03-01")
    status = monitor.status()
    notes = "\n".join(status.notes)
    assert "1 of 1 alarms were true and 2 alarms have no label" in status["precision"].words
    assert "recall: not watched without a recall floor; to estimate it, label all cases" in notes


def test_labels_of_no_case_are_said() -> None:
    monitor = voros.Monitor(make_policy(), window=1)
    monitor.update([0.9, 0.1], cases=["a", "b"], times=["2026-01-01"] * 2)
    monitor.label([1, 0], cases=["A", "b"])
    notes = "\n".join(monitor.status().notes)
    assert "1 recent label without a stored case" in notes


def test_what_came_before_is_not_counted_again() -> None:
    monitor = voros.Monitor(make_policy(), window=1)
    for _ in range(2):
        feed(monitor, [1, 0, 0], delay=1)
    status = monitor.status()
    assert (status.cases, status.labels) == (3, 3)
    again = monitor.update([0.9, 0.1], cases=["0", "new"], times=["2026-01-01", "2026-01-05"])
    assert (again.new, again.repeated) == (1, 1)
    assert monitor.status().cases == 4


def test_a_mistyped_year_is_refused_until_it_is_confirmed() -> None:
    """2062 for 2026 would close the windows of all alarms, and the clock never goes back."""
    monitor = voros.Monitor(make_policy(), window=14)
    monitor.update([0.9], cases=["a"], times=["2026-01-01"])
    for typo in ("2062-01-11", "1926-01-11"):
        with pytest.raises(ValueError, match=rf"times holds {typo}, more than a year from 2026-01"):
            monitor.update([0.9] * 3, cases=list("bcd"), times=["2026-01-02", typo, "2026-01-03"])
    with pytest.raises(ValueError, match=r"times holds 2062-01-02.*is it mistyped"):
        monitor.label([1], cases=["a"], times=["2062-01-02"])
    with pytest.raises(ValueError, match="times holds 2062-01-02"):
        monitor.advance("2062-01-02")
    assert (monitor.clock, monitor.status().cases) == ("2026-01-01", 1)
    empty = voros.Monitor(make_policy())
    with pytest.raises(
        ValueError, match="times holds 2062-01-11, more than a year from 2026-01-02"
    ):
        empty.update([0.9] * 3, cases=list("abc"), times=["2026-01-01", "2062-01-11", "2026-01-02"])
    with pytest.raises(ValueError, match="times holds 9000-01-01"):
        empty.update([0.9], cases=["a"], times=["9000-01-01"])
    history = ["2001-01-01", "2001-11-01", "2002-09-01", "2003-05-01"]
    assert empty.update([0.9] * 4, cases=list("abcd"), times=history).new == 4
    assert monitor.update([0.9], cases=["e"], times=["2062-01-01"], confirm_times=True).new == 1


def test_the_end_of_the_calendar_is_a_date_like_any_other() -> None:
    monitor = voros.Monitor(make_policy(), window=0)
    last = "9999-12-31T23:59:59.999999"
    monitor.update([0.9, 0.9], cases=["a", "b"], times=["9999-12-30", last], confirm_times=True)
    monitor.label([1], cases=["a"], times=[last], confirm_times=True)
    assert monitor.status().as_of == "9999-12-31"


def test_a_case_is_decided_on_once() -> None:
    monitor = voros.Monitor(make_policy())
    monitor.update([0.9], cases=["a"], times=["2026-01-01"])
    with pytest.raises(ValueError, match=r"holds 'a' with score 0.8 at 2026-01-01, which is"):
        monitor.update([0.1, 0.8], cases=["b", "a"], times=["2026-01-01"] * 2)
    assert monitor.status().cases == 1
    with pytest.raises(ValueError, match="holds 'c'"):
        monitor.update([0.1, 0.8], cases=["c", "c"], times=["2026-01-01"] * 2)
    assert monitor.update([0.1, 0.1], cases=["c", "c"], times=["2026-01-01"] * 2).new == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_score": [0.1], "cases": ["a", "b"], "times": ["2026-01-01"]}, "one value per"),
        ({"y_score": [np.inf], "cases": ["a"], "times": ["2026-01-01"]}, "y_score holds 1.79"),
        ({"y_score": [0.1], "cases": [None], "times": ["2026-01-01"]}, "cases is missing at"),
        ({"y_score": [0.1], "cases": ["a"], "times": ["yesterday"]}, "times"),
        ({"y_score": [0.1], "cases": ["a"], "times": [3]}, "times"),
    ],
)
def test_cases_that_are_not_accepted(arguments: dict, message: str) -> None:
    monitor = voros.Monitor(make_policy())
    with pytest.raises(ValueError, match=message):
        monitor.update(arguments.pop("y_score"), **arguments)
    assert monitor.status().cases == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": -1}, "window=-1"),
        ({"alpha": 0}, "alpha=0"),
        ({"run_length": 1}, "run_length=1"),
        ({"max_cost": -2}, "max_cost=-2"),
        ({"cost_ratio": -1.0}, "cost_ratio"),
        (
            {"score_unit": "fortnight"},
            "score_unit='fortnight'; accepted are hour, shift, day, week",
        ),
    ],
)
def test_settings_that_are_not_accepted(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        voros.Monitor(make_policy(), **settings)


def test_alarms_of_a_patient_within_a_window_are_one_unit() -> None:
    monitor = voros.Monitor(make_policy(), window=5)
    when = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-06", "2026-01-10", "2026-01-20"]
    patients = ["ann", "ann", "ann", "ann", "ann", "bob"]
    monitor.update([0.9] * 4, cases=list("abcd"), times=when[:4], groups=patients[:4])
    monitor.label([1, 1, 0, 0], cases=list("abcd"), times=when[:4])
    monitor.advance("2026-01-11")
    assert monitor.status()["precision"].n == 0  # the window of Ann's last alarm is open
    monitor.advance("2026-01-12")
    assert "2 of 4 alarms were true" in monitor.status()["precision"].words
    monitor.update([0.9] * 2, cases=list("ef"), times=when[4:], groups=patients[4:])
    monitor.label([0, 1], cases=list("ef"), times=when[4:])
    monitor.advance("2026-06-01")
    watch = monitor.status()["precision"]
    assert watch.n == 3
    assert "3 of 6 alarms were true" in watch.words


@pytest.mark.parametrize(("few", "verdict"), [(0.6, "broken"), (0.95, "too early to tell")])
def test_all_alarms_of_a_patient_count(few: float, verdict: str) -> None:
    """Patients with eight alarms of which few are true, and others with one: .18 and .26."""
    rng = np.random.default_rng(0)
    many = rng.random(1500) < 0.3
    true = rng.random(1500) < np.where(many, 0.05, few)
    patients = np.repeat(np.arange(1500), np.where(many, 8, 1))
    when = FIRST_DAY + np.sort(rng.integers(0, 300, 1500))[patients]
    monitor = voros.Monitor(make_policy(floor=0.26), window=3)
    cases = np.arange(len(patients))
    monitor.update(np.full(len(cases), 0.9), cases=cases, times=when, groups=patients)
    monitor.label(true[patients].astype(int), cases=cases, times=when)
    monitor.advance("2027-06-01")
    watch = monitor.status()["precision"]
    assert watch.estimate == pytest.approx(true[patients].mean())
    assert watch.verdict == verdict
    assert f"of {len(cases):,} alarms were true" in watch.words


def test_patients_need_a_window() -> None:
    """Without one only simultaneous alarms would be one unit, though a patient's labels agree."""
    monitor = voros.Monitor(make_policy(), window=0)
    with pytest.raises(ValueError, match="groups needs a window above 0 days"):
        monitor.update([0.9], cases=["a"], times=["2026-01-01"], groups=["ann"])
    assert monitor.status().cases == 0


def test_capacity_per_day_counts_empty_days() -> None:
    monitor = voros.Monitor(make_policy(capacity=2, per="day"))
    when = ["2026-01-01"] * 6 + ["2026-01-04"] * 3 + ["2026-01-05"]
    monitor.update([0.9] * 10, cases=list(range(10)), times=when)
    watch = monitor.status()["capacity"]
    assert watch.n == 4
    assert watch.estimate == pytest.approx(9 / 4)
    assert "2 of 4 periods had more" in watch.words


def test_few_alarms_a_day_are_kept() -> None:
    monitor = voros.Monitor(make_policy(capacity=6, per="day"))
    monitor.update(np.full(300, 0.9), cases=np.arange(300), times=days(300, 3))
    watch = monitor.status()["capacity"]
    assert watch.verdict == "kept"
    assert watch.high is not None
    assert 3 < watch.high <= 6


def test_never_more_is_broken_by_one_day() -> None:
    monitor = voros.Monitor(make_policy(capacity=2, per="day", exceed=0))
    when = ["2026-01-01"] * 2 + ["2026-01-04"] * 3 + ["2026-01-05"]
    monitor.update([0.9] * 6, cases=list(range(6)), times=when)
    watch = monitor.status()["capacity"]
    assert (watch.verdict, watch.since) == ("broken", "2026-01-04")


def test_too_many_alarms_on_average_are_broken() -> None:
    rng = np.random.default_rng(0)
    counts = np.r_[rng.poisson(10, 100), rng.poisson(30, 60)]
    when = np.repeat(days(160), counts)
    monitor = voros.Monitor(make_policy(capacity=15, per="day"))
    monitor.update(np.full(len(when), 0.9), cases=np.arange(len(when)), times=when)
    watch = monitor.status()["capacity"]
    assert watch.verdict == "broken"
    assert abs(np.datetime64(watch.since) - days(101)[100]) <= np.timedelta64(3, "D")


def test_a_share_of_the_cases_and_periods_of_ones_own() -> None:
    monitor = voros.Monitor(make_policy(capacity=0.4))
    scores = np.tile([0.9, 0.9, 0.9, 0.1], 100)
    shifts = np.repeat([f"shift {i:03d}" for i in range(40)], 10)
    monitor.update(scores, cases=np.arange(400), times=days(400, 20), periods=shifts)
    watch = monitor.status()["capacity"]
    assert watch.verdict == "broken"
    assert watch.estimate == pytest.approx(0.75, abs=0.02)
    with pytest.raises(ValueError, match="periods have the unit"):
        monitor.update([0.1], cases=["x"], times=["2027-01-01"])


@pytest.mark.parametrize(
    ("weekday", "weekend", "verdicts"),
    [
        ((100, 0.09), (10, 0.20), {"kept", "too early to tell"}),
        ((100, 0.13), (10, 0.01), {"broken"}),
    ],
)
def test_the_share_is_alarms_divided_by_cases_whatever_the_days(
    weekday: tuple, weekend: tuple, verdicts: set
) -> None:
    """9.4 % and 12.6 % of cases; the limit of 10 % lies between each and the mean daily share."""
    rng = np.random.default_rng(0)
    days_of = [weekend if day % 7 >= 5 else weekday for day in range(140)]
    when = np.repeat(days(140), [n for n, _ in days_of])
    alarms = np.concatenate([rng.random(n) < share for n, share in days_of])
    monitor = voros.Monitor(make_policy(floor=0.0, capacity=0.1, n_alarms=10))
    scores = np.where(alarms, 0.9, 0.1)
    monitor.update(scores, cases=np.arange(len(when)), times=when)
    watch = monitor.status()["capacity"]
    assert watch.verdict in verdicts
    assert watch.low <= alarms.mean() <= watch.high
    assert f"{watch.estimate:.3g} per case, capacity 0.1" in watch.words


@pytest.mark.parametrize(
    ("busy", "quiet", "budget", "verdicts"),
    [
        (0.04, 0.14, 0.050, {"kept", "too early to tell"}),
        (0.06, 0.00, 0.048, {"broken", "watch", "too early to tell"}),
    ],
)
def test_the_cost_is_that_of_all_cases_whatever_the_days(
    busy: float, quiet: float, budget: float, verdicts: set
) -> None:
    """Days of 38 and 2 cases: .045 a case of .050, and .057 of .048."""
    rng = np.random.default_rng(1)
    observed = set()
    for _ in range(10):
        sizes = np.where(np.arange(400) % 2, 2, 38)
        misses = rng.binomial(sizes, np.where(sizes == 2, quiet, busy))
        rows = [
            (86_400.0 * i, n, 0, m, 0) for i, (n, m) in enumerate(zip(sizes, misses, strict=True))
        ]
        watch = cost_watch(rows, 0.1, budget, Settings(window=1))
        observed.add(watch.verdict)
        assert watch.estimate == pytest.approx(misses.sum() / sizes.sum())
    assert observed <= verdicts


def test_a_budget_is_kept_only_where_every_case_has_a_label() -> None:
    rows = [(86_400.0 * i, 40, 1, 0, 0) for i in range(200)]
    kept = cost_watch(rows, 0.1, 0.05, Settings(window=1))
    assert (kept.verdict, kept.estimate) == ("kept", pytest.approx(0.0025))
    missing = [*rows[:-1], (86_400.0 * 199, 40, 1, 0, 3)]
    unknown = cost_watch(missing, 0.1, 0.05, Settings(window=1))
    assert (unknown.verdict, unknown.high) == ("unknown", None)
    assert "3 of 8,000 cases have no label" in unknown.words


def test_the_evidence_is_divided_over_the_share_of_periods_and_the_mean() -> None:
    """A period at its capacity: nothing against the mean, and a loss on the share of periods."""
    counts = Counts(np.zeros(1), np.full(1, 200.0), np.full(1, 20.0))
    watch = capacity_watch(counts, CapacityLimit(20.0, "period", 0.3), Settings(window=1))
    by_hand = (np.mean(1 - np.array([0.01, 0.03, 0.1, 0.3])) + 1) / 2
    assert watch.evidence == pytest.approx(0.96 * 0.05 * by_hand)


def test_a_share_of_periods_that_may_have_more_leaves_the_mean_its_capacity() -> None:
    """A fifth of the days have 60 alarms, far above 20, so the mean is 26.4."""
    counts = Counts(
        np.arange(300) * 86_400.0, np.full(300, 200.0), np.tile([18.0] * 8 + [60.0] * 2, 30)
    )
    limit = CapacityLimit(20.0, "period", 0.3)
    watch = capacity_watch(counts, limit, Settings(window=1))
    assert watch.estimate == pytest.approx(0.2)
    assert watch.verdict == "broken"


def test_a_change_of_the_scores_is_no_harm() -> None:
    rng = np.random.default_rng(0)
    scores = np.r_[rng.normal(0.2, 0.05, 1200), rng.normal(0.28, 0.05, 600)]
    monitor = voros.Monitor(make_policy())
    monitor.update(scores, cases=np.arange(1800), times=days(1800, 20))
    watch = monitor.status()["scores"]
    assert watch.verdict == "watch"
    assert "need not be harmful" in watch.words
    assert abs(np.datetime64(watch.since) - days(61)[60]) <= np.timedelta64(7, "D")


def test_fewer_cases_a_day_are_no_change_of_the_scores() -> None:
    """The mean of five cases varies more than that of forty."""
    rng = np.random.default_rng(3)
    for levels in ((40, 5), (5, 40)):
        sizes = np.r_[rng.poisson(levels[0], 60), rng.poisson(levels[1], 120)]
        when = np.repeat(days(180), sizes)
        monitor = voros.Monitor(make_policy())
        monitor.update(rng.normal(size=len(when)), cases=np.arange(len(when)), times=when)
        watch = monitor.status()["scores"]
        assert (watch.verdict, watch.n) == ("kept", int((sizes > 0).sum()) - 1)


def wave(score_unit: str | None = None) -> voros.Monitor:
    """A year of twenty cases a day whose scores wander: AR(.8)."""
    rng = np.random.default_rng(4)
    effects = np.zeros(365)
    for day in range(1, 365):
        effects[day] = 0.8 * effects[day - 1] + 0.3 * rng.normal()
    monitor = voros.Monitor(make_policy(), score_unit=score_unit)
    scores = rng.normal(size=7300) + np.repeat(effects, 20)
    monitor.update(scores, cases=np.arange(7300), times=days(7300, 20))
    return monitor


def test_days_that_are_alike_are_not_taken_as_a_change() -> None:
    watch = wave().status()["scores"]
    assert watch.verdict == "unknown"
    assert (watch.since, "neighbouring periods are correlated (0." in watch.words) == (
        None,
        True,
    )
    by_month = wave("month").status()["scores"]
    assert (by_month.verdict, by_month.n) == ("kept", 11)
    notes = wave().status().notes
    assert any(n.startswith("capacity: neighbouring periods are correlated (0") for n in notes)


def test_wider_units_sum_their_days() -> None:
    monitor = wave("month")
    query = "SELECT avg(score) FROM cases WHERE period < '2026-02'"
    first_month = monitor._store._db.execute(query).fetchone()[0]
    assert monitor.status()["scores"].history["mean"][0] == pytest.approx(first_month)
    with pytest.raises(ValueError, match=r"periods cannot be combined into weeks.*score_unit"):
        monitor.update([0.1], cases=["x"], times=["2026-12-31"], periods=["late shift"])


def test_the_cost_is_at_least_what_labels_show() -> None:
    monitor = voros.Monitor(make_policy(floor=0.0), window=1, max_cost=0.01)
    scores = np.tile([0.9, 0.1], 300)
    monitor.update(scores, cases=np.arange(600), times=days(600, 10))
    monitor.label(np.zeros(300, int), cases=np.arange(0, 600, 2), times=days(600, 10)[::2])
    monitor.advance("2027-01-01")
    watch = monitor.status()["cost"]
    # Half of the cases are false alarms at a twentieth of a miss each.
    assert watch.estimate == pytest.approx(0.025)
    assert watch.verdict == "broken"
    assert "cases have no label" in watch.words


@pytest.mark.slow
def test_renewal_is_a_proposal_until_it_is_adopted() -> None:
    rng = np.random.default_rng(0)
    n = 2000
    scores = rng.random(n)
    labels = (rng.random(n) < np.where(scores > 0.8, 0.6, 0.05)).astype(int)
    monitor = voros.Monitor(make_policy(floor=0.4), window=1)
    when = days(n, 20)
    monitor.update(scores, cases=np.arange(n), times=when)
    alarms = scores >= 0.5
    monitor.label(labels[alarms], cases=np.arange(n)[alarms], times=when[alarms])
    monitor.advance("2027-01-01")
    assert monitor.status()["precision"].verdict == "broken"
    renewal = monitor.renew()
    assert monitor.policy.threshold() == 0.5
    assert renewal.new_threshold > 0.6
    assert not renewal.recall_known
    assert "Nothing has changed yet" in renewal.words
    # The threshold by brute force on the alarms since the date that the verdict names.
    recent = alarms & (when >= np.datetime64(monitor.status().since))
    lowest = min(t for t in scores[recent] if labels[recent & (scores >= t)].mean() >= 0.4)
    assert renewal.new_threshold >= lowest
    monitor.adopt(renewal.policy)
    assert monitor.policy.threshold() == renewal.new_threshold
    assert monitor.status()["precision"].verdict == "too early to tell"


def test_frames_and_zones() -> None:
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    times = ["2026-01-01T23:30:00-05:00", "2026-01-02T23:30:00-05:00"]
    zoned = pd.to_datetime(pd.Series(times)).dt.tz_convert("America/New_York")
    kinds = [times, zoned, pl.Series(zoned), [pd.Timestamp(t) for t in times]]
    calendars = set()
    for kind in kinds:
        monitor = voros.Monitor(make_policy())
        monitor.update(pl.Series([0.9, 0.9]), cases=pd.Series(["a", "b"]), times=kind)
        periods = monitor._store.periods(-np.inf)
        calendars.add((*periods.names.tolist(), *periods.starts.tolist()))
    assert calendars == {("2026-01-01", "2026-01-02", 1767328200.0, 1767414600.0)}


def test_the_capacity_per_period_of_the_scenario_is_watched() -> None:
    scenario = voros.Scenario(capacity=3, per="week", exceed=0, cost_ratio=0.05)
    y_true, scores = np.tile([1, 0, 0, 0], 10), np.tile([0.9, 0.1, 0.1, 0.1], 10)
    weeks = np.repeat(np.arange(10), 4)
    policy = voros.ThresholdPolicy.from_validation(y_true, scores, scenario, periods=weeks)
    monitor = voros.Monitor(policy)
    when = ["2026-01-05"] * 2 + ["2026-01-11", "2026-01-12", "2026-01-14", "2026-01-20"]
    monitor.update([0.9] * 6, cases=np.arange(6), times=when)
    assert monitor.status()["capacity"].verdict == "kept"
    monitor.update([0.9] * 3, cases=list("abc"), times=["2026-01-21"] * 2 + ["2026-02-09"])
    assert monitor.status()["capacity"].n == 5  # two weeks without a case count
    monitor.update([0.9] * 2, cases=list("de"), times=["2026-01-13"] * 2)
    watch = monitor.status()["capacity"]
    assert (watch.verdict, watch.since) == ("broken", "2026-01-12")


class Text(str):
    """Text that counts how often it is parsed."""

    n_parsed = 0

    def strip(self, *args):
        Text.n_parsed += 1
        return super().strip(*args)


def test_texts_of_times_are_parsed_once():
    scenario = voros.Scenario(0.2, 3, cost_ratio=0.1, per="week", exceed=0.5)
    weeks = [f"w{i // 4}" for i in range(40)]
    policy = voros.ThresholdPolicy.from_validation(
        [0, 1] * 20, [0.1, 0.9] * 20, scenario, periods=weeks
    )
    times = [Text(f"2024-01-{day:02}T10:00") for day in range(1, 29)]
    voros.Monitor(policy).update([0.5] * 28, cases=list(range(28)), times=times)
    assert Text.n_parsed == 28


def test_the_line_of_a_share_is_that_share_of_each_days_cases() -> None:
    cases, alarms = np.array([100.0, 10.0, 40.0]), np.array([9.0, 2.0, 5.0])
    counts = Counts(np.arange(3.0), cases, alarms)
    watch = capacity_watch(counts, CapacityLimit(0.1, "case"), Settings(window=0))
    assert watch.history["capacity"].tolist() == [10.0, 1.0, 4.0]
    assert watch.estimate == pytest.approx(16 / 150)


def test_a_number_of_cases_is_watched_as_a_share_of_the_validation_cases() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    for capacity, expected in ((100, 0.25), (400, None), (0.25, 0.25), (1.0, None)):
        scenario = voros.Scenario(capacity=capacity, cost_ratio=0.5)
        policy = voros.ThresholdPolicy.from_validation(y, y + rng.normal(size=400), scenario)
        monitor = voros.Monitor(policy, window=3)
        when = np.datetime64("2026-01-01") + np.arange(20)
        monitor.update(np.zeros(20), cases=np.arange(20), times=when)
        limits = [watch.limit for watch in monitor.status().watches if watch.name == "capacity"]
        assert limits == ([] if expected is None else [expected])
