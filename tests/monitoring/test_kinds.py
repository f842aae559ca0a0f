"""Joint policies and worklists in a monitor, against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest

import voros

DAYS = [f"2026-02-{day:02d}" for day in range(1, 29)]


def two_outcomes(n: int = 600, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = {name: (rng.random(n) < 0.2).astype(int) for name in ("sepsis", "kidney")}
    return y, {name: 1.5 * column + rng.normal(size=n) for name, column in y.items()}


def watched(policy, y, scores, **settings) -> voros.Monitor:
    monitor = voros.Monitor(policy, window=2, **settings)
    n = len(y["sepsis"])
    times = [DAYS[28 * i // n] for i in range(n)]
    monitor.update(scores, cases=range(n), times=times)
    monitor.label(y, cases=range(n), times=times)
    monitor.advance("2026-04-01")
    return monitor


@pytest.mark.parametrize("overlap", ["each", "once"])
def test_every_outcome_has_its_precision_and_all_share_the_capacity(overlap: str) -> None:
    y, scores = two_outcomes()
    policy = voros.allocate(
        y, scores, voros.Scenario(0.3, cost_ratio=0.1), capacity=0.3, overlap=overlap, max_gap=0.1
    )
    status = watched(policy, y, scores).status()
    alarms = policy.predict(scores)
    for name in y:
        true, raised = y[name][alarms[name]].sum(), alarms[name].sum()
        assert f"{true} of {raised} alarms were true" in status[f"precision of {name}"].words
    n_alarms = alarms["sepsis"].astype(int) + alarms["kidney"]
    ended = np.array([28 * i // 600 for i in range(600)]) < 27
    counted = (n_alarms[ended] if overlap == "each" else n_alarms[ended] > 0).sum()
    assert f"{counted} alarms in {ended.sum()} cases" in status["capacity"].words
    assert status.cases == 600


def test_a_correction_reaches_the_stream_it_is_of() -> None:
    y, scores = two_outcomes()
    policy = voros.allocate(y, scores, voros.Scenario(0.3, cost_ratio=0.1), capacity=0.5)
    monitor = watched(policy, y, scores)
    before = monitor.status()
    alarms = policy.predict(scores)["sepsis"]
    first = int(np.flatnonzero(alarms & (y["sepsis"] == 1))[0])
    monitor.label({"sepsis": [0]}, cases=[first], times=["2026-04-01"])
    true = int(y["sepsis"][alarms].sum()) - 1
    after = monitor.status()
    assert f"{true} of {alarms.sum()} alarms were true" in after["precision of sepsis"].words
    assert after["precision of kidney"].words == before["precision of kidney"].words


def test_cases_of_outcomes_are_withdrawn_whole() -> None:
    y, scores = two_outcomes(56)
    policy = voros.allocate(y, scores, voros.Scenario(cost_ratio=0.1), capacity=0.5)
    monitor = watched(policy, y, scores)
    monitor.withdraw([3, 4])
    assert monitor.status().cases == 54


def test_what_is_no_stream_is_refused() -> None:
    y, scores = two_outcomes()
    scenario = voros.Scenario(0.3, cost_ratio=0.1)
    policy = voros.allocate(y, scores, scenario, capacity=0.3)
    monitor = watched(policy, y, scores)
    with pytest.raises(ValueError, match="y_true has labels of 'lung'; the outcomes are 'sepsis'"):
        monitor.label({"lung": [1]}, cases=[1])
    with pytest.raises(ValueError, match="y_true names no outcome; the outcomes are 'sepsis', 'ki"):
        monitor.label([1], cases=[1])
    one = voros.ThresholdPolicy.from_validation(y["sepsis"], scores["sepsis"], scenario)
    with pytest.raises(
        ValueError, match="policy is a ThresholdPolicy of one stream, and what is deployed a JointP"
    ):
        monitor.adopt(one)
    with pytest.raises(ValueError, match="max_cost is not accepted with a JointPolicy"):
        voros.Monitor(policy, max_cost=0.1)
    with pytest.raises(ValueError, match="cost_ratio is not accepted with a JointPolicy"):
        voros.Monitor(policy, cost_ratio=0.1)
    with pytest.raises(ValueError, match="by is not accepted with a ThresholdPolicy"):
        voros.Monitor(one).update([1.0], cases=[1], times=[DAYS[0]], by=["a"])
    with pytest.raises(TypeError, match="accepted is a ThresholdPolicy, a JointPolicy or a Work"):
        voros.Monitor("policy.json")  # type: ignore[arg-type]


def test_a_case_of_another_group_than_before_is_refused() -> None:
    y, scores = two_outcomes()
    ward = np.where(np.arange(600) % 2, "a", "b")
    scenario = voros.Scenario(0.3, cost_ratio=0.1)
    policy = voros.allocate(y["sepsis"], scores["sepsis"], scenario, capacity=0.3, by=ward)
    monitor = voros.Monitor(policy)
    monitor.update([0.5], cases=["x"], times=[DAYS[0]], by=["a"])
    with pytest.raises(ValueError, match=r"'x' with score 0.5 in 'b' .* score 0.5 in 'a'"):
        monitor.update([0.5], cases=["x"], times=[DAYS[0]], by=["b"])
    with pytest.raises(ValueError, match="by holds 'c'; accepted are 'a', 'b'"):
        monitor.update([0.5], cases=["y"], times=[DAYS[0]], by=["c"])


def listing() -> voros.Monitor:
    y, scores = two_outcomes()
    scenario = voros.Scenario(0.2, 2, cost_ratio=0.1, per="day", exceed=0.0)
    days = [DAYS[28 * i // 600] for i in range(600)]
    return voros.Monitor(voros.worklist(y["sepsis"], scores["sepsis"], scenario, times=days))


def test_a_list_is_made_once_of_whole_periods() -> None:
    monitor = listing()
    scores, today = [3.0, 4.0, 5.0], [DAYS[0]] * 3
    first = monitor.update(scores, cases=["a", "b", "c"], times=today)
    assert first.alarms.tolist() == [False, True, True]
    # Alone, "a" would be listed; it was decided on with the others.
    again = monitor.update([3.0], cases=["a"], times=today[:1])
    assert (again.alarms.tolist(), again.repeated) == ([False], 1)
    with pytest.raises(ValueError, match="holds new ones of 2026-02-01, whose list is complete"):
        monitor.update([9.0, 3.0], cases=["d", "a"], times=today[:2])
    twice = monitor.update([6.0, 6.0, 5.0], cases=["e", "e", "f"], times=[DAYS[1]] * 3)
    assert (twice.alarms.tolist(), twice.new) == ([True] * 3, 2)
    assert monitor.status().alarms == 4
