r"""The prevalence that recent alarms suggest, if nothing but the share of positives has changed.

Under label shift the share of alarms is :math:`a = \pi\,t + (1 - \pi) f`, with the recall t and the
false positive rate f of the validation cases (Rogan and Gladen, 1978). All three are estimates with
exact limits. A prevalence is within the interval if the two sides differ by no more than these
limits allow, their distances added as standard deviations are. Days that vary more than independent
cases do widen the limits of a, as groups (`voros.core.clusters`).
"""

from __future__ import annotations

import numpy as np

from voros.core.clusters import GroupedShare, allowance, groups_in_variance
from voros.core.exact_intervals import binomial_limits
from voros.monitoring.settings import Settings
from voros.monitoring.store import PeriodTotals
from voros.policy.threshold_policy import ThresholdPolicy
from voros.typing import FloatArray

RECENT_PERIODS = 30
"""Periods whose alarms suggest the prevalence of today."""

PREVALENCES = np.linspace(0.0, 1.0, 10_001)
"""Those that are tried; three decimals are shown."""


def prevalence_in_words(
    periods: PeriodTotals, policy: ThresholdPolicy, settings: Settings
) -> str | None:
    """Say which prevalence the recent alarms suggest; None where they cannot."""
    ratio, choice = settings.cost_ratio, policy.default
    if ratio is not None:
        choice = next(c for c in policy.choices if c.cost_ratio_low <= ratio < c.cost_ratio_high)
    alarms, cases = periods.alarms[-RECENT_PERIODS:], periods.cases[-RECENT_PERIODS:]
    fpr = choice.fp / policy.n_negative
    if not cases.sum() or not choice.recall > fpr:
        return None
    share = alarms.sum() / cases.sum()
    suggested = float(np.clip((share - fpr) / (choice.recall - fpr), 0.0, 1.0))
    validated = policy.n_positive / (policy.n_positive + policy.n_negative)
    confidence_level, within = (
        1 - settings.alpha,
        "no interval: validated on patients or weighted cases",
    )
    origin = policy.origin
    if origin is not None and origin.n_groups is None and isinstance(origin.n_positive, int):
        sizes = origin.n_positive, origin.n_negative
        ends = prevalence_interval(alarms, cases, (choice.recall, fpr), sizes, confidence_level)
        if ends is None:
            return (
                "prevalence: no share of positives explains the alarms of the last periods, so "
                "scores have changed within a class"
            )
        within = f"{100 * confidence_level:g} % interval {ends[0]:.3f} to {ends[1]:.3f}"
    return (
        f"prevalence: the alarms of the last periods suggest {suggested:.3f} ({within}; "
        f"validation: {validated:.3f}), if only the share of positives has changed"
    )


def prevalence_interval(
    alarms: FloatArray,
    cases: FloatArray,
    rates: tuple[float, float],
    sizes: tuple[float, float],
    confidence_level: float,
) -> tuple[float, float] | None:
    """Return the least and the largest prevalence that fits; None where none does.

    Parameters
    ----------
    alarms, cases : ndarray of shape (n_periods,)
    rates : tuple of two floats
        Recall and false positive rate at validation.
    sizes : tuple of two floats
        Positives and negatives at validation, as observed.
    confidence_level : float

    Examples
    --------
    >>> days = np.full(30, 4.0), np.full(30, 40.0)
    >>> prevalence_interval(*days, (0.6, 0.05), (1000, 9000), 0.95)
    (0.0584, 0.1277)
    """
    n_cases, share = cases.sum(), alarms.sum() / cases.sum()
    n_days = float(groups_in_variance(cases[:, None])[0])
    errors = GroupedShare.from_counts(alarms[:, None], cases[:, None]).residuals
    independent = share * (1 - share) / n_cases
    design = max(float(np.sum(errors**2)) / independent, 1.0) if independent else 1.0
    # Of the share of alarms, the recall and the false positive rate.
    estimate = np.array([share, *rates])[:, None]
    kept = n_cases * allowance(n_days, (1 - confidence_level) / 2) / design
    of = np.array([kept, *sizes])[:, None]
    # The threshold was chosen for its rates on these cases: they have half the error.
    chosen = (1 + confidence_level) / 2
    limits = [
        binomial_limits(share * n, n, sure)
        for share, n, sure in zip(estimate, of, (confidence_level, chosen, chosen), strict=True)
    ]
    low, high = np.stack(limits, axis=1)
    weight = np.stack([np.ones_like(PREVALENCES), PREVALENCES, 1 - PREVALENCES])
    over = estimate[0] - np.sum(weight[1:] * estimate[1:], axis=0)
    down, up = weight * (estimate - low), weight * (high - estimate)
    most = np.sqrt(down[0] ** 2 + np.sum(up[1:] ** 2, axis=0))
    least = np.sqrt(up[0] ** 2 + np.sum(down[1:] ** 2, axis=0))
    fits = PREVALENCES[(over <= most) & (over >= -least)]
    return (float(fits[0]), float(fits[-1])) if len(fits) else None
