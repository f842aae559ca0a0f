"""Operating points counted by an engine, with the proof of how exact they are.

Thresholds that can matter in the scenarios they were counted for are all there, and those chosen
are scores that occur; of the others some are left out, and some are no scores, but raise the alarms
that are counted. A policy of these points meets the limits at every cost ratio, and is the best one
on the costs they were counted for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.engines.binned_points import check_tolerance
from voros.engines.first_pass import count_totals, read_cases
from voros.engines.plan import LARGEST_ANSWER
from voros.engines.search import Aim, search


def count_frame(
    frame: Any,
    *,
    label: str,
    scores: Sequence[str],
    weight: str | None = None,
    pos_label: Any = None,
    scenarios: Sequence[Scenario] = (),
    tolerance: float | None = None,
    largest_answer: int = LARGEST_ANSWER,
) -> dict[str, OperatingPoints]:
    """Count the operating points of one or more models in as few passes as they need.

    Parameters
    ----------
    frame : Polars LazyFrame, DuckDB relation, Ibis table, Dask or Spark data frame
    label : str
        The column of labels; see ``pos_label``.
    scores : sequence of str
        A column of scores for each model.
    weight : str, optional
        The column of case weights.
    pos_label : label, optional
        The positive class; needed unless the labels are bool, {0, 1} or {-1, 1}.
    scenarios : sequence of Scenario
        Those whose scores the counts must settle; by default every distinct score is counted.
    tolerance : float in [0, 1), optional
        Stop where the certified interval of each score is no wider. By default 0, the exact score,
        and 1e-6 where that takes many passes: for more than a billion rows, and where more than
        16,384 ranges of scores are left open.
    largest_answer : int
        Rows of counts that one pass may bring into this process. Once the rows that can matter are
        no more than four times that, they are read as they are; as many may come along.

    Returns
    -------
    dict of str to OperatingPoints
        By score column; their `covers` is a `BinnedScores`, with the certified interval.

    Examples
    --------
    >>> import polars as pl, voros
    >>> frame = pl.LazyFrame({"ill": [True, False, True, False], "risk": [0.9, 0.8, 0.7, 0.1]})
    >>> scenario = voros.Scenario(0.5, 0.5, cost_ratio=(0.2, 0.4))
    >>> points = count_frame(frame, label="ill", scores=["risk"], scenarios=[scenario])["risk"]
    >>> counted = points.covers
    >>> counted.exact, voros.evaluate(points, scenario=scenario).score == counted.interval[0]
    (True, True)
    """
    accepted = None if tolerance is None else check_tolerance(tolerance)
    cases, totals = count_totals(read_cases(frame, label, scores, weight, pos_label))
    aim = Aim.at(scenarios, accepted, totals.rows)
    counted = {}
    for name in scores:
        apart = replace(cases, usage=replace(cases.usage))
        counted[name] = search(apart, name, totals, aim, largest_answer).points
    return counted
