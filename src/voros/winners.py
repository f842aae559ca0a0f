"""Winner maps: which model wins, over a grid of precision floors and capacities.

Each model is sorted and counted once. One floor has one set of precise thresholds, and a larger
capacity only adds thresholds, so a new hull is needed only where one is added. The closed form then
scores all capacities of one floor together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import stdtrit

from voros.core.alignment import check_aligned
from voros.core.arguments import as_number, check_count, check_number
from voros.core.arrays import as_vector
from voros.core.costs import CostDistribution, CostLike, Uniform
from voros.core.counting import adds_recall
from voros.core.decision import at_deployment, solve
from voros.core.geometry import cut_by_capacities, cut_square
from voros.core.hull import growing_hulls
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.core.volume import partial_volumes, volumes_on_grid
from voros.exceptions import Argument, ArgumentError
from voros.inference.bootstrap import Resampling, ResamplingPlan
from voros.inference.statistics import Measure
from voros.io.frames import make_frame
from voros.metrics import read_scenario
from voros.models import count_models, points_by_name
from voros.notices import warn_about_costs
from voros.progress import Progress, progress_bar
from voros.text.numbers import percent_of
from voros.typing import AnyArray, BoolArray, FloatArray

__all__ = ["WinnerMap", "winner_map"]

CLOSE_CALL = 0.01
"""Scores that differ by at most this are indistinguishable, as in the paper's section 5."""

NOBODY = -1
"""The winner where no model has a feasible threshold."""


@dataclass(frozen=True, eq=False, kw_only=True)
class WinnerMap:
    """Partial VOROS of several models over a grid of limits, and the winner of each grid cell.

    Attributes
    ----------
    models : tuple of str
    min_precisions : ndarray of shape (n_floors,)
    capacities : ndarray of shape (n_capacities,)
        Shares of the cases, or numbers of cases.
    scores : ndarray of shape (n_floors, n_capacities, n_models)
    feasible : ndarray of bool, shape (n_floors, n_capacities, n_models)
        Whether a model has a threshold that raises an alarm and meets the limits.
    costs : CostDistribution
    tolerance : float
        Without resamples, a close call is a grid cell whose best two scores differ by at most this.
    unsure : ndarray of bool, shape (n_floors, n_capacities), or None
        Where the best model's lead over at least one other is not significant at 5 %, over all
        pairs of models of a grid cell; None without resamples.
    per : str or None
        "patient-day" where capacities are rates of alarms over stays.
    min_recall : float or None
        The recall floor of every grid cell.

    Examples
    --------
    >>> import voros
    >>> patients = voros.datasets.load_support2().with_all_prognoses()
    >>> died = patients.outcome("hospital_death_within_7_days")
    >>> result = voros.winner_map(
    ...     died,
    ...     patients.prognoses,
    ...     min_precisions=[0.2, 0.5],
    ...     capacities=[0.01, 0.05, 0.3],
    ...     cost_ratio=(1 / 40, 1 / 9),
    ... )
    >>> [[result.models[j] for j in row] for row in result.winner]
    [['SPS', 'SUPPORT model', 'physicians'], ['SPS', 'SUPPORT model', 'SUPPORT model']]
    >>> {model: round(share, 2) for model, share in result.shares_won().items()}
    {'SPS': 0.33, 'APACHE III': 0.0, 'SUPPORT model': 0.5, 'physicians': 0.17}
    """

    models: tuple[str, ...]
    min_precisions: FloatArray
    capacities: AnyArray
    scores: FloatArray
    feasible: BoolArray
    costs: CostDistribution
    tolerance: float
    unsure: BoolArray | None = None
    per: str | None = None
    min_recall: float | None = None

    @cached_property
    def winner(self) -> AnyArray:
        """Position of the best model in each grid cell; -1 where nothing is feasible."""
        return np.where(self.feasible.any(axis=-1), self.scores.argmax(axis=-1), NOBODY)

    @cached_property
    def margin(self) -> FloatArray:
        """Best score minus the second best in each grid cell; NaN where nothing is feasible."""
        ranked = np.sort(self.scores, axis=-1)
        return np.where(self.winner == NOBODY, np.nan, ranked[..., -1] - ranked[..., -2])

    @cached_property
    def close_call(self) -> BoolArray:
        """Close calls: the cells in `unsure`, or without resamples those within the tolerance."""
        return np.asarray(self.margin <= self.tolerance) if self.unsure is None else self.unsure

    @property
    def close_call_in_words(self) -> str:
        """The criterion for a close call."""
        if self.unsure is None:
            return f"best two within {self.tolerance:g} (no test of chance)"
        return "lead not significant at 5 %"

    def shares_won(self) -> dict[str, float]:
        """Return the share of the feasible grid cells that each model wins."""
        n_won = np.bincount(self.winner.ravel() - NOBODY, minlength=len(self.models) + 1)[1:]
        return dict(zip(self.models, (n_won / self._n_feasible).tolist(), strict=True))

    def shares_in_words(self) -> dict[str, str]:
        """Return `shares_won` in percent."""
        shares = self.shares_won().items()
        return {name: percent_of(share, self._n_feasible) for name, share in shares}

    @property
    def _n_feasible(self) -> int:
        return max(int(np.count_nonzero(self.winner != NOBODY)), 1)

    @property
    def close_calls_in_words(self) -> str:
        """The share of close calls among the grid cells, in percent."""
        return percent_of(float(self.close_call.mean()), self.close_call.size)

    def columns(self) -> dict[str, Any]:
        """Return the columns of `frame`: limits, winner and scores of each grid cell."""
        floors, capacities = np.meshgrid(self.min_precisions, self.capacities, indexing="ij")
        names = np.array([*self.models, None], dtype=object)
        columns: dict[str, Any] = {
            "min_precision": floors.ravel(),
            "capacity": capacities.ravel(),
            "winner": names[self.winner.ravel()].tolist(),
            "margin": self.margin.ravel(),
            "close_call": self.close_call.ravel(),
        }
        scores = self.scores.reshape(-1, len(self.models))
        return columns | {f"score of {name}": scores[:, j] for j, name in enumerate(self.models)}

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame of one row per grid cell, with one column of scores per model."""
        return make_frame(self.columns(), backend)

    def __repr__(self) -> str:
        """Show the share of the grid cells that each model wins."""
        floors, capacities = self.winner.shape
        recall = "" if self.min_recall is None else f", recall >= {self.min_recall:g}"
        won = ", ".join(f"{name} {said}" for name, said in self.shares_in_words().items())
        return (
            f"WinnerMap({floors} floors x {capacities} capacities{recall}; "
            f"of the feasible grid cells: {won}; {self.close_calls_in_words} are close calls)"
        )


def winner_map(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    *,
    min_precisions: Any = None,
    capacities: Any = None,
    cost_ratio: CostLike | None = None,
    prevalence: float | None = None,
    per: str | None = None,
    min_recall: float | None = None,
    tolerance: float = CLOSE_CALL,
    n_resamples: int = 0,
    groups: Any = None,
    random_state: int | np.random.Generator | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    progress: Progress = False,
) -> WinnerMap:
    """Score several models over a grid of limits, and find the winner of each grid cell.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), or mapping of str to OperatingPoints
        Labels: bool, {0, 1}, {-1, 1}, or any two with `pos_label`. Operating points of each model,
        such as those of published curves, take the place of labels and scores.
    scores : mapping of str to array-like, or data frame with a column for each model
        At least two models.
    scenario : Scenario, optional
        Costs, prevalence, kind of capacity and recall floor, in place of `cost_ratio`,
        `prevalence`, `per` and `min_recall`. Its precision floor and capacity replace a grid of
        floors or capacities that is not given.
    min_precisions : array-like of floats in [0, 1], increasing
    capacities : array-like, increasing
        Floats are shares of the cases, ints are numbers of cases, as in `Scenario`.
    cost_ratio : float, pair of floats, or distribution from `voros.costs`
    prevalence : float in (0, 1), optional
        Prevalence at deployment, if it differs from that of the data.
    per : {"patient-day"}, optional
        For alarms over stays (`voros.alarm_points`): capacities are rates per patient-day.
    min_recall : float in [0, 1], optional
        A recall floor that models must keep in every grid cell.
    tolerance : float, default 0.01
        Without resamples, a close call is a grid cell whose best two scores differ by at most this.
    n_resamples : int, default 0
        Number of resamples of the cases, at least 100, shared by all models. A close call is then a
        grid cell in which the best model's lead over at least one other is not significant. 100
        resamples take about 100 times as long as the map.
    groups : array-like of shape (n_cases,), optional
        The patient of each case, where patients have several: whole groups are resampled.
    random_state : int, Generator or None
        Random numbers for the resamples.
    pos_label, sample_weight
        As in `voros.partial_voros_score`.
    progress : bool or callable, default False
        Draw a progress bar on the standard error stream, or call ``progress(done, total)`` after
        each floor.

    Returns
    -------
    WinnerMap

    Warns
    -----
    CostRangeWarning
        When cost ratios above ``a / (1 - a)``, for the lowest floor ``a`` above 0, make raising no
        alarm score 0.01 or more.

    See Also
    --------
    voros.plotting.WinnerMapDisplay : Draws the map.

    Examples
    --------
    >>> import voros
    >>> y_true = [0, 0, 0, 0, 1, 0, 1, 1]
    >>> scores = {
    ...     "sharp": [0.1, 0.2, 0.6, 0.7, 0.5, 0.3, 0.8, 0.9],
    ...     "steady": [0.1, 0.2, 0.3, 0.4, 0.6, 0.9, 0.7, 0.8],
    ... }
    >>> result = voros.winner_map(
    ...     y_true, scores, min_precisions=[0.5, 0.7], capacities=[0.25, 0.5], cost_ratio=0.2
    ... )
    >>> result.winner.tolist()
    [[0, 1], [0, 1]]

    Two published curves:

    >>> sizes = {"n_positive": 100, "n_negative": 900}
    >>> early = voros.OperatingPoints.from_points([0.01, 0.3], [0.4, 0.7], **sizes)
    >>> late = voros.OperatingPoints.from_points([0.03, 0.2], [0.3, 0.9], **sizes)
    >>> result = voros.winner_map(
    ...     {"early": early, "late": late},
    ...     min_precisions=[0.2, 0.5, 0.9],
    ...     capacities=[0.1, 0.4],
    ...     cost_ratio=(1 / 40, 1 / 20),
    ... )
    >>> result.winner.tolist()
    [[0, 1], [0, 0], [-1, -1]]
    """
    check_aligned(y_true=y_true, scores=scores, groups=groups)
    how = {"pos_label": pos_label, "sample_weight": sample_weight}
    points_by_model = points_by_name(y_true, scores=scores, **how)
    if points_by_model is None:
        points_by_model = count_models(y_true, scores, **how)
    parts = {"cost_ratio": cost_ratio, "prevalence": prevalence, "min_recall": min_recall}
    if scenario is None:
        costs = read_scenario(None, parts)
    else:
        limits, per = read_scenario(scenario, parts | {"per": per}), scenario.per
        costs = limits.without_limits().changed(min_recall=limits.min_recall)
        if min_precisions is None:
            min_precisions = [scenario.min_precision]
        if capacities is None:
            capacities = [scenario.capacity]
    winners = score_grid(
        points_by_model,
        costs,
        min_precisions,
        capacities,
        tolerance=tolerance,
        progress=False if n_resamples else progress,
        per=per,
    )
    if check_count(n_resamples, "n_resamples", "0, or a whole number of at least 100", 0):
        if scores is None or sample_weight is not None:
            raise ArgumentError(
                "n_resamples", f"={n_resamples}; resamples need labels and scores without weights"
            )
        drawing = Resampling(
            n_resamples=n_resamples,
            method="percentile",
            pos_label=pos_label,
            groups=groups,
            random_state=random_state,
            progress=progress,
        )
        plan = drawing.plan(y_true, scores, worthwhile=True)
        winners = replace(winners, unsure=_unsure_cells(winners, plan, costs))
    elif groups is not None:
        raise ArgumentError("groups", " needs ", Argument("n_resamples"), ", to resample groups")
    limited = winners.min_precisions[winners.min_precisions > 0].tolist()
    if limited:
        points = next(iter(points_by_model.values()))
        warn_about_costs(solve(points, costs.changed(min_precision=limited[0])))
    return winners


def score_grid(
    points_by_model: Mapping[str, OperatingPoints],
    costs: Scenario,
    min_precisions: Any,
    capacities: Any,
    tolerance: float = CLOSE_CALL,
    progress: Progress = False,
    per: str | None = None,
) -> WinnerMap:
    """Score models as `winner_map` does, without a warning.

    The only limit that ``costs`` may have is a recall floor, which holds in every grid cell.
    """
    floors = _read_rising(min_precisions, "min_precisions")
    if per not in (None, PATIENT_DAY):
        raise ArgumentError("per", f"={per!r}; accepted is {PATIENT_DAY!r}, or None for cases")
    limits = _read_capacities(capacities, per)
    if len(points_by_model) < 2:
        raise ValueError(f"a winner map needs at least two models; it has {len(points_by_model)}")
    try:
        rows, columns = _sides(costs, floors, limits, per)
    except ArgumentError as error:
        name = "capacities" if error.argument == "capacity" else "min_precisions"
        raise ArgumentError(name, *error.args[0].parts[1:]) from None
    for points in points_by_model.values():
        _check_covered(points, rows, limits)
    curves = [_curves_of(points, columns) for points in points_by_model.values()]
    shape = (len(floors), len(limits), len(curves))
    scores, feasible = np.empty(shape), np.empty(shape, dtype=np.bool_)
    for i, row in enumerate(progress_bar(rows, "winner map", progress)):
        for j, parts in enumerate(curves):
            scores[i, :, j], feasible[i, :, j] = _at_floor(parts, row)
    return WinnerMap(
        models=tuple(points_by_model),
        min_precisions=floors,
        capacities=limits,
        scores=scores,
        feasible=feasible,
        costs=costs.costs,
        tolerance=check_number(tolerance, "tolerance"),
        per=per,
        min_recall=costs.min_recall,
    )


def _sides(
    costs: Scenario, floors: AnyArray, capacities: AnyArray, per: str | None
) -> tuple[list[Scenario], list[Scenario]]:
    """Return a scenario for each floor, at the first capacity, and one for each capacity."""
    first, *_ = listed = capacities.tolist()
    return (
        [costs.changed(min_precision=a, capacity=first, per=per) for a in floors.tolist()],
        [costs.changed(capacity=k, per=per) for k in listed],
    )


def _check_covered(points: OperatingPoints, rows: Sequence[Scenario], capacities: AnyArray) -> None:
    """Raise unless the points were counted for all limits of the map."""
    if not points.covers.whole_curve:
        for floor, capacity in product(rows, capacities.tolist()):
            points.covers.check_scenario(floor.changed(capacity=capacity))


def _unsure_cells(winners: WinnerMap, plan: ResamplingPlan, costs: Scenario) -> BoolArray:
    """Return the cells in which the best model's lead over at least one other is not significant.

    The standard error of a lead comes from its resamples, and the tails are Student's, as in
    `voros.compare`; 5 % are split over all pairs of models (Bonferroni).
    """
    rows, columns = _sides(costs, winners.min_precisions, winners.capacities, winners.per)

    def scores_of(batch: Sequence[OperatingPoints]) -> FloatArray:
        curves = [_curves_of(points, columns) for points in batch]
        return np.array([[_at_floor(parts, row)[0] for row in rows] for parts in curves])

    measure = Measure(name="scores", compute=scores_of)
    drawn = plan.run(dict.fromkeys(plan.models, measure)).drawn
    n_models, sampling = len(winners.models), plan.sampling
    tail = 0.05 / (n_models * (n_models - 1))
    reach = -stdtrit(max(sampling.n_effective - 1, 1.0), tail)
    best = np.maximum(winners.winner, 0)
    unsure = np.zeros(best.shape, dtype=np.bool_)
    for other in range(n_models):
        top = np.take_along_axis(drawn, best[None, None], axis=1)[:, 0]
        error = np.std(top - drawn[:, other], axis=0, ddof=1)
        lead = winners.scores.max(axis=-1) - winners.scores[..., other]
        unsure |= (other != best) & (lead <= reach * error)
    return np.asarray(unsure & (winners.winner != NOBODY))


@dataclass(frozen=True, eq=False)
class _Curve:
    """Operating points of one model and some of the capacities, the same for every floor."""

    points: OperatingPoints
    max_alarms: FloatArray
    n_within: AnyArray
    """Number of thresholds within each capacity, which are the first ones."""

    @classmethod
    def from_points(cls, points: OperatingPoints, most: Sequence[float]) -> _Curve:
        useful = adds_recall(points.tp)
        # The first shows whether any threshold that raises an alarm is feasible.
        useful[:2] = True
        points = points.take(useful)
        n_within = [np.count_nonzero(points.within_capacity(alarms)) for alarms in most]
        return cls(points, np.array(most), np.array(n_within))

    def at_floor(self, floor: Scenario) -> tuple[FloatArray, BoolArray]:
        """Return the score at each capacity, and whether a threshold is feasible there."""
        points = self.points
        met = points.precise_enough(floor.floor) & points.recalls_enough(floor.recall_floor)
        n_feasible, scores = np.cumsum(met)[self.n_within - 1], np.zeros(len(self.n_within))
        scored = n_feasible > 0
        if not scored.any():
            return scores, scored
        ends, n_cells = np.unique(n_feasible[scored], return_counts=True)
        hulls = growing_hulls(points, np.flatnonzero(met), ends.tolist())
        sizes = points.n_positive, points.n_negative, floor.min_precision
        recall = floor.min_recall
        if isinstance(floor.costs, Uniform) and floor.min_precision < 1 and recall is None:
            rings, areas = cut_by_capacities(*sizes, self.max_alarms)
            scores = volumes_on_grid(points, hulls, n_cells, rings, areas, floor.costs)
        else:
            of_cells = np.repeat(np.array([hulls.hull(j) for j in range(len(ends))]), n_cells)
            within = self.max_alarms[scored].tolist()
            regions = [cut_square(*sizes, alarms, recall or 0.0) for alarms in within]
            same = [points] * len(regions)
            scores[scored] = partial_volumes(same, of_cells.tolist(), regions, floor.costs)
        return scores, n_feasible > met[0]


def _at_floor(curves: Sequence[_Curve], floor: Scenario) -> tuple[FloatArray, BoolArray]:
    """Return the score of one model at each capacity, and whether a threshold is feasible there."""
    scores, feasible = zip(*(curve.at_floor(floor) for curve in curves), strict=True)
    return np.concatenate(scores), np.concatenate(feasible)


def _curves_of(points: OperatingPoints, capacities: Sequence[Scenario]) -> list[_Curve]:
    """Return a curve for all capacities, or one for each where some alarms count for it only.

    With such alarms, the thresholds within a capacity are not the first ones.
    """
    points = at_deployment(points, capacities[0])
    most = [points.max_alarms(scenario) for scenario in capacities]
    if points.stays is not None:
        # The number of negatives does not matter where all alarms are within the capacity.
        points = replace(points, n_negative=max(points.n_negative, *most))
    if points.capacity_alarms is None:
        return [_Curve.from_points(points, most)]
    within = [points.take(points.within_capacity(alarms)) for alarms in most]
    alike = [replace(few, capacity_alarms=None) for few in within]
    return [_Curve.from_points(few, [alarms]) for few, alarms in zip(alike, most, strict=True)]


def _read_rising(values: Any, name: str) -> AnyArray:
    accepted = "a list of rising numbers"
    listed = as_vector(values, name).tolist()
    numbers = np.array([as_number(value, name, accepted) for value in listed])
    if len(numbers) == 0 or not np.all(np.diff(numbers) > 0):
        raise ValueError(f"{name} must be {accepted}; it is {numbers!r}")
    return numbers


def _read_capacities(capacities: Any, per: str | None) -> AnyArray:
    """Return rates, shares of the cases, or whole numbers of cases; `Scenario` checks each."""
    numbers = _read_rising(capacities, "capacities")
    # As an array, a list of ints and floats would hold floats only.
    is_list = isinstance(capacities, (list, tuple))
    items = capacities if is_list else as_vector(capacities, "capacities").tolist()
    whole = [isinstance(k, Integral) for k in items]
    if any(whole) and not all(whole):
        raise ValueError(
            f"capacities={capacities!r} mixes whole numbers of cases with shares of the cases; "
            "write all of them one way"
        )
    return np.array([int(k) for k in items]) if per is None and all(whole) else numbers
