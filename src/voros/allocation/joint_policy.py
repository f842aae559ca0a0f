"""JointPolicy: one threshold for each stream that shares a capacity, and its JSON form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from voros.allocation.choices import OVERLAPS, JointChoice, JointPromise, Overlap, SharedLimit
from voros.allocation.joint_consistency import check_joint
from voros.allocation.joint_evaluation import (
    JointEvaluation,
    StreamScores,
    evaluate_streams,
    score_streams,
)
from voros.allocation.streams import (
    ARRANGEMENTS,
    UNLABELLED,
    Arrangement,
    StreamCases,
    read_streams,
)
from voros.core.alignment import check_aligned
from voros.core.arguments import check_confidence, check_number
from voros.core.scenario import Scenario
from voros.core.shared_capacity import Certificate
from voros.exceptions import ArgumentError
from voros.io.documents import Entry, read_document
from voros.io.frames import make_frame
from voros.io.writing import json_text, saved, with_checksum
from voros.policy.saved_policy import saved_scenario
from voros.text.table import Table
from voros.typing import BoolArray


@dataclass(frozen=True, kw_only=True)
class JointPolicy:
    """Thresholds for several streams that share one capacity; `voros.allocate` makes it.

    Attributes
    ----------
    names : tuple of str
        The streams.
    scenarios : tuple of Scenario
        Limits and costs of each; their capacity is the stream's own.
    miss_weights : tuple of float
        What a miss costs in each.
    limit : SharedLimit
        The shared capacity.
    arrangement : {"outcomes", "one_alarm", "groups"}
    overlap : {"each", "once"}
        Whether a case with several alarms counts once.
    sizes : tuple of pairs
        Positives and negatives of each stream in the validation data.
    n_cases : float
    default : JointChoice
        Of least expected cost.
    pieces : tuple of JointChoice
        The best thresholds as the cost ratios sweep their distributions, where asked for.
    certificate : Certificate
        Of the default choice.
    promise : JointPromise or None

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
    limit: SharedLimit
    arrangement: Arrangement
    overlap: Overlap
    sizes: tuple[tuple[float, float], ...]
    n_cases: float
    default: JointChoice
    pieces: tuple[JointChoice, ...]
    certificate: Certificate
    promise: JointPromise | None = None

    @property
    def max_alarms(self) -> float:
        """The shared capacity as a number of alarms on the validation cases."""
        return self.limit.max_alarms(self.n_cases)

    @property
    def never_alarm_cost(self) -> float:
        """What it costs to raise no alarm at all."""
        return float(sum(w * p for w, (p, _) in zip(self.miss_weights, self.sizes, strict=True)))

    @property
    def saved_share(self) -> float:
        """The share of the cost of never alarm that the policy saves; 0 at worst, at most 1."""
        return 1.0 - self.default.cost / self.never_alarm_cost

    def choice(self, quantile: float | None = None) -> JointChoice:
        """Return the thresholds at a quantile of the cost ratios; by default those for all."""
        if quantile is None:
            return self.default
        check_number(quantile, "quantile")
        if not self.pieces:
            raise ArgumentError(
                "quantile",
                f"={quantile!r}: the policy has one choice for all costs; make it with "
                "voros.allocate(..., by_cost=True)",
            )
        return next(piece for piece in self.pieces if quantile <= piece.quantile_high)

    def thresholds(self, quantile: float | None = None) -> dict[str, float]:
        """Return the threshold of each stream; +inf is never alarm."""
        return dict(zip(self.names, self.choice(quantile).thresholds, strict=True))

    def predict(
        self, scores: Any, *, by: Any = None, quantile: float | None = None
    ) -> BoolArray | dict[str, BoolArray]:
        """Return which cases raise an alarm: by stream, or for groups one array.

        Parameters
        ----------
        scores, by
            As in `voros.allocate`, with the same streams.
        quantile : float in [0, 1], optional
            Where the cost ratios are in their distributions now.
        """
        check_aligned(scores=scores, by=by)
        cases = policy_cases(self, scores, by=by)
        thresholds = self.thresholds(quantile)
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
        classes: Sequence[Any] | None = None,
        quantile: float | None = None,
        times: Any = None,
        periods: Any = None,
        n_periods: float | None = None,
        confidence_level: float = 0.95,
    ) -> JointEvaluation:
        """Evaluate the thresholds on new cases.

        Parameters
        ----------
        y_true, scores, by, classes
            As in `voros.allocate`, with the same streams.
        quantile : float in [0, 1], optional
            Where the cost ratios are in their distributions now.
        times, periods : array-like of shape (n_cases,), optional
            When the new cases fall, or in which period; needed where the policy was made so.
        n_periods : float, optional
            How many periods the new cases span, where the policy was made with that.
        confidence_level : float, default 0.95
            Of the exact intervals.
        """
        check_confidence(confidence_level, "confidence_level")
        check_aligned(y_true=y_true, scores=scores, by=by, times=times, periods=periods)
        cases = policy_cases(self, scores, by=by, y_true=y_true, classes=classes)
        cases, limit = self._over(cases, times, periods, n_periods)
        return evaluate_streams(self, cases, self.choice(quantile), limit, confidence_level)

    def stream_scores(
        self,
        y_true: Any,
        scores: Any,
        *,
        by: Any = None,
        classes: Sequence[Any] | None = None,
        shares: Any = None,
        summary_weight: Any = None,
        times: Any = None,
        periods: Any = None,
        n_periods: float | None = None,
    ) -> StreamScores:
        """Score every stream with partial VOROS at its share of the capacity.

        Parameters
        ----------
        y_true, scores, by, classes, times, periods, n_periods
            As in `evaluate`.
        shares : mapping of str to float, optional
            Each stream's share of the capacity; they add up to 1 at most. State them to compare
            models: by default each stream has its share of this policy's alarms.
        summary_weight : mapping of str to float, optional
            Of the streams in the summary; by default in proportion to what never alarm costs in
            each, the weight of a miss times the positives.

        Examples
        --------
        With one stream this is the paper's metric:

        >>> import voros
        >>> y, s = {"death": [1, 0, 1, 0, 0, 1]}, {"death": [0.9, 0.8, 0.7, 0.4, 0.3, 0.2]}
        >>> scenario = voros.Scenario(min_precision=0.4, cost_ratio=(0.1, 0.2))
        >>> policy = voros.allocate(y, s, scenario, capacity=0.5)
        >>> alone = voros.Scenario(min_precision=0.4, capacity=0.5, cost_ratio=(0.1, 0.2))
        >>> whole = voros.partial_voros_score(y["death"], s["death"], alone)
        >>> policy.stream_scores(y, s).summary == whole
        True
        """
        check_aligned(y_true=y_true, scores=scores, by=by, times=times, periods=periods)
        cases = policy_cases(self, scores, by=by, y_true=y_true, classes=classes)
        cases, limit = self._over(cases, times, periods, n_periods)
        if limit.exceed is not None:
            raise ArgumentError(
                "exceed",
                f"={limit.exceed!r} of the policy: streams have shares of a number of alarms, and "
                "a limit on each period is not; accepted is a mean over the periods",
            )
        return score_streams(self, cases, limit.max_alarms(cases.n_cases), shares, summary_weight)

    def _over(
        self, cases: StreamCases, times: Any, periods: Any, n_periods: float | None
    ) -> tuple[StreamCases, SharedLimit]:
        """Return new cases with their periods, and the limit over them."""
        stated = None if self.limit.per is not None else self.limit.n_periods
        if (stated is None) != (n_periods is None):
            said = " is needed" if n_periods is None else f"={n_periods!r} is not accepted"
            raise ArgumentError("n_periods", f"{said}: that of the policy is {stated!r}")
        cases = cases.in_periods(self.limit.scenario, periods, times)
        limit = replace(self.limit, n_periods=n_periods).over(cases.periods)
        return cases, limit

    def table(self, quantile: float | None = None) -> Table:
        """Return what each stream does on the validation data."""
        choice = self.choice(quantile)
        head = ("stream", "threshold", "alarms", "precision", "recall", "misses")
        rows = [self._row(i, choice) for i in range(len(self.names))]
        missed = sum(p - t for (p, _), t in zip(self.sizes, choice.tp, strict=True))
        last = ("together", "", self._used(choice), "", "", f"{missed:,.6g}")
        return Table.from_rows([head, *rows, last])

    def _used(self, choice: JointChoice) -> str:
        used = f"{sum(choice.alarms):,.6g}"
        if choice.n_flagged_cases is not None:
            used = f"{choice.n_flagged_cases:,} visits"
        return f"{used} of {self.max_alarms:,.6g}" if np.isfinite(self.max_alarms) else used

    @property
    def above_in_words(self) -> str:
        """How many periods have more alarms than the capacity, where that is limited."""
        if self.default.n_above is None:
            return ""
        of = f"{self.default.n_above:,} of {self.limit.n_periods:,.6g} periods"
        return f"{of} above {self.limit.capacity:,}"

    def _row(self, i: int, choice: JointChoice) -> tuple[str, ...]:
        tp, alarms, positives = choice.tp[i], choice.alarms[i], self.sizes[i][0]
        threshold = choice.thresholds[i]
        return (
            self.names[i],
            f"{threshold:.6g}" if alarms else "never alarm",
            f"{alarms:,.6g}",
            f"{tp / alarms:.4f}" if alarms else "",
            f"{tp / positives:.4f}",
            f"{positives - tp:,.6g}",
        )

    def frame(self, backend: str | None = None) -> Any:
        """Return one row for each stream and choice, the default first."""
        rows = [
            {
                "choice": label,
                "quantile_low": choice.quantile_low,
                "quantile_high": choice.quantile_high,
                "stream": name,
                "threshold": choice.thresholds[i],
                "tp": choice.tp[i],
                "fp": choice.fp[i],
                "alarms": choice.alarms[i],
            }
            for label, choice in [("default", self.default), *(("piece", p) for p in self.pieces)]
            for i, name in enumerate(self.names)
        ]
        return make_frame({key: [row[key] for row in rows] for key in rows[0]}, backend)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the policy as JSON text, and write it to a file if a path is given."""
        return saved(joint_text(self), path, force=force)

    @classmethod
    def from_json(cls, source: str | Path) -> JointPolicy:
        """Read a policy back from JSON text or from a file."""
        return cls(**parse_joint(source))

    def _repr_html_(self) -> str:
        """Show what each stream does, for notebooks."""
        return self.table().html()

    def __repr__(self) -> str:
        """Summarise the policy."""
        parts = (
            f"{len(self.names)} streams",
            self._used(self.default) + ("" if self.overlap == "once" else " alarms"),
            self.above_in_words,
            f"cost {self.default.cost:.6g}",
            self.certificate.gap_in_words,
            self.certificate.price_in_words,
        )
        return f"JointPolicy({', '.join(filter(None, parts))})"


def policy_cases(
    policy: JointPolicy,
    scores: Any,
    *,
    by: Any = None,
    y_true: Any = UNLABELLED,
    classes: Sequence[Any] | None = None,
) -> StreamCases:
    """Read new cases of a policy's streams."""
    if (policy.arrangement == "groups") != (by is not None):
        said = "needed" if by is None else "not accepted"
        raise ArgumentError("by", f" is {said}: the streams are {policy.arrangement}")
    one_alarm = policy.arrangement == "one_alarm"
    named = policy.names if classes is None else None
    return read_streams(y_true, scores, by=by, classes=classes, one_alarm=one_alarm, names=named)


JOINT_FORMAT = "voros joint policy"
JOINT_SCHEMA = 4
"""Raised whenever the fields of a file change."""

_KEYS = (
    *("format", "schema", "streams", "limit", "arrangement", "overlap"),
    *("n_cases", "default", "pieces", "certificate", "promise", "checksum"),
)


def joint_text(policy: JointPolicy) -> str:
    """Return a policy as JSON text."""
    streams = [
        {
            "name": name,
            "scenario": scenario.fields(),
            "miss_weight": weight,
            "n_positive": sizes[0],
            "n_negative": sizes[1],
        }
        for name, scenario, weight, sizes in zip(
            policy.names, policy.scenarios, policy.miss_weights, policy.sizes, strict=True
        )
    ]
    plain = ("limit", "arrangement", "overlap", "n_cases")
    parts = ("default", "pieces", "certificate", "promise")
    fields = {name: getattr(policy, name) for name in (*plain, *parts)}
    head = {"format": JOINT_FORMAT, "schema": JOINT_SCHEMA, "streams": streams}
    return json_text(with_checksum(head | fields))


def parse_joint(source: str | Path) -> dict[str, Any]:
    """Read JSON text or a file into the arguments of `JointPolicy`.

    Raises
    ------
    DocumentError
        Naming the key that no saved policy could hold.
    """
    document = read_document(source, "saved joint policy")
    document.check_format(JOINT_FORMAT, JOINT_SCHEMA)
    entries = document.keys(*_KEYS)
    streams = [_read_stream(stream) for stream in entries["streams"].items()]
    if not streams:
        entries["streams"].refuse("at least one stream")
    names, scenarios, weights, sizes = (tuple(column) for column in zip(*streams, strict=True))
    if len(set(names)) < len(names):
        entries["streams"].contradict("name a stream twice")
    arguments = {
        "names": names,
        "scenarios": scenarios,
        "miss_weights": weights,
        "sizes": sizes,
        "limit": _read_limit(entries["limit"]),
        "arrangement": entries["arrangement"].one_of(ARRANGEMENTS),
        "overlap": entries["overlap"].one_of(OVERLAPS),
        "n_cases": entries["n_cases"].number(0),
        "default": _read_choice(entries["default"], len(names)),
        "pieces": tuple(_read_choice(piece, len(names)) for piece in entries["pieces"].items()),
        "certificate": _read_certificate(entries["certificate"]),
        "promise": entries["promise"].optional(_read_promise),
    }
    check_joint(entries, arguments)
    document.check_unchanged()
    return arguments


def _read_stream(entry: Entry) -> tuple[Any, ...]:
    fields = entry.keys("name", "scenario", "miss_weight", "n_positive", "n_negative")
    sizes = fields["n_positive"].number(0), fields["n_negative"].number(0)
    scenario = saved_scenario(fields["scenario"])
    return fields["name"].text(), scenario, fields["miss_weight"].number(0), sizes


def _read_limit(entry: Entry) -> SharedLimit:
    fields = entry.keys(*SharedLimit.__dataclass_fields__)
    per = fields["per"].optional(lambda field: field.text())
    exceed = fields["exceed"].optional(lambda field: field.number(0, 1))
    n_periods = fields["n_periods"].optional(lambda field: field.number(0))
    stated = None if per is not None else n_periods
    limit: SharedLimit = entry.made(
        SharedLimit.from_arguments, fields["capacity"].number(0), per, exceed, stated
    )
    return replace(limit, n_periods=n_periods)


def _read_choice(entry: Entry, n_streams: int) -> JointChoice:
    fields = entry.keys(*JointChoice.__dataclass_fields__)
    thresholds = [float(item.number(finite=False)) for item in fields["thresholds"].items()]
    columns = {"thresholds": tuple(thresholds)}
    columns |= {name: tuple(fields[name].numbers(0)) for name in ("tp", "fp")}
    if any(len(column) != n_streams for column in columns.values()):
        entry.contradict(f"does not have {n_streams} thresholds and counts, one for each stream")
    low, high = (fields[f"quantile_{end}"].number(0, 1) for end in ("low", "high"))
    above, visits = (
        fields[name].optional(lambda field: field.whole())
        for name in ("n_above", "n_flagged_cases")
    )
    at, tp, fp = columns["thresholds"], columns["tp"], columns["fp"]
    return JointChoice(
        quantile_low=low,
        quantile_high=high,
        thresholds=at,
        tp=tp,
        fp=fp,
        cost=fields["cost"].number(),
        n_above=above,
        n_flagged_cases=visits,
    )


def _read_certificate(entry: Entry) -> Certificate:
    fields = entry.keys(*Certificate.__dataclass_fields__)
    states = fields.pop("n_states").whole()
    price = fields.pop("shadow_price").optional(lambda field: field.number())
    numbers = {name: field.number() for name, field in fields.items()}
    return Certificate(n_states=states, shadow_price=price, **numbers)


def _read_promise(entry: Entry) -> JointPromise:
    fields = entry.keys(*JointPromise.__dataclass_fields__)
    names = tuple(name.text() for name in fields["uncertified"].items())
    return JointPromise(
        confidence=fields["confidence"].number(0, 1),
        n_tested=fields["n_tested"].whole(),
        uncertified=names,
        units=fields["units"].one_of(("cases", "patients", "periods")),
        horizon=fields["horizon"].optional(lambda field: field.whole()),
        block=fields["block"].whole(1),
    )
