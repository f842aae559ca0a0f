"""``voros apply``: a saved policy decides on new cases, and a verdict on its alarms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voros.cli import LIMITS_NOT_MET
from voros.cli.case_alarms import CaseAlarms
from voros.cli.joint_alarms import JointAlarms, StreamFile
from voros.cli.options import (
    FileFormat,
    InputOptions,
    OutputOptions,
    PeriodOptions,
    PredictionFile,
    SubgroupOptions,
    bundled,
    option,
    output_to,
)
from voros.cli.stay_alarms import StayAlarms
from voros.cli.stays import StayColumns, StayInput, in_stays, refuse_with_stays
from voros.cli.stream_columns import StreamColumns
from voros.cli.terminal import cases_format, check_output
from voros.exceptions import Message, NoSuchColumnError, PredictionFileError
from voros.io.scenario_text import read_number
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import Worklist

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation.any_policy import AnyPolicy


@bundled
def apply(
    policy_file: Annotated[
        Path,
        typer.Argument(
            metavar="POLICY", help="Saved by voros select, allocate, subgroups or worklist."
        ),
    ],
    file: PredictionFile,
    show_options: OutputOptions,
    when: PeriodOptions,
    stays: StayColumns,
    subgroups: SubgroupOptions,
    state: Annotated[
        Path | None,
        in_stays(
            "Where alarms of stays that go on are kept from one call to the next; written again.",
            "FILE",
        ),
    ] = None,
    score: Annotated[
        str | None,
        option("The column of scores, if not named as the policy's model.", metavar="COLUMN"),
    ] = None,
    streams: StreamColumns = None,
    cost_ratio: Annotated[
        str | None,
        option("Cost of a false alarm against a miss now, if it is known.", metavar="RATIO"),
    ] = None,
    label: Annotated[
        str | None, option("True labels, to check precision by.", metavar="COLUMN")
    ] = None,
    pos_label: Annotated[
        str | None, option("The positive label, if not that of the policy.", metavar="LABEL")
    ] = None,
    drop_missing: Annotated[
        bool,
        option(
            "Leave out cases with a missing value; nothing is decided on them.", "--drop-missing"
        ),
    ] = False,
    file_format: FileFormat = None,
    output: Annotated[
        Path | None,
        output_to(
            "Where to write the cases with their alarms: .csv, .tsv, .parquet, .arrow or "
            ".jsonl. Without it, or with -, CSV on the standard output."
        ),
    ] = None,
    check: Annotated[
        bool,
        option(
            "Exit with 1 where a limit is not kept, or a floor broken in a subgroup.", "--check"
        ),
    ] = False,
) -> None:
    """Decide on the cases in FILE: all their columns, and whether each raises an alarm.

    With --json or --csv the verdict (how many alarms, which limits are kept) is printed in place of
    the cases, which are then written with -o only.
    """
    policy = _read_policy(policy_file)
    cases_format(output)
    check_output(output, show_options)
    ratio = None if cost_ratio is None else read_number(cost_ratio, "cost_ratio")
    columns = InputOptions(
        file=file,
        label=label,
        score=None if score is None else [score],
        pos_label=pos_label,
        drop_missing=drop_missing,
        file_format=file_format,
    )
    _check_kind(policy, policy_file, ratio, stays, state, streams)
    if not isinstance(policy, ThresholdPolicy | Worklist):
        streamed = StreamFile(columns=columns, streams=streams, by=subgroups.columns, when=when)
        JointAlarms(policy=policy, file=streamed, check=check).write(output, show_options)
        return
    columns = replace(columns, score=[score or _policy_column(policy, policy_file)])
    with _naming_the_policy(policy, policy_file, named=score is not None):
        if isinstance(policy, ThresholdPolicy) and policy.rule is not None:
            refuse_with_stays(label=label, pos_label=pos_label)
            subgroups.refuse_pooling()
            by = tuple(subgroups.columns)
            rows = StayInput(columns=columns, stays=stays, when=when, rule=policy.rule, by=by)
            over = StayAlarms(policy=policy, rows=rows, cost_ratio=ratio, state=state, check=check)
            over.write(output, show_options)
            return
        alarms = CaseAlarms(
            policy=policy, columns=columns, when=when, subgroups=subgroups, cost_ratio=ratio
        )
        kept = alarms.write(output, show_options)
    if check and not kept:
        raise typer.Exit(LIMITS_NOT_MET)


def _check_kind(
    policy: AnyPolicy,
    path: Path,
    cost_ratio: float | None,
    stays: StayColumns,
    state: Path | None,
    streams: Path | None,
) -> None:
    """Refuse options that are for another kind of policy."""
    rule = policy.rule if isinstance(policy, ThresholdPolicy) else None
    if rule is not None and not stays.given:
        raise ValueError(
            f"{path} is for alarms over stays, by {rule!r}; name their columns with --stay and "
            "--time"
        )
    if rule is None and (stays.given or state is not None):
        option = "--stay" if stays.given else "--state"
        raise ValueError(f"{option} is for alarms over stays, and {path} is for cases")
    if cost_ratio is not None and not isinstance(policy, ThresholdPolicy):
        raise ValueError(
            f"--cost-ratio chooses a threshold of a threshold policy, and {path} has thresholds "
            "that do not depend on it"
        )
    if streams is not None and isinstance(policy, ThresholdPolicy | Worklist):
        raise ValueError(f"--streams is for joint policies of several outcomes; {path} has one")


def _read_policy(path: Path) -> AnyPolicy:
    from voros.allocation.any_policy import load_policy

    try:
        return load_policy(path)
    except ValueError as error:
        raise ValueError(f"{error}; a policy saved by voros select comes first") from None


@contextmanager
def _naming_the_policy(
    policy: ThresholdPolicy | Worklist, path: Path, *, named: bool
) -> Iterator[None]:
    """Say which policy named a column that is missing, unless the column was named by hand."""
    try:
        yield
    except NoSuchColumnError as error:
        if named:
            raise
        raise PredictionFileError(
            Message(
                f"{path} was made for the scores of {policy.model!r}, and ",
                *error.args,
                "; if those scores have another name here, give it with --score",
            )
        ) from None


def _policy_column(policy: ThresholdPolicy | Worklist, path: Path) -> str:
    if policy.model is None:
        raise PredictionFileError(
            f"{path} does not say which scores it is for; name their column with --score"
        )
    return policy.model
