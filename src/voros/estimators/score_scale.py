"""Scores of one fit on the scale of another fit of the same classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class ScoreScale:
    """A rising map from the scores of one fit to those of another.

    A classifier that is fitted on more cases often spreads its scores further, so that a threshold
    of a fold's fit raises another share of alarms with the final one. Quantiles carry over: the
    map takes the score that a share of some cases exceeds in the one fit to the score that the
    same share of the same cases exceeds in the other. Cases that both were fitted on serve best,
    because what fitting does to their scores is then in both.

    Between quantiles the map is linear; beyond them it shifts.

    Attributes
    ----------
    knots, values : ndarray of shape (n_knots,)
        Rising scores of the one fit, and those they are taken to.
    """

    knots: FloatArray
    values: FloatArray

    @classmethod
    def between(cls, scores: FloatArray, final: FloatArray) -> ScoreScale:
        """Match the quantiles of two fits' scores of the same cases.

        Examples
        --------
        >>> scale = ScoreScale.between(np.array([0.1, 0.2, 0.4]), np.array([0.3, 0.1, 0.5]))
        >>> scale(np.array([0.1, 0.3, 0.5])).round(6).tolist()
        [0.1, 0.4, 0.6]
        """
        knots, first, counts = np.unique(np.sort(scores), return_index=True, return_counts=True)
        # Cases of equal score are one knot. It goes to the middle one of the scores they have in
        # the other fit: where scores are few and coarse, a mean would lie between them.
        return cls(knots, np.sort(final)[first + counts // 2])

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Take scores of the one fit to the scale of the other."""
        inside = np.clip(scores, self.knots[0], self.knots[-1])
        return np.asarray(np.interp(inside, self.knots, self.values) + (scores - inside))
