"""``voros apply``: a saved policy decides on new cases, and a verdict on its alarms."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voros.blending import Blend
from voros.cli import LIMITS_NOT_MET, options
from voros.cli.decided import decide_band, decide_cases, decide_stays, decide_streams
from voros.cli.loading import BLEND
from voros.cli.options import CaseOptions, option
from voros.cli.stays import StayColumns, StayInput, in_stays
from voros.cli.streams import StreamColumns, has_outcomes
from voros.cli.terminal import cases_format, check_output, option_name, say
from voros.exceptions import Message, NoSuchColumnError, PredictionFileError
from voros.installing import missing_studies
from voros.io import append_columns, check_writable, open_source, table_bytes
from voros.io.appending import Written
from voros.io.scenario_text import read_number
from voros.io.source import Source
from voros.io.tables import peek
from voros.policy.review import ReviewBand, is_review_band
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import Worklist

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation.joint_policy import AnyPolicy

OF_CASES = ("score", "drop_missing", "label", "pos_label")
OF_STAYS = ("score", "drop_missing", "by", "cost_ratio", "stay", "events", "state")
OF_THRESHOLDS = (*OF_CASES, "by", "cost_ratio", "blend", "miss_value", "false_alarm_cost")

ACCEPTED = {
    "threshold policy": OF_THRESHOLDS,
    "policy over stays": OF_STAYS,
    "worklist": OF_CASES,
    "review band": OF_CASES,
    "joint policy of subgroups": (*OF_CASES, "by"),
    "joint policy of outcomes": ("streams",),
}
"""Options that each kind of policy takes, besides those of periods and output."""


@options.bundled_with(
    without=("score", "pos_label", "model", "case", "weight"),
    requires={"miss_value": ["false_alarm_cost"]},
    excludes={"stay": ["period", "time_zone"]},
)
def apply(
    policy_file: Annotated[
        Path,
        typer.Argument(
            metavar="POLICY", help="Saved by voros select, review, allocate or worklist."
        ),
    ],
    columns: CaseOptions,
    show_options: options.OutputOptions,
    stays: StayColumns,
    worth: options.WorthOptions,
    by: options.By = None,
    state: Path | None = in_stays(
        "Keeps from one call to the next which stays are silenced.", "FILE"
    ),
    score: str | None = options.column("The scores, if not named as the policy's model."),
    streams: StreamColumns = None,
    blend: Path | None = option(
        "Weights of a blend, saved by voros select --blend.", metavar="FILE"
    ),
    cost_ratio: str | None = option(
        "Cost of a false alarm against a miss, if known.", metavar="RATIO"
    ),
    pos_label: str | None = options.in_columns(
        "The positive label, if not that of the policy.", metavar="LABEL"
    ),
    output: Path | None = options.output_to(
        "Write the cases with their alarms: .csv, .tsv, .parquet or .arrow. Without it, or with "
        "-, CSV on the standard output."
    ),
    check: options.Check = False,
) -> None:
    """Decide which cases in FILE raise an alarm, and write them with a column of alarms.

    With --json or --csv the number of alarms and the limits kept are printed in place of the cases;
    -o then writes the cases.
    """
    policy = _read_policy(policy_file)
    cases_format(output)
    check_output(output, show_options, state)
    if state is not None:
        check_writable([state], force=True)
    ratio = None if cost_ratio is None else read_number(cost_ratio, "cost_ratio")
    stated = {"score": score, "pos_label": pos_label, **columns.given("label", "drop_missing")}
    others = {"by": by, "state": state, "streams": streams, "blend": blend, "cost_ratio": ratio}
    _check_accepted(policy, policy_file, stated | others | vars(stays) | vars(worth))
    positive = pos_label or getattr(policy, "pos_label", None)
    columns = replace(columns, score=None if score is None else [score], pos_label=positive)
    if not isinstance(policy, ThresholdPolicy | Worklist | ReviewBand):
        decided = decide_streams(policy, columns, streams, by or [])
    else:
        columns = replace(columns, score=[score or _own_column(policy, policy_file)])
        try:
            if isinstance(policy, ReviewBand):
                decided = decide_band(policy, columns)
            elif isinstance(policy, ThresholdPolicy) and policy.rule is not None:
                rows = StayInput(columns=columns, stays=stays, rule=policy.rule, by=by or ())
                decided = decide_stays(policy, rows, ratio, state, check)
            else:
                made_blend = (
                    None if blend is None else _read_blend(blend, policy, policy_file, score)
                )
                source = _with_saved_model(columns, policy_file)
                cases: Any = {"source": source, "by": by, "worth": worth, "blend": made_blend}
                decided = decide_cases(policy, columns, ratio, **cases)
        except NoSuchColumnError as error:
            if score is not None or blend is not None or "scores" not in error.args[0].parts:
                raise
            raise _of_another_model(policy, policy_file, error) from None
    decided.write(output, show_options)
    if state is not None and decided.state is not None:
        decided.state.to_json(state, force=True)
    if check and not decided.kept:
        raise typer.Exit(LIMITS_NOT_MET)


def _check_accepted(policy: AnyPolicy | ReviewBand, path: Path, stated: dict[str, Any]) -> None:
    """Refuse options that are for another kind of policy."""
    kind = _kind(policy)
    listed = ", ".join(map(option_name, ACCEPTED[kind]))
    unknown = {name: value for name, value in stated.items() if name not in ACCEPTED[kind]}
    options.refuse(unknown, f"is not for {path}, a {kind}; accepted are {listed}")
    if kind == "policy over stays" and stated["stay"] is None:
        raise ValueError(f"{path} is a policy for alarms over stays; add --stay and --time")


def _kind(policy: AnyPolicy | ReviewBand) -> str:
    if isinstance(policy, ThresholdPolicy):
        return "threshold policy" if policy.rule is None else "policy over stays"
    if isinstance(policy, Worklist):
        return "worklist"
    if isinstance(policy, ReviewBand):
        return "review band"
    return f"joint policy of {'outcomes' if has_outcomes(policy) else 'subgroups'}"


def _with_saved_model(columns: CaseOptions, policy_file: Path) -> Source:
    """Open the cases; a model that a study saved beside the policy computes missing scores."""
    source, (model,) = open_source(columns.file), columns.score or [""]
    folder = policy_file.resolve().parent.parent
    saved = [folder / "models" / f"{model}.{kind}" for kind in ("skops", "joblib")]
    file = next(filter(Path.is_file, saved), None)
    if file is None or source.format == "document" or model in peek(source).column_names:
        return source
    from voros.cli.app import added_commands

    if "experiment" not in added_commands():
        raise missing_studies(f"scoring rows with {file}")
    say(f"scoring {source.name} with {file}", "note")
    studies = import_module(added_commands()["experiment"].module)
    table = append_columns(source, {model: studies.score_rows(folder, model, source)})
    # Text stays text: an identifier of 007 keeps its zeros.
    kind: Written = "csv" if source.format == "csv" else "parquet"
    return Source(source.name, None, table_bytes(table, kind))


def _read_policy(path: Path) -> AnyPolicy | ReviewBand:
    from voros.allocation.joint_policy import load_policy

    if path.is_dir():
        there = sorted([*path.glob("*.json"), *path.glob("policies/*.json")])
        example = f", such as {there[0]}" if there else ""
        raise ValueError(f"{path} is a folder; name a policy in it{example}")
    try:
        return ReviewBand.from_json(path) if is_review_band(path) else load_policy(path)
    except ValueError as error:
        raise ValueError(f"{error}; POLICY comes before FILE") from None


def _own_column(policy: ThresholdPolicy | Worklist | ReviewBand, path: Path) -> str:
    if policy.model is None:
        raise PredictionFileError(f"{path} names no model; name the column of scores with --score")
    return policy.model


def _of_another_model(
    policy: ThresholdPolicy | Worklist | ReviewBand, path: Path, error: NoSuchColumnError
) -> PredictionFileError:
    """Say which policy named a column that is missing."""
    made_for = f"{path} was made for the scores of {policy.model!r}, and "
    remedy = "; name the column of these scores with --score"
    if policy.model == BLEND:
        remedy = "; name the weights, saved by voros select --blend, with --blend"
    return PredictionFileError(Message(made_for, *error.args, remedy))


def _read_blend(
    path: Path, policy: ThresholdPolicy | Worklist, policy_file: Path, score: str | None
) -> Blend:
    if score is not None or policy.model != BLEND:
        raise ValueError(
            f"--blend is for a policy whose model is the blend; {policy_file} has none"
        )
    return Blend.from_json(path)
