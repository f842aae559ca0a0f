"""Alarms of a saved policy of any kind on the rows of a file, and a verdict on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.alarms import AlarmState
from voros.cli.loading import load
from voros.cli.options import CaseOptions, OutputOptions, refuse
from voros.cli.review import review_values
from voros.cli.stays import StayInput
from voros.cli.streams import Streams
from voros.cli.terminal import Sheet, deliver_cases, say, say_lines, show, show_progress
from voros.core.scenario import Scenario
from voros.core.worth import compared_scores
from voros.io import Predictions, append_columns, open_source
from voros.io.source import Source
from voros.io.tables import peek
from voros.policy.review import ReviewBand
from voros.policy.threshold_policy import ThresholdPolicy
from voros.policy.worklists import Worklist
from voros.present.report.values import evaluation_values
from voros.text.numbers import count, count_within, counted, percent, threshold_text, typed
from voros.typing import BoolArray

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation.joint_policy import JointPolicy
    from voros.policy.policy_evaluation import PolicyEvaluation


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
        Whether no known limit is broken.
    words : str
        The verdict in a line.
    values : dict
        The verdict for programs; lists and mappings among them are only for JSON.
    tables : sequence of object
        The evaluation on these rows as text, if their labels or events are known.
    evaluation : mapping or dataclass
        The same for programs.
    rows : list of dict or None
        Lines of CSV, if not one line of the values.
    state : AlarmState or None
        The state from which later rows of the same stays continue.
    """

    source: Source
    alarms: Mapping[str, BoolArray]
    kept_rows: BoolArray | None
    kept: bool
    words: str
    values: dict[str, Any]
    tables: Sequence[object] = ()
    evaluation: Any = None
    rows: list[dict[str, Any]] | None = None
    state: AlarmState | None = None

    def write(self, output: Path | None, show_options: OutputOptions) -> None:
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
            document["kept"] = self.kept
            rows = self.rows or [document | (self.evaluation or {})]
            document["evaluation"] = self.evaluation
            show(Sheet(rows=list(map(_scalars, rows)), document=document), show_options)
            return
        for table in self.tables:
            say_lines(str(table))


def _scalars(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is None or np.isscalar(value)}


def decide_cases(
    policy: ThresholdPolicy | Worklist,
    columns: CaseOptions,
    cost_ratio: float | None,
    *,
    source: Source,
    by: list[str] | None,
    **how: Any,
) -> Decided:
    """Decide on cases by one score, or by a blend of several."""
    if by and not columns.label:
        raise ValueError("--by requires --label, the column of true labels")
    (column,) = columns.score or [""]
    how |= {"labelled": bool(columns.label), "both_classes": False}
    cases = load(columns, policy.scenario, source=source, by=by, **how)
    labels, scenario = cases.positive, policy.scenario
    if labels is not None and scenario.prevalence is not None and len(np.unique(labels)) < 2:
        labels = None  # nothing to reweight to the policy's prevalence
    threshold, alarms, tested = _evaluate(policy, cases, column, labels, cost_ratio)
    parts = tested.by_subgroup
    within = "capacity" not in {violation.limit for violation in tested.violations}
    kept = within if labels is None else tested.satisfied
    kept = kept and not (parts and parts.with_floor("broken"))
    n_alarms = int(alarms.sum())
    values = {"score": column, "threshold": threshold, "cases": len(alarms), "alarms": n_alarms}
    values |= {"max_alarms": tested.max_alarms, "within_capacity": within}
    if tested.by_period is not None:
        values["periods"] = tested.by_period.n_periods
        values["periods_above"] = int(tested.by_period.n_above[0])
    return Decided(
        source=source,
        alarms={"alarm": alarms},
        kept_rows=cases.kept,
        kept=kept,
        words=f"{column!r} at threshold {threshold_text(threshold)}: "
        f"{_alarms_in_words(tested, alarms, scenario)}: {'kept' if within else 'exceeded'}",
        values=values,
        tables=() if labels is None else [tested],
        evaluation=None if labels is None else evaluation_values(tested),
        rows=None if parts is None else parts.values(),
    )


def _evaluate(
    policy: ThresholdPolicy | Worklist,
    cases: Predictions,
    column: str,
    labels: BoolArray | None,
    cost_ratio: float | None,
) -> tuple[float, BoolArray, PolicyEvaluation]:
    """Return threshold, alarms and evaluation; without labels only the number of alarms counts."""
    scores, periods = cases.scores_of(column), cases.periods
    known = np.zeros(len(scores), dtype=np.bool_) if labels is None else labels
    judge = policy if labels is not None else _without_labels(policy)
    if isinstance(judge, Worklist):
        alarms = judge.predict(scores, periods=periods)
        return judge.threshold, alarms, judge.evaluate(known, scores, periods=periods).worklist
    assert isinstance(policy, ThresholdPolicy)
    scores = compared_scores(scores, cases.miss_value, policy.threshold_on)
    judge = judge.comparing("score")
    per_case: Any = {"periods": periods, "by": cases.by or None}
    if labels is not None:
        per_case["miss_value"] = cases.miss_value
        per_case["false_alarm_cost"] = cases.false_alarm_cost
    tested = judge.evaluate(known, scores, cost_ratio=cost_ratio, **per_case)
    return judge.threshold(cost_ratio), judge.predict(scores, cost_ratio), tested


def _without_labels(policy: ThresholdPolicy | Worklist) -> ThresholdPolicy | Worklist:
    """Return the policy for cases without labels, whose prevalence and values are unknown."""
    plain = policy.policy if isinstance(policy, Worklist) else policy
    plain = replace(plain, scenario=plain.scenario.changed(prevalence=None), values=None)
    return replace(policy, policy=plain) if isinstance(policy, Worklist) else plain


def _alarms_in_words(tested: PolicyEvaluation, alarms: BoolArray, scenario: Scenario) -> str:
    """Say how many alarms there were, and what the capacity is."""
    n_alarms, share = int(alarms.sum()), percent(float(alarms.mean()))
    words = f"{counted(n_alarms, 'alarm')} in {counted(len(alarms), 'case')} ({share})"
    if not np.isclose(tested.mean_alarms, n_alarms):
        words += f", {count(tested.mean_alarms)} at the prevalence of the policy"
    if scenario.per is None:
        return f"{words}; capacity {count_within(tested.max_alarms, tested.mean_alarms)} alarms"
    words += f"; capacity {typed(scenario.capacity)} {scenario.rule}"
    if (by_period := tested.by_period) is not None:
        words += f", more in {int(by_period.n_above[0]):,} of {by_period.n_periods:,} periods"
    return words


def decide_stays(
    policy: ThresholdPolicy,
    rows: StayInput,
    cost_ratio: float | None,
    state: Path | None,
    check: bool,
) -> Decided:
    """Decide which rows of stays sound an alarm; evaluate whole stays only."""
    judged = rows.stays.events is not None and state is None
    if not judged:
        of_stays = {"check": check, "by": rows.by}
        refuse(of_stays, "is for whole stays: it requires --events, and no --state")
    arguments = {name: value for name, value in rows.arguments().items() if value is not None}
    before = AlarmState.from_json(state) if state is not None and state.exists() else None
    (model,) = rows.rows.scores
    alarms, after = policy.alarms(**arguments, score=model, state=before, cost_ratio=cost_ratio)
    evaluation = rows.evaluate(policy, cost_ratio) if judged else None
    parts = None if evaluation is None else evaluation.by_subgroup
    threshold, n_alarms = policy.threshold(cost_ratio), int(alarms.sum())
    values = {"score": model, "threshold": threshold, "rows": len(alarms), "alarms": n_alarms}
    return Decided(
        source=rows.source,
        alarms={"alarm": alarms},
        kept_rows=rows.rows.kept,
        kept=evaluation is None or evaluation.satisfied,
        words=(
            f"{model!r} at threshold {threshold_text(threshold)}: {counted(n_alarms, 'alarm')} in "
            f"{counted(len(alarms), 'row')}"
        ),
        values=values,
        tables=() if evaluation is None else [evaluation],
        evaluation=None if evaluation is None else evaluation.values(),
        rows=None if parts is None else parts.values(),
        state=after,
    )


def decide_streams(
    policy: JointPolicy,
    columns: CaseOptions,
    file: Path | None,
    by: list[str],
) -> Decided:
    """Decide on several outcomes of each case, or by the group of a case."""
    source = open_source(columns.file)
    shared = policy.limit
    streams = _streams_of(policy, columns, file, by, source)
    cases, kept_rows = streams.load(columns, source, shared, both_classes=False)
    labelled = all(label is not None for label, _ in streams.columns.values())
    alarms = policy.predict(cases["scores"], by=cases.get("by"))
    by_stream = alarms if isinstance(alarms, dict) else {"": alarms}
    if not labelled:  # only alarms and capacity are shown then
        nobody = {name: np.zeros_like(column) for name, column in by_stream.items()}
        cases["y_true"] = nobody.get("", nobody)
    tested = policy.evaluate(**cases)
    within, thresholds = tested.capacity_kept, policy.thresholds()
    kept = tested.feasible if labelled else within
    tables = [tested] if tested.by_period is None else [tested, tested.by_period]
    values: dict[str, Any] = {"cases": tested.n_cases, "alarms": tested.alarms}
    values |= {"max_alarms": tested.max_alarms, "within_capacity": within}
    values["thresholds"] = thresholds
    return Decided(
        source=source,
        alarms={f"alarm_{name}" if name else "alarm": a for name, a in by_stream.items()},
        kept_rows=kept_rows,
        kept=kept,
        words=(
            f"{counted(tested.alarms, 'alarm')} in {counted(tested.n_cases, 'case')}; capacity "
            f"{count_within(tested.max_alarms)} alarms: {'kept' if within else 'exceeded'}"
        ),
        values=values,
        tables=tables if labelled else (),
        evaluation=tested if labelled else None,
        rows=(
            tested.frame("pyarrow").to_pylist()
            if labelled
            else [{"name": name, "threshold": value} for name, value in thresholds.items()]
        ),
    )


def _streams_of(
    policy: JointPolicy, columns: CaseOptions, file: Path | None, by: list[str], source: Source
) -> Streams:
    """Return the columns of a policy's streams; labels if the file has them all."""
    if policy.arrangement == "groups":
        if file is not None or not by or not columns.score:
            listed = ", ".join(map(repr, policy.names))
            raise ValueError(
                f"the policy has a threshold for each of {listed}; name the column of these groups "
                "with --by, and that of the scores with --score"
            )
        (score,) = columns.score
        return Streams({score: (columns.label, score)}, tuple(by))
    streams = Streams.of_policy(policy, file)
    there = peek(source).column_names
    lacking = [label for label, _ in streams.columns.values() if label not in there]
    if lacking:
        say(f"{source.name} has no column {lacking[0]!r}: limits on precision are not judged")
        return Streams({name: (None, score) for name, (_, score) in streams.columns.items()})
    return streams


def decide_band(band: ReviewBand, columns: CaseOptions) -> Decided:
    """Decide who raises an alarm and which cases are reviewed."""
    source = open_source(columns.file)
    cases = load(columns, band.scenario, source=source, labelled=bool(columns.label))
    (column,) = cases.models
    level = band.predict(cases.scores_of(column))
    decided = {name: level == name for name in ("alarm", "review")}
    counts = None
    if cases.positive is not None:
        counts = band.evaluate(cases.positive, cases.scores_of(column))
    n_cases, n_alarms, n_reviews = len(level), *(int(marks.sum()) for marks in decided.values())
    most = band.most(n_cases)
    within = n_alarms <= most[0] and n_reviews <= most[1]
    kept = within and (counts is None or counts.meets_floors(band.scenario))
    values = {"score": column, "cases": n_cases, "alarms": n_alarms, "reviews": n_reviews}
    values |= {"max_alarms": most[0], "max_reviews": most[1]}
    return Decided(
        source=source,
        alarms=decided,
        kept_rows=cases.kept,
        kept=kept,
        words=(
            f"{column!r}: {counted(n_alarms, 'alarm')} and {counted(n_reviews, 'review')} in "
            f"{counted(n_cases, 'case')} ({band.words}); capacities of {count(most[0] // 1)} and "
            f"{count(most[1] // 1)}: {'kept' if within else 'exceeded'}"
        ),
        values=values,
        tables=() if counts is None else [counts],
        evaluation=None if counts is None else review_values(counts),
    )
