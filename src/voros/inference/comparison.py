"""Paired comparison of models on the same resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import combinations
from typing import Any

import numpy as np

from voros.core.arrays import FloatArray
from voros.core.scenario import Scenario
from voros.inference.bootstrap import Bootstrap, Replicates, ResamplingPlan
from voros.inference.intervals import (
    Method,
    interval_in_words,
    interval_of_difference,
    p_value,
)
from voros.inference.statistics import MetricLike, metric_in_words
from voros.io.frames import make_frame
from voros.progress import Progress
from voros.text.table import Table

NOT_COMPARED = frozenset({"threshold"})
"""Metrics of which neither more nor less is better."""


@dataclass(frozen=True, eq=False)
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
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted_p_value: float
    distribution: FloatArray


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several models on the same resamples: differences, and who wins how often.

    Attributes
    ----------
    metric : str
    lower_is_better : bool
    confidence : float
    models : dict of str to Bootstrap
        Each model's own estimate and interval, in the order given.
    pairs : tuple of PairedDifference
        All pairs; the model with the better estimate comes first.
    shares_won : dict of str to float
        Share of the resamples in which each model is best; where some tie, they share it.
    """

    metric: str
    lower_is_better: bool
    confidence: float
    models: dict[str, Bootstrap]
    pairs: tuple[PairedDifference, ...]
    shares_won: dict[str, float]

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
        return pair.adjusted_p_value <= 1 - self.confidence

    @property
    def verdict(self) -> str:
        """What can be said, in words."""
        best = self.ranking[0]
        undecided = [m for m in self.ranking[1:] if not self.differs(self.pair(best, m))]
        name, score = metric_in_words(self.metric), self.models[best].estimate
        lead = (
            f"{best} has the {'lowest' if self.lower_is_better else 'highest'} {name}, {score:.4f}"
        )
        won = f"and is best in {self.shares_won[best]:.0%} of the resamples"
        if not undecided:
            return f"{lead}, {won}; its lead over {_all_of(self.ranking[1:])} is beyond chance."
        return (
            f"{lead}, {won}; its lead over {_listed(undecided)} could be chance "
            f"({self._chance(best, undecided)})."
        )

    def _chance(self, best: str, others: Sequence[str]) -> str:
        values = [self.pair(best, other).adjusted_p_value for other in others]
        corrected = ", Holm's correction" if len(self.pairs) > 1 else ""
        return f"{', '.join(f'p = {p:.2g}' for p in values)}{corrected}"

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
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        """Show models, pairs and verdict as text."""
        return f"{self._models.text()}\n\n{self._pairs.text()}\n\n{self.verdict}"

    def _repr_html_(self) -> str:
        return f"{self._models.html()}{self._pairs.html()}<p>{escape(self.verdict)}</p>"

    @property
    def _models(self) -> Table:
        head = ("model", metric_in_words(self.metric), self._interval_title, "wins")
        return Table.from_rows([head, *map(self._model_cells, self.ranking)])

    def _model_cells(self, model: str) -> tuple[str, ...]:
        one = self.models[model]
        ends = interval_in_words(one.low, one.high)
        return model, f"{one.estimate:.4f}", ends, f"{self.shares_won[model]:.0%}"

    @property
    def _pairs(self) -> Table:
        head = ("pair", "difference", self._interval_title, "p", "p, Holm")
        return Table.from_rows([head, *map(_pair_cells, self.pairs)])

    @property
    def _interval_title(self) -> str:
        return f"{100 * self.confidence:g} % interval"


def _pair_cells(pair: PairedDifference) -> tuple[str, ...]:
    return (
        f"{pair.first} - {pair.second}",
        f"{pair.difference:+.4f}",
        interval_in_words(pair.low, pair.high, "+"),
        f"{pair.p_value:.4f}",
        f"{pair.adjusted_p_value:.4f}",
    )


def compare(
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
) -> Comparison:
    """Compare models on the same cases, and say which differences are more than chance.

    Every model is scored on the same resamples, so what the cases do to all of them alike cancels
    out of the differences. Two intervals that overlap can still belong to models that differ.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,)
    scores : mapping of str to array-like, or data frame with a column for each model
        At least two models.
    scenario : Scenario
    metric, n_resamples, confidence, method, stratified, groups, pos_label, random_state, progress
        As in `voros.bootstrap`. Thresholds of different models cannot be compared. `method` is
        that of each model's own interval; those of differences are percentiles.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
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
    b has the highest partial VOROS, 0.8765, and is best in 100% of the resamples; its lead over a
    is beyond chance.
    """
    if isinstance(metric, str) and metric in NOT_COMPARED:
        raise ValueError(
            f"metric={metric!r}: of a threshold neither more nor less is better, and models have "
            "scales of their own; compare their partial VOROS or expected cost"
        )
    drawing = n_resamples, confidence, method, stratified, groups, pos_label
    plan = ResamplingPlan.of(y_true, scores, scenario, metric, *drawing)
    if len(plan.models) < 2:
        raise ValueError("scores hold one model; a comparison needs at least two")
    return comparison_of(plan, plan.run(random_state, progress))


def comparison_of(plan: ResamplingPlan, values: Replicates) -> Comparison:
    """Compare models of which replicates were drawn on the same resamples."""
    names, lower = tuple(plan.models), plan.measure.lower_is_better
    gains = -values.drawn if lower else values.drawn
    order = np.argsort(values.whole if lower else -values.whole, kind="stable")
    raw = [_difference(plan, values, names, i, j) for i, j in combinations(order.tolist(), 2)]
    return Comparison(
        plan.measure.name,
        lower,
        plan.confidence,
        values.bootstraps(),
        _with_holm(raw),
        dict(zip(names, _shares_won(gains).tolist(), strict=True)),
    )


def _difference(
    plan: ResamplingPlan, values: Replicates, names: Sequence[str], i: int, j: int
) -> PairedDifference:
    estimate = values.whole[i] - values.whole[j]
    drawn = values.drawn[:, i] - values.drawn[:, j]
    low, high = interval_of_difference(plan.confidence, drawn, plan.sampling.n_units)
    p = p_value(drawn, plan.sampling.n_units)
    return PairedDifference(
        names[i], names[j], float(estimate), float(low), float(high), p, p, drawn
    )


def _with_holm(pairs: Sequence[PairedDifference]) -> tuple[PairedDifference, ...]:
    adjusted = holm(np.array([pair.p_value for pair in pairs]))
    return tuple(
        replace(pair, adjusted_p_value=float(p)) for pair, p in zip(pairs, adjusted, strict=True)
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


def _shares_won(gains: FloatArray) -> FloatArray:
    best = gains == gains.max(axis=1, keepdims=True)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _all_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else "every other model"
