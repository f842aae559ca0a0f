"""``voros allocate``: several alarms, or several groups, share one capacity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import voros
from voros.cli import options
from voros.cli.loading import single_model
from voros.cli.streams import Streams
from voros.cli.terminal import Sheet, check_output, show
from voros.io import open_source
from voros.io.scenario_file import read_scenario_fields
from voros.io.scenario_text import COST_FIELDS, read_number, scenario_from_fields
from voros.text.numbers import short

if TYPE_CHECKING:  # loaded by the command that allocates, not by all of them
    from voros.allocation import JointPolicy

OWN_FIELDS = ("label", "score", "miss_weight")
"""Fields of a stream in a file that are not limits."""


OF_ONE_SCORE = ("model", "case", "weight", "drop_missing", "prevalence", "min_recall")
"""Options of files and limits that are not for streams."""


@options.bundled_with(
    without=(*OF_ONE_SCORE, "scenarios", "scenario", "horizon"),
    requires={"confidence": ["group"]},
    excludes={"streams": ["label", "score", "by"]},
)
def share(
    columns: options.CaseOptions,
    limits: options.LimitOptions,
    promise: options.GuaranteeOptions,
    show_options: options.OutputOptions,
    streams: Path | None = options.in_columns(
        "A TOML file with a table for each outcome: label and score name its columns; "
        "min_precision, cost_ratio or miss_costs, and miss_weight may follow.",
        metavar="FILE",
    ),
    by: str | None = options.column("The subgroup of each case: every subgroup is a stream."),
    overlap: str = options.in_limits(
        "How several alarms of a case count: each, or once.", metavar="NAME", default="each"
    ),
    group: options.Group = None,
    output: options.SavedTo = None,
) -> None:
    """Share one capacity between several alarms or subgroups, at the least total cost.

    voros apply tests on other cases the policy that -o saves.
    """
    stated = limits.given()
    shared: dict[str, Any] = {
        name: stated.pop(name) for name in ("capacity", "exceed") if name in stated
    }
    if "capacity" not in shared:
        raise ValueError("--capacity is required: the most alarms of all streams together")
    # The costs are those of the streams.
    capacity = scenario_from_fields(shared | {"cost_ratio": 1.0})
    guarantee = promise.guarantee()
    problem: dict[str, Any]
    named = {"label": columns.label, "score": columns.score, "by": by}
    if streams is None:
        parts, problem = _subgroups(named), {"scenario": scenario_from_fields(stated)}
    else:
        parts, problem = Streams.from_file(streams), _outcomes(streams, stated)
    check_output(output, show_options)
    cases, _ = parts.load(columns, open_source(columns.file), capacity, group=group)
    policy = voros.allocate(
        **cases,
        **problem,
        capacity=capacity.capacity,
        per=capacity.per,
        exceed=capacity.exceed,
        overlap=overlap,  # type: ignore[arg-type]
        guarantee=guarantee,
    )
    show(_sheet(policy, str(columns.file)), show_options, output, policy.to_json())


def _subgroups(named: dict[str, Any]) -> Streams:
    """Return the streams of one score, one for each subgroup."""
    for name, value in named.items():
        if value is None:
            raise ValueError(
                f"--{name} is required where subgroups share the capacity; for several outcomes of "
                "the same cases give --streams FILE"
            )
    score = single_model(named["score"], "subgroups share the capacity of")
    return Streams({score: (named["label"], score)}, (named["by"],))


def _outcomes(path: Path, limits: dict[str, Any]) -> dict[str, Any]:
    """Read limits and weight of each outcome; options replace what all of them say."""
    scenarios, weights = {}, {}
    for name, fields in read_scenario_fields(path).items():
        weights[name] = read_number(fields.get("miss_weight", 1.0), "miss_weight")
        replaced = COST_FIELDS if any(key in limits for key in COST_FIELDS) else ()
        own = {key: fields[key] for key in fields if key not in (*OWN_FIELDS, *replaced)}
        try:
            scenarios[name] = scenario_from_fields(own | limits)
        except ValueError as error:
            raise ValueError(f"{path}, stream {name!r}: {error}") from None
    return {"scenario": scenarios, "miss_weight": weights}


def _sheet(policy: JointPolicy, source: str) -> Sheet:
    lines = [
        "Thresholds that share the capacity",
        policy.table().text(),
        f"expected cost: {policy.in_unit(policy.default.cost)}, and "
        f"{short(policy.never_alarm_cost)} without alarms",
        *filter(None, (policy.certificate.gap_in_words, policy.price_in_words)),
    ]
    if policy.above_in_words:
        lines.append(f"{policy.above_in_words} alarms, {policy.limit.rule}")
    if policy.promise is not None:
        lines.append(policy.promise.in_words)
    rows = policy.frame("pyarrow").to_pylist()
    document = {
        "file": source,
        "streams": rows,
        "limit": {name: getattr(policy.limit, name) for name in ("capacity", "per", "exceed")},
        "periods_above": policy.default.n_above,
        "max_alarms": policy.max_alarms,
        "cost": policy.default.cost,
        "never_alarm_cost": policy.never_alarm_cost,
        "certificate": policy.certificate,
        "promise": policy.promise,
    }
    return Sheet(text="\n".join(lines), rows=rows, document=document)
