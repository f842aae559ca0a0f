"""What is decided on words as labels knows the positive one, and reads booleans and words alike."""

from __future__ import annotations

import numpy as np
import pytest

import voros
from voros.core.cases import read_labels
from voros.policy import ReviewBand, Worklist, review_band

RNG = np.random.default_rng(5)
ILL = RNG.random(300) < 0.3
SCORE = 2 * ILL + RNG.normal(size=300)
WORDS = np.where(ILL, "ill", "well")
DAY = np.datetime64("2026-03-01") + np.arange(300) // 15
LIMITS = {"min_precision": 0.4, "cost_ratio": 0.2}
SCENARIO = voros.Scenario(**LIMITS, capacity=0.3)
DAILY = voros.Scenario(**LIMITS, capacity=3, per="day")

POLICY = voros.ThresholdPolicy.from_validation(WORDS, SCORE, SCENARIO, pos_label="ill")
LIST = voros.worklist(WORDS, SCORE, DAILY, times=DAY, pos_label="ill")
BAND = review_band(
    WORDS, SCORE, SCENARIO, review_capacity=0.1, review_cost=0.01, pos_label="ill", model="risk"
)


def caught(decided, y_true) -> float:
    """Positives that raise an alarm, as an evaluation counts them."""
    if isinstance(decided, ReviewBand):
        return decided.evaluate(y_true, SCORE).positive[0]
    if isinstance(decided, Worklist):
        evaluation = decided.evaluate(y_true, SCORE, times=DAY).worklist
    else:
        evaluation = decided.evaluate(y_true, SCORE)
    return evaluation.mean_precision * evaluation.mean_alarms


def alarms(decided):
    if isinstance(decided, Worklist):
        return decided.predict(SCORE, times=DAY)
    raised = decided.predict(SCORE)
    return raised == "alarm" if isinstance(decided, ReviewBand) else raised


DECIDED = pytest.mark.parametrize("decided", [POLICY, LIST, BAND], ids=["policy", "list", "band"])


@DECIDED
def test_words_and_booleans_of_any_kind_are_the_same_labels(decided) -> None:
    pd = pytest.importorskip("pandas")
    expected = pytest.approx(ILL[alarms(decided)].sum())
    for labels in (WORDS, ILL, ILL.tolist(), pd.Series(ILL), pd.Series(ILL, dtype="boolean")):
        assert caught(decided, labels) == expected
        assert caught(type(decided).from_json(decided.to_json()), labels) == expected


@DECIDED
def test_labels_that_are_neither_are_refused(decided) -> None:
    for labels in (ILL.astype(int), np.ones(300, dtype=int)):
        with pytest.raises(ValueError, match="pos_label='ill' is not one of the labels of y_true"):
            caught(decided, labels)


@pytest.mark.parametrize("pos_label", ["ill", 7, "True"])
def test_booleans_have_no_other_label(pos_label) -> None:
    with pytest.raises(ValueError, match=r"is not one of the labels of y_true \(False, True\)"):
        read_labels(ILL, pos_label)


@pytest.mark.parametrize("pos_label", [False, 0])
def test_the_positive_boolean_may_be_false(pos_label) -> None:
    assert np.array_equal(read_labels(ILL, pos_label), ~ILL)
    assert np.array_equal(read_labels(np.zeros(3, dtype=bool), pos_label), [True] * 3)


def test_a_monitor_reads_labels_as_its_policy_does() -> None:
    raised = POLICY.predict(SCORE)
    for labels in (WORDS, ILL, ILL.tolist()):
        monitor = voros.Monitor(POLICY, window=1, validation=(labels, SCORE))
        monitor.update(SCORE, cases=range(300), times=DAY)
        monitor.label(labels, cases=range(300))
        monitor.advance("2026-04-01")
        said = f"{ILL[raised].sum()} of {raised.sum()} alarms were true"
        assert said in monitor.status()["precision"].words
    with pytest.raises(ValueError, match=r"'ill' is not one of the labels of y_true \(1\)"):
        monitor.label([1], cases=[0])


def test_compared_policies_share_the_label_they_were_decided_with() -> None:
    scores, few = {"one": SCORE, "two": SCORE}, {"n_resamples": 100, "random_state": 0}
    remembered = voros.compare_policies(WORDS, scores, {"one": POLICY, "two": POLICY}, **few)
    stated = voros.compare_policies(ILL, scores, {"one": POLICY, "two": POLICY}, **few)
    assert repr(remembered) == repr(stated)
    numbers = voros.ThresholdPolicy.from_validation(ILL.astype(int), SCORE, SCENARIO)
    with pytest.raises(ValueError, match=r"pos_label is needed: .* decided with 'ill' and None"):
        voros.compare_policies(WORDS, scores, {"one": POLICY, "two": numbers}, **few)


def test_a_band_takes_the_column_of_its_model() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"other": -SCORE, "risk": SCORE})
    assert np.array_equal(BAND.predict(frame), BAND.predict(SCORE))
    assert BAND.evaluate(ILL, frame).cases == BAND.evaluate(ILL, SCORE).cases
    with pytest.raises(ValueError, match=r"is named 'other', and the policy is for .* 'risk'"):
        BAND.predict(frame["other"])
    with pytest.raises(ValueError, match="have the same index in different orders"):
        BAND.evaluate(pd.Series(ILL), frame.iloc[::-1])
