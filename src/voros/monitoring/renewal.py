"""Propose a new threshold from recent labelled cases, under the same guarantee."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voros.alarms.stay_rows import StayRows
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.guarantee import Guarantee
from voros.monitoring.stays import ClosedStays
from voros.monitoring.store import Store
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import Worklist, worklist
from voros.text.numbers import counted, short, threshold_text, typed
from voros.typing import BoolArray, FloatArray

STAYS = "stays"
"""Unit of a proposal over stays."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Renewal:
    """A policy proposed from recent cases; `Monitor.adopt` deploys it.

    Attributes
    ----------
    policy : ThresholdPolicy or Worklist
    old_threshold, new_threshold : float
    n_cases, n_alarms, n_unlabelled : int
        Numbers of cases whose windows have closed, of their alarms, and of alarms without a label,
        which count as false.
    recall_known : bool
        Whether every case has a label. If not, thresholds below the old one are judged as if every
        case without an alarm were negative, and recall is not known.
    number : int
        Number of this proposal in the file; the error of the guarantee is spent over all of them.
        0 without a guarantee.
    unit : str
        "cases" or "stays".

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.25, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> y, scores = [0, 1, 0, 1, 1, 0, 0, 0], [0.1, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2]
    >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
    >>> monitor = voros.Monitor(policy, window=2)
    >>> _ = monitor.update(scores, cases=range(8), times=["2026-03-01"] * 8)
    >>> _ = monitor.label(y, cases=range(8), times=["2026-03-02"] * 8)
    >>> monitor.advance("2026-03-10")
    >>> proposal = monitor.renew()
    >>> proposal.new_threshold == proposal.old_threshold, proposal.n_cases, proposal.recall_known
    (True, 8, True)
    """

    policy: ThresholdPolicy | Worklist
    old_threshold: float
    new_threshold: float
    n_cases: int
    n_alarms: int
    n_unlabelled: int
    recall_known: bool
    number: int = 0
    unit: str = "cases"

    @property
    def words(self) -> str:
        """The proposal in sentences."""
        promised = _single(self.policy).guarantee
        under = "without a guarantee" if promised is None else promised.words
        new, old = threshold_text(self.new_threshold), threshold_text(self.old_threshold)
        proposal = f"alarm at {new} instead of {old}."
        if np.isinf(self.new_threshold):
            proposal = (
                "no threshold can be deployed, and the alarm would be switched off (the old "
                f"threshold is {old})."
            )
        alarms = counted(self.n_alarms, "alarm")
        text = f"From {self.n_cases:,} recent {self.unit} with {alarms} ({under}): {proposal}"
        if self.n_unlabelled:
            text += f" {counted(self.n_unlabelled, 'alarm')} without a label counted as false."
        if not self.recall_known and self.unit == STAYS:
            text += " Stays whose outcome is not known count as if they had no event."
        elif not self.recall_known:
            text += (
                " Only alarms were labelled: recall is unknown, and a lower threshold than the old "
                "one is judged as if every case without alarm were negative."
            )
        if promised is not None:
            spent = spend(promised, self.number).alpha
            text += (
                f" This is proposal {self.number} from this file, and is tested with an error of "
                f"{short(spent)}, so that all proposals together have at most "
                f"{typed(round(promised.alpha, 9))}."
            )
        return text + " Nothing has changed yet; monitor.adopt(renewal.policy) deploys it."

    def __str__(self) -> str:
        return self.words


def spend(guarantee: Guarantee, number: int) -> Guarantee:
    """Return the guarantee of proposal 1, 2, ...; their errors sum to that of the guarantee.

    Examples
    --------
    >>> import voros
    >>> errors = [spend(voros.Guarantee(0.95), number).alpha for number in range(1, 5000)]
    >>> round(errors[0], 4), round(sum(errors), 4)
    (0.0304, 0.05)
    """
    return guarantee.with_error(6.0 / (np.pi * number) ** 2)


def count_proposal(rows: Sequence[Any], policy: ThresholdPolicy, store: Store) -> int:
    """Count a proposal inside a transaction and return its number; 0 without a guarantee."""
    if policy.guarantee is None:
        return 0
    digest = hashlib.sha256(repr((rows, policy.to_json())).encode()).hexdigest()
    number, _, last = (store.metadata("proposals") or "0 ").partition(" ")
    if digest == last:
        return int(number)
    store.keep("proposals", f"{int(number) + 1} {digest}")
    return int(number) + 1


def _single(policy: ThresholdPolicy | Worklist) -> ThresholdPolicy:
    return policy.policy if isinstance(policy, Worklist) else policy


def _threshold(policy: ThresholdPolicy | Worklist, cost_ratio: float | None) -> float:
    return policy.threshold if isinstance(policy, Worklist) else policy.threshold(cost_ratio)


def _asked(policy: ThresholdPolicy, number: int) -> dict[str, Any]:
    """Return the arguments that decide a proposal as the policy, with its part of the error."""
    how: dict[str, Any] = {"strategy": policy.strategy, "model": policy.model}
    if policy.guarantee is not None:
        how |= {"guarantee": spend(policy.guarantee, number), "n_models": 1}
    return how


def _promised(chosen: ThresholdPolicy, old: ThresholdPolicy) -> ThresholdPolicy:
    """Return a chosen policy under the guarantee that all proposals keep together."""
    return replace(chosen, guarantee=old.guarantee, pos_label=old.pos_label)


def propose(
    rows: Sequence[tuple[Any, ...]],
    policy: ThresholdPolicy | Worklist,
    cost_ratio: float | None,
    number: int = 0,
) -> Renewal:
    """Choose thresholds on recent cases, as `ThresholdPolicy.from_validation` or `worklist` does.

    All cases count for the capacity. An alarm without a label counts as false, so that labels that
    are missing for a reason cannot certify a threshold.
    """
    if not rows:
        raise ValueError("there are no cases whose windows have closed; a new threshold needs some")
    period, _, score, alarm, patient, value = zip(*rows, strict=True)
    scores, alarms = np.array(score), np.array(alarm, dtype=bool)
    labels = np.array(value, dtype=float)
    unknown, positive = np.isnan(labels), labels == 1
    n_silent = int(unknown[~alarms].sum())
    if n_silent and _single(policy).scenario.min_recall is not None:
        raise ValueError(
            f"{n_silent:,} recent cases without an alarm have no label; a threshold that keeps a "
            "recall floor needs the labels of all"
        )
    if n_silent:
        # Labelled cases without an alarm need not be a random sample, so none of them counts.
        positive, scores = positive & alarms, np.where(alarms, scores, scores.min())
    if positive.all() or not positive.any():
        raise ValueError(
            f"{len(scores):,} recent cases are all of one class, as far as they are labelled; a "
            "new threshold needs both"
        )
    renewed = _choose(policy, positive, scores, period, patient, number)
    return Renewal(
        policy=renewed,
        old_threshold=_threshold(policy, cost_ratio),
        new_threshold=_threshold(renewed, cost_ratio),
        n_cases=len(scores),
        n_alarms=int(alarms.sum()),
        n_unlabelled=int((alarms & unknown).sum()),
        recall_known=not n_silent,
        number=number,
    )


def _choose(
    policy: ThresholdPolicy | Worklist,
    positive: BoolArray,
    scores: FloatArray,
    period: Sequence[str],
    patient: Sequence[str | None],
    number: int,
) -> ThresholdPolicy | Worklist:
    scenario = _scenario(_single(policy))
    periods = None if scenario.per is None else np.array(period)
    if isinstance(policy, Worklist):
        listed = worklist(positive, scores, scenario, periods=periods, model=policy.model)
        return replace(listed, policy=_promised(listed.policy, policy.policy))
    how = {"groups": _groups(patient, policy), "periods": periods, **_asked(policy, number)}
    return _promised(ThresholdPolicy.from_validation(positive, scores, scenario, **how), policy)


def propose_on_stays(
    closed: ClosedStays, policy: ThresholdPolicy, cost_ratio: float | None, number: int = 0
) -> Renewal:
    """Choose thresholds on recent stays, as `ThresholdPolicy.from_points` does.

    A stay whose outcome is not known counts as one without an event, so its alarms are false.
    """
    origin, old = policy.origin, policy.threshold(cost_ratio)
    n_unknown = int(closed.unknown.sum())
    assert policy.rule is not None
    if policy.guarantee is not None and origin and origin.n_groups != origin.n_stays:
        raise ValueError(
            "the policy was certified by patient (groups=), and a monitor takes stays as "
            "independent; choose it again on recent stays with voros.alarm_points"
        )
    if not len(closed.stays.event_stay):
        raise ValueError("no recent stay whose window has closed has an event; one is needed")
    if n_unknown and policy.scenario.min_recall is not None:
        raise ValueError(
            f"the outcome of {n_unknown:,} recent stays is not known; a threshold that keeps a "
            "recall floor needs the outcomes of all"
        )
    stays = StayRows.from_scored(closed.under(policy.rule), np.arange(len(closed.known)))
    how = _asked(policy, number)
    renewed = ThresholdPolicy.from_points(stays.points(), _scenario(policy), **how)
    alarms = stays.counts(np.array([old])).alarms[:, 0]
    return Renewal(
        policy=_promised(renewed, policy),
        old_threshold=old,
        new_threshold=renewed.threshold(cost_ratio),
        n_cases=stays.n_stays,
        n_alarms=int(alarms.sum()),
        n_unlabelled=int(alarms[closed.unknown].sum()),
        recall_known=not n_unknown,
        number=number,
        unit=STAYS,
    )


def _scenario(policy: ThresholdPolicy) -> Scenario:
    """Return limits for any number of cases: a capacity in alarms becomes a share or a rate."""
    scenario, guarantee = policy.scenario, policy.guarantee
    by_horizon = guarantee is not None and guarantee.horizon is not None
    if not scenario.capacity_is_count or scenario.per is not None or by_horizon:
        return scenario
    if policy.rule is not None and policy.origin is not None:
        rate = float(scenario.capacity) / (policy.origin.patient_days or np.nan)
        return replace(scenario, capacity=rate, per=PATIENT_DAY)
    n_cases = policy.n_positive + policy.n_negative
    return replace(scenario, capacity=min(float(scenario.capacity / n_cases), 1.0))


def _groups(patients: Sequence[str | None], policy: ThresholdPolicy) -> list[str] | None:
    """Return the patient of each case where a guarantee needs it."""
    missing = sum(patient is None for patient in patients)
    by_patient = policy.origin is not None and policy.origin.n_groups is not None
    if policy.guarantee is not None and by_patient and missing:
        raise ValueError(
            f"the policy was certified by patient (groups=), and {missing:,} of {len(patients):,} "
            "recent cases came without one; feed the monitor with update(..., groups=...), or "
            "certify a policy on cases that are independent"
        )
    if policy.guarantee is None or policy.scenario.per is not None or missing == len(patients):
        return None
    return [f"alone {i}" if name is None else f"of {name}" for i, name in enumerate(patients)]
