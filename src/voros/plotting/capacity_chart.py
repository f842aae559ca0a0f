"""Who gets a shared capacity as it grows, and what one more alarm is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.allocation.allocate import capacity_growth
from voros.allocation.joint_policy import JointPolicy
from voros.allocation.problem import CapacityGrowth
from voros.core.arguments import as_number, check_type
from voros.core.scenario import Scenario
from voros.plotting.colours import ink, model_styles
from voros.plotting.legends import draw_legend
from voros.plotting.names import literal
from voros.plotting.style import format_axes, line_width, panels_to_draw_on, write_beside
from voros.text.signatures import takes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

AREA_OPACITY = 0.75
"""Of the areas: the grid shows through."""


class CapacityDisplay:
    """Alarms of each stream against the shared capacity, and the shadow price below.

    `from_predictions` computes and draws; a growth computed before is drawn by
    ``CapacityDisplay(growth).plot()``.

    Parameters
    ----------
    growth : CapacityGrowth
    capacity : float, optional
        A number of alarms to mark, such as ``policy.max_alarms``.

    Attributes
    ----------
    axes_ : tuple of Axes
        Alarms above, shadow price below.
    areas_ : dict of str to PolyCollection
    price_ : Line2D
    marks_ : tuple of Line2D
        The capacity, in both panels.

    Examples
    --------
    >>> import voros
    >>> from voros.plotting import CapacityDisplay
    >>> display = CapacityDisplay.from_predictions(
    ...     [1, 0, 1, 1, 0, 0],
    ...     [6, 5, 4, 3, 2, 1],
    ...     voros.Scenario(cost_ratio=0.2),
    ...     by=["a", "a", "b", "b", "a", "b"],
    ... )
    >>> display.axes_[1].get_ylabel()
    'saved by one more alarm'
    """

    def __init__(self, growth: CapacityGrowth, capacity: float | None = None) -> None:
        accepted = "what voros.allocation.capacity_growth returns"
        self.growth = check_type(growth, "growth", CapacityGrowth, accepted)
        self.capacity = None if capacity is None else as_number(capacity, "capacity")

    @classmethod
    @takes(capacity_growth)
    def from_predictions(
        cls,
        y_true: Any,
        scores: Any,
        scenario: Scenario | Mapping[str, Scenario],
        *,
        policy: JointPolicy | None = None,
        ax: Any = None,
        color: Any = None,
        **options: Any,
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        y_true, scores, scenario, **options
            As in `voros.allocate`.
        policy : JointPolicy, optional
            Marks its capacity.
        ax, color
            As in `plot`.

        Returns
        -------
        display
        """
        if policy is not None:
            check_type(policy, "policy", JointPolicy, "a JointPolicy")
        growth = capacity_growth(y_true, scores, scenario, **options)
        return cls(growth, None if policy is None else policy.max_alarms).plot(ax, color=color)

    def plot(self, ax: Any = None, *, color: Any = None) -> Self:
        """Draw on two axes, one above the other; on a new figure if none are given.

        Parameters
        ----------
        ax : sequence of two Axes, optional
        color : color, sequence of colors, or mapping of str to color, optional
            Of the streams.

        Returns
        -------
        display
        """
        self.axes_ = panels_to_draw_on(ax, (2,), (1.0, 1.0), nrows=2, sharex=True)
        upper, lower = self.axes_
        self.styles_ = model_styles(upper, list(self.growth.names), color)
        self.areas_ = self._draw_areas(upper)
        growth = self.growth
        (self.price_,) = lower.plot(
            growth.capacity,
            growth.shadow_price,
            drawstyle="steps-post",
            color=ink(lower),
            linewidth=line_width(lower),
        )
        format_axes(upper, xlabel="", ylabel="alarms")
        format_axes(lower, xlabel="shared capacity (alarms)", ylabel="saved by one more alarm")
        upper.tick_params(labelbottom=False)
        at = self.capacity
        self.marks_ = () if at is None else tuple(self._mark(panel, at) for panel in self.axes_)
        # From top to bottom, as the areas lie.
        entries = [(area, literal(name)) for name, area in reversed(self.areas_.items())]
        draw_legend(upper, entries, below=lower, grow=ax is None)
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return one row for each capacity; see `CapacityGrowth.frame`."""
        return self.growth.frame(backend)

    def _draw_areas(self, ax: Axes) -> dict[str, PolyCollection]:
        """Stack the alarms of the streams; each step of the capacity goes to one of them."""
        growth, base = self.growth, np.zeros(len(self.growth.capacity))
        drawn: dict[str, PolyCollection] = {}
        for i, name in enumerate(growth.names):
            above = base + growth.alarms[:, i]
            drawn[name] = ax.fill_between(
                growth.capacity,
                base,
                above,
                color=self.styles_[name].color,
                alpha=AREA_OPACITY,
                linewidth=0,
            )
            base = above
        return drawn

    def _mark(self, ax: Axes, capacity: float) -> Line2D:
        mark = ax.axvline(capacity, color=ink(ax), linestyle="--", linewidth=0.7 * line_width(ax))
        if ax is self.axes_[0]:
            at = {"xycoords": ax.get_xaxis_transform(), "ha": "left", "va": "top"}
            write_beside(ax, "capacity", (capacity, 0.98), (3, 0), **at)
        return mark
