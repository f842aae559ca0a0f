"""One threshold for all subgroups, or one for each: what each rule costs, and what it does to whom.

Every rule keeps one capacity and takes the thresholds of least total cost that it allows:

- ``one``: one threshold; the precision floor holds over all cases together.
- ``one_with_floors``: one threshold; the floor holds in each subgroup as well.
- ``per_subgroup``: a threshold for each subgroup, the floor in each (`voros.allocate`).
- ``equal_recall``: as ``per_subgroup``, and the recalls of any two subgroups differ by a stated gap
  at most. Every possible lowest recall is tried: given the lowest, each subgroup has a window of
  recalls, and what is left is the problem of ``per_subgroup`` within the windows.
- ``guaranteed``: with a guarantee; a threshold for each subgroup, none below a common one that
  keeps the capacity in the population, and each keeping its subgroup's floor there. Alpha is split
  between the capacity and the subgroups (Bonferroni). The capacity takes one exact test for all
  common thresholds, the floor of a subgroup a fixed sequence of exact tests
  (`voros.guarantee.binomial_tests`). Thresholds at or above the common one raise no more alarms
  than it does, so all limits hold together. No subgroup uses what another leaves of the capacity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.allocation.allocate import allocate
from voros.allocation.certified import warn_uncertified
from voros.allocation.joint_policy import JointPolicy
from voros.allocation.problem import JointChoice, JointPromise, mean_ratio
from voros.allocation.streams import StreamCases, read_streams
from voros.core.alignment import check_aligned
from voros.core.arguments import check_choice, check_number
from voros.core.exact_limits import as_fraction
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.core.shared_capacity import Certificate, Stream, as_cost, share_capacity
from voros.core.subgroups import FEWEST_CASES, Subgroups
from voros.exceptions import ArgumentError
from voros.guarantee import Guarantee
from voros.guarantee.binomial_tests import alpha_shares, most_counted, sequence_passed
from voros.io.frames import make_frame
from voros.policy.allowed import check_guarantee
from voros.text.numbers import short, signed
from voros.text.table import ReprMixin, Table
from voros.typing import AnyArray, BoolArray

SubgroupRule: TypeAlias = Literal[
    "one", "one_with_floors", "per_subgroup", "equal_recall", "guaranteed"
]

RULE_TITLES: dict[SubgroupRule, str] = {
    "one": "one threshold",
    "one_with_floors": "one threshold, floor in each subgroup",
    "per_subgroup": "a threshold per subgroup, floor in each",
    "equal_recall": "a threshold per subgroup, floor in each, equal recall",
    "guaranteed": "a threshold per subgroup, all limits guaranteed",
}
"""Rules as people read them."""


@dataclass(frozen=True, repr=False)
class SubgroupThresholds(ReprMixin):
    """Thresholds for subgroups by several rules, and what each costs on the same cases.

    Attributes
    ----------
    policies : dict of str to JointPolicy
        By rule: "one", "one_with_floors", "per_subgroup", "equal_recall" and, if a guarantee was
        asked for, "guaranteed".
    recall_gap : float
        How far the recalls of two subgroups may differ under "equal_recall".

    Examples
    --------
    >>> import voros
    >>> y, s = [1, 1, 0, 0, 1, 0, 0, 1, 0, 0], [9, 8, 7, 6, 5, 9, 8, 7, 6, 5]
    >>> ward, scenario = ["a"] * 5 + ["b"] * 5, voros.Scenario(0.3, 0.5, cost_ratio=0.1)
    >>> result = voros.compare_subgroup_thresholds(y, s, scenario, by=ward, min_cases=5)
    >>> {rule: round(result.extra_cost(rule), 4) for rule in result.policies}
    {'one': 0.0, 'one_with_floors': 1.8, 'per_subgroup': -1.0, 'equal_recall': 1.8}
    """

    policies: dict[SubgroupRule, JointPolicy]
    recall_gap: float

    def policy(self, rule: SubgroupRule) -> JointPolicy:
        """Return the policy of a rule; its `predict` and `evaluate` take each case's subgroup."""
        check_choice(rule, "rule", tuple(self.policies))
        return self.policies[rule]

    def extra_cost(self, rule: SubgroupRule) -> float:
        """Return what a rule costs beyond one threshold for all, in misses."""
        return self.policy(rule).default.cost - self.policies["one"].default.cost

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each rule and subgroup, column by column."""
        rows = [row for rule, policy in self.policies.items() for row in _rows(rule, policy)]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each rule and subgroup."""
        return make_frame(self.columns(), backend)

    def table(self) -> Table:
        """Return a row for each rule: its cost, and the subgroups that fare worst under it."""
        head = ("rule", "cost", "beyond one", "alarms", "misses")
        worst = ("lowest precision", "lowest recall", "highest recall")
        return Table.from_rows([(*head, *worst), *map(self._cells, self.policies)])

    def _cells(self, rule: SubgroupRule) -> tuple[str, ...]:
        rows = _rows(rule, self.policies[rule])
        raising = [row for row in rows if row["alarms"]]
        precision = min(raising, key=lambda row: row["precision"], default=None)
        low, high = (pick(rows, key=lambda row: row["recall"]) for pick in (min, max))
        return (
            RULE_TITLES[rule],
            short(self.policies[rule].default.cost),
            signed(self.extra_cost(rule)),
            f"{sum(row['alarms'] for row in rows):,}",
            f"{sum(row['misses'] for row in rows):,}",
            "" if precision is None else f"{short(precision['precision'])} {precision['subgroup']}",
            f"{short(low['recall'])} {low['subgroup']}",
            f"{short(high['recall'])} {high['subgroup']}",
        )

    def _parts(self) -> tuple[Table]:
        return (self.table(),)


def compare_subgroup_thresholds(
    y_true: Any,
    y_score: Any,
    scenario: Scenario,
    *,
    by: Any,
    recall_gap: float = 0.05,
    min_cases: int = FEWEST_CASES,
    guarantee: Guarantee | None = None,
) -> SubgroupThresholds:
    """Compare one threshold for all subgroups with one for each, under one capacity.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_cases,)
    scenario : Scenario
        Its capacity is shared by all subgroups; its precision floor is that of each subgroup, and
        under the rule "one" that of all cases together. Costs are taken at the mean cost ratio.
    by : array-like of shape (n_cases,)
        The subgroup of each case; a mapping or data frame has one column.
    recall_gap : float within [0, 1], default 0.05
        How far the recalls of two subgroups may differ under "equal_recall".
    min_cases : int, default 10
        Smaller subgroups are refused, by name.
    guarantee : Guarantee, optional
        Add the rule "guaranteed": the floor of every subgroup and the capacity hold in the
        population, all together with this confidence.

    Returns
    -------
    SubgroupThresholds

    Warns
    -----
    NeverAlarmWarning
        For each subgroup that no threshold but never alarm is left to, by the rule "per_subgroup"
        or by the guarantee.

    Examples
    --------
    >>> import voros
    >>> y = [1, 1, 0, 0, 1, 0, 0, 1, 0, 0]
    >>> s = [9, 8, 7, 6, 5, 9, 8, 7, 6, 5]
    >>> ward = ["a", "a", "a", "a", "a", "b", "b", "b", "b", "b"]
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.5, cost_ratio=0.1)
    >>> result = voros.compare_subgroup_thresholds(y, s, scenario, by=ward, min_cases=5)
    >>> result.policy("one").thresholds(), result.policy("per_subgroup").thresholds()
    ({'a': 8.0, 'b': 8.0}, {'a': 5.0, 'b': inf})
    """
    check_scenario(scenario)
    check_aligned(y_true=y_true, y_score=y_score, by=by)
    gap = check_number(recall_gap, "recall_gap")
    _check_capacity(scenario)
    subgroups = _one_column(Subgroups.from_columns(by, min_cases=min_cases, small="refuse"))
    own = scenario.changed(capacity=1.0)
    cases = read_streams(y_true, y_score, by=subgroups)
    separate = allocate(y_true, y_score, own, capacity=scenario.capacity, by=subgroups)
    search = _Search.from_policy(separate, cases, scenario)
    one, floors = search.one_threshold()
    policies: dict[SubgroupRule, JointPolicy] = {
        "one": one,
        "one_with_floors": floors,
        "per_subgroup": separate,
        "equal_recall": search.equal_recall(gap),
    }
    if guarantee is not None:
        policies["guaranteed"] = search.guaranteed(_of_population(guarantee))
    return SubgroupThresholds(policies, gap)


def _check_capacity(scenario: Scenario) -> None:
    if scenario.per is not None:
        raise ArgumentError(
            "per",
            f"={scenario.per!r}: thresholds for subgroups share a capacity over all cases; "
            "accepted is a scenario without periods",
        )


def _of_population(guarantee: object) -> Guarantee:
    sure = check_guarantee(guarantee)
    if sure.block > 1:
        raise ArgumentError("block", f"={sure.block}: there is no capacity per period here")
    if sure.horizon is not None:
        raise ArgumentError(
            "horizon",
            f"={sure.horizon}: thresholds for subgroups are promised for the population; that of "
            "the next cases is voros.allocate(..., by=..., guarantee=...)",
        )
    return sure


def _one_column(subgroups: Subgroups) -> AnyArray:
    """Return the name of each case's subgroup."""
    if len(subgroups.partitions) > 1:
        listed = ", ".join(repr(part.column) for part in subgroups.partitions)
        raise ArgumentError(
            "by",
            f" has the columns {listed}; a case has one threshold, so accepted is one column: join "
            "them, as in sex + ', ' + site",
        )
    (part,) = subgroups.partitions
    return np.array(part.names)[part.codes]


@dataclass(frozen=True, eq=False)
class _Search:
    """Subgroups, their costs and limits, and policies made of chosen points."""

    separate: JointPolicy
    cases: StreamCases
    points: tuple[OperatingPoints, ...]
    ratios: tuple[Fraction, ...]
    floor: Fraction

    @classmethod
    def from_policy(cls, separate: JointPolicy, cases: StreamCases, scenario: Scenario) -> _Search:
        points = tuple(cases.points(name) for name in separate.names)
        ratios = (mean_ratio(scenario.costs, curve.negatives_per_positive) for curve in points)
        floor = as_fraction(scenario.min_precision)
        return cls(separate, cases, points, tuple(map(as_cost, ratios)), floor)

    def one_threshold(self) -> tuple[JointPolicy, JointPolicy]:
        """Try every threshold: with the floor over all cases, and in each subgroup as well."""
        shown = np.unique(np.concatenate([curve.thresholds for curve in self.points]))[::-1]
        # The point of each threshold: the last whose own threshold is not below it.
        rows = [np.searchsorted(-p.thresholds, -shown, side="right") - 1 for p in self.points]
        pairs = list(zip(self.points, rows, strict=True))
        tp, fp = (np.array([getattr(p, name)[r] for p, r in pairs]) for name in ("tp", "fp"))
        within = (tp + fp).sum(axis=0) <= self.separate.max_alarms
        together = within & self._precise(tp.sum(axis=0), fp.sum(axis=0))
        in_each = together & self._precise(tp, fp).all(axis=0)
        one = self._cheapest(shown, tp, fp, together)
        # The floor holds over all cases, and in no subgroup by itself.
        scenarios = tuple(scenario.changed(min_precision=0.0) for scenario in one.scenarios)
        return replace(one, scenarios=scenarios), self._cheapest(shown, tp, fp, in_each)

    def _precise(self, tp: AnyArray, fp: AnyArray) -> BoolArray:
        high, low = self.floor.denominator - self.floor.numerator, self.floor.numerator
        return np.asarray(high * tp >= low * fp)

    def _cheapest(
        self, thresholds: AnyArray, tp: AnyArray, fp: AnyArray, allowed: BoolArray
    ) -> JointPolicy:
        """Take the allowed threshold of least cost; of equals, the one with fewest alarms."""
        columns = np.flatnonzero(allowed)
        costs = [self._cost(tp[:, i], fp[:, i]) for i in columns]
        best = int(columns[min(range(len(columns)), key=costs.__getitem__)])
        raising = thresholds[best] if (tp[:, best] + fp[:, best]).any() else np.inf
        chosen = [float(raising)] * len(self.points)
        return self._policy(chosen, tp[:, best], fp[:, best], len(columns))

    def _cost(self, tp: AnyArray, fp: AnyArray) -> Fraction:
        return sum(
            (
                ratio * int(n_fp) + int(curve.n_positive) - int(n_tp)
                for curve, ratio, n_tp, n_fp in zip(self.points, self.ratios, tp, fp, strict=True)
            ),
            Fraction(0),
        )

    def _policy(
        self, thresholds: Sequence[float], tp: AnyArray, fp: AnyArray, n_states: int
    ) -> JointPolicy:
        cost = float(self._cost(tp, fp))
        choice = JointChoice(
            thresholds=tuple(thresholds),
            tp=tuple(tp.tolist()),
            fp=tuple(fp.tolist()),
            cost=cost,
        )
        # Every choice was tried, so the bound is the cost; one more alarm has no known price.
        proof = Certificate(cost, None, n_states, 0.0)
        return replace(self.separate, default=choice, certificate=proof)

    def equal_recall(self, gap: float) -> JointPolicy:
        """Try every lowest recall, and take the cheapest thresholds within the gap above it."""
        allowed = [self._precise(curve.tp, curve.fp) for curve in self.points]
        best: tuple[Fraction, float, tuple[int, ...]] | None = None
        tried = 0
        for lowest in self._recalls(allowed):
            rows = self._within(lowest, lowest + as_fraction(gap), allowed)
            if rows is None:
                continue
            tried += 1
            tp, fp = self._counts(rows)
            candidate = self._cost(tp, fp), float((tp + fp).sum()), rows
            best = candidate if best is None or candidate < best else best
        assert best is not None, "never alarm everywhere has equal recalls"
        tp, fp = self._counts(best[2])
        chosen = [float(p.thresholds[r]) for p, r in zip(self.points, best[2], strict=True)]
        return self._policy(chosen, tp, fp, tried)

    def guaranteed(self, guarantee: Guarantee) -> JointPolicy:
        """Take in each subgroup the cheapest threshold that passes its tests."""
        names, most = self.separate.names, self.separate.max_alarms
        n_cases, floor = self.cases.n_cases, float(self.floor)
        alpha, for_capacity = alpha_shares(guarantee.alpha, floor, most, n_cases)
        # The lowest threshold at which all subgroups together raise few enough alarms.
        columns = (self.cases.positive, self.cases.scores)
        all_cases = OperatingPoints.from_scores(*(column[names[0]] for column in columns))
        safe = most_counted(n_cases, most, None, for_capacity)
        lowest = float(all_cases.thresholds[all_cases.alarms <= max(safe, 0)][-1])
        rows = [
            _cheapest_row(curve, _certified(curve, floor, alpha / len(names), lowest), ratio)
            for curve, ratio in zip(self.points, self.ratios, strict=True)
        ]
        chosen = [float(p.thresholds[r]) for p, r in zip(self.points, rows, strict=True)]
        policy = self._policy(chosen, *self._counts(rows), sum(map(len, self.points)))
        uncertified = tuple(name for name, t in zip(names, chosen, strict=True) if np.isposinf(t))
        warn_uncertified(uncertified, guarantee)
        promise = JointPromise(
            confidence=guarantee.only_confidence, n_tested=n_cases, uncertified=uncertified
        )
        return replace(policy, promise=promise)

    def _counts(self, rows: Sequence[int]) -> tuple[AnyArray, AnyArray]:
        pairs = list(zip(self.points, rows, strict=True))
        return np.array([p.tp[r] for p, r in pairs]), np.array([p.fp[r] for p, r in pairs])

    def _recalls(self, allowed: Sequence[BoolArray]) -> Iterator[Fraction]:
        recalls = {
            Fraction(int(tp), int(curve.n_positive))
            for curve, rows in zip(self.points, allowed, strict=True)
            for tp in np.unique(curve.tp[rows])
        }
        return iter(sorted(recalls))

    def _within(
        self, low: Fraction, high: Fraction, allowed: Sequence[BoolArray]
    ) -> tuple[int, ...] | None:
        """Return the cheapest points whose recalls lie between two, or None where there are none.

        Each subgroup starts at its allowed point of fewest alarms, as if that were never alarm.
        """
        windows = [
            _window(curve, low, high, rows)
            for curve, rows in zip(self.points, allowed, strict=True)
        ]
        if any(len(window) == 0 for window in windows):
            return None
        used = sum(int(p.alarms[w[0]]) for p, w in zip(self.points, windows, strict=True))
        left = self.separate.max_alarms - used
        if left < 0:
            return None
        streams = [
            _stream(curve, window, ratio)
            for curve, window, ratio in zip(self.points, windows, self.ratios, strict=True)
        ]
        rows_within = share_capacity(streams, left).rows
        return tuple(int(window[row]) for window, row in zip(windows, rows_within, strict=True))


def _certified(points: OperatingPoints, floor: float, alpha: float, lowest: float) -> BoolArray:
    """Return the points at or above a threshold that keep the floor in the population."""
    passed = points.thresholds >= lowest
    if floor:
        passed &= sequence_passed(points.tp, points.alarms, floor, alpha, int(points.n_cases))
    passed[0] = True
    return np.asarray(passed)


def _cheapest_row(points: OperatingPoints, allowed: BoolArray, ratio: Fraction) -> int:
    """Return the allowed point of least cost; of equals, the one with fewest alarms."""
    rows = np.flatnonzero(allowed).tolist()
    return int(min(rows, key=lambda row: ratio * int(points.fp[row]) - int(points.tp[row])))


def _window(points: OperatingPoints, low: Fraction, high: Fraction, allowed: BoolArray) -> AnyArray:
    """Return the allowed points with a recall between two, exactly."""
    least, most = low * int(points.n_positive), high * int(points.n_positive)
    enough = points.tp >= -(-least.numerator // least.denominator)
    return np.flatnonzero(allowed & enough & (points.tp <= most.numerator // most.denominator))


def _stream(points: OperatingPoints, window: AnyArray, ratio: Fraction) -> Stream:
    tp, fp = points.tp[window] - points.tp[window[0]], points.fp[window] - points.fp[window[0]]
    moved = OperatingPoints(points.thresholds[window], tp, fp, points.n_positive, points.n_negative)
    return Stream(moved, np.ones(len(window), dtype=np.bool_), ratio, Fraction(1))


def _rows(rule: SubgroupRule, policy: JointPolicy) -> list[dict[str, Any]]:
    choice = policy.default
    return [
        {
            "rule": rule,
            "subgroup": name,
            "threshold": threshold,
            "positives": positives,
            "alarms": tp + fp,
            "misses": positives - tp,
            "precision": tp / (tp + fp) if tp + fp else float("nan"),
            "recall": tp / positives,
        }
        for name, threshold, tp, fp, (positives, _) in zip(
            policy.names, choice.thresholds, choice.tp, choice.fp, policy.sizes, strict=True
        )
    ]
