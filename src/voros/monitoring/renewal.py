"""A new threshold from recent labelled cases, under the same guarantee: only a proposal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.policy import ThresholdPolicy


@dataclass(frozen=True, eq=False)
class Renewal:
    """A policy that recent cases suggest; `Monitor.adopt` deploys it.

    Attributes
    ----------
    policy : ThresholdPolicy
    old_threshold, new_threshold : float
    n_cases, n_alarms, n_unlabelled : int
        Cases whose windows have closed, alarms of them, and alarms left out for want of a label.
    recall_known : bool
        Whether every case was labelled. Where only alarms were, thresholds below the old one are
        judged as if every other case were negative, and recall is not known.

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

    policy: ThresholdPolicy
    old_threshold: float
    new_threshold: float
    n_cases: int
    n_alarms: int
    n_unlabelled: int
    recall_known: bool

    @property
    def words(self) -> str:
        """The proposal in sentences."""
        promised = self.policy.guarantee
        under = "without a guarantee, as at first" if promised is None else f"under {promised!r}"
        text = (
            f"From {self.n_cases:,} recent cases with {self.n_alarms:,} alarms, {under}: alarm at "
            f"{self.new_threshold:g} instead of {self.old_threshold:g}."
        )
        if self.n_unlabelled:
            text += f" {self.n_unlabelled:,} alarms without a label were left out."
        if not self.recall_known:
            text += (
                " Only alarms were labelled: recall is unknown, and a lower threshold than the old "
                "one is judged as if every case without alarm were negative."
            )
        return text + " Nothing has changed yet; monitor.adopt(renewal.policy) deploys it."

    def __str__(self) -> str:
        return self.words


def propose(
    rows: Sequence[tuple[Any, ...]], policy: ThresholdPolicy, cost_ratio: float | None
) -> Renewal:
    """Decide thresholds on recent cases, as `ThresholdPolicy.from_validation` does."""
    if not rows:
        raise ValueError("there are no cases whose windows have closed; a new threshold needs some")
    period, _, score, alarm, patient, value = zip(*rows, strict=True)
    scores, alarms = np.array(score), np.array(alarm, dtype=bool)
    labels = np.array(value, dtype=float)
    known = ~np.isnan(labels)
    recall_known = bool(known[~alarms].all())
    if not recall_known:
        # Who was looked at without an alarm is no fair sample of those who were not.
        labels, known = np.where(alarms, labels, 0.0), known | ~alarms
        scores = np.where(alarms, scores, scores.min())
    positive = labels[known] == 1
    if positive.all() or not positive.any():
        raise ValueError(
            f"{int(known.sum()):,} recent labelled cases are all of one class; a new threshold "
            "needs both"
        )
    several = any(name is not None for name in patient)
    renewed = ThresholdPolicy.from_validation(
        positive,
        scores[known],
        policy.scenario,
        strategy=policy.strategy,
        guarantee=policy.guarantee,
        n_models=None if policy.guarantee is None else 1,
        groups=_groups(patient, known) if several and policy.guarantee is not None else None,
        model=policy.model,
        periods=None if policy.scenario.per is None else np.array(period)[known],
    )
    return Renewal(
        renewed,
        policy.threshold(cost_ratio),
        renewed.threshold(cost_ratio),
        len(scores),
        int(alarms.sum()),
        int((alarms & ~known).sum()),
        recall_known,
    )


def _groups(patients: Sequence[str | None], known: Any) -> list[str]:
    names = [f"alone {i}" if name is None else f"of {name}" for i, name in enumerate(patients)]
    return [name for name, kept in zip(names, known.tolist(), strict=True) if kept]
