"""Net benefit along threshold probabilities, within limits and without."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.scenario import Scenario, check_scenario
from voros.decision_curves import CensoredCases, DecisionCurve, check_probabilities
from voros.exceptions import ArgumentError
from voros.models import columns_by_model
from voros.plotting.colours import muted
from voros.plotting.display import CurveDisplay, PointsLike, named_points
from voros.plotting.legends import LegendEntry, draw_legend
from voros.plotting.names import literal
from voros.plotting.style import format_axes, line_width
from voros.styles import AXIS_TITLES
from voros.typing import AnyArray

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

USUAL_PROBABILITIES = np.arange(1, 100) / 100
"""Threshold probabilities of the curves by default, up to where no model gains."""

BELOW_ZERO = 0.15
"""How far the picture reaches below zero, as a share of its height above."""


class DecisionCurveDisplay(CurveDisplay):
    """Decision curves: the net benefit of each model, of treating all and of treating none.

    Parameters
    ----------
    points : OperatingPoints or mapping of str to OperatingPoints
    scenario : Scenario, optional
        With limits, curves are solid within them and faint without; its costs do not count.
    probabilities : array-like, optional
        Threshold probabilities, from 0 to below 1; by default from 0.01 to where no model gains.

    `from_predictions` takes `follow_up` and `time_horizon`, as `voros.net_benefit` does, for cases
    that were not all followed until the event.

    Attributes
    ----------
    curves_ : dict of str to Line2D
        The best threshold at each price within the limits.
    unlimited_ : dict of str to Line2D
        The same without limits; empty where there are none.
    as_scored_ : dict of str to Line2D
        An alarm at a score of at least the threshold probability, for scores that are
        probabilities; dotted.
    treat_all_, treat_none_ : Line2D
    ax_ : Axes
    styles_ : dict of str to ModelStyle
        How each model is drawn.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import DecisionCurveDisplay
    >>> curve = voros.OperatingPoints.from_points([0.02, 0.1], [0.4, 0.7], 100, 900)
    >>> display = DecisionCurveDisplay.from_points(curve, voros.Scenario(0.3, 0.1, cost_ratio=1))
    >>> display.ax_.get_ylabel()
    'net benefit'
    """

    shape = 0.75

    def __init__(
        self,
        points: PointsLike,
        scenario: Scenario | None = None,
        *,
        probabilities: Any = None,
    ) -> None:
        self.points: Mapping[str, Any] = named_points(points)
        self.scenario = None if scenario is None else check_scenario(scenario)
        chosen = self._gaining() if probabilities is None else probabilities
        self.probabilities = np.atleast_1d(check_probabilities(chosen))

    @cached_property
    def decision_curves(self) -> dict[str, DecisionCurve]:
        """The curves of each model."""
        return self._follow(self.probabilities)

    def _follow(self, probabilities: AnyArray) -> dict[str, DecisionCurve]:
        return {
            name: DecisionCurve.from_points(points, probabilities, scenario=self.scenario)
            for name, points in self.points.items()
        }

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        scores: Any,
        *arguments: Any,
        ax: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        follow_up: Any = None,
        time_horizon: float | None = None,
        **options: Any,
    ) -> Self:
        """Draw from labels and scores.

        Parameters
        ----------
        y_true, scores, *arguments, ax, pos_label, sample_weight, **options
            As in the other displays.
        follow_up, time_horizon : optional
            As in `voros.net_benefit`, for cases that were not all followed until the event. Not
            with a scenario.

        Returns
        -------
        display
        """
        how = {"pos_label": pos_label, "sample_weight": sample_weight}
        if follow_up is None and time_horizon is None:
            return super().from_predictions(y_true, scores, *arguments, ax=ax, **how, **options)
        if arguments or options.get("scenario") is not None:
            raise ArgumentError("follow_up", " is of cases without limits; leave the scenario out")
        cases = {
            model: CensoredCases.read(y_true, column, follow_up, time_horizon, **how)
            for model, column in columns_by_model(y_true, scores).items()
        }
        return cls.from_points(cases, ax=ax, **options)

    def _draw(self, *, grow: bool) -> None:
        self.curves_: dict[str, Line2D] = {}
        self.unlimited_: dict[str, Line2D] = {}
        self.as_scored_: dict[str, Line2D] = {}
        for model in self.points:
            self._draw_model(model)
        first, grey = next(iter(self.decision_curves.values())), muted(self.ax_)
        plain = {"color": grey, "linewidth": line_width(self.ax_)}
        self.treat_all_ = self._line(first.treat_all, linestyle="--", **plain)
        self.treat_none_ = self._line(np.zeros(len(self.probabilities)), **plain)
        self._format_axes()
        draw_legend(self.ax_, self._entries(), grow=grow)

    def _entries(self) -> list[LegendEntry]:
        """Return models first, then what the other kinds of line stand for."""
        entries: list[LegendEntry] = [(line, model) for model, line in self.curves_.items()]
        entries += [(line, "without limits") for line in list(self.unlimited_.values())[:1]]
        dotted = list(self.as_scored_.values())[:1]
        entries += [(line, "alarm at the threshold probability") for line in dotted]
        return [*entries, (self.treat_all_, "an alarm for everybody")]

    def _draw_model(self, model: str) -> None:
        curve, style = self.decision_curves[model], self.styles_[model]
        self.curves_[model] = self._line(curve.within_limits, **style.line, label=literal(model))
        if self.scenario is not None and not np.allclose(curve.best, curve.within_limits):
            self.unlimited_[model] = self._line(curve.best, **style.faded)
        censored = isinstance(self.points[model], CensoredCases)
        if not censored and not np.isnan(curve.as_scored).any():
            dotted = {**style.line, "linestyle": ":"}
            self.as_scored_[model] = self._line(curve.as_scored, **dotted)

    def _line(self, height: AnyArray, **style: Any) -> Line2D:
        (line,) = self.ax_.plot(self.probabilities, height, **style)
        return line

    def _columns(self, model: str) -> dict[str, AnyArray]:
        curve = self.decision_curves[model]
        return {
            "threshold_probability": curve.probability,
            "as_scored": curve.as_scored,
            "best": curve.best,
            "within_limits": curve.within_limits,
            "cost_of_limits": curve.cost_of_limits,
            "treat_all": curve.treat_all,
        }

    def _gaining(self) -> AnyArray:
        """Return the usual grid, up to where no model is better than an alarm for nobody."""
        best = [curve.best for curve in self._follow(USUAL_PROBABILITIES).values()]
        gains = np.flatnonzero(np.max(best, axis=0) > 0)
        return USUAL_PROBABILITIES[: max(int(gains[-1]) + 2, 2) if len(gains) else None]

    def _format_axes(self) -> None:
        format_axes(
            self.ax_,
            xlabel="threshold probability; its odds are the cost ratio",
            ylabel=AXIS_TITLES["net_benefit"],
        )
        heights = [curve.best for curve in self.decision_curves.values()]
        top = max(float(np.nanmax(heights)), 1e-12)
        self.ax_.set_ylim(-BELOW_ZERO * top, 1.05 * top)
        self.ax_.set_xlim(self.probabilities.min(), self.probabilities.max())
