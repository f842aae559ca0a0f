"""Operating points counted by an engine, with the proof of how exact they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from voros.core.arrays import FloatArray
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.engines.bins import Bins
from voros.engines.bounds import score_bounds
from voros.engines.intake import Totals, read_cases
from voros.engines.plan import LARGEST_ANSWER
from voros.engines.refinement import refine
from voros.exceptions import UnsettledError

CLOSED = 1e-12
"""An interval no wider than this is one number: its ends differ by rounding."""


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
    out, and `bounds` tells for any scenario what that may cost. Functions that take points ask
    `check_settles` first and refuse a scenario whose score these counts leave open. A policy of
    them meets the limits at every cost ratio, and is the best one on the costs they were counted
    for.

    Attributes
    ----------
    bins : Bins
        What is known of each range of scores.
    scenarios : tuple of Scenario
        Those the points were counted for; empty where every distinct score was counted.
    cost : Cost
        Passes, rows and bytes it took.
    tolerance : float
        How wide an interval was asked for.
    """

    bins: Bins = field(kw_only=True)
    scenarios: tuple[Scenario, ...] = field(kw_only=True)
    cost: Cost = field(kw_only=True)
    tolerance: float = field(kw_only=True, default=0.0)

    @property
    def complete(self) -> bool:
        """Whether every distinct score is a threshold here."""
        return bool(self.bins.single.all())

    def check_settles(self, scenario: Scenario) -> None:
        """Raise where the counts leave the score in a scenario open.

        Raises
        ------
        UnsettledError
            With the certified interval.
        """
        low, high = self.bounds(scenario)
        if high - low > max(self.tolerance, CLOSED):
            raise UnsettledError(
                f"these points were counted for other scenarios: in {scenario!r} the score is only "
                f"known to lie between {low:.6g} and {high:.6g}; count them for this scenario too"
            )

    def check_thresholds(self, thresholds: FloatArray) -> None:
        """Raise where a threshold lies inside a range that was counted as a whole."""
        inside = (self.bins.least < thresholds[:, None]) & (
            thresholds[:, None] <= self.bins.greatest
        )
        unknown = (inside & ~self.bins.single).any(axis=1)
        if unknown.any():
            raise UnsettledError(
                f"these points were counted for other scenarios, and leave open how many alarms "
                f"the threshold {thresholds[unknown][0]:g} raises; count them without a scenario, "
                "or evaluate the policy on the cases in memory"
            )

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
    return {
        name: _certified(part, totals, tuple(scenarios), cost, tolerance)
        for name, part in bins.items()
    }


def _certified(
    bins: Bins, totals: Totals, scenarios: tuple[Scenario, ...], cost: Cost, tolerance: float
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
        tolerance=tolerance,
    )
