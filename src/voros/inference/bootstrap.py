"""Bootstrap intervals for scores, expected cost and thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np

from voros.core.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    check_cases,
    check_choice,
    check_confidence,
    check_same_order,
)
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import ArgumentError, FewGroupsWarning, warn_caller
from voros.inference.intervals import METHODS, Method, interval, interval_in_words
from voros.inference.near_zero import may_be_zero, upper_bound
from voros.inference.resampling import Ranked, Sampling, generator, leave_out, replicate
from voros.inference.statistics import Measure, MetricLike, metric_in_words
from voros.io.frames import make_frame
from voros.models import columns_by_model, one_or_all, several_models
from voros.progress import Progress, progress_bar
from voros.text.table import html_facts

FEWEST_GROUPS = 8
"""With fewer groups intervals were measured to hold the true value less often than they say."""

MOST_RESAMPLES = 10_000_000
"""More would take days, and place no end more exactly than the cases do."""

FEWEST_RESAMPLES = 100
"""Fewer cannot place the ends of a 95 % interval."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """An estimate, and the interval its true value lies in with a stated confidence.

    Attributes
    ----------
    metric : str
    estimate : float
        On the data as they are.
    low, high : float
        Ends of the interval.
    confidence : float
    method : {"bca", "percentile", "one-sided"}
        What the interval is: asked for was one of the first two. One that is one-sided begins at
        0, because the data leave open whether the limits leave any threshold.
    distribution : ndarray of shape (n_resamples,)
        The metric of each resample.
    drawn : str
        What was drawn: cases, cases by class, or groups.
    """

    metric: str
    estimate: float
    low: float
    high: float
    confidence: float
    method: Method | Literal["one-sided"]
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
        names = ("metric", "estimate", "low", "high", "confidence", "method")
        return make_frame({name: [getattr(self, name)] for name in names}, backend)

    def __repr__(self) -> str:
        """Say it in a line."""
        return (
            f"{metric_in_words(self.metric)} {self.estimate:.4f} ({100 * self.confidence:g} % "
            f"{self.method} interval {interval_in_words(self.low, self.high)}; "
            f"{len(self.distribution):,} resamples of {self.drawn})"
        )

    def _repr_html_(self) -> str:
        facts = (
            (metric_in_words(self.metric), f"{self.estimate:.4f}"),
            (f"{100 * self.confidence:g} % interval", interval_in_words(self.low, self.high)),
            ("standard error", f"{self.standard_error:.4f}"),
            ("method", f"{self.method}, {len(self.distribution):,} resamples of {self.drawn}"),
        )
        return html_facts(facts)


def bootstrap(
    y_true: Any,
    scores: Any,
    scenario: Scenario,
    *,
    metric: MetricLike = "partial_voros",
    n_resamples: int = 2000,
    confidence: float = 0.95,
    method: Method = "bca",
    stratified: bool = False,
    groups: Any = None,
    pos_label: Any = None,
    random_state: int | np.random.Generator | None = None,
    progress: Progress = False,
) -> Any:
    """Say how sure a score is: an interval from resamples, limits applied inside each of them.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,)
        Labels: bool, {0, 1}, {-1, 1}, or any two with `pos_label`.
    scores : array-like of shape (n_cases,), mapping of str to such, or data frame
        Scores of one model, or of several, which are scored on the same resamples.
    scenario : Scenario
    metric : str, ThresholdPolicy or callable, default "partial_voros"
        "partial_voros", "voros", "partial_auroc", "recall" and "auroc" are scores;
        "expected_cost" is the normalised cost of the best feasible thresholds, and "threshold" the
        one that a policy deploys by default (+inf is never alarm), both chosen anew in each
        resample. A `ThresholdPolicy` stands for its expected cost with its thresholds fixed. Or any
        function of `OperatingPoints` and the scenario.
    n_resamples : int, default 2000
    confidence : float in (0, 1), default 0.95
    method : {"bca", "percentile"}, default "bca"
        "bca" corrects for bias and skewness, "percentile" for neither. Where it is open whether
        the limits leave any threshold, scores get an interval that begins at 0 instead, with an
        upper end that covers.
    stratified : bool, default False
        By default the number of positives varies from resample to resample, as it does when cases
        come as they come: the interval covers not knowing the prevalence. True keeps the class
        sizes: for case-control data, or if the prevalence is known to be that of the data.
    groups : array-like of shape (n_cases,), optional
        Whose case it is, where one patient has several: whole groups are drawn.
    pos_label : label, optional
    random_state : int, Generator or None
    progress : bool or callable, default False
        Draw a progress bar on the standard error stream, or call ``progress(done, total)`` as
        resamples are drawn.

    Returns
    -------
    Bootstrap, or dict of str to Bootstrap
        One by model where models were given.

    Notes
    -----
    With fewer than 8 groups intervals are rough, which a `FewGroupsWarning` says.

    A resample in which the limits leave nothing but never alarm scores what that scores: 0 by
    partial VOROS. A resample with one class only has no ROC curve and is drawn again.

    Examples
    --------
    >>> import numpy as np
    >>> import voros
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(1000) < 0.2
    >>> y_score = y_true + rng.normal(size=1000)
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.4, cost_ratio=(1 / 10, 1 / 5))
    >>> voros.bootstrap(y_true, y_score, scenario, n_resamples=200, random_state=0)
    partial VOROS 0.4570 (95 % bca interval 0.3241 to 0.5561; 200 resamples of cases)
    """
    drawing = n_resamples, confidence, method, stratified, groups, pos_label
    plan = ResamplingPlan.of(y_true, scores, scenario, metric, *drawing)
    return one_or_all(plan.run(random_state, progress).bootstraps(), scores)


@dataclass(frozen=True, eq=False)
class ResamplingPlan:
    """A bootstrap with its arguments checked and its cases sorted."""

    models: dict[str, Ranked]
    sampling: Sampling
    measure: Measure
    scenario: Scenario
    n_resamples: int
    confidence: float
    method: Method
    drawn: str

    @classmethod
    def of(
        cls,
        y_true: Any,
        scores: Any,
        scenario: Scenario,
        metric: MetricLike,
        n_resamples: int,
        confidence: float,
        method: Method,
        stratified: bool,
        groups: Any,
        pos_label: Any,
    ) -> ResamplingPlan:
        """Check the arguments of `voros.bootstrap`."""
        check_resampling(n_resamples, confidence)
        check_scenario(scenario)
        check_choice(method, "method", METHODS)
        measure = Measure.of(metric, scenario)
        positive, models = rank_models(
            y_true, scores, pos_label, worthwhile=measure.worthwhile_only
        )
        check_same_order(y_true, groups=groups)
        sampling = Sampling.of(positive, stratified=stratified, groups=groups)
        _warn_of_few_groups(sampling, grouped=groups is not None)
        drawn = "groups" if groups is not None else "cases"
        drawn += " by class" if stratified else ""
        return cls(
            models, sampling, measure, scenario, int(n_resamples), float(confidence), method, drawn
        )

    def run(
        self, random_state: int | np.random.Generator | None, progress: Progress = False
    ) -> Replicates:
        """Compute the metric of every model: as is, on the resamples, and with blocks left out."""
        rng = generator(random_state)
        compute = self.measure.compute
        whole = replicate(self.models, iter([np.ones_like(self.sampling.units)]), compute)[0]
        resamples = self.sampling.resamples(self.n_resamples, rng)
        resamples = progress_bar(resamples, "resampling", progress, self.n_resamples)
        drawn = replicate(self.models, resamples, compute)
        left_out, strata = np.empty((0, len(self.models))), np.empty(0)
        if self.method == "bca":
            left_out, strata = leave_out(self.models, self.sampling, compute, rng)
        return Replicates(self, whole, drawn, left_out, strata)


@dataclass(frozen=True, eq=False)
class Replicates:
    """A metric of several models: on the data, on shared resamples, and with blocks left out."""

    plan: ResamplingPlan
    whole: FloatArray
    drawn: FloatArray
    left_out: FloatArray
    strata: AnyArray

    def bootstraps(self) -> dict[str, Bootstrap]:
        """Return each model's interval."""
        plan = self.plan
        found = {}
        for j, (model, ranked) in enumerate(plan.models.items()):
            low, high = self._two_sided(j)
            one_sided = self._zero_is_open(j, ranked, low)
            if one_sided:
                low, high = self._one_sided(j, ranked)
            found[model] = Bootstrap(
                plan.measure.name,
                float(self.whole[j]),
                float(low),
                float(high),
                plan.confidence,
                "one-sided" if one_sided else plan.method,
                self.drawn[:, j],
                plan.drawn,
            )
        return found

    def _zeros(self, j: int) -> float:
        return float(np.mean(self.drawn[:, j] == 0))

    def _zero_is_open(self, j: int, ranked: Ranked, low: float) -> bool:
        plan = self.plan
        return plan.measure.zero_is_nothing and may_be_zero(
            ranked,
            plan.scenario,
            zeros=self._zeros(j),
            low_share=low / self.whole[j] if self.whole[j] > 0 else 0.0,
            tail=(1 - plan.confidence) / 2,
            grouped=plan.sampling.n_units < len(plan.sampling.units),
        )

    def _one_sided(self, j: int, ranked: Ranked) -> tuple[float, float]:
        plan, error = self.plan, 1 - self.plan.confidence
        _, high = self._ends("percentile", j)
        if self._zeros(j) > error / 2:
            bound = upper_bound(ranked, plan.sampling.units, plan.measure.compute, error)
            high = max(high, bound)
        return 0.0, high

    def _two_sided(self, j: int) -> tuple[float, float]:
        low, high = self._ends(self.plan.method, j)
        if low == high:
            # Where most resamples agree the correction can move both ends to the same value.
            low, high = self._ends("percentile", j)
        if low == high:
            low, high = float(self.drawn[:, j].min()), float(self.drawn[:, j].max())
        return low, high

    def _ends(self, method: Method, j: int) -> tuple[float, float]:
        low, high = interval(
            method,
            self.plan.confidence,
            self.whole[j],
            self.drawn[:, j],
            self.left_out[:, j],
            self.strata,
            self.plan.sampling.n_units,
        )
        return float(low), float(high)


def rank_models(
    y_true: Any, scores: Any, pos_label: Any, *, worthwhile: bool
) -> tuple[BoolArray, dict[str, Ranked]]:
    """Check the labels and every model's scores, and sort the cases by each."""
    named = several_models(scores)
    models = {}
    for model, column in columns_by_model(y_true, scores).items():
        try:
            positive, checked, _ = check_cases(y_true, column, pos_label)
        except ValueError as error:
            raise ValueError(f"model {model!r}: {error}" if named else str(error)) from None
        models[model] = Ranked.of(positive, checked, worthwhile=worthwhile)
    return positive, models


def _warn_of_few_groups(sampling: Sampling, *, grouped: bool) -> None:
    if grouped and sampling.n_units < FEWEST_GROUPS:
        warn_caller(
            f"{sampling.n_units} groups are few to draw from: intervals may hold the true value "
            f"less often than they say; from {FEWEST_GROUPS} groups on they were measured to hold",
            FewGroupsWarning,
        )


def check_resampling(n_resamples: int, confidence: float) -> None:
    """Raise unless an interval of this confidence can be read off n resamples."""
    whole = isinstance(n_resamples, Integral) and not isinstance(n_resamples, bool)
    if not whole or not FEWEST_RESAMPLES <= n_resamples <= MOST_RESAMPLES:
        raise ArgumentError(
            "n_resamples",
            f"={n_resamples!r:.40}; accepted is a whole number of at least "
            f"{FEWEST_RESAMPLES} and at most {MOST_RESAMPLES:,}",
        )
    check_confidence(confidence)
