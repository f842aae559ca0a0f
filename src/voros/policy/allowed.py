"""The thresholds of a model that may be deployed, within the limits and under a guarantee."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from voros.core.arguments import as_number, check_count
from voros.core.costs import CostDistribution
from voros.core.decision import Decision, decide, solve
from voros.core.hull import Choice, CostHull
from voros.core.limits import limits_message
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.core.volume import mean_t
from voros.exceptions import (
    ArgumentError,
    DependentPeriodsWarning,
    IncompleteCountsError,
    InfeasibleError,
    warn_caller,
)

if TYPE_CHECKING:
    from voros.alarms import AlarmRule
    from voros.guarantee import Guarantee


PolicyStrategy: TypeAlias = Literal["partial_voros", "voros", "partial_auroc", "recall", "single"]
POLICY_STRATEGIES: tuple[PolicyStrategy, ...] = get_args(PolicyStrategy)

SCORED = {"partial_voros", "voros", "partial_auroc"}
"""Scores that the few thresholds of a policy do not show."""

COST_AWARE: tuple[PolicyStrategy, ...] = ("partial_voros", "voros")
"""Strategies that deploy another threshold when the cost ratio is another."""

BY_RECALL: tuple[PolicyStrategy, ...] = ("partial_auroc", "recall")
"""Strategies that deploy the threshold of greatest recall."""

DEPENDENT = 2.0
"""Standard errors above 0, 1/sqrt(n) each, at which periods are called dependent."""

LONGER_BLOCK = 7
"""The block that is suggested first: days of a week."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What thresholds were decided on, and by which version of voros.

    Attributes
    ----------
    n_positive, n_negative : float
        Validation cases of each class as observed, or the sums of their weights.
    n_groups : int or None
        How many patients they belong to, where that was said.
    n_periods : int or None
        How many periods they fall in, where the capacity is one per period.
    period_correlation : float or None
        Of the alarms of neighbouring periods, or blocks of them, at the most lenient threshold
        that a guarantee allows.
    version : str
    n_development : int or None
        On how many development cases model and thresholds were fixed before the validation cases
        certified them, where that was so.
    n_planned : int or None
        How many thresholds were fixed there, to be tested in sequence.
    n_stays : int or None
    patient_days : float or None
        Of alarms over stays: how many stays there were, and how long, at the scenario's prevalence.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> policy = voros.ThresholdPolicy.from_validation([0, 1, 0, 1], [0.1, 0.9, 0.8, 0.7], scenario)
    >>> origin = policy.origin
    >>> origin.n_positive, origin.n_negative, origin.version == voros.__version__
    (2, 2, True)
    """

    n_positive: float
    n_negative: float
    n_groups: int | None
    n_periods: int | None
    period_correlation: float | None
    version: str
    n_development: int | None = None
    n_planned: int | None = None
    n_stays: int | None = None
    patient_days: float | None = None

    @property
    def plan(self) -> str:
        """How thresholds were fixed before validation, in words; empty where they were not."""
        if self.n_development is None or self.n_planned is None:
            return ""
        one = self.n_planned == 1
        tested = "one threshold" if one else f"{self.n_planned:,} thresholds in sequence"
        return f"tested {tested}, fixed on {self.n_development:,} development cases"

    @classmethod
    def from_points(
        cls, points: OperatingPoints, threshold: float, guarantee: Guarantee | None
    ) -> Origin:
        """Describe the cases behind points as observed; the threshold is the most lenient one."""
        stays = points.stays
        n_groups = None if points.grouped is None else points.grouped.n_groups
        n_periods = None if points.by_period is None else points.by_period.n_periods
        correlation = None
        if points.by_period is not None and guarantee is not None:
            correlation = points.by_period.correlation(threshold, guarantee.block)
        # Imported lazily: circular dependency.
        version: str = import_module("voros").__version__
        return cls(
            n_positive=points.n_positive,
            n_negative=points.n_negative,
            n_groups=n_groups if stays is None else stays.n_units,
            n_periods=n_periods,
            period_correlation=correlation,
            version=version,
            n_stays=None if stays is None else stays.n_stays,
        )


@dataclass(frozen=True, eq=False)
class AllowedThresholds:
    """The thresholds of one model that may be deployed, and the promise they keep.

    Attributes
    ----------
    decision : Decision
        About few points: never alarm, the allowed thresholds that are best at some cost ratio, and
        the one of greatest recall. No policy deploys any other. Scores of all thresholds are known
        where they were computed before; others raise IncompleteCountsError.
    guarantee : Guarantee or None
        The promise that holds for whichever of `n_models` is deployed.
    n_models : int
        Over how many models its error was split.
    origin : Origin
    rule : AlarmRule or None
        Of alarms over stays.
    """

    decision: Decision
    guarantee: Guarantee | None
    n_models: int
    origin: Origin
    rule: AlarmRule | None = None

    @classmethod
    def from_decision(
        cls,
        observed: OperatingPoints,
        decision: Decision,
        guarantee: Guarantee | None,
        n_models: int,
        **developed: Any,
    ) -> AllowedThresholds:
        """Keep of a decision about points as observed what a policy can choose.

        ``developed`` are the entries of `Origin` about development cases.
        """
        kept = _kept(decision)
        lenient = float(kept.points.thresholds[-1])
        origin = replace(Origin.from_points(observed, lenient, guarantee), **developed)
        stays = decision.points.stays
        if stays is None:
            return cls(kept, guarantee, n_models, origin)
        origin = replace(origin, patient_days=stays.patient_days)
        return cls(kept, guarantee, n_models, origin, stays.rule)


def _kept(decision: Decision) -> Decision:
    """Return a decision about the points that a policy can choose, with what all points show."""
    known: dict[str, Any] = {name: vars(decision)[name] for name in SCORED & vars(decision).keys()}
    rows = np.append(decision.hull.index, 0)
    with suppress(IncompleteCountsError):
        rows = np.append(rows, decision.highest_recall)
        known["highest_recall"] = int(np.searchsorted(np.unique(rows), decision.highest_recall))
    rows, hull = np.unique(rows), decision.hull
    known["hull"] = CostHull(np.searchsorted(rows, hull.index), hull.enter)
    known["can_alarm"] = decision.can_alarm
    kept = replace(
        decision,
        points=decision.points.take(rows),
        feasible=decision.feasible[rows],
        observed=None,
        count_area=None,
    )
    vars(kept).update(known)
    return kept


def mean_cost_ratio(costs: CostDistribution, negatives_per_positive: float) -> float:
    """Return the cost ratio at which a threshold costs what it costs on average.

    The normalised cost is linear in t, so its mean over the costs is its value at the mean t.
    """
    t = mean_t(costs, negatives_per_positive)
    return t / (1.0 - t) / negatives_per_positive if t < 1 else np.inf


def choose(decision: Decision, strategy: PolicyStrategy) -> tuple[tuple[Choice, ...], Choice]:
    """Return the threshold for each interval of the cost ratio, and the default one."""
    points, hull = decision.points, decision.hull
    if strategy in BY_RECALL:
        row = decision.highest_recall
    else:
        ratio = mean_cost_ratio(decision.scenario.costs, points.negatives_per_positive)
        row = int(hull.index[hull.best(np.array([ratio]))[0]])
    default = Choice.at(points, row, 0.0, np.inf)
    return (hull.choices(points) if strategy in COST_AWARE else (default,)), default


def allowed_thresholds(
    points: OperatingPoints,
    scenario: Scenario,
    guarantee: Guarantee | None = None,
    n_models: int = 1,
) -> AllowedThresholds:
    """Decide which thresholds of one model may be deployed; the tests are run once.

    Parameters
    ----------
    points : OperatingPoints
        As observed; feasibility is judged at the scenario's prevalence.
    scenario : Scenario
    guarantee : Guarantee, optional
        The promise to keep for whichever of the models is deployed.
    n_models : int, default 1
        How many models the one to deploy is chosen from on these cases.
    """
    share = split(guarantee, n_models)
    scenario = limits_under(guarantee, scenario)
    decision = deployable(points, scenario, share)
    return AllowedThresholds.from_decision(points, decision, guarantee, n_models)


def warn_if_dependent(correlation: float, n_units: int, per: str, block: int) -> None:
    """Warn where a correlation is further above 0 than independent periods would bring it."""
    if correlation <= DEPENDENT * n_units**-0.5:
        return
    units = f"periods (per {per})" if block == 1 else f"blocks of {block} periods (per {per})"
    longer = LONGER_BLOCK if block == 1 else 2 * block
    warn_caller(
        f"alarms of neighbouring {units} are correlated: {correlation:.2f} over {n_units:,} of "
        "them. The guarantee takes them as independent and may not hold; "
        f"Guarantee(block={longer}) takes {longer} neighbouring periods together as one",
        DependentPeriodsWarning,
    )


def check_groups(guarantee: Guarantee | None, groups: object) -> None:
    """Refuse groups that nothing would look at."""
    if groups is not None and guarantee is None:
        raise ValueError(
            "groups needs a guarantee: without one, thresholds are those that meet the limits on "
            "these cases, whoever they belong to"
        )


def split(guarantee: Guarantee | None, n_models: int) -> Guarantee | None:
    """Return what to ask of each of several models, one of which will be deployed."""
    if guarantee is None or n_models == 1:
        return guarantee
    return guarantee.split(n_models)


NAME = "guarantee"


def read_guarantee(guarantee: object) -> Guarantee | None:
    """Return a guarantee, or None; a number is its confidence, several are a ladder.

    Examples
    --------
    >>> read_guarantee(0.95)
    Guarantee(confidence=0.95, horizon=None)
    """
    # Imported lazily: circular dependency.
    from voros.guarantee import Guarantee

    if guarantee is None or isinstance(guarantee, Guarantee):
        return guarantee
    if isinstance(guarantee, (Real, tuple, list)) and not isinstance(guarantee, bool):
        plain = guarantee if isinstance(guarantee, (tuple, list)) else as_number(guarantee, NAME)
        try:
            return Guarantee(plain)  # type: ignore[arg-type]
        except ArgumentError as error:
            raise ValueError(f"{NAME}={guarantee!r}: {error}") from None
    raise TypeError(f"guarantee={guarantee!r}; accepted is a voros.Guarantee or a confidence")


def check_guarantee(guarantee: object) -> Guarantee:
    """Return a guarantee of one confidence, or raise if it is anything else."""
    promise = read_guarantee(guarantee)
    if promise is None:
        raise TypeError("guarantee=None; accepted is a voros.Guarantee or a confidence")
    promise.alpha  # noqa: B018  (raises where it is a ladder)
    return promise


def limits_under(guarantee: Guarantee | None, scenario: Scenario) -> Scenario:
    """Read the limits as the guarantee does: a capacity of whole alarms is one per horizon."""
    if guarantee is None or guarantee.horizon is None:
        return scenario
    return guarantee.limits(scenario)


def deployable(
    points: OperatingPoints, scenario: Scenario, guarantee: Guarantee | None = None
) -> Decision:
    """Decide which thresholds may be deployed; never alarm always may.

    ``points`` are as observed, and feasibility is judged at the scenario's prevalence; the limits
    are read as the guarantee does (`limits_under`).
    """
    if guarantee is None:
        return decide(points, scenario)
    return solve(points, scenario, guarantee.certified(points, scenario))


def why_never_alarm(
    points: OperatingPoints,
    scenario: Scenario,
    guarantee: Guarantee | None = None,
    n_models: int = 1,
) -> str:
    """Say why no threshold but never alarm may be deployed, where that is so.

    The guarantee is for whichever of several models is deployed. Of a ladder, why not even at its
    lowest confidence.
    """
    scenario = limits_under(guarantee, scenario)
    if guarantee is not None:
        guarantee = guarantee.steps[-1]
    try:
        decision = decide(points, scenario)
    except InfeasibleError as error:
        return str(error)
    if guarantee is not None and decision.can_alarm:
        return guarantee.explain(points, scenario, n_models)
    return limits_message(decision)


def check_n_models(guarantee: Guarantee | None, n_models: int | None) -> int:
    """Return from how many models one was chosen; a guarantee does not take it for granted."""
    if n_models is not None:
        return check_count(n_models, "n_models", "a whole number above 0")
    if guarantee is None:
        return 1
    raise ValueError(
        "a guarantee needs n_models, from how many models this one was chosen on these cases: "
        "n_models=1 if it was fixed before they were looked at. After select_model(..., "
        "guarantee=...), selection.policy() is the winner's policy and keeps the promise"
    )
