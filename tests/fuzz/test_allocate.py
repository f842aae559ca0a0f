"""Odd arguments to everything that shares a capacity: an answer, or a refusal by name."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fuzz.odd_values import LABELS, ODD_VALUES, SCORES

import voros

SCENARIO = voros.Scenario(min_precision=0.3, cost_ratio=(0.1, 0.4))
WARD = np.where(np.arange(len(LABELS)) % 2, "a", "b")
ONE = {"y_true": LABELS, "scores": SCORES, "by": WARD}
TWO = {"y_true": {"x": LABELS, "y": LABELS}, "scores": {"x": SCORES, "y": SCORES[::-1].copy()}}
LIMITS = {"scenario": SCENARIO, "capacity": 0.5}
POINTS = {"y_true": {"a": voros.OperatingPoints.from_scores(LABELS, SCORES)}}
ALL = (
    "y_true scores scenario capacity miss_weight by overlap per exceed "
    "times periods guarantee groups max_seconds max_gap progress"
)


def targets():
    """Name, function, sound arguments, and those to spoil."""
    groups, outcomes = voros.allocate(**ONE, **LIMITS), voros.allocate(**TWO, **LIMITS)
    yield "allocate(by)", voros.allocate, ONE | LIMITS, ALL
    yield "allocate", voros.allocate, TWO | LIMITS, ALL
    words = "y_true scores by confidence_level"
    yield "evaluate(by)", groups.evaluate, ONE, words
    yield "evaluate", outcomes.evaluate, TWO, words
    yield "predict", outcomes.predict, {"scores": TWO["scores"]}, "scores by"
    words = "y_true scenario capacity miss_weight"
    yield "allocate(points)", voros.allocate, POINTS | LIMITS, words


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.VorosWarning")
def test_odd_arguments_are_answered_or_refused_by_name(capsys):
    tried, faults = Counter(), []
    for name, function, sound, words in targets():
        for argument in words.split():
            for odd in ODD_VALUES:
                said = outcome(function, sound | {argument: odd.make()})
                tried[said.partition(":")[0]] += 1
                if said.startswith("fault"):
                    faults.append(f"{name}({argument}={odd.name}) {said}")
    with capsys.disabled():
        print(f"\n{sum(tried.values())} calls: {dict(tried)}")
    assert faults == []
    assert tried["refused"] > 3000


def outcome(function, arguments):
    try:
        function(**arguments)
    except (ValueError, TypeError) as error:
        text = str(error)
        named = "accepted" in text or any(word in text for word in arguments)
        named |= any(word in text for word in ("stream", "cost", "points"))
        return "refused" if named else f"fault: not named: {text}"
    except Exception as error:
        return f"fault: {type(error).__name__}: {error}"
    return "answered"
