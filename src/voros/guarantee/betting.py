r"""E-values for a mean that is at most 0, by betting on bounded draws towards a target.

Let :math:`D_1, \dots, D_n` be independent draws of a variable with mean at most 0 and least value
:math:`-b`. The wealth :math:`W = \prod_i (1 + \lambda_i D_i)`, with :math:`0 \le \lambda_i \le 1/b`
fixed before :math:`D_i` is seen, is never negative and has mean at most 1: an e-value. So it
reaches 1/alpha with probability at most alpha, whatever the bets are (Waudby-Smith and
Ramdas, 2024).

The bets decide the power. As n is known, each bet is that of the best test of a normal sum. At
wealth :math:`w`, a normal sum of the remaining draws with standard deviation :math:`s` pays 1/alpha
with probability :math:`p = w \cdot \alpha` if the stake is

.. math:: \lambda = \varphi(d) / (p s), \quad d = \Phi^{-1}(p).

Once the target is reached the stake is 0. Voráček and Orabona (2025) bet towards a target
similarly.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from voros.guarantee.tuning import TUNING
from voros.typing import FloatArray


def final_wealth(
    learned: FloatArray, draws: FloatArray, largest_loss: float, alphas: FloatArray
) -> FloatArray:
    """Bet on draws of several variables, each towards 1/alpha, and return the final wealth.

    Parameters
    ----------
    learned : ndarray of shape (n_learned, n_variables)
        Draws seen beforehand, from which the first bets take the spread.
    draws : ndarray of shape (n_draws, n_variables)
    largest_loss : float
        No draw is below minus this.
    alphas : ndarray of shape (n_variables,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fair, good = rng.choice([-1, 1], size=200), rng.choice([-1, 1], size=200, p=[0.3, 0.7])
    >>> draws = np.column_stack([fair, good]).astype(float)
    >>> (final_wealth(draws[:20], draws[20:], 1.0, np.full(2, 0.05)) >= 20).tolist()
    [False, True]
    """
    wealth = np.ones(draws.shape[1])
    squares, seen = np.sum(learned**2, axis=0), len(learned)
    rounds = min(len(draws), TUNING.bet_rounds)
    edges = np.unique(np.linspace(0, len(draws), rounds + 1).astype(np.intp))
    for start, stop in pairwise(edges):
        # An unknown spread is taken as the widest possible.
        square = np.where(squares > 0, squares / max(seen, 1), largest_loss**2)
        spread = np.sqrt(square * (len(draws) - start))
        stake = _stake(wealth * alphas, spread, largest_loss)
        part = draws[start:stop]
        wealth = wealth * np.prod(1 + stake * part, axis=0)
        squares, seen = squares + np.sum(part**2, axis=0), seen + len(part)
    return wealth


def _stake(chance: FloatArray, spread: FloatArray, largest_loss: float) -> FloatArray:
    """Return the bet with which a normal sum reaches the target with this probability."""
    aimed = np.clip(chance / TUNING.aim, TUNING.least_chance, 1.0)
    density = np.exp(-(ndtri(aimed) ** 2) / 2) / np.sqrt(2 * np.pi)
    stake = np.minimum(density / (aimed * spread), TUNING.largest_stake / largest_loss)
    return np.where(chance < 1, stake, 0.0)
