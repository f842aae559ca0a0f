"""Output of ``voros apply``: rows with their alarms, and a verdict on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voros.alarms import AlarmState
from voros.cli.options import OutputOptions
from voros.cli.terminal import Sheet, deliver_cases, say, say_lines, show, show_progress
from voros.io import append_columns
from voros.io.source import Source
from voros.typing import BoolArray


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
    table : str
        The evaluation on these rows, if their labels or events are known.
    values : dict
        The verdict for programs; lists and mappings among them are only for JSON.
    evaluation : mapping or dataclass
        The same as `table`, for programs.
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
    table: str
    values: dict[str, Any]
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
            rows = self.rows or [document | (self.evaluation or {})]
            document["evaluation"] = self.evaluation
            show(Sheet(rows=list(map(_scalars, rows)), document=document), show_options)
        elif self.table:
            say_lines(self.table)


def _scalars(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is None or np.isscalar(value)}
