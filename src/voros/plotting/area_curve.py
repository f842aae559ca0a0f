"""The best normalised area against the cost, with how likely each cost is below it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.costs import Density, Samples
from voros.core.decision import at_deployment
from voros.core.scenario import Scenario, check_scenario
from voros.core.volume import cost_moments
from voros.evaluation import Evaluation, evaluation_of
from voros.plotting.colours import muted
from voros.plotting.cost_axis import fractional_cost, ratio_at, ratio_text, round_ratios
from voros.plotting.display import CurveDisplay, PointsLike, is_named, named_points
from voros.plotting.legends import draw_legend
from voros.plotting.names import literal, visible
from voros.plotting.style import format_axes, line_width, type_size
from voros.styles import AXIS_TITLES
from voros.text.numbers import short
from voros.typing import AnyArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

GRID = 401
"""Costs at which each curve is drawn, besides the exact ones where a threshold takes over."""

TAIL = 1e-3
"""Probability of the costs that the picture leaves out at an end without bound."""

ROUND_A_KNOWN_COST = 0.1
"""Distance in t that the picture shows to either side of a known cost."""

DENSITY_SHARE = 0.3
"""Height of the density of the costs behind the curves, as a share of the axes."""


class AreaCurveDisplay(CurveDisplay):
    """How good the best feasible threshold is at each cost; partial VOROS is the mean height.

    The density of the costs, which the mean is weighted by, is shaded behind the curves.

    Parameters
    ----------
    points : OperatingPoints or mapping of str to OperatingPoints
    scenario : Scenario

    Attributes
    ----------
    ax_, density_ax_, ratio_ax_ : Axes
        Areas, the density of the costs behind them, and the axis of cost ratios above.
    curves_ : dict of str to Line2D
    switches_ : dict of str to Line2D
        Where a threshold takes over from another.
    density_ : Line2D
    styles_ : dict of str to ModelStyle
        How each model is drawn.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import AreaCurveDisplay
    >>> curve = voros.OperatingPoints.from_points([0.02, 0.1], [0.4, 0.7], 100, 900)
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.3, cost_ratio=(1 / 40, 1 / 10))
    >>> display = AreaCurveDisplay.from_points(curve, scenario)
    >>> display.ax_.get_ylabel()
    'best normalised area'
    """

    shape = 0.8

    def __init__(self, points: PointsLike, scenario: Scenario) -> None:
        self.points = named_points(points)
        self.scenario = check_scenario(scenario)
        deployed = at_deployment(next(iter(self.points.values())), scenario)
        self.negatives_per_positive = deployed.negatives_per_positive
        self.t_range = self._likely_range()

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """Evaluation of every model."""
        return {name: evaluation_of(points, self.scenario) for name, points in self.points.items()}

    def to_ratio(self, t: Any) -> Any:
        """Return the cost ratio C_FP / C_FN at which the fractional cost is ``t``."""
        return ratio_at(t, self.negatives_per_positive)

    def to_t(self, cost_ratio: Any) -> Any:
        """Return the fractional cost t = cN/(cN + P) at a cost ratio."""
        return fractional_cost(cost_ratio, self.negatives_per_positive)

    def _draw(self, *, grow: bool) -> None:
        self.density_ax_ = self.ax_.twinx()
        # Behind the curves, which need clear axes above it.
        self.density_ax_.set(zorder=self.ax_.get_zorder() - 1, facecolor=self.ax_.get_facecolor())
        self.ax_.patch.set_visible(False)
        self.curves_: dict[str, Line2D] = {}
        self.switches_: dict[str, Line2D] = {}
        for model in self.points:
            self._draw_model(model)
        self.density_ = self._draw_density()
        self._format_axes()
        entries = []
        if is_named(self.points):
            entries = [(line, self._score_label(model)) for model, line in self.curves_.items()]
        unit = "probability" if isinstance(self.scenario.costs, Samples) else "density"
        draw_legend(self.ax_, [*entries, (self.density_, f"{unit} of costs")], grow=grow)

    def switches(self, model: str) -> FloatArray:
        """Return the values of t, within the picture, at which another threshold takes over."""
        t = self.to_t(self.evaluations[model].hull.enter)
        low, high = self.t_range
        return np.sort(t[(t > low) & (t < high)])

    def density(self) -> tuple[FloatArray, FloatArray]:
        """Return values of t and the density of the costs there; probabilities if discrete."""
        costs, odds = self.scenario.costs, self.negatives_per_positive
        if isinstance(costs, Samples):
            return self.to_t(costs.to_ratio(costs.values, odds)), costs.weights
        edges = np.linspace(*self.t_range, GRID)
        probability, _ = cost_moments(costs, self.to_ratio(edges), odds)
        return (edges[1:] + edges[:-1]) / 2, probability[1:-1] / np.diff(edges)

    def _columns(self, model: str) -> dict[str, AnyArray]:
        evaluation = self.evaluations[model]
        t = np.union1d(np.linspace(*self.t_range, GRID), self.switches(model))
        ratio = self.to_ratio(t)
        chosen = evaluation.hull.index[evaluation.hull.best(ratio)]
        return {
            "t": t,
            "cost_ratio": ratio,
            "area": evaluation.normalised_area(ratio),
            "threshold": evaluation.points.thresholds[chosen],
        }

    def _likely_range(self) -> tuple[float, float]:
        costs = self.scenario.costs
        ends = np.asarray(costs.support)
        if isinstance(costs, Density):
            ends = np.asarray(costs.distribution.ppf([TAIL, 1.0 - TAIL]))
        ends = self.to_t(costs.to_ratio(ends, self.negatives_per_positive))
        low, high = float(ends.min()), float(ends.max())
        if low == high:
            return max(low - ROUND_A_KNOWN_COST, 0.0), min(high + ROUND_A_KNOWN_COST, 1.0)
        return low, high

    def _score_label(self, model: str) -> str:
        return f"{visible(model)} ({short(self.evaluations[model].score)})"

    def _draw_model(self, model: str) -> None:
        data, style, t = self._columns(model), self.styles_[model], self.switches(model)
        label = literal(self._score_label(model))
        (self.curves_[model],) = self.ax_.plot(data["t"], data["area"], **style.line, label=label)
        height = self.evaluations[model].normalised_area(self.to_ratio(t))
        (self.switches_[model],) = self.ax_.plot(t, height, **style.marks)

    def _draw_density(self) -> Line2D:
        t, height = self.density()
        look: dict[str, Any] = {"color": muted(self.ax_), "alpha": 0.6}
        if isinstance(self.scenario.costs, Samples):
            # The least and the greatest cost stand on the frame.
            look["clip_on"] = False
            self.density_ax_.vlines(t, 0, height, **look, linewidth=line_width(self.ax_))
            (line,) = self.density_ax_.plot(t, height, "o", **look, markersize=3)
        else:
            (line,) = self.density_ax_.plot(t, height, **look, linewidth=1)
            self.density_ax_.fill_between(t, height, **look | {"alpha": 0.2}, linewidth=0)
        self.density_ax_.set_ylim(0, height.max() / DENSITY_SHARE)
        return line

    def _format_axes(self) -> None:
        """Label fractional costs below, and above them the cost ratios, at round numbers."""
        xlabel = r"fractional cost $t = cN/(cN + P)$"
        format_axes(self.ax_, xlabel=xlabel, ylabel=AXIS_TITLES["area"])
        self.density_ax_.set_axis_off()
        self.ax_.set_xlim(*self.t_range)
        self.ratio_ax_ = self.ax_.secondary_xaxis("top")
        ratios = round_ratios(*self.t_range, self.negatives_per_positive)
        self.ratio_ax_.set_ticks(self.to_t(ratios), [ratio_text(c) for c in ratios])
        size = type_size(self.ax_)
        self.ratio_ax_.set_xlabel(r"cost ratio $c = C_{FP} / C_{FN}$", fontsize=size)
        self.ratio_ax_.tick_params(labelsize=size - 1)
