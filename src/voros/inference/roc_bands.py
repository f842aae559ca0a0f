"""Bands around the ROC curve: where the population's curve lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from voros.core.operating_points import OperatingPoints
from voros.inference.band import Band
from voros.inference.bootstrap import Replicates, Resampling
from voros.inference.statistics import Measure, one_by_one
from voros.progress import Progress
from voros.typing import FloatArray

POSITIONS = 101
"""False alarm rates at which a band is computed."""

FEWEST_FALSE_ALARMS = 10
"""A ROC band starts here: below, the height of a curve depends on single cases, which resampling
cannot judge."""


def roc_band(
    y_true: Any,
    scores: Any,
    *,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    groups: Any = None,
    pos_label: Any = None,
    random_state: int | np.random.Generator | None = None,
    progress: Progress = False,
) -> Any:
    """Compute a simultaneous band around the ROC curve: recall at every false alarm rate.

    Parameters
    ----------
    y_true, scores, n_resamples, confidence_level, groups, pos_label, random_state
    progress
        As in `voros.bootstrap`; the confidence is that of the whole curve.

    Returns
    -------
    Band, or dict of str to Band
        One by model where models were given. It starts at the rate of ten false alarms.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(1000) < 0.2
    >>> y_score = y_true + rng.normal(size=1000)
    >>> roc_band(y_true, y_score, n_resamples=200, random_state=0)
    Band(95 % band, simultaneous, mean width 0.178)
    """
    # A simultaneous band needs nothing but the spread of the resamples.
    how = Resampling(
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        method="percentile",
        groups=groups,
        pos_label=pos_label,
        random_state=random_state,
        progress=progress,
    )
    plan = how.plan(y_true, scores, worthwhile=False)
    positive = plan.sampling.positive
    first = min(1.0, FEWEST_FALSE_ALARMS / np.count_nonzero(~positive))
    at = np.linspace(first, 1.0, POSITIONS)
    measure = Measure(name="fpr", compute=one_by_one(lambda points: recall_at(points, at)))
    values = plan.run(dict.fromkeys(plan.models, measure))
    low, high = _ends(values, int(np.count_nonzero(positive)))
    bands = {
        model: Band(
            over="fpr",
            positions=at,
            estimate=values.whole[j],
            low=low[j],
            high=high[j],
            kind="simultaneous",
            confidence_level=how.confidence_level,
        )
        for j, model in enumerate(plan.models)
    }
    return plan.one_or_all(bands)


def recall_at(points: OperatingPoints, fpr: FloatArray) -> FloatArray:
    """Interpolate the recall of a curve at false alarm rates, between its highest points.

    Examples
    --------
    >>> points = OperatingPoints.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> recall_at(points, np.array([0.0, 0.25, 0.5])).tolist()
    [0.5, 0.75, 1.0]
    """
    highest = np.append(points.fp[1:] > points.fp[:-1], True)
    return np.asarray(np.interp(fpr, points.fpr[highest], points.tpr[highest]))


def _to_odds(recall: FloatArray, n_positive: int) -> FloatArray:
    """Log-odds of a recall, half a positive and half a miss added to the count.

    Near 1 a recall scatters more to the low side than to the high, and once every positive is
    caught all resamples agree on 1, which the population need not have.
    """
    return np.asarray(logit((recall * n_positive + 0.5) / (n_positive + 1)))


def _least_error(recall: FloatArray, n_positive: int) -> FloatArray:
    """Return that of a proportion with two successes and failures added (Agresti and Coull)."""
    share = (recall * n_positive + 2) / (n_positive + 4)
    return np.asarray(1 / np.sqrt(n_positive * share * (1 - share)))


def _ends(values: Replicates, n_positive: int) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the bands of all models."""
    centre, drawn = (_to_odds(recall, n_positive) for recall in (values.whole, values.drawn))
    least = _least_error(values.whole, n_positive)
    ends = simultaneous_ends(values.plan.how.confidence_level, centre, drawn, least)
    low, high = ((expit(end) * (n_positive + 1) - 0.5) / n_positive for end in ends)
    # A rising curve inside a band also lies between the rising edges of the band.
    low = np.maximum.accumulate(low, axis=-1)
    high = np.minimum.accumulate(high[..., ::-1], axis=-1)[..., ::-1]
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def simultaneous_ends(
    confidence_level: float, estimate: FloatArray, drawn: FloatArray, least_error: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of bands that hold whole curves.

    They are a number of standard errors wide: the quantile, over the resamples, of the largest
    distance of a curve from the mean curve. They are shifted by the bias of the resamples.

    Parameters
    ----------
    confidence_level : float
    estimate : ndarray of shape (n_models, n_positions)
    drawn : ndarray of shape (n_resamples, n_models, n_positions)
    least_error : ndarray of shape (n_models, n_positions)
        Standard errors are not taken to be below these.
    """
    mean, error = drawn.mean(axis=0), np.maximum(drawn.std(axis=0, ddof=1), least_error)
    with np.errstate(invalid="ignore"):
        # Where all resamples agree the distance is 0.
        away = np.where(error > 0, np.abs(drawn - mean) / error, 0.0).max(axis=-1)
    reach = np.quantile(away, confidence_level, axis=0)[:, None]
    centre = 2 * estimate - mean
    return centre - reach * error, centre + reach * error
