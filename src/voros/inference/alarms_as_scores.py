"""Policies of every kind as thresholds on their own alarms, so that one comparison serves all.

What a joint policy or a worklist decides on given cases is fixed: an alarm is a score of 1, no
alarm one of 0, and the threshold is between them. Outcomes of the same cases are put below one
another, and the rows of a case are drawn together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voros.allocation.joint_policy import AnyPolicy, JointPolicy, policy_cases
from voros.core.arrays import as_vector
from voros.core.cases import read_labels
from voros.core.hull import Choice
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.inference.bootstrap import Resampling
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.violations import Violation
from voros.policy.worklists import Worklist
from voros.typing import AnyArray, BoolArray


@dataclass(frozen=True, kw_only=True)
class DecidedCases:
    """Labels, and for each policy scores with the thresholds on them.

    Attributes
    ----------
    y_true : array-like
    scores : dict of str to array-like
    policies : dict of str to ThresholdPolicy
    violations : dict of str to tuple of Violation
        Of the policies whose limits are not those of one threshold.
    how : Resampling
        With the units of the labels.
    """

    y_true: Any
    scores: dict[str, Any]
    policies: dict[str, ThresholdPolicy]
    violations: dict[str, tuple[Violation, ...]]
    how: Resampling


def decide_all(
    y_true: Any, scores: dict[str, Any], policies: Mapping[str, AnyPolicy], by: Any, how: Resampling
) -> DecidedCases:
    """Decide on the cases with every policy that is not one of thresholds."""
    own = {name: one for name, one in policies.items() if isinstance(one, ThresholdPolicy)}
    others = {name: one for name, one in policies.items() if not isinstance(one, ThresholdPolicy)}
    if not others:
        return DecidedCases(y_true=y_true, scores=scores, policies=own, violations={}, how=how)
    several = any(map(_has_outcomes, others.values()))
    if not several:
        y_true, how = read_labels(y_true, how.pos_label), replace(how, pos_label=None)
    violations = {
        name: _violations(policy, y_true, scores[name], by, how) for name, policy in others.items()
    }
    if several:
        labels, alarms, how = _stacked(y_true, scores, policies, how)
    else:
        labels = y_true
        alarms = {name: _alarms(policy, scores[name], by, how) for name, policy in others.items()}
    thresholds = own | {
        name: _on_alarms(_scenario(p, name), labels, alarms[name]) for name, p in others.items()
    }
    return DecidedCases(
        y_true=labels,
        scores=scores | {name: column.astype(float) for name, column in alarms.items()},
        policies={name: thresholds[name] for name in policies},
        violations=violations,
        how=how,
    )


def _alarms(policy: JointPolicy | Worklist, scores: Any, by: Any, how: Resampling) -> BoolArray:
    if isinstance(policy, Worklist):
        return policy.predict(scores, periods=how.periods, times=how.times)
    return np.asarray(policy.predict(scores, by=by))


def _stacked(
    y_true: Any, scores: dict[str, Any], policies: Mapping[str, AnyPolicy], how: Resampling
) -> tuple[BoolArray, dict[str, BoolArray], Resampling]:
    """Put the outcomes of the same cases below one another; rows of a case are drawn together."""
    if how.pos_label is not None:
        raise ArgumentError("pos_label", f"={how.pos_label!r} is for one column of labels")
    joint = {n: p for n, p in policies.items() if isinstance(p, JointPolicy) and _has_outcomes(p)}
    if len(joint) < len(policies) or len({frozenset(p.names) for p in joint.values()}) > 1:
        raise ArgumentError(
            "policies",
            " hold a joint policy of several outcomes; accepted beside it are joint policies of "
            "the same outcomes",
        )
    cases = {name: policy_cases(p, scores[name], y_true=y_true) for name, p in joint.items()}
    first = next(iter(cases.values()))
    alarms = {
        name: np.concatenate(
            [cases[name].alarms(stream, policy.thresholds()[stream]) for stream in first.scores]
        )
        for name, policy in joint.items()
    }

    def repeated(values: Any, name: str) -> AnyArray | None:
        return None if values is None else np.tile(as_vector(values, name), len(first.scores))

    in_time = how.periods is not None or how.times is not None
    groups = np.arange(first.n_cases) if how.groups is None and not in_time else how.groups
    drawn = replace(
        how,
        groups=repeated(groups, "groups"),
        periods=repeated(how.periods, "periods"),
        times=repeated(how.times, "times"),
    )
    return np.concatenate(list(first.positive.values())), alarms, drawn


def _has_outcomes(policy: AnyPolicy) -> bool:
    return isinstance(policy, JointPolicy) and policy.arrangement != "groups"


def _on_alarms(scenario: Scenario, positive: BoolArray, alarms: BoolArray) -> ThresholdPolicy:
    """Return the threshold between the cases with and without an alarm."""
    points = OperatingPoints.from_scores(positive, alarms.astype(float))
    index = int(np.flatnonzero(points.thresholds >= 1)[-1])
    choice = Choice.at(points, index, 0.0, math.inf)
    return ThresholdPolicy(
        scenario=scenario,
        strategy="single",
        choices=(choice,),
        default=choice,
        n_positive=points.n_positive,
        n_negative=points.n_negative,
    )


def _scenario(policy: JointPolicy | Worklist, name: str) -> Scenario:
    """Return the costs of a policy, which its streams must share, with its periods."""
    if isinstance(policy, Worklist):
        return policy.scenario
    if policy.values is not None:
        raise ArgumentError(
            f"policies[{name!r}]", " was decided on values of cases, which are not compared here"
        )
    first, *others = policy.scenarios
    differ = any((s.costs, s.prevalence) != (first.costs, first.prevalence) for s in others)
    if differ or len(set(policy.miss_weights)) > 1:
        raise ArgumentError(
            f"policies[{name!r}]",
            " has streams with costs or weights of their own, whose costs cannot be compared as "
            "one",
        )
    limits = policy.limit.scenario or Scenario(cost_ratio=1.0)
    return replace(limits, cost_ratio=first.costs, prevalence=first.prevalence)


def _violations(
    policy: JointPolicy | Worklist, y_true: Any, scores: Any, by: Any, how: Resampling
) -> tuple[Violation, ...]:
    """Name the limits that a policy breaks."""
    when = {"periods": how.periods, "times": how.times}
    if isinstance(policy, Worklist):
        tested = policy.evaluate(y_true, scores, pos_label=True, **when)
        return tested.worklist.violations
    joint = policy.evaluate(y_true, scores, by=by, **(when if policy.limit.scenario else {}))
    broken = [
        _violation("precision", s.min_precision, s.precision, f"in {s.name!r}")
        for s in joint.streams
        if not s.floor_kept
    ]
    above = joint.by_period
    if joint.alarms > joint.max_alarms:
        broken.append(_violation("capacity", joint.max_alarms, joint.alarms, ""))
    elif above is not None and above.most_above is not None and not above.kept:
        broken.append(_violation("capacity", above.most_above, above.n_above, "periods above"))
    return tuple(broken)


def _violation(limit: Any, bound: float, worst: float, measure: str) -> Violation:
    return Violation(
        limit=limit,
        bound=bound,
        worst=worst,
        missed_by=abs(worst - bound),
        probability=1.0,
        where=(),
        measure=measure,
    )
