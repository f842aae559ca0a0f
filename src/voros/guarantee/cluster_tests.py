"""Which thresholds keep the limits in the population where patients have several cases.

Patients are independent, but their cases are not. At a threshold that is fixed beforehand the sums
TP - floor * alarms of each patient are independent draws, with a mean of at least 0 exactly when
the threshold keeps the precision floor. The sums share * cases - alarms do the same for the
capacity, and TP - floor * positives for a recall floor. Bets on these sums are e-values.

Some patients, including the one with most cases, are set aside. They decide which thresholds are
tested, in which order, and how large the first bets are. Two fixed sequences of tests use the other
patients. The proof is in the documentation (theory/guarantees.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from voros.core.grouped_cases import GroupedCases, counts_by_group
from voros.core.scenario import Scenario
from voros.guarantee.betting import final_wealth
from voros.guarantee.tuning import TUNING
from voros.text.numbers import short, threshold_text
from voros.typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterTests:
    """The results of the bets at each tested threshold.

    Attributes
    ----------
    thresholds : ndarray of shape (n_tested,)
        From strict to lenient.
    alphas : ndarray
        Level of each test.
    e_values : ndarray
        The smallest e-value of the limits; a test passes at 1/alpha.
    start : int
        Where the two sequences begin. One tests this threshold and then more lenient ones; the
        other tests the stricter ones, the most lenient of them first.
    signal : ndarray
        The smallest mean sum of the limits in standard errors, over all patients.
    n_groups : int
    stricter_too : bool
        Whether a certified threshold certifies all stricter ones: they raise fewer alarms, and
        there is no floor.
    """

    thresholds: FloatArray
    alphas: FloatArray
    e_values: FloatArray
    start: int
    signal: FloatArray
    n_groups: int
    stricter_too: bool

    @property
    def passed(self) -> BoolArray:
        """Which tested thresholds are certified: each sequence ends at its first failure."""
        rejected = self.e_values * self.alphas >= 1
        lenient = np.logical_and.accumulate(rejected[self.start :])
        strict = np.logical_and.accumulate(rejected[: self.start][::-1])[::-1]
        return np.concatenate([strict, lenient])

    def certified(self, thresholds: FloatArray) -> BoolArray:
        """Mark which of any thresholds are certified, whether they were tested or not."""
        passed = self.thresholds[self.passed]
        if self.stricter_too:
            return np.asarray(thresholds >= passed.min(initial=np.inf))
        return np.isin(thresholds, passed)

    def sentence(self, units: str = "groups") -> str:
        """Say which threshold came closest, and how many more patients would probably suffice."""
        if len(self.thresholds) == 0:
            return f"There are too few {units}: some are set aside to choose what to test."
        best = int(np.argmax(self.e_values))
        closest = (
            f"The closest threshold is {threshold_text(self.thresholds[best])}, with an e-value of "
            f"{short(self.e_values[best])} where {short(1 / self.alphas[best])} is needed, from "
            f"{self.n_groups:,} independent {units}. "
        )
        more = self._more_groups(best)
        if more is None:
            return closest + "More cases will not help; change the model or the limits."
        return closest + f"About {more:,} more {units} like these would be enough."

    def _more_groups(self, row: int) -> int | None:
        deviates = float(ndtri(TUNING.group_power) - ndtri(self.alphas[row]))
        needed = deviates / np.sqrt(1 - TUNING.learning_share)
        if self.signal[row] <= 0:
            return None
        # The wealth grows exponentially with the number of groups, up to 1/alpha.
        gained = float(np.log(self.e_values[row]))
        growth = float(-np.log(self.alphas[row]) / gained) if gained > 0 else 1.0
        times = max((needed / float(self.signal[row])) ** 2, growth)
        return max(1, int(np.ceil((times - 1) * self.n_groups)))


def has_floor(scenario: Scenario) -> bool:
    """Whether there is a floor, which a stricter threshold than one that keeps it may break."""
    return scenario.min_precision > 0 or scenario.min_recall is not None


def cluster_tests(cases: GroupedCases, scenario: Scenario, alpha: float) -> ClusterTests:
    """Choose thresholds on the patients set aside, and test them on the others."""
    tested, order, n_learning = chosen_thresholds(cases, _mean_share(cases, scenario))
    limits = _limit_sums(cases, scenario, tested)
    free = not has_floor(scenario)
    return bet_tests(tested, limits, order, n_learning, alpha, stricter_too=free)


def chosen_thresholds(cases: GroupedCases, share: float) -> tuple[FloatArray, AnyArray, int]:
    """Choose thresholds to test, down to this share of alarms, on the groups that are set aside.

    Returns
    -------
    thresholds : ndarray
    order : ndarray
        The groups, those set aside first.
    n_learning : int
        Number of groups set aside.
    """
    order, n_learning = learning_order(cases.sizes)
    place = np.argsort(order)[cases.codes]
    return candidate_thresholds(cases.scores[place < n_learning], share), order, n_learning


def bet_tests(
    tested: FloatArray,
    limits: list[tuple[FloatArray, float]],
    order: AnyArray,
    n_learning: int,
    alpha: float,
    *,
    stricter_too: bool = False,
) -> ClusterTests:
    """Bet on the sums of each group at thresholds that the groups set aside have chosen.

    Parameters
    ----------
    tested : ndarray of shape (n_tested,)
        From strict to lenient; chosen on the groups set aside, and on no others.
    limits : list of (ndarray of shape (n_groups, n_tested), float)
        For each limit, sums whose mean is at least 0 where it is kept, and how far below 0 a sum
        can be.
    order : ndarray of int
        The groups, those set aside first.
    n_learning : int
        Number of groups set aside.
    alpha : float
    stricter_too : bool
    """
    if not limits:
        # No limit can be broken: the most lenient threshold passes, and all others with it.
        tested, stricter_too = np.array([-np.inf]), True
    sums = [(by_group[order], largest_loss) for by_group, largest_loss in limits]
    start = int(np.argmax(_signal([by_group[:n_learning] for by_group, _ in sums], len(tested))))
    lenient = np.arange(len(tested)) >= start
    # Without stricter thresholds the lenient sequence has all of alpha.
    share_lenient = TUNING.lenient_share if start > 0 else 1.0
    alphas = np.where(lenient, share_lenient, 1 - share_lenient) * alpha
    e_values = np.full(len(tested), np.inf if n_learning < len(order) else 0.0)
    for by_group, largest_loss in sums:
        wealth = final_wealth(by_group[:n_learning], by_group[n_learning:], largest_loss, alphas)
        e_values = np.minimum(e_values, wealth)
    signal = _signal([by_group for by_group, _ in sums], len(tested))
    return ClusterTests(
        thresholds=tested,
        alphas=alphas,
        e_values=e_values,
        start=start,
        signal=signal,
        n_groups=len(order),
        stricter_too=stricter_too,
    )


def learning_order(sizes: AnyArray) -> tuple[AnyArray, int]:
    """Shuffle the groups, one of the largest first; return also how many to set aside.

    Examples
    --------
    >>> order, n_learning = learning_order(np.array([1, 1, 7, 1, 2, 1, 1, 1]))
    >>> int(order[0]), sorted(order.tolist()) == list(range(8)), n_learning
    (2, True, 2)
    """
    if len(sizes) < 2:
        raise ValueError(
            "the cases belong to one group only (patient or period); a guarantee needs at least two"
        )
    order = np.random.default_rng(TUNING.order_seed).permutation(len(sizes))
    return largest_first(order, sizes), max(1, int(np.ceil(TUNING.learning_share * len(sizes))))


def largest_first(order: AnyArray, sizes: AnyArray) -> AnyArray:
    """Move one of the largest groups to the front: its size bounds those of all later ones."""
    largest = int(np.argmax(sizes[order]))
    return np.append(order[largest], np.delete(order, largest))


def candidate_thresholds(scores: FloatArray, share: float) -> FloatArray:
    """Return scores to test as thresholds, strict to lenient, down to this share of the cases.

    Examples
    --------
    >>> candidate_thresholds(np.arange(100.0), 0.05).tolist()
    [99.0, 98.0, 97.0, 96.0, 95.0]
    """
    depth = max(1, int(np.ceil(share * len(scores))))
    top = np.unique(np.sort(scores)[::-1][:depth])[::-1]
    count = min(len(top), TUNING.most_tested)
    # Even steps that end at the most lenient one.
    rows = np.rint(np.linspace(0, len(top), count + 1))[1:].astype(np.intp) - 1
    return np.asarray(top[rows])


def _limit_sums(
    cases: GroupedCases, scenario: Scenario, tested: FloatArray
) -> list[tuple[FloatArray, float]]:
    sizes, share = cases.sizes, _mean_share(cases, scenario)
    alarms = counts_by_group(cases.codes, len(sizes), cases.scores, tested).astype(np.float64)
    limits = floor_sums(cases, alarms, scenario, tested)
    if share < 1:
        limits.append((share * sizes[:, None] - alarms, (1 - share) * int(sizes.max())))
    return limits


def floor_sums(
    cases: GroupedCases, alarms: FloatArray, scenario: Scenario, tested: FloatArray
) -> list[tuple[FloatArray, float]]:
    """Return TP - floor * alarms (or positives) of each group at each threshold, and its bound."""
    sizes, is_positive = cases.sizes, cases.positive.astype(np.float64)
    positives = np.bincount(cases.codes, is_positive, len(sizes))[:, None].astype(np.float64)
    floors = (scenario.min_precision, alarms), (scenario.min_recall or 0.0, positives)
    tp = counts_by_group(cases.codes, len(sizes), cases.scores, tested, is_positive)
    return [(tp - floor * of, floor * int(sizes.max())) for floor, of in floors if floor > 0]


def _mean_share(cases: GroupedCases, scenario: Scenario) -> float:
    """Return the capacity as a share of the cases."""
    n_cases = len(cases.codes)
    return scenario.max_alarms(n_cases) / n_cases


def _signal(limits: list[FloatArray], n_tested: int) -> FloatArray:
    """Return the mean sum in standard errors at each threshold, the least over the limits."""
    least = np.full(n_tested, np.inf)
    for sums in limits:
        # The added 1 keeps a handful of alarms from deciding.
        error = np.sqrt(np.sum(sums**2, axis=0) + 1)
        least = np.minimum(least, np.sum(sums, axis=0) / error)
    return least
