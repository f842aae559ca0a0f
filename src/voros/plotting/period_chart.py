"""Alarms of each period against the capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.arguments import check_type
from voros.exceptions import ArgumentError
from voros.plotting.colours import FADED, ground, ink, model_styles
from voros.plotting.style import axes_to_draw_on, format_axes, line_width, type_size, write_beside
from voros.policy.by_period import PeriodEvaluation
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.text.numbers import short
from voros.typing import AnyArray, BoolArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TICKS = 6
"""Names of periods that fit below the picture."""

VEIL = 0.8
"""Opacity of what lies between words and bars."""

HEADROOM = 1.15
"""Space above the highest bar or the capacity, for the words on its line."""


class PeriodDisplay:
    """How many alarms each period has, beside the capacity.

    Parameters
    ----------
    by_period : PeriodEvaluation
        Of `PolicyEvaluation.by_period`.
    threshold : float, optional
        Which of the deployed thresholds; by default the only one.

    Attributes
    ----------
    ax_ : Axes
    bars_ : BarContainer
        One for each period; those above the capacity are solid.
    true_ : StepPatch
        True positives within them.
    capacity_ : Line2D
    mean_ : Line2D
    title_ : Text

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import PeriodDisplay
    >>> scenario = voros.Scenario(capacity=1, per="day", cost_ratio=0.1)
    >>> y, scores, days = [1, 1, 0, 1, 0, 0], [9, 8, 2, 5, 3, 1], list("mmmttw")
    >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario, periods=days)
    >>> display = PeriodDisplay.from_evaluation(policy.evaluate(y, scores, periods=days))
    >>> [int(bar.get_height()) for bar in display.bars_]
    [2, 1, 0]
    """

    def __init__(self, by_period: PeriodEvaluation, threshold: float | None = None) -> None:
        accepted = "the by_period of an evaluation with a capacity per period"
        self.by_period = check_type(by_period, "by_period", PeriodEvaluation, accepted)
        self.column = _column(by_period, threshold)

    @classmethod
    def from_evaluation(
        cls, evaluation: PolicyEvaluation, *, threshold: float | None = None, ax: Any = None
    ) -> Self:
        """Draw from the evaluation of a policy with a capacity per period.

        Returns
        -------
        display
        """
        if not isinstance(evaluation, PolicyEvaluation) or evaluation.by_period is None:
            raise ArgumentError(
                "evaluation", " has no periods; accepted is that of a policy whose capacity is one"
            )
        return cls(evaluation.by_period, threshold).plot(ax)

    @property
    def alarms(self) -> AnyArray:
        """Alarms of each period."""
        return np.asarray(self.by_period.alarms[:, self.column])

    @property
    def above(self) -> BoolArray:
        """Which periods have more than the capacity."""
        return np.asarray(self.by_period.above[:, self.column])

    def plot(self, ax: Axes | None = None, *, color: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : Axes, optional
        color : color, optional
            Of the bars.

        Returns
        -------
        display
        """
        self.ax_ = axes_to_draw_on(ax, shape=0.5)
        (style,) = model_styles(self.ax_, ["model"], color).values()
        places, by_period = np.arange(len(self.alarms)), self.by_period
        opacity = np.where(self.above, 1.0, FADED)
        self.bars_ = self.ax_.bar(places, self.alarms, width=1.0, color=style.color)
        for bar, alpha in zip(self.bars_, opacity, strict=True):
            bar.set_alpha(float(alpha))
        edges = np.append(places, len(places)) - 0.5
        self.true_ = self.ax_.stairs(
            by_period.tp[:, self.column],
            edges,
            color=ink(self.ax_),
            linewidth=0.6 * line_width(self.ax_),
        )
        self._draw_limits()
        self._name_periods(places)
        return self

    def _draw_limits(self) -> None:
        scenario, ax = self.by_period.scenario, self.ax_
        look = {"color": ink(ax), "linewidth": 0.7 * line_width(ax)}
        self.capacity_ = ax.axhline(scenario.capacity, linestyle="--", **look)
        mean = float(self.by_period.mean_alarms[self.column])
        self.mean_ = ax.axhline(mean, linestyle=":", **look)
        highest = max(float(self.alarms.max()), float(scenario.capacity))
        ax.set_ylim(0, HEADROOM * highest)
        # Bars lie behind the words.
        veil = {"facecolor": ground(ax), "alpha": VEIL, "linewidth": 0, "pad": 1}
        across = {"xycoords": ax.get_yaxis_transform(), "va": "bottom", "bbox": veil}
        at, capacity = {"ha": "right"}, scenario.capacity
        write_beside(ax, f"capacity {capacity:,}", (0.995, capacity), (0, 2), **across, **at)
        write_beside(ax, f"mean {short(mean)}", (0.005, mean), (0, 2), **across)

    def _name_periods(self, places: AnyArray) -> None:
        by_period, ax = self.by_period, self.ax_
        per = by_period.scenario.per or "period"
        format_axes(ax, xlabel=per, ylabel=f"alarms per {per}")
        shown = np.unique(np.linspace(0, len(places) - 1, min(MOST_TICKS, len(places))).astype(int))
        ax.set_xticks(shown, [str(name) for name in by_period.names[shown]])
        ax.set_xlim(-0.5, len(places) - 0.5)
        n_above = int(self.above.sum())
        self.title_ = ax.set_title(
            f"more than {by_period.scenario.capacity:,} alarms in {n_above:,} of "
            f"{by_period.n_periods:,} periods (solid); the line within the bars: true positives",
            fontsize=type_size(ax),
            loc="left",
        )

    def frame(self, backend: str | None = None) -> Any:
        """Return a row for each period, of all deployed thresholds."""
        return self.by_period.frame(backend)


def _column(by_period: PeriodEvaluation, threshold: float | None) -> int:
    thresholds: list[float] = by_period.thresholds.tolist()
    if threshold is None and len(thresholds) == 1:
        return 0
    if threshold is None or threshold not in thresholds:
        listed = ", ".join(map(repr, thresholds))
        raise ArgumentError("threshold", f"={threshold!r}; accepted is one of {listed}")
    return thresholds.index(threshold)
