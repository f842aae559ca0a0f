"""Bootstrap intervals for scores, expected cost and thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.arguments import check_choice, check_confidence, check_count
from voros.core.cases import LabelledCases
from voros.core.operating_points import OperatingPoints
from voros.core.periods import Periods, read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.core.worth import CaseValues, ThresholdOn
from voros.exceptions import ArgumentError, FewCasesWarning, FewGroupsWarning, warn_caller
from voros.inference.bca import Method, interval, interval_in_words
from voros.inference.curve_limits import CountedCurve, curve_interval
from voros.inference.drawn_stays import PATIENTS, draw_stays
from voros.inference.resampling import (
    Countable,
    Ranked,
    Sampling,
    generator,
    replicate,
)
from voros.inference.statistics import Measure, MetricLike, metric_in_words
from voros.io.frames import make_frame
from voros.models import ONLY_MODEL, ModelCases, naming, points_by_name
from voros.progress import Progress, progress_bar
from voros.text.numbers import percent, short
from voros.text.signatures import takes
from voros.text.table import ReprMixin
from voros.typing import FloatArray

Result = TypeVar("Result")

FEWEST_GROUPS = 8
"""With fewer groups, intervals held the true value less often than stated, in simulations."""

FEWEST_OF_A_CLASS = 100
"""With fewer positives, or negatives, intervals are wide."""

RESAMPLES_WITHIN = 100, 10_000_000
"""Fewer cannot place the ends of a 95 % interval; more would take days and add no precision."""

MOST_THRESHOLDS = 2000
"""Thresholds at which a resample is counted. With 10,000 positives this moves the mean
difference of two models by up to .009 of its standard deviation, and one resample by up to .035;
the ends of intervals moved by at most 1.4 % of their width in 24 comparisons of 100,000 cases."""


class IntervalOptions(TypedDict, total=False):
    """Keywords of intervals and comparisons; `bootstrap` explains them."""

    n_resamples: int
    confidence_level: float
    method: Literal["auto", "bca", "percentile"]
    groups: Any
    pos_label: Any
    random_state: int | np.random.Generator | None
    progress: Progress
    periods: Any
    times: Any
    miss_value: Any
    false_alarm_cost: Any


@dataclass(frozen=True, eq=False, kw_only=True)
class Resampling:
    """The keywords of `bootstrap`, checked."""

    n_resamples: int = 2000
    confidence_level: float = 0.95
    method: Literal["auto", "bca", "percentile"] = "auto"
    groups: Any = None
    pos_label: Any = None
    random_state: int | np.random.Generator | None = None
    progress: Progress = False
    periods: Any = None
    times: Any = None
    miss_value: Any = None
    false_alarm_cost: Any = None

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Resampling:
        """Read keywords; an unknown one is answered with those accepted."""
        accepted = IntervalOptions.__annotations__
        unknown = sorted(set(options).difference(accepted))
        if unknown:
            names = ", ".join(accepted)
            raise TypeError(f"{unknown[0]} is not an argument of resampling; accepted are {names}")
        return cls(**options)

    def __post_init__(self) -> None:
        """Raise unless the numbers can make an interval."""
        least, most = RESAMPLES_WITHIN
        accepted = f"a whole number of at least {least} and at most {most:,}"
        check_count(self.n_resamples, "n_resamples", accepted, least, most)
        confidence_level = check_confidence(self.confidence_level, "confidence_level")
        object.__setattr__(self, "confidence_level", confidence_level)
        check_choice(self.method, "method", ("auto", "bca", "percentile"))

    @property
    def units(self) -> dict[str, Any]:
        """The arguments that say which cases belong together."""
        return {"groups": self.groups, "periods": self.periods, "times": self.times}

    @property
    def values(self) -> dict[str, Any]:
        """The arguments that say what cases are worth."""
        return {"miss_value": self.miss_value, "false_alarm_cost": self.false_alarm_cost}

    def plan(
        self,
        y_true: Any,
        scores: Any,
        scenario: Scenario | None = None,
        *,
        worthwhile: bool,
        limits: Scenario | None = None,
        threshold_on: ThresholdOn = "score",
    ) -> ResamplingPlan:
        """Check the labels and every model's scores, and sort the cases by each.

        Of operating points over stays, ``limits`` are those beyond which no threshold matters.
        """
        per_case = self.units | self.values
        points = points_by_name(y_true, scores=scores, pos_label=self.pos_label, **per_case)
        models: Mapping[str, Countable]
        if points is not None:
            models, sampling = draw_stays(points, limits)
            _warn_about_few(sampling)
            return ResamplingPlan(models, sampling, self, not isinstance(y_true, OperatingPoints))
        check_aligned(y_true=y_true, scores=scores, **per_case)
        cases = ModelCases.read(y_true, scores).compared(self.miss_value, threshold_on)
        periods = self._read_periods(y_true, scenario)
        costs = CaseValues.read(y_true, **self.values)
        first = next(iter(cases.scores.values()))
        labelled = LabelledCases.read(cases.y_true, first, pos_label=self.pos_label)
        positive = labelled.positive
        sampling = Sampling.from_cases(positive, groups=self.groups, periods=periods)
        _warn_about_few(sampling)
        worth = None if costs is None else costs.of_class(positive)
        how: Any = {"worthwhile": worthwhile, "units": sampling.units, "periods": periods}
        models = {}
        for model, column in cases.scores.items():
            with naming(model if cases.named else None):
                checked = labelled.check_scores(column)
            models[model] = Ranked.from_cases(positive, checked, values=worth, **how)
        return ResamplingPlan(models, sampling, self, cases.named)

    def _read_periods(self, y_true: Any, scenario: Scenario | None) -> Periods | None:
        if scenario is None:
            return None
        periods = read_periods(scenario, y_true, self.periods, self.times)
        if periods is not None and self.groups is not None:
            raise ArgumentError(
                "groups",
                f" and a capacity per {scenario.per} are mutually exclusive: whole periods are "
                "drawn, and a patient may come in several",
            )
        return periods


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Bootstrap(ReprMixin):
    """An estimate, and the interval that contains the true value with a stated confidence.

    Attributes
    ----------
    metric : str
    estimate : float
        On the data as they are.
    low, high : float
        Ends of the interval.
    confidence_level : float
    method : {"curve", "bca", "percentile"}
        How the interval is computed; see `bootstrap`.
    distribution : ndarray of shape (n_resamples,)
        The metric of each resample.
    drawn : str
        What was drawn: cases, groups or periods.

    Examples
    --------
    >>> import voros
    >>> patients = voros.datasets.load_support2().with_all_prognoses()
    >>> died = patients.outcome("hospital_death_within_7_days")
    >>> scenario = voros.Scenario(0.2, 0.1, cost_ratio=(1 / 40, 1 / 9))
    >>> score = patients.prognoses["SUPPORT model"]
    >>> result = voros.bootstrap(died, score, scenario, n_resamples=100, random_state=0)
    >>> result.method, len(result.distribution), result.low < result.estimate < result.high
    ('curve', 100, True)
    """

    metric: str
    estimate: float
    low: float
    high: float
    confidence_level: float
    method: Method
    distribution: FloatArray
    drawn: str

    @property
    def standard_error(self) -> float:
        """Standard deviation of the resamples; NaN where some are infinite."""
        if not np.all(np.isfinite(self.distribution)):
            return float("nan")
        return float(np.std(self.distribution, ddof=1))

    def frame(self, backend: str | None = None) -> Any:
        """Return the estimate and its interval as a data frame of one row."""
        names = ("metric", "estimate", "low", "high", "confidence_level", "method")
        return make_frame({name: [getattr(self, name)] for name in names}, backend)

    def _parts(self) -> tuple[str]:
        rests_on = f"; {len(self.distribution):,} resamples of {self.drawn}"
        if self.method == "curve":
            rests_on = f", taking {self.drawn} as independent"
        return (
            f"{metric_in_words(self.metric)} {short(self.estimate)} "
            f"({percent(self.confidence_level)} {self.method} interval "
            f"{interval_in_words(self.low, self.high)}{rests_on})",
        )


@takes(Resampling)
def bootstrap(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    *,
    metric: MetricLike = "partial_voros",
    **options: Unpack[IntervalOptions],
) -> Any:
    """Compute the interval of a score, from exact limits of its curve or from resamples.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), OperatingPoints, or mapping of str to OperatingPoints
        Labels: bool, {0, 1}, {-1, 1}, or any two with `pos_label`. The points of
        `voros.alarm_points` take the place of labels and scores: patients are drawn, with all
        their stays.
    scores : array-like of shape (n_cases,), mapping of str to such, or data frame
        Scores of one model, or of several, which are scored on the same resamples.
    scenario : Scenario
    metric : str, ThresholdPolicy or callable, default "partial_voros"
        "partial_voros", "voros", "partial_auroc", "recall" and "auroc" are scores;
        "expected_cost" is the normalised cost of the best feasible thresholds, and "threshold" the
        one that a policy deploys by default (+inf raises no alarm), both chosen again in each
        resample. A `ThresholdPolicy` stands for its expected cost with its thresholds fixed. A
        function takes `OperatingPoints` and the scenario.
    n_resamples : int, default 2000
    confidence_level : float in (0, 1), default 0.95
    method : {"auto", "bca", "percentile"}, default "auto"
        "auto" takes, for partial VOROS, VOROS, recall, expected cost and policies, the exact limits
        of the curve at every threshold ("curve") and allows for thresholds that were chosen on the
        same cases; it holds with few positives and close to scores of 0 and 1. For all other
        metrics, and over stays, it is "bca": quantiles of the resamples, corrected for bias and
        skewness. "percentile" is without that correction.
    groups : array-like of shape (n_cases,), optional
        The patient of each case, where patients have several: whole groups are drawn.
    pos_label : label, optional
    random_state : int, Generator or None
    miss_value, false_alarm_cost : array-like of shape (n_cases,) or number, optional
        As in `voros.evaluate`. Intervals are then quantiles of the resamples, by "bca".
    periods, times : array-like of shape (n_cases,), optional
        With a scenario whose capacity is one per period: the period of each case, or the time that
        it falls in. Whole periods are drawn, empty ones included, and one that is drawn twice is
        two periods.
    progress : bool or callable, default False
        Draw a progress bar on the standard error stream, or call ``progress(done, total)`` as
        resamples are drawn.

    Returns
    -------
    Bootstrap, or dict of str to Bootstrap
        One by model where models were given.

    Notes
    -----
    With fewer than 8 groups (unequal ones count as fewer) intervals are rough, and a
    `FewGroupsWarning` says so; with fewer than 100 positives or negatives they are wide, and a
    `FewCasesWarning` says so.

    A resample in which the limits leave no alarm scores what raising none scores: 0 by
    partial VOROS. A resample of a single class has no ROC curve and is drawn again.

    Examples
    --------
    >>> import voros
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(1000) < 0.2
    >>> y_score = y_true + rng.normal(size=1000)
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.4, cost_ratio=(1 / 10, 1 / 5))
    >>> voros.bootstrap(y_true, y_score, scenario, n_resamples=200, random_state=0)
    partial VOROS 0.457 (95 % curve interval 0.290 to 0.573, taking cases as independent)
    """
    scenario = check_scenario(scenario)
    replicates = score_resamples(y_true, scores, scenario, metric, options)
    return replicates.plan.one_or_all(replicates.bootstraps())


def score_resamples(
    y_true: Any,
    scores: Any,
    scenario: Scenario,
    metric: MetricLike,
    options: IntervalOptions,
    *,
    fewest_models: int = 1,
) -> Replicates:
    """Compute a metric of every model on the same resamples."""
    how = Resampling.from_options(options)
    measure = Measure.from_metric(metric, scenario)
    plan = how.plan(
        y_true,
        scores,
        scenario,
        worthwhile=measure.worthwhile_only,
        limits=measure.curve,
        threshold_on=measure.threshold_on,
    )
    if len(plan.models) < fewest_models:
        raise ValueError("scores hold one model; a comparison needs at least two")
    return plan.run(dict.fromkeys(plan.models, measure))


@dataclass(frozen=True, eq=False)
class ResamplingPlan:
    """A bootstrap with its arguments checked and its cases sorted.

    Attributes
    ----------
    models : mapping of str to Countable
    sampling : Sampling
    how : Resampling
    named : bool
        Whether the models have names.
    """

    models: Mapping[str, Countable]
    sampling: Sampling
    how: Resampling
    named: bool

    def one_or_all(self, results: dict[str, Result]) -> Result | dict[str, Result]:
        """Return results by name where models have names, and otherwise the only result."""
        return results if self.named else results[ONLY_MODEL]

    def method_for(self, measure: Measure) -> Method:
        """Return the method asked for, or the default for a metric."""
        if self.how.method != "auto":
            return self.how.method
        # A curve of counts bounds no sum of values. Over stays there is no curve: events caught
        # need not rise as the threshold falls.
        counted = not any(value is not None for value in self.how.values.values())
        has_curve = measure.curve is not None and self.sampling.name != PATIENTS
        return "curve" if has_curve and counted else "bca"

    def run(self, measures: Mapping[str, Measure]) -> Replicates:
        """Compute the metric of every model: as is, on the resamples, and with blocks left out.

        The measures of the models differ in their thresholds alone.
        """
        rng, n_resamples = generator(self.how.random_state), self.how.n_resamples
        measure = next(iter(measures.values()))
        method = self.method_for(measure)
        compute = {name: own.compute for name, own in measures.items()}
        as_is = iter([np.ones(self.sampling.n_units, np.intp)])
        resamples = self.sampling.resamples(n_resamples, rng)
        resamples = progress_bar(resamples, "resampling", self.how.progress, n_resamples)
        estimates = replicate(self.models, as_is, compute)[0]
        drawn = replicate(self._counted(measure, method), resamples, compute)
        blocks = self.sampling.blocks(rng) if method == "bca" else iter(())
        left_out = replicate(self.models, blocks, compute)
        return Replicates(
            plan=self,
            measures=measures,
            method=method,
            whole=estimates,
            drawn=drawn,
            left_out=left_out,
        )

    def _counted(self, measure: Measure, method: Method) -> Mapping[str, Countable]:
        """Leave out cases beyond the capacity, and thresholds where there are very many.

        Where the ends of intervals are quantiles of the resamples, nothing is left out.
        """
        limits = measure.curve
        fixed = measure.deployed is not None
        if limits is None or method != "curve" or fixed or limits.per is not None:
            return self.models
        models = {name: one for name, one in self.models.items() if isinstance(one, Ranked)}
        if self.sampling.name == "cases" and limits.prevalence is None:
            most = limits.max_alarms(len(self.sampling.positive), 0.0)
            models = {model: ranked.within_alarms(most) for model, ranked in models.items()}
        return {model: ranked.thinned(MOST_THRESHOLDS) for model, ranked in models.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Replicates:
    """A metric of several models: on the data, on shared resamples, and with blocks left out."""

    plan: ResamplingPlan
    measures: Mapping[str, Measure]
    method: Method
    whole: FloatArray
    drawn: FloatArray
    left_out: FloatArray

    @property
    def measure(self) -> Measure:
        """The metric, with the thresholds of the first model where they have their own."""
        return next(iter(self.measures.values()))

    def bootstraps(self) -> dict[str, Bootstrap]:
        """Return each model's interval."""
        by_model = {}
        for j, model in enumerate(self.plan.models):
            low, high = self._from_curve(j) if self.method == "curve" else self._quantiles(j)
            by_model[model] = Bootstrap(
                metric=self.measure.name,
                estimate=float(self.whole[j]),
                low=low,
                high=high,
                confidence_level=self.plan.how.confidence_level,
                method=self.method,
                distribution=self.drawn[:, j],
                drawn=self.plan.sampling.name,
            )
        return by_model

    def _quantiles(self, j: int) -> tuple[float, float]:
        """Return quantiles of the resamples, of a width above 0 where they differ at all."""
        whole, drawn, left_out = float(self.whole[j]), self.drawn[:, j], self.left_out[:, j]
        how, n_units = self.plan.how, self.plan.sampling.n_effective
        # Where most resamples agree the correction can move both ends to the same value.
        for corrected in (True, False) if self.method == "bca" else (False,):
            skewed = left_out if corrected else None
            low, high = interval(how.confidence_level, whole, drawn, skewed, n_units)
            if low != high:
                return low, high
        return float(drawn.min()), float(drawn.max())

    def _from_curve(self, j: int) -> tuple[float, float]:
        """Return the limits of the curve; those of periods are no narrower than their quantiles."""
        plan, sampling = self.plan, self.plan.sampling
        name, ranked = list(plan.models.items())[j]
        measure = self.measures[name]
        sign = -1 if measure.lower_is_better else 1
        assert measure.curve is not None
        assert isinstance(ranked, Ranked)
        low, high = curve_interval(
            CountedCurve.from_ranked(
                ranked, measure.rows(ranked), grouped=sampling.name != "cases"
            ),
            lambda batch: sign * measure.compute(batch),
            measure.curve,
            plan.how.confidence_level,
            chosen=measure.deployed is None,
        )
        ends = sorted(float(np.clip(sign * end, 0.0, 1.0)) for end in (low, high))
        if sampling.name == "periods":
            drawn = self._quantiles(j)
            ends = [min(ends[0], drawn[0]), max(ends[1], drawn[1])]
        return ends[0], ends[1]


def _warn_about_few(sampling: Sampling) -> None:
    """Warn that intervals are rough where groups, or cases of a class, are few."""
    n_positive = int(np.count_nonzero(sampling.positive))
    fewest = min(n_positive, len(sampling.positive) - n_positive)
    if fewest < FEWEST_OF_A_CLASS:
        which = "positives" if fewest == n_positive else "negatives"
        warn_caller(
            f"only {fewest} {which}: intervals are wide and p-values of differences approximate; "
            f"use at least {FEWEST_OF_A_CLASS} cases of each class",
            FewCasesWarning,
        )
    if sampling.name != "cases" and sampling.n_effective < FEWEST_GROUPS:
        warn_caller(
            f"{sampling.n_units} {sampling.name} count as {short(sampling.n_effective)} of equal "
            "size in the rarer class: intervals are wide, or hold the true value less often than "
            f"stated; in simulations they held from {FEWEST_GROUPS} on",
            FewGroupsWarning,
        )
