"""Streams, limits and decisions of a policy of any kind, for a monitor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from voros.alarms import AlarmRule
from voros.allocation.joint_policy import AnyPolicy, JointPolicy, policy_cases
from voros.core.alignment import check_aligned
from voros.core.arrays import as_vector, check_same_length, named_columns
from voros.core.cases import check_cases, label_or_remembered, read_labels
from voros.core.risk_curve import RiskCurve
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.models import model_column
from voros.monitoring.settings import Settings, finite_scores, read_ids
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import Worklist
from voros.typing import AnyArray, BoolArray, FloatArray

ONLY = ""
"""Name of the outcome and of the stream where a policy has only one."""

OVER_STAYS = "policy over stays"

REFUSED = {
    "ThresholdPolicy": ("by",),
    "Worklist": ("by", "cost_ratio"),
    "JointPolicy": ("cost_ratio", "max_cost", "validation"),
    OVER_STAYS: ("by", "groups", "periods", "max_cost", "score_unit", "validation"),
}
"""Arguments that are not accepted with each kind of policy."""


class Decided(NamedTuple):
    """Decisions about one outcome, an entry for each case."""

    outcome: AnyArray
    stream: AnyArray
    score: FloatArray
    alarm: BoolArray


@dataclass(frozen=True, kw_only=True)
class WatchedPolicy:
    """A policy as a monitor sees it.

    Attributes
    ----------
    policy : ThresholdPolicy, JointPolicy or Worklist
    floors : mapping of str to float
        The precision floor of each stream.
    outcomes : mapping of str to tuple of str
        The streams of each outcome. A case has a score and a label for each outcome.
    limits : Scenario
        The scenario; its capacity is that of all streams together.
    n_cases : float
        Number of validation cases.
    single : ThresholdPolicy or None
        The policy of one model, or the one that a worklist was compared with.
    """

    policy: AnyPolicy
    floors: Mapping[str, float]
    outcomes: Mapping[str, tuple[str, ...]]
    limits: Scenario
    n_cases: float
    single: ThresholdPolicy | None = None

    @classmethod
    def from_policy(cls, policy: AnyPolicy) -> WatchedPolicy:
        """Check the kind of a policy and read its limits."""
        if not isinstance(policy, AnyPolicy):
            raise TypeError(
                f"policy is a {type(policy).__name__}; accepted is a ThresholdPolicy, a "
                "JointPolicy or a Worklist"
            )
        single = policy.policy if isinstance(policy, Worklist) else policy
        if single.values is not None:
            raise ArgumentError(
                "policy",
                " was decided on values of cases, and a monitor counts cases; accepted are "
                "policies without miss_value and false_alarm_cost",
            )
        if isinstance(single, JointPolicy):
            return cls._from_joint(single)
        return cls(
            policy=policy,
            floors={ONLY: single.scenario.min_precision},
            outcomes={ONLY: (ONLY,)},
            limits=single.scenario,
            n_cases=single.n_positive + single.n_negative,
            single=single,
        )

    @classmethod
    def _from_joint(cls, policy: JointPolicy) -> WatchedPolicy:
        limits, n_cases = policy.limit, policy.n_cases
        share = min(policy.max_alarms / n_cases, 1.0)
        floors = (scenario.min_precision for scenario in policy.scenarios)
        by_subgroup = policy.arrangement == "groups"
        return cls(
            policy=policy,
            floors=dict(zip(policy.names, floors, strict=True)),
            outcomes={ONLY: policy.names} if by_subgroup else {n: (n,) for n in policy.names},
            limits=Scenario(capacity=share, cost_ratio=1.0) if limits.per is None else limits,
            n_cases=n_cases,
        )

    @property
    def model(self) -> str | None:
        """The model of the scores, where one was named."""
        return None if self.single is None else self.single.model

    @property
    def rule(self) -> AlarmRule | None:
        """The rule of alarms over stays; None for a policy on single cases."""
        return None if self.single is None else self.single.rule

    @property
    def units(self) -> str:
        """What the monitor counts, in the plural."""
        return "cases" if self.rule is None else "stays"

    @property
    def flags_once(self) -> bool:
        """Whether a case with alarms of several outcomes counts once for the capacity."""
        return isinstance(self.policy, JointPolicy) and self.policy.overlap == "once"

    @property
    def kind(self) -> str:
        """The kind of the policy, on which the accepted arguments depend."""
        return type(self.policy).__name__ if self.rule is None else OVER_STAYS

    def refuse(self, **arguments: Any) -> None:
        """Refuse arguments that this kind of policy does not take."""
        for name, value in arguments.items():
            if value is not None and name in REFUSED[self.kind]:
                raise ArgumentError(name, f" is not accepted with a {self.kind}; leave it out")

    def check_settings(self, settings: Settings) -> None:
        """Refuse settings that this policy does not take."""
        self.refuse(**vars(settings))
        if isinstance(self.policy, ThresholdPolicy):
            self.policy.threshold(settings.cost_ratio)

    def decide(self, y_score: Any, by: Any, cost_ratio: float | None) -> list[Decided]:
        """Decide on new cases; worklists and stays are decided later, with the rows before."""
        if isinstance(self.policy, JointPolicy):
            return self._decide_streams(self.policy, y_score, by)
        scores = finite_scores(model_column(y_score, self.model))
        alarms = np.zeros(len(scores), dtype=np.bool_)
        if isinstance(self.policy, ThresholdPolicy) and self.rule is None:
            alarms = self.policy.predict(scores, cost_ratio)
        return [self._of_stream(ONLY, scores, alarms)]

    @staticmethod
    def _of_stream(name: str, scores: FloatArray, alarms: BoolArray) -> Decided:
        names = np.full(len(scores), name, dtype=object)
        return Decided(names, names, scores, alarms)

    def _decide_streams(self, policy: JointPolicy, y_score: Any, by: Any) -> list[Decided]:
        cases, thresholds = policy_cases(policy, y_score, by=by), policy.thresholds()
        alarms = {name: cases.alarms(name, thresholds[name]) for name in policy.names}
        if ONLY not in self.outcomes:
            return [
                self._of_stream(name, finite_scores(cases.scores[name]), alarms[name])
                for name in policy.names
            ]
        streams = np.array([str(group) for group in as_vector(by, "by").tolist()], dtype=object)
        raised = np.any(list(alarms.values()), axis=0)
        decided = self._of_stream(ONLY, finite_scores(y_score), raised)
        return [decided._replace(stream=streams)]

    def alarms_of(self, decided: list[Decided]) -> BoolArray | dict[str, BoolArray]:
        """Return which cases raise an alarm, by outcome where there are several."""
        if ONLY in self.outcomes:
            return decided[0].alarm
        return {name: one.alarm for name, one in zip(self.outcomes, decided, strict=True)}

    def labels(self, y_true: Any, pos_label: Any) -> dict[str, BoolArray]:
        """Return who is positive, by outcome."""
        stated = None if self.single is None else self.single.pos_label
        if ONLY in self.outcomes:
            return {ONLY: read_labels(y_true, label_or_remembered(y_true, pos_label, stated))}
        columns = named_columns(y_true, "y_true")
        named = () if columns is None else [str(name) for name, _ in columns]
        if columns is None or not set(named) <= set(self.outcomes):
            has = f"has labels of {_listed(named)}" if named else "names no outcome"
            raise ArgumentError("y_true", f" {has}; the outcomes are {_listed(self.outcomes)}")
        return {
            str(name): read_labels(column, pos_label, name=f"y_true of {name!r}")
            for name, column in columns
        }

    def calibrate(self, validation: Any) -> RiskCurve | None:
        """Estimate the risk of each score from labelled cases."""
        self.refuse(validation=validation)
        if validation is None or self.single is None:
            return None
        if not isinstance(validation, tuple) or len(validation) not in (2, 3):
            is_tuple = isinstance(validation, tuple)
            shown = f"tuple of {len(validation)}" if is_tuple else type(validation).__name__
            raise ArgumentError(
                "validation",
                f" is a {shown}; accepted is a tuple of labels and scores, with the patient of "
                "each case where cases of a patient belong together",
            )
        y_true, y_score, groups = (*validation, None)[:3]
        check_aligned(y_true=y_true, y_score=y_score, groups=groups)
        y_score = model_column(y_score, self.model)
        label = label_or_remembered(y_true, None, self.single.pos_label)
        positive, _, _ = check_cases(y_true, y_score, label)
        codes = None if groups is None else read_ids(groups, "groups")
        if codes is not None:
            check_same_length(y_score=positive, groups=codes)
        prevalence = self.single.scenario.prevalence
        return RiskCurve.from_cases(positive, finite_scores(y_score), codes, prevalence)

    def check_successor(self, other: WatchedPolicy) -> None:
        """Refuse a policy with other streams."""
        own, others = (
            (policy.rule is None, list(policy.outcomes), set(policy.floors))
            for policy in (self, other)
        )
        if own != others:
            raise ArgumentError(
                "policy",
                f" is a {other.kind} of {_listed(other.floors)}, and what is deployed a "
                f"{self.kind} of {_listed(self.floors)}; make a new monitor for other streams",
            )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, filter(None, names))) or "one stream"
