"""Saved rules of every kind that were changed by hand are refused: thresholds and limits alike."""

import json

import numpy as np
import pytest

import voros
from voros.io.documents import DocumentError

N = 400
LIMITS = voros.Scenario(min_precision=0.3, capacity=0.3, cost_ratio=(0.1, 0.3))


def cases():
    rng = np.random.default_rng(4)
    y = rng.random(N) < 0.3
    return y, rng.normal(size=N) + 1.5 * y, rng.normal(size=N) + y


def policy():
    y, score, _ = cases()
    return voros.ThresholdPolicy.from_validation(y, score, LIMITS)


def joint_policy():
    y, score, other = cases()
    scores = {"sepsis": score, "kidney": other}
    limits = voros.Scenario(min_precision=0.3, cost_ratio=0.2)
    return voros.allocate(dict.fromkeys(scores, y), scores, limits, capacity=120)


def worklist():
    y, score, _ = cases()
    limits = voros.Scenario(0.3, capacity=3, per="day", cost_ratio=0.2, exceed=0)
    return voros.worklist(y, score, limits, periods=np.arange(N) // 10)


def band():
    y, score, _ = cases()
    limits = voros.Scenario(min_precision=0.3, capacity=0.3, cost_ratio=0.2)
    return voros.policy.review_band(y, score, limits, review_capacity=0.1, review_cost=0.05)


def blend():
    y, score, other = cases()
    return voros.blend(y, {"a": score, "b": other})


def numbers(value, path=()):
    """Return the path of every number in a document."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [nested for key, item in items for nested in numbers(item, (*path, key))]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [path] if is_number and path != ("schema",) else []


@pytest.mark.parametrize("make", [policy, joint_policy, worklist, band, blend])
def test_every_number_that_was_changed_by_hand_is_refused(make):
    rule = make()
    text, from_json = rule.to_json(), type(rule).from_json
    assert from_json(text).to_json() == text
    paths = numbers(json.loads(text))
    said = " ".join(".".join(map(str, path)) for path in paths)
    expected = ("weights",) if make is blend else ("threshold", "min_precision", "capacity")
    assert all(name in said for name in expected), said
    for path in paths:
        document = json.loads(text)
        inner = document
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = inner[path[-1]] * 0.7 + 0.0123
        with pytest.raises(DocumentError, match="was changed after it was saved"):
            from_json(json.dumps(document))


@pytest.mark.parametrize("make", [policy, joint_policy, worklist, band, blend])
def test_a_rule_without_its_checksum_is_refused(make):
    rule = make()
    document = json.loads(rule.to_json())
    del document["checksum"]
    with pytest.raises(DocumentError, match="was changed after it was saved"):
        type(rule).from_json(json.dumps(document))
