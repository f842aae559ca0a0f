"""Cases of a joint policy: which columns hold the scores and labels of its streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from voros.cli.loading import load, periods_of
from voros.cli.options import InputOptions, PeriodOptions, in_columns, refuse
from voros.cli.terminal import say
from voros.core.scenario import Scenario
from voros.io import Predictions
from voros.io.scenario_file import read_scenario_fields
from voros.io.source import Source
from voros.io.tables import peek
from voros.typing import AnyArray, BoolArray

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation import JointEvaluation, JointPolicy
    from voros.allocation.joint_policy import AnyPolicy

ONE_SCORE = ""
"""Stands for the outcome of a policy that decides on one score."""

StreamColumns = Annotated[
    Path | None,
    in_columns(
        "For a joint policy of several outcomes: the TOML file that names the label and score "
        "column of each, as in voros allocate.",
        "--streams",
        metavar="FILE",
    ),
]


def has_outcomes(policy: AnyPolicy) -> bool:
    """Whether a policy decides on several scores of a case."""
    return getattr(policy, "arrangement", "groups") != "groups"


def check_stream_fields(path: Path, name: str, fields: Mapping[str, Any], *keys: str) -> None:
    """Refuse a stream that does not name its columns."""
    for key in keys:
        if not isinstance(fields.get(key), str):
            raise ValueError(f"{path}, stream {name!r}: {key} must name a column")


def read_stream_columns(path: Path | None, policy: Any, key: str) -> dict[str, str]:
    """Return the score or label column of each stream of a joint policy."""
    listed = ", ".join(map(repr, policy.names))
    if path is None:
        raise ValueError(
            f"the policy has the outcomes {listed}; name their columns in a file, --streams FILE"
        )
    tables = read_scenario_fields(path)
    if set(tables) != set(policy.names):
        raise ValueError(
            f"{path} has the streams {', '.join(map(repr, tables))}; the policy has {listed}"
        )
    for name, fields in tables.items():
        check_stream_fields(path, name, fields, key)
    return {name: str(tables[name][key]) for name in policy.names}


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
        of_one_score = self.columns.given("label", "score", "drop_missing")
        refuse(of_one_score, "is for one score of a case; --streams names columns")
        refuse({"by": self.by}, "is for a joint policy whose streams are groups of cases")
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
