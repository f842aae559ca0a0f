"""``voros apply`` over stays: which rows sound an alarm, silence included."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from voros.alarms import AlarmState
from voros.cli import LIMITS_NOT_MET
from voros.cli.options import OutputOptions
from voros.cli.stays import StayInput
from voros.cli.terminal import Sheet, deliver_cases, say, say_lines, show, show_progress
from voros.io import append_columns
from voros.present.report.wording import exact

if TYPE_CHECKING:
    from voros.policy import StayEvaluation, ThresholdPolicy
    from voros.typing import BoolArray


@dataclass(frozen=True, eq=False, kw_only=True)
class StayAlarms:
    """Rows of stays on which a policy decides.

    Attributes
    ----------
    policy : ThresholdPolicy
    rows : StayInput
    cost_ratio : float or None
    state : Path or None
        Where the state is kept from one part of the rows to the next; a new file begins all stays.
    check : bool
        Whether a broken limit ends the command with another exit code.
    """

    policy: ThresholdPolicy
    rows: StayInput
    cost_ratio: float | None
    state: Path | None
    check: bool

    def __post_init__(self) -> None:
        """Refuse a verdict on parts of stays, before anything is read."""
        if self.check and not self.judges:
            raise ValueError("--check judges whole stays: it requires --events, and no --state")

    @property
    def judges(self) -> bool:
        """Whether the rows are whole stays whose events are known."""
        return self.rows.stays.events is not None and self.state is None

    def write(self, output: Path | None, show_options: OutputOptions) -> None:
        """Write the rows with their alarms, then the state, and say what was decided."""
        alarms, state = self._decide()
        if output is not None or not show_options.for_programs:
            with show_progress("writing the rows"):
                kept = self.rows.rows.kept
                decided = append_columns(self.rows.source, {"alarm": alarms.astype(np.int8)}, kept)
                deliver_cases(decided, output, show_options)
        if self.state is not None:
            state.to_json(self.state, force=True)
        evaluation = None
        if self.judges:
            evaluation = self.rows.evaluate(self.policy, self.cost_ratio)
        self._show(alarms, evaluation, output, show_options)
        if self.check and evaluation is not None and not evaluation.satisfied:
            raise typer.Exit(LIMITS_NOT_MET)

    def _decide(self) -> tuple[BoolArray, AlarmState]:
        arguments = self.rows.arguments()
        del arguments["groups"]
        if arguments["events"] is None:
            del arguments["events"]
        state = None
        if self.state is not None and self.state.exists():
            state = AlarmState.from_json(self.state)
        (model,) = self.rows.rows.models
        return self.policy.alarms(**arguments, score=model, state=state, cost_ratio=self.cost_ratio)

    def _show(
        self,
        alarms: BoolArray,
        evaluation: StayEvaluation | None,
        output: Path | None,
        show_options: OutputOptions,
    ) -> None:
        (model,), n_alarms = self.rows.rows.models, int(alarms.sum())
        threshold = self.policy.threshold(self.cost_ratio)
        decided = f"{n_alarms:,} alarms in {len(alarms):,} rows"
        say(f"{model!r} at threshold {exact(threshold)}: {decided}")
        if show_options.for_programs:
            values = {"file": self.rows.name, "score": model, "threshold": threshold}
            values |= {"rows": len(alarms), "alarms": n_alarms}
            judged = {} if evaluation is None else {"evaluation": evaluation.values()}
            sheet = Sheet(
                title="",
                columns={},
                rows=lambda: [values | _numbers(evaluation)],
                document=lambda: values | judged,
            )
            show(sheet.beside(written=None if output is None else str(output)), show_options)
        elif evaluation is not None:
            say_lines(repr(evaluation))


def _numbers(evaluation: StayEvaluation | None) -> dict[str, Any]:
    """Return the figures of an evaluation that a line of CSV can hold."""
    values = {} if evaluation is None else evaluation.values()
    return {name: value for name, value in values.items() if np.isscalar(value)}
