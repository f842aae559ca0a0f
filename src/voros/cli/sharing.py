"""``voros allocate``: several alarms, or several groups, share one capacity."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import voros
from voros.cli import LIMITS_NOT_MET
from voros.cli.loading import single_model
from voros.cli.options import (
    REQUIRES_CONFIDENCE,
    Block,
    CaseOptions,
    Check,
    LimitOptions,
    OutputOptions,
    TestFile,
    bundled,
    in_choice,
    in_columns,
    in_limits,
    output_to,
    read_guarantee,
    refuse,
)
from voros.cli.streams import Streams, stream_columns
from voros.cli.terminal import Sheet, check_output, show
from voros.core.scenario import Scenario
from voros.io import open_source
from voros.io.scenario_file import read_scenario_fields
from voros.io.scenario_text import (
    COST_FIELDS,
    read_capacity,
    read_number,
    scenario_from_fields,
    split_period,
)
from voros.text.numbers import short

if TYPE_CHECKING:  # loaded by the command that allocates, not by all of them
    from voros.allocation import JointEvaluation, JointPolicy

OWN_FIELDS = ("label", "score", "miss_weight")
"""Fields of a stream in a file that are no limits."""


@dataclass(frozen=True)
class Problem:
    """Streams, their limits and weights."""

    streams: Streams
    scenario: Scenario | dict[str, Scenario]
    miss_weight: Any = 1.0


@bundled
def share(
    columns: CaseOptions,
    limits: LimitOptions,
    show_options: OutputOptions,
    streams: Path | None = in_columns(
        "A TOML file with a table for each outcome: label and score name its columns; "
        "min_precision, cost_ratio or miss_costs, and miss_weight may stand beside them.",
        metavar="FILE",
    ),
    by: str | None = in_columns(
        "The subgroup of each case: every subgroup is a stream.", metavar="COLUMN"
    ),
    overlap: str = in_limits(
        "Whether a case with several alarms counts each, or once.", metavar="NAME", default="each"
    ),
    max_seconds: float = in_choice(
        "With --exceed or --overlap once: end the search after this many seconds.", default=60.0
    ),
    max_gap: float = in_choice(
        "Or end it when the cost is at most this share above the least.", default=0.0
    ),
    confidence: str | None = in_choice(
        "Keep all limits on future cases with this confidence.", metavar="SHARE"
    ),
    block: Block = None,
    group: str | None = in_columns(
        "With --confidence: the patient of each case, if some have several.", metavar="COLUMN"
    ),
    test: TestFile = None,
    output: Path | None = output_to("Save the joint policy, as JSON; - is standard output."),
    check: Check = False,
) -> None:
    """Share one capacity between several alarms or subgroups, at the least total cost."""
    if check and test is None:
        raise ValueError("--check requires --test FILE")
    if confidence is None:
        refuse({"group": group}, REQUIRES_CONFIDENCE)
    problem, shared = _streams(columns, limits, streams, by), _shared(limits, columns)
    check_output(output, show_options)
    how: dict[str, Any] = {
        "overlap": overlap,
        "guarantee": read_guarantee(confidence, block=block),
        "miss_weight": problem.miss_weight,
        "max_seconds": max_seconds,
        "max_gap": max_gap,
    }
    how |= {name: getattr(shared, name) for name in ("capacity", "per", "exceed")}
    cases, _ = problem.streams.load(columns, open_source(columns.file), shared, group=group)
    policy = voros.allocate(**cases, scenario=problem.scenario, **how)
    tested = None
    if test is not None:
        later, _ = problem.streams.load(columns, open_source(test), shared)
        tested = policy.evaluate(**later)
    show(_sheet(policy, tested, str(columns.file)), show_options, output, policy.to_json())
    if check and tested is not None and not tested.feasible:
        raise typer.Exit(LIMITS_NOT_MET)


def _streams(
    columns: CaseOptions, limits: LimitOptions, file: Path | None, by: str | None
) -> Problem:
    """Return the streams, of a file or of the groups of one column."""
    unknown = columns.given("model", "case", "weight", "drop_missing")
    refuse(unknown, "is not accepted where streams share a capacity")
    if limits.scenarios is not None or limits.scenario is not None:
        raise ValueError("--scenarios is not accepted here; --streams FILE holds limits and costs")
    stated = {k: v for k, v in limits.given().items() if k not in ("capacity", "exceed")}
    own = {"label": columns.label, "score": columns.score, "by": by}
    if file is not None:
        for name, value in own.items():
            if value is not None:
                raise ValueError(f"--streams and --{name} are mutually exclusive")
        return _from_file(file, stated)
    for name, value in own.items():
        if value is None:
            raise ValueError(
                f"--{name} is required where subgroups share the capacity; for several outcomes of "
                "the same cases give --streams FILE"
            )
    score = single_model(columns.score or [], "subgroups share the capacity of")
    streams = Streams({score: (str(columns.label), score)}, (str(by),))
    return Problem(streams, scenario_from_fields(stated))


def _shared(limits: LimitOptions, columns: CaseOptions) -> Scenario:
    """Read the shared capacity, and refuse a period that is missing or that nothing looks at."""
    if limits.capacity is None:
        raise ValueError("--capacity is required: the most alarms of all streams together")
    number, per = split_period(limits.capacity)
    exceed = None if limits.exceed is None else read_number(limits.exceed, "exceed")
    # The costs are those of the streams; one alarm of all of them is not a slip.
    unlimited = Scenario(cost_ratio=1.0)
    shared = unlimited.changed(capacity=read_capacity(number), per=per, exceed=exceed)
    columns.check_periods(shared)
    return shared


def _from_file(path: Path, limits: dict[str, Any]) -> Problem:
    """Read a table for each stream; options replace what all of them say."""
    columns, scenarios, weights = {}, {}, {}
    for name, fields in read_scenario_fields(path).items():
        columns[name] = stream_columns(path, name, fields)
        weights[name] = read_number(fields.get("miss_weight", 1.0), "miss_weight")
        own = {key: value for key, value in fields.items() if key not in OWN_FIELDS}
        if any(key in limits for key in COST_FIELDS):
            own = {key: value for key, value in own.items() if key not in COST_FIELDS}
        try:
            scenarios[name] = scenario_from_fields(own | limits)
        except ValueError as error:
            raise ValueError(f"{path}, stream {name!r}: {error}") from None
    return Problem(Streams(columns), scenarios, weights)


def _sheet(policy: JointPolicy, tested: JointEvaluation | None, source: str) -> Sheet:
    lines = [
        "Thresholds that share the capacity",
        policy.table().text(),
        f"expected cost: {policy.in_unit(policy.default.cost)}, and "
        f"{short(policy.never_alarm_cost)} without alarms",
        *filter(
            None,
            (policy.certificate.gap_in_words, policy.price_in_words),
        ),
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
        "limit": {name: getattr(policy.limit, name) for name in ("capacity", "per", "exceed")},
        "periods_above": policy.default.n_above,
        "max_alarms": policy.max_alarms,
        "cost": policy.default.cost,
        "never_alarm_cost": policy.never_alarm_cost,
        "certificate": policy.certificate,
        "promise": policy.promise,
        "test": tested,
    }
