"""Thresholds on new cases: which of them raise an alarm, and how well that went."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.alarms.points import alarm_points, column_of, read_stays, stay_subgroups
from voros.alarms.stay_rows import rows_in_memory
from voros.alarms.stream import AlarmState, parse_state, sound
from voros.core.alignment import check_aligned
from voros.core.arguments import check_confidence, check_flag, is_scalar
from voros.core.cases import check_cases, check_scores
from voros.core.grouped_cases import group_codes
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
from voros.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.alarms import AlarmRule, StayRows


class AppliedThresholds(CostThresholds):
    """Thresholds that predict, and are evaluated, on new cases or over new stays."""

    def predict(
        self, y_score: Any, cost_ratio: float | None = None, *, miss_value: Any = None
    ) -> BoolArray:
        """Return which cases raise an alarm.

        Parameters
        ----------
        y_score : array-like of shape (n_cases,)
            Of several columns by name, that of the policy's model is taken.
        cost_ratio : float, optional
            C_FP / C_FN now; None deploys the default threshold.
        miss_value : array-like of shape (n_cases,), optional
            What missing each case would cost, for a policy whose threshold is on score times value.

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
        """Tell which rows of stays sound an alarm, silence included, as they come in.

        Rows may come in any number of parts, each later than the last of the same stay. The state
        goes from one part to the next, and can be stored between them with `AlarmState.to_json`.

        Parameters
        ----------
        rows, stay, time, score
            As in `voros.alarm_points`, of one model.
        events : data frame or pair of array-likes, optional
            Stay and time of the events known so far, after which rows do not count.
        state : AlarmState or JSON text, optional
            What the call before returned; without it all stays begin.
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
            take the place of all of them; `by` then has one value for each row.
        by : str, list of str, array-like of shape (n_rows,) or mapping of such, optional
            Subgroups to report on, such as sexes or sites: columns of the rows, or one value for
            each row. All rows of a stay have the same. Those of fewer than 10 stays are pooled.
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
        deployment = self._deployment(cost_ratio, by_cost=False)
        columns = {"stay": stay, "time": time, "score": score, "events": events, "groups": groups}
        check_aligned(rows=rows, stay=stay, by=by)
        stays = self._read_points(rows, columns)
        if stays is not None:
            rows = None
        else:
            points = alarm_points(rows, **columns, rule=self._check_stays())
            if not isinstance(points, OperatingPoints) or points.stays is None:
                raise ArgumentError("score", " names several models; accepted is one")
            stays = rows_in_memory(points.stays)
        subgroups = None if by is None else stay_subgroups(rows, by, stays.rows.stays)
        return evaluate_stays(
            deployment, stays, check_confidence(confidence_level, "confidence_level"), subgroups
        )

    def _read_points(self, rows: Any, columns: dict[str, Any]) -> StayRows | None:
        """Return the stays of points that were counted by the policy's rule; None for rows."""
        rule, points = self._check_stays(), points_of_one(rows, **columns)
        if points is None:
            return None
        if points.stays is None or points.stays.rule != rule:
            raise ArgumentError(
                "rows", f" holds points of another kind; accepted are those of {rule!r}"
            )
        return rows_in_memory(points.stays)

    @property
    def threshold_on(self) -> ThresholdOn:
        """What thresholds are compared with: scores, or scores times miss values."""
        return "score" if self.values is None else self.values.threshold_on

    def _compared(self, y_score: Any, miss_value: Any) -> Any:
        return compared_scores(model_column(y_score, self.model), miss_value, self.threshold_on)

    def _check_values(self, points: OperatingPoints | None, values: CaseValues | None) -> None:
        """Raise where a policy that was decided on values would be priced without any."""
        has_values = values is not None if points is None else points.worth is not None
        if self.values is not None and not has_values:
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
                f"the policy is for alarms over stays, by {self.rule!r}; see policy.alarms and "
                "policy.evaluate_stays"
            )

    def _threshold_at(self, cost_ratio: float | None) -> float:
        if not is_scalar(cost_ratio):
            raise ArgumentError(
                "cost_ratio",
                f"={cost_ratio!r}; accepted is one number for all cases, because the "
                "limits were met by each threshold alone and not by mixtures of them",
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
        """Evaluate what `predict` deploys on new labels and scores, the thresholds fixed.

        The class sizes are those of the new data: they enter the normalised cost, a capacity that
        is a share follows their sum, and a capacity that is a count stays. If the scenario names
        a prevalence, the new cases are reweighted to it first. Costs stated over t are read with
        the new class sizes as well, so that the same t can mean another cost ratio than on the
        validation data. The cases may be of one class only, as those of a day can be.

        Parameters
        ----------
        y_true, y_score, sample_weight
            As in `voros.partial_voros_score`. `OperatingPoints` in place of `y_true` and `y_score`
            must be those of every distinct score, as `OperatingPoints.from_scores` gives.
        cost_ratio : float, optional
            As in `predict`: None evaluates the default threshold, over the scenario's costs; a
            number the threshold at that cost ratio, at that cost.
        by_cost : bool, default False
            Evaluate a threshold for each cost: what ``predict(scores, cost_ratio=...)`` deploys
            over the scenario's costs, where the cost ratio is known at the time of each alarm.
        pos_label : label, optional
            By default that of the validation data.
        confidence_level : float in (0, 1), default 0.95
            Of the intervals.
        periods, times : array-like of shape (n_cases,), optional
            The period of each case, or the time that it falls in, where the capacity is one per
            period; `PolicyEvaluation.by_period` has the alarms of each.
        groups : array-like of shape (n_cases,), optional
            Whose case it is, where one patient has several: intervals then take patients as
            independent. Without them they take cases as independent, and are too short where that
            is not so. Not with weights.
        by : array-like of shape (n_cases,), mapping of str to such, data frame or Subgroups
            Groups to report on one by one, such as sex and site, in one column or several;
            `PolicyEvaluation.by_subgroup` has the measures of each. Groups of fewer than 10 cases
            are pooled; `voros.Subgroups.from_columns` has other ways. Not with
            weights or values.
        miss_value, false_alarm_cost : array-like of shape (n_cases,) or number, optional
            As in `voros.evaluate`. A policy that was decided on values needs them.

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
        deployment, sure = (
            self._deployment(cost_ratio, by_cost),
            check_confidence(confidence_level, "confidence_level"),
        )
        points = points_of_one(y_true, y_score=y_score, pos_label=pos_label, **per_case, worth=True)
        if points is not None:
            self._check_values(points, None)
            return deployment.evaluate_points(points, sure)
        check_aligned(y_true=y_true, y_score=y_score, **per_case)
        values = CaseValues.read(y_true, miss_value, false_alarm_cost, sample_weight)
        self._check_values(None, values)
        positive, scores, weights = check_cases(
            y_true,
            self._compared(y_score, miss_value),
            self._positive_label(y_true, pos_label),
            sample_weight,
            both_classes=False,
        )
        in_periods = read_periods(self.scenario, y_true, periods, times)
        codes = None if groups is None else group_codes(groups, positive)
        if codes is not None:
            _check_unweighted("groups", weights)
        evaluation = deployment.evaluate_cases(
            positive, scores, weights, sure, in_periods, codes, values
        )
        if codes is None and self.origin is not None and self.origin.has_repeated_groups:
            evaluation = replace(evaluation, validation_groups=self.origin.n_groups)
        if by is None:
            return evaluation
        _check_unweighted("by", weights)
        refuse_values("by", per_case)
        by_subgroup = SubgroupEvaluation.from_cases(
            read_subgroups(by, len(positive)), positive, scores, evaluation, codes
        )
        return replace(evaluation, by_subgroup=by_subgroup)

    def _deployment(self, cost_ratio: float | None, by_cost: bool) -> Deployment:
        scenario, none = self.scenario, np.empty(0)
        if check_flag(by_cost, "by_cost"):
            if cost_ratio is not None:
                raise ValueError("by_cost=True goes over all costs; leave cost_ratio out")
            thresholds, switches, words = self.thresholds, self.switches, "threshold for each cost"
        elif cost_ratio is None:
            thresholds, switches = np.array([self.default.threshold]), none
            words = "default threshold"
        else:
            thresholds, switches = np.array([self._threshold_at(cost_ratio)]), none
            words = f"threshold at cost ratio {short(float(cost_ratio))}"
            scenario = scenario.changed(cost_ratio=cost_ratio)
        return Deployment(thresholds, switches, scenario, self.guarantee, words)

    def _positive_label(self, y_true: Any, pos_label: Any) -> Any:
        """The positive label stated now or else on validation, where labels are not yes or no."""
        if pos_label is not None or getattr(y_true, "dtype", None) == np.bool_:
            return pos_label
        return self.pos_label


def _check_unweighted(name: str, weights: FloatArray | None) -> None:
    if weights is not None:
        raise ArgumentError(
            name,
            " cannot be combined with sample_weight: the intervals of subgroups are exact for "
            "whole cases; accepted are cases without weights",
        )
