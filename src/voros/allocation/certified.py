r"""A guarantee for a joint policy: all floors and the shared capacity hold on new cases too.

The independent units (cases, patients, periods or blocks of periods) are shuffled, always in the
same order, and split in two parts: a third and the rest. The first part chooses candidates: joint
policies under limits that are tightened by decreasing margins, the safest first. The second part
tests them. With n streams that have a floor, alpha is split over n + 1 families of hypotheses
(Bonferroni). One family for each such stream i says that candidate l breaks its floor; the last one
says that candidate l breaks the capacity. `voros.allocation.joint_tests` has the tests.

In each family the tests follow the fixed order of the candidates and stop at the first that fails
(fixed-sequence testing), each at the family's share of alpha. A candidate whose capacity passed is
deployed without the alarms of every stream whose floor did not pass. Removing alarms cannot break
the capacity, so the probability that any limit is broken is at most alpha.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from voros.allocation.joint_evaluation import evaluate_streams
from voros.allocation.joint_policy import JointPolicy
from voros.allocation.joint_tests import CapacityTest, SplitUnits, floor_passed
from voros.allocation.problem import JointChoice, JointPromise
from voros.allocation.streams import StreamCases
from voros.core.decision import Decision
from voros.core.periods import neighbour_correlation
from voros.core.shared_capacity import Certificate
from voros.exceptions import ArgumentError, NeverAlarmWarning, warn_caller
from voros.guarantee import Guarantee
from voros.policy.allowed import warn_of_correlation
from voros.typing import BoolArray

if TYPE_CHECKING:
    from voros.allocation.allocate import JointMaker

MARGINS = tuple(np.arange(20, -1, -1) * 0.25)
"""How far the limits of the candidates are tightened, in standard errors, safest first."""

SEARCHED = 4
"""Every fourth margin is used where each candidate takes a search."""

_Candidate: TypeAlias = tuple[JointChoice, Certificate]
"""Thresholds, and why no others cost less."""


def certify(maker: JointMaker, cases: StreamCases, guarantee: Guarantee) -> JointPolicy:
    """Choose candidates on some of the units, test them on the others, and deploy the best."""
    _check(maker, cases, guarantee)
    with warnings.catch_warnings():
        # These thresholds are not the ones that will be deployed.
        warnings.simplefilter("ignore", NeverAlarmWarning)
        plain = maker.make(cases)
    in_blocks = _in_blocks(cases, guarantee.block)
    units = SplitUnits.from_cases(in_blocks, guarantee.block)
    floors = {name: scenario.min_precision for name, scenario in maker.scenarios.items()}
    # A floor of 0 cannot be broken, and needs no part of alpha.
    alpha = guarantee.alpha / (1 + np.count_nonzero(list(floors.values())))
    per_period = units.kind == "periods"
    capacity = CapacityTest(
        cases=in_blocks,
        units=units,
        alpha=alpha,
        limit=float(maker.limit.capacity) if per_period else plain.max_alarms / cases.n_cases,
        exceed=maker.limit.exceed,
        once=maker.overlap == "once",
    )
    candidates = _candidates(maker, units.part(in_blocks, tested=False), units, capacity)
    at = np.array([choice.thresholds for choice, _ in candidates])
    tests = [
        floor_passed(in_blocks, units, alpha, name, at[:, i], floor)
        for i, (name, floor) in enumerate(floors.items())
    ]
    # In each family of hypotheses, stop at the first candidate that fails.
    passed = np.logical_and.accumulate(np.column_stack([*tests, capacity.passed(at)]), axis=0)
    passed = passed[:, :-1] & passed[:, -1:]
    return _deploy(plain, maker, cases, candidates, passed, units, guarantee)


def _in_blocks(cases: StreamCases, block: int) -> StreamCases:
    """Leave out the cases of the first periods that do not fill a block."""
    periods = cases.periods
    if periods is None or periods.n_periods % block == 0:
        return cases
    first = periods.n_periods % block
    kept = cases.take(np.flatnonzero(periods.codes >= first))
    assert kept.periods is not None
    codes, names = kept.periods.codes - first, periods.names[first:]
    return replace(kept, periods=replace(periods, codes=codes, names=names))


def _check(maker: JointMaker, cases: StreamCases, guarantee: Guarantee) -> None:
    """Refuse limits and units that cannot be guaranteed."""
    for name, scenario in maker.scenarios.items():
        if scenario.capacity_is_count or scenario.capacity < 1:
            raise ArgumentError(
                "capacity",
                f"={scenario.capacity!r} of stream {name!r}: a guarantee is for the floors and the "
                "shared capacity; leave the stream's own at 1.0",
            )
    if cases.periods is not None and cases.patients is not None:
        raise ArgumentError(
            "groups",
            " and a guarantee per period are mutually exclusive: periods are taken as independent, "
            "and a patient in two of them would make them depend on each other",
        )
    if maker.limit.exceed == 0:
        raise ArgumentError(
            "exceed",
            "=0.0: no number of periods can show that no later one exceeds the capacity. Allow a "
            "small share, such as exceed=0.01",
        )
    if guarantee.horizon is not None:
        raise ArgumentError(
            "horizon",
            f"={guarantee.horizon}: a shared capacity is promised for the population; leave it out",
        )
    n_units = 0 if cases.periods is None else cases.periods.n_periods // guarantee.block
    if guarantee.block > 1 and n_units < 2:
        raise ArgumentError(
            "block",
            f"={guarantee.block} needs a capacity per period, and at least two blocks of them",
        )


def _candidates(
    maker: JointMaker, cases: StreamCases, units: SplitUnits, test: CapacityTest
) -> list[_Candidate]:
    """Choose with all limits tightened by standard errors of these cases, the safest first."""
    decisions = maker.decisions({name: cases.points(name) for name in maker.scenarios})
    n_periods = int(np.count_nonzero(~units.tested)) * units.block
    most = test.limit * (n_periods if units.kind == "periods" else cases.n_cases)

    def candidate(margin: float, error: float) -> _Candidate:
        above = None
        if test.exceed is not None:
            mean = test.exceed * n_periods
            above = max(int(mean - margin * np.sqrt(mean)), 0)
        spread = margin * max(error / float(np.sqrt(most)), 1.0)
        tight = {name: _tightened(decision, spread) for name, decision in decisions.items()}
        left = max(most - margin * error, 0.0)
        return maker.choose(tight, left, cases, above)

    plain = candidate(0.0, float(np.sqrt(most)))
    error = max(float(np.sqrt(most)), test.error(plain[0].thresholds))
    margins = MARGINS if test.exceed is None else MARGINS[::SEARCHED]
    return [*(candidate(margin, error) for margin in margins[:-1]), plain]


def _tightened(decision: Decision, margin: float) -> Decision:
    floor, points = decision.scenario.min_precision, decision.points
    needed = floor * points.alarms + margin * np.sqrt(floor * (1 - floor) * points.alarms)
    feasible = decision.feasible & (points.tp >= needed)
    feasible[0] = True
    return replace(decision, feasible=feasible)


def _deploy(
    plain: JointPolicy,
    maker: JointMaker,
    cases: StreamCases,
    candidates: Sequence[_Candidate],
    passed: BoolArray,
    units: SplitUnits,
    guarantee: Guarantee,
) -> JointPolicy:
    """Deploy the candidate that costs least on all cases, without the alarms that failed."""
    pairs = zip(candidates, passed, strict=True)
    deployed = [_on_all_cases(plain, maker, cases, c[0], certified) for c, certified in pairs]
    best = int(np.argmin([choice.cost for choice in deployed]))
    default, thresholds = deployed[best], deployed[best].thresholds
    uncertified = tuple(n for n, t in zip(plain.names, thresholds, strict=True) if np.isposinf(t))
    warn_uncertified(uncertified, guarantee)
    n_tested = int(np.count_nonzero(units.tested))
    promise = JointPromise(
        confidence=guarantee.only_confidence,
        n_tested=n_tested,
        uncertified=uncertified,
        units=units.kind,
        block=units.block,
    )
    _warn_of_correlation(maker, cases, default, units.block)
    return replace(plain, default=default, certificate=candidates[best][1], promise=promise)


def _warn_of_correlation(
    maker: JointMaker, cases: StreamCases, choice: JointChoice, block: int
) -> None:
    cases = _in_blocks(cases, block)
    if cases.periods is None:
        return
    alarms = cases.period_alarms(choice.thresholds, once=maker.overlap == "once")
    correlation = neighbour_correlation(alarms.reshape(-1, block).sum(axis=1))
    warn_of_correlation(correlation, len(alarms) // block, maker.limit.per or "", block)


def warn_uncertified(uncertified: tuple[str, ...], guarantee: Guarantee) -> None:
    """Warn of streams that raise no alarm because no threshold could be certified."""
    if uncertified:
        warn_caller(
            f"with confidence {guarantee.confidence:g} no threshold keeps the limits of "
            f"{', '.join(map(repr, uncertified))}, so they raise no alarm; more cases, a lower "
            "floor or a larger capacity would help",
            NeverAlarmWarning,
        )


def _on_all_cases(
    plain: JointPolicy,
    maker: JointMaker,
    cases: StreamCases,
    choice: JointChoice,
    certified: BoolArray,
) -> JointChoice:
    """Count the alarms of certified thresholds on all cases; other streams raise none."""
    kept = tuple(
        threshold if sure else float("inf")
        for threshold, sure in zip(choice.thresholds, certified, strict=True)
    )
    choice = replace(choice, thresholds=kept)
    tested = evaluate_streams(replace(plain, default=choice), cases)
    tp, fp = (tuple(getattr(stream, name) for stream in tested.streams) for name in ("tp", "fp"))
    return maker.counted(replace(choice, tp=tp, fp=fp, cost=tested.cost), cases)
