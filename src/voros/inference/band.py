"""The result of `roc_band` and `net_benefit_band`.

A *simultaneous* band holds the whole curve with the stated confidence. A *pointwise* one holds the
height at any one position, and misses the curve somewhere more often than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.io.frames import make_frame
from voros.text.numbers import percent, short
from voros.typing import FloatArray

Kind: TypeAlias = Literal["simultaneous", "pointwise"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Band:
    """A curve, and the band in which the population's curve lies with a stated confidence.

    Attributes
    ----------
    over : {"fpr", "threshold_probability"}
        What the positions are: those of a ROC curve or of a decision curve.
    positions, estimate, low, high : ndarray of shape (n_positions,)
    kind : {"simultaneous", "pointwise"}
    confidence_level : float

    Examples
    --------
    >>> from voros.inference import roc_band
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(1000) < 0.2
    >>> band = roc_band(y_true, y_true + rng.normal(size=1000), n_resamples=100, random_state=0)
    >>> band.over, len(band.positions), band.label
    ('fpr', 101, '95 % band, simultaneous')
    >>> bool(np.all(band.low <= band.estimate) and np.all(band.estimate <= band.high))
    True
    """

    over: Literal["fpr", "threshold_probability"]
    positions: FloatArray
    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    kind: Kind
    confidence_level: float

    @property
    def label(self) -> str:
        """What a legend should say."""
        return f"{percent(self.confidence_level)} band, {self.kind}"

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame of one row per position."""
        names = ("positions", "estimate", "low", "high")
        columns = {name: getattr(self, name) for name in names}
        return make_frame({self.over: columns.pop("positions")} | columns, backend)

    def __repr__(self) -> str:
        """Name the band and its mean width."""
        return f"Band({self.label}, mean width {short(float(np.mean(self.high - self.low)))})"
