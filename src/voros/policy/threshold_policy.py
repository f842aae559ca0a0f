"""ThresholdPolicy: the threshold to deploy at each cost ratio, decided on validation data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.arguments import check_choice, check_type
from voros.core.decision import Decision, at_deployment
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.core.worth import ThresholdOn, compared_scores, refuse_values
from voros.exceptions import NeverAlarmWarning, warn_caller
from voros.io.documents import read_document
from voros.io.writing import json_text, saved, with_checksum
from voros.models import ONLY_MODEL, check_thresholds, read_development, read_points
from voros.notices import warn_of_few_alarms
from voros.policy.allowed import (
    AllowedThresholds,
    allowed_thresholds,
    check_n_models,
    choose,
    limits_under,
    read_guarantee,
    warn_if_dependent,
    why_never_alarm,
)
from voros.policy.applied_thresholds import AppliedThresholds
from voros.policy.confidence_curve import ConfidenceStep
from voros.policy.development import certify_plan, fixed_plan
from voros.policy.origin import POLICY_STRATEGIES, PolicyStrategy, PolicyValues
from voros.policy.saved_policy import POLICY_FORMAT, POLICY_SCHEMA, policy_arguments

if TYPE_CHECKING:
    from voros.guarantee import Guarantee


class ThresholdPolicy(AppliedThresholds):
    """The map from cost ratio to threshold, decided on validation data.

    `Selection.policy` makes the policy of the model that `select_model` chose. For a model that was
    fixed beforehand, use `from_validation` or `from_points`. A case raises an alarm if
    ``score >= threshold``. The threshold +inf raises no alarm, and is deployed where no other
    threshold meets the limits.

    Attributes
    ----------
    scenario : Scenario
    strategy : str
    choices : tuple of Choice
        One for each interval of the cost ratio C_FP / C_FN, from 0 to infinity, with the counts of
        its threshold on the validation data. An interval includes its lower end: of two equally
        good thresholds the one with fewer alarms is deployed.
    default : Choice
        The threshold to deploy where the cost ratio is not known at the time of the alarm: of the
        thresholds that meet the limits, the one of least expected normalised cost over the
        scenario's distribution (for strategies that ignore costs, their only threshold).
    n_positive, n_negative : float
        Class sizes of the validation data, at the scenario's prevalence if it names one.
    guarantee : Guarantee or None
        The promise that holds for this policy: only thresholds that keep it are deployed.
    model : str or None
        Name of the model whose scores the thresholds are for.
    n_models : int
        Number of models from which this one was chosen on the same cases. The error of the
        guarantee is split over them.
    pos_label : label or None
        The positive label of the validation data, where it was stated.
    origin : Origin or None
        The validation data as observed, and the version of voros that decided.
    curve : tuple of ConfidenceStep
        The threshold at each confidence, where several were given; see `confidence_curve`.
    rule : AlarmRule or None
        The rule of alarms over stays (`voros.alarm_points`), which `alarms` applies.
    values : PolicyValues or None
        Sums of the values of the validation cases, where cases have values.

    Examples
    --------
    >>> import voros
    >>> y_valid = [0, 1, 0, 1, 1, 0, 0, 0]
    >>> s_valid = [0.1, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2]
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> policy = voros.ThresholdPolicy.from_validation(y_valid, s_valid, scenario)
    >>> policy.threshold(0.15), policy.threshold(3.0)
    (0.5, 0.9)
    >>> policy.predict([0.45, 0.65], cost_ratio=0.15).tolist()
    [False, True]
    """

    def __post_init__(self) -> None:
        """Check that the choices cover every cost ratio once."""
        check_choice(self.strategy, "strategy", POLICY_STRATEGIES)
        lows = [choice.cost_ratio_low for choice in self.choices]
        highs = [choice.cost_ratio_high for choice in self.choices]
        if [0.0, *highs] != [*lows, np.inf] or lows != sorted(set(lows)):
            raise ValueError("choices must cover the cost ratios from 0 to infinity, each once")

    @classmethod
    def from_validation(
        cls,
        y_true: Any,
        y_score: Any,
        scenario: Scenario,
        *,
        strategy: PolicyStrategy = "partial_voros",
        pos_label: Any = None,
        sample_weight: Any = None,
        guarantee: Guarantee | None = None,
        n_models: int | None = None,
        development: Any = None,
        groups: Any = None,
        periods: Any = None,
        times: Any = None,
        model: str | None = None,
        miss_value: Any = None,
        false_alarm_cost: Any = None,
        threshold_on: ThresholdOn = "score",
    ) -> ThresholdPolicy:
        """Decide the thresholds on validation labels and scores of one model.

        For a model that `select_model` chose on these cases, use ``selection.policy()``.

        Parameters
        ----------
        y_true, y_score, scenario, pos_label, sample_weight, periods, times
        miss_value, false_alarm_cost
            As in `voros.evaluate`.
        strategy : str, default "partial_voros"
            "partial_voros", "voros" and "expected_cost": at each cost ratio the best threshold that
            meets the limits (they rank models differently, and choose the same thresholds).
            "recall" and "partial_auroc": the threshold of greatest recall within the limits; of
            equals, the one with fewest alarms. "single": the threshold within the limits of least
            expected normalised cost over the distribution.
        guarantee : Guarantee or confidence, optional
            Allow only thresholds that also keep the limits on future data, with confidence; 0.95
            is ``Guarantee(0.95)``. Requires `n_models` or `development`. Of several confidences
            the policy has the highest at which a threshold passes; see `confidence_curve`.
        n_models : int, optional
            Number of models from which this one was chosen on the same cases, itself included; 1
            if it was fixed before these cases were seen. The error of the guarantee is split over
            them: the promise does not hold for the winner of 20 models with ``n_models=1``.
        development : tuple of (y_dev, score_dev), optional
            Labels and scores of the same model on cases that are not among the validation cases,
            such as out-of-fold scores of the training cases. They fix one or a few thresholds, and
            each is then tested with the whole error. Requires a guarantee; not with groups of
            several cases or a capacity per period. `n_models` is then 1 by default.
        groups : array-like of shape (n_cases,), optional
            The patient of each case. A guarantee requires it where patients have several cases:
            without `groups` all cases are taken as independent, and nothing can check that.
            Thresholds without a guarantee do not depend on it; `evaluate` then notes where its
            intervals take cases as independent.
        model : str, optional
            Name of the model, saved with its thresholds.
        threshold_on : {"score", "value"}, default "score"
            "value" compares the threshold with score times miss value, the expected value of an
            alarm; scores are then probabilities, and `predict` requires `miss_value` too.

        Returns
        -------
        ThresholdPolicy

        Warns
        -----
        NeverAlarmWarning
            If no threshold that raises an alarm is allowed; the policy then never alarms.
        FewAlarmsWarning
            If the capacity is a few alarms in thousands of cases, and may be meant in percent.
        DependentPeriodsWarning
            If a guarantee takes periods as independent and their alarms are correlated.
        """
        check_scenario(scenario)
        per_case = {"sample_weight": sample_weight, "groups": groups, "periods": periods}
        per_case |= {"miss_value": miss_value, "false_alarm_cost": false_alarm_cost}
        y_score = compared_scores(y_score, miss_value, threshold_on)
        developed = None
        if development is not None:
            refuse_values("development", per_case)
            (developed,) = read_development(development, pos_label).values()
        points = read_points(
            y_true, y_score, scenario, pos_label=pos_label, **per_case, times=times, worth=True
        )
        policy = cls.from_points(
            points,
            scenario,
            strategy=strategy,
            guarantee=guarantee,
            n_models=n_models,
            development=developed,
            model=model,
        )
        return replace(policy, pos_label=plain_label(pos_label)).comparing(threshold_on)

    @classmethod
    def from_points(
        cls,
        points: OperatingPoints,
        scenario: Scenario,
        *,
        strategy: PolicyStrategy = "partial_voros",
        guarantee: Guarantee | None = None,
        n_models: int | None = None,
        development: OperatingPoints | None = None,
        model: str | None = None,
    ) -> ThresholdPolicy:
        """Decide the thresholds on operating points of the validation data.

        Parameters are those of `from_validation`; ``development`` takes points too. The points must
        carry thresholds.

        Returns
        -------
        ThresholdPolicy
        """
        check_scenario(scenario)
        check_choice(strategy, "strategy", POLICY_STRATEGIES)
        check_type(points, "points", OperatingPoints, "OperatingPoints")
        check_thresholds(points)
        if model is not None:
            check_type(model, "model", str, "the name of a model, a str, or None")
        guarantee, reason = read_guarantee(guarantee), None
        curve: tuple[ConfidenceStep, ...] = ()
        if development is None:
            shared_by = check_n_models(guarantee, n_models)
            allowed, curve = climbed(points, scenario, strategy, guarantee, shared_by, model)
        else:
            shared_by = check_n_models(None, n_models)
            n_cases, developed = int(points.n_cases), {ONLY_MODEL: development}
            plan = fixed_plan(developed, n_cases, scenario, guarantee, strategy, shared_by)
            allowed, reason = certify_plan(plan, points, guarantee, shared_by)
        warn_if_dependent(allowed)
        warn_of_few_alarms(allowed.decision)
        if not allowed.decision.can_alarm:
            reason = reason or why_never_alarm(points, scenario, guarantee, shared_by)
            warn_caller(reason, NeverAlarmWarning)
        return cls.from_allowed(allowed, strategy=strategy, model=model, curve=curve)

    @classmethod
    def from_allowed(
        cls,
        allowed: AllowedThresholds,
        *,
        strategy: PolicyStrategy = "partial_voros",
        model: str | None = None,
        pos_label: Any = None,
        curve: tuple[ConfidenceStep, ...] = (),
    ) -> ThresholdPolicy:
        """Choose from thresholds that may be deployed, without a warning.

        Returns
        -------
        ThresholdPolicy
        """
        points = allowed.decision.points
        check_thresholds(points)
        choices, default = choose(allowed.decision, strategy)
        return cls(
            scenario=allowed.decision.scenario,
            strategy=strategy,
            choices=choices,
            default=default,
            n_positive=points.n_positive,
            n_negative=points.n_negative,
            guarantee=allowed.guarantee,
            model=model,
            n_models=allowed.n_models,
            pos_label=plain_label(pos_label),
            origin=allowed.origin,
            curve=curve,
            rule=allowed.rule,
            values=PolicyValues.from_points(points),
        )

    def comparing(self, threshold_on: ThresholdOn) -> ThresholdPolicy:
        """Return the policy with thresholds on scores, or on scores times values."""
        if self.values is None:
            return self
        return replace(self, values=replace(self.values, threshold_on=threshold_on))

    @classmethod
    def never_alarm(
        cls,
        points: OperatingPoints,
        scenario: Scenario,
        *,
        strategy: PolicyStrategy = "partial_voros",
        guarantee: Guarantee | None = None,
    ) -> ThresholdPolicy:
        """Return the policy that never alarms."""
        deployed = at_deployment(points, scenario)
        never = np.arange(len(points)) == 0
        nothing = Decision(points=deployed, scenario=scenario, feasible=never, max_alarms=0.0)
        allowed = AllowedThresholds.from_decision(points, nothing, guarantee, 1)
        return cls.from_allowed(allowed, strategy=strategy)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the policy as JSON text, and write it to a file if a path is given.

        `from_json` reads numbers back exactly. The file is written completely or not at all, and
        an existing file is replaced only with ``force=True``.
        """
        return saved(json_text(self.fields()), path, force=force)

    def fields(self) -> dict[str, Any]:
        """Return everything that is saved, in values of strict JSON."""
        saved_as = {
            "scenario": self.scenario.fields(),
            "choices": [choice.fields() for choice in self.choices],
            "default": self.default.fields(),
            "pos_label": saved_label(self.pos_label),
            "rule": None if self.rule is None else self.rule.fields(),
        }
        return with_checksum(
            {"format": POLICY_FORMAT, "schema": POLICY_SCHEMA, **vars(self), **saved_as}
        )

    @classmethod
    def from_json(cls, source: str | Path) -> ThresholdPolicy:
        """Read a policy back from JSON text or from a file.

        Returns
        -------
        ThresholdPolicy
        """
        return cls(**policy_arguments(read_document(source, "saved policy")))

    def __eq__(self, other: object) -> bool:
        """Compare everything that is saved."""
        return isinstance(other, ThresholdPolicy) and self.fields() == other.fields()

    def __hash__(self) -> int:
        """Return a hash of scenario, strategy and thresholds."""
        return hash((self.scenario, self.strategy, self.thresholds.tobytes()))


def climbed(
    points: OperatingPoints,
    scenario: Scenario,
    strategy: PolicyStrategy,
    guarantee: Guarantee | None,
    n_models: int,
    model: str | None,
) -> tuple[AllowedThresholds, tuple[ConfidenceStep, ...]]:
    """Return the thresholds that may be deployed, and what each confidence of a ladder costs.

    With a ladder they are those of the highest confidence at which a threshold passes.
    """
    if guarantee is None or not isinstance(guarantee.confidence, tuple):
        return allowed_thresholds(points, scenario, guarantee, n_models), ()
    tried = [allowed_thresholds(points, scenario, step, n_models) for step in guarantee.steps]
    tried.append(allowed_thresholds(points, limits_under(guarantee, scenario)))
    policies = [
        ThresholdPolicy.from_allowed(allowed, strategy=strategy, model=model) for allowed in tried
    ]
    chosen = next((allowed for allowed in tried[:-1] if allowed.decision.can_alarm), tried[0])
    return chosen, tuple(map(ConfidenceStep.from_policy, policies))


def plain_label(label: Any) -> Any:
    """Return a label as a Python number or text, where it is one of numpy."""
    return label.item() if isinstance(label, np.generic) else label


def saved_label(label: Any) -> Any:
    """Return a positive label that a file can hold, or raise."""
    if label is None or isinstance(label, (str, bool, int, float)):
        return label
    raise ValueError(
        f"pos_label={label!r} cannot be saved as JSON; accepted are text, numbers, True and False"
    )
