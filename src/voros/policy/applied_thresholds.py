"""Thresholds on new cases: which cases raise an alarm, and how good the alarms are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.alarms.points import alarm_points, column_of, read_stays, stay_subgroups
from voros.alarms.stay_rows import rows_in_memory
from voros.alarms.stream import AlarmState, parse_state, sound
from voros.core.alignment import check_aligned
from voros.core.arguments import check_confidence, check_flag, is_scalar
from voros.core.cases import check_cases, check_scores, label_or_remembered
from voros.core.operating_points import OperatingPoints
from voros.core.periods import read_periods
from voros.core.subgroups import read_subgroups
from voros.core.worth import CaseValues, ThresholdOn, compared_scores, refuse_values
from voros.exceptions import ArgumentError
from voros.models import model_column, points_of_one
from voros.policy.by_subgroup import SubgroupEvaluation
from voros.policy.cost_thresholds import CostThresholds
from voros.policy.deployment import Deployment
from voros.policy.over_stays import StayEvaluation, evaluate_stays
from voros.policy.policy_evaluation import PolicyEvaluation
from voros.text.numbers import short
from voros.typing import BoolArray

if TYPE_CHECKING:
    from voros.alarms import AlarmRule


class AppliedThresholds(CostThresholds):
    """Thresholds that predict alarms of new cases or stays, and are evaluated on them."""

    def predict(
        self, y_score: Any, cost_ratio: float | None = None, *, miss_value: Any = None
    ) -> BoolArray:
        """Return which cases raise an alarm.

        Parameters
        ----------
        y_score : array-like of shape (n_cases,)
            Of several named columns, that of the policy's model is used.
        cost_ratio : float, optional
            C_FP / C_FN now; None deploys the default threshold.
        miss_value : array-like of shape (n_cases,), optional
            Cost of missing each case, for a policy whose threshold is on score times value.

        Returns
        -------
        ndarray of bool, shape (n_cases,)
        """
        self._check_cases()
        if miss_value is not None and self.threshold_on == "score":
            raise ArgumentError(
                "miss_value", " is for a policy with threshold_on='value'; leave it out"
            )
        scores = check_scores(self._compared(y_score, miss_value))
        return np.asarray(scores >= self._threshold_at(cost_ratio))

    def alarms(
        self,
        rows: Any = None,
        *,
        stay: Any,
        time: Any,
        score: Any,
        events: Any = ((), ()),
        state: AlarmState | str | None = None,
        cost_ratio: float | None = None,
    ) -> tuple[BoolArray, AlarmState]:
        """Return which rows of stays sound an alarm, as the rows arrive.

        Rows may arrive in any number of parts, each later than those before of the same stay. Pass
        the state from one part to the next; `AlarmState.to_json` stores it in between.

        Parameters
        ----------
        rows, stay, time, score
            As in `voros.alarm_points`, of one model.
        events : data frame or pair of array-likes, optional
            Stay and time of the events known so far, after which rows do not count.
        state : AlarmState or JSON text, optional
            The state that the previous call returned; without it all stays begin.
        cost_ratio : float, optional
            C_FP / C_FN now; None deploys the default threshold.

        Returns
        -------
        alarms : ndarray of bool, shape (n_rows,)
        state : AlarmState

        Examples
        --------
        >>> import voros
        >>> points = voros.alarm_points(
        ...     stay=[1, 1, 2],
        ...     time=[0, 5, 0],
        ...     score=[0.2, 0.9, 0.4],
        ...     events=([1], [8]),
        ...     rule=voros.AlarmRule(snooze="4h", horizon="6h"),
        ... )
        >>> scenario = voros.Scenario(min_precision=0.5, cost_ratio=0.1)
        >>> policy = voros.ThresholdPolicy.from_points(points, scenario)
        >>> first, state = policy.alarms(stay=[7, 7], time=[0, 1], score=[0.95, 0.95])
        >>> later, state = policy.alarms(stay=[7, 8], time=[5, 5], score=[0.95, 0.1], state=state)
        >>> first.tolist(), later.tolist()
        ([True, False], [True, False])
        """
        check_aligned(stay=stay, time=time, score=score)
        rule, threshold = self._check_stays(), self._threshold_at(cost_ratio)
        stays = read_stays(rows, stay, time, events)
        column = column_of(rows, score, "score")
        sounded, later = sound(stays, stays.highest(column), threshold, rule, parse_state(state))
        return stays.to_inputs(sounded, column), later

    def evaluate_stays(
        self,
        rows: Any = None,
        *,
        stay: Any = None,
        time: Any = None,
        score: Any = None,
        events: Any = None,
        groups: Any = None,
        by: Any = None,
        cost_ratio: float | None = None,
        confidence_level: float = 0.95,
    ) -> StayEvaluation:
        """Evaluate what `alarms` sounds over new stays, threshold and rule fixed.

        Parameters
        ----------
        rows, stay, time, score, events, groups
            As in `voros.alarm_points`, of one model. Points that it counted by the policy's rule
            replace all of these; `by` then has one value for each row.
        by : str, list of str, array-like of shape (n_rows,) or mapping of such, optional
            Subgroups to report on, such as sexes or sites: columns of the rows, or one value for
            each row, the same in all rows of a stay. Subgroups of fewer than 10 stays are pooled.
        cost_ratio : float, optional
            As in `alarms`.
        confidence_level : float in (0, 1), default 0.95
            Of the intervals.

        Returns
        -------
        StayEvaluation

        Examples
        --------
        >>> import voros
        >>> ward = {"stay": [1, 1, 2, 3], "time": [0, 5, 0, 0], "score": [0.2, 0.9, 0.4, 0.6]}
        >>> events = {"stay": [1], "time": [8]}
        >>> rule = voros.AlarmRule(snooze="4h", horizon="6h")
        >>> columns = {"stay": "stay", "time": "time", "score": "score", "events": events}
        >>> points = voros.alarm_points(ward, **columns, rule=rule)
        >>> scenario = voros.Scenario(0.5, 4.0, cost_ratio=0.1, per="patient-day")
        >>> policy = voros.ThresholdPolicy.from_points(points, scenario)
        >>> policy.evaluate_stays(ward, **columns)
        threshold 0.9 on 3 stays, 1 event, 0.833 patient-days
                                         value   95 % interval         limit
        precision                            1  ...  at least 0.5
        recall of events                     1  ...
        alarms per patient-day            1.20  ...     at most 4
        events caught                   1 of 1
        number needed to evaluate            1
        lead time, quartiles in hours  3 / 3 / 3
        stays with an alarm             1 of 3
        first alarm useful              1 of 1
        limits kept on these cases: yes
        intervals take patients as independent
        """
        rule, deployment = self._check_stays(), self._deployment(cost_ratio, by_cost=False)
        level = check_confidence(confidence_level, "confidence_level")
        columns = {"stay": stay, "time": time, "score": score, "events": events, "groups": groups}
        check_aligned(rows=rows, stay=stay, by=by)
        points: Any = points_of_one(rows, **columns)
        if points is None:
            points = alarm_points(rows, **columns, rule=rule)
            if not isinstance(points, OperatingPoints):
                raise ArgumentError("score", " names several models; accepted is one")
        else:
            rows = None
        if points.stays is None or points.stays.rule != rule:
            raise ArgumentError(
                "rows", f" holds points of another kind; accepted are those of {rule!r}"
            )
        stays = rows_in_memory(points.stays)
        subgroups = None if by is None else stay_subgroups(rows, by, stays.rows.stays)
        return evaluate_stays(deployment, stays, level, subgroups)

    @property
    def threshold_on(self) -> ThresholdOn:
        """Whether thresholds are on scores, or on scores times miss values."""
        return "score" if self.values is None else self.values.threshold_on

    def _compared(self, y_score: Any, miss_value: Any) -> Any:
        return compared_scores(model_column(y_score, self.model), miss_value, self.threshold_on)

    def _check_values(self, values: object) -> None:
        """Raise where a policy that was decided on values is evaluated without any."""
        if self.values is not None and values is None:
            raise ArgumentError(
                "miss_value",
                " and false_alarm_cost are missing: the policy was decided on values of cases, and "
                "its cost ratio multiplies them",
            )

    def _check_stays(self) -> AlarmRule:
        if self.rule is None:
            raise ArgumentError("stay", " is for a policy that was made from voros.alarm_points")
        return self.rule

    def _check_cases(self) -> None:
        if self.rule is not None:
            raise ValueError(
                f"the policy is for alarms over stays, by {self.rule!r}; use policy.alarms and "
                "policy.evaluate_stays"
            )

    def _threshold_at(self, cost_ratio: float | None) -> float:
        if not is_scalar(cost_ratio):
            raise ArgumentError(
                "cost_ratio",
                f"={cost_ratio!r}; accepted is one number for all cases, because each threshold "
                "meets the limits alone, and a mixture of thresholds may not",
            )
        return float(self.threshold(cost_ratio))

    def evaluate(
        self,
        y_true: Any,
        y_score: Any = None,
        *,
        cost_ratio: float | None = None,
        by_cost: bool = False,
        pos_label: Any = None,
        sample_weight: Any = None,
        confidence_level: float = 0.95,
        periods: Any = None,
        times: Any = None,
        groups: Any = None,
        by: Any = None,
        miss_value: Any = None,
        false_alarm_cost: Any = None,
    ) -> PolicyEvaluation:
        """Evaluate the thresholds that `predict` deploys, unchanged, on new labels and scores.

        The class sizes are those of the new data: they enter the normalised cost, and a capacity
        that is a share is one of the new cases. If the scenario names a prevalence, the new cases
        are first reweighted to it. Costs over t are converted with the new class sizes too, so the
        same t can be another cost ratio than on the validation data. All cases may be of one class,
        as those of a day can be, unless they have weights or values.

        Parameters
        ----------
        y_true, y_score, sample_weight
            As in `voros.partial_voros_score`. `OperatingPoints` in place of `y_true` and `y_score`
            must have every distinct score, as those of `OperatingPoints.from_scores`.
        cost_ratio : float, optional
            As in `predict`: None evaluates the default threshold over the scenario's costs, a
            number the threshold at that cost ratio, at that cost.
        by_cost : bool, default False
            Evaluate the threshold for each cost, as ``predict(scores, cost_ratio=...)`` deploys it
            where the cost ratio is known at the time of each alarm, over the scenario's costs.
        pos_label : label, optional
            By default that of the validation data.
        confidence_level : float in (0, 1), default 0.95
            Of the intervals.
        periods, times : array-like of shape (n_cases,), optional
            The period of each case, or the time that it falls in, where the capacity is one per
            period; `PolicyEvaluation.by_period` has the alarms of each.
        groups : array-like of shape (n_cases,), optional
            The patient of each case, where patients have several: intervals then take patients as
            independent. Without groups they take cases as independent, and are too short where
            cases are not. Not with weights.
        by : array-like of shape (n_cases,), mapping of str to such, data frame or Subgroups
            Subgroups to report on, such as sexes and sites, in one column or several;
            `PolicyEvaluation.by_subgroup` has the measures of each. Subgroups of fewer than 10
            cases are pooled; `voros.Subgroups.from_columns` has other ways. Not with weights or
            values.
        miss_value, false_alarm_cost : array-like of shape (n_cases,) or number, optional
            As in `voros.evaluate`. A policy that was decided on values requires them.

        Returns
        -------
        PolicyEvaluation

        Examples
        --------
        >>> import voros
        >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
        >>> policy = voros.ThresholdPolicy.from_validation(
        ...     [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2], scenario
        ... )
        >>> policy.evaluate([0, 1, 0, 0], [0.75, 0.9, 0.8, 0.1])
        default threshold on 4 cases, 1 positive
                                         mean     95 % interval         limit
        expected cost                   0.205   0.0290 to 0.887
        cost of 1,000 cases, in misses     75       10.1 to 681
        precision                       0.333  0.00840 to 0.906  at least 0.5
        recall                              1       0.0250 to 1
        alarms                              3            0 to 4     at most 2
        limits kept on these cases: no
        precision: 0.333, at least 0.5 required
        capacity: 3 alarms, at most 2 allowed
        intervals take cases as independent
        """
        self._check_cases()
        per_case = {"sample_weight": sample_weight, "periods": periods, "times": times}
        per_case |= {"groups": groups, "by": by, "miss_value": miss_value}
        per_case |= {"false_alarm_cost": false_alarm_cost}
        deployment = self._deployment(cost_ratio, by_cost)
        level = check_confidence(confidence_level, "confidence_level")
        points = points_of_one(y_true, y_score=y_score, pos_label=pos_label, **per_case, worth=True)
        if points is not None:
            self._check_values(points.worth)
            return deployment.evaluate_points(points, level)
        check_aligned(y_true=y_true, y_score=y_score, **per_case)
        values = CaseValues.read(y_true, miss_value, false_alarm_cost, sample_weight)
        self._check_values(values)
        positive, scores, weights = check_cases(
            y_true,
            self._compared(y_score, miss_value),
            label_or_remembered(y_true, pos_label, self.pos_label),
            sample_weight,
            both_classes=False,
        )
        in_periods = read_periods(self.scenario, y_true, periods, times)
        points = OperatingPoints.from_cases(
            positive, scores, weights, groups=groups, periods=in_periods, values=values
        )
        evaluation = deployment.evaluate_points(points, level)
        if groups is None and self.origin is not None and self.origin.has_repeated_groups:
            evaluation = replace(evaluation, validation_groups=self.origin.n_groups)
        if by is None:
            return evaluation
        if weights is not None:
            raise ArgumentError(
                "by",
                " cannot be combined with sample_weight: the intervals of subgroups are exact for "
                "whole cases; accepted are cases without weights",
            )
        refuse_values("by", per_case)
        codes = None if points.grouped is None else points.grouped.codes
        by_subgroup = SubgroupEvaluation.from_cases(
            read_subgroups(by, len(positive)), positive, scores, evaluation, codes
        )
        return replace(evaluation, by_subgroup=by_subgroup)

    def _deployment(self, cost_ratio: float | None, by_cost: bool) -> Deployment:
        scenario, none = self.scenario, np.empty(0)
        if check_flag(by_cost, "by_cost"):
            if cost_ratio is not None:
                raise ValueError("by_cost=True evaluates all costs; leave cost_ratio out")
            thresholds, switches, words = self.thresholds, self.switches, "threshold for each cost"
        elif cost_ratio is None:
            thresholds, switches = np.array([self.default.threshold]), none
            words = "default threshold"
        else:
            thresholds, switches = np.array([self._threshold_at(cost_ratio)]), none
            words = f"threshold at cost ratio {short(float(cost_ratio))}"
            scenario = scenario.changed(cost_ratio=cost_ratio)
        return Deployment(thresholds, switches, scenario, self.guarantee, words)
