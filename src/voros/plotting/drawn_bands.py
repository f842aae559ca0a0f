"""Draw bands on a ROC curve or a decision curve that is drawn already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from voros.inference.band import Band
from voros.plotting.colours import muted
from voros.plotting.decision_curve import DecisionCurveDisplay
from voros.plotting.legends import draw_legend
from voros.plotting.roc import RocDisplay

if TYPE_CHECKING:
    from matplotlib.collections import PolyCollection

BAND_OPACITY = 0.22

BandedDisplay: TypeAlias = RocDisplay | DecisionCurveDisplay
BANDS = {
    RocDisplay: ("fpr", "roc_band"),
    DecisionCurveDisplay: ("threshold_probability", "net_benefit_band"),
}
"""For each display: the positions of its bands, and the function that computes them."""


def draw_bands(
    display: BandedDisplay, bands: Band | Mapping[str, Band]
) -> dict[str, PolyCollection]:
    """Draw bands around the curves of a display; the legend says which kind they are.

    Parameters
    ----------
    display : RocDisplay or DecisionCurveDisplay
        Drawn already.
    bands : Band or mapping of str to Band
        From `roc_band` or `net_benefit_band` of `voros.inference`, of the same models.

    Returns
    -------
    dict of str to PolyCollection

    Examples
    --------
    >>> import numpy as np
    >>> from voros.inference import roc_band
    >>> from voros.plotting import RocDisplay, draw_bands
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(500) < 0.2
    >>> y_score = y_true + rng.normal(size=500)
    >>> display = RocDisplay.from_predictions(y_true, y_score)
    >>> drawn = draw_bands(display, roc_band(y_true, y_score, n_resamples=100, random_state=0))
    >>> display.ax_.get_legend().get_texts()[-1].get_text()
    '95 % band, simultaneous'
    """
    named = dict(bands) if isinstance(bands, Mapping) else {next(iter(display.points)): bands}
    _check(display, named)
    drawn: dict[str, PolyCollection] = {}
    for model, band in named.items():
        drawn[model] = display.ax_.fill_between(
            band.positions,
            band.low,
            band.high,
            color=display.styles_[model].color,
            alpha=BAND_OPACITY,
            linewidth=0,
            zorder=1.5,
        )
    _add_to_legend(display, drawn, next(iter(named.values())).label)
    return drawn


def _check(display: BandedDisplay, bands: Mapping[str, Band]) -> None:
    unknown = [model for model in bands if model not in display.points]
    if unknown or not bands:
        raise ValueError(
            f"bands are of {', '.join(bands) or 'no model'}; the picture shows "
            f"{', '.join(display.points)}"
        )
    over, maker = BANDS[type(display)]
    if any(band.over != over for band in bands.values()):
        raise ValueError(f"a {type(display).__name__} takes bands over {over}; use {maker}")


def _add_to_legend(display: BandedDisplay, drawn: Mapping[str, PolyCollection], label: str) -> None:
    from matplotlib.patches import Patch

    one = next(iter(drawn))
    colour = display.styles_[one].color if len(drawn) == 1 else muted(display.ax_)
    draw_legend(display.ax_, [(Patch(facecolor=colour, alpha=BAND_OPACITY), label)])
