"""``voros apply``: a saved policy decides on new cases."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from voros.cli.bundles import bundled
from voros.cli.failures import LIMITS_NOT_MET, say
from voros.cli.options import Force, PredictionFile, ShowOptions
from voros.cli.output import STANDARD_OUTPUT, check_output, write_text
from voros.cli.patience import patience
from voros.cli.show import Sheet, show
from voros.cli.verdict import Verdict
from voros.exceptions import PredictionFileError
from voros.io import (
    append_column,
    format_of,
    open_source,
    read_predictions,
    table_bytes,
    write_whole,
)
from voros.io.scenario_text import read_number
from voros.policy import ThresholdPolicy
from voros.present.report.wording import exact


@bundled
def apply(
    policy_file: Annotated[
        Path, typer.Argument(metavar="POLICY", help="A policy saved by voros select.")
    ],
    file: PredictionFile,
    show_options: ShowOptions,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of scores, if not named as the policy's model."
        ),
    ] = None,
    cost_ratio: Annotated[
        str | None,
        typer.Option(
            metavar="RATIO", help="Cost of a false alarm against a miss now, if it is known."
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="True labels, to check precision by.")
    ] = None,
    pos_label: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="The positive label, if not that of the policy."),
    ] = None,
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing",
            help="Leave out cases with a missing value; nothing is decided on them.",
        ),
    ] = False,
    file_format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Of FILE, where its name does not tell."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the cases with their alarms: .csv, .tsv, .parquet, .arrow or "
            ".jsonl. Without it, or with -, CSV on the standard output.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 where a limit is not kept.")
    ] = False,
    force: Force = False,
) -> None:
    """Decide on the cases in FILE: all their columns, and whether each raises an alarm.

    With --json or --csv the verdict (how many alarms, which limits are kept) is printed in place of
    the cases, which are then written with -o only.
    """
    policy = _read_policy(policy_file)
    out_format = "csv" if output in (None, STANDARD_OUTPUT) else format_of(output)
    check_output(output, show_options, force=force)
    ratio = None if cost_ratio is None else read_number(cost_ratio, "cost_ratio")
    with patience(f"reading {file}"):
        source = open_source(file, file_format)
        column = score or _policy_column(policy, policy_file)
        try:
            cases = read_predictions(
                source,
                label=label,
                scores=[column],
                pos_label=policy.pos_label if pos_label is None else pos_label,
                labelled=bool(label),
                both_classes=False,
                drop_missing=drop_missing,
            )
        except PredictionFileError as error:
            raise _explained(error, policy, policy_file, score) from None
        alarms = policy.predict(cases.of(column), ratio)
        if output is not None or not show_options.for_programs:
            decided = append_column(source, "alarm", alarms.astype(np.int8), cases.kept)
            _write(table_bytes(decided, out_format), output, force)
    for note in cases.notes:
        say(note, "note")
    verdict, threshold = Verdict.of(policy, cases, column, alarms, ratio), policy.threshold(ratio)
    say(f"{column!r} at threshold {exact(threshold)}: {verdict.words}")
    if show_options.for_programs:
        written = None if output is None else str(output)
        show(_sheet(verdict, cases.source, column, threshold).beside(written=written), show_options)
    if check and not verdict.kept:
        raise typer.Exit(LIMITS_NOT_MET)


def _read_policy(path: Path) -> ThresholdPolicy:
    try:
        return ThresholdPolicy.from_json(path)
    except ValueError as error:
        raise ValueError(f"{error}; a policy saved by voros select comes first") from None


def _write(data: bytes, output: Path | None, force: bool) -> None:
    if output in (None, STANDARD_OUTPUT):
        write_text(data.decode("utf-8"))
    else:
        write_whole(output, data, force=force)


def _sheet(verdict: Verdict, source: str, column: str, threshold: float) -> Sheet:
    values = {"file": source, "score": column, "threshold": threshold, "kept": verdict.kept}
    values |= asdict(verdict)
    return Sheet("", {}, [values], values)


def _policy_column(policy: ThresholdPolicy, path: Path) -> str:
    if policy.model is None:
        raise PredictionFileError(
            f"{path} does not say which scores it is for; name their column with --score"
        )
    return policy.model


def _explained(
    error: PredictionFileError, policy: ThresholdPolicy, path: Path, score: str | None
) -> PredictionFileError:
    if score is not None or "has no column" not in str(error):
        return error
    return PredictionFileError(
        f"{path} was made for the scores of {policy.model!r}, and {error}; if those scores have "
        "another name here, give it with --score"
    )
