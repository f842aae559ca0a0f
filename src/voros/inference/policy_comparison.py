"""Paired comparison of deployed policies, each with its own scores and thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from voros.inference.bootstrap import Replicates, ResamplingPlan
from voros.inference.comparison import Comparison, comparison_of
from voros.inference.intervals import Method
from voros.inference.resampling import generator
from voros.inference.statistics import Measure, one_by_one
from voros.models import columns_by_model
from voros.policy import ThresholdPolicy
from voros.progress import Progress


def compare_policies(
    y_true: Any,
    scores: Any,
    policies: Mapping[str, ThresholdPolicy],
    *,
    by_cost: bool = False,
    n_resamples: int = 2000,
    confidence: float = 0.95,
    method: Method = "bca",
    stratified: bool = False,
    groups: Any = None,
    pos_label: Any = None,
    random_state: int | np.random.Generator | None = None,
    progress: Progress = False,
) -> Comparison:
    """Compare what deployed policies cost on the same test cases, their thresholds fixed.

    Every policy is evaluated on the same resamples of the cases, so what the cases do to all of
    them alike cancels out of the differences.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,)
        Labels of cases that no policy was decided on.
    scores : mapping of str to array-like, or data frame with a column for each policy
        The scores that each policy is for, by the names of `policies`.
    policies : mapping of str to ThresholdPolicy
        At least two, made for the same costs and prevalence. Their limits may differ.
    by_cost : bool, default False
        As in `ThresholdPolicy.evaluate`: by default the default thresholds are compared.
    n_resamples, confidence, method, stratified, groups, pos_label, random_state, progress
        As in `voros.bootstrap`.

    Returns
    -------
    Comparison
        Of the expected normalised cost.

    Examples
    --------
    >>> import numpy as np
    >>> import voros
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(4000) < 0.2
    >>> scores = {name: y_true * d + rng.normal(size=4000) for name, d in (("old", 1), ("new", 2))}
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.4, cost_ratio=(1 / 10, 1 / 5))
    >>> valid, test = slice(0, 2000), slice(2000, None)
    >>> policies = {
    ...     name: voros.ThresholdPolicy.from_validation(y_true[valid], s[valid], scenario)
    ...     for name, s in scores.items()
    ... }
    >>> result = voros.compare_policies(
    ...     y_true[test],
    ...     {name: s[test] for name, s in scores.items()},
    ...     policies,
    ...     n_resamples=200,
    ...     random_state=0,
    ... )
    >>> result.ranking
    ('new', 'old')
    """
    columns = columns_by_model(y_true, scores)
    _check_policies(policies, list(columns))
    seed = int(generator(random_state).integers(2**63))
    drawing = n_resamples, confidence, method, stratified, groups, pos_label
    found = []
    for name, policy in policies.items():
        one = ResamplingPlan.of(y_true, {name: columns[name]}, policy.scenario, policy, *drawing)
        # The same seed draws the same cases for every policy.
        found.append(replace(one, measure=_cost_of(policy, by_cost)).run(seed, progress))
    return _together(found)


def _cost_of(policy: ThresholdPolicy, by_cost: bool) -> Measure:
    return Measure(
        "expected_cost",
        one_by_one(lambda points: policy.evaluate_points(points, by_cost=by_cost).expected_cost),
        lower_is_better=True,
    )


def _together(found: list[Replicates]) -> Comparison:
    """Put the replicates of single policies, drawn alike, side by side."""
    ranked = {name: model for one in found for name, model in one.plan.models.items()}
    plan = replace(found[0].plan, models=ranked)
    values = Replicates(
        plan,
        np.concatenate([one.whole for one in found]),
        np.concatenate([one.drawn for one in found], axis=1),
        np.concatenate([one.left_out for one in found], axis=1),
        found[0].strata,
    )
    return comparison_of(plan, values)


def _check_policies(policies: Mapping[str, ThresholdPolicy], named: list[str]) -> None:
    if not isinstance(policies, Mapping):
        raise TypeError(
            f"policies={policies!r}; accepted is a mapping of names to ThresholdPolicy objects"
        )
    if len(policies) < 2:
        raise ValueError("policies holds fewer than two; a comparison needs at least two")
    for name, policy in policies.items():
        if not isinstance(policy, ThresholdPolicy):
            raise TypeError(
                f"policies[{name!r}] is a {type(policy).__name__}; accepted is a ThresholdPolicy"
            )
    if set(named) != set(policies):
        raise ValueError(
            f"scores are of {', '.join(map(repr, named))} and policies of "
            f"{', '.join(map(repr, policies))}; the names must be the same"
        )
    first, *others = (policy.scenario for policy in policies.values())
    for other in others:
        if (other.costs, other.prevalence) != (first.costs, first.prevalence):
            raise ValueError(
                f"the policies were made for different costs or prevalences ({first!r} and "
                f"{other!r}), so their costs cannot be compared"
            )
