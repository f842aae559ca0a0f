"""Policies of every kind as thresholds on their own alarms, so that one comparison serves all.

What a joint policy or a worklist decides on given cases is fixed: an alarm is a score of 1, no
alarm one of 0, and the threshold is 1. Outcomes of the same cases are put below one another, and
the rows of a case are drawn together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voros.allocation.joint_policy import AnyPolicy, JointPolicy, policy_cases
from voros.core.arrays import as_vector, named_columns
from voros.core.cases import read_labels
from voros.core.hull import Choice
from voros.core.scenario import Scenario
from voros.core.worth import compared_scores
from voros.exceptions import ArgumentError
from voros.inference.bootstrap import Resampling
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.violations import Violation
from voros.policy.worklists import Worklist
from voros.typing import AnyArray

ALARM = 1.0
"""The score of an alarm, and the threshold."""


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
    y_true: Any, scores: Any, policies: Mapping[str, AnyPolicy], by: Any, how: Resampling
) -> DecidedCases:
    """Decide on the cases with every policy that is not one of thresholds."""
    columns = dict(named_columns(scores, "scores") or ())
    if any(map(_has_outcomes, policies.values())):
        return _stacked(y_true, columns, policies, how)
    others = {n: p for n, p in policies.items() if not isinstance(p, ThresholdPolicy)}
    if others:
        y_true, how = read_labels(y_true, how.pos_label), replace(how, pos_label=None)
    when = {"periods": how.periods, "times": how.times}
    thresholds = {n: p for n, p in policies.items() if isinstance(p, ThresholdPolicy)}
    for name, own in thresholds.items():
        # What thresholds are compared with takes the place of the scores.
        columns[name] = compared_scores(columns[name], how.miss_value, own.threshold_on)
        thresholds[name] = own.comparing("score")
    violations = {}
    for name, policy in others.items():
        if isinstance(policy, Worklist):
            tested = policy.evaluate(y_true, columns[name], **when).worklist
            violations[name] = tested.violations
            columns[name] = policy.predict(columns[name], **when).astype(float)
        else:
            violations[name] = _violations(policy, y_true, columns[name], by, how)
            columns[name] = np.asarray(policy.predict(columns[name], by=by)).astype(float)
        thresholds[name] = _on_alarms(policy, name)
    return DecidedCases(
        y_true=y_true,
        scores=columns,
        policies={name: thresholds[name] for name in policies},
        violations=violations,
        how=how,
    )


def _stacked(
    y_true: Any, columns: dict[str, Any], policies: Mapping[str, AnyPolicy], how: Resampling
) -> DecidedCases:
    """Put the outcomes of the same cases below one another."""
    joint = _with_same_outcomes(policies)
    if how.pos_label is not None:
        raise ArgumentError("pos_label", f"={how.pos_label!r} is for one column of labels")
    cases = {name: policy_cases(p, columns[name], y_true=y_true) for name, p in joint.items()}
    first = next(iter(cases.values()))
    alarms = {
        name: [cases[name].alarms(stream, policy.thresholds()[stream]) for stream in first.scores]
        for name, policy in joint.items()
    }
    return DecidedCases(
        y_true=np.concatenate(list(first.positive.values())),
        scores={name: np.concatenate(parts).astype(float) for name, parts in alarms.items()},
        policies={name: _on_alarms(policy, name) for name, policy in joint.items()},
        violations={
            name: _violations(policy, y_true, columns[name], None, how)
            for name, policy in joint.items()
        },
        how=_tiled(how, first.n_cases, len(first.scores)),
    )


def _has_outcomes(policy: AnyPolicy) -> bool:
    return isinstance(policy, JointPolicy) and policy.arrangement != "groups"


def _with_same_outcomes(policies: Mapping[str, AnyPolicy]) -> dict[str, JointPolicy]:
    joint = {n: p for n, p in policies.items() if isinstance(p, JointPolicy) and _has_outcomes(p)}
    if len(joint) < len(policies) or len({frozenset(p.names) for p in joint.values()}) > 1:
        raise ArgumentError(
            "policies",
            " hold a joint policy of several outcomes; accepted beside it are joint policies of "
            "the same outcomes",
        )
    return joint


def _tiled(how: Resampling, n_cases: int, n_outcomes: int) -> Resampling:
    """Draw the rows of a case together: by its period, its patient, or itself."""

    def repeated(values: Any, name: str) -> AnyArray | None:
        return None if values is None else np.tile(as_vector(values, name), n_outcomes)

    groups = np.arange(n_cases) if how.groups is None else how.groups
    in_time = how.periods is not None or how.times is not None
    return replace(
        how,
        groups=None if in_time and how.groups is None else repeated(groups, "groups"),
        periods=repeated(how.periods, "periods"),
        times=repeated(how.times, "times"),
    )


def _on_alarms(policy: JointPolicy | Worklist, name: str) -> ThresholdPolicy:
    """Return a threshold on the alarms of a policy, at its costs."""
    if isinstance(policy, JointPolicy):
        return _from_joint(policy, name)
    whole = replace(policy.choice, cost_ratio_low=0.0, cost_ratio_high=math.inf, threshold=ALARM)
    return replace(policy.policy, strategy="single", choices=(whole,), default=whole)


def _from_joint(policy: JointPolicy, name: str) -> ThresholdPolicy:
    """Return a threshold on the alarms of a joint policy, at the costs that its streams share."""
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
    default = policy.default
    sizes = tuple(map(sum, zip(*policy.sizes, strict=True)))
    tp, fp = sum(default.tp), sum(default.fp)
    limits = policy.limit.scenario or Scenario(cost_ratio=1.0)
    scenario = replace(limits, cost_ratio=first.costs, prevalence=first.prevalence)
    choice = Choice(
        cost_ratio_low=0.0,
        cost_ratio_high=math.inf,
        threshold=ALARM,
        tp=tp,
        fp=fp,
        alarms=tp + fp,
        precision=tp / (tp + fp) if tp + fp else math.nan,
        recall=tp / sizes[0],
    )
    return ThresholdPolicy(
        scenario=scenario,
        strategy="single",
        choices=(choice,),
        default=choice,
        n_positive=sizes[0],
        n_negative=sizes[1],
    )


def _violations(
    policy: JointPolicy, y_true: Any, scores: Any, by: Any, how: Resampling
) -> tuple[Violation, ...]:
    """Name the limits that a joint policy breaks."""
    when = {"periods": how.periods, "times": how.times} if policy.limit.scenario else {}
    tested = policy.evaluate(y_true, scores, by=by, **when)
    broken = [
        _violation("precision", s.min_precision, s.precision, f"in {s.name!r}")
        for s in tested.streams
        if not s.floor_kept
    ]
    above = tested.by_period
    if tested.alarms > tested.max_alarms:
        broken.append(_violation("capacity", tested.max_alarms, tested.alarms, ""))
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
