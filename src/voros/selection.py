"""Rank models by how well they serve a scenario, and pick one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.arguments import check_choice, check_number
from voros.core.decision import Decision
from voros.core.operating_points import OperatingPoints
from voros.core.periods import read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import (
    IncompleteCountsError,
    InfeasibleError,
    NeverAlarmWarning,
    warn_caller,
)
from voros.io.frames import make_frame
from voros.models import ModelCases, points_by_name
from voros.notices import warn_about_costs
from voros.policy import ThresholdPolicy
from voros.policy.allowed import (
    AllowedThresholds,
    PolicyStrategy,
    allowed_thresholds,
    check_groups,
    deployable,
    limits_under,
    read_guarantee,
    split,
    why_never_alarm,
)
from voros.policy.confidence_curve import ConfidenceStep
from voros.policy.development import (
    Planned,
    check_development,
    check_same_models,
    read_development,
)
from voros.text.table import Shown, Table

if TYPE_CHECKING:
    from voros.guarantee import Guarantee

__all__ = ["ModelScores", "Selection", "select_model"]

Strategy: TypeAlias = Literal["partial_voros", "voros", "partial_auroc", "recall"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

Models: TypeAlias = tuple[Collection[str], Callable[[str], OperatingPoints], int]
"""Names, what counts the alarms of one, and the number of cases."""

BY_SAVING: tuple[Strategy, ...] = ("partial_voros", "recall")
"""With development cases these choose the model that saves most under the guarantee."""

PAPER_TOLERANCE = 0.01
"""The difference in score below which the paper calls two models equally good."""


@dataclass(frozen=True, kw_only=True)
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

    Examples
    --------
    >>> import voros
    >>> y, scores = [1, 0, 1, 0], {"old": [0.9, 0.8, 0.3, 0.1], "new": [0.7, 0.2, 0.6, 0.4]}
    >>> best = voros.select_model(y, scores, voros.Scenario(0.6, 0.5, 0.1)).ranking[0]
    >>> best.model, best.partial_voros, best.recall, best.feasible
    ('new', 1.0, 1.0, True)
    """

    model: str
    partial_voros: float
    voros: float
    partial_auroc: float
    recall: float
    feasible: bool


@dataclass(frozen=True, repr=False, kw_only=True)
class Selection(Shown):
    """Models ranked by a strategy, best first; `policy` deploys the winner.

    Attributes
    ----------
    strategy : str
    tolerance : float
        A difference below this share of what a score can reach within the limits does not count
        as one; see `tolerance_of`.
    ranking : tuple of ModelScores
        Best first by `strategy`; models of equal score in the order given. With development cases
        the scores are those on them, and the model that was fixed there comes first.
    scenario : Scenario
    guarantee : Guarantee or None
        The promise that holds for whichever of the models is deployed; its error is split over
        them. With development cases it holds for the winner, which has all of it.
    reason : str or None
        Why the winner could only never alarm, where that is so.
    allowed : mapping of str to AllowedThresholds
        The thresholds of each model that may be deployed; with development cases of the winner.
    pos_label : label or None
        The positive label, where it was stated.
    n_development : int or None
        On how many development cases the model was chosen, where there are some.
    curve : tuple of ConfidenceStep
        The winner at each confidence, where several were given.

    Examples
    --------
    >>> import voros
    >>> patients = voros.datasets.load_support2().with_all_prognoses()
    >>> died = patients.outcome("hospital_death_within_7_days")
    >>> scenario = voros.Scenario(0.2, 0.1, cost_ratio=voros.costs.miss_costs(9, 40))
    >>> selection = voros.select_model(died, patients.prognoses, scenario)
    >>> selection.winner, selection.close_to_winner, round(selection.policy().threshold(), 4)
    ('SUPPORT model', (), 0.747)
    """

    strategy: Strategy
    tolerance: float
    ranking: tuple[ModelScores, ...]
    scenario: Scenario
    guarantee: Guarantee | None = None
    reason: str | None = None
    allowed: Mapping[str, AllowedThresholds] = field(
        default_factory=dict, repr=False, compare=False
    )
    pos_label: Any = None
    n_development: int | None = None
    curve: tuple[ConfidenceStep, ...] = ()

    @property
    def winner(self) -> str:
        """Name of the best model."""
        return self.ranking[0].model

    def policy(
        self, *, model: str | None = None, strategy: PolicyStrategy | None = None
    ) -> ThresholdPolicy:
        """Return the thresholds to deploy, decided on the cases that ranked the models.

        Nothing is tested again: a guarantee given to `select_model` was asked of every model with
        its part of the error, so it holds for whichever of them is deployed.

        Parameters
        ----------
        model : str, optional
            One of those ranked; by default the winner.
        strategy : str, optional
            How the thresholds are chosen, as in `ThresholdPolicy.from_validation`; by default by
            the strategy that ranked the models.

        Warns
        -----
        NeverAlarmWarning
            When no threshold of the model but never alarm is allowed; the policy then never
            alarms.

        Examples
        --------
        >>> import voros
        >>> y, scores = [1, 0, 1, 0], {"old": [0.9, 0.8, 0.3, 0.1], "new": [0.7, 0.2, 0.6, 0.4]}
        >>> scenario = voros.Scenario(min_precision=0.6, capacity=0.5, cost_ratio=(0.1, 0.2))
        >>> policy = voros.select_model(y, scores, scenario).policy()
        >>> policy.model, policy.threshold()
        ('new', 0.6)
        """
        name = self.winner if model is None else model
        if name not in self.allowed:
            raise ValueError(f"model={model!r}; accepted are {', '.join(map(repr, self.allowed))}")
        allowed = self.allowed[name]
        policy = ThresholdPolicy.from_allowed(
            allowed,
            strategy=strategy or self.strategy,
            model=name,
            pos_label=self.pos_label,
        )
        if not allowed.decision.can_alarm:
            why = self.reason if name == self.winner else "no threshold but never alarm is allowed"
            warn_caller(f"model {name!r}: {why}", NeverAlarmWarning)
        return replace(policy, curve=self.curve)

    @property
    def close_to_winner(self) -> tuple[str, ...]:
        """Names of the other models whose score is within the tolerance of the winner's."""
        return tuple(row.model for row in self.ranking[1:] if self.is_close(row))

    def is_close(self, row: ModelScores, strategy: Strategy | None = None) -> bool:
        """Whether a model's score is within the tolerance of the best one, by any strategy."""
        return self.behind(row, strategy) < self.tolerance_of(strategy)

    def tolerance_of(self, strategy: Strategy | None = None) -> float:
        """Return the difference that counts as none, on the scale of a strategy's score.

        Partial VOROS and VOROS reach 1 whatever the limits. A recall reaches no more than the
        capacity admits, and a partial AUROC no more than the greatest recall times the greatest
        false alarm rate: 0.01 of a partial AUROC that can reach 0.05 is 0.0005.
        """
        return self.tolerance * self._scales[strategy or self.strategy]

    @cached_property
    def _scales(self) -> dict[Strategy, float]:
        region = next(iter(self.allowed.values())).decision.region
        fpr, tpr = region.ring.max(axis=1).tolist()
        # Where every alarm must be right there is no area under the curve to differ in.
        area = fpr * tpr or 1.0
        return {"partial_voros": 1.0, "voros": 1.0, "partial_auroc": area, "recall": tpr}

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

        A score is close when it is within the tolerance of the best one, on its own scale.
        """
        columns: dict[str, list[Any]] = {"model": [row.model for row in self.ranking]}
        for name in STRATEGIES:
            columns[name] = [getattr(row, name) for row in self.ranking]
            columns[f"{name}_rank"] = [self.rank(row, name) for row in self.ranking]
            columns[f"{name}_close"] = [self.is_close(row, name) for row in self.ranking]
        columns["feasible"] = [row.feasible for row in self.ranking]
        return make_frame(columns, backend)

    def _parts(self) -> tuple[str, Table, str]:
        """Return the ranking; a star marks scores within the tolerance of the best."""
        table = Table.from_rows([("model", *STRATEGIES), *map(self.cells, self.ranking)])
        by = f"by {self.strategy}"
        if self.n_development is not None:
            by = f"fixed on {self.n_development:,} development cases, {by}"
        return f"winner {by}: {self.winner}", table, self.legend

    @property
    def legend(self) -> str:
        """What the stars in a table mean."""
        finer: dict[str, float] = {
            name: self.tolerance_of(name)
            for name in STRATEGIES
            if 0 < self.tolerance_of(name) < self.tolerance
        }
        rest = "".join(f", {name} within {value:.2g}" for name, value in finer.items())
        return f"* within {self.tolerance:g} of the best{rest}"

    def cells(self, row: ModelScores) -> tuple[str, ...]:
        """Return a model's name and its four scores as text, a star where they are close."""
        marks = ("*" if self.is_close(row, name) else " " for name in STRATEGIES)
        values = [getattr(row, name) for name in STRATEGIES]
        shown = ("open" if np.isnan(value) else f"{value:.4f}" for value in values)
        return (row.model, *(score + mark for score, mark in zip(shown, marks, strict=True)))


def select_model(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    *,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    pos_label: Any = None,
    sample_weight: Any = None,
    guarantee: Guarantee | None = None,
    development: Any = None,
    groups: Any = None,
    periods: Any = None,
    times: Any = None,
) -> Selection:
    """Rank models by their scores on the same validation cases, and pick one.

    Arrays on a device (torch, CuPy, JAX) stay there, unless weights or a guarantee are given: the
    thresholds that can be chosen are counted on it, and the partial AUROC too.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), or mapping of str to OperatingPoints
        Labels, the same for all models. Operating points of each model take the place of labels
        and scores; those of `development` are then a mapping of the same models.
    scores : mapping of str to array-like, data frame, or array-like of shape (n_cases,)
        The scores of each model, a data frame with a column for each, or those of one model.
    scenario : Scenario
        Limits and costs.
    strategy : {"partial_voros", "voros", "partial_auroc", "recall"}
        What to rank by: "partial_voros" minds limits and costs, "voros" costs only,
        "partial_auroc" and "recall" limits only. Every model is scored by all four.
    tolerance : float, default 0.01
        Differences below this share of what a score can reach within the limits are marked as
        none; see `Selection.tolerance_of`.
    pos_label, sample_weight, periods, times
        As in `voros.partial_voros_score`.
    guarantee : Guarantee or confidence, optional
        Count only thresholds that also keep the limits on future data, with confidence; 0.95 is
        ``Guarantee(0.95)``. Each model has its part of the allowed error (`Guarantee.split`), so
        that the promise holds for whichever is deployed with `Selection.policy`. Of several
        confidences the highest counts at which a model can alarm.
    development : tuple of (y_dev, scores_dev), optional
        Labels and scores of the same models on cases that are not among the validation cases, such
        as out-of-fold scores of the training cases, or last year's. Model and thresholds are fixed
        on them, and the validation cases certify them with the whole error. Only with a guarantee,
        and not with a capacity per period. Where groups repeat, development cases choose the model
        only.
    groups : array-like of shape (n_cases,), optional
        The patient of each case. A guarantee needs it where patients have several cases: without
        `groups` all cases are taken as independent, and nothing can check that.

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
    * within 0.01 of the best, partial_auroc within 0.00076, recall within 0.0067

    Two published curves:

    >>> sizes = {"n_positive": 1000, "n_negative": 9000}
    >>> points = {
    ...     "a": voros.OperatingPoints.from_points([0.02, 0.3], [0.4, 0.9], **sizes),
    ...     "b": voros.OperatingPoints.from_points([0.05, 0.2], [0.5, 0.8], **sizes),
    ... }
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.3, cost_ratio=1 / 30)
    >>> voros.select_model(points, scenario=scenario).winner
    'b'
    """
    scenario = check_scenario(scenario)
    per_case = {"sample_weight": sample_weight, "groups": groups, "periods": periods}
    per_case |= {"times": times}
    points = points_by_name(y_true, scores=scores, pos_label=pos_label, **per_case)
    if points is not None:
        models: Models = _counted(points)
    else:
        check_aligned(y_true=y_true, scores=scores, **per_case)
        cases = ModelCases.read(y_true, scores)
        check_groups(guarantee, groups)
        points_of = cases.counter(
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            periods=read_periods(scenario, cases.y_true, periods, times),
        )
        models = cases.scores, points_of, int(cases.y_true.shape[0])
    developed = None
    if development is not None:
        check_development(guarantee, scenario)
        developed = points_by_name(development) or read_development(development, pos_label)
    how: Any = {"strategy": strategy, "tolerance": tolerance, "guarantee": guarantee}
    selection = _rank(*models, scenario, developed, **how)
    _warn_about(selection)
    return replace(selection, pos_label=pos_label)


def _counted(points: Mapping[str, OperatingPoints]) -> Models:
    return points, points.__getitem__, int(next(iter(points.values())).n_cases)


def _rank(
    models: Collection[str],
    points_of: Callable[[str], OperatingPoints],
    n_cases: int,
    scenario: Scenario,
    development: Mapping[str, OperatingPoints] | None,
    **how: Any,
) -> Selection:
    if development is None:
        counted = ((model, points_of(model)) for model in models)
        return rank_points(counted, len(models), scenario, **how)
    check_same_models(development, models)
    return rank_developed(development, points_of, n_cases, scenario, **how)


def rank_points(
    points_by_model: Iterable[tuple[str, OperatingPoints]],
    n_models: int,
    scenario: Scenario,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    guarantee: Guarantee | None = None,
) -> Selection:
    """Rank models as `select_model` does, one after another and without a warning."""
    check_choice(strategy, "strategy", STRATEGIES)
    check_number(tolerance, "tolerance")
    if n_models == 0:
        raise ValueError("scores hold no model; at least one is needed to choose from")
    guarantee = read_guarantee(guarantee)
    if guarantee is not None and isinstance(guarantee.confidence, tuple):
        return _climbed(dict(points_by_model), scenario, strategy, tolerance, guarantee)
    each, best = split(guarantee, n_models), -np.inf
    scenario = limits_under(guarantee, scenario)
    scored, kept = [], {}
    # One model at a time: the points of hundreds of models need not be held together, only the
    # few that can be deployed, and all of the best one so far.
    for model, points in points_by_model:
        decision = deployable(points, scenario, each)
        row = _score(model, decision, strategy)
        kept[model] = AllowedThresholds.of(points, decision, guarantee, n_models)
        scored.append(row)
        if getattr(row, strategy) > best:
            best, leading = getattr(row, strategy), points
    # The sort is stable, in reverse too: equal scores stay in the order given.
    ranking = tuple(sorted(scored, key=attrgetter(strategy), reverse=True))
    reason = (
        None if ranking[0].feasible else why_never_alarm(leading, scenario, guarantee, n_models)
    )
    return Selection(
        strategy=strategy,
        tolerance=tolerance,
        ranking=ranking,
        scenario=scenario,
        guarantee=guarantee,
        reason=reason,
        allowed=kept,
    )


def _climbed(
    models: Mapping[str, OperatingPoints],
    scenario: Scenario,
    strategy: Strategy,
    tolerance: float,
    ladder: Guarantee,
) -> Selection:
    """Rank at every confidence of a ladder; the highest counts at which a model can alarm."""

    def ranked(step: Guarantee | None) -> Selection:
        return rank_points(models.items(), len(models), scenario, strategy, tolerance, step)

    scenario = limits_under(ladder, scenario)
    tried = [ranked(step) for step in (*ladder.steps, None)]
    curve = tuple(
        ConfidenceStep.from_policy(
            ThresholdPolicy.decided(each.allowed[each.winner], strategy, each.winner)
        )
        for each in tried
    )
    chosen = next((each for each in tried[:-1] if each.ranking[0].feasible), tried[0])
    reason = None if chosen.reason is None else tried[-2].reason
    return replace(chosen, reason=reason, curve=curve)


def rank_developed(
    development: Mapping[str, OperatingPoints],
    points_of: Callable[[str], OperatingPoints],
    n_cases: int,
    scenario: Scenario,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    guarantee: Guarantee | None = None,
) -> Selection:
    """Fix a model and its thresholds on development cases, and certify them on validation cases.

    Parameters
    ----------
    development : mapping of str to OperatingPoints
        Of each model on the development cases.
    points_of : callable
        Returns the points of a model on the validation cases.
    n_cases : int
        Validation cases.
    scenario, strategy, tolerance, guarantee
        As in `select_model`.
    """
    guarantee = check_development(guarantee, scenario)
    limits = limits_under(guarantee, scenario)
    if limits.capacity_is_count:
        # As many alarms of the validation cases are a share of any others.
        limits = replace(limits, capacity=min(limits.capacity / n_cases, 1.0))
    ranked = rank_points(development.items(), len(development), limits, strategy, tolerance)
    first = points_of(ranked.winner)
    if first.stays is not None or (first.grouped is not None and first.grouped.repeated):
        winner, allowed = ranked.winner, allowed_thresholds(first, scenario, guarantee)
        reason = None if allowed.decision.can_alarm else why_never_alarm(first, scenario, guarantee)
    else:
        # The other strategies choose the model by another score than what is saved.
        models = (
            development if strategy in BY_SAVING else {ranked.winner: development[ranked.winner]}
        )
        planned = Planned.from_development(models, n_cases, scenario, guarantee, strategy)
        winner = planned.plan.model
        allowed, reason = planned.tested(first if winner == ranked.winner else points_of(winner))
    can_alarm = allowed.decision.can_alarm
    rows = sorted(ranked.ranking, key=lambda row: row.model != winner)
    return replace(
        ranked,
        ranking=tuple(replace(r, feasible=r.model == winner and can_alarm) for r in rows),
        scenario=allowed.decision.scenario,
        guarantee=guarantee,
        reason=reason,
        allowed={winner: allowed},
        n_development=int(development[winner].n_cases),
    )


def _score(model: str, decision: Decision, strategy: Strategy) -> ModelScores:
    """Score a model by every strategy, NaN where its points leave one open; never `strategy`."""
    scores: dict[str, float] = {}
    for name, score_of in SCORES.items():
        try:
            scores[name] = score_of(decision)
        except IncompleteCountsError as error:
            if name == strategy:
                raise IncompleteCountsError(f"model {model!r}, by {name!r}: {error}") from None
            scores[name] = np.nan
    return ModelScores(model=model, **scores, feasible=decision.can_alarm)


SCORES: dict[Strategy, Callable[[Decision], float]] = {
    "partial_auroc": attrgetter("partial_auroc"),
    "recall": attrgetter("recall"),
    "partial_voros": attrgetter("partial_voros"),
    "voros": attrgetter("voros"),
}
"""Each strategy's score of a decision."""


def _warn_about(selection: Selection) -> None:
    warn_about_costs(next(iter(selection.allowed.values())).decision)
    ranking = selection.ranking
    if ranking[0].feasible:
        return
    if selection.n_development is not None:
        warn_caller(f"model {ranking[0].model!r}: {selection.reason}", NeverAlarmWarning)
        return
    others = [row.model for row in ranking if row.feasible]
    hint = f"; these have some: {', '.join(others)}" if others else ", nor has any other model"
    warn_caller(
        f"the winner {ranking[0].model!r} has no threshold but never alarm within the limits{hint}",
        NeverAlarmWarning,
    )


def rank_deployable(
    points_by_model: Mapping[str, OperatingPoints],
    scenario: Scenario,
    development: Mapping[str, OperatingPoints] | None = None,
    **how: Any,
) -> Selection:
    """Rank models as `select_model` does, and refuse a winner that could only never alarm.

    Raises
    ------
    InfeasibleError
        With what the winner could meet.
    """
    selection = _rank(*_counted(points_by_model), scenario, development, **how)
    winner = selection.ranking[0].model
    warn_about_costs(selection.allowed[winner].decision)
    if selection.reason is not None:
        raise InfeasibleError(f"model {winner!r}: {selection.reason}")
    return selection
