"""``voros apply``: a saved policy decides on new cases, and a verdict on its alarms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from voros.blending import Blend
from voros.cli import LIMITS_NOT_MET, options
from voros.cli.decided import Decided
from voros.cli.loading import BLEND, load
from voros.cli.options import CaseOptions, option
from voros.cli.review import decide_band
from voros.cli.stays import StayColumns, StayInput, decide_stays, in_stays, refuse_with_stays
from voros.cli.streams import StreamColumns, decide_streams
from voros.cli.terminal import (
    cases_format,
    check_output,
    say,
)
from voros.core.scenario import Scenario
from voros.core.worth import compared_scores
from voros.exceptions import Message, NoSuchColumnError, PredictionFileError
from voros.installing import missing_studies
from voros.io import Predictions, append_columns, open_source, table_bytes
from voros.io.appending import Written
from voros.io.scenario_text import read_number
from voros.io.source import Source
from voros.io.tables import peek
from voros.policy.review import ReviewBand, is_review_band
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import Worklist
from voros.present.report.values import evaluation_values
from voros.text.numbers import count, percent, threshold_text, typed
from voros.typing import AnyArray, BoolArray

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation.joint_policy import AnyPolicy
    from voros.policy.policy_evaluation import PolicyEvaluation


@options.bundled
def apply(
    policy_file: Annotated[
        Path,
        typer.Argument(
            metavar="POLICY", help="Saved by voros select, review, allocate or worklist."
        ),
    ],
    file: options.PredictionFile,
    show_options: options.OutputOptions,
    when: options.PeriodOptions,
    stays: StayColumns,
    worth: options.WorthOptions,
    by: options.By = None,
    state: Path | None = in_stays(
        "Remembers from one call to the next which stays are silenced.", "FILE"
    ),
    score: str | None = option(
        "The column of scores, if not named as the policy's model.", metavar="COLUMN"
    ),
    streams: StreamColumns = None,
    blend: Path | None = option(
        "Weights of a blend, saved by voros select --blend.", metavar="FILE"
    ),
    cost_ratio: str | None = option(
        "Cost of a false alarm against a miss now, if it is known.", metavar="RATIO"
    ),
    label: str | None = option("True labels, to check precision by.", metavar="COLUMN"),
    pos_label: str | None = option(
        "The positive label, if not that of the policy.", metavar="LABEL"
    ),
    drop_missing: bool = option(
        "Leave out cases with a missing value: they get no decision.",
        "--drop-missing",
        default=False,
    ),
    output: Path | None = options.output_to(
        "Where to write the cases with their alarms: .csv, .tsv, .parquet or .arrow. "
        "Without it, or with -, CSV on the standard output."
    ),
    check: bool = option(
        "Exit with 1 if a limit is broken, in all cases or in a subgroup.", "--check", default=False
    ),
) -> None:
    """Decide on the cases in FILE: all their columns, and whether each raises an alarm.

    With --json or --csv the verdict (how many alarms, which limits are kept) is printed in place of
    the cases, which are then written with -o only.
    """
    policy = _read_policy(policy_file)
    cases_format(output)
    check_output(output, show_options)
    ratio = None if cost_ratio is None else read_number(cost_ratio, "cost_ratio")
    columns = CaseOptions(
        file=file,
        label=label,
        score=None if score is None else [score],
        pos_label=pos_label,
        drop_missing=drop_missing,
        **vars(when),
    )
    if not worth.given:
        options.refuse({"false_alarm_cost": worth.false_alarm_cost}, "requires --miss-value COLUMN")
    elif not isinstance(policy, ThresholdPolicy):
        raise ValueError("--miss-value is for threshold policies, as voros select saves them")
    _check_kind(policy, policy_file, ratio, stays, state, streams)
    combination = None if blend is None else _read_blend(blend, policy, policy_file, score)
    if not isinstance(policy, ThresholdPolicy | Worklist | ReviewBand):
        decided = decide_streams(policy, columns, streams, by or [])
    else:
        columns = replace(columns, score=[score or _policy_column(policy, policy_file)])
        with _naming_the_policy(policy, policy_file, named=score is not None):
            if isinstance(policy, ThresholdPolicy) and policy.rule is not None:
                refuse_with_stays(label=label, pos_label=pos_label, miss_value=worth.miss_value)
                rows = StayInput(columns=columns, stays=stays, rule=policy.rule, by=by or ())
                decided = decide_stays(policy, rows, ratio, state, check)
            elif isinstance(policy, ReviewBand):
                columns.check_periods(policy.scenario)
                if by:
                    raise ValueError("--by is for threshold policies; a review band has none")
                decided = decide_band(policy, columns)
            else:
                source = _with_saved_model(columns, policy_file)
                decided = _decide_cases(*(policy, columns, source, by, ratio, combination, worth))
    decided.write(output, show_options)
    if state is not None and decided.state is not None:
        decided.state.to_json(state, force=True)
    if check and not decided.kept:
        raise typer.Exit(LIMITS_NOT_MET)


def _decide_cases(
    policy: ThresholdPolicy | Worklist,
    columns: CaseOptions,
    source: Source,
    by: list[str] | None,
    cost_ratio: float | None,
    combination: Blend | None = None,
    worth: options.WorthOptions | None = None,
) -> Decided:
    """Decide on cases by one score, or by a blend of several."""
    if by and not columns.label:
        raise ValueError("--by requires --label, the column of true labels")
    if by and isinstance(policy, Worklist):
        raise ValueError("--by is for threshold policies; a worklist is evaluated as a whole")
    positive = policy.pos_label if columns.pos_label is None else columns.pos_label
    column = str((columns.score or [""])[0])
    cases = load(
        replace(columns, pos_label=positive),
        policy.scenario,
        source=source,
        by=by,
        labelled=bool(columns.label),
        both_classes=False,
        worth=worth,
        blend=combination,
    )
    periods = cases.periods
    scores, labels, scenario = cases.scores_of(column), cases.positive, policy.scenario
    if labels is not None and scenario.prevalence is not None and len(np.unique(labels)) < 2:
        labels = None  # nothing to reweight to the policy's prevalence
    # Without labels only what is said of alarms holds; which of them are true does not matter.
    known = np.zeros(len(scores), dtype=np.bool_) if labels is None else labels
    judge = policy if labels is not None else _at_any_prevalence(policy)
    tested: PolicyEvaluation
    if isinstance(judge, Worklist):
        threshold, alarms = judge.threshold, judge.predict(scores, periods=periods)
        tested = judge.evaluate(known, scores, periods=periods).worklist
        n_periods = None if periods is None else periods.n_periods
        most = scenario.max_alarms(len(scores), 0.0, n_periods)
    else:
        threshold = float(judge.threshold(cost_ratio))
        how = {"periods": periods, "by": cases.by or None}
        alarms, tested = _decide(judge, cases, scores, labels, cost_ratio, how)
        most = tested.max_alarms
    broken, by_subgroup = {one.limit for one in tested.violations}, tested.by_subgroup
    within, n_alarms = "capacity" not in broken, int(alarms.sum())
    broken_in_subgroup = by_subgroup is not None and bool(by_subgroup.with_floor("broken"))
    kept = within and (labels is None or tested.satisfied) and not broken_in_subgroup
    values = {"score": column, "threshold": threshold, "cases": len(alarms), "alarms": n_alarms}
    values |= {"max_alarms": most, "within_capacity": within, "kept": kept}
    if tested.by_period is not None:
        values["periods"] = tested.by_period.n_periods
        values["periods_above"] = int(tested.by_period.n_above[0])
    return Decided(
        source=source,
        alarms={"alarm": alarms},
        kept_rows=cases.kept,
        kept=kept,
        words=f"{column!r} at threshold {threshold_text(threshold)}: "
        f"{_alarms_in_words(tested, n_alarms, scenario)}",
        table="" if labels is None else repr(tested),
        values=values | {"evaluation": None if labels is None else evaluation_values(tested)},
        rows=None if by_subgroup is None else by_subgroup.values(),
    )


def _with_saved_model(columns: CaseOptions, policy_file: Path) -> Source:
    """Open the cases; a model that a study saved beside its policies adds scores they lack."""
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
    # Text stays text, so that an identifier of 007 does.
    kind: Written = "csv" if source.format == "csv" else "parquet"
    return Source(source.name, None, table_bytes(table, kind))


def _decide(
    policy: ThresholdPolicy,
    cases: Predictions,
    scores: AnyArray,
    labels: BoolArray | None,
    cost_ratio: float | None,
    how: dict[str, Any],
) -> tuple[BoolArray, PolicyEvaluation]:
    """Decide on cases, and evaluate the alarms; costs of cases without labels mean nothing."""
    scores = compared_scores(scores, cases.miss_value, policy.threshold_on)
    if labels is None:
        policy, labels = replace(policy, values=None), np.zeros(len(scores), dtype=np.bool_)
    else:
        values = {"miss_value": cases.miss_value, "false_alarm_cost": cases.false_alarm_cost}
        policy, how = policy.comparing("score"), how | values
    tested = policy.evaluate(labels, scores, cost_ratio=cost_ratio, **how)
    return policy.predict(scores, cost_ratio), tested


def _at_any_prevalence(policy: ThresholdPolicy | Worklist) -> ThresholdPolicy | Worklist:
    plain = policy.policy if isinstance(policy, Worklist) else policy
    plain = replace(plain, scenario=plain.scenario.changed(prevalence=None))
    return replace(policy, policy=plain) if isinstance(policy, Worklist) else plain


def _alarms_in_words(tested: PolicyEvaluation, n_alarms: int, scenario: Scenario) -> str:
    """Say how many alarms there were, and whether they are within the capacity."""
    n_cases = tested.n_positive + tested.n_negative
    kept = "capacity" not in {violation.limit for violation in tested.violations}
    judged = (
        ""
        if np.isclose(tested.mean_alarms, n_alarms)
        else f", {count(tested.mean_alarms)} at the prevalence of the policy"
    )
    most = np.floor(tested.max_alarms) if tested.counts.whole else tested.max_alarms
    capacity = f"{count(float(most))} alarms"
    if scenario.per is not None:
        capacity = f"{typed(scenario.capacity)} {scenario.rule}"
    if (by_period := tested.by_period) is not None:
        capacity += f", more in {int(by_period.n_above[0]):,} of {by_period.n_periods:,} periods"
    return (
        f"{n_alarms:,} alarms in {count(n_cases)} cases ({percent(n_alarms / n_cases)}){judged}; "
        f"capacity {capacity}: {'kept' if kept else 'exceeded'}"
    )


def _check_kind(
    policy: AnyPolicy | ReviewBand,
    path: Path,
    cost_ratio: float | None,
    stays: StayColumns,
    state: Path | None,
    streams: Path | None,
) -> None:
    """Refuse options that are for another kind of policy."""
    rule = policy.rule if isinstance(policy, ThresholdPolicy) else None
    if rule is not None and not stays.given:
        raise ValueError(f"{path} is a policy for alarms over stays; add --stay and --time")
    if rule is None and (stays.given or state is not None):
        option = "--stay" if stays.given else "--state"
        raise ValueError(f"{option} is for alarms over stays, and {path} is for cases")
    if cost_ratio is not None and not isinstance(policy, ThresholdPolicy):
        raise ValueError(f"--cost-ratio: the thresholds of {path} do not depend on it")
    if streams is not None and isinstance(policy, ThresholdPolicy | Worklist | ReviewBand):
        raise ValueError(f"--streams is for joint policies of several outcomes; {path} has one")


def _read_policy(path: Path) -> AnyPolicy | ReviewBand:
    from voros.allocation.joint_policy import load_policy

    if path.is_dir():
        there = sorted([*path.glob("*.json"), *path.glob("policies/*.json")])
        such = f", such as {there[0]}" if there else ""
        raise ValueError(f"{path} is a folder; name a policy in it{such}")
    try:
        return ReviewBand.from_json(path) if is_review_band(path) else load_policy(path)
    except ValueError as error:
        raise ValueError(f"{error}; the first file is the policy") from None


@contextmanager
def _naming_the_policy(
    policy: ThresholdPolicy | Worklist | ReviewBand, path: Path, *, named: bool
) -> Iterator[None]:
    """Say which policy named a column that is missing, unless the column was named by hand."""
    try:
        yield
    except NoSuchColumnError as error:
        if named:
            raise
        made_for = f"{path} was made for the scores of {policy.model!r}, and "
        remedy = "; if they have another name here, give it with --score"
        if policy.model == BLEND:
            remedy = "; name its weights, saved by voros select --blend, with --blend"
        raise PredictionFileError(Message(made_for, *error.args, remedy)) from None


def _read_blend(
    path: Path, policy: AnyPolicy | ReviewBand, policy_file: Path, score: str | None
) -> Blend:
    if score is not None or getattr(policy, "model", None) != BLEND:
        raise ValueError(
            f"--blend is for a policy whose model is the blend; {policy_file} has none"
        )
    return Blend.from_json(path)


def _policy_column(policy: ThresholdPolicy | Worklist | ReviewBand, path: Path) -> str:
    if policy.model is None:
        raise PredictionFileError(f"{path} names no model; name the column of scores with --score")
    return policy.model
