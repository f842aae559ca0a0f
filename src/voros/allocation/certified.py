r"""A guarantee for a joint policy: all floors and the shared capacity hold in the population.

The cases are split in two halves at random. On the first, joint policies are chosen with limits
tightened by falling margins: the candidates, safest first. On the second they are tested. With n
streams, alpha is split over n + 1 families of hypotheses (Bonferroni):

- stream i: *candidate l breaks the floor of stream i*. Given the number of alarms, the true
  positives are binomial, and the test is exact. A candidate that never alarms in the stream passes.
- capacity: *candidate l raises more than the share K of alarms for a case*. Exact binomial where a
  case raises one alarm at most; otherwise by betting on the sum of its alarms.

In each family the tests run in the fixed order of the candidates and stop at the first that fails
(fixed-sequence testing), each at its share of alpha. What is deployed is a candidate whose capacity
passed, with never alarm in place of every stream whose floor did not. That only takes alarms away,
so the capacity still holds, and the probability that any limit is broken is at most alpha.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from voros.allocation.choices import Certificate, JointChoice, JointPromise
from voros.allocation.evaluation import evaluate_streams
from voros.allocation.joint_policy import JointPolicy
from voros.allocation.streams import StreamCases
from voros.core.arrays import AnyArray, BoolArray
from voros.core.decision import Decision
from voros.core.shared_capacity import SharedChoice, share_capacity
from voros.exceptions import ArgumentError, NeverAlarmWarning, warn_caller
from voros.guarantee import Guarantee
from voros.guarantee.betting import final_wealth

if TYPE_CHECKING:
    from voros.allocation.allocate import JointMaker

MARGINS = tuple(np.arange(20, -1, -1) * 0.25)
"""How far the limits of the candidates are tightened, in standard errors, safest first."""

COUNTED = 0.95
"""Confidence of intervals that nobody looks at: only the counts are used."""


@dataclass(frozen=True)
class JointGuarantee:
    """A confidence that all limits of a joint policy hold in the population."""

    confidence: float

    @classmethod
    def of(cls, guarantee: object, by_cost: bool, overlap: str) -> JointGuarantee:
        """Read a guarantee, and refuse what it cannot promise."""
        if not isinstance(guarantee, Guarantee):
            raise TypeError(f"guarantee={guarantee!r}; accepted is a voros.Guarantee")
        if guarantee.horizon is not None:
            raise ArgumentError(
                "horizon",
                f"={guarantee.horizon}; a joint policy is promised for the population only",
            )
        if by_cost or overlap == "once":
            refused = "by_cost=True" if by_cost else "overlap='once'"
            raise ArgumentError("guarantee", f" and {refused} exclude one another")
        return cls(guarantee.confidence)


@dataclass(frozen=True)
class _Candidate:
    """Thresholds of all streams, and how they were found."""

    thresholds: tuple[float, ...]
    found: SharedChoice


def certify(
    maker: JointMaker, cases: StreamCases, guarantee: JointGuarantee, random_state: int
) -> JointPolicy:
    """Choose on one half of the cases, test on the other, and deploy what passed."""
    _check_own_capacity(maker)
    with warnings.catch_warnings():
        # What the limits allow before any test is not what will be deployed.
        warnings.simplefilter("ignore", NeverAlarmWarning)
        plain = maker.make(cases)
    order = np.random.default_rng(random_state).permutation(cases.n_cases)
    chosen_on, tested_on = (cases.take(half) for half in np.array_split(order, 2))
    share = plain.max_alarms / cases.n_cases
    candidates = _candidates(maker, chosen_on, share)
    alpha = (1.0 - guarantee.confidence) / (len(plain.names) + 1)
    precise = _floors_passed(maker, tested_on, candidates, alpha)
    capable = _capacity_passed(chosen_on, tested_on, candidates, share, alpha)
    return _deploy(plain, cases, candidates, precise & capable[:, None], tested_on, guarantee)


def _check_own_capacity(maker: JointMaker) -> None:
    for name, scenario in maker.scenarios.items():
        if scenario.capacity_is_count or scenario.capacity < 1:
            raise ArgumentError(
                "capacity",
                f"={scenario.capacity!r} of stream {name!r}: a guarantee is for the floors and the "
                "shared capacity; leave the stream's own at 1.0",
            )


def _candidates(maker: JointMaker, cases: StreamCases, share: float) -> list[_Candidate]:
    """Solve with all limits tightened by standard errors of these cases, the safest first."""
    points = {name: cases.points(name) for name in maker.scenarios}
    most = share * cases.n_cases
    found = []
    for margin in MARGINS:
        left = max(most - margin * float(np.sqrt(most)), 0.0)
        plain = maker.problem(points, left, share_capacity)
        decisions = tuple(_tightened(decision, margin) for decision in plain.decisions)
        choice = replace(plain, decisions=decisions).choose(plain.mean_ratios)
        rows = zip(decisions, choice.rows, strict=True)
        found.append(_Candidate(tuple(float(d.points.thresholds[r]) for d, r in rows), choice))
    return found


def _tightened(decision: Decision, margin: float) -> Decision:
    floor, points = decision.scenario.min_precision, decision.points
    needed = floor * points.alarms + margin * np.sqrt(floor * (1 - floor) * points.alarms)
    feasible = decision.feasible & (points.tp >= needed)
    feasible[0] = True
    return replace(decision, feasible=feasible)


def _in_sequence(passed: AnyArray) -> BoolArray:
    """Stop at the first test that fails, column by column."""
    return np.asarray(np.logical_and.accumulate(passed, axis=0))


def _floors_passed(
    maker: JointMaker, cases: StreamCases, candidates: Sequence[_Candidate], alpha: float
) -> BoolArray:
    """Test the floor of each stream at each candidate; shape (n_candidates, n_streams)."""
    passed = [
        [
            _floor_passes(cases, name, candidate.thresholds[i], scenario.min_precision, alpha)
            for i, (name, scenario) in enumerate(maker.scenarios.items())
        ]
        for candidate in candidates
    ]
    return _in_sequence(np.array(passed))


def _floor_passes(
    cases: StreamCases, name: str, threshold: float, floor: float, alpha: float
) -> bool:
    from scipy.special import bdtrc

    if np.isposinf(threshold) or floor == 0:
        return True
    alarmed = cases.alarms(name, threshold)
    n_alarms = int(np.count_nonzero(alarmed))
    tp = int(np.count_nonzero(alarmed & cases.positive[name]))
    # The probability of at least as many true positives, were the precision just the floor.
    return n_alarms > 0 and tp > 0 and bool(bdtrc(tp - 1, n_alarms, floor) <= alpha)


def _capacity_passed(
    chosen_on: StreamCases,
    tested_on: StreamCases,
    candidates: Sequence[_Candidate],
    share: float,
    alpha: float,
) -> BoolArray:
    """Test the mean number of alarms of a case at each candidate."""
    from scipy.special import bdtr

    if tested_on.arrangement != "outcomes":
        counts = _alarm_counts(tested_on, candidates).sum(axis=0)
        n_cases = tested_on.n_cases
        passed = (share >= 1) | (bdtr(counts, n_cases, min(share, 1.0)) <= alpha)
        return _in_sequence(passed | (counts == 0) & _never(candidates))
    learned, draws = (share - _alarm_counts(half, candidates) for half in (chosen_on, tested_on))
    loss = max(len(tested_on.scores) - share, share)
    wealth = final_wealth(learned, draws, loss, np.full(len(candidates), alpha))
    enough = share >= len(tested_on.scores)
    return _in_sequence((wealth >= 1 / alpha) | _never(candidates) | enough)


def _never(candidates: Sequence[_Candidate]) -> BoolArray:
    return np.array([np.isposinf(candidate.thresholds).all() for candidate in candidates])


def _alarm_counts(cases: StreamCases, candidates: Sequence[_Candidate]) -> AnyArray:
    """Alarms of each case at each candidate; shape (n_cases, n_candidates)."""
    return np.column_stack(
        [
            sum(
                cases.alarms(name, threshold).astype(np.float64)
                for name, threshold in zip(cases.scores, candidate.thresholds, strict=True)
            )
            for candidate in candidates
        ]
    )


def _deploy(
    plain: JointPolicy,
    cases: StreamCases,
    candidates: Sequence[_Candidate],
    passed: BoolArray,
    tested_on: StreamCases,
    guarantee: JointGuarantee,
) -> JointPolicy:
    """Of the candidates that passed, take the one of least cost on all cases."""
    choices = [
        _on_all_cases(plain, cases, candidate.thresholds, certified)
        for candidate, certified in zip(candidates, passed, strict=True)
    ]
    best = int(np.argmin([choice.cost for choice in choices]))
    chosen, found = choices[best], candidates[best].found
    never = [bool(np.isposinf(threshold)) for threshold in chosen.thresholds]
    uncertified = tuple(name for name, none in zip(plain.names, never, strict=True) if none)
    warn_uncertified(uncertified, guarantee)
    proof = Certificate(found.relaxed_cost, found.shadow_price, found.n_states, found.resolution)
    promise = JointPromise(guarantee.confidence, tested_on.n_cases, uncertified)
    return replace(plain, default=chosen, certificate=proof, promise=promise)


def warn_uncertified(uncertified: tuple[str, ...], guarantee: JointGuarantee) -> None:
    """Warn of streams that never alarm because nothing else could be promised."""
    if uncertified:
        warn_caller(
            f"with confidence {guarantee.confidence:g} no threshold keeps the limits of "
            f"{', '.join(map(repr, uncertified))}, so never alarm is deployed there; more cases, a "
            "lower floor or a larger capacity would help",
            NeverAlarmWarning,
        )


def _on_all_cases(
    plain: JointPolicy, cases: StreamCases, thresholds: Sequence[float], certified: BoolArray
) -> JointChoice:
    """Count what certified thresholds do on all cases; the others never alarm."""
    kept = tuple(
        threshold if sure else float("inf")
        for threshold, sure in zip(thresholds, certified, strict=True)
    )
    nothing = (0,) * len(kept)
    choice = JointChoice(0.0, 1.0, kept, nothing, nothing, 0.0)
    tested = evaluate_streams(plain, cases, choice, plain.limit, COUNTED)
    tp, fp = (tuple(getattr(each, name) for each in tested.streams) for name in ("tp", "fp"))
    return replace(choice, tp=tp, fp=fp, cost=tested.cost)
