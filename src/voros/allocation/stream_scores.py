"""Partial VOROS of each stream at its share of the capacity, and their weighted mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voros.allocation.streams import StreamCases, by_stream
from voros.core.arrays import check_number
from voros.core.decision import solve
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.io.frames import make_frame
from voros.text.table import Shown, Table

if TYPE_CHECKING:
    from voros.allocation.joint_policy import JointPolicy

DECIMALS = 9
"""Shares of a capacity are rounded to these: a ninth of nine alarms is one alarm."""


@dataclass(frozen=True)
class StreamScore:
    """Partial VOROS of one stream.

    Attributes
    ----------
    name : str
    max_alarms : float
        The stream's share of the capacity, in alarms.
    partial_voros : float
        At the stream's floor, costs and share; 0 where the share admits no alarm.
    weight : float
        In the summary; the weights add up to 1.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> policy.stream_scores(y, s, by=ward).streams[1]
    StreamScore(name='b', max_alarms=1.5, partial_voros=0.8958, weight=0.6667)
    """

    name: str
    max_alarms: float
    partial_voros: float
    weight: float


@dataclass(frozen=True, repr=False)
class StreamScores(Shown):
    """Partial VOROS of every stream, and the summary.

    Attributes
    ----------
    streams : tuple of StreamScore

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> policy.stream_scores(y, s, by=ward)
    stream   share in alarms  partial VOROS  weight
    a                    1.5         1.0000  0.3333
    b                    1.5         0.8958  0.6667
    summary                          0.9306  1.0000
    """

    streams: tuple[StreamScore, ...]

    @property
    def summary(self) -> float:
        """The weighted mean of partial VOROS, within [0, 1]; higher is better."""
        return sum(stream.weight * stream.partial_voros for stream in self.streams)

    def table(self) -> Table:
        """Return one row for each stream, and the summary."""
        rows = [("stream", "share in alarms", "partial VOROS", "weight")]
        rows += [
            (s.name, f"{s.max_alarms:,.6g}", f"{s.partial_voros:.4f}", f"{s.weight:.4f}")
            for s in self.streams
        ]
        return Table.from_rows([*rows, ("summary", "", f"{self.summary:.4f}", "1.0000")])

    def frame(self, backend: str | None = None) -> Any:
        """Return one row for each stream."""
        names = tuple(StreamScore.__dataclass_fields__)
        return make_frame({n: [getattr(s, n) for s in self.streams] for n in names}, backend)

    def _parts(self) -> tuple[Table]:
        return (self.table(),)


def score_streams(
    policy: JointPolicy,
    cases: StreamCases,
    max_alarms: float,
    shares: Any = None,
    summary_weight: Any = None,
) -> StreamScores:
    """Score every stream; see `JointPolicy.stream_scores`."""
    points = {name: cases.points(name) for name in policy.names}
    parts = _shares(policy, shares)
    stakes = {
        name: weight * points[name].n_positive
        for name, weight in zip(policy.names, policy.miss_weights, strict=True)
    }
    counted = _normalised(
        by_stream(
            stakes if summary_weight is None else summary_weight, policy.names, "summary_weight"
        )
    )
    found = []
    for name, scenario in zip(policy.names, policy.scenarios, strict=True):
        own = scenario.max_alarms(points[name].n_cases)
        alarms = min(round(parts[name] * max_alarms, DECIMALS), own)
        score = _score(points[name], scenario, alarms)
        found.append(StreamScore(name, alarms, score, counted[name]))
    return StreamScores(tuple(found))


def _score(points: OperatingPoints, scenario: Scenario, alarms: float) -> float:
    if alarms < 1:
        return 0.0
    return solve(points, scenario.changed(capacity=alarms / points.n_cases)).partial_voros


def _shares(policy: JointPolicy, shares: Any) -> dict[str, float]:
    if shares is None:
        alarms = dict(zip(policy.names, policy.default.alarms, strict=True))
        total = sum(alarms.values())
        equal = 1 / len(alarms)
        return {name: each / total if total else equal for name, each in alarms.items()}
    given: dict[str, float] = by_stream(shares, policy.names, "shares")
    for share in given.values():
        check_number(share, "shares")
    if sum(given.values()) > 1 + 1e-9:
        raise ArgumentError("shares", f" add up to {sum(given.values()):g}; accepted is at most 1")
    return given


def _normalised(weights: dict[str, Any]) -> dict[str, float]:
    for name, weight in weights.items():
        check_number(
            weight, "summary_weight", f"a number of at least 0 for {name!r}", 0.0, float("inf")
        )
    total = sum(weights.values())
    if not total > 0:
        raise ArgumentError("summary_weight", " are all 0; at least one must count")
    return {name: float(weight / total) for name, weight in weights.items()}
