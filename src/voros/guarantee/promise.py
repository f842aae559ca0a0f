"""Deploy only thresholds whose limits hold on new data, with a stated confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from voros.core.arguments import check_confidence, check_count
from voros.core.grouped_cases import GroupedCases
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import ArgumentError, IncompleteCountsError
from voros.guarantee.binomial_tests import certified
from voros.guarantee.cluster_tests import certified_groups, cluster_tests
from voros.guarantee.next_cases import EXACT, ROUGH, Needs, certified_next
from voros.guarantee.period_tests import certified_periods, why_none_certified
from voros.guarantee.shortfall import Shortfall, shortfall
from voros.typing import AnyArray, BoolArray


@dataclass(frozen=True)
class Guarantee:
    """A promise that precision and capacity limits hold beyond the validation cases.

    Pass it as ``guarantee=`` to `ThresholdPolicy.from_validation`, `select_model` or the
    classifier. Thresholds that cannot keep the promise are not deployed; if none can, never alarm
    is. The tests are exact for independent cases drawn as those at deployment will be. Where
    patients come more than once, say whose case it is with ``groups=``: nothing else can tell,
    and without it the promise does not hold.

    Parameters
    ----------
    confidence : float in (0, 1), default 0.95
        How sure to be that no deployed threshold breaks a limit.
    horizon : int, optional
        Promise it of the next n cases, whose counts are left to chance as well. By default
        the promise is of the population: of the rates that endless new cases would show. Where
        the capacity is one per period, n counts periods.
    block : int, default 1
        Where the capacity is one per period: how many neighbouring periods are taken as one
        independent unit. Days that resemble the day before are not independent; weeks of them,
        ``block=7``, may be.

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

    confidence: float = 0.95
    horizon: int | None = None
    block: int = 1

    def __post_init__(self) -> None:
        """Check the arguments."""
        number = isinstance(self.confidence, Real) and not isinstance(self.confidence, bool)
        if not number or not 0 < self.confidence < 1:
            check_confidence(self.confidence)
        if self.horizon is not None:
            accepted = "a whole number of cases above 0, or None for the population"
            check_count(self.horizon, "horizon", accepted)
        check_count(self.block, "block", "a whole number of periods above 0")
        if self.block > 1 and self.horizon is not None:
            raise ArgumentError(
                "block",
                f"={self.block} and horizon={self.horizon} are mutually exclusive: a guarantee of "
                "the next periods takes single periods as exchangeable",
            )

    def __repr__(self) -> str:
        """Show the arguments; single periods are not worth a word."""
        block = f", block={self.block}" if self.block > 1 else ""
        return f"Guarantee(confidence={self.confidence!r}, horizon={self.horizon!r}{block})"

    @property
    def alpha(self) -> float:
        """The allowed probability of a broken limit: one minus the confidence."""
        return 1.0 - self.confidence

    def split(self, n_models: int) -> Guarantee:
        """Return the guarantee to ask of each of several models, one of which will be chosen.

        Each has its part of alpha (Bonferroni), so that the promise holds for whichever is chosen.

        Examples
        --------
        >>> Guarantee(0.9, horizon=500).split(4)
        Guarantee(confidence=0.975, horizon=500)
        """
        check_count(n_models, "n_models", "a whole number above 0")
        return replace(self, confidence=1.0 - self.alpha / n_models)

    def limits(self, scenario: Scenario) -> Scenario:
        """Return the scenario as this guarantee reads it, whatever the number of cases.

        A capacity of whole alarms is one per horizon: the same share of any number of cases.

        Examples
        --------
        Twenty alarms in the next 1,000 cases are 600 among 30,000 validation cases:

        >>> daily = Scenario(capacity=20, cost_ratio=0.05)
        >>> Guarantee(0.95, horizon=1000).limits(daily).max_alarms(30_000)
        600.0
        """
        if self.horizon is None or not scenario.capacity_is_count or scenario.per is not None:
            return scenario
        return replace(scenario, capacity=min(scenario.capacity / self.horizon, 1.0))

    def allowed(self, points: OperatingPoints, scenario: Scenario) -> BoolArray:
        """Tell which thresholds may be deployed; never alarm always may.

        Parameters
        ----------
        points : OperatingPoints
            From `OperatingPoints.from_scores` on validation cases without weights: every distinct
            score, for the order of the tests is part of their validity. Where patients have
            several cases, made with ``groups=``: then sums over patients are tested. Without it
            all cases are taken as independent, which nothing in the points can contradict.
        scenario : Scenario
            Without another prevalence: reweighted counts have no exact test.
        """
        scenario = self.limits(check_scenario(scenario))
        passed = self.certified(points, scenario) & points.feasible(scenario)
        passed[0] = True
        return passed

    def certified(
        self,
        points: OperatingPoints,
        scenario: Scenario,
        needs: Needs = EXACT,
    ) -> BoolArray:
        """Return which thresholds pass the tests of the limits, as `limits` reads them."""
        n_cases = check_whole(points, scenario)
        cases, alpha = points.grouped, self.alpha
        if scenario.per is not None:
            return certified_periods(points, scenario, self.horizon, alpha, self.block)
        if self.block > 1:
            raise ArgumentError(
                "block", f"={self.block} needs a capacity per period, as Scenario(per='day', ...)"
            )
        if cases is not None and cases.repeated:
            self._check_groups(cases)
            return certified_groups(points.thresholds, cases, scenario, alpha)
        if self.horizon is None:
            capacity = scenario.max_alarms(n_cases)
            return certified(points, scenario.min_precision, capacity, alpha)
        return certified_next(points, scenario, self.horizon, alpha, needs)

    def _check_groups(self, cases: GroupedCases) -> None:
        if self.horizon is not None:
            raise ArgumentError(
                "horizon",
                f"={self.horizon} with groups of several cases ({len(cases.codes):,} cases "
                f"of {cases.n_groups:,} groups): there is no guarantee for the counts of the next "
                "cases then. Leave out the horizon for a guarantee of the population, or keep one "
                "case of each group (voros.guarantee.one_per_group)",
            )
        if cases.n_groups < 2:
            raise ValueError("groups holds one group only; a guarantee needs at least two")

    def shortfall(self, points: OperatingPoints, scenario: Scenario) -> Shortfall:
        """Return what came closest to a certificate, and what it would take."""
        check_whole(points, scenario)
        scenario = self.limits(scenario)

        def passed(others: OperatingPoints) -> BoolArray:
            return self.certified(others, scenario, ROUGH) & others.feasible(scenario)

        return shortfall(points, scenario, self.alpha, self.horizon, passed)

    def explain(self, points: OperatingPoints, scenario: Scenario) -> str:
        """Say what came closest when nothing passes, and how many more positives it would take."""
        units = "cases" if scenario.per is None else "periods"
        rule = f" {scenario.rule}" if scenario.per else ""
        about = (
            "in the population" if self.horizon is None else f"in the next {self.horizon:,} {units}"
        )
        cases = points.grouped
        if scenario.per is not None:
            closest = why_none_certified(points, scenario, self.horizon, self.alpha, self.block)
        elif cases is None or not cases.repeated:
            closest = self.shortfall(points, scenario).sentence()
        else:
            closest = cluster_tests(cases, scenario, self.alpha).sentence()
        return (
            f"no threshold keeps precision >= {scenario.min_precision:g} and capacity="
            f"{scenario.capacity!r}{rule} {about} with confidence {self.confidence:g}, so never "
            f"alarm is deployed. {closest}"
        )


def check_whole(points: OperatingPoints, scenario: Scenario) -> int:
    """Return the number of cases, or raise where the tests would not be exact."""
    if not points.covers.every_score:
        raise IncompleteCountsError(
            "a guarantee tests every distinct score in turn, and these points are some of them, "
            "or may be: count the cases with OperatingPoints.from_scores, or state "
            "every_score=True where from_counts has them all"
        )
    if scenario.prevalence is not None:
        raise ArgumentError(
            "prevalence",
            f"={scenario.prevalence!r} cannot be combined with a guarantee: its exact "
            "tests need cases drawn as those at deployment, not reweighted ones",
        )
    whole = points.whole and points.fp.dtype.kind in "iu"
    if not whole or not float(points.n_cases).is_integer():
        raise ValueError(
            "a guarantee needs whole cases, but the counts are weighted (sample_weight) or rates; "
            "its exact tests hold for independent cases of weight one"
        )
    return int(points.n_cases)


def one_per_group(groups: AnyArray, *, random_state: int | None = None) -> AnyArray:
    """Pick one case of each group at random, as row numbers in their order.

    Cases of one patient are alike, and the exact tests of a `Guarantee` need independent ones.
    One case of each patient, drawn at random, is that; the promise is then about such a draw.

    Examples
    --------
    >>> one_per_group(np.array(["ann", "bob", "ann", "cy"]), random_state=0).tolist()
    [1, 2, 3]
    """
    names = np.asarray(groups)
    shuffled = np.random.default_rng(random_state).permutation(len(names))
    _, first = np.unique(names[shuffled], return_index=True)
    return np.sort(shuffled[first])
