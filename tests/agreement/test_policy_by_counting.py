"""What a policy does on new cases, counted case by case in rational arithmetic.

Thresholds come from other cases than they are tried on, so that limits are kept, met exactly and
broken about equally often. Costs are samples or uniform: both have exact sums to compare with.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from html import unescape

import numpy as np
import pytest
from deployment_oracle import INF

from voros import OperatingPoints, Scenario, ThresholdPolicy, costs
from voros.policy import PolicyEvaluation

pytestmark = pytest.mark.filterwarnings("ignore::voros.exceptions.InvertedCostsWarning")
"""Counting holds where false alarms cost more than misses, too."""

CLOSE = 1e-12


@dataclass(frozen=True)
class Trial:
    """A policy, the cases it is tried on, and the limits they are held to."""

    policy: ThresholdPolicy
    labels: list[int]
    scores: list[float]
    weights: list[Fraction] | None
    floor: Fraction
    capacity: Fraction | int
    prevalence: Fraction | None
    ratios: tuple[Fraction, ...]
    """Equally likely cost ratios, or the ends of a range of them."""
    uniform: bool

    def evaluate(self) -> PolicyEvaluation:
        weights = None if self.weights is None else [float(w) for w in self.weights]
        return self.policy.evaluate(self.labels, self.scores, sample_weight=weights, by_cost=True)


@dataclass(frozen=True)
class Deployed:
    """One threshold, when it is deployed, and what it does."""

    threshold: float
    low: Fraction
    high: Fraction
    probability: Fraction
    tp: Fraction
    fp: Fraction

    @property
    def alarms(self) -> Fraction:
        return self.tp + self.fp


def random_cases(rng: np.random.Generator, n_cases: int) -> tuple[list[int], list[float]]:
    n_positive = int(rng.integers(1, n_cases))
    labels = rng.permutation([1] * n_positive + [0] * (n_cases - n_positive))
    return labels.tolist(), (rng.integers(0, 6, n_cases) + 2.0 * labels).tolist()


def random_trial(rng: np.random.Generator) -> Trial:
    uniform = bool(rng.random() < 0.5)
    drawn = sorted({Fraction(int(rng.integers(1, 32)), 64) for _ in range(5)})
    ratios = (drawn[0], drawn[-1] + Fraction(1, 2)) if uniform else tuple(drawn)
    values = [float(ratio) for ratio in ratios]
    distribution = costs.uniform(*values) if uniform else costs.from_samples(values)
    floor = Fraction(int(rng.integers(0, 9)), 8)
    capacity = [Fraction(int(rng.integers(1, 9)), 8), int(rng.integers(2, 9))][int(rng.integers(2))]
    prevalence = Fraction(1, 4) if rng.random() < 0.3 else None
    limits = Scenario(
        float(floor),
        capacity if isinstance(capacity, int) else float(capacity),
        distribution,
        None if prevalence is None else float(prevalence),
    )
    free = ThresholdPolicy.from_validation(
        *random_cases(rng, 25), Scenario(cost_ratio=distribution)
    )
    labels, scores = random_cases(rng, int(rng.integers(4, 14)))
    weights = [Fraction(int(w), 4) for w in rng.integers(1, 9, len(labels))]
    return Trial(
        replace(free, scenario=limits),
        labels,
        scores,
        weights if rng.random() < 0.3 else None,
        floor,
        capacity,
        prevalence,
        ratios,
        uniform,
    )


def class_weights(trial: Trial) -> tuple[list[Fraction], Fraction, Fraction]:
    """What each case counts for, and the class sizes, at the prevalence that is meant."""
    weights = trial.weights or [Fraction(1)] * len(trial.labels)
    total = sum(weights, Fraction(0))
    positive = sum((w for w, y in zip(weights, trial.labels, strict=True) if y), Fraction(0))
    wanted = positive if trial.prevalence is None else trial.prevalence * total
    factor = {1: wanted / positive, 0: (total - wanted) / (total - positive)}
    counted = [w * factor[y] for w, y in zip(weights, trial.labels, strict=True)]
    return counted, wanted, total - wanted


def probability_between(trial: Trial, low: float, high: float) -> Fraction:
    """Of cost ratios from `low` up to but not including `high`."""
    if not trial.uniform:
        inside = [c for c in trial.ratios if low <= c < high]
        return Fraction(len(inside), len(trial.ratios))
    start, end = trial.ratios
    top = end if high == INF else min(end, Fraction(high))
    return max(top - max(start, Fraction(low)), Fraction(0)) / (end - start)


def deployed(trial: Trial) -> list[Deployed]:
    counted = class_weights(trial)[0]
    cases = list(zip(trial.labels, trial.scores, counted, strict=True))
    ends = [0.0, *trial.policy.switches.tolist(), INF]
    parts = []
    for i, threshold in enumerate(trial.policy.thresholds.tolist()):
        probability = probability_between(trial, ends[i], ends[i + 1])
        tp = sum((w for y, s, w in cases if y and s >= threshold), Fraction(0))
        fp = sum((w for y, s, w in cases if not y and s >= threshold), Fraction(0))
        if probability > 0:
            low = max(Fraction(ends[i]), trial.ratios[0])
            high = trial.ratios[-1]
            if ends[i + 1] < high:
                high = Fraction(ends[i + 1])
            parts.append(Deployed(threshold, low, high, probability, tp, fp))
    return parts


def expected_cost(trial: Trial) -> float:
    """Mean of (c FP + misses) / (c N + P): a sum, or one logarithm for each threshold."""
    _, p, n = class_weights(trial)
    total = 0.0
    for one in deployed(trial):
        misses = p - one.tp
        if trial.uniform:
            rest = float((misses - one.fp * p / n) / n)
            logarithm = math.log((one.high * n + p) / (one.low * n + p))
            width = trial.ratios[1] - trial.ratios[0]
            total += (float(one.fp / n * (one.high - one.low)) + rest * logarithm) / float(width)
        else:
            inside = [c for c in trial.ratios if trial.policy.threshold(float(c)) == one.threshold]
            terms = [(c * one.fp + misses) / (c * n + p) for c in inside]
            total += float(sum(terms, Fraction(0)) / len(trial.ratios))
    return total


def cost_of_1000(trial: Trial) -> Fraction:
    """Mean of c FP + misses, for 1,000 cases: the mean of c on an interval is its middle."""
    _, p, n = class_weights(trial)
    total = Fraction(0)
    for one in deployed(trial):
        inside = [c for c in trial.ratios if trial.policy.threshold(float(c)) == one.threshold]
        middle = (one.low + one.high) / 2 if trial.uniform else sum(inside) / len(inside)
        total += one.probability * (middle * one.fp + p - one.tp)
    return 1000 * total / (p + n)


def max_alarms(trial: Trial) -> Fraction:
    _, p, n = class_weights(trial)
    if isinstance(trial.capacity, int):
        return min(Fraction(trial.capacity), p + n)
    return trial.capacity * (p + n)


@pytest.fixture(scope="module")
def trials() -> list[Trial]:
    rng = np.random.default_rng(5)
    return [random_trial(rng) for _ in range(250)]


def test_what_each_deployed_threshold_does(trials: list[Trial]) -> None:
    for trial in trials:
        got, expected = trial.evaluate(), deployed(trial)
        positive = class_weights(trial)[1]
        assert [c.threshold for c in got.choices] == [one.threshold for one in expected]
        assert got.probabilities == pytest.approx([float(o.probability) for o in expected])
        for choice, one in zip(got.choices, expected, strict=True):
            assert choice.cost_ratio_low == pytest.approx(float(one.low), rel=CLOSE)
            assert choice.cost_ratio_high == pytest.approx(float(one.high), rel=CLOSE)
            assert choice.tp == pytest.approx(float(one.tp), rel=CLOSE)
            assert choice.fp == pytest.approx(float(one.fp), rel=CLOSE)
            assert choice.recall == pytest.approx(float(one.tp / positive), rel=CLOSE)


def test_means_over_the_costs(trials: list[Trial]) -> None:
    for trial in trials:
        got, expected = trial.evaluate(), deployed(trial)
        raising = [one for one in expected if one.alarms > 0]
        alarms = sum((one.probability * one.alarms for one in expected), Fraction(0))
        assert got.expected_cost == pytest.approx(expected_cost(trial), abs=CLOSE)
        assert got.cost_per_1000 == pytest.approx(float(cost_of_1000(trial)), rel=CLOSE)
        recall = sum((one.probability * one.tp for one in expected), Fraction(0))
        assert got.mean_recall == pytest.approx(float(recall / class_weights(trial)[1]), rel=CLOSE)
        assert got.mean_alarms == pytest.approx(float(alarms), rel=CLOSE)
        assert got.max_alarms == pytest.approx(float(max_alarms(trial)), rel=CLOSE)
        if not raising:
            assert math.isnan(got.mean_precision)
            continue
        weighted_precision = sum(
            (one.probability * one.tp / one.alarms for one in raising), Fraction(0)
        )
        share = sum((one.probability for one in raising), Fraction(0))
        assert got.mean_precision == pytest.approx(float(weighted_precision / share), rel=CLOSE)


def test_operating_points_and_cases_lead_to_the_same(trials: list[Trial]) -> None:
    for trial in trials[::4]:
        weights = None if trial.weights is None else [float(w) for w in trial.weights]
        points = OperatingPoints.from_scores(trial.labels, trial.scores, sample_weight=weights)
        by_points = trial.policy.evaluate(points, by_cost=True, confidence_level=0.8)
        by_cases = trial.evaluate()
        if weights is None:
            assert by_points.intervals.confidence_level == 0.8
            (low, high), (least, most) = by_points.intervals.alarms, by_cases.intervals.alarms
            assert least <= low <= high <= most
        assert by_points.expected_cost == pytest.approx(by_cases.expected_cost, abs=CLOSE)
        assert by_points.cost_per_1000 == pytest.approx(by_cases.cost_per_1000, rel=CLOSE)
        assert by_points.satisfied == by_cases.satisfied
        for one, other in zip(by_points.choices, by_cases.choices, strict=True):
            assert (one.threshold, one.tp, one.fp) == pytest.approx(
                (other.threshold, other.tp, other.fp), rel=CLOSE
            )


def check_violation(got, limit, bound, worst, broken: list[Deployed]) -> None:
    assert got.limit == limit
    assert got.bound == pytest.approx(float(bound), rel=CLOSE)
    assert got.worst == pytest.approx(float(worst), rel=CLOSE)
    assert got.missed_by == pytest.approx(float(abs(bound - worst)), abs=CLOSE)
    assert got.probability == pytest.approx(float(sum(o.probability for o in broken)), rel=CLOSE)
    assert [c.threshold for c in got.where] == [o.threshold for o in broken]


def test_broken_limits_are_found_and_measured(trials: list[Trial]) -> None:
    kept = met = 0
    for trial in trials:
        violations = list(trial.evaluate().violations)
        raising = [one for one in deployed(trial) if one.alarms > 0]
        imprecise = [one for one in raising if one.tp < trial.floor * one.alarms]
        crowded = [one for one in raising if one.alarms > max_alarms(trial)]
        if imprecise:
            worst = min(one.tp / one.alarms for one in imprecise)
            check_violation(violations.pop(0), "precision", trial.floor, worst, imprecise)
        if crowded:
            most = max(one.alarms for one in crowded)
            check_violation(violations.pop(0), "capacity", max_alarms(trial), most, crowded)
        assert violations == []
        assert trial.evaluate().satisfied == (not imprecise and not crowded)
        kept += not imprecise and not crowded
        met += any(one.alarms == max_alarms(trial) for one in raising)
    assert kept > 20
    assert met > 10


def test_a_frame_marks_the_limits_that_each_threshold_keeps(trials: list[Trial]) -> None:
    pytest.importorskip("pandas")
    for trial in trials[::5]:
        frame = trial.evaluate().frame(backend="pandas")
        for column, keeps in (
            ("keeps_precision", lambda one, t=trial: one.tp >= t.floor * one.alarms),
            ("keeps_capacity", lambda one, t=trial: one.alarms <= max_alarms(t)),
        ):
            assert frame[column].tolist() == [keeps(one) for one in deployed(trial)]
        assert frame["probability"].tolist() == pytest.approx(
            [float(one.probability) for one in deployed(trial)]
        )


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_of_the_library_that_was_asked_for(trials: list[Trial], backend: str) -> None:
    pytest.importorskip(backend)
    frame = trials[0].evaluate().frame(backend=backend)
    assert type(frame).__module__.split(".")[0] == backend


VIOLATIONS = re.compile(
    r"(precision|capacity): (\S+?)(?: alarms)?, at (least|most) (\S+) (?:required|allowed)"
    r"(?: \(at cost ratios (\S+ to \S+(?:, \S+ to \S+)*), (\S+) % of the cost distribution\))?"
)


def test_the_text_says_whether_and_how_limits_are_broken(trials: list[Trial]) -> None:
    several = 0
    for trial in trials:
        evaluation = trial.evaluate()
        lines = repr(evaluation).splitlines()
        said = f"limits kept on these cases: {'no' if evaluation.violations else 'yes'}"
        lines = lines[lines.index(said) + 1 :]
        for violation in evaluation.violations:
            line = next(line for line in lines if line.startswith(violation.limit))
            limit, worst, side, bound, spans, probability = VIOLATIONS.fullmatch(line).groups()
            assert side == {"precision": "least", "capacity": "most"}[limit]
            # Sums of weights are limited by the capacity itself, counts by its whole part; a
            # capacity below one alarm is written as it is.
            counted = limit == "capacity" and float(violation.worst).is_integer()
            counted = counted and violation.bound >= 1
            whole = np.floor(violation.bound) if counted else violation.bound
            numbers = [float(x.replace(",", "")) for x in (worst, bound, probability or "100")]
            measured = (violation.worst, whole, 100 * violation.probability)
            assert numbers == pytest.approx(measured, rel=0.006)
            if spans is None:
                continue
            ends = [[float(end) for end in span.split(" to ")] for span in spans.split(", ")]
            assert np.array(ends) == pytest.approx(
                np.array([[c.cost_ratio_low, c.cost_ratio_high] for c in violation.where]),
                rel=5.1e-3,
            )
            several += len(ends) > 1
    assert several > 10


def test_a_notebook_shows_the_same_lines_as_the_text(trials: list[Trial]) -> None:
    for trial in trials[::4]:
        evaluation = trial.evaluate()
        title, *lines = repr(evaluation).splitlines()
        kept = next(i for i, line in enumerate(lines) if line.startswith("limits kept"))
        shown = evaluation._repr_html_()
        paragraphs = re.findall(r"<p>(.*?)</p>", shown)
        assert [unescape(text) for text in paragraphs] == [title, *lines[kept:]]
        assert re.sub(r"<(p|table)>.*?</\1>", "", shown) == ""


def shown_numbers(cell: str) -> list[float]:
    # A mean that is not there, such as a precision without alarms, is a dash.
    return [float("nan" if n == "-" else n.replace(",", "")) for n in cell.split(" to ")]


def test_a_notebook_shows_means_intervals_and_limits(trials: list[Trial]) -> None:
    for trial in trials[::4]:
        got = trial.evaluate()
        intervals = got.intervals
        shown = got._repr_html_()
        head = re.findall(r"<th>(.*?)</th>", shown)
        assert head == ["", "mean", "95 % interval" if intervals else "", "limit"]
        # Each row begins with its heading.
        cells = re.findall(r'<t[dh](?: scope="row")?>(.*?)</t[dh]>', shown)[4:]
        rows = ["expected cost", "cost of 1,000 cases, in misses", "precision", "recall", "alarms"]
        assert cells[::4] == rows == re.findall(r'<th scope="row">(.*?)</th>', shown)
        means = (got.expected_cost, got.cost_per_1000, got.mean_precision, got.mean_recall)
        close = {"rel": 5.1e-3, "abs": 1e-9, "nan_ok": True}
        for i, mean in enumerate((*means, got.mean_alarms)):
            of_count = {"abs": 0.5} if i == 4 and mean >= 100 else {"rel": 0.006} if i == 4 else {}
            assert shown_numbers(cells[4 * i + 1]) == pytest.approx([mean], **close | of_count)
        names = ("cost", "cost_per_1000", "precision", "recall", "alarms")
        for i, name in enumerate(names):
            ends = cells[4 * i + 2]
            if intervals is None:
                assert ends == ""
            else:
                low, high = getattr(intervals, name)
                if name == "alarms":  # whole numbers, rounded outwards
                    low, high = np.floor(low), np.ceil(high)
                assert shown_numbers(ends) == pytest.approx([low, high], **close)
        limits = [cells[4 * i + 3] for i in range(5)]
        assert limits[:2] + limits[3:4] == ["", "", ""]
        # A floor of 0 and a capacity of all cases limit nothing, so none is shown.
        floor = float(limits[2].removeprefix("at least ") or 0)
        assert floor == pytest.approx(float(trial.floor))
        without_capacity = isinstance(trial.capacity, Fraction) and trial.capacity == 1
        assert (limits[4] == "") == without_capacity
        if not without_capacity:
            most = float(limits[4].removeprefix("at most ").replace(",", ""))
            assert most == pytest.approx(float(max_alarms(trial)), rel=1e-5, abs=0.999)


def policy_at(*thresholds: float) -> ThresholdPolicy:
    """A policy with the given falling thresholds, each deployed at some cost."""
    steps = np.arange(1, len(thresholds) + 1)
    points = OperatingPoints.from_counts(
        4 * steps - steps * (steps - 1) // 2, 10 * steps, 10, 50, thresholds=list(thresholds)
    )
    policy = ThresholdPolicy.from_points(points, Scenario(cost_ratio=(0.01, 0.6)))
    assert policy.thresholds.tolist() == [*thresholds[::-1], INF]
    return policy


def test_points_may_end_where_the_lowest_threshold_is() -> None:
    new = OperatingPoints.from_counts([1, 2, 3], [1, 2, 4], 4, 6, thresholds=[0.8, 0.6, 0.4])
    got = policy_at(0.8, 0.4).evaluate(new, by_cost=True)
    assert [(c.tp, c.fp) for c in got.choices] == [(3, 4), (1, 1), (0, 0)]


def test_stated_points_are_not_looked_up_between_or_beyond() -> None:
    new = OperatingPoints.from_counts([1, 2, 3], [1, 2, 4], 4, 6, thresholds=[0.8, 0.6, 0.4])
    for threshold in (0.7, 0.3):
        message = rf"the alarms at threshold {threshold:g} were not counted"
        with pytest.raises(ValueError, match=message):
            policy_at(0.8, threshold).evaluate(new, by_cost=True)
    with pytest.raises(ValueError, match=r"^points carry no thresholds"):
        policy_at(0.7).evaluate(OperatingPoints.from_points([0.1], [0.5], 10, 90), by_cost=True)


@pytest.mark.parametrize(("n_positive", "n_negative"), [(1, 9), (9, 1), (1, 1), (2, 7)])
def test_costs_over_t_are_read_with_the_class_sizes_however_few(n_positive, n_negative) -> None:
    # t = cN / (cN + P), so that c = t / (1 - t) * P / N: from 1/4 to 3/2 of P / N.
    scenario = Scenario(cost_ratio=costs.uniform_t(0.2, 0.6))
    policy = replace(policy_at(0.7, 0.4), scenario=scenario)
    labels = [1] * n_positive + [0] * n_negative
    got = policy.evaluate(labels, [0.5] * len(labels), by_cost=True)
    per_negative = n_positive / n_negative
    assert got.choices[0].cost_ratio_low == pytest.approx(per_negative / 4, rel=CLOSE)
    assert got.choices[-1].cost_ratio_high == pytest.approx(per_negative * 3 / 2, rel=CLOSE)
    for choice, following in itertools.pairwise(got.choices):
        assert choice.cost_ratio_high == following.cost_ratio_low
    assert got.probabilities.sum() == pytest.approx(1)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("distribution", [costs.uniform(0.1, 0.6), costs.miss_costs(2, 9)])
def test_cases_of_one_class_keep_the_range_of_the_costs(label, distribution) -> None:
    policy = replace(policy_at(0.7, 0.4), scenario=Scenario(cost_ratio=distribution))
    got = policy.evaluate([label] * 4, [0.5] * 4, by_cost=True)
    low, high = sorted({0.1: (0.1, 0.6), 2: (1 / 9, 1 / 2)}[distribution.support[0]])
    assert got.choices[0].cost_ratio_low == pytest.approx(low)
    assert got.choices[-1].cost_ratio_high == pytest.approx(high)


def test_false_alarms_without_bound_cost_nothing_where_there_is_none() -> None:
    # t up to 1: the mean cost ratio is infinite, and 0.9 is above every negative.
    scenario = Scenario(cost_ratio=costs.uniform_t(0.5, 1.0))
    one = replace(policy_at(0.9, 0.4), scenario=scenario).fixed()
    one = replace(one, default=replace(one.default, threshold=0.9))
    one = replace(one, choices=(one.default,))
    got = one.evaluate([1, 1, 1, 0, 0], [0.95, 0.9, 0.1, 0.8, 0.2])
    assert [(c.tp, c.fp) for c in got.choices] == [(2, 0)]
    assert got.cost_per_1000 == pytest.approx(1000 * 1 / 5)
    dear = one.evaluate([1, 1, 1, 0, 0], [0.95, 0.9, 0.1, 0.9, 0.2])
    assert dear.cost_per_1000 == math.inf


def test_the_least_capacity_is_that_of_the_lightest_case_at_the_prevalence() -> None:
    # Half of ten cases by weight: a positive counts 5 / 2, a negative 5 / 8.
    labels, scores = [1] * 2 + [0] * 8, [0.5, 0.4, 0.9, *([0.1] * 7)]
    for capacity, admits in ((0.0624, False), (0.0626, True), (0.2, True)):
        scenario = Scenario(0.0, capacity, cost_ratio=0.1, prevalence=0.5)
        if admits:
            ThresholdPolicy.from_validation(labels, scores, scenario)
        else:
            with pytest.raises(ValueError, match="capacity"):
                ThresholdPolicy.from_validation(labels, scores, scenario)
