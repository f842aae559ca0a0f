"""Several alarms on the same cases, or groups of cases: their columns, and a joint policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard

import numpy as np

from voros.cli.loading import load
from voros.cli.options import CaseOptions, in_columns
from voros.core.scenario import Scenario
from voros.io import Predictions
from voros.io.scenario_file import read_scenario_fields
from voros.io.source import Source
from voros.typing import AnyArray, BoolArray

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation import JointPolicy
    from voros.allocation.joint_policy import AnyPolicy

StreamColumns = Annotated[
    Path | None,
    in_columns(
        "For a joint policy of several outcomes: the TOML file that names the label and score "
        "column of each, as in voros allocate.",
        "--streams",
        metavar="FILE",
    ),
]


def has_outcomes(policy: AnyPolicy) -> TypeGuard[JointPolicy]:
    """Whether a policy decides on several scores of a case."""
    return getattr(policy, "arrangement", "groups") != "groups"


@dataclass(frozen=True)
class Streams:
    """Label and score column of each outcome; or of all cases, with the columns of subgroups.

    The label column is None for cases without labels.
    """

    columns: Mapping[str, tuple[str | None, str]]
    by: tuple[str, ...] = ()

    @classmethod
    def from_file(cls, path: Path) -> Streams:
        """Read the columns that a TOML file names for each outcome."""
        tables = read_scenario_fields(path)
        for name, fields in tables.items():
            for key in ("label", "score"):
                if not isinstance(fields.get(key), str):
                    raise ValueError(f"{path}, stream {name!r}: {key} must name a column")
        return cls({name: (str(own["label"]), str(own["score"])) for name, own in tables.items()})

    @classmethod
    def of_policy(cls, policy: JointPolicy, path: Path | None) -> Streams:
        """Read the columns of the outcomes of a policy."""
        listed = ", ".join(map(repr, policy.names))
        if path is None:
            raise ValueError(
                f"the policy has the outcomes {listed}; name their columns in a file, "
                "--streams FILE"
            )
        streams = cls.from_file(path)
        if set(streams.columns) != set(policy.names):
            named = ", ".join(map(repr, streams.columns))
            raise ValueError(f"{path} has the streams {named}; the policy has {listed}")
        return streams

    def load(
        self,
        file: CaseOptions,
        source: Source,
        shared: Scenario,
        *,
        group: str | None = None,
        both_classes: bool = True,
    ) -> tuple[dict[str, Any], BoolArray | None]:
        """Return the cases as arguments of `voros.allocate`, and the rows of the file used."""
        labels, scores = {}, {}
        for name, (label, score) in self.columns.items():
            cases = load(
                replace(file, label=label, score=[score]),
                shared,
                source=source,
                group=group,
                by=self.by,
                labelled=label is not None,
                both_classes=both_classes,
            )
            labels[name], scores[name] = cases.positive, cases.scores_of(score)
        units: dict[str, Any] = {"periods": cases.periods}
        if group is not None:
            units["groups"] = cases.groups
        if not self.by:
            return {"y_true": labels, "scores": scores, **units}, cases.kept
        units["by"] = joined_subgroups(cases)
        return {"y_true": labels[name], "scores": scores[name], **units}, cases.kept


def joined_subgroups(cases: Predictions) -> AnyArray:
    """Return the subgroup of each case; values of several columns are joined."""
    rows = zip(*(column.tolist() for column in cases.by.values()), strict=True)
    return np.array([", ".join(map(str, row)) for row in rows])
