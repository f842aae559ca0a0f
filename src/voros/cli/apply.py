"""``voros apply``: a saved policy decides on new cases."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from voros.cli.failures import LIMITS_NOT_MET, say
from voros.cli.options import Force, PredictionFile
from voros.cli.patience import patience
from voros.exceptions import PredictionFileError
from voros.files import (
    Predictions,
    append_column,
    check_writable,
    format_of,
    open_source,
    read_predictions,
    table_bytes,
    write_whole,
)
from voros.inputs import BoolArray
from voros.policy import ThresholdPolicy
from voros.report.wording import exact, number
from voros.roc import OperatingPoints
from voros.scenario_text import read_number


def apply(
    policy_file: Annotated[
        Path, typer.Argument(metavar="POLICY", help="A policy saved by voros select.")
    ],
    file: PredictionFile,
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
        str | None, typer.Option(metavar="LABEL", help="The positive label, if not 1 or true.")
    ] = None,
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
            ".jsonl. Without it, CSV on the standard output.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 where a limit is not kept.")
    ] = False,
    force: Force = False,
) -> None:
    """Decide on the cases in FILE: all their columns, and whether each raises an alarm."""
    policy = ThresholdPolicy.from_json(policy_file)
    out_format = "csv" if output is None else format_of(output)
    check_writable([] if output is None else [output], force=force)
    ratio = None if cost_ratio is None else read_number(cost_ratio, "cost_ratio")
    with patience(f"reading {file}"):
        source = open_source(file, file_format)
        column = score or _policy_column(policy, policy_file)
        try:
            cases = read_predictions(
                source, label=label, scores=[column], pos_label=pos_label, labelled=bool(label)
            )
        except PredictionFileError as error:
            raise _explained(error, policy, policy_file, score) from None
        alarms = policy.predict(cases.of(column), ratio)
        data = table_bytes(append_column(source, "alarm", alarms.astype(np.int8)), out_format)
    if output is None:
        sys.stdout.write(data.decode("utf-8"))
    else:
        write_whole(output, data, force=force)
    outcome = _account(policy, cases, alarms)
    say(f"{column!r} at threshold {exact(policy.threshold(ratio))}: {outcome.words}")
    if check and not outcome.kept:
        raise typer.Exit(LIMITS_NOT_MET)


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


@dataclass(frozen=True)
class _Outcome:
    kept: bool
    words: str


def _account(policy: ThresholdPolicy, cases: Predictions, alarms: BoolArray) -> _Outcome:
    """Compare the alarms with the capacity, and where labels are known with the floor."""
    scenario, n_cases, raised = policy.scenario, len(alarms), int(alarms.sum())
    most = scenario.max_alarms(n_cases, one_case=0.0)
    crowded = raised > most
    words = (
        f"{raised:,} alarms in {n_cases:,} cases ({raised / n_cases:.2%}), capacity "
        f"{number(most)}: {'exceeded' if crowded else 'kept'}"
    )
    if cases.positive is None or raised == 0:
        return _Outcome(not crowded, words)
    right = int((alarms & cases.positive).sum())
    n_positive = int(cases.positive.sum())
    point = OperatingPoints.from_counts([right], [raised - right], n_positive, n_cases - n_positive)
    precise = bool(point.precise_enough(scenario.min_precision)[1])
    words += (
        f"; precision {right / raised:.4f}, floor {scenario.min_precision:g}: "
        f"{'kept' if precise else 'broken'}; recall {right / n_positive:.4f}"
    )
    return _Outcome(precise and not crowded, words)
