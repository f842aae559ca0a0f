"""Operating points counted by an engine, with the proof of how exact they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from voros.engines.bins import Bins
from voros.engines.bounds import score_bounds
from voros.engines.intake import Totals, read_cases
from voros.engines.plan import LARGEST_ANSWER
from voros.engines.refinement import refine
from voros.roc import OperatingPoints
from voros.scenario import Scenario


@dataclass(frozen=True)
class Cost:
    """What it took to count.

    Attributes
    ----------
    engine : str
    rows : int
        In the frame.
    passes : int
        Times the whole frame was read.
    rows_counted : int
        Rows that were grouped, over all passes: those that could matter.
    bytes_received : int
        Size of all aggregates that reached this process.
    """

    engine: str
    rows: int
    passes: int
    rows_counted: int
    bytes_received: int

    @property
    def rows_scanned(self) -> int:
        """Rows read over all passes."""
        return self.rows * self.passes


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedPoints(OperatingPoints):
    """Operating points of scores that an engine holds, with a certified interval.

    They go wherever operating points go. Thresholds that can matter in the scenarios they were
    counted for are all there, and each is a score that occurs; between the others some are left
    out, and `bounds` tells for any scenario what that may cost.

    Attributes
    ----------
    bins : Bins
        What is known of each range of scores.
    scenarios : tuple of Scenario
        Those the points were counted for; empty where every distinct score was counted.
    cost : Cost
        Passes, rows and bytes it took.
    """

    bins: Bins = field(kw_only=True)
    scenarios: tuple[Scenario, ...] = field(kw_only=True)
    cost: Cost = field(kw_only=True)

    def bounds(self, scenario: Scenario) -> tuple[float, float]:
        """Lowest and highest partial VOROS that the counts allow in a scenario."""
        plain = self.bins.points(self.n_positive, self.n_negative, self.one_case)
        return score_bounds(self.bins, plain, scenario).interval

    @property
    def interval(self) -> tuple[float, float]:
        """Certified interval of partial VOROS in the first scenario counted for."""
        if not self.scenarios:
            raise ValueError(
                "these points were counted for no scenario: every score is told apart, and "
                "bounds(scenario) gives one number twice"
            )
        return self.bounds(self.scenarios[0])

    @property
    def exact(self) -> bool:
        """Whether the bounds meet in every scenario counted for."""
        return all(low == high for low, high in map(self.bounds, self.scenarios))


def count_frame(
    frame: Any,
    *,
    label: str,
    scores: Sequence[str],
    weight: str | None = None,
    pos_label: Any = None,
    scenarios: Sequence[Scenario] = (),
    tolerance: float = 0.0,
    largest_answer: int = LARGEST_ANSWER,
) -> dict[str, CertifiedPoints]:
    """Count the operating points of one or more models in as few passes as they need."""
    if not 0.0 <= tolerance < 1.0:
        raise ValueError(f"tolerance={tolerance!r}; accepted is a number within [0, 1)")
    cases, totals = read_cases(frame, label, scores, weight, pos_label)
    bins = refine(cases, totals, scenarios, tolerance, largest_answer)
    ledger = cases.ledger
    cost = Cost(
        cases.adapter.name, totals.rows, ledger.passes, ledger.rows_counted, ledger.bytes_received
    )
    return {name: _certified(part, totals, tuple(scenarios), cost) for name, part in bins.items()}


def _certified(
    bins: Bins, totals: Totals, scenarios: tuple[Scenario, ...], cost: Cost
) -> CertifiedPoints:
    plain = bins.points(totals.positive, totals.negative, totals.one_case)
    return CertifiedPoints(
        plain.thresholds,
        plain.tp,
        plain.fp,
        plain.n_positive,
        plain.n_negative,
        plain.one_case,
        bins=bins,
        scenarios=scenarios,
        cost=cost,
    )
