"""The alarms of policies on cases, and the limits that these break."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from voros.allocation.joint_policy import AnyPolicy, JointPolicy, policy_cases
from voros.core.arrays import as_vector
from voros.core.cases import read_labels
from voros.core.scenario import Scenario
from voros.core.worth import refuse_values
from voros.exceptions import ArgumentError
from voros.inference.bootstrap import Resampling
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.violations import Violation
from voros.policy.worklists import Worklist
from voros.typing import AnyArray, BoolArray


def decide(
    policy: AnyPolicy, y_true: Any, scores: Any, by: Any, how: Resampling
) -> tuple[AnyArray, tuple[Violation, ...]]:
    """Return the alarms of a policy, outcomes below one another, and the limits that it breaks."""
    when = {"periods": how.periods, "times": how.times}
    if isinstance(policy, ThresholdPolicy):
        per_case = how.values | (when if policy.scenario.per else {})
        tested = policy.evaluate(y_true, scores, pos_label=how.pos_label, **per_case)
        amounts = how.miss_value if policy.threshold_on == "value" else None
        return policy.predict(scores, miss_value=amounts).astype(float), tested.violations
    refuse_values("policies that are not a ThresholdPolicy", how.values)
    if isinstance(policy, Worklist):
        listed = policy.evaluate(y_true, scores, pos_label=how.pos_label, **when).worklist
        return policy.predict(scores, **when).astype(float), listed.violations
    labels = y_true if has_outcomes(policy) else read_labels(y_true, how.pos_label)
    alarms, in_periods = policy.predict(scores, by=by), when if policy.limit.per else {}
    joint = policy.evaluate(labels, scores, by=by, **in_periods)
    broken: list[tuple[Any, float, float, str]] = [
        ("precision", stream.min_precision, stream.precision, f"in {stream.name!r}")
        for stream in joint.streams
        if not stream.floor_kept
    ]
    periods = joint.by_period
    if joint.alarms > joint.max_alarms:
        broken.append(("capacity", joint.max_alarms, joint.alarms, ""))
    elif periods is not None and periods.most_above is not None and not periods.kept:
        broken.append(("capacity", periods.most_above, periods.n_above, "periods above"))
    violations = (
        Violation(
            limit=limit,
            bound=bound,
            worst=worst,
            missed_by=abs(worst - bound),
            probability=1.0,
            where=(),
            measure=measure,
        )
        for limit, bound, worst, measure in broken
    )
    if isinstance(alarms, Mapping):
        alarms = np.concatenate([alarms[outcome] for outcome in sorted(alarms)])
    return alarms.astype(float), tuple(violations)


def has_outcomes(policy: AnyPolicy) -> bool:
    """Whether a policy decides on several outcomes of each case."""
    return isinstance(policy, JointPolicy) and policy.arrangement != "groups"


def one_outcome_per_row(
    y_true: Any, scores: Mapping[str, Any], policies: Mapping[str, AnyPolicy], how: Resampling
) -> tuple[BoolArray, Resampling]:
    """Return the labels of all outcomes, and units that draw the rows of a case together."""
    if how.pos_label is not None:
        raise ArgumentError("pos_label", f"={how.pos_label!r} is for one column of labels")
    positive: dict[str, BoolArray] = {}
    for name, policy in policies.items():
        if not isinstance(policy, JointPolicy) or sorted(policy.names) != sorted(
            positive or policy.names
        ):
            raise ArgumentError(
                "policies",
                " hold a joint policy of several outcomes; accepted beside it are joint policies "
                "of the same outcomes",
            )
        positive = policy_cases(policy, scores[name], y_true=y_true).positive
    labels = [positive[outcome] for outcome in sorted(positive)]
    units = {name: unit for name, unit in how.units.items() if unit is not None}
    units = units or {"groups": np.arange(len(labels[0]))}
    repeated: dict[str, Any] = {
        name: np.tile(as_vector(unit, name), len(labels)) for name, unit in units.items()
    }
    return np.concatenate(labels), replace(how, **repeated)


def scenario_of(policy: AnyPolicy, name: str) -> Scenario:
    """Return the costs of a policy, which its streams must share, with its periods."""
    if not isinstance(policy, JointPolicy):
        return policy.scenario
    first, *others = policy.scenarios
    differ = any((s.costs, s.prevalence) != (first.costs, first.prevalence) for s in others)
    if differ or len(set(policy.miss_weights)) > 1 or policy.values is not None:
        raise ArgumentError(
            f"policies[{name!r}]",
            " has streams with costs, weights or values of their own, which cannot be compared as "
            "one",
        )
    return policy.limit.changed(cost_ratio=first.costs, prevalence=first.prevalence)
