"""Events by a time among censored cases: the estimate of Kaplan and Meier."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from voros.typing import BoolArray, FloatArray


def shares_with_event(
    event: BoolArray, follow_up: FloatArray, time_horizon: float, weights: Iterable[FloatArray]
) -> FloatArray:
    """Return the share of cases with an event by a time, for each weighting of the cases.

    A case that is censored at the time of an event counts as followed until then. The share is 0
    where no case has a weight, and NaN where all of them are censored before the time.

    Parameters
    ----------
    event : ndarray of bool, shape (n_cases,)
        Whether follow-up ended with an event; otherwise it was censored.
    follow_up : ndarray of float, shape (n_cases,)
    time_horizon : float
    weights : iterable of ndarray of float, shape (n_cases,)

    Examples
    --------
    >>> event, follow_up = np.array([True, False, True, False]), np.array([1.0, 2.0, 3.0, 9.0])
    >>> shares_with_event(event, follow_up, 5.0, [np.ones(4)]).tolist()  # 1 - 3/4 * 1/2
    [0.625]
    """
    order = np.argsort(follow_up, kind="stable")
    times, event = follow_up[order], event[order]
    starts = np.flatnonzero(np.append(True, times[1:] != times[:-1]))
    n_within = int(np.searchsorted(times[starts], time_horizon, side="right"))
    shares = []
    for weight in (one[order] for one in weights):
        at_risk = np.cumsum(weight[::-1])[::-1][starts][:n_within]
        events = np.add.reduceat(weight * event, starts)[:n_within]
        left = 1.0 - np.divide(events, at_risk, out=np.zeros(n_within), where=events > 0)
        free = float(np.prod(left))
        known = free == 0 or not weight.any() or bool(weight[times >= time_horizon].any())
        shares.append(1 - free if known else np.nan)
    return np.array(shares)
