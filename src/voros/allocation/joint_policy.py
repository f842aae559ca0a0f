"""JointPolicy: one threshold for each stream that shares a capacity; `load_policy` for any kind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from voros.allocation.joint_evaluation import JointEvaluation, evaluate_streams
from voros.allocation.problem import JointChoice, JointPromise, Overlap, most_alarms
from voros.allocation.streams import UNLABELLED, Arrangement, StreamCases, read_streams
from voros.core.alignment import check_aligned
from voros.core.arguments import check_confidence
from voros.core.scenario import Scenario
from voros.core.shared_capacity import Certificate
from voros.exceptions import ArgumentError
from voros.io.documents import DocumentError, read_document
from voros.io.frames import make_frame
from voros.io.writing import json_text, saved, with_checksum
from voros.policy.saved_policy import POLICY_FORMAT, saved_scenario
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import WORKLIST_FORMAT, Worklist
from voros.text.numbers import count, count_within, short, threshold_text
from voros.text.table import Table
from voros.typing import BoolArray

JOINT_FORMAT = "voros joint policy"
JOINT_SCHEMA = 8
"""Version of the fields of a file."""

PLAIN_PARTS = ("arrangement", "overlap", "n_cases", "n_periods")
SAVED_PARTS = (*PLAIN_PARTS, "default", "certificate", "promise", "values")
"""Fields of a file besides the streams and the limit."""


@dataclass(frozen=True, kw_only=True)
class JointPolicy:
    """Thresholds for several streams that share one capacity; `voros.allocate` makes it.

    Attributes
    ----------
    names : tuple of str
        The streams.
    scenarios : tuple of Scenario
        Limits and costs of each stream; their capacity is that of the stream alone.
    miss_weights : tuple of float
        What a miss costs in each stream.
    limit : Scenario
        The shared capacity; its costs are not used.
    arrangement : {"outcomes", "groups"}
    overlap : {"each", "once"}
        Whether a case with several alarms counts once.
    sizes : tuple of pairs
        Positives and negatives of each stream in the validation data.
    n_cases : float
    default : JointChoice
        The thresholds of least expected cost.
    certificate : Certificate
        Proof that no other thresholds cost less.
    promise : JointPromise or None
    n_periods : int or None
        Number of periods in the validation data, where each has a capacity.
    values : tuple of pairs, or None
        Sums of miss values and of false alarm costs of each stream, where cases have values.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> policy.max_alarms, round(policy.saved_share, 4)
    (3.0, 0.6667)
    >>> policy.predict([6, 3], by=["a", "b"]).tolist()
    [True, False]
    """

    names: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    miss_weights: tuple[float, ...]
    limit: Scenario
    arrangement: Arrangement
    overlap: Overlap
    sizes: tuple[tuple[float, float], ...]
    n_cases: float
    default: JointChoice
    certificate: Certificate
    promise: JointPromise | None = None
    n_periods: int | None = None
    values: tuple[tuple[float, float], ...] | None = None

    @property
    def costed(self) -> tuple[tuple[float, float], ...]:
        """The sums of values of each stream, or its class sizes, from which costs are computed."""
        return self.sizes if self.values is None else self.values

    @property
    def max_alarms(self) -> float:
        """The shared capacity as a number of alarms on the validation cases."""
        return most_alarms(self.limit, self.n_cases, self.n_periods)

    @property
    def never_alarm_cost(self) -> float:
        """The cost of raising no alarm."""
        return float(sum(w * p for w, (p, _) in zip(self.miss_weights, self.costed, strict=True)))

    @property
    def saved_share(self) -> float:
        """The share of `never_alarm_cost` that the policy saves, from 0 to 1."""
        return 1.0 - self.default.cost / self.never_alarm_cost

    def thresholds(self) -> dict[str, float]:
        """Return the threshold of each stream; +inf raises no alarm."""
        return dict(zip(self.names, self.default.thresholds, strict=True))

    def predict(self, scores: Any, *, by: Any = None) -> BoolArray | dict[str, BoolArray]:
        """Return which cases raise an alarm: by stream, or for groups one array.

        Parameters
        ----------
        scores, by
            As in `voros.allocate`, with the same streams.
        """
        check_aligned(scores=scores, by=by)
        cases = policy_cases(self, scores, by=by)
        thresholds = self.thresholds()
        alarms = {name: cases.alarms(name, thresholds[name]) for name in self.names}
        if self.arrangement == "groups":
            return np.asarray(np.any(list(alarms.values()), axis=0))
        return alarms

    def evaluate(
        self,
        y_true: Any,
        scores: Any,
        *,
        by: Any = None,
        times: Any = None,
        periods: Any = None,
        confidence_level: float = 0.95,
        miss_value: Any = None,
        false_alarm_cost: Any = None,
    ) -> JointEvaluation:
        """Evaluate the thresholds on new cases.

        Parameters
        ----------
        y_true, scores, by
            As in `voros.allocate`, with the same streams.
        times, periods : array-like of shape (n_cases,), optional
            The time or period of each new case; required where the capacity is per period.
        confidence_level : float, default 0.95
            Confidence level of the exact intervals.
        miss_value, false_alarm_cost
            As in `voros.allocate`; required where the policy was made with values.

        Returns
        -------
        JointEvaluation
        """
        check_confidence(confidence_level, "confidence_level")
        check_aligned(y_true=y_true, scores=scores, by=by, times=times, periods=periods)
        cases = policy_cases(self, scores, by=by, y_true=y_true)
        cases = cases.in_periods(self.limit, periods, times)
        cases = cases.with_values(miss_value, false_alarm_cost)
        if self.values is not None and not cases.values:
            raise ArgumentError(
                "miss_value",
                " and false_alarm_cost are missing: the policy was decided on values of cases, and "
                "its cost ratio multiplies them",
            )
        return evaluate_streams(self, cases, confidence_level)

    def table(self) -> Table:
        """Return alarms, precision, recall and misses of each stream on the validation data."""
        head = ("stream", "threshold", "alarms", "precision", "recall", "misses")
        rows = [self._row(i) for i in range(len(self.names))]
        missed = sum(p - t for (p, _), t in zip(self.sizes, self.default.tp, strict=True))
        last = ("together", "", self._used, "", "", count(missed))
        return Table.from_rows([head, *rows, last])

    @property
    def _used(self) -> str:
        visits = self.default.n_flagged_cases
        used = count(sum(self.default.alarms)) if visits is None else f"{visits:,} visits"
        return (
            f"{used} of {count_within(self.max_alarms)}" if np.isfinite(self.max_alarms) else used
        )

    @property
    def above_in_words(self) -> str:
        """How many periods exceed the capacity, where each period has one."""
        if self.default.n_above is None:
            return ""
        of = f"{self.default.n_above:,} of {self.n_periods:,} periods"
        return f"{of} above {self.limit.capacity:,}"

    def _row(self, i: int) -> tuple[str, ...]:
        choice = self.default
        tp, alarms, positives = choice.tp[i], choice.alarms[i], self.sizes[i][0]
        threshold = choice.thresholds[i]
        return (
            self.names[i],
            threshold_text(threshold) if alarms else "never",
            count(alarms),
            short(tp / alarms) if alarms else "",
            short(tp / positives),
            count(positives - tp),
        )

    def frame(self, backend: str | None = None) -> Any:
        """Return one row for each stream."""
        choice = self.default
        columns = {
            "stream": list(self.names),
            "threshold": list(choice.thresholds),
            "tp": list(choice.tp),
            "fp": list(choice.fp),
            "alarms": list(choice.alarms),
        }
        return make_frame(columns, backend)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the policy as JSON text, and write it to a file if a path is given."""
        columns = zip(self.names, self.scenarios, self.miss_weights, self.sizes, strict=True)
        streams = [
            {
                "name": name,
                "scenario": scenario.fields(),
                "miss_weight": weight,
                "n_positive": n_positive,
                "n_negative": n_negative,
            }
            for name, scenario, weight, (n_positive, n_negative) in columns
        ]
        document = {"format": JOINT_FORMAT, "schema": JOINT_SCHEMA, "streams": streams}
        document["limit"] = self.limit.fields()
        document |= {name: getattr(self, name) for name in SAVED_PARTS}
        return saved(json_text(with_checksum(document)), path, force=force)

    @classmethod
    def from_json(cls, source: str | Path) -> JointPolicy:
        """Read a policy back from JSON text or from a file.

        Returns
        -------
        JointPolicy

        Raises
        ------
        DocumentError
            If it is not a saved joint policy, or was changed after it was saved.
        """
        fields = read_document(source, "saved joint policy").saved(JOINT_FORMAT, JOINT_SCHEMA)
        streams = [stream.named() for stream in fields["streams"].items()]
        values = fields["values"].value
        return cls(
            **{name: fields[name].value for name in PLAIN_PARTS},
            names=tuple(stream["name"].value for stream in streams),
            scenarios=tuple(saved_scenario(stream["scenario"]) for stream in streams),
            miss_weights=tuple(stream["miss_weight"].value for stream in streams),
            sizes=tuple((s["n_positive"].value, s["n_negative"].value) for s in streams),
            limit=saved_scenario(fields["limit"]),
            default=fields["default"].record(JointChoice),
            certificate=fields["certificate"].record(Certificate),
            promise=fields["promise"].optional(lambda promise: promise.record(JointPromise)),
            values=None if values is None else tuple((miss, alarm) for miss, alarm in values),
        )

    @property
    def price_in_words(self) -> str:
        """What one more alarm saves, as text."""
        return f"one more alarm saves {self.in_unit(self.certificate.shadow_price)}"

    def in_unit(self, cost: float) -> str:
        """Return a cost as text, with its unit: misses, or the values of cases."""
        text = short(cost)
        unit = "in values" if self.values is not None else "miss" if text == "1" else "misses"
        return f"{text} {unit}"

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return self.table().html()

    def __repr__(self) -> str:
        """Summarise the policy."""
        parts = (
            f"{len(self.names)} streams",
            self._used + ("" if self.overlap == "once" else " alarms"),
            self.above_in_words,
            f"cost {self.in_unit(self.default.cost)}",
            self.certificate.gap_in_words,
            self.price_in_words,
        )
        return f"JointPolicy({', '.join(filter(None, parts))})"


def policy_cases(
    policy: JointPolicy, scores: Any, *, by: Any = None, y_true: Any = UNLABELLED
) -> StreamCases:
    """Read new cases of a policy's streams."""
    if (policy.arrangement == "groups") != (by is not None):
        said = "needed" if by is None else "not accepted"
        raise ArgumentError("by", f" is {said}: the streams are {policy.arrangement}")
    return read_streams(y_true, scores, by=by, names=policy.names)


AnyPolicy: TypeAlias = ThresholdPolicy | JointPolicy | Worklist

POLICY_KINDS: dict[str, type[AnyPolicy]] = {
    POLICY_FORMAT: ThresholdPolicy,
    JOINT_FORMAT: JointPolicy,
    WORKLIST_FORMAT: Worklist,
}
"""Policy classes by the format of their files."""


def load_policy(source: str | Path) -> AnyPolicy:
    """Read a policy of any kind back from JSON text or from a file.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> load_policy(policy.to_json())
    JointPolicy(2 streams, 2 of 3 alarms, cost 1 miss, ...)
    """
    document = read_document(source, "saved policy")
    fields = document.value if isinstance(document.value, dict) else {}
    kind = POLICY_KINDS.get(str(fields.get("format")))
    if kind is None:
        raise DocumentError(f"{document.origin} is not a saved policy: it has no policy format")
    return kind.from_json(source)
