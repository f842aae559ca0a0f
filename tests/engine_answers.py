"""What an engine counts is compared with the same cases in memory."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

import voros


def assert_chooses_alike(
    points: voros.OperatingPoints,
    every: voros.OperatingPoints,
    scenarios: Iterable[voros.Scenario],
) -> None:
    """Points of an engine have the scores and chosen thresholds of every point in memory."""
    for scenario in scenarios:
        evaluation = voros.evaluate(points, scenario=scenario)
        expected = voros.evaluate(every, scenario=scenario)
        assert evaluation.score == pytest.approx(expected.score, abs=1e-12)
        thresholds = [choice.threshold for choice in expected.choices]
        assert [choice.threshold for choice in evaluation.choices] == thresholds
