"""Observed shares of positives against risks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.arguments import check_confidence, check_count
from voros.core.calibration import GROUPS_OF_RISK, Calibration
from voros.models import naming
from voros.plotting.colours import muted
from voros.plotting.display import CurveDisplay, PointsLike, is_named, named_points
from voros.plotting.legends import draw_legend
from voros.plotting.names import literal, visible
from voros.plotting.style import format_axes, type_size
from voros.text.numbers import with_interval
from voros.typing import AnyArray

if TYPE_CHECKING:
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D


class CalibrationDisplay(CurveDisplay):
    """Share of positives against risk, smoothed and in groups with exact intervals.

    On the diagonal risks are right. For a single model, intercept and slope are written.

    Parameters
    ----------
    points : OperatingPoints or mapping of str to OperatingPoints
        Of scores that are probabilities, counted at every distinct one.
    n_bins : int, default 10
        Groups of about equal size; equal risks share one.
    confidence_level : float in (0, 1), default 0.95
        Of the intervals.

    Attributes
    ----------
    ax_ : Axes
    curves_ : dict of str to ErrorbarContainer
        Groups of risk.
    smooth_ : dict of str to Line2D
    diagonal_ : Line2D
    styles_ : dict of str to ModelStyle
        How each model is drawn.

    Examples
    --------
    >>> from voros.plotting import CalibrationDisplay
    >>> y, risk = [0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.3, 0.6, 0.8, 0.9]
    >>> display = CalibrationDisplay.from_predictions(y, risk, n_bins=3)
    >>> display.calibrations["model"].curve.observed.tolist()
    [0.0, 0.3333333333333333, 1.0]
    """

    shape = 0.85

    def __init__(
        self,
        points: PointsLike,
        *,
        n_bins: int = GROUPS_OF_RISK,
        confidence_level: float = 0.95,
    ) -> None:
        self.points = named_points(points)
        self.n_bins = check_count(n_bins, "n_bins", "a whole number above 0")
        self.confidence_level = check_confidence(confidence_level, "confidence_level")

    @cached_property
    def calibrations(self) -> dict[str, Calibration]:
        """Calibration of each model."""
        calibrations = {}
        for model, points in self.points.items():
            with naming(model if len(self.points) > 1 else None):
                calibrations[model] = Calibration.from_points(
                    points, self.n_bins, self.confidence_level
                )
        return calibrations

    def _draw(self, *, grow: bool) -> None:
        calibrations = self.calibrations
        curves = [calibration.curve for calibration in calibrations.values()]
        far = min(1.0, 1.05 * max(float(max(c.high.max(), c.mean_risk.max())) for c in curves))
        style: dict[str, Any] = {"color": muted(self.ax_), "linewidth": 1}
        (self.diagonal_,) = self.ax_.plot([0, far], [0, far], **style)
        self.curves_ = {model: self._drawn(model) for model in calibrations}
        self.smooth_ = {model: self._smooth(model) for model in calibrations}
        format_axes(self.ax_, xlabel="mean risk", ylabel="observed share of positives")
        self.ax_.set(xlim=(0, far), ylim=(0, far))
        if is_named(self.points):
            entries = [(curve, visible(model)) for model, curve in self.curves_.items()]
            draw_legend(self.ax_, entries, grow=grow)
        elif (line := _line_in_words(next(iter(calibrations.values())))) is not None:
            size = type_size(self.ax_)
            self.ax_.annotate(line, (0.03, 0.97), xycoords="axes fraction", va="top", size=size)

    def _smooth(self, model: str) -> Line2D:
        (line,) = self.ax_.plot(*self.calibrations[model].smooth, **self.styles_[model].line)
        return line

    def _drawn(self, model: str) -> ErrorbarContainer:
        curve = self.calibrations[model].curve
        around = np.maximum([curve.observed - curve.low, curve.high - curve.observed], 0)
        marks = {**self.styles_[model].marks, "marker": "o", "label": literal(model)}
        return self.ax_.errorbar(curve.mean_risk, curve.observed, yerr=around, **marks)

    def _columns(self, model: str) -> dict[str, AnyArray]:
        curve = self.calibrations[model].curve
        columns = ("cases", "mean_risk", "observed", "low", "high")
        return {name: getattr(curve, name) for name in columns}


def _line_in_words(calibration: Calibration) -> str | None:
    """Write the calibration in the large, called the intercept, and the slope."""
    level, slope = calibration.in_the_large, calibration.slope
    if level is None or slope is None:
        return None
    return "\n".join(
        f"{name} {with_interval(line.value, line.low, line.high)}"
        for name, line in (("intercept", level), ("slope", slope))
    )
