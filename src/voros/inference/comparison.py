"""Paired comparison of models, or of deployed policies, on the same resamples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from voros.allocation.joint_policy import AnyPolicy, JointPolicy
from voros.core.alignment import check_aligned
from voros.core.arrays import named_columns
from voros.core.cases import label_or_remembered
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import ArgumentError
from voros.inference.bca import interval, interval_in_words, p_value
from voros.inference.bootstrap import (
    Bootstrap,
    IntervalOptions,
    Replicates,
    Resampling,
    score_resamples,
)
from voros.inference.decided_cases import decide, has_outcomes, one_outcome_per_row, scenario_of
from voros.inference.drawn_stays import DrawnCounts, DrawnStays, cost_per_event
from voros.inference.statistics import Measure, MetricLike, metric_in_words, one_by_one
from voros.io.frames import make_frame
from voros.models import points_by_name
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.violations import Violation
from voros.text.numbers import percent, percent_of, short, signed
from voros.text.signatures import takes
from voros.text.table import ReprMixin, Table
from voros.typing import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedDifference:
    """By how much one model's metric exceeds another's on the same cases.

    Attributes
    ----------
    first, second : str
        The difference is that of `first` less that of `second`.
    difference, low, high : float
        Estimate and interval. The interval is this pair's own, not corrected for other pairs.
    p_value : float
        Of no difference, two-sided; it agrees with the interval.
    adjusted_p_value : float
        After Holm's correction for all pairs compared.
    distribution : ndarray of shape (n_resamples,)

    Examples
    --------
    >>> import voros
    >>> y, scores = [0, 0, 1, 1] * 50, {"a": [1, 3, 2, 4] * 50, "b": [1, 2, 3, 4] * 50}
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.8, cost_ratio=0.1)
    >>> pair = voros.compare(y, scores, scenario, n_resamples=100, random_state=0).pairs[0]
    >>> pair.first, pair.second, pair.low < pair.difference < pair.high, round(pair.p_value, 2)
    ('b', 'a', True, 0.02)
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted_p_value: float
    distribution: FloatArray


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(ReprMixin):
    """Several models on the same resamples: differences, and who wins how often.

    Attributes
    ----------
    metric : str
    lower_is_better : bool
    confidence_level : float
    models : dict of str to Bootstrap
        Each model's own estimate and interval, in the order given.
    pairs : tuple of PairedDifference
        All pairs; the model with the better estimate comes first.
    shares_won : dict of str to float
        Share of the resamples in which each model is best; where some tie, they share it.
    violations : dict of str to tuple of Violation, or None
        Of policies: the limits that each breaks on the cases; empty where it keeps them.

    Examples
    --------
    >>> import voros
    >>> y, scores = [0, 0, 1, 1] * 50, {"a": [1, 3, 2, 4] * 50, "b": [1, 2, 3, 4] * 50}
    >>> limits = voros.Scenario(min_precision=0.3, capacity=0.8, cost_ratio=0.1)
    >>> result = voros.compare(y, scores, limits, n_resamples=100, random_state=0)
    >>> result.ranking, result.shares_won, result.differs(result.pairs[0])
    (('b', 'a'), {'a': 0.0, 'b': 1.0}, True)
    """

    metric: str
    lower_is_better: bool
    confidence_level: float
    models: dict[str, Bootstrap]
    pairs: tuple[PairedDifference, ...]
    shares_won: dict[str, float]
    violations: dict[str, tuple[Violation, ...]] | None = None

    @property
    def ranking(self) -> tuple[str, ...]:
        """Models from best to worst estimate."""
        sign = 1 if self.lower_is_better else -1
        return tuple(sorted(self.models, key=lambda model: sign * self.models[model].estimate))

    def pair(self, first: str, second: str) -> PairedDifference:
        """Return the comparison of two models, in whichever order it was made."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        raise KeyError(f"{first!r} and {second!r} were not compared; models: {list(self.models)}")

    def differs(self, pair: PairedDifference) -> bool:
        """Whether a pair's difference stands after Holm's correction, at this confidence."""
        return pair.adjusted_p_value <= 1 - self.confidence_level

    @property
    def verdict(self) -> str:
        """The conclusion in words; for policies also whether they kept their limits."""
        return " ".join([self._lead, *self._limits])

    @property
    def _limits(self) -> list[str]:
        if self.violations is None:
            return []
        broken = {model: self.violations[model] for model in self.ranking if self.violations[model]}
        if not broken:
            return ["All kept their limits on these cases."]
        said = [f"{m} broke its limits here: {'; '.join(map(str, b))}." for m, b in broken.items()]
        kept = [model for model in self.ranking if model not in broken]
        if not kept:
            return [*said, "None kept them."]
        if self.ranking[0] in broken:
            name = metric_in_words(self.metric)
            said.append(f"Of those that kept them, {kept[0]} has the lowest {name}.")
        return said

    @property
    def _lead(self) -> str:
        best = self.ranking[0]
        undecided = [m for m in self.ranking[1:] if not self.differs(self.pair(best, m))]
        name, score = metric_in_words(self.metric), self.models[best].estimate
        rank = "lowest" if self.lower_is_better else "highest"
        lead = f"{best} has the {rank} {name}, {short(score)}"
        won = f"and is best in {self._won(best)} of the resamples"
        if not undecided:
            others = "every other model" if len(self.models) > 2 else self.ranking[1]
            return f"{lead}, {won}; its lead over {others} is beyond chance."
        p_values = (self.pair(best, other).adjusted_p_value for other in undecided)
        said = ", ".join(f"p = {short(p)}" for p in p_values)
        corrected = ", Holm's correction" if len(self.pairs) > 1 else ""
        over = " and ".join(filter(None, (", ".join(undecided[:-1]), undecided[-1])))
        return f"{lead}, {won}; its lead over {over} could be chance ({said}{corrected})."

    def _won(self, model: str) -> str:
        return percent_of(self.shares_won[model], len(self.models[model].distribution))

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame of one row per pair."""
        names = ("first", "second", "difference", "low", "high", "p_value", "adjusted_p_value")
        return make_frame({n: [getattr(p, n) for p in self.pairs] for n in names}, backend)

    def models_frame(self, backend: str | None = None) -> Any:
        """Return a data frame of one row per model, best first."""
        rows = [self.models[model] for model in self.ranking]
        columns: dict[str, list[Any]] = {"model": list(self.ranking)}
        columns |= {n: [getattr(r, n) for r in rows] for n in ("estimate", "low", "high")}
        columns["share_won"] = [self.shares_won[model] for model in self.ranking]
        if self.violations is not None:
            columns["limits_kept"] = [not self.violations[model] for model in self.ranking]
        return make_frame(columns, backend)

    def _parts(self) -> tuple[str | Table, ...]:
        return self.model_table(), "", self.pair_table(self.pairs), "", self.verdict

    def model_table(self) -> Table:
        """Return every model's estimate, interval and share of resamples won, best first."""
        limits = () if self.violations is None else ("limits",)
        head = ("model", metric_in_words(self.metric), self._span, "wins", *limits)
        return Table.from_rows([head, *map(self._model_cells, self.ranking)])

    def pair_table(self, pairs: Iterable[PairedDifference]) -> Table:
        """Return some of the pairs with their differences."""
        rows = [
            (
                f"{pair.first} - {pair.second}",
                signed(pair.difference),
                interval_in_words(pair.low, pair.high, signed),
                short(pair.p_value),
                short(pair.adjusted_p_value),
            )
            for pair in pairs
        ]
        return Table.from_rows([("pair", "difference", self._span, "p", "p, Holm"), *rows])

    @property
    def _span(self) -> str:
        return f"{percent(self.confidence_level)} interval"

    def _model_cells(self, model: str) -> tuple[str, ...]:
        one = self.models[model]
        ends = interval_in_words(one.low, one.high)
        cells = (model, short(one.estimate), ends, self._won(model))
        if self.violations is None:
            return cells
        return (*cells, "broken" if self.violations[model] else "kept")


@takes(Resampling)
def compare(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    *,
    metric: MetricLike = "partial_voros",
    **options: Unpack[IntervalOptions],
) -> Comparison:
    """Compare models on the same cases, and say which differences are more than chance.

    Every model is scored on the same resamples, so variation that all models share cancels out of
    the differences. Two intervals that overlap can still belong to models that differ.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), or mapping of str to OperatingPoints
        Labels, or the points of each model over the same stays (`voros.alarm_points`).
    scores : mapping of str to array-like, or data frame with a column for each model
        At least two models.
    scenario : Scenario
    metric, n_resamples, confidence_level, method, groups, pos_label, random_state
    progress, periods, times, miss_value, false_alarm_cost
        As in `voros.bootstrap`. Thresholds of different models cannot be compared. `method` is
        that of each model's own interval; those of differences are percentiles.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import voros
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(1000) < 0.2
    >>> scores = {name: y_true * d + rng.normal(size=1000) for name, d in (("a", 1), ("b", 2))}
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.4, cost_ratio=(1 / 10, 1 / 5))
    >>> result = voros.compare(y_true, scores, scenario, n_resamples=200, random_state=0)
    >>> pair = result.pair("b", "a")
    >>> round(pair.difference, 4), round(pair.low, 4), round(pair.high, 4), round(pair.p_value, 3)
    (0.4195, 0.2927, 0.5389, 0.01)
    >>> print(result.verdict)
    b has the highest partial VOROS, 0.876, and is best in 100 % of the resamples; its lead over a
    is beyond chance.
    """
    if isinstance(metric, str) and metric == "threshold":
        raise ValueError(
            f"metric={metric!r}: a higher threshold is neither better nor worse, and models differ "
            "in scale; compare their partial VOROS or expected cost"
        )
    scenario = check_scenario(scenario)
    return _comparison_of(
        score_resamples(y_true, scores, scenario, metric, options, fewest_models=2)
    )


@takes(Resampling)
def compare_policies(
    y_true: Any,
    scores: Any = None,
    policies: Mapping[str, AnyPolicy] | None = None,
    *,
    by: Any = None,
    **options: Unpack[IntervalOptions],
) -> Comparison:
    """Compare what the alarms of deployed policies cost on the same test cases.

    Every policy decides on the cases once, a ThresholdPolicy by its default threshold. The costs of
    these alarms are computed on the same resamples of the cases, so variation that all policies
    share cancels out of the differences.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), or mapping of str to OperatingPoints
        Labels of cases on which no policy was chosen. For policies over stays the points that
        `voros.alarm_points` counts by the rule of each, by the names of `policies`: patients are
        drawn, and the cost is one per event.
    scores : mapping of str to array-like, or data frame with a column for each policy
        The scores that each policy is for, by the names of `policies`. For joint policies with
        several outcomes a mapping for each policy, and `y_true` is one too.
    policies : mapping of str to ThresholdPolicy, JointPolicy or Worklist
        At least two, made for the same costs and prevalence. Their limits may differ.
    by : array-like of shape (n_cases,), optional
        The subgroup of each case, for joint policies whose streams are subgroups.
    n_resamples, confidence_level, method, groups, pos_label, random_state, progress
    periods, times, miss_value, false_alarm_cost
        As in `voros.bootstrap`; values are for policies of the kind ThresholdPolicy.

    Returns
    -------
    Comparison
        Of the expected normalised cost; the verdict says which policies kept their limits.

    Examples
    --------
    >>> import voros
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(4000) < 0.2
    >>> scores = {name: y_true * d + rng.normal(size=4000) for name, d in (("old", 1), ("new", 2))}
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.4, cost_ratio=(1 / 10, 1 / 5))
    >>> valid, test = slice(0, 2000), slice(2000, None)
    >>> policies = {
    ...     name: voros.ThresholdPolicy.from_validation(y_true[valid], s[valid], scenario)
    ...     for name, s in scores.items()
    ... }
    >>> result = voros.compare_policies(
    ...     y_true[test],
    ...     {name: s[test] for name, s in scores.items()},
    ...     policies,
    ...     n_resamples=200,
    ...     random_state=0,
    ... )
    >>> result.ranking, {name: len(broken) for name, broken in result.violations.items()}
    (('new', 'old'), {'old': 1, 'new': 0})
    """
    how = Resampling.from_options(options)
    points = points_by_name(y_true, scores=scores, by=by)
    if points is not None:
        return _compare_over_stays(points, _check_policies(policies, list(points)), how)
    check_aligned(y_true=y_true, scores=scores, by=by, **how.units)
    named = named_columns(scores, "scores")
    if named is None:
        raise ValueError("scores must name the policy that each column is for")
    columns = {str(name): column for name, column in named}
    policies = _check_policies(policies, list(columns))
    scenarios = {name: scenario_of(policy, name) for name, policy in policies.items()}
    _check_costs(scenarios.values())
    if any(map(has_outcomes, policies.values())):
        labels, drawing = one_outcome_per_row(y_true, columns, policies, how)
    else:
        if how.pos_label is None:
            how = replace(how, pos_label=_remembered_label(y_true, policies))
        labels, drawing = y_true, how
    compared, measures, violations = {}, {}, {}
    for name, policy in policies.items():
        compared[name], violations[name] = decide(policy, y_true, columns[name], by, how)
        measures[name] = Measure.from_alarms(scenarios[name])
    in_periods = _scenario_with_periods(list(scenarios.values()))
    plan = drawing.plan(labels, compared, in_periods, worthwhile=False)
    return replace(_comparison_of(plan.run(measures)), violations=violations)


def _compare_over_stays(
    points: Mapping[str, OperatingPoints], policies: Mapping[str, AnyPolicy], how: Resampling
) -> Comparison:
    """Compare the costs of policies per event, on resamples of patients."""
    over_stays = {name: one for name, one in policies.items() if isinstance(one, ThresholdPolicy)}
    if len(over_stays) < len(policies):
        raise ArgumentError("policies", " over stays are of the kind ThresholdPolicy")
    scenarios = [policy.scenario for policy in over_stays.values()]
    _check_costs(scenarios)
    evaluated = {name: over_stays[name].evaluate_stays(points[name]) for name in points}
    plan = how.plan(points, None, worthwhile=False)
    models = {
        name: DrawnCounts(drawn.stays, evaluated[name].threshold)
        for name, drawn in plan.models.items()
        if isinstance(drawn, DrawnStays)
    }
    compute = one_by_one(lambda drawn: cost_per_event(drawn, scenarios[0].costs))
    measure = Measure(name="cost per event", compute=compute, lower_is_better=True)
    replicates = replace(plan, models=models).run(dict.fromkeys(models, measure))
    violations = {name: one.violations for name, one in evaluated.items()}
    return replace(_comparison_of(replicates), violations=violations)


def _scenario_with_periods(scenarios: list[Scenario]) -> Scenario:
    """Return a scenario with the periods that the policies' capacities are for, if any are."""
    by_period = [scenario for scenario in scenarios if scenario.per is not None]
    units = sorted({str(scenario.per) for scenario in by_period})
    if len(units) > 1:
        raise ValueError(
            f"the policies have capacities per {' and per '.join(units)}; accepted is one kind of "
            "period, because whole periods are drawn"
        )
    return (by_period or scenarios)[0]


def _check_policies(policies: Any, named: list[str]) -> Mapping[str, AnyPolicy]:
    if not isinstance(policies, Mapping):
        raise TypeError(f"policies={policies!r}; accepted is a mapping of names to policies")
    if len(policies) < 2:
        raise ValueError("policies holds fewer than two; a comparison needs at least two")
    for name, policy in policies.items():
        if not isinstance(policy, AnyPolicy):
            raise TypeError(
                f"policies[{name!r}] is a {type(policy).__name__}; accepted is a ThresholdPolicy, "
                "a JointPolicy or a Worklist"
            )
    if set(named) != set(policies):
        raise ValueError(
            f"scores are of {', '.join(map(repr, named))} and policies of "
            f"{', '.join(map(repr, policies))}; the names must be the same"
        )
    return policies


def _remembered_label(y_true: Any, policies: Mapping[str, AnyPolicy]) -> Any:
    """Return the positive label that all policies were decided with."""
    labels = {
        label_or_remembered(y_true, None, policy.pos_label)
        for policy in policies.values()
        if not isinstance(policy, JointPolicy)
    }
    if len(labels) > 1:
        listed = " and ".join(sorted(map(repr, labels)))
        raise ArgumentError("pos_label", f" is needed: the policies were decided with {listed}")
    return labels.pop() if labels else None


def _check_costs(scenarios: Iterable[Scenario]) -> None:
    first, *others = scenarios
    for other in others:
        if (other.costs, other.prevalence) != (first.costs, first.prevalence):
            raise ValueError(
                f"the policies were made for different costs or prevalences ({first!r} and "
                f"{other!r}), so their costs cannot be compared"
            )


def _comparison_of(values: Replicates) -> Comparison:
    """Compare models whose metrics were computed on the same resamples."""
    names, lower = tuple(values.plan.models), values.measure.lower_is_better
    gains = -values.drawn if lower else values.drawn
    best = gains == gains.max(axis=1, keepdims=True)
    shares = best / best.sum(axis=1, keepdims=True)
    order = np.argsort(values.whole if lower else -values.whole, kind="stable")
    pairs = list(combinations(order.tolist(), 2))
    drawn = [values.drawn[:, i] - values.drawn[:, j] for i, j in pairs]
    confidence, n_units = values.plan.how.confidence_level, values.plan.sampling.n_effective
    p_values = np.array([p_value(difference, n_units) for difference in drawn])
    differences = []
    for k, (i, j) in enumerate(pairs):
        estimate = float(values.whole[i] - values.whole[j])
        # What BCa corrects is the same for both models and cancels out of a difference.
        # With the correction equal models differed too often, in simulations.
        low, high = interval(confidence, estimate, drawn[k], n_units=n_units)
        differences.append(
            PairedDifference(
                first=names[i],
                second=names[j],
                difference=estimate,
                low=low,
                high=high,
                p_value=float(p_values[k]),
                adjusted_p_value=float(holm(p_values)[k]),
                distribution=drawn[k],
            )
        )
    return Comparison(
        metric=values.measure.name,
        lower_is_better=lower,
        confidence_level=confidence,
        models=values.bootstraps(),
        pairs=tuple(differences),
        shares_won=dict(zip(names, shares.mean(axis=0).tolist(), strict=True)),
    )


def holm(p_values: FloatArray) -> FloatArray:
    """Adjust p-values so that the family-wise error stays at alpha (Holm, 1979).

    The smallest is multiplied by their number, the next by one less, and so on; none may fall
    below one before it.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
