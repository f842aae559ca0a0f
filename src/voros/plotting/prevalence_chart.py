"""Precision and alarms of a threshold over a range of prevalences, with their band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.arguments import check_type
from voros.plotting.colours import FADED, ink, model_styles
from voros.plotting.limit_lines import draw_level, shade_runs
from voros.plotting.style import format_axes, line_width, panels_to_draw_on, type_size
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.policy.prevalence import PrevalenceBand
from voros.text.numbers import percent, short, threshold_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

PANELS = {"precision": "precision", "alarms": "alarms (share of cases)"}
"""Measures, from top to bottom, and how their axes are called."""


class PrevalenceDisplay:
    """What a threshold does where positives are more or less common, if only their share changes.

    Parameters
    ----------
    band : PrevalenceBand
        Of `PolicyEvaluation.over_prevalences`.

    Attributes
    ----------
    axes_ : tuple of Axes
        Precision above, alarms below.
    lines_ : dict of str to Line2D
    bands_ : dict of str to PolyCollection
    limit_lines_ : dict of str to Line2D
    observed_ : tuple of Line2D
        The prevalence of the cases.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import PrevalenceDisplay
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> y, scores = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.9, 0.8, 0.7, 0.3, 0.2] * 20
    >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
    >>> display = PrevalenceDisplay.from_evaluation(policy.evaluate(y, scores))
    >>> [axes.get_ylabel() for axes in display.axes_]
    ['precision', 'alarms (share of cases)']
    """

    def __init__(self, band: PrevalenceBand) -> None:
        self.band = check_type(band, "band", PrevalenceBand, "what over_prevalences returns")

    @classmethod
    def from_evaluation(
        cls, evaluation: PolicyEvaluation, *, prevalences: Any = None, ax: Any = None
    ) -> Self:
        """Draw from the evaluation of one threshold.

        Returns
        -------
        display
        """
        return cls(evaluation.over_prevalences(prevalences)).plot(ax)

    def plot(self, ax: Any = None, *, color: Any = None) -> Self:
        """Draw on two axes, from top to bottom; on a new figure if none are given.

        Parameters
        ----------
        ax : sequence of two Axes, optional
        color : color, optional
            Of the lines.

        Returns
        -------
        display
        """
        self.axes_ = panels_to_draw_on(ax, (len(PANELS),), (1.0, 0.9), nrows=2, sharex=True)
        self.lines_: dict[str, Line2D] = {}
        self.bands_: dict[str, Any] = {}
        (style,) = model_styles(self.axes_[0], ["model"], color).values()
        for panel, name in zip(self.axes_, PANELS, strict=True):
            self._draw_panel(panel, name, style.color)
        self.limit_lines_ = self._draw_limits()
        self.observed_ = tuple(
            panel.axvline(self.band.observed, color=ink(panel), linewidth=0.5 * line_width(panel))
            for panel in self.axes_
        )
        self._write_title()
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return a row for each prevalence."""
        return self.band.frame(backend)

    def _draw_panel(self, panel: Axes, name: str, color: Any) -> None:
        band, x = self.band, self.band.prevalences
        shade_runs(panel, x, band.surely_kept)
        low, high = getattr(band, f"{name}_low"), getattr(band, f"{name}_high")
        self.bands_[name] = panel.fill_between(x, low, high, color=color, alpha=FADED, linewidth=0)
        y = getattr(band, name)
        (self.lines_[name],) = panel.plot(x, y, color=color, linewidth=line_width(panel))
        last = panel is self.axes_[-1]
        format_axes(panel, xlabel="prevalence" if last else "", ylabel=PANELS[name])
        panel.set_ylim(0, 1.02 * max(1.0 if name == "precision" else float(np.nanmax(high)), 0.01))
        panel.tick_params(labelbottom=last)

    def _draw_limits(self) -> dict[str, Line2D]:
        limits = self.band.scenario.min_precision, self.band.max_share
        drawn = map(draw_level, self.axes_, limits, ("precision floor", "capacity"))
        return dict(zip(PANELS, drawn, strict=True))

    def _write_title(self) -> None:
        band, panel = self.band, self.axes_[0]
        where = "golden where" if band.surely_kept.any() else "at no prevalence drawn does"
        keeps = "keeps" if band.surely_kept.any() else "keep"
        self.title_ = panel.set_title(
            f"threshold {threshold_text(band.threshold)}; {where} the whole "
            f"{percent(band.confidence_level)} band {keeps} the limits\n"
            f"(these cases: prevalence {short(band.observed)})",
            fontsize=type_size(panel),
            loc="left",
        )
