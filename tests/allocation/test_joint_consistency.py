"""A saved joint policy is read back as it was."""

import numpy as np
import pytest

import voros

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
    assert voros.JointPolicy.from_json(policy.to_json()) == policy
