"""Rank models by how well they serve a scenario, and pick one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from voros.exceptions import NeverAlarmWarning
from voros.frames import make_frame
from voros.hull import cost_hull
from voros.inputs import BoolArray
from voros.limits import warn_about_costs
from voros.models import columns_by_model, count_model, several_models
from voros.policy import deployable, highest_recall
from voros.region import feasible_region
from voros.roc import OperatingPoints
from voros.scenario import Scenario
from voros.tables import html_table, text_table
from voros.volume import partial_volume

if TYPE_CHECKING:
    from voros.inference import Guarantee

Strategy: TypeAlias = Literal["partial_voros", "voros", "partial_auroc", "recall"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

PAPER_TOLERANCE = 0.01
"""The difference in score below which the paper calls two models equally good."""


@dataclass(frozen=True)
class ModelScores:
    """One model's scores on the validation data; for all of them higher is better.

    Attributes
    ----------
    model : str
    partial_voros : float
        Partial VOROS: within the limits, over the costs.
    voros : float
        VOROS: over the costs, with no limits.
    partial_auroc : float
        Trapezoid area under the thresholds that meet the limits, over their range of FPR, never
        alarm included; where the limits leave gaps the trapezoids bridge them.
    recall : float
        Greatest recall within the limits.
    feasible : bool
        Whether any threshold but never alarm meets the limits.
    """

    model: str
    partial_voros: float
    voros: float
    partial_auroc: float
    recall: float
    feasible: bool


@dataclass(frozen=True)
class Selection:
    """Models ranked by a strategy, best first.

    Attributes
    ----------
    strategy : str
    tolerance : float
        A difference in score below this does not count as one.
    ranking : tuple of ModelScores
        Best first by `strategy`; models of equal score in the order given.
    """

    strategy: Strategy
    tolerance: float
    ranking: tuple[ModelScores, ...]

    @property
    def winner(self) -> str:
        """Name of the best model."""
        return self.ranking[0].model

    @property
    def close_to_winner(self) -> tuple[str, ...]:
        """Names of the other models whose score is within the tolerance of the winner's."""
        return tuple(row.model for row in self.ranking[1:] if self.behind(row) < self.tolerance)

    def behind(self, row: ModelScores, strategy: Strategy | None = None) -> float:
        """How far a model's score is below the best one, by any strategy."""
        name = strategy or self.strategy
        best: float = max(getattr(other, name) for other in self.ranking)
        return best - float(getattr(row, name))

    def rank(self, row: ModelScores, strategy: Strategy | None = None) -> int:
        """Rank of a model by any strategy, from 1; equal scores share the better rank."""
        name = strategy or self.strategy
        score = getattr(row, name)
        return 1 + sum(bool(getattr(other, name) > score) for other in self.ranking)

    def frame(self, backend: str | None = None) -> Any:
        """Return the ranking as a data frame: each score with its rank and whether it is close.

        A score is close when it is within the tolerance of the best one.
        """
        columns: dict[str, list[Any]] = {"model": [row.model for row in self.ranking]}
        for name in STRATEGIES:
            columns[name] = [getattr(row, name) for row in self.ranking]
            columns[f"{name}_rank"] = [self.rank(row, name) for row in self.ranking]
            close = [self.behind(row, name) < self.tolerance for row in self.ranking]
            columns[f"{name}_close"] = close
        columns["feasible"] = [row.feasible for row in self.ranking]
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        """Show the ranking as text; a star marks scores within the tolerance of the best."""
        return "\n".join([self._title, text_table(self._rows()), self._legend])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._title)}</p>{html_table(self._rows())}<p>{self._legend}</p>"

    @property
    def _title(self) -> str:
        return f"winner by {self.strategy}: {self.winner}"

    @property
    def _legend(self) -> str:
        return f"* within {self.tolerance:g} of the best"

    def _rows(self) -> list[tuple[str, ...]]:
        return [("model", *STRATEGIES), *(self._cells(row) for row in self.ranking)]

    def _cells(self, row: ModelScores) -> tuple[str, ...]:
        marks = ("*" if self.behind(row, name) < self.tolerance else " " for name in STRATEGIES)
        scores = (f"{getattr(row, name):.4f}" for name in STRATEGIES)
        return (row.model, *(score + mark for score, mark in zip(scores, marks, strict=True)))


def select_model(
    y_true: Any,
    scores: Any,
    scenario: Scenario,
    *,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    pos_label: Any = None,
    sample_weight: Any = None,
    guarantee: Guarantee | None = None,
) -> Selection:
    """Rank models by their scores on the same validation cases, and pick one.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,)
        Labels, the same for all models.
    scores : mapping of str to array-like, data frame, or array-like of shape (n_cases,)
        The scores of each model, a data frame with a column for each, or those of one model.
    scenario : Scenario
        Limits and costs.
    strategy : {"partial_voros", "voros", "partial_auroc", "recall"}
        What to rank by: "partial_voros" minds limits and costs, "voros" costs only,
        "partial_auroc" and "recall" limits only. Every model is scored by all four.
    tolerance : float, default 0.01
        Differences in score below this are marked as none.
    pos_label, sample_weight
        As in `voros.partial_voros_score`.
    guarantee : Guarantee, optional
        Count only thresholds that also keep the limits on future data, with confidence. Each model
        has its part of the allowed error (`Guarantee.among`), so that the promise holds for the
        winner.

    Warns
    -----
    NeverAlarmWarning
        When the winner has no threshold but never alarm within the limits.

    Examples
    --------
    >>> import voros
    >>> y_valid = [0, 0, 0, 0, 0, 1, 0, 1, 0, 1]
    >>> scores = {
    ...     "steady": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.55, 0.7, 0.8, 0.9],
    ...     "sharp": [0.7, 0.2, 0.6, 0.4, 0.5, 0.1, 0.3, 0.8, 0.35, 0.9],
    ... }
    >>> scenario = voros.Scenario(min_precision=0.6, capacity=0.2, cost_ratio=(0.1, 0.2))
    >>> select_model(y_valid, scores, scenario)
    winner by partial_voros: sharp
    model   partial_voros    voros  partial_auroc   recall
    sharp         1.0000*  0.8592         0.0000*  0.6667*
    steady        0.4632   0.9964*        0.0000*  0.3333
    * within 0.01 of the best
    """
    columns = columns_by_model(y_true, scores)
    named = several_models(scores)
    counted = (
        (model, count_model(y_true, column, pos_label, sample_weight, model if named else None))
        for model, column in columns.items()
    )
    return _select(counted, scenario, strategy, tolerance, shared(guarantee, len(columns)))


def select_points(
    points_by_model: Mapping[str, OperatingPoints],
    scenario: Scenario,
    *,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    guarantee: Guarantee | None = None,
) -> Selection:
    """Rank models by their operating points, and pick one; see `select_model`.

    Examples
    --------
    >>> import voros
    >>> sizes = {"n_positive": 1000, "n_negative": 9000}
    >>> points = {
    ...     "a": voros.OperatingPoints.from_points([0.02, 0.3], [0.4, 0.9], **sizes),
    ...     "b": voros.OperatingPoints.from_points([0.05, 0.2], [0.5, 0.8], **sizes),
    ... }
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.3, cost_ratio=1 / 30)
    >>> voros.select_points(points, scenario).winner
    'b'
    """
    each = shared(guarantee, len(points_by_model))
    return _select(points_by_model.items(), scenario, strategy, tolerance, each)


def shared(guarantee: Guarantee | None, n_models: int) -> Guarantee | None:
    """Return what to ask of each of several models; that there is one is checked elsewhere."""
    return guarantee and guarantee.among(max(n_models, 1))


def _select(
    points_by_model: Iterable[tuple[str, OperatingPoints]],
    scenario: Scenario,
    strategy: Strategy,
    tolerance: float,
    guarantee: Guarantee | None,
) -> Selection:
    check_strategy(strategy)
    if not tolerance >= 0:
        raise ValueError(f"tolerance={tolerance!r}; accepted is a number of at least 0")
    scored, odds = [], 1.0
    # One model at a time: the points of hundreds of models need not be held together.
    for model, points in points_by_model:
        scored.append(score_model(model, points, scenario, guarantee))
        odds = points.at_prevalence(scenario.prevalence).negatives_per_positive
    if not scored:
        raise ValueError("there is no model to choose from; at least one is needed")
    # The sort is stable: equal scores stay in the order given.
    ranking = tuple(sorted(scored, key=lambda row: -float(getattr(row, strategy))))
    warn_about_costs(scenario, odds)
    _warn_of_infeasible_winner(ranking)
    return Selection(strategy, tolerance, ranking)


def score_model(
    model: str,
    points: OperatingPoints,
    scenario: Scenario,
    guarantee: Guarantee | None = None,
) -> ModelScores:
    """Score one model by all four strategies."""
    cases = points.at_prevalence(scenario.prevalence)
    allowed = deployable(points, scenario, guarantee)
    scores = {name: SCORES[name](cases, allowed, scenario) for name in STRATEGIES}
    return ModelScores(model, **scores, feasible=bool(allowed[1:].any()))


def _partial_voros(cases: OperatingPoints, allowed: BoolArray, scenario: Scenario) -> float:
    region = feasible_region(
        cases.n_positive, cases.n_negative, scenario.min_precision, cases.max_alarms(scenario)
    )
    return partial_volume(cases, cost_hull(cases, allowed), region, scenario.costs)


def _voros(cases: OperatingPoints, allowed: BoolArray, scenario: Scenario) -> float:
    everything = np.ones_like(allowed)
    region = feasible_region(cases.n_positive, cases.n_negative)
    return partial_volume(cases, cost_hull(cases, everything), region, scenario.costs)


def _partial_auroc(cases: OperatingPoints, allowed: BoolArray, _: Scenario) -> float:
    fpr, tpr = cases.fpr[allowed], cases.tpr[allowed]
    return float(np.dot(np.diff(fpr), tpr[1:] + tpr[:-1]) / 2)


def _recall(cases: OperatingPoints, allowed: BoolArray, _: Scenario) -> float:
    return float(cases.tpr[highest_recall(cases, allowed)])


SCORES: dict[Strategy, Callable[[OperatingPoints, BoolArray, Scenario], float]] = {
    "partial_voros": _partial_voros,
    "voros": _voros,
    "partial_auroc": _partial_auroc,
    "recall": _recall,
}
"""Each strategy's score, of points at the scenario's prevalence and which of them are allowed."""


def check_strategy(strategy: str) -> None:
    """Raise unless models can be ranked by this."""
    if strategy not in STRATEGIES:
        accepted = ", ".join(map(repr, STRATEGIES))
        raise ValueError(f"strategy={strategy!r}; accepted are {accepted}")


def _warn_of_infeasible_winner(ranking: tuple[ModelScores, ...]) -> None:
    if ranking[0].feasible:
        return
    others = [row.model for row in ranking if row.feasible]
    hint = f"; these have some: {', '.join(others)}" if others else ", nor has any other model"
    warnings.warn(
        f"the winner {ranking[0].model!r} has no threshold but never alarm within the limits{hint}",
        NeverAlarmWarning,
        stacklevel=4,
    )
