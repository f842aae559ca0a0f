"""What fixed thresholds do on new data: expected cost, precision, alarms, and broken limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from voros.core.cases import LARGEST_SIZE
from voros.core.clusters import GroupedCounts
from voros.core.exact_intervals import (
    EvaluationIntervals,
    ThresholdCounts,
    binomial_limits,
    mean_precision,
)
from voros.core.geometry import Choice
from voros.core.grouped_cases import counts_by_group
from voros.core.money import MoneyCost, money_cost
from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, Periods
from voros.core.scenario import Scenario
from voros.core.subgroups import Subgroups
from voros.core.volume import cost_moments, ratio_moments
from voros.evaluation import choice_columns
from voros.io.frames import make_frame
from voros.policy.by_group import GroupEvaluation
from voros.policy.by_period import PeriodEvaluation
from voros.text.table import Shown, Table
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.guarantee import Guarantee
    from voros.policy.prevalence import PrevalenceBand


Limit: TypeAlias = Literal["precision", "capacity"]


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A limit that some deployed threshold breaks.

    Attributes
    ----------
    limit : {"precision", "capacity"}
    bound : float
        The precision floor, or the capacity as a number of alarms on the new cases.
    worst : float
        The lowest precision, or the most alarms, of any deployed threshold.
    missed_by : float
        Distance from `worst` to `bound`, above 0.
    probability : float
        Of the cost distribution, on which the limit is broken.
    where : tuple of Choice
        The thresholds that break it, and the cost ratios at which they are deployed.
    measure : str
        What `worst` and `bound` measure, where the capacity is one per period: mean alarms per
        period, or the share of periods above.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.6, capacity=0.5, cost_ratio=0.2)
    >>> policy = voros.ThresholdPolicy.from_validation([0, 1, 0, 1], [0.1, 0.9, 0.6, 0.7], scenario)
    >>> tested = policy.evaluate([0, 1, 0, 1, 0], [0.1, 0.9, 0.8, 0.5, 0.3])
    >>> print(tested.violations[0])
    precision 0.5 is 0.1 below 0.6, at cost ratios 0.2 to 0.2 (probability 1)
    """

    limit: Limit
    bound: float
    worst: float
    missed_by: float
    probability: float
    where: tuple[Choice, ...]
    measure: str = ""

    def __str__(self) -> str:
        """Say it in a sentence."""
        side = "below" if self.limit == "precision" else "above"
        spans = ", ".join(f"{c.cost_ratio_low:.4g} to {c.cost_ratio_high:.4g}" for c in self.where)
        found = f"{self.worst:.4g} {self.measure}".strip()
        return (
            f"{self.limit} {found} is {self.missed_by:.4g} {side} {self.bound:.6g}, "
            f"at cost ratios {spans} (probability {self.probability:.3g})"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PolicyEvaluation(Shown):
    """What a policy does on one set of cases, its thresholds fixed beforehand.

    Attributes
    ----------
    expected_cost : float
        Expected normalised cost over the cost distribution, in [0, 1]; lower is better. It uses
        the class sizes of these cases.
    cost_per_1000 : float
        Expected cost of 1,000 such cases, a miss costing 1 and a false alarm its cost ratio.
    mean_precision : float
        Expected precision of the deployed threshold, over the costs at which it raises any alarm
        (no alarm, no precision); NaN when it never does.
    mean_recall : float
        Expected recall; NaN where no case is positive.
    mean_alarms : float
        Expected number of alarms on these cases.
    max_alarms : float
        The capacity as a number of alarms on these cases.
    choices : tuple of Choice
        The thresholds that are deployed at some possible cost, with what each does here.
    probabilities : ndarray
        Probability of the costs at which each is deployed.
    violations : tuple of Violation
        One for each limit that some deployed threshold breaks; a capacity per period with
        ``exceed`` is two, of the mean and of the share of periods above.
    deployed : str
        Which thresholds: those that `ThresholdPolicy.predict` deploys with the same arguments.
    scenario : Scenario
    guarantee : Guarantee or None
        The promise that the policy was made with.
    n_positive, n_negative : float
        The cases, at the scenario's prevalence if it names one.
    confidence : float
        Of the intervals.
    counts : ThresholdCounts
        As observed, what the intervals rest on.
    by_period : PeriodEvaluation or None
        Alarms of each period, where the capacity is one per period.
    by_group : GroupEvaluation or None
        The same measures in each group of cases, where groups were named with ``by``.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.6, capacity=0.5, cost_ratio=0.2)
    >>> policy = voros.ThresholdPolicy.from_validation([0, 1, 0, 1], [0.1, 0.9, 0.6, 0.7], scenario)
    >>> tested = policy.evaluate([0, 1, 0, 1, 0], [0.1, 0.9, 0.4, 0.7, 0.3])
    >>> tested.satisfied, tested.mean_precision, tested.mean_recall, tested.mean_alarms
    (True, 1.0, 1.0, 2.0)
    >>> tested.intervals.recall
    (0.1581, 1.0)
    """

    expected_cost: float
    cost_per_1000: float
    mean_precision: float
    mean_recall: float
    mean_alarms: float
    max_alarms: float
    choices: tuple[Choice, ...]
    probabilities: FloatArray
    violations: tuple[Violation, ...]
    deployed: str
    scenario: Scenario
    guarantee: Guarantee | None
    n_positive: float
    n_negative: float
    confidence: float
    counts: ThresholdCounts
    by_period: PeriodEvaluation | None = None
    by_group: GroupEvaluation | None = None

    @cached_property
    def intervals(self) -> EvaluationIntervals | None:
        """Where the means lie in the population that the cases come from.

        They take cases as independent, or groups where ``groups`` were named. None where cases are
        weighted.
        """
        return self.counts.intervals(self.confidence) if self.counts.whole else None

    def in_money(self, false_alarm_cost: float) -> MoneyCost:
        """Expected cost of 1,000 such cases in units of money, with its interval.

        Parameters
        ----------
        false_alarm_cost : float
            What a false alarm costs; a miss then costs it divided by the cost ratio, on average
            over the cost distribution.

        Raises
        ------
        ArgumentError
            Where the cost distribution gives a miss no mean price, as ``uniform_t(0, 1)`` does.

        Examples
        --------
        >>> import voros
        >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.1)
        >>> y, scores = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.9, 0.8, 0.7, 0.3, 0.2] * 20
        >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
        >>> round(policy.evaluate(y, scores).in_money(30).saved)  # 333 found, 167 false alarms
        95000
        """
        sizes, observed = (self.n_positive, self.n_negative), (self.counts, self.confidence)
        return money_cost(self.choices, self.scenario.costs, *sizes, false_alarm_cost, *observed)

    def over_prevalences(self, prevalences: Any = None) -> PrevalenceBand:
        """Say what the threshold does at other prevalences, if only the shares of classes change.

        Under label shift TPR and FPR stay as they are on these cases; precision, alarms and cost
        follow. The band holds at all prevalences together with the confidence of the evaluation.

        Parameters
        ----------
        prevalences : array-like, optional
            Rising, strictly within 0 and 1; by default 0.01, 0.02, ..., 0.99.

        Examples
        --------
        >>> import voros
        >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
        >>> y, scores = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.9, 0.8, 0.7, 0.3, 0.2] * 20
        >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
        >>> policy.evaluate(y, scores).over_prevalences()
        threshold 0.7 at prevalences from 0.01 to 0.99; these cases have 0.5
        limits kept by  prevalence
        these rates     0.34 to 0.5
        the whole band  none of these
        """
        # Most evaluations are looked at where they were made.
        from voros.policy.prevalence import prevalence_band

        return prevalence_band(self, prevalences)

    @property
    def satisfied(self) -> bool:
        """Whether every deployed threshold keeps both limits."""
        return not self.violations

    def frame(self, backend: str | None = None) -> Any:
        """Return the deployed thresholds as a data frame, one row per interval of the cost."""
        rows = choice_columns(self.choices)
        rows["probability"] = self.probabilities.tolist()
        for limit in ("precision", "capacity"):
            broken = {c for v in self.violations if v.limit == limit for c in v.where}
            rows[f"keeps_{limit}"] = [choice not in broken for choice in self.choices]
        return make_frame(rows, backend)

    def _parts(self) -> list[str | Table]:
        cases, kept = self.n_positive + self.n_negative, "yes" if self.satisfied else "no"
        title = f"{self.deployed} on {cases:,.6g} cases, {self.n_positive:,.6g} positive"
        said = [f"limits kept on these cases: {kept}", *map(str, self.violations)]
        if self.counts.whole:
            said.append(f"intervals take {self._independent} as independent")
        if self.guarantee is not None:
            said.append(f"made with {self.guarantee!r}")
        groups = () if self.by_group is None else self.by_group._parts()
        return [title, self.table(), *said, *groups]

    @property
    def _independent(self) -> str:
        grouped = self.counts.grouped
        if grouped is None:
            return "cases"
        equal = f", which count as {grouped.n_effective:.3g} equal ones,"
        return (
            f"{grouped.n_groups:,} groups{equal if grouped.n_effective < grouped.n_groups else ''}"
        )

    def with_groups(
        self, groups: Subgroups, positive: BoolArray, scores: AnyArray, codes: AnyArray | None
    ) -> PolicyEvaluation:
        """Return the evaluation with what the same thresholds do in each group of the cases.

        ``codes`` are the patients, where cases of one patient are not independent.
        """
        thresholds = np.array([choice.threshold for choice in self.choices])
        cases = groups, positive, scores, thresholds
        found = GroupEvaluation.of(*cases, self.counts, self.scenario, self.confidence, codes)
        return replace(self, by_group=found)

    def table(self, title: str = "") -> Table:
        """Return the means with intervals and limits; the cost of 1,000 cases is in misses."""
        found = self.intervals
        span = "" if found is None else f"{100 * found.confidence:g} % interval"
        floor, most = f"at least {self.scenario.min_precision:g}", f"at most {self.max_alarms:,.6g}"
        rows = [
            ("expected cost", self.expected_cost, "cost", "", ".4f"),
            ("cost of 1,000 cases", self.cost_per_1000, "cost_per_1000", "", ",.4g"),
            ("precision", self.mean_precision, "precision", floor, ".4f"),
            ("recall", self.mean_recall, "recall", "", ".4f"),
        ]
        if self.by_period is None:
            rows.append(("alarms", self.mean_alarms, "alarms", most, ",.5g"))
        cells = (
            (name, "-" if np.isnan(v) else f"{v:{f}}", _ends(found, of, f), limit)
            for name, v, of, limit, f in rows
        )
        return Table.from_rows([("", "mean", span, "limit"), *cells, *self._period_rows()], title)

    def _period_rows(self) -> list[tuple[str, str, str, str]]:
        """Rows for a capacity per period; of the share above, exact limits over periods."""
        found = self.by_period
        if found is None:
            return []
        capacity, per, exceed = self.scenario.capacity, self.scenario.per, self.scenario.exceed
        low, high = binomial_limits(found.n_above, found.n_periods, self.confidence)
        share = float(self.probabilities @ found.n_above) / found.n_periods
        mean, above = float(self.probabilities @ found.mean_alarms), f"share above {capacity:,}"
        limits = f"at most {capacity:,}", "" if exceed is None else f"at most {exceed:g}"
        span = f"{self.probabilities @ low:.4f} to {self.probabilities @ high:.4f}"
        return [
            (f"alarms per {per}", f"{mean:,.5g}", "", limits[0]),
            (above, f"{share:.4f}", span if self.counts.whole else "", limits[1]),
        ]


def _ends(found: EvaluationIntervals | None, name: str, form: str) -> str:
    if found is None:
        return ""
    low, high = getattr(found, name)
    return f"{low:{form}} to {high:{form}}"


@dataclass(frozen=True, eq=False)
class Deployment:
    """Thresholds, the cost ratios at which each is deployed, and the limits they are held to.

    Attributes
    ----------
    thresholds : ndarray of shape (n_intervals,)
    switches : ndarray of shape (n_intervals - 1,)
        Rising cost ratios; at a switch the threshold above it is deployed.
    scenario : Scenario
        If it names a prevalence, the new cases are reweighted to it.
    guarantee : Guarantee or None
    words : str
        Which thresholds these are.
    """

    thresholds: FloatArray
    switches: FloatArray
    scenario: Scenario
    guarantee: Guarantee | None
    words: str

    def evaluate_points(self, points: OperatingPoints, confidence: float) -> PolicyEvaluation:
        """Evaluate on operating points of every distinct score."""
        counts = points.take(alarm_rows(points, self.thresholds))
        counts = replace(counts, thresholds=self.thresholds, by_period=points.by_period)
        return self.evaluate_counts(counts, confidence)

    def evaluate_cases(
        self,
        positive: BoolArray,
        scores: AnyArray,
        weights: FloatArray | None,
        confidence: float,
        periods: Periods | None = None,
        codes: AnyArray | None = None,
    ) -> PolicyEvaluation:
        """Evaluate on cases, which may be of one class only; ``codes`` are their groups."""
        if weights is not None and weights.max() > LARGEST_SIZE / len(weights):
            raise ValueError(
                f"sample_weight reaches {weights.max():g}; accepted are sums of at most "
                f"{LARGEST_SIZE:g}"
            )
        everything = np.append(self.thresholds, -np.inf)
        found = counts_by_group(positive.astype(np.intp), 2, scores, everything, weights)
        (fp, n_negative), (tp, n_positive) = ((row[:-1], row[-1].item()) for row in found)
        one_case = 1.0 if weights is None else float(weights.min())
        counts = OperatingPoints(self.thresholds, tp, fp, n_positive, n_negative, one_case=one_case)
        if periods is not None:
            by_period = PeriodCases(
                periods=periods,
                positive=positive,
                scores=np.asarray(scores, dtype=float),
                weights=weights,
            )
            counts = replace(counts, by_period=by_period)
        grouped = None
        if codes is not None:
            grouped = GroupedCounts.from_cases(codes, positive, scores, self.thresholds)
        return self.evaluate_counts(counts, confidence, grouped)

    def evaluate_counts(
        self, observed: OperatingPoints, confidence: float, grouped: GroupedCounts | None = None
    ) -> PolicyEvaluation:
        """Evaluate on what each threshold raises."""
        self._check_classes(observed)
        prevalence = self.scenario.prevalence
        cases = observed if prevalence is None else observed.reweighted(prevalence)
        probability, t_integral, ratio_integral = self._moments(cases)
        deployed = np.flatnonzero(probability > 0)
        cases = cases.take(deployed)
        counts = ThresholdCounts(
            tp=observed.tp[deployed],
            fp=observed.fp[deployed],
            n_positive=observed.n_positive,
            n_negative=observed.n_negative,
            prevalence=prevalence,
            probability=probability[deployed],
            t_integral=t_integral[deployed],
            ratio_integral=ratio_integral[deployed],
            grouped=None if grouped is None else grouped.take(deployed),
        )
        by_period = self._by_period(observed, cases) if self.scenario.per_period else None
        return self._summarise(cases, counts, self._choices(cases, deployed), confidence, by_period)

    def _by_period(self, observed: OperatingPoints, cases: OperatingPoints) -> PeriodEvaluation:
        if observed.by_period is None:
            observed.max_alarms(self.scenario)  # raises, and says what is missing
        assert observed.by_period is not None
        sizes = (observed.n_positive, cases.n_positive), (observed.n_negative, cases.n_negative)
        each = (float(now / before) if before else 1.0 for before, now in sizes)
        return PeriodEvaluation.of(observed.by_period, cases.thresholds, self.scenario, *each)

    def _summarise(
        self,
        cases: OperatingPoints,
        counts: ThresholdCounts,
        choices: tuple[Choice, ...],
        confidence: float,
        by_period: PeriodEvaluation | None,
    ) -> PolicyEvaluation:
        probability, t_integral = counts.probability, counts.t_integral
        fpr, tpr = _rate(cases.fp, cases.n_negative), _rate(cases.tp, cases.n_positive)
        n_periods = None if by_period is None else by_period.n_periods
        max_alarms = self.scenario.max_alarms(cases.n_cases, 0.0, n_periods)
        recall = float(probability @ tpr) if cases.n_positive else float("nan")
        return PolicyEvaluation(
            expected_cost=float(t_integral @ fpr + (probability - t_integral) @ (1.0 - tpr)),
            cost_per_1000=counts.cost_per_1000_of(
                cases.tp, cases.fp, cases.n_positive, cases.n_cases
            ),
            mean_precision=mean_precision(cases.tp, cases.fp, probability),
            mean_recall=recall,
            mean_alarms=float(probability @ cases.alarms),
            max_alarms=max_alarms,
            choices=choices,
            probabilities=probability,
            violations=find_violations(
                cases, self.scenario, max_alarms, choices, probability, by_period
            ),
            deployed=self.words,
            scenario=self.scenario,
            guarantee=self.guarantee,
            n_positive=cases.n_positive,
            n_negative=cases.n_negative,
            confidence=confidence,
            counts=counts,
            by_period=by_period,
        )

    def _check_classes(self, observed: OperatingPoints) -> None:
        if observed.n_cases == 0:
            raise ValueError("there are no cases to evaluate on; at least one is needed")
        if observed.n_positive and observed.n_negative:
            return
        held = "positive" if observed.n_positive else "negative"
        if self.scenario.prevalence is not None:
            raise ValueError(
                f"y_true holds {held} cases only, which cannot stand for a prevalence of "
                f"{self.scenario.prevalence:g}; leave the prevalence out, or add cases"
            )
        if self.scenario.costs.over == "t":
            raise ValueError(
                f"y_true holds {held} cases only, and costs over t are read with both class "
                "sizes; state them as a cost ratio or with miss_costs"
            )

    def _moments(self, cases: OperatingPoints) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Integrals of 1, t and the cost ratio over the costs of each threshold."""
        costs, odds = self.scenario.costs, _odds(cases)
        probability, t_integral = cost_moments(costs, self.switches, odds)
        ratio_integral = ratio_moments(costs, self.switches, odds)
        if not (cases.n_positive and cases.n_negative):
            # Only false alarms, or only misses, can cost anything.
            t_integral = probability if cases.n_positive == 0 else np.zeros_like(probability)
        return probability, t_integral, ratio_integral

    def _choices(self, cases: OperatingPoints, deployed: AnyArray) -> tuple[Choice, ...]:
        low, high = self.scenario.costs.ratio_range(_odds(cases))
        starts = np.clip(np.append(0.0, self.switches), low, high)[deployed]
        ends = np.clip(np.append(self.switches, np.inf), low, high)[deployed]
        return tuple(
            Choice.at(cases, i, float(starts[i]), float(ends[i])) for i in range(len(deployed))
        )


def _odds(cases: OperatingPoints) -> float:
    """Negatives per positive; 1 where a class has no case, and it does not matter."""
    both = cases.n_positive > 0 and cases.n_negative > 0
    return cases.negatives_per_positive if both else 1.0


def _rate(counts: AnyArray, n_cases: float) -> FloatArray:
    """Share of a class; 0 where it has no case, and no weight then either."""
    return np.asarray(counts / n_cases if n_cases else np.zeros(len(counts)))


def alarm_rows(points: OperatingPoints, thresholds: FloatArray) -> AnyArray:
    """Find the operating point at which ``score >= threshold``, for each threshold."""
    if np.isnan(points.thresholds).any():
        raise ValueError("points carry no thresholds, so fixed thresholds cannot be looked up")
    points.covers.check_thresholds(points.thresholds, thresholds)
    rows = np.searchsorted(-points.thresholds, -thresholds, side="right") - 1
    return np.asarray(rows)


def find_violations(
    cases: OperatingPoints,
    scenario: Scenario,
    max_alarms: float,
    choices: tuple[Choice, ...],
    probability: FloatArray,
    by_period: PeriodEvaluation | None,
) -> tuple[Violation, ...]:
    """Return the limits that some deployed threshold breaks."""

    def broken(
        limit: Limit, marks: BoolArray, values: AnyArray, bound: float, measure: str = ""
    ) -> tuple[Violation, ...]:
        if not marks.any():
            return ()
        worst = (np.min if limit == "precision" else np.max)(values[marks]).item()
        where = tuple(choices[i] for i in np.flatnonzero(marks))
        share = float(probability[marks].sum())
        return (
            Violation(
                limit=limit,
                bound=bound,
                worst=worst,
                missed_by=abs(worst - bound),
                probability=share,
                where=where,
                measure=measure,
            ),
        )

    floor = scenario.min_precision
    imprecise = broken("precision", ~cases.precise_enough(floor), cases.precision, floor)
    if by_period is not None:
        found = [
            broken("capacity", r.broken, r.values, r.bound, r.measure) for r in by_period.rules
        ]
        return *imprecise, *(violation for each in found for violation in each)
    beyond = ~cases.within_capacity(max_alarms)
    return *imprecise, *broken("capacity", beyond, cases.counted_alarms, max_alarms)
