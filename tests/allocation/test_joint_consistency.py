"""A saved joint policy is read as it was saved, or refused."""

import json

import numpy as np
import pytest

import voros
from voros.io.documents import DocumentError

RNG = np.random.default_rng(1)
DIED = {name: RNG.random(400) < 0.2 for name in ("death", "stroke")}
RISK = {name: RNG.normal(size=400) + labels for name, labels in DIED.items()}
WARD = RNG.choice(["x", "y"], 400)
SCENARIO = voros.Scenario(0.3, 1.0, (0.1, 0.4))


def allocate(**how):
    if "by" in how:
        return voros.allocate(DIED["death"], RISK["death"], SCENARIO, **how)
    return voros.allocate(DIED, RISK, how.pop("scenario", SCENARIO), **how)


WAYS = {
    "each": {"capacity": 0.2},
    "once": {"capacity": 0.2, "overlap": "once"},
    "groups": {"capacity": 0.2, "by": WARD},
    "days": {"capacity": 3, "per": "day", "exceed": 0.1, "periods": np.arange(400) // 20},
    "sure": {"capacity": 0.4, "guarantee": voros.Guarantee(0.8)},
    "weights": {"capacity": 60, "miss_weight": {"death": 3.0, "stroke": 1.0}},
    "costs": {"capacity": 0.1, "scenario": voros.Scenario(0.2, 0.3, voros.costs.miss_costs(3, 9))},
}


@pytest.mark.parametrize("way", list(WAYS))
def test_what_is_saved_is_read(way):
    policy = allocate(**WAYS[way])
    assert voros.JointPolicy.from_json(policy.to_json()).default == policy.default


def changed(way, change):
    document = json.loads(allocate(**WAYS[way]).to_json())
    change(document)
    return json.dumps(document)


def put(*path, to):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = to(document[path[-1]]) if callable(to) else to

    return change


@pytest.mark.parametrize(
    ("way", "change"),
    [
        ("each", put("n_cases", to=401)),
        ("groups", put("streams", 0, "n_positive", to=40)),
        ("each", put("streams", 0, "name", to="stroke")),
        ("each", put("streams", 0, "miss_weight", to=2.0)),
        ("each", put("default", "tp", 0, to=90)),
        ("each", put("default", "thresholds", 0, to="Infinity")),
        ("each", put("default", "thresholds", to=lambda thresholds: thresholds[:1])),
        ("each", put("limit", "capacity", to=0.1)),
        ("once", put("default", "n_flagged_cases", to=None)),
        ("each", put("default", "cost", to=100.0)),
        ("each", put("certificate", "relaxed_cost", to=118.0)),
        ("days", put("default", "n_above", to=3)),
        ("days", put("limit", "n_periods", to=None)),
        ("sure", put("promise", "units", to="periods")),
    ],
)
def test_a_changed_value_is_refused(way, change):
    with pytest.raises(DocumentError, match="was changed after it was saved"):
        voros.JointPolicy.from_json(changed(way, change))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("streams", to=[]), "streams is a list of 0; accepted is at least one stream"),
        (put("default", "tp", 0, to=-1), r"default.tp\[0\] is -1"),
        (put("overlap", to="twice"), 'overlap is "twice"; accepted is one of'),
        (put("promise", to={}), 'promise lacks "confidence"'),
    ],
)
def test_what_no_policy_holds_is_named(change, reason):
    with pytest.raises(DocumentError, match=reason):
        voros.JointPolicy.from_json(changed("each", change))
