"""The status of a monitor: a verdict for each limit, in words, with dates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.monitoring.evidence import Evidence
from voros.monitoring.settings import day_of
from voros.text.table import html_pairs
from voros.typing import AnyArray, BoolArray, FloatArray

Verdict: TypeAlias = Literal["kept", "too early to tell", "unknown", "watch", "broken"]
VERDICTS: tuple[Verdict, ...] = ("kept", "too early to tell", "unknown", "watch", "broken")
"""From the best to the worst."""

WARNINGS = ("expected precision", "scores")
"""Watched without labels; their verdict is at most *watch*."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Watch:
    """One limit, and what the data show about it.

    Attributes
    ----------
    name : str
        "precision", "expected precision", "recall", "capacity", "cost" or "scores"; of a joint
        policy "precision of" a stream.
    verdict : str
    words : str
        The verdict in a sentence.
    limit, estimate, low, high : float or None
        The limit, the estimate, and the ends of its confidence sequence; None where unknown.
    n : int
        Number of units: alarms, patients, stays or periods.
    unit : str
        "stay" where capacity and scores are judged by stay, otherwise "period".
    evidence : float
        Evidence against the limit now, as a share of the evidence that shows it broken.
    since : str or None
        About when the change for the worse began.
    noticed : str or None
        When the verdict was reached.
    history : mapping of str to ndarray
        Curves over time, computed on first access.

    Examples
    --------
    >>> words = "no alarm is old enough"
    >>> watch = Watch(name="precision", verdict="too early to tell", words=words, limit=0.25)
    >>> watch.document()["verdict"], watch.limit, watch.n
    ('too early to tell', 0.25, 0)
    """

    name: str
    verdict: Verdict
    words: str
    limit: float | None = None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    evidence: float = 0.0
    since: str | None = None
    noticed: str | None = None
    unit: str = "period"
    curves: Callable[[], Mapping[str, AnyArray]] = field(default=dict, repr=False)

    @cached_property
    def history(self) -> Mapping[str, AnyArray]:
        """Curves over time."""
        return self.curves()

    @property
    def kind(self) -> str:
        """The name without the stream."""
        return self.name.partition(" of ")[0]

    def document(self) -> dict[str, Any]:
        """Return everything but the curves, for JSON."""
        hidden = ("curves", "history")
        return {name: value for name, value in vars(self).items() if name not in hidden}


@dataclass(frozen=True, eq=False, kw_only=True)
class Status:
    """The verdicts of a monitor on a deployment.

    Attributes
    ----------
    verdict : str
        The worst verdict of the limits: "kept", "too early to tell", "unknown" (because labels are
        missing), "watch" or "broken". Those of scores and expected precision count only where they
        are "watch".
    as_of : str or None
        Date of the latest case or label.
    watches : tuple of Watch
    cases, alarms, labels : int
        Stored so far; of a policy over stays, cases are the stays.
    notes : tuple of str
        What is unknown or left out, and what to do.

    Examples
    --------
    >>> dated = {"words": "precision: watch", "since": "2026-03-01"}
    >>> watch = Watch(name="precision", verdict="watch", **dated)
    >>> counts = {"cases": 90, "alarms": 20, "labels": 15}
    >>> status = Status(verdict="watch", as_of="2026-03-20", watches=(watch,), **counts)
    >>> print(status)
    watch, as of 2026-03-20
    precision: watch
    >>> status.broken, status.since
    (False, '2026-03-01')
    """

    verdict: Verdict
    as_of: str | None
    watches: tuple[Watch, ...]
    cases: int
    alarms: int
    labels: int
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Watch:
        """Return the watch of a limit."""
        for watch in self.watches:
            if watch.name == name:
                return watch
        raise KeyError(f"{name!r}; watched are {', '.join(w.name for w in self.watches)}")

    @property
    def broken(self) -> bool:
        """Whether a limit is shown to be broken."""
        return self.verdict == "broken"

    @property
    def since(self) -> str | None:
        """About when the earliest change with the worst verdict began."""
        dates = [w.since for w in self.watches if w.verdict == self.verdict and w.since]
        return min(dates) if dates else None

    @property
    def words(self) -> str:
        """The status as text, one line for each limit and note."""
        head = f"{self.verdict}, as of {self.as_of}" if self.as_of else "no cases yet"
        return "\n".join([head, *(watch.words for watch in self.watches), *self.notes])

    def document(self) -> dict[str, Any]:
        """Return the status in plain values, for JSON."""
        values = {name: value for name, value in vars(self).items() if name != "watches"}
        return {**values, "since": self.since, "watches": [w.document() for w in self.watches]}

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        rows = [("verdict", self.verdict), ("as of", str(self.as_of))]
        rows += [(watch.name, watch.words) for watch in self.watches]
        return html_pairs(rows + [("note", note) for note in self.notes])


@dataclass(frozen=True, eq=False)
class Update:
    """The decisions on a batch: who raises an alarm, and how many cases were stored already.

    For a joint policy with several outcomes, `alarms` is a mapping by outcome.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.25, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> y, scores = [0, 1, 0, 1, 1, 0, 0, 0], [0.1, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2]
    >>> monitor = voros.Monitor(voros.ThresholdPolicy.from_validation(y, scores, scenario))
    >>> day = ["2026-03-01", "2026-03-01"]
    >>> first = monitor.update([0.9, 0.2], cases=["a", "b"], times=day)
    >>> again = monitor.update([0.9, 0.8], cases=["a", "c"], times=day)
    >>> again.alarms, again.new, again.repeated
    (array([ True,  True]), 1, 1)
    """

    alarms: BoolArray | dict[str, BoolArray]
    new: int
    repeated: int

    @property
    def n_alarms(self) -> int:
        """Number of alarms in the batch, of all outcomes together."""
        columns = self.alarms.values() if isinstance(self.alarms, dict) else [self.alarms]
        return sum(int(np.count_nonzero(column)) for column in columns)


def watch_name(kind: str, stream: str) -> str:
    """Return the name of a watch; the only stream of a policy has no name.

    Examples
    --------
    >>> watch_name("precision", "ward"), watch_name("precision", "")
    ('precision of ward', 'precision')
    """
    return f"{kind} of {stream}" if stream else kind


def worst(watches: Sequence[Watch]) -> Verdict:
    """Return the worst verdict; a warning without labels counts only where it is *watch*."""
    judged = [w.verdict for w in watches if w.kind not in WARNINGS or w.verdict == "watch"]
    return max(judged, key=VERDICTS.index, default="too early to tell")


@dataclass(frozen=True)
class Judgement:
    """The verdict of evidence, with its dates."""

    verdict: Verdict
    since: str | None = None
    noticed: str | None = None

    @property
    def words(self) -> str:
        """The verdict and its dates."""
        if self.verdict == "broken":
            return f"broken since about {self.since}, shown on {self.noticed}"
        if self.verdict == "watch":
            return f"watch since {self.noticed}, as if a change began about {self.since}"
        return self.verdict


def judge(evidence: Evidence, ends: FloatArray, kept: bool) -> Judgement:
    """Return the verdict of units that end at these times.

    Broken stays broken: alpha is the probability of ever saying so.
    """
    at = evidence.broken_at
    if at is not None:
        return Judgement("broken", day_of(evidence.changes[at]), day_of(ends[at]))
    if not evidence.watching:
        return Judgement("kept" if kept else "too early to tell")
    below = np.flatnonzero(evidence.detector < evidence.detector_bound)
    risen = int(below[-1]) + 1 if len(below) else 0
    return Judgement("watch", day_of(evidence.changes[-1]), day_of(ends[risen]))
