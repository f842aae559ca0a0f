"""The policy on each piece of the costs: where one choice of thresholds gives way to the next.

The cost ratios of the streams move together, from the lowest of each (quantile 0) to the highest
(quantile 1). Where they are known or uniform they are linear in the quantile q, and so is the cost
of every choice. The least cost is the lower envelope of these lines. It is found exactly by solving
at both ends and then wherever two lines of the envelope cross, until nothing better turns up there
(Eisner and Severance, 1976): two solutions for each piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from voros.allocation.problem import JointProblem, ratio_ends


@dataclass(frozen=True)
class CostLine:
    """The cost of one choice of points as a line in the quantile."""

    rows: tuple[int, ...]
    at_zero: Fraction
    slope: Fraction

    def at(self, quantile: Fraction) -> Fraction:
        """Return the cost at a quantile."""
        return self.at_zero + self.slope * quantile


@dataclass(frozen=True)
class Piece:
    """Quantiles between which one choice is best."""

    low: Fraction
    high: Fraction
    line: CostLine

    @property
    def mean_cost(self) -> Fraction:
        """The mean cost over the piece."""
        return self.line.at((self.low + self.high) / 2)


def cost_pieces(problem: JointProblem) -> tuple[Piece, ...]:
    """Return the best choice on each piece of the quantiles, from 0 to 1."""
    costs = [decision.scenario.costs for decision in problem.decisions]
    ends = [ratio_ends(each, name) for each, name in zip(costs, problem.names, strict=True)]
    first, last = (_solved(problem, ends, Fraction(end)) for end in (0, 1))
    lines = [first, *_between(problem, ends, first, last)]
    if last.slope < lines[-1].slope:
        lines.append(last)
    breaks = [_crossing(before, after) for before, after in pairwise(lines)]
    bounds = [Fraction(0), *breaks, Fraction(1)]
    pieces = map(Piece, bounds[:-1], bounds[1:], lines)
    return tuple(piece for piece in pieces if piece.low < piece.high)


def _solved(
    problem: JointProblem, ends: list[tuple[Fraction, Fraction]], quantile: Fraction
) -> CostLine:
    rows = problem.choose([low + quantile * (high - low) for low, high in ends]).rows
    low, high = (
        sum(
            (s.cost(row) for s, row in zip(problem.streams(ratios), rows, strict=True)),
            Fraction(0),
        )
        for ratios in zip(*ends, strict=True)
    )
    return CostLine(rows, low, high - low)


def _crossing(before: CostLine, after: CostLine) -> Fraction:
    return (after.at_zero - before.at_zero) / (before.slope - after.slope)


def _between(
    problem: JointProblem,
    ends: list[tuple[Fraction, Fraction]],
    first: CostLine,
    last: CostLine,
) -> list[CostLine]:
    """Return the lines of the envelope between two of its lines, by falling slope."""
    if first.slope <= last.slope:
        return []
    quantile = _crossing(first, last)
    if not 0 < quantile < 1:
        return []
    middle = _solved(problem, ends, quantile)
    if middle.at(quantile) >= first.at(quantile):
        return []
    return [
        *_between(problem, ends, first, middle),
        middle,
        *_between(problem, ends, middle, last),
    ]
