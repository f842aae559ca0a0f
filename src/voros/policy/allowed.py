"""The thresholds of a model that may be deployed within the limits, under a guarantee or not."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.arguments import check_count
from voros.core.costs import CostDistribution
from voros.core.decision import Decision, decide, reachable, solve
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
from voros.policy.origin import BY_RECALL, COST_AWARE, Origin, PolicyStrategy
from voros.text.numbers import short

if TYPE_CHECKING:
    from voros.alarms import AlarmRule
    from voros.guarantee import Guarantee


SCORED = {"partial_voros", "voros", "partial_auroc", "expected_cost"}
"""Scores that cannot be computed from the few thresholds of a policy."""

DEPENDENT = 2.0
"""Standard errors, of 1/sqrt(n), above which a correlation of periods raises a warning."""

LONGER_BLOCK = 7
"""The block that is suggested first: the days of a week."""


@dataclass(frozen=True, eq=False)
class AllowedThresholds:
    """The thresholds of one model that may be deployed, and the promise they keep.

    Attributes
    ----------
    decision : Decision
        On the few points that a policy can deploy: no alarm, the allowed thresholds that are best
        at some cost ratio, and that of greatest recall. Scores that need all thresholds are known
        where they were computed before, and raise IncompleteCountsError otherwise.
    guarantee : Guarantee or None
        The promise that holds for whichever of `n_models` is deployed.
    n_models : int
        Number of models over which its error was split.
    origin : Origin
    rule : AlarmRule or None
        The rule of alarms over stays.
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
        """Keep the part of a decision about observed points that a policy can deploy.

        ``developed`` are the entries of `Origin` about development cases.
        """
        kept, periods, stays = kept_decision(decision), observed.by_period, observed.stays
        correlation = None
        if periods is not None and guarantee is not None:
            lenient = float(kept.points.thresholds[-1])
            correlation = periods.correlation(lenient, guarantee.block)
        n_groups = None if observed.grouped is None else observed.grouped.n_groups
        if stays is not None and decision.points.stays is not None:
            # The days are those at the scenario's prevalence.
            days = decision.points.stays.patient_days
            developed |= {"n_stays": stays.n_stays, "patient_days": days}
            n_groups = stays.n_units
        origin = Origin(
            n_positive=observed.n_positive,
            n_negative=observed.n_negative,
            n_groups=n_groups,
            n_periods=None if periods is None else periods.n_periods,
            period_correlation=correlation,
            # Imported lazily: circular dependency.
            version=import_module("voros").__version__,
            **developed,
        )
        return cls(kept, guarantee, n_models, origin, None if stays is None else stays.rule)


def kept_decision(decision: Decision) -> Decision:
    """Return a decision on the points that a policy can deploy, with scores of all points."""
    known: dict[str, Any] = {name: vars(decision)[name] for name in SCORED & vars(decision).keys()}
    rows = np.append(decision.hull.index, 0)
    with suppress(IncompleteCountsError):
        rows = np.append(rows, decision.highest_recall)
        known["highest_recall"] = int(np.searchsorted(np.unique(rows), decision.highest_recall))
    rows, hull = np.unique(rows), decision.hull
    known["hull"] = CostHull(np.searchsorted(rows, hull.index), hull.enter)
    known["can_alarm"] = decision.can_alarm
    kept = replace(
        decision, points=decision.points.take(rows), feasible=decision.feasible[rows], observed=None
    )
    vars(kept).update(known)
    return kept


def mean_cost_ratio(costs: CostDistribution, negatives_per_positive: float) -> float:
    """Return the cost ratio at which the cost of any threshold is its mean over the costs.

    The normalised cost is linear in t, so its mean is its value at the mean t.
    """
    t = mean_t(costs, negatives_per_positive)
    return t / (1.0 - t) / negatives_per_positive if t < 1 else np.inf


def choose(decision: Decision, strategy: PolicyStrategy) -> tuple[tuple[Choice, ...], Choice]:
    """Return the threshold for each interval of the cost ratio, and the default threshold."""
    points, hull = decision.points, decision.hull
    if strategy in BY_RECALL:
        row = decision.highest_recall
    else:
        ratio = mean_cost_ratio(decision.scenario.costs, points.costed.negatives_per_positive)
        row = int(hull.index[hull.best(np.array([ratio]))[0]])
    default = Choice.at(points, row, 0.0, np.inf)
    return (hull.choices(points) if strategy in COST_AWARE else (default,)), default


def limits_under(guarantee: Guarantee | None, scenario: Scenario) -> Scenario:
    """Return the limits as the guarantee reads them: whole alarms are those of one horizon."""
    return scenario if guarantee is None else guarantee.limits(scenario)


def allowed_thresholds(
    points: OperatingPoints,
    scenario: Scenario,
    guarantee: Guarantee | None = None,
    n_models: int = 1,
) -> AllowedThresholds:
    """Decide which thresholds of one model may be deployed; parameters as in `deployable`."""
    decision = deployable(points, scenario, guarantee, n_models)
    return AllowedThresholds.from_decision(points, decision, guarantee, n_models)


def warn_if_dependent(allowed: AllowedThresholds) -> None:
    """Warn if a guarantee takes periods as independent and their alarms are correlated."""
    origin, guarantee = allowed.origin, allowed.guarantee
    if guarantee is not None and origin.n_periods and origin.period_correlation is not None:
        n_units, per = origin.n_periods // guarantee.block, allowed.decision.scenario.per or ""
        warn_of_correlation(origin.period_correlation, n_units, per, guarantee.block)


def warn_of_correlation(correlation: float, n_units: int, per: str, block: int) -> None:
    """Warn if a correlation is higher than that of independent periods is likely to be."""
    if correlation <= DEPENDENT * n_units**-0.5:
        return
    units = f"periods (per {per})" if block == 1 else f"blocks of {block} periods (per {per})"
    longer = LONGER_BLOCK if block == 1 else 2 * block
    warn_caller(
        f"alarms of neighbouring {units} are correlated: {short(correlation)} over {n_units:,} of "
        "them. The guarantee takes them as independent and may not hold; "
        f"Guarantee(block={longer}) takes {longer} neighbouring periods together as one",
        DependentPeriodsWarning,
    )


def read_guarantee(guarantee: object) -> Guarantee | None:
    """Return a guarantee, or None; a number is its confidence, and several are a ladder.

    Examples
    --------
    >>> read_guarantee(0.95)
    Guarantee(confidence=0.95, horizon=None)
    """
    # Imported lazily: scipy.special takes as long to load as the rest of a policy.
    from voros.guarantee import Guarantee

    if guarantee is None or isinstance(guarantee, Guarantee):
        return guarantee
    if isinstance(guarantee, (Real, tuple, list)) and not isinstance(guarantee, bool):
        try:
            return Guarantee(guarantee)  # type: ignore[arg-type]
        except ArgumentError as error:
            raise ValueError(f"guarantee={guarantee!r}: {error}") from None
    raise TypeError(f"guarantee={guarantee!r}; accepted is a voros.Guarantee or a confidence")


def check_guarantee(guarantee: object) -> Guarantee:
    """Return a guarantee of one confidence, or raise for anything else."""
    promise = read_guarantee(guarantee)
    if promise is None:
        raise TypeError("guarantee=None; accepted is a voros.Guarantee or a confidence")
    promise.alpha  # noqa: B018  (raises where it is a ladder)
    return promise


def deployable(
    points: OperatingPoints,
    scenario: Scenario,
    guarantee: Guarantee | None = None,
    n_models: int = 1,
) -> Decision:
    """Decide which thresholds of one model may be deployed.

    Parameters
    ----------
    points : OperatingPoints
        As observed; feasibility is judged at the scenario's prevalence.
    scenario : Scenario
    guarantee : Guarantee, optional
        The promise to keep for whichever of the models is deployed.
    n_models : int, default 1
        Number of models from which the one to deploy is chosen on these cases.
    """
    if guarantee is None:
        return decide(points, scenario)
    limits = guarantee.limits(scenario)
    return reachable(solve(points, limits, guarantee.split(n_models).certified(points, limits)))


def why_never_alarm(
    points: OperatingPoints,
    scenario: Scenario,
    guarantee: Guarantee | None = None,
    n_models: int = 1,
) -> str:
    """Say why no threshold that raises an alarm may be deployed; parameters as in `deployable`.

    For a ladder, say why none may be deployed at its lowest confidence.
    """
    scenario = limits_under(guarantee, scenario)
    try:
        decision = decide(points, scenario)
    except InfeasibleError as error:
        return str(error)
    if guarantee is not None and decision.can_alarm:
        return guarantee.steps[-1].explain(points, scenario, n_models)
    return limits_message(decision)


def check_n_models(guarantee: Guarantee | None, n_models: int | None) -> int:
    """Return the number of models from which one was chosen; a guarantee must be told it."""
    if n_models is not None:
        return check_count(n_models, "n_models", "a whole number above 0")
    if guarantee is None:
        return 1
    raise ValueError(
        "a guarantee needs n_models, the number of models from which this one was chosen on these "
        "cases: n_models=1 if it was fixed beforehand. After select_model(..., "
        "guarantee=...), selection.policy() is the winner's policy and keeps the promise"
    )
