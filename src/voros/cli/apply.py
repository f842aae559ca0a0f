"""``voros apply``: a saved policy decides on new cases, and a verdict on its alarms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from voros.alarms import AlarmState
from voros.blending import Blend
from voros.cli import LIMITS_NOT_MET, options
from voros.cli.blends import BLEND, with_blend
from voros.cli.loading import load, periods_of
from voros.cli.options import InputOptions, option
from voros.cli.review import review_values
from voros.cli.stays import StayColumns, StayInput, in_stays, refuse_with_stays
from voros.cli.streams import StreamColumns, StreamFile
from voros.cli.terminal import (
    Sheet,
    cases_format,
    check_output,
    deliver_cases,
    say,
    say_lines,
    show,
    show_progress,
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
    from voros.allocation import JointPolicy
    from voros.allocation.joint_policy import AnyPolicy
    from voros.policy.policy_evaluation import PolicyEvaluation


@options.bundled
def apply(
    policy_file: Annotated[
        Path,
        typer.Argument(
            metavar="POLICY", help="Saved by voros select, review, allocate, subgroups or worklist."
        ),
    ],
    file: options.PredictionFile,
    show_options: options.OutputOptions,
    when: options.PeriodOptions,
    stays: StayColumns,
    subgroups: options.SubgroupOptions,
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
    miss_value: options.MissValue = None,
    false_alarm_cost: options.CaseCost = None,
    pos_label: str | None = option(
        "The positive label, if not that of the policy.", metavar="LABEL"
    ),
    drop_missing: bool = option(
        "Leave out cases with a missing value: they get no decision.",
        "--drop-missing",
        default=False,
    ),
    output: Path | None = options.output_to(
        "Where to write the cases with their alarms: .csv, .tsv, .parquet, .arrow or "
        ".jsonl. Without it, or with -, CSV on the standard output."
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
    columns = InputOptions(
        file=file,
        label=label,
        score=None if score is None else [score],
        pos_label=pos_label,
        drop_missing=drop_missing,
    )
    if false_alarm_cost is not None and miss_value is None:
        raise ValueError("--false-alarm-cost requires --miss-value, the column of values")
    if miss_value is not None and not isinstance(policy, ThresholdPolicy):
        raise ValueError("--miss-value is for threshold policies, as voros select saves them")
    _check_kind(policy, policy_file, ratio, stays, state, streams)
    combination = None if blend is None else _read_blend(blend, policy, policy_file, score)
    if not isinstance(policy, ThresholdPolicy | Worklist | ReviewBand):
        by = subgroups.columns
        file_of_streams = StreamFile(columns=columns, streams=streams, by=by, when=when)
        decided = _decide_streams(policy, file_of_streams)
    else:
        columns = replace(columns, score=[score or _policy_column(policy, policy_file)])
        with _naming_the_policy(policy, policy_file, named=score is not None):
            if isinstance(policy, ThresholdPolicy) and policy.rule is not None:
                refuse_with_stays(label=label, pos_label=pos_label, miss_value=miss_value)
                by_stay = tuple(subgroups.columns)
                rows = StayInput(
                    columns=columns, stays=stays, when=when, rule=policy.rule, by=by_stay
                )
                decided = _decide_stays(policy, rows, ratio, state, check)
            elif isinstance(policy, ReviewBand):
                when.check(policy.scenario)
                if subgroups.by:
                    raise ValueError("--by is for threshold policies; a review band has none")
                decided = _decide_band(policy, columns)
            else:
                worth = options.Worth.read(miss_value, false_alarm_cost)
                source = _with_saved_model(columns, policy_file)
                decided = _decide_cases(
                    *(policy, columns, source, when, subgroups, ratio, combination, worth)
                )
    decided.write(output, show_options)
    if state is not None and decided.state is not None:
        decided.state.to_json(state, force=True)
    if check and not decided.kept:
        raise typer.Exit(LIMITS_NOT_MET)


@dataclass(frozen=True, eq=False, kw_only=True)
class Decided:
    """Alarms of a policy on the rows of a file, and a verdict on them.

    Attributes
    ----------
    source : Source
    alarms : mapping of str to ndarray of bool
        Columns to append to the file.
    kept_rows : ndarray of bool or None
        Which rows of the file were decided on; None for all.
    kept : bool
        Whether no limit is known to be broken.
    words : str
        The verdict in a line.
    table : str
        What the policy does on these rows, where their labels or events are known.
    values : dict
        The verdict for programs; lists and mappings among them are for JSON alone.
    rows : list of dict or None
        Lines of CSV, where they are not one of the values.
    state : AlarmState or None
        From which the next rows of the same stays go on.
    """

    source: Source
    alarms: Mapping[str, BoolArray]
    kept_rows: BoolArray | None
    kept: bool
    words: str
    table: str
    values: dict[str, Any]
    rows: list[dict[str, Any]] | None = None
    state: AlarmState | None = None

    def write(self, output: Path | None, show_options: options.OutputOptions) -> None:
        """Write the rows with their alarms, and the verdict."""
        if output is not None or not show_options.for_programs:
            with show_progress("writing the cases"):
                columns = {name: alarms.astype(np.int8) for name, alarms in self.alarms.items()}
                deliver_cases(
                    append_columns(self.source, columns, self.kept_rows), output, show_options
                )
        say(self.words)
        if show_options.for_programs:
            written = None if output is None else str(output)
            document = {"written": written, "file": self.source.name, **self.values}
            rows = self.rows or [_scalars(document) | _scalars(self.values["evaluation"] or {})]
            show(Sheet(rows=rows, document=document), show_options)
        elif self.table:
            say_lines(self.table)


def _scalars(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is None or np.isscalar(value)}


def _decide_cases(
    policy: ThresholdPolicy | Worklist,
    columns: InputOptions,
    source: Source,
    when: options.PeriodOptions,
    subgroups: options.SubgroupOptions,
    cost_ratio: float | None,
    combination: Blend | None = None,
    worth: options.Worth | None = None,
) -> Decided:
    """Decide on cases by one score, or by a blend of several."""
    when.check(policy.scenario)
    if subgroups.by and not columns.label:
        raise ValueError("--by requires --label, the column of true labels")
    if subgroups.by and isinstance(policy, Worklist):
        raise ValueError("--by is for threshold policies; a worklist is evaluated as a whole")
    positive = policy.pos_label if columns.pos_label is None else columns.pos_label
    column = str((columns.score or [""])[0])
    parts = columns.score if combination is None else list(combination.weights)
    cases = load(
        replace(columns, pos_label=positive, score=parts),
        source=source,
        when=when,
        by=subgroups.columns,
        labelled=bool(columns.label),
        both_classes=False,
        worth=worth,
    )
    cases = cases if combination is None else with_blend(cases, combination)
    periods = periods_of(cases, policy.scenario, when)
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
        how = {"periods": periods, "by": subgroups.read(cases)}
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
        rows=None if by_subgroup is None else [result.values() for result in by_subgroup],
    )


def _with_saved_model(columns: InputOptions, policy_file: Path) -> Source:
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


def _decide_band(band: ReviewBand, columns: InputOptions) -> Decided:
    """Decide who raises an alarm and who is looked at again."""
    source = open_source(columns.file)
    cases = load(columns, source=source, labelled=bool(columns.label))
    (column,) = cases.models
    level = band.predict(cases.scores_of(column))
    decided = {name: level == name for name in ("alarm", "look")}
    counts = None
    if cases.positive is not None:
        counts = band.evaluate(cases.positive, cases.scores_of(column))
    n_cases, n_alarms, n_looks = len(level), *(int(marks.sum()) for marks in decided.values())
    most = band.most(n_cases)
    within = n_alarms <= most[0] and n_looks <= most[1]
    precise = counts is None or not counts.precision < band.scenario.min_precision
    values = {"score": column, "cases": n_cases, "alarms": n_alarms, "looks": n_looks}
    values |= {"max_alarms": most[0], "max_looks": most[1], "kept": within and precise}
    return Decided(
        source=source,
        alarms=decided,
        kept_rows=cases.kept,
        kept=within and precise,
        words=(
            f"{column!r}: {n_alarms:,} alarms from {threshold_text(band.alarm_threshold)} on and "
            f"{n_looks:,} looks from {threshold_text(band.review_threshold)} on in {n_cases:,} "
            f"cases; capacities of {count(most[0] // 1)} and {count(most[1] // 1)}: "
            f"{'kept' if within else 'exceeded'}"
        ),
        table="" if counts is None else repr(counts),
        values=values | {"evaluation": None if counts is None else review_values(counts)},
    )


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


def _decide_streams(policy: JointPolicy, file: StreamFile) -> Decided:
    """Decide on several outcomes of each case, or by the group of a case."""
    source = open_source(file.columns.file)
    cases = file.load(policy, source)
    tested, labelled = cases.evaluate(policy), cases.y_true is not None
    alarms, within = policy.predict(cases.scores, by=cases.by), tested.capacity_kept
    kept, thresholds = tested.feasible if labelled else within, policy.thresholds()
    values: dict[str, Any] = {"cases": tested.n_cases, "alarms": tested.alarms}
    values |= {"max_alarms": tested.max_alarms}
    values |= {"within_capacity": within, "kept": kept, "thresholds": thresholds}
    return Decided(
        source=source,
        alarms=(
            {f"alarm_{name}": column for name, column in alarms.items()}
            if isinstance(alarms, dict)
            else {"alarm": alarms}
        ),
        kept_rows=cases.kept,
        kept=kept,
        words=(
            f"{tested.alarms:,} alarms in {tested.n_cases:,} cases; capacity "
            f"{count(np.floor(tested.max_alarms))} alarms: {'kept' if within else 'exceeded'}"
        ),
        table=tested.table().text() if labelled else "",
        values=values | {"evaluation": tested if labelled else None},
        rows=(
            list(map(asdict, tested.streams))
            if labelled
            else [{"name": name, "threshold": value} for name, value in thresholds.items()]
        ),
    )


def _decide_stays(
    policy: ThresholdPolicy,
    rows: StayInput,
    cost_ratio: float | None,
    state: Path | None,
    check: bool,
) -> Decided:
    """Decide which rows of stays sound an alarm, silence included; judge whole stays alone."""
    judged = rows.stays.events is not None and state is None
    if check and not judged:
        raise ValueError("--check judges whole stays: it requires --events, and no --state")
    arguments = {name: value for name, value in rows.arguments().items() if value is not None}
    before = AlarmState.from_json(state) if state is not None and state.exists() else None
    (model,) = rows.rows.models
    alarms, after = policy.alarms(**arguments, score=model, state=before, cost_ratio=cost_ratio)
    evaluation = rows.evaluate(policy, cost_ratio) if judged else None
    threshold, n_alarms = policy.threshold(cost_ratio), int(alarms.sum())
    values = {"score": model, "threshold": threshold, "rows": len(alarms), "alarms": n_alarms}
    return Decided(
        source=rows.source,
        alarms={"alarm": alarms},
        kept_rows=rows.rows.kept,
        kept=evaluation is None or evaluation.satisfied,
        words=(
            f"{model!r} at threshold {threshold_text(threshold)}: {n_alarms:,} alarms in "
            f"{len(alarms):,} rows"
        ),
        table="" if evaluation is None else repr(evaluation),
        values=values | {"evaluation": None if evaluation is None else evaluation.values()},
        state=after,
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
