"""ThresholdPolicy: which threshold to deploy at which cost ratio, decided on validation data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from voros.deployment import PolicyEvaluation, account
from voros.evaluation import Choice
from voros.exceptions import InfeasibleError, NeverAlarmWarning
from voros.expected_cost import cost_moments, mean_t
from voros.frames import make_frame
from voros.hull import CostHull, cost_hull
from voros.inputs import BoolArray, FloatArray, check_scores
from voros.limits import limits_message
from voros.policy_json import parse_policy, policy_fields, policy_text
from voros.roc import OperatingPoints
from voros.scenario import Scenario

if TYPE_CHECKING:
    from voros.inference import Guarantee

PolicyStrategy: TypeAlias = Literal["partial_voros", "voros", "partial_auroc", "recall", "single"]
POLICY_STRATEGIES: tuple[PolicyStrategy, ...] = get_args(PolicyStrategy)

COST_AWARE: tuple[PolicyStrategy, ...] = ("partial_voros", "voros")
"""Strategies that deploy another threshold when the cost ratio is another."""


@dataclass(frozen=True, eq=False)
class ThresholdPolicy:
    """The map from cost ratio to threshold, decided on validation data.

    Make one with `from_validation` or `from_points`. An alarm is ``score >= threshold``; the
    threshold +inf is never alarm, and is all that is left when nothing else meets the limits.

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
        Which thresholds were allowed beyond meeting the limits on the validation data.
    model : str or None
        Whose scores the thresholds are for, where that was said; saved with the rest.

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

    def __post_init__(self) -> None:
        """Check that the choices cover every cost ratio once."""
        _check_strategy(self.strategy)
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
    ) -> ThresholdPolicy:
        """Decide the thresholds on validation labels and scores.

        Parameters
        ----------
        y_true, y_score, pos_label, sample_weight
            As in `voros.partial_voros_score`.
        scenario : Scenario
            Limits and costs.
        strategy : str, default "partial_voros"
            "partial_voros" and "voros": at each cost ratio the best threshold that meets the
            limits (they differ in which model they select, not in its thresholds). "recall" and
            "partial_auroc": one threshold, of greatest recall within the limits, with fewest
            alarms among equals. "single": the one threshold within the limits of least expected
            normalised cost over the distribution.
        guarantee : Guarantee, optional
            Allow only thresholds that also keep the limits on future data, with confidence.

        Warns
        -----
        NeverAlarmWarning
            When no threshold but never alarm is allowed; the policy then never alarms.
        """
        points = OperatingPoints.from_scores(
            y_true, y_score, pos_label=pos_label, sample_weight=sample_weight
        )
        return cls.from_points(points, scenario, strategy=strategy, guarantee=guarantee)

    @classmethod
    def from_points(
        cls,
        points: OperatingPoints,
        scenario: Scenario,
        *,
        strategy: PolicyStrategy = "partial_voros",
        guarantee: Guarantee | None = None,
    ) -> ThresholdPolicy:
        """Decide the thresholds on operating points of the validation data.

        Parameters are those of `from_validation`; the points must carry thresholds.
        """
        _check_strategy(strategy)
        if np.isnan(points.thresholds).any():
            raise ValueError("points carry no thresholds, so none can be deployed")
        allowed = deployable(points, scenario, guarantee)
        if not allowed[1:].any():
            reason = nothing_deployable(points, scenario, guarantee)
            warnings.warn(str(reason), NeverAlarmWarning, stacklevel=2)
        cases = points.at_prevalence(scenario.prevalence)
        hull = cost_hull(cases, allowed)
        default = Choice.at(cases, _one_row(cases, scenario, hull, allowed, strategy), 0.0, np.inf)
        choices = _choices_by_cost(cases, hull) if strategy in COST_AWARE else (default,)
        return cls(
            scenario, strategy, choices, default, cases.n_positive, cases.n_negative, guarantee
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
        cases = points.at_prevalence(scenario.prevalence)
        never = Choice.at(cases, 0, 0.0, np.inf)
        return cls(
            scenario, strategy, (never,), never, cases.n_positive, cases.n_negative, guarantee
        )

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
        ratios = np.asarray(cost_ratio, dtype=np.float64)
        if not np.all(ratios >= 0):
            raise ValueError(f"cost_ratio={cost_ratio!r}; accepted are numbers of at least 0")
        chosen = self.thresholds[np.searchsorted(self.switches, ratios, side="right")]
        return chosen if ratios.ndim else float(chosen)

    def predict(self, scores: Any, cost_ratio: float | None = None) -> BoolArray:
        """Tell which cases raise an alarm.

        Parameters
        ----------
        scores : array-like of shape (n_cases,)
        cost_ratio : float, optional
            C_FP / C_FN now; None deploys the default threshold.

        Returns
        -------
        ndarray of bool, shape (n_cases,)
        """
        if cost_ratio is not None and np.ndim(cost_ratio) != 0:
            raise ValueError(
                f"cost_ratio={cost_ratio!r}; accepted is one number for all cases, because the "
                "limits were met by each threshold alone and not by mixtures of them"
            )
        return np.asarray(check_scores(scores, name="scores") >= self.threshold(cost_ratio))

    def fixed(self) -> ThresholdPolicy:
        """Return the policy that deploys the default threshold whatever the cost turns out to be.

        Evaluate this one if the cost ratio is not known at the time of the alarm.
        """
        strategy: PolicyStrategy = "single" if self.strategy in COST_AWARE else self.strategy
        return replace(self, strategy=strategy, choices=(self.default,))

    def evaluate(
        self, y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
    ) -> PolicyEvaluation:
        """Account for the policy on new labels and scores, its thresholds fixed.

        The class sizes are those of the new data: they enter the normalised cost, a capacity that
        is a share follows their sum, and a capacity that is a count stays. If the scenario names
        a prevalence, the new cases are reweighted to it first. Costs stated over t are read with
        the new class sizes as well, so that the same t can mean another cost ratio than on the
        validation data.

        Examples
        --------
        >>> import voros
        >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
        >>> policy = voros.ThresholdPolicy.from_validation(
        ...     [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2], scenario
        ... )
        >>> policy.evaluate([0, 1, 0, 0], [0.75, 0.9, 0.8, 0.1])
        expected cost   0.205246
        mean precision  0.3333
        mean alarms     3 (capacity 2)
        limits kept     no
        precision 0.3333 is 0.1667 below 0.5, at cost ratios 0.1 to 0.2 (probability 1)
        capacity 3 is 1 above 2, at cost ratios 0.1 to 0.2 (probability 1)
        """
        points = OperatingPoints.from_scores(
            y_true, y_score, pos_label=pos_label, sample_weight=sample_weight
        )
        return self.evaluate_points(points)

    def evaluate_points(self, points: OperatingPoints) -> PolicyEvaluation:
        """Account for the policy on the operating points of new data, its thresholds fixed.

        The points must be those of every distinct score, as `OperatingPoints.from_scores` gives.
        """
        return account(points, self.scenario, self.thresholds, self.switches)

    def frame(self, backend: str | None = None) -> Any:
        """Return the policy as a data frame, one row per interval of the cost ratio.

        The counts are those on the validation data; `probability` is that of the interval.
        """
        names = list(Choice.__dataclass_fields__)
        rows = {name: [getattr(choice, name) for choice in self.choices] for name in names}
        return make_frame(rows | {"probability": self.probabilities.tolist()}, backend)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the policy as JSON text, and write it to a file if a path is given.

        Numbers are read back exactly. The file appears whole or not at all, and an existing one
        is replaced only with ``force=True``.
        """
        text = policy_text(self)
        if path is not None:
            # Only who saves a policy needs the room of files.
            from voros.files import write_whole

            write_whole(path, text, force=force)
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> ThresholdPolicy:
        """Read a policy back from JSON text or from a file."""
        return cls(**parse_policy(source))

    def __eq__(self, other: object) -> bool:
        """Compare everything that is saved."""
        return isinstance(other, ThresholdPolicy) and policy_fields(self) == policy_fields(other)

    def __hash__(self) -> int:
        """Hash scenario and thresholds."""
        return hash((self.scenario, self.strategy, self.thresholds.tobytes()))

    def __repr__(self) -> str:
        """Summarise the policy."""
        used = int(np.count_nonzero(self.probabilities))
        count = "1 threshold" if used == 1 else f"{used} thresholds"
        return (
            f"ThresholdPolicy({self.strategy!r}: {count} on {self.scenario.costs!r}, "
            f"default {self.default.threshold:.6g})"
        )


def deployable(
    points: OperatingPoints, scenario: Scenario, guarantee: Guarantee | None = None
) -> BoolArray:
    """Tell which thresholds may be deployed; never alarm always may.

    ``points`` are as observed; feasibility is judged at the scenario's prevalence.
    """
    allowed = points.at_prevalence(scenario.prevalence).feasible(scenario)
    if guarantee is not None:
        allowed = allowed & np.asarray(guarantee.allowed(points, scenario), dtype=np.bool_)
    allowed[0] = True
    return allowed


def nothing_deployable(
    points: OperatingPoints, scenario: Scenario, guarantee: Guarantee | None = None
) -> str | None:
    """Say why no threshold but never alarm may be deployed; None if some other may."""
    cases = points.at_prevalence(scenario.prevalence)
    try:
        if deployable(points, scenario, guarantee)[1:].any():
            return None
    except InfeasibleError as error:
        return str(error)
    if guarantee is not None and cases.feasible(scenario)[1:].any():
        return guarantee.explain(points, scenario)
    return limits_message(cases, scenario)


def highest_recall(points: OperatingPoints, allowed: BoolArray) -> int:
    """Row of greatest recall among the allowed; of equals, the one with fewest alarms."""
    rows = np.flatnonzero(allowed)
    return int(rows[np.argmax(points.tp[rows])])


def _one_row(
    cases: OperatingPoints,
    scenario: Scenario,
    hull: CostHull,
    allowed: BoolArray,
    strategy: PolicyStrategy,
) -> int:
    if strategy in ("recall", "partial_auroc"):
        return highest_recall(cases, allowed)
    # The normalised cost is linear in t, so its mean over the costs is its value at the mean t.
    odds = cases.negatives_per_positive
    t = mean_t(scenario.costs, odds)
    ratio = t / (1.0 - t) / odds if t < 1 else np.inf
    return int(hull.index[hull.best(np.array([ratio]))[0]])


def _choices_by_cost(cases: OperatingPoints, hull: CostHull) -> tuple[Choice, ...]:
    # Rounding must not put one switch above the one before it.
    enter = np.minimum.accumulate(hull.enter)
    leave = np.append(enter[1:], 0.0)
    # An empty interval is left by thresholds on one line, and by never alarm where some other
    # threshold raises right alarms only.
    used = np.flatnonzero(leave < enter)
    return tuple(
        Choice.at(cases, hull.index[j], float(leave[j]), float(enter[j])) for j in used[::-1]
    )


def _check_strategy(strategy: str) -> None:
    if strategy not in POLICY_STRATEGIES:
        accepted = ", ".join(map(repr, POLICY_STRATEGIES))
        raise ValueError(f"strategy={strategy!r}; accepted are {accepted}")
