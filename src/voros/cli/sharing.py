"""``voros allocate``: several alarms, or several groups, share one capacity."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import voros
from voros.cli import LIMITS_NOT_MET
from voros.cli.loading import periods_of
from voros.cli.options import (
    Block,
    Check,
    Exceed,
    FileFormat,
    Horizon,
    OutputOptions,
    PeriodOptions,
    PredictionFile,
    TestFile,
    bundled,
    in_choice,
    in_columns,
    in_limits,
    output_to,
    read_guarantee,
)
from voros.cli.streams import check_stream_fields
from voros.cli.terminal import Sheet, check_output, deliver, say, show
from voros.core.scenario import Scenario
from voros.io import open_source, read_predictions
from voros.io.scenario_file import read_scenario_fields
from voros.io.scenario_text import (
    COST_FIELDS,
    read_capacity,
    read_number,
    scenario_from_fields,
    split_period,
)
from voros.typing import AnyArray

if TYPE_CHECKING:  # loaded by the command that allocates, not by all of them
    from voros.allocation import JointEvaluation, JointPolicy

OWN_FIELDS = ("label", "score", "miss_weight")
"""Fields of a stream in a file that are no limits."""


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """What the streams are, and the limits and costs of all of them."""

    streams: Annotated[
        Path | None,
        in_columns(
            "A TOML file with a table for each alarm: label and score name its columns; beside "
            "them min_precision, cost_ratio or miss_costs, and miss_weight.",
            metavar="FILE",
        ),
    ] = None
    label: Annotated[str | None, in_columns("The true labels.", metavar="COLUMN")] = None
    score: Annotated[str | None, in_columns("The scores.", metavar="COLUMN")] = None
    by: Annotated[
        str | None, in_columns("The group of each case: every group is a stream.", metavar="COLUMN")
    ] = None
    min_precision: Annotated[
        str | None, in_limits("Precision floor of every stream.", metavar="SHARE")
    ] = None
    cost_ratio: Annotated[
        str | None,
        in_limits("Cost of a false alarm against a miss, or a range.", metavar="RATIO[:RATIO]"),
    ] = None
    miss_costs: Annotated[
        str | None,
        in_limits("How many false alarms a miss is worth, or a range.", metavar="COUNT[:COUNT]"),
    ] = None

    def read(self) -> Streams:
        """Return the streams, of a file or of the groups of one column."""
        stated = {name: getattr(self, name) for name in ("min_precision", *COST_FIELDS[:2])}
        limits = {name: value for name, value in stated.items() if value is not None}
        if self.streams is None:
            return self._by_subgroup(limits)
        for name in ("label", "score", "by"):
            if getattr(self, name) is not None:
                raise ValueError(f"--streams and --{name} are mutually exclusive")
        return _from_file(self.streams, limits)

    def _by_subgroup(self, limits: dict[str, Any]) -> Streams:
        for name in ("label", "score", "by"):
            if getattr(self, name) is None:
                raise ValueError(
                    f"--{name} is required where groups share the capacity; for several outcomes "
                    "of the same cases give --streams FILE"
                )
        columns = {str(self.score): (str(self.label), str(self.score))}
        return Streams(columns, scenario_from_fields(limits), 1.0, self.by)


@dataclass(frozen=True)
class Streams:
    """Columns by stream, their limits and weights, and the column of groups, if there is one."""

    columns: dict[str, tuple[str, str]]
    scenario: Scenario | dict[str, Scenario]
    miss_weight: Any
    by: str | None

    def load(
        self,
        file: Path,
        file_format: str | None,
        when: PeriodOptions,
        shared: Scenario,
        group: str | None = None,
    ) -> dict[str, Any]:
        """Return the labels, scores, groups and periods of a file, as `voros.allocate` does."""
        source = open_source(file, file_format)
        labels: dict[str, AnyArray] = {}
        scores: dict[str, AnyArray] = {}
        for name, (label, score) in self.columns.items():
            cases = read_predictions(
                source,
                label=label,
                scores=[score],
                group=group,
                by=() if self.by is None else (self.by,),
                time=when.time,
                period=when.period,
            )
            labels[name], scores[name] = cases.labels, cases.scores_of(score)
            for note in cases.notes:
                say(note, "note")
        units: dict[str, Any] = {"periods": periods_of(cases, shared, when)}
        if group is not None:
            units["groups"] = cases.groups
        if self.by is None:
            return {"y_true": labels, "scores": scores, **units}
        (name,) = self.columns
        own = {"y_true": labels[name], "scores": scores[name], "by": cases.by[self.by]}
        return own | units


@bundled
def share(
    file: PredictionFile,
    streams: StreamOptions,
    show_options: OutputOptions,
    capacity: Annotated[
        str,
        in_limits(
            "Most alarms of all streams together: 0.1 or 10% of the cases, 500, or 20/day with "
            "--time.",
            metavar="SHARE|COUNT",
        ),
    ],
    when: PeriodOptions,
    exceed: Exceed = None,
    overlap: Annotated[
        str, in_limits("Whether a case with several alarms counts each, or once.", metavar="NAME")
    ] = "each",
    max_seconds: Annotated[
        float, in_choice("With --exceed or --overlap once: end the search after this.")
    ] = 60.0,
    max_gap: Annotated[
        float, in_choice("The same, once the cost is at most this share above the least.")
    ] = 0.0,
    confidence: Annotated[
        float | None,
        in_choice("Keep all limits on future cases with this confidence.", metavar="SHARE"),
    ] = None,
    horizon: Horizon = None,
    block: Block = None,
    group: Annotated[
        str | None,
        in_columns("With --confidence: whose case it is, if some have several.", metavar="COLUMN"),
    ] = None,
    test: TestFile = None,
    file_format: FileFormat = None,
    output: Annotated[
        Path | None, output_to("Save the joint policy, as JSON; - is standard output.")
    ] = None,
    check: Check = False,
) -> None:
    """Share one capacity between several alarms, or several groups, at the least total cost."""
    if check and test is None:
        raise ValueError("--check requires --test FILE")
    problem, shared = streams.read(), _shared(capacity, exceed, when)
    check_output(output, show_options)
    sure = _guarantee(confidence, horizon, block, group)
    how: dict[str, Any] = {
        "overlap": overlap,
        "guarantee": sure,
        "miss_weight": problem.miss_weight,
    }
    how |= {"max_seconds": max_seconds, "max_gap": max_gap}
    columns = file_format, when, shared
    cases = problem.load(file, *columns, group)
    how |= {name: getattr(shared, name) for name in ("capacity", "per", "exceed")}
    policy = voros.allocate(**cases, scenario=problem.scenario, **how)
    tested = None if test is None else policy.evaluate(**problem.load(test, *columns))
    if output is not None:
        deliver(policy.to_json(), output, show_options, announce=False)
    show(_sheet(policy, tested, str(file)), show_options, output=output)
    if check and tested is not None and not tested.feasible:
        raise typer.Exit(LIMITS_NOT_MET)


def _guarantee(
    confidence: float | None, horizon: str | None, block: int | None, group: str | None
) -> Any:
    """Return what is to be promised; refuse what nothing would look at."""
    if confidence is not None:
        return read_guarantee(read_number(confidence, "confidence"), horizon, block)
    for name, value in (("--horizon", horizon), ("--block", block), ("--group", group)):
        if value is not None:
            raise ValueError(f"{name} requires --confidence, such as --confidence 0.95")
    return None


def _shared(capacity: str, exceed: str | None, when: PeriodOptions) -> Scenario:
    """Read the shared capacity, and refuse a period that is missing or that nothing looks at."""
    number, per = split_period(capacity)
    share = None if exceed is None else read_number(exceed, "exceed")
    # The costs are those of the streams; one alarm of all of them is no slip.
    unlimited = Scenario(cost_ratio=1.0)
    shared = unlimited.changed(capacity=read_capacity(number), per=per, exceed=share)
    when.check(shared)
    return shared


def _from_file(path: Path, limits: dict[str, Any]) -> Streams:
    """Read a table for each stream; options replace what all of them say."""
    columns, scenarios, weights = {}, {}, {}
    for name, fields in read_scenario_fields(path).items():
        check_stream_fields(path, name, fields, "label", "score")
        columns[name] = (str(fields["label"]), str(fields["score"]))
        weights[name] = read_number(fields.get("miss_weight", 1.0), "miss_weight")
        own = {key: value for key, value in fields.items() if key not in OWN_FIELDS}
        if any(key in limits for key in COST_FIELDS):
            own = {key: value for key, value in own.items() if key not in COST_FIELDS}
        try:
            scenarios[name] = scenario_from_fields(own | limits)
        except ValueError as error:
            raise ValueError(f"{path}, stream {name!r}: {error}") from None
    return Streams(columns, scenarios, weights, None)


def _sheet(policy: JointPolicy, tested: JointEvaluation | None, source: str) -> Sheet:
    lines = [
        "Thresholds that share the capacity",
        policy.table().text(),
        f"expected cost {policy.default.cost:,.6g}, never alarm {policy.never_alarm_cost:,.6g}",
        *filter(None, (policy.certificate.gap_in_words, policy.certificate.price_in_words)),
    ]
    if policy.above_in_words:
        lines.append(f"{policy.above_in_words} alarms, {policy.limit.rule}")
    if policy.promise is not None:
        lines.append(policy.promise.in_words)
    if tested is not None:
        lines += ["", "test cases:", tested.table().text()]
        lines += [] if tested.by_period is None else [str(tested.by_period)]
    document = _document(policy, tested, source)
    return Sheet(text="\n".join(lines), rows=_rows(policy), document=document)


def _rows(policy: JointPolicy) -> list[dict[str, Any]]:
    choice = policy.default
    return [
        {
            "stream": name,
            "threshold": choice.thresholds[i],
            "tp": choice.tp[i],
            "fp": choice.fp[i],
            "alarms": choice.alarms[i],
        }
        for i, name in enumerate(policy.names)
    ]


def _document(policy: JointPolicy, tested: JointEvaluation | None, source: str) -> dict[str, Any]:
    return {
        "file": source,
        "streams": _rows(policy),
        "limit": policy.limit,
        "periods_above": policy.default.n_above,
        "max_alarms": policy.max_alarms,
        "cost": policy.default.cost,
        "never_alarm_cost": policy.never_alarm_cost,
        "certificate": policy.certificate,
        "promise": policy.promise,
        "test": tested,
    }
