"""Guarantee: certify thresholds whose limits hold on new data, with a stated confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from voros.alarms.stay_rows import rows_in_memory
from voros.core.arguments import check_confidence, check_count
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import (
    Argument,
    ArgumentError,
    IncompleteCountsError,
    LowConfidenceWarning,
    Message,
    warn_caller,
)
from voros.guarantee.binomial_tests import certified
from voros.guarantee.cluster_tests import ClusterTests, cluster_tests
from voros.guarantee.next_cases.certify import certified_next
from voros.guarantee.period_tests import certified_periods, why_none_certified
from voros.guarantee.recall_tests import recall_kept, recall_sentence, recall_shares
from voros.guarantee.shortfall import (
    first_passing,
    larger_capacities,
    limits_in_words,
    lower_floors,
    more_positives,
    relaxed_in_words,
    why_floor_fails,
)
from voros.guarantee.stay_tests import stay_tests
from voros.guarantee.tuning import TUNING
from voros.text.numbers import percent, typed
from voros.typing import BoolArray

LEAST_CONFIDENCE = 0.5
"""A lower confidence was probably meant as the error."""


@dataclass(frozen=True)
class Guarantee:
    """A promise that the limits of a scenario hold beyond the validation cases.

    Pass it as ``guarantee=`` to `ThresholdPolicy.from_validation`, `select_model` or the
    classifier. Thresholds that are not certified to keep the promise are not deployed; if none is,
    the policy never alarms. The tests are exact for independent cases that are drawn as those at
    deployment. Where patients have several cases, name the patient of each with ``groups=``;
    without it the promise does not hold.

    Parameters
    ----------
    confidence : float in (0, 1) or tuple of float, default 0.95
        Probability that no deployed threshold breaks a limit. Several, from high to low, are a
        ladder that is fixed beforehand: the highest at which a threshold passes is deployed, and
        any of them may be chosen after the results are seen. See `steps`.
    horizon : int, optional
        Promise the limits for the next n cases, whose counts vary by chance too. By default the
        promise is about the population: the rates in an unlimited number of new cases. Not for
        periods, stays or groups of several cases.
    block : int, default 1
        Where the capacity is one per period: number of neighbouring periods that are taken as one
        independent unit. Days that resemble the day before are not independent; weeks
        (``block=7``) may be.
    ladder : tuple of float, optional
        The confidences from which `confidence` was chosen; `steps` sets it.

    Warns
    -----
    LowConfidenceWarning
        When a confidence is below one half; the error was probably meant.

    Examples
    --------
    >>> import numpy as np
    >>> import voros
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(4000) < 0.2
    >>> y_score = y_true * 1.5 + rng.normal(size=4000)
    >>> points = voros.OperatingPoints.from_scores(y_true, y_score)
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.3, cost_ratio=(0.05, 0.1))
    >>> plain = points.feasible(scenario)
    >>> sure = Guarantee(confidence=0.95).allowed(points, scenario)
    >>> int(points.alarms[plain].max()), int(points.alarms[sure].max())
    (1164, 1057)
    """

    confidence: float | tuple[float, ...] = 0.95
    horizon: int | None = None
    block: int = 1
    ladder: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Check the arguments."""
        several = isinstance(self.confidence, (tuple, list))
        check = _check_ladder if several else _check_confidence
        object.__setattr__(self, "confidence", check(self.confidence))
        if self.ladder is not None:
            object.__setattr__(self, "ladder", _check_ladder(self.ladder, self.confidence))
        if self.horizon is not None:
            accepted = "a whole number of cases above 0, or None for the population"
            check_count(self.horizon, "horizon", accepted)
        check_count(self.block, "block", "a whole number of periods above 0")

    def __repr__(self) -> str:
        """Show the arguments; block and ladder only where they were set."""
        block = f", block={self.block}" if self.block > 1 else ""
        ladder = f", ladder={self.ladder!r}" if self.ladder else ""
        return f"Guarantee(confidence={self.confidence!r}, horizon={self.horizon!r}{block}{ladder})"

    @property
    def words(self) -> str:
        """The promise in words: for which cases, and with which confidence.

        Examples
        --------
        >>> print(Guarantee(0.9).words)
        limits kept in the population with 90 % confidence
        >>> print(Guarantee((0.95, 0.9), horizon=500).words)
        limits kept among the next 500 cases with 95 % or 90 % confidence
        """
        cases = f"among the next {self.horizon:,} cases" if self.horizon else "in the population"
        steps = self.confidence if isinstance(self.confidence, tuple) else (self.confidence,)
        block = f", taking {self.block} periods as one unit" if self.block > 1 else ""
        return f"limits kept {cases} with {' or '.join(map(percent, steps))} confidence{block}"

    @property
    def steps(self) -> tuple[Guarantee, ...]:
        """The guarantee of each confidence of a ladder, from high to low; itself without a ladder.

        Each is certified with a part of its error (see `tested`), so that the mean of
        ``broken / error`` is at most 1, whichever is chosen and for whatever reason.

        Examples
        --------
        >>> [step.confidence for step in Guarantee((0.95, 0.9, 0.8)).steps]
        [0.95, 0.9, 0.8]
        """
        ladder = self.confidence
        return tuple(map(self.at, ladder)) if isinstance(ladder, tuple) else (self,)

    @property
    def only_confidence(self) -> float:
        """The confidence; raises for a ladder."""
        if isinstance(self.confidence, tuple):
            raise ArgumentError(
                "confidence",
                f"={self.confidence!r} is a ladder, for policies and selections of models; "
                "accepted here is one number",
            )
        return self.confidence

    @property
    def alpha(self) -> float:
        """The allowed probability of a broken limit: one minus the confidence."""
        return 1.0 - self.only_confidence

    def at(self, confidence: float) -> Guarantee:
        """Return the guarantee of one confidence of the ladder that was fixed beforehand.

        Examples
        --------
        >>> Guarantee((0.95, 0.9, 0.8)).at(0.9)
        Guarantee(confidence=0.9, horizon=None, ladder=(0.95, 0.9, 0.8))
        """
        ladder = self.confidence if isinstance(self.confidence, tuple) else self.ladder
        return replace(self, confidence=confidence, ladder=ladder)

    @property
    def tested(self) -> tuple[Guarantee, ...]:
        """The guarantees without a ladder that a threshold must pass, each with part of the error.

        For the population all weaker steps must pass as well, so that certificates are nested. By
        summation by parts it is then enough to divide each error by 1 plus the sum of ``1 - a / b``
        over neighbouring errors a < b: by 1.5 for two errors of which one is half of the other, by
        2 for three. For the next cases deployed thresholds are not nested, and each error is
        divided by the number of steps.
        """
        if self.ladder is None:
            return (self,)
        errors = 1 - np.array(self.ladder)
        nested = self.horizon is None
        parts = 1 + np.sum(1 - errors[:-1] / errors[1:]) if nested else len(errors)
        steps = [step for step in self.ladder if step <= self.only_confidence]
        return tuple(
            replace(self, confidence=float(1 - (1 - step) / parts), ladder=None)
            for step in (steps if nested else steps[:1])
        )

    def split(self, n_models: int) -> Guarantee:
        """Return the guarantee to certify for each of several models, one of which is then chosen.

        Each model has an equal part of alpha (Bonferroni), so the promise holds for any choice.

        Examples
        --------
        >>> Guarantee(0.9, horizon=500).split(4)
        Guarantee(confidence=0.975, horizon=500)
        """
        n_models = check_count(n_models, "n_models", "a whole number above 0")
        return self if n_models == 1 else self.with_error(1 / n_models)

    def with_error(self, part: float) -> Guarantee:
        """Return the guarantee with a part of its error, at every step of a ladder.

        Examples
        --------
        >>> Guarantee(0.9).with_error(0.5)
        Guarantee(confidence=0.95, horizon=None)
        """

        def shrink(confidence: float) -> float:
            return 1.0 - (1.0 - confidence) * part

        if isinstance(self.confidence, tuple):
            return replace(self, confidence=tuple(map(shrink, self.confidence)))
        ladder = None if self.ladder is None else tuple(map(shrink, self.ladder))
        return replace(self, confidence=shrink(self.confidence), ladder=ladder)

    def limits(self, scenario: Scenario) -> Scenario:
        """Return the scenario as this guarantee reads it, for any number of cases.

        With a horizon, a capacity of whole alarms counts for one horizon, and becomes a share.

        Examples
        --------
        Twenty alarms in the next 1,000 cases are 600 in 30,000 validation cases:

        >>> daily = Scenario(capacity=20, cost_ratio=0.05)
        >>> Guarantee(0.95, horizon=1000).limits(daily).max_alarms(30_000)
        600.0
        """
        if self.horizon is None or not scenario.capacity_is_count or scenario.per is not None:
            return scenario
        return replace(scenario, capacity=min(scenario.capacity / self.horizon, 1.0))

    def allowed(self, points: OperatingPoints, scenario: Scenario) -> BoolArray:
        """Return which thresholds may be deployed; +inf always may, unless there is a recall floor.

        Parameters
        ----------
        points : OperatingPoints
            From `OperatingPoints.from_scores` on validation cases without weights: every distinct
            score, because the tests are valid in this order only. Where patients have several
            cases, from ``groups=`` too: then sums over patients are tested. Without groups all
            cases are taken as independent, and nothing can check that.
        scenario : Scenario
            Without a prevalence: reweighted counts have no exact test.

        Returns
        -------
        ndarray of bool
        """
        scenario = self.limits(check_scenario(scenario))
        passed = self.certified(points, scenario) & points.feasible(scenario)
        passed[0] = scenario.min_recall is None
        return passed

    def certified(self, points: OperatingPoints, scenario: Scenario) -> BoolArray:
        """Return which thresholds pass the tests; the scenario is one that `limits` returned."""
        if self.ladder is not None:
            passed = [guarantee.certified(points, scenario) for guarantee in self.tested]
            return np.asarray(np.all(passed, axis=0))
        n_cases = check_whole(points, scenario)
        alpha, horizon = self.alpha, self.horizon
        self._check_units(points, scenario)
        if (tests := _group_tests(points, scenario, alpha)) is not None:
            return tests.certified(points.thresholds)
        if scenario.per is not None:
            return certified_periods(points, scenario, alpha, self.block)
        alpha, for_recall = recall_shares(alpha, scenario, n_cases if horizon is None else horizon)
        recalled = recall_kept(points, scenario, horizon, for_recall)
        if horizon is None:
            capacity = scenario.max_alarms(n_cases)
            return recalled & certified(points, scenario.min_precision, capacity, alpha)
        return recalled & certified_next(points, scenario, horizon, alpha)

    def _check_units(self, points: OperatingPoints, scenario: Scenario) -> None:
        """Raise where a horizon, or blocks of periods, have no meaning."""
        units = _units(points, scenario)
        if self.horizon is not None and units != "cases":
            raise ArgumentError(
                "horizon",
                f"={self.horizon} with {units}: a guarantee for the next cases is for independent "
                "cases. Leave out the horizon for a guarantee of the population",
            )
        if self.block > 1 and units != "periods":
            needed = "a capacity per period, as Scenario(per='day', ...)"
            if units == "stays":
                needed = "periods of cases; over stays there are no blocks"
            raise ArgumentError("block", f"={self.block} needs {needed}")

    def explain(self, points: OperatingPoints, scenario: Scenario, n_models: int = 1) -> str:
        """Say why no threshold passes, and what would change that.

        The message says, in this order: which limit fails by how much, how many more validation
        positives are needed, at which confidence, floor or capacity a threshold would pass, and
        whether development cases would help.

        Parameters
        ----------
        points, scenario
            As in `allowed`.
        n_models : int, default 1
            Number of models over which the error is split.

        Returns
        -------
        str
        """
        check_whole(points, scenario)
        about = (
            "in the population" if self.horizon is None else f"in the next {self.horizon:,} cases"
        )
        limits, scenario = limits_in_words(scenario), self.limits(scenario)
        said = [
            f"no threshold keeps {limits} {about} with confidence "
            f"{typed(self.only_confidence)}, so none is certified. ",
            " ".join(
                [
                    *self.split(n_models)._closest(points, scenario),
                    *self._relaxed(points, scenario, n_models),
                ]
            ),
        ]
        if _units(points, scenario) == "cases":
            said += [
                " Development cases (",
                Argument("development=", "development"),
                ") would help: thresholds that are fixed on them need fewer validation cases.",
            ]
        return Message(*said)

    def _closest(self, points: OperatingPoints, scenario: Scenario) -> list[str]:
        """Say which threshold came closest, and how many more cases are needed."""
        tested = self.tested[0]
        if (tests := _group_tests(points, scenario, tested.alpha)) is not None:
            of_stays = "periods of admission" if scenario.per_period else "patients"
            return [tests.sentence("groups" if points.stays is None else of_stays)]
        if scenario.per is not None:
            return [why_none_certified(points, scenario, tested.alpha, self.block)]
        why = self._why_not(points, scenario, tested.alpha)
        more = more_positives(points, lambda others: self._passes(others, scenario), self._n_parts)
        return [why, more]

    def _why_not(self, points: OperatingPoints, scenario: Scenario, alpha: float) -> str:
        """Say which limit fails: the recall floor, where a threshold passes the other limits."""
        limits, horizon = scenario.changed(min_recall=None), self.horizon
        cases = points.n_cases if horizon is None else horizon
        alpha, for_recall = recall_shares(alpha, scenario, cases)
        if for_recall > 0:
            others = np.ones(len(points), dtype=np.bool_)
            if alpha > 0:
                others = replace(self, confidence=1 - alpha, ladder=None).certified(points, limits)
            if others[1:].any():
                return recall_sentence(points, scenario, horizon, for_recall, others)
        return why_floor_fails(points, limits, alpha, horizon)

    def _relaxed(self, points: OperatingPoints, scenario: Scenario, n_models: int) -> list[str]:
        """Say at which confidence, floor or capacity a threshold would pass."""

        def first(ways: Sequence[tuple[float, Guarantee, Scenario]]) -> float | None:
            passing = first_passing(
                ways, lambda way: way[1].split(n_models)._passes(points, way[2]), self._n_parts
            )
            return None if passing is None else passing[0]

        # A ladder already has weaker steps.
        most = 0.0 if self.ladder else LEAST_CONFIDENCE / self.alpha
        weaker = [self.with_error(times) for times in TUNING.larger_errors if times < most]
        floors, recalls = map(lower_floors, (scenario.min_precision, scenario.min_recall or 0.0))
        by_count = scenario.per is not None or scenario.capacity_is_count
        shares = [] if by_count else larger_capacities(float(scenario.capacity))
        ways = {
            "confidence": [(g.only_confidence, g, scenario) for g in weaker],
            "precision floor": [(v, self, scenario.changed(min_precision=v)) for v in floors],
            "recall floor": [(v, self, scenario.changed(min_recall=v)) for v in recalls],
            "capacity": [(v, self, scenario.changed(capacity=v)) for v in shares],
        }
        return relaxed_in_words({name: first(values) for name, values in ways.items()})

    @property
    def _n_parts(self) -> int:
        return TUNING.shortfall_parts if self.horizon is None else 1

    def _passes(self, points: OperatingPoints, scenario: Scenario) -> bool:
        """Whether a threshold that raises an alarm passes."""
        certified = self.certified(points, scenario)
        return bool((certified & points.feasible(scenario))[1:].any())


def _units(points: OperatingPoints, scenario: Scenario) -> str:
    """Return the name of the units that are taken as independent."""
    if points.stays is not None:
        return "stays"
    if scenario.per is not None:
        return "periods"
    repeated_groups = points.grouped is not None and points.grouped.repeated
    return "groups of several cases" if repeated_groups else "cases"


def _group_tests(points: OperatingPoints, scenario: Scenario, alpha: float) -> ClusterTests | None:
    """Return the tests of patients, who have stays or several cases; None for other units."""
    if points.stays is not None:
        return stay_tests(rows_in_memory(points.stays), scenario, alpha)
    if _units(points, scenario) == "groups of several cases":
        assert points.grouped is not None
        return cluster_tests(points.grouped, scenario, alpha)
    return None


def _check_confidence(value: Any) -> float:
    confidence = check_confidence(value)
    if confidence < LEAST_CONFIDENCE:
        warn_caller(
            f"confidence={confidence!r} allows limits to break with a probability of "
            f"{typed(round(1 - confidence, 9))}. For an error of {confidence!r}, write "
            f"Guarantee({typed(round(1 - confidence, 9))})",
            LowConfidenceWarning,
        )
    return confidence


def _check_ladder(values: Any, chosen: object = None) -> tuple[float, ...]:
    """Return the confidences of a ladder, or raise unless they fall and include the chosen one."""
    ladder = tuple(map(_check_confidence, values))
    falling = len(ladder) > 1 and all(one > other for one, other in pairwise(ladder))
    if not falling or (chosen is not None and chosen not in ladder):
        name = "confidence" if chosen is None else "ladder"
        within = "" if chosen is None else f", one of them confidence={chosen!r}"
        raise ArgumentError(
            name, f"={ladder!r}; accepted are several confidences from high to low{within}"
        )
    return ladder


def check_whole(points: OperatingPoints, scenario: Scenario) -> int:
    """Return the number of cases, or raise where the tests would not be exact."""
    if not points.covers.every_score:
        raise IncompleteCountsError(
            "a guarantee tests every distinct score, and these points may leave some out; count "
            "the cases with OperatingPoints.from_scores, or pass every_score=True to from_counts "
            "if the points hold all scores"
        )
    if scenario.prevalence is not None:
        raise ArgumentError(
            "prevalence",
            f"={scenario.prevalence!r} cannot be combined with a guarantee: its exact "
            "tests need cases that are drawn as those at deployment, not reweighted ones",
        )
    integral = points.whole and points.fp.dtype.kind in "iu"
    if not integral or not float(points.n_cases).is_integer():
        raise ValueError(
            "a guarantee needs whole cases, but the counts are weighted (sample_weight) or rates; "
            "its exact tests hold for independent cases of weight one"
        )
    return int(points.n_cases)
