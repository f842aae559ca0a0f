r"""Tests of a candidate's limits: the floors of the streams, and the shared capacity.

A candidate is fixed before the test sees the tested units. Units are cases, patients with several
cases, or periods; they are independent.

- *Cases.* Given the alarms of a stream, its true positives are binomial. Alarms are binomial where
  a case raises at most one; otherwise their sum is tested by betting.
- *Patients, periods.* Sums over a unit are independent. TP - floor * alarms has a mean of at least
  0 exactly when the floor is kept, and share * cases - alarms exactly when the capacity is kept.
  Both are tested by betting (`voros.guarantee.betting`). Periods above a capacity are binomial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from voros.allocation.streams import StreamCases
from voros.guarantee.betting import final_wealth
from voros.guarantee.binomial_tests import at_least
from voros.guarantee.cluster_tests import largest_first
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, BoolArray, FloatArray

BET_ROOM = 1 / 3
"""The least standard error, as a share of the margin that a bet needs."""

CHOSEN_ON = 1 / 3
"""Share of the units that candidates are chosen on."""


@dataclass(frozen=True, eq=False)
class SplitUnits:
    """Independent units, split into those that choose candidates and those that test them.

    Attributes
    ----------
    kind : {"cases", "patients", "periods"}
    codes : ndarray of int, shape (n_cases,)
        The unit of each case.
    sizes : ndarray of int, shape (n_units,)
    tested : ndarray of bool, shape (n_units,)
        Which units test; the largest unit does not.
    block : int
        Number of neighbouring periods that are one unit.
    """

    kind: str
    codes: AnyArray
    sizes: AnyArray
    tested: BoolArray
    block: int = 1

    @classmethod
    def from_cases(cls, cases: StreamCases, block: int = 1) -> SplitUnits:
        """Shuffle the units, always in the same order, and split them."""
        kind, codes, n_units = "cases", np.arange(cases.n_cases), cases.n_cases
        if cases.periods is not None:
            kind, codes = "periods", cases.periods.codes // block
            n_units = cases.periods.n_periods // block
        elif cases.patients is not None:
            kind, codes, n_units = "patients", cases.patients, int(cases.patients.max()) + 1
        sizes = np.bincount(codes, minlength=n_units)
        order = largest_first(np.random.default_rng(TUNING.order_seed).permutation(n_units), sizes)
        tested = np.zeros(n_units, dtype=np.bool_)
        tested[order[max(1, int(np.ceil(CHOSEN_ON * n_units))) :]] = True
        return cls(kind, codes, sizes, tested, block)

    def part(self, cases: StreamCases, *, tested: bool) -> StreamCases:
        """Return the cases of one part."""
        return cases.take(np.flatnonzero(self.tested[self.codes] == tested))

    def sums(self, columns: Sequence[AnyArray]) -> FloatArray:
        """Sum values of the cases by unit: (n_units, n_columns)."""
        by_unit = [np.bincount(self.codes, values, len(self.sizes)) for values in columns]
        return np.column_stack(by_unit).astype(np.float64)

    def wealthy(self, sums: FloatArray, loss: float, alpha: float) -> BoolArray:
        """Test by betting on the tested units whether the mean of each column is above 0."""
        alphas = np.full(sums.shape[1], alpha)
        wealth = final_wealth(sums[~self.tested], sums[self.tested], loss, alphas)
        return np.asarray(wealth >= 1 / alpha)

    @property
    def largest(self) -> int:
        """Number of cases of the largest unit."""
        return int(self.sizes.max())


def floor_passed(
    cases: StreamCases,
    units: SplitUnits,
    alpha: float,
    name: str,
    thresholds: FloatArray,
    floor: float,
) -> BoolArray:
    """Test whether thresholds of a stream keep its floor; raising no alarm passes."""
    never = np.isposinf(thresholds)
    if floor == 0:
        return np.ones_like(never)
    positive, tested = cases.positive[name], units.tested
    alarms = [cases.alarms(name, float(threshold)) for threshold in thresholds]
    if units.kind == "cases":
        counts = [((a & positive & tested).sum(), (a & tested).sum()) for a in alarms]
        sure = [at_least(*pair, floor) <= alpha for pair in counts]
        return np.asarray(never | np.array(sure))
    sums = units.sums([(alarmed & positive) - floor * alarmed for alarmed in alarms])
    return never | units.wealthy(sums, floor * units.largest, alpha)


@dataclass(frozen=True, eq=False, kw_only=True)
class CapacityTest:
    """Tests whether candidates keep the shared capacity, at a share of alpha.

    Attributes
    ----------
    limit : float
        The most alarms of a case on average, or of a period where periods are the units.
    exceed : float or None
        The share of the periods that may have more alarms.
    once : bool
        Whether a case with several alarms counts once.
    """

    cases: StreamCases
    units: SplitUnits
    alpha: float
    limit: float
    exceed: float | None
    once: bool

    @property
    def most_of_a_case(self) -> int:
        """How many counted alarms a case can raise."""
        single = self.once or self.cases.arrangement != "outcomes"
        return 1 if single else len(self.cases.scores)

    @property
    def largest_loss(self) -> float:
        """How far the alarms of a unit can exceed its limit; 0 where no bets are needed."""
        most = float(self.most_of_a_case * self.units.largest)
        if self.units.kind == "periods":
            return max(most - self.limit * self.units.block, 0.0)
        if self.units.kind == "cases" and self.most_of_a_case == 1:
            return 0.0
        return max(most - self.limit * self.units.largest, 0.0)

    def error(self, thresholds: Sequence[float]) -> float:
        """Return the standard error of the alarms of the units that choose candidates.

        Bets against a large loss need a larger margin than chance does. The error is at least a
        share of that margin.
        """
        chosen = ~self.units.tested
        alarms = self.units.sums([self._counted(np.array(thresholds))])[chosen, 0]
        sizes = 1.0 if self.units.kind == "periods" else self.units.sizes[chosen]
        rest = alarms - sizes * alarms.sum() / np.sum(sizes * np.ones(len(alarms)))
        n_chosen, n_tested = len(alarms), max(len(chosen) - len(alarms), 1)
        room = -np.log(self.alpha) * self.largest_loss / TUNING.largest_stake * n_chosen / n_tested
        return float(max(np.sqrt(np.sum(rest**2)), BET_ROOM * room))

    def passed(self, thresholds: FloatArray) -> BoolArray:
        """Test choices of thresholds, one in each row; raising no alarm passes."""
        never = np.isposinf(thresholds).all(axis=1)
        counted = [self._counted(row) for row in thresholds]
        alarms = self.units.sums(counted)
        if self.units.kind == "periods":
            above = None if self.exceed is None else self._above(counted)
            return never | self._in_periods(alarms, above)
        if self.limit >= self.most_of_a_case:
            return np.ones_like(never)
        if self.units.kind == "cases" and self.most_of_a_case == 1:
            tested = alarms[self.units.tested]
            few = bdtr(tested.sum(axis=0), len(tested), self.limit) <= self.alpha
            return np.asarray(never | few)
        sums = self.limit * self.units.sizes[:, None] - alarms
        return never | self.units.wealthy(sums, self.largest_loss, self.alpha)

    def _counted(self, thresholds: FloatArray) -> AnyArray:
        """Return the counted alarms of each case."""
        raised = self.cases.raised(thresholds.tolist())
        return np.asarray(np.minimum(raised, self.most_of_a_case))

    def _above(self, counted: Sequence[AnyArray]) -> FloatArray:
        """Count the periods of each unit with more alarms than the limit."""
        periods = self.cases.periods
        assert periods is not None, "the units are periods"
        alarms = [np.bincount(periods.codes, weights, periods.n_periods) for weights in counted]
        of_unit = np.column_stack(alarms).reshape(-1, self.units.block, len(alarms))
        return np.asarray(np.sum(of_unit > self.limit, axis=1), dtype=np.float64)

    def _in_periods(self, alarms: FloatArray, above: FloatArray | None) -> BoolArray:
        """Test the mean and the share of periods above, each at the full alpha.

        A choice that breaks the rule breaks one of the two, and passes only if both tests pass.
        """
        units, block = self.units, self.units.block
        passed = np.ones(alarms.shape[1], dtype=np.bool_)
        if self.largest_loss > 0:
            passed = units.wealthy(self.limit * block - alarms, self.largest_loss, self.alpha)
        if above is None or self.exceed is None:
            return passed
        if block > 1:
            loss = block * (1 - self.exceed)
            return passed & units.wealthy(block * self.exceed - above, loss, self.alpha)
        tested = above[units.tested]
        few = bdtr(tested.sum(axis=0), len(tested), self.exceed) <= self.alpha
        return np.asarray(passed & few)
