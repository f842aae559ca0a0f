"""ThresholdPolicy: which threshold to deploy at which cost ratio, decided on validation data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.alarms.points import alarm_points, column_of, read_stays
from voros.alarms.stream import AlarmState, parse_state, sound
from voros.core.alignment import check_aligned
from voros.core.arguments import check_choice, check_confidence, check_flag, check_type, is_scalar
from voros.core.cases import check_cases, check_scores
from voros.core.costs import read_cost_ratios
from voros.core.decision import Decision, at_deployment
from voros.core.geometry import Choice
from voros.core.grouped_cases import group_codes
from voros.core.operating_points import OperatingPoints
from voros.core.periods import read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.core.subgroups import read_subgroups
from voros.core.volume import cost_moments
from voros.evaluation import choice_columns
from voros.exceptions import ArgumentError, NeverAlarmWarning, warn_caller
from voros.io.frames import make_frame
from voros.io.writing import json_text, saved, with_checksum
from voros.models import ONLY_MODEL, points_of_one
from voros.policy.allowed import (
    COST_AWARE,
    POLICY_STRATEGIES,
    AllowedThresholds,
    Origin,
    PolicyStrategy,
    allowed_thresholds,
    check_groups,
    check_n_models,
    choose,
    limits_under,
    read_guarantee,
    warn_if_dependent,
    why_never_alarm,
)
from voros.policy.confidence_curve import ConfidenceCurve, ConfidenceStep, check_curve
from voros.policy.deployment import Deployment, PolicyEvaluation
from voros.policy.development import Planned, check_development, read_development
from voros.policy.notebook import policy_html
from voros.policy.over_stays import StayEvaluation, evaluate_stays
from voros.policy.saved_policy import POLICY_FORMAT, POLICY_SCHEMA, parse_policy
from voros.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.alarms import AlarmRule
    from voros.guarantee import Guarantee


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdPolicy:
    """The map from cost ratio to threshold, decided on validation data.

    `Selection.policy` makes the one of the model that `select_model` chose; for scores of a model
    that was fixed beforehand, `from_validation` or `from_points` do. An alarm is
    ``score >= threshold``; the threshold +inf is never alarm, and is all that is left when nothing
    else meets the limits.

    Attributes
    ----------
    scenario : Scenario
    strategy : str
    choices : tuple of Choice
        One for each interval of the cost ratio C_FP / C_FN, from 0 to infinity, with what its
        threshold did on the validation data. An interval includes its lower end: where two
        thresholds are equally good the one with fewer alarms is deployed.
    default : Choice
        The threshold for when the cost ratio is not known at the time of the alarm: of the
        thresholds that meet the limits, the one of least expected normalised cost over the
        scenario's distribution (for the cost-unaware strategies, their only one).
    n_positive, n_negative : float
        Class sizes of the validation data, at the scenario's prevalence if it names one.
    guarantee : Guarantee or None
        The promise that holds for this policy: only thresholds that keep it are deployed.
    model : str or None
        Whose scores the thresholds are for, where that was said; saved with the rest.
    n_models : int
        How many models this one was chosen from on the same cases. The error of the guarantee is
        split over them.
    pos_label : label or None
        The positive label of the validation data, where it was stated.
    origin : Origin or None
        The validation data as observed, and the version of voros that decided.
    curve : tuple of ConfidenceStep
        What each confidence would deploy, where several were given; see `confidence_curve`.
    rule : AlarmRule or None
        Of alarms over stays (`voros.alarm_points`): `alarms` applies it, and `predict` does not.

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

    scenario: Scenario
    strategy: PolicyStrategy
    choices: tuple[Choice, ...]
    default: Choice
    n_positive: float
    n_negative: float
    guarantee: Guarantee | None = None
    model: str | None = None
    n_models: int = 1
    pos_label: Any = None
    origin: Origin | None = None
    curve: tuple[ConfidenceStep, ...] = ()
    rule: AlarmRule | None = None

    def __post_init__(self) -> None:
        """Check that the choices cover every cost ratio once."""
        if self.strategy not in POLICY_STRATEGIES:
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
    ) -> ThresholdPolicy:
        """Decide the thresholds on validation labels and scores of one model.

        For a model that `select_model` chose on these cases, use ``selection.policy()``.

        Parameters
        ----------
        y_true, y_score, scenario, pos_label, sample_weight, periods, times
            As in `voros.evaluate`.
        strategy : str, default "partial_voros"
            "partial_voros" and "voros": at each cost ratio the best threshold that meets the
            limits (they differ in which model they select, not in its thresholds). "recall" and
            "partial_auroc": one threshold, of greatest recall within the limits; of equals, the
            one with fewest alarms. "single": the one threshold within the limits of least
            expected normalised cost over the distribution.
        guarantee : Guarantee or confidence, optional
            Allow only thresholds that also keep the limits on future data, with confidence; 0.95
            is ``Guarantee(0.95)``. Needs `n_models` or `development`. Of several confidences the
            highest is deployed at which something passes; see `confidence_curve`.
        n_models : int, optional
            How many models this one was chosen from on the same cases, itself included; 1 if it
            was fixed before they were looked at. The error of the guarantee is split over them:
            to certify the winner of 20 models as if it were the only one breaks the promise.
        development : tuple of (y_dev, score_dev), optional
            Labels and scores of the same model on cases that are not among the validation cases,
            such as out-of-fold scores of the training cases. The thresholds to be tested are
            fixed on them, one or a few, so that each is tested with the whole error. Only with a
            guarantee, and not with repeated groups or a capacity per period. `n_models` is then 1
            by default.
        groups : array-like of shape (n_cases,), optional
            The patient of each case. A guarantee needs it where patients have several cases:
            without `groups` all cases are taken as independent, and nothing can check that.
        model : str, optional
            Name of the model, to be kept with its thresholds.

        Warns
        -----
        NeverAlarmWarning
            When no threshold but never alarm is allowed; the policy then never alarms.
        DependentPeriodsWarning
            When a guarantee takes periods as independent and their alarms are correlated.
        """
        check_scenario(scenario)
        per_case = {"sample_weight": sample_weight, "groups": groups, "periods": periods}
        check_aligned(y_true=y_true, y_score=y_score, **per_case, times=times)
        check_groups(guarantee, groups)
        developed = None
        if development is not None:
            check_development(guarantee, scenario)
            (developed,) = read_development(development, pos_label).values()
        points = OperatingPoints.from_scores(
            y_true,
            y_score,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            periods=read_periods(scenario, y_true, periods, times),
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
        return replace(policy, pos_label=_plain(pos_label))

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

        Parameters are those of `from_validation`, ``development`` points as well; the points must
        carry thresholds.
        """
        check_scenario(scenario)
        check_choice(strategy, "strategy", POLICY_STRATEGIES)
        _check_thresholds(points)
        if model is not None:
            check_type(model, "model", str, "the name of a model, a str, or None")
        guarantee = read_guarantee(guarantee)
        curve: tuple[ConfidenceStep, ...] = ()
        if development is None:
            shared_by, reason = check_n_models(guarantee, n_models), None
            allowed, curve = climbed(points, scenario, strategy, guarantee, shared_by, model)
        else:
            shared_by = check_n_models(None, n_models)
            planned = Planned.from_development(
                {ONLY_MODEL: development},
                int(points.n_cases),
                scenario,
                guarantee,
                strategy,
                shared_by,
            )
            allowed, reason = planned.tested(points)
        policy = cls.from_allowed(allowed, strategy=strategy, model=model)
        if not allowed.decision.can_alarm:
            reason = reason or why_never_alarm(points, scenario, guarantee, shared_by)
            warn_caller(reason, NeverAlarmWarning)
        return replace(policy, curve=curve)

    @classmethod
    def from_allowed(
        cls,
        allowed: AllowedThresholds,
        *,
        strategy: PolicyStrategy = "partial_voros",
        model: str | None = None,
        pos_label: Any = None,
    ) -> ThresholdPolicy:
        """Choose from thresholds that may be deployed; warn of dependent periods alone."""
        _check_thresholds(allowed.decision.points)
        origin, guarantee = allowed.origin, allowed.guarantee
        if guarantee is not None and origin.n_periods and origin.period_correlation is not None:
            n_units = origin.n_periods // guarantee.block
            per = allowed.decision.scenario.per or ""
            warn_if_dependent(origin.period_correlation, n_units, per, guarantee.block)
        return cls.decided(allowed, strategy, model, pos_label=pos_label)

    @classmethod
    def decided(
        cls,
        allowed: AllowedThresholds,
        strategy: PolicyStrategy,
        model: str | None,
        *,
        pos_label: Any = None,
    ) -> ThresholdPolicy:
        """Choose from thresholds that may be deployed, without any warning."""
        points = allowed.decision.points
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
            pos_label=_plain(pos_label),
            origin=allowed.origin,
            rule=allowed.rule,
        )

    @classmethod
    def never_alarm(
        cls,
        points: OperatingPoints,
        scenario: Scenario,
        *,
        strategy: PolicyStrategy = "partial_voros",
        guarantee: Guarantee | None = None,
    ) -> ThresholdPolicy:
        """Return the policy that never alarms, for when nothing else can be deployed."""
        deployed = at_deployment(points, scenario)
        never = np.arange(len(points)) == 0
        nothing = Decision(points=deployed, scenario=scenario, feasible=never, max_alarms=0.0)
        allowed = AllowedThresholds.of(points, nothing, guarantee, 1)
        return cls.from_allowed(allowed, strategy=strategy)

    @property
    def thresholds(self) -> FloatArray:
        """The threshold on each interval of the cost ratio, from cheap false alarms to dear."""
        return np.array([choice.threshold for choice in self.choices])

    @property
    def switches(self) -> FloatArray:
        """Rising cost ratios at which the next threshold takes over."""
        return np.array([choice.cost_ratio_low for choice in self.choices[1:]])

    @property
    def probabilities(self) -> FloatArray:
        """Probability of each interval, if the class sizes are those of the validation data."""
        odds = self.n_negative / self.n_positive
        return cost_moments(self.scenario.costs, self.switches, odds)[0]

    @property
    def never_alarms(self) -> bool:
        """Whether the policy raises no alarm at any cost ratio."""
        return all(choice.never_alarm for choice in self.choices)

    def threshold(self, cost_ratio: Any = None) -> Any:
        """Return the threshold to deploy at a cost ratio C_FP / C_FN.

        Parameters
        ----------
        cost_ratio : float or array-like, optional
            Any number of at least 0, within or beyond the scenario's range; None is the default
            threshold, for when the cost ratio is not known.

        Returns
        -------
        float or ndarray
            +inf is never alarm.
        """
        if cost_ratio is None:
            return self.default.threshold
        ratios = read_cost_ratios(cost_ratio)
        chosen = self.thresholds[np.searchsorted(self.switches, ratios, side="right")]
        return chosen if ratios.ndim else float(chosen)

    def predict(self, y_score: Any, cost_ratio: float | None = None) -> BoolArray:
        """Return which cases raise an alarm.

        Parameters
        ----------
        y_score : array-like of shape (n_cases,)
        cost_ratio : float, optional
            C_FP / C_FN now; None deploys the default threshold.

        Returns
        -------
        ndarray of bool, shape (n_cases,)
        """
        self._check_cases()
        return np.asarray(check_scores(y_score) >= self._threshold_at(cost_ratio))

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
        rule, threshold = self._check_stays(), self._threshold_at(cost_ratio)
        stays = read_stays(rows, stay, time, events)
        column = column_of(rows, score, "score")
        sounded, later = sound(stays, stays.highest(column), threshold, rule, parse_state(state))
        return stays.to_inputs(sounded, column), later

    def evaluate_stays(
        self,
        rows: Any = None,
        *,
        stay: Any,
        time: Any,
        score: Any,
        events: Any,
        groups: Any = None,
        cost_ratio: float | None = None,
        confidence: float = 0.95,
    ) -> StayEvaluation:
        """Evaluate what `alarms` sounds over new stays, threshold and rule fixed.

        Parameters
        ----------
        rows, stay, time, score, events, groups
            As in `voros.alarm_points`, of one model.
        cost_ratio : float, optional
            As in `alarms`.
        confidence : float in (0, 1), default 0.95
            Of the intervals.

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
        threshold 0.9 on 3 stays, 1 event, 0.833333 patient-days
                                         value   95 % interval         limit
        precision                       1.0000  ...  at least 0.5
        recall of events                1.0000  ...
        alarms per patient-day          1.2000  ...     at most 4
        events caught                   1 of 1
        number needed to evaluate            1
        lead time, quartiles in hours  3 / 3 / 3
        stays with an alarm             1 of 3
        first alarm useful              1 of 1
        limits kept on these cases: yes
        intervals take patients as independent
        """
        rule, deployment = self._check_stays(), self._deployment(cost_ratio, by_cost=False)
        columns = {"stay": stay, "time": time, "score": score, "events": events, "groups": groups}
        points = alarm_points(rows, **columns, rule=rule)
        return evaluate_stays(deployment, points, check_confidence(confidence))

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

    def fixed(self) -> ThresholdPolicy:
        """Return the policy that deploys the default threshold whatever the cost ratio is."""
        strategy: PolicyStrategy = "single" if self.strategy in COST_AWARE else self.strategy
        return replace(self, strategy=strategy, choices=(self.default,))

    def at_prevalence(self, prevalence: float) -> ThresholdPolicy:
        """Return the policy for where positives are more or less common: label shift.

        Assumed is that positives and negatives each score as on the validation data, and only
        their shares differ. Then TPR and FPR of every threshold stay, precision and alarms are
        those of the new shares, and the thresholds of this policy that keep the limits there are
        chosen from anew.

        Only thresholds of this policy are looked at. With the validation cases at hand,
        `from_validation` with ``Scenario(prevalence=...)`` looks at all of them, and may find a
        better one. A guarantee does not carry over: its tests are of the cases as they were drawn.

        Parameters
        ----------
        prevalence : float in (0, 1)

        Warns
        -----
        NeverAlarmWarning
            When no threshold of the policy keeps the limits there.

        Examples
        --------
        >>> import voros
        >>> y, scores = [0, 1, 0, 1, 1, 0, 0, 0], [0.1, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2]
        >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
        >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
        >>> policy.threshold(), policy.at_prevalence(0.15).threshold()
        (0.5, 0.9)
        """
        self._check_cases()
        # Most policies stay where they were made.
        from voros.policy.prevalence import policy_at

        return policy_at(self, prevalence)

    def evaluate(
        self,
        y_true: Any,
        y_score: Any = None,
        *,
        cost_ratio: float | None = None,
        by_cost: bool = False,
        pos_label: Any = None,
        sample_weight: Any = None,
        confidence: float = 0.95,
        periods: Any = None,
        times: Any = None,
        groups: Any = None,
        by: Any = None,
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
        confidence : float in (0, 1), default 0.95
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
            `PolicyEvaluation.by_group` has the measures of each. Groups of fewer than 10 cases
            are pooled; `voros.Subgroups.of` has other ways, and intersections. Not with weights.

        Examples
        --------
        >>> import voros
        >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
        >>> policy = voros.ThresholdPolicy.from_validation(
        ...     [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2], scenario
        ... )
        >>> policy.evaluate([0, 1, 0, 0], [0.75, 0.9, 0.8, 0.1])
        default threshold on 4 cases, 1 positive
                               mean      95 % interval         limit
        expected cost        0.2052   0.0290 to 0.8874
        cost of 1,000 cases      75     10.14 to 680.8
        precision            0.3333   0.0084 to 0.9057  at least 0.5
        recall               1.0000   0.0250 to 1.0000
        alarms                    3  0.77648 to 3.9748     at most 2
        limits kept on these cases: no
        precision 0.3333 is 0.1667 below 0.5, at cost ratios 0.1 to 0.2 (probability 1)
        capacity 3 is 1 above 2, at cost ratios 0.1 to 0.2 (probability 1)
        intervals take cases as independent
        """
        self._check_cases()
        per_case = {"sample_weight": sample_weight, "periods": periods, "times": times}
        per_case |= {"groups": groups, "by": by}
        deployment, sure = self._deployment(cost_ratio, by_cost), check_confidence(confidence)
        points = points_of_one(y_true, y_score=y_score, pos_label=pos_label, **per_case)
        if points is not None:
            return deployment.evaluate_points(points, sure)
        check_aligned(y_true=y_true, y_score=y_score, **per_case)
        positive, scores, weights = check_cases(
            y_true,
            y_score,
            self._positive_label(y_true, pos_label),
            sample_weight,
            both_classes=False,
        )
        read = read_periods(self.scenario, y_true, periods, times)
        codes = None if groups is None else group_codes(groups, positive)
        if codes is not None:
            _check_unweighted("groups", weights)
        found = deployment.evaluate_cases(positive, scores, weights, sure, read, codes)
        if by is None:
            return found
        _check_unweighted("by", weights)
        return found.with_groups(read_subgroups(by, len(positive)), positive, scores, codes)

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
            words = f"threshold at cost ratio {float(cost_ratio):.4g}"
            scenario = scenario.changed(cost_ratio=cost_ratio)
        return Deployment(thresholds, switches, scenario, self.guarantee, words)

    def _positive_label(self, y_true: Any, pos_label: Any) -> Any:
        """The positive label stated now or else on validation, where labels are not yes or no."""
        if pos_label is not None or getattr(y_true, "dtype", None) == np.bool_:
            return pos_label
        return self.pos_label

    def confidence_curve(self) -> ConfidenceCurve:
        """Return what each confidence of the guarantee's ladder would deploy, and what it costs.

        The ladder was fixed beforehand, so any of its confidences may be chosen after a look at
        the curve: decide again with ``guarantee=policy.guarantee.at(0.8)``.
        """
        confidence = None if self.guarantee is None else self.guarantee.confidence
        return check_curve(self.curve, confidence)

    def frame(self, backend: str | None = None) -> Any:
        """Return the policy as a data frame, one row per interval of the cost ratio.

        The counts are those on the validation data; `probability` is that of the interval.
        """
        columns = choice_columns(self.choices) | {"probability": self.probabilities.tolist()}
        return make_frame(columns, backend)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the policy as JSON text, and write it to a file if a path is given.

        Numbers are read back exactly. The file appears whole or not at all, and an existing one
        is replaced only with ``force=True``.
        """
        return saved(json_text(self.fields()), path, force=force)

    def fields(self) -> dict[str, Any]:
        """Return everything that is saved, in values that strict JSON can hold."""
        label = _check_label(self.pos_label)
        return with_checksum(
            {
                "format": POLICY_FORMAT,
                "schema": POLICY_SCHEMA,
                "model": self.model,
                "strategy": self.strategy,
                "scenario": self.scenario.fields(),
                "guarantee": self.guarantee,
                "n_models": self.n_models,
                "pos_label": label,
                "origin": self.origin,
                "validation": {"n_positive": self.n_positive, "n_negative": self.n_negative},
                "default": self.default,
                "choices": self.choices,
                "curve": self.curve,
                "rule": None if self.rule is None else self.rule.fields(),
            }
        )

    @classmethod
    def from_json(cls, source: str | Path) -> ThresholdPolicy:
        """Read a policy back from JSON text or from a file."""
        return cls(**parse_policy(source))

    def __eq__(self, other: object) -> bool:
        """Compare everything that is saved."""
        return isinstance(other, ThresholdPolicy) and self.fields() == other.fields()

    def __hash__(self) -> int:
        """Hash scenario and thresholds."""
        return hash((self.scenario, self.strategy, self.thresholds.tobytes()))

    def _repr_html_(self) -> str:
        """Show limits, guarantee and thresholds, for notebooks."""
        return policy_html(self)

    def __repr__(self) -> str:
        """Summarise the policy."""
        used = int(np.count_nonzero(self.probabilities))
        count = "1 threshold" if used == 1 else f"{used} thresholds"
        return (
            f"ThresholdPolicy({self.strategy!r}: {count} on {self.scenario.costs!r}, "
            f"default {self.default.threshold:.6g})"
        )


def climbed(
    points: OperatingPoints,
    scenario: Scenario,
    strategy: PolicyStrategy,
    guarantee: Guarantee | None,
    n_models: int,
    model: str | None,
) -> tuple[AllowedThresholds, tuple[ConfidenceStep, ...]]:
    """Return the thresholds that may be deployed, and what each confidence of a ladder costs.

    Of a ladder they are those of the highest confidence at which something passes.
    """
    if guarantee is None or not isinstance(guarantee.confidence, tuple):
        return allowed_thresholds(points, scenario, guarantee, n_models), ()
    tried = [allowed_thresholds(points, scenario, step, n_models) for step in guarantee.steps]
    tried.append(allowed_thresholds(points, limits_under(guarantee, scenario)))
    policies = [ThresholdPolicy.decided(each, strategy, model) for each in tried]
    chosen = next((each for each in tried[:-1] if each.decision.can_alarm), tried[0])
    return chosen, tuple(map(ConfidenceStep.from_policy, policies))


def _check_unweighted(name: str, weights: FloatArray | None) -> None:
    if weights is not None:
        raise ArgumentError(
            name,
            " cannot be combined with sample_weight: the intervals of groups are exact for whole "
            "cases; accepted are cases without weights",
        )


def _check_label(label: Any) -> Any:
    if label is None or isinstance(label, (str, bool, int, float)):
        return label
    raise ValueError(
        f"pos_label={label!r} cannot be saved as JSON; accepted are text, numbers, True and False"
    )


def _plain(label: Any) -> Any:
    """Return numpy's numbers and texts as Python's."""
    return label.item() if isinstance(label, np.generic) else label


def _check_thresholds(points: OperatingPoints) -> None:
    if points.on_device is None and np.isnan(points.thresholds).any():
        raise ValueError(
            "points carry no thresholds, so none can be deployed; whole-number scores of 2**53 or "
            "beyond have none that a float could hold: rescale or rank them first"
        )
