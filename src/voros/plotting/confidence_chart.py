"""Expected cost, recall and alarms at each confidence of a ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from voros.core.arguments import check_type
from voros.plotting.colours import ink
from voros.plotting.model_styles import model_styles
from voros.plotting.style import format_column, line_width, panels_to_draw_on
from voros.policy.confidence_curve import ConfidenceCurve
from voros.text.numbers import percent

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

PANELS = {"expected_cost": "expected cost", "recall": "recall", "alarms": "alarms"}
"""Measures, from top to bottom, and the labels of their axes."""


class ConfidenceDisplay:
    """Expected cost, recall and alarms at each confidence of a ladder, and without a guarantee.

    Parameters
    ----------
    curve : ConfidenceCurve
        Of `ThresholdPolicy.confidence_curve`.

    Attributes
    ----------
    axes_ : tuple of Axes
    lines_ : dict of str to Line2D
    deployed_ : tuple of Line2D
        Marks of the confidence that is deployed.

    Examples
    --------
    >>> import numpy as np, voros
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(900) < 0.2
    >>> scores = 1.2 * y + rng.normal(size=900)
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.2, cost_ratio=(0.05, 0.1))
    >>> policy = voros.ThresholdPolicy.from_validation(
    ...     y, scores, scenario, guarantee=(0.95, 0.9, 0.8), n_models=1
    ... )
    >>> display = voros.plotting.ConfidenceDisplay(policy.confidence_curve()).plot()
    >>> [label.get_text() for label in display.axes_[-1].get_xticklabels()]
    ['95 %', '90 %', '80 %', 'none']
    """

    def __init__(self, curve: ConfidenceCurve) -> None:
        accepted = "what ThresholdPolicy.confidence_curve returns"
        self.curve = check_type(curve, "curve", ConfidenceCurve, accepted)

    def plot(self, ax: Any = None, *, color: Any = None) -> Self:
        """Draw on three axes, from top to bottom; on a new figure if none are given.

        Parameters
        ----------
        ax : sequence of three Axes, optional
        color : color, optional
            Of the lines.

        Returns
        -------
        display
        """
        self.axes_ = panels_to_draw_on(
            ax, (len(PANELS),), (1.0, 1.2), nrows=len(PANELS), sharex=True
        )
        style = model_styles(self.axes_[0], ["model"], color)["model"]
        self.lines_: dict[str, Line2D] = {}
        steps = self.curve.steps
        places = range(len(steps))
        for panel, name in zip(self.axes_, PANELS, strict=True):
            values = [getattr(step, name) for step in steps]
            (self.lines_[name],) = panel.plot(places, values, marker="o", **style.line)
            panel.set_ylim(0, 1.08 * max(*values, 1e-9))
        format_column(self.axes_, "confidence", PANELS.values())
        said = ["none" if s.confidence is None else percent(s.confidence) for s in steps]
        self.axes_[-1].set_xticks(places, said)
        at = [step.confidence for step in steps].index(self.curve.deployed)
        self.deployed_ = tuple(
            panel.axvline(at, color=ink(panel), linewidth=0.5 * line_width(panel))
            for panel in self.axes_
        )
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return a row for each confidence."""
        return self.curve.frame(backend)
