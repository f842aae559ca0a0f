"""However cases and labels are cut into batches, repeated and shuffled, the state is the same."""

from __future__ import annotations

import numpy as np
import pytest
from monitoring_streams import FIRST_DAY, make_policy

import voros


def deliver(seed: int, with_patients: bool = True) -> tuple[dict, list]:
    """Feed one fixed history in batches, an order and repetitions of the seed's own."""
    history = np.random.default_rng(0)
    n = 250
    scores, labels = history.random(n), history.random(n) < 0.35
    when = FIRST_DAY + np.sort(history.integers(0, 90, n))
    came = when + history.integers(0, 25, n)
    wrong = history.random(n) < 0.2  # corrected two days later
    patients = history.integers(0, 60, n)
    rng = np.random.default_rng(seed)
    monitor = voros.Monitor(make_policy(), window=20, max_cost=0.3)
    jobs = [("cases", part) for part in np.array_split(rng.permutation(n), 8)]
    jobs += [("labels", part) for part in np.array_split(rng.permutation(n), 12)]
    jobs += [jobs[i] for i in rng.integers(0, len(jobs), 10)]
    for place in rng.permutation(len(jobs)):
        kind, rows = jobs[place]
        if kind == "cases":
            groups = patients[rows] if with_patients else None
            monitor.update(scores[rows], cases=rows, times=when[rows], groups=groups)
        else:
            mended = rows[wrong[rows]]
            monitor.label(labels[rows] ^ wrong[rows], cases=rows, times=came[rows])
            monitor.label(labels[mended], cases=mended, times=came[mended] + 2)
    monitor.advance("2026-12-31")
    assert monitor.status().document() == monitor.status().document()
    watch = monitor.status()["precision"]
    return watch.document(), [curve.tolist() for curve in watch.history.values()]


@pytest.mark.slow
@pytest.mark.parametrize("with_patients", [True, False])
def test_every_delivery_says_the_same(with_patients: bool) -> None:
    expected = deliver(1, with_patients)
    assert expected[0]["n"] > 50
    for seed in range(2, 30):
        document, curves = deliver(seed, with_patients)
        assert document == expected[0]
        np.testing.assert_equal(curves, expected[1])


def test_two_deliveries_say_the_same() -> None:
    assert deliver(31)[0] == deliver(32)[0]


def test_costs_by_period_are_those_counted_case_by_case() -> None:
    """Totals of completed periods that begin between two times, with the current labels."""
    rng = np.random.default_rng(1)
    monitor = voros.Monitor(make_policy(), window=3)
    n = 300
    when = (
        FIRST_DAY + rng.integers(0, 40, n).astype("m8[D]") + rng.integers(0, 24, n).astype("m8[h]")
    )
    scores, labels = rng.random(n), rng.random(n) < 0.4
    monitor.update(scores, cases=np.arange(n), times=when)
    rows = rng.permutation(n)[:200]
    came = when[rows] + rng.integers(0, 6, 200).astype("m8[D]")
    monitor.label(labels[rows], cases=rows, times=came)
    corrected = rows[:40]
    monitor.label(
        ~labels[corrected], cases=corrected, times=when[corrected] + np.timedelta64(9, "D")
    )
    known, final = np.isin(np.arange(n), rows), labels ^ np.isin(np.arange(n), corrected)
    day, seconds = when.astype("M8[D]"), when.astype("M8[s]").astype(float)
    for since, until in ((-np.inf, np.inf), (seconds.min() + 2e5, seconds.min() + 2.2e6)):
        begun = sorted({(seconds[day == date].min(), date) for date in np.unique(day)})
        begun = [(start, date) for start, date in begun if since <= start < until][:-1]
        expected = []
        for start, date in begun:
            inside, alarm = day == date, scores >= 0.5
            fp, fn = known & ~final & alarm & inside, known & final & ~alarm & inside
            expected.append((start, inside.sum(), fp.sum(), fn.sum(), (inside & ~known).sum()))
        assert len(expected) > 10
        assert monitor._store.costs(since, until) == expected
