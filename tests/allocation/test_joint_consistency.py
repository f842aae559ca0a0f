"""A saved joint policy agrees with itself, or is refused by the key that does not."""

import json

import numpy as np
import pytest

import voros
from voros.io.documents import DocumentError
from voros.io.writing import with_checksum

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
    del document["checksum"]
    return json.dumps(with_checksum(document))


def put(*path, to):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = to(document[path[-1]]) if callable(to) else to

    return change


@pytest.mark.parametrize(
    ("way", "change", "reason"),
    [
        ("each", put("n_cases", to=401), "n_cases is 401; the streams have 400"),
        ("groups", put("streams", 0, "n_positive", to=40), "n_cases is 400; the streams have"),
        ("each", put("default", "tp", 0, to=90), r"default has tp 90 .* in 'death'"),
        ("each", put("default", "thresholds", 0, to="Infinity"), "alarms in 'death' at the thresh"),
        ("each", put("default", "fp", 0, to=80), "beyond the stream's limits"),
        ("each", put("limit", "capacity", to=0.1), "default uses 78 of a capacity of 40"),
        ("once", put("default", "n_flagged_cases", to=81), "default uses 81 of a capacity of 80"),
        (
            "once",
            put("default", "n_flagged_cases", to=None),
            "has n_flagged_cases None; the overlap is 'once'",
        ),
        (
            "each",
            put("default", "n_flagged_cases", to=3),
            "has n_flagged_cases 3; the overlap is 'each'",
        ),
        ("each", put("default", "n_above", to=3), "has n_above 3, of None periods"),
        ("each", put("default", "cost", to=100.0), "has a cost of 100.0; its counts give 117.25"),
        ("each", put("streams", 0, "miss_weight", to=2.0), "default has a cost of"),
        ("each", put("certificate", "relaxed_cost", to=118.0), "certificate bounds the cost"),
        ("groups", put("default", "tp", 0, to=44), "beyond the stream's limits|uses"),
        ("days", put("default", "n_above", to=3), "has n_above 3, beyond the 2 allowed"),
        ("days", put("default", "n_above", to=None), "has n_above None, of 20 periods"),
        ("days", put("limit", "n_periods", to=None), "limit has n_periods None; per is 'day'"),
        ("each", put("limit", "n_periods", to=3), "limit has n_periods 3; per is None"),
        (
            "sure",
            put("promise", "uncertified", to=["death"]),
            r"uncertified \['death'\]; never",
        ),
        ("sure", put("promise", "units", to="periods"), "has units 'periods'; the limit's per is"),
    ],
)
def test_what_contradicts_itself_is_refused(way, change, reason):
    with pytest.raises(DocumentError, match=reason):
        voros.JointPolicy.from_json(changed(way, change))
