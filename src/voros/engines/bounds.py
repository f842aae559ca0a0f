"""What binned counts prove about a score: it lies between two numbers.

**Below.** The lower ends of the bins are true operating points. The score of them alone is at most
the true one, which is a mean of maxima over all operating points.

**Above.** The score with the best case of every bin that may matter added to them (see
`voros.core.contenders`) is at least the true one.

**Undecided.** When no bin may matter, the score of the known points is the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arrays import BoolArray
from voros.core.contenders import Contenders, find_contenders
from voros.core.decision import Decision
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.core.volume import partial_volume
from voros.engines.bins import Bins


@dataclass(frozen=True, eq=False)
class Bounds:
    """A certified interval for the partial VOROS of binned cases.

    Attributes
    ----------
    lower, upper : float
        The score lies between them, both included.
    undecided : ndarray of bool, shape (n_bins,)
        Bins whose inner order could still move the score, its feasibility or the highest
        precision within the capacity.
    """

    lower: float
    upper: float
    undecided: BoolArray

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper bound."""
        return self.lower, self.upper


def score_bounds(bins: Bins, points: OperatingPoints, scenario: Scenario) -> Bounds:
    """Bound the score of binned cases, and tell which bins keep the bounds apart.

    Parameters
    ----------
    bins : Bins
    points : OperatingPoints
        At the lower ends of those bins.
    scenario : Scenario
    """
    found = find_contenders(points, bins.single, scenario)
    lower = upper = found.decision.partial_voros
    if found.moving.any():
        favourable = _favourable(found)
        everything = np.ones(len(favourable), dtype=np.bool_)
        outer = Decision(favourable, scenario, everything)
        upper = partial_volume(favourable, outer.hull, found.decision.region, scenario.costs)
    return Bounds(lower, max(lower, upper), found.moving | found.telling)


def _favourable(found: Contenders) -> OperatingPoints:
    """Known feasible points and the best cases that beat them as one curve, by rising alarms."""
    ends, best, feasible = found.decision.points, found.best, found.decision.feasible
    tp = np.append(ends.tp[feasible], best.tp[found.moving])
    fp = np.append(ends.fp[feasible], best.fp[found.moving])
    order = np.lexsort((tp, tp + fp))
    return OperatingPoints(
        np.full(len(order), np.nan), tp[order], fp[order], ends.n_positive, ends.n_negative
    )
