"""Fixed-sequence tests for the next cases, in one line each."""

from __future__ import annotations

from voros.guarantee.next_cases.fixed_sequence import FixedSequence


def sequence(
    n_cases: int,
    horizon: int,
    min_precision: float,
    alpha: float,
    start: int,
    most: int,
    earliest: int | None = None,
) -> FixedSequence:
    return FixedSequence(
        n_cases=n_cases,
        horizon=horizon,
        min_precision=min_precision,
        alpha=alpha,
        start=start,
        most=most,
        ranks=None if earliest is None else (earliest, most),
    )
