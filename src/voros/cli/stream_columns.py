"""Which columns of a file hold the scores and labels of a joint policy's streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from voros.cli.options import in_columns
from voros.io.scenario_file import read_scenario_fields

if TYPE_CHECKING:  # loaded by the commands that read a policy, not by all of them
    from voros.allocation.any_policy import AnyPolicy

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
