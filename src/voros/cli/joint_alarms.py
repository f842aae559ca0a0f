"""``voros apply`` and ``compare`` with a joint policy: alarms of several outcomes, or of groups."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from voros.cli import LIMITS_NOT_MET
from voros.cli.loading import load, periods_of
from voros.cli.options import InputOptions, OutputOptions, PeriodOptions
from voros.cli.stream_columns import has_outcomes, read_stream_columns
from voros.cli.terminal import Sheet, deliver_cases, say, say_lines, show, show_progress
from voros.core.scenario import Scenario
from voros.io import Predictions, append_columns, open_source
from voros.io.source import Source
from voros.io.tables import peek
from voros.present.report.wording import number
from voros.typing import AnyArray, BoolArray

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation import JointEvaluation, JointPolicy


@dataclass(frozen=True, kw_only=True)
class StreamCases:
    """Cases of a joint policy as `JointPolicy.evaluate` takes them; labels may be missing."""

    scores: Any
    y_true: Any
    by: AnyArray | None
    periods: Any
    n_cases: int
    kept: BoolArray | None

    def evaluate(self, policy: JointPolicy) -> JointEvaluation:
        """Evaluate the policy; without labels only what is said of alarms and capacity holds."""
        nobody = np.zeros(self.n_cases, dtype=np.bool_)
        unlabelled = dict.fromkeys(policy.names, nobody) if has_outcomes(policy) else nobody
        labels = unlabelled if self.y_true is None else self.y_true
        return policy.evaluate(labels, self.scores, by=self.by, periods=self.periods)


@dataclass(frozen=True, kw_only=True)
class StreamFile:
    """A file with cases of a joint policy, and which of its columns hold what.

    Attributes
    ----------
    columns : InputOptions
        The file; of groups also the columns of scores and labels.
    streams : Path or None
        Names the columns of each outcome.
    by : list of str
        The columns of groups.
    when : PeriodOptions
    """

    columns: InputOptions
    streams: Path | None
    by: list[str]
    when: PeriodOptions

    def load(self, policy: JointPolicy, source: Source) -> StreamCases:
        """Read the cases, with labels where they are named and the file has them."""
        shared = policy.limit.scenario or Scenario(cost_ratio=1.0)
        self.when.check(shared)
        if has_outcomes(policy):
            return self._load_outcomes(policy, source, shared)
        score = self.columns.score
        if self.streams is not None or not self.by or not score:
            raise ValueError(
                f"the policy has a threshold for each of {', '.join(map(repr, policy.names))}; "
                "name the column of these groups with --by, and that of the scores with --score"
            )
        labelled = self.columns.label is not None
        cases = load(
            self.columns,
            source=source,
            when=self.when,
            by=self.by,
            labelled=labelled,
            both_classes=False,
        )
        return StreamCases(
            scores=cases.scores_of(score[0]),
            y_true=cases.labels if labelled else None,
            by=joined_subgroups(cases, self.by),
            periods=periods_of(cases, shared, self.when),
            n_cases=cases.n_cases,
            kept=cases.kept,
        )

    def _load_outcomes(self, policy: JointPolicy, source: Source, shared: Scenario) -> StreamCases:
        for name in ("label", "score", "drop_missing"):
            if getattr(self.columns, name):
                option = name.replace("_", "-")
                raise ValueError(f"--{option} is for one score of a case; --streams names columns")
        if self.by:
            raise ValueError("--by is for a joint policy whose streams are groups of cases")
        scores = read_stream_columns(self.streams, policy, "score")
        wanted = replace(self.columns, score=list(dict.fromkeys(scores.values())))
        cases = load(wanted, source=source, when=self.when, labelled=False, both_classes=False)
        return StreamCases(
            scores={name: cases.scores_of(column) for name, column in scores.items()},
            y_true=self._labels(policy, source, wanted),
            by=None,
            periods=periods_of(cases, shared, self.when),
            n_cases=cases.n_cases,
            kept=cases.kept,
        )

    def _labels(self, policy: JointPolicy, source: Source, wanted: InputOptions) -> Any:
        labels = read_stream_columns(self.streams, policy, "label")
        lacking = sorted(set(labels.values()) - set(peek(source).column_names))
        if lacking:
            say(f"{source.name} has no column {lacking[0]!r}: limits on precision are not judged")
            return None
        return {
            name: load(replace(wanted, label=column), source=source, both_classes=False).labels
            for name, column in labels.items()
        }


def joined_subgroups(cases: Predictions, names: list[str]) -> AnyArray:
    """Return the group of each case; of several columns, their values together."""
    rows = zip(*(cases.by[name].tolist() for name in names), strict=True)
    return np.array([", ".join(map(str, row)) for row in rows])


@dataclass(frozen=True, eq=False, kw_only=True)
class JointAlarms:
    """Cases on which a joint policy decides."""

    policy: JointPolicy
    file: StreamFile
    check: bool

    def write(self, output: Path | None, show_options: OutputOptions) -> None:
        """Write the cases with their alarms, and say which limits are kept."""
        source = open_source(self.file.columns.file, self.file.columns.file_format)
        cases = self.file.load(self.policy, source)
        alarms = self.policy.predict(cases.scores, by=cases.by)
        named = (
            {f"alarm_{name}": column for name, column in alarms.items()}
            if isinstance(alarms, dict)
            else {"alarm": alarms}
        )
        if output is not None or not show_options.for_programs:
            with show_progress("writing the cases"):
                columns = {name: column.astype(np.int8) for name, column in named.items()}
                deliver_cases(append_columns(source, columns, cases.kept), output, show_options)
        tested = cases.evaluate(self.policy)
        kept = self._show(cases, tested, source.name, output, show_options)
        if self.check and not kept:
            raise typer.Exit(LIMITS_NOT_MET)

    def _show(
        self,
        cases: StreamCases,
        tested: JointEvaluation,
        source: str,
        output: Path | None,
        show_options: OutputOptions,
    ) -> bool:
        labelled, within = cases.y_true is not None, tested.capacity_kept
        kept = tested.feasible if labelled else within
        say(
            f"{tested.alarms:,} alarms in {tested.n_cases:,} cases, capacity "
            f"{number(tested.max_alarms)}: {'kept' if within else 'exceeded'}"
        )
        if show_options.for_programs:
            values = {"file": source, "cases": tested.n_cases, "alarms": tested.alarms}
            values |= {"max_alarms": tested.max_alarms, "within_capacity": within, "kept": kept}
            thresholds = self.policy.thresholds()
            rows = (
                [{f.name: getattr(one, f.name) for f in fields(one)} for one in tested.streams]
                if labelled
                else [{"name": name, "threshold": at} for name, at in thresholds.items()]
            )
            document = values | {"thresholds": thresholds}
            document |= {"evaluation": tested} if labelled else {}
            sheet = Sheet(title="", columns={}, rows=lambda: rows, document=lambda: document)
            written = None if output is None else str(output)
            show(sheet.beside(written=written), show_options)
        elif labelled:
            say_lines(tested.table().text())
        return kept
