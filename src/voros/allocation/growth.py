"""Who gets the capacity as it grows, and what one more alarm is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.allocation.problem import JointProblem
from voros.core.arrays import AnyArray, FloatArray
from voros.core.shared_capacity import merged_steps, options_of, whole_costs
from voros.io.frames import make_frame


@dataclass(frozen=True, eq=False)
class CapacityGrowth:
    """Choices of least cost as the shared capacity grows.

    At each of these capacities, which are the ends of steps along the hulls of the streams, the
    choice is the best of all (the relaxation is whole there). Between two of them the best choice
    lies between the two, and saves at most what the straight line does.

    Attributes
    ----------
    names : tuple of str
    capacity : ndarray of shape (n_steps + 1,)
        Alarms of all streams together, from 0.
    alarms : ndarray of shape (n_steps + 1, n_streams)
    cost : ndarray of shape (n_steps + 1,)
        Total expected cost.
    shadow_price : ndarray of shape (n_steps + 1,)
        What one more alarm saves, in misses of weight 1; 0 at the end.
    stream : ndarray of str, shape (n_steps + 1,)
        Who gets the next alarms; empty at the end.

    Examples
    --------
    >>> import voros
    >>> y = {"sepsis": [1, 0, 1, 0, 0, 0, 1, 0], "kidney": [0, 0, 1, 1, 0, 0, 0, 0]}
    >>> s = {"sepsis": [9, 8, 7, 6, 5, 4, 3, 2], "kidney": [1, 2, 8, 7, 6, 5, 4, 3]}
    >>> growth = voros.allocation.capacity_growth(y, s, voros.Scenario(0.5, cost_ratio=0.2))
    >>> growth.capacity.tolist(), growth.stream.tolist()
    ([0.0, 1.0, 3.0, 5.0], ['sepsis', 'kidney', 'sepsis', ''])
    """

    names: tuple[str, ...]
    capacity: FloatArray
    alarms: FloatArray
    cost: FloatArray
    shadow_price: FloatArray
    stream: AnyArray

    def frame(self, backend: str | None = None) -> Any:
        """Return one row for each capacity: cost, shadow price, who is next, and all alarms."""
        columns = {
            "capacity": self.capacity,
            "cost": self.cost,
            "shadow_price": self.shadow_price,
            "next_stream": self.stream,
        }
        columns |= {f"alarms_{name}": self.alarms[:, i] for i, name in enumerate(self.names)}
        return make_frame(columns, backend)


def grow(problem: JointProblem) -> CapacityGrowth:
    """Merge the steps of all hulls, the most worth for an alarm first."""
    streams = problem.streams(problem.mean_ratios)
    units = whole_costs(streams)
    pairs = zip(streams, units.costs, strict=True)
    options = [options_of(stream, *cost, np.inf) for stream, cost in pairs]
    owner, width, saved = merged_steps(options)
    saved = saved / units.per_cost
    each = np.zeros((len(owner) + 1, len(streams)))
    each[np.arange(1, len(owner) + 1), owner] = width
    nothing = float(sum(stream.cost(0) for stream in streams))
    return CapacityGrowth(
        problem.names,
        np.append(0.0, np.cumsum(width)),
        np.cumsum(each, axis=0),
        nothing - np.append(0.0, np.cumsum(saved)),
        np.append(saved / width, 0.0),
        np.append(np.array(problem.names, dtype=object)[owner], ""),
    )
