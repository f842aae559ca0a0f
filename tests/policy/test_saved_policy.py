from __future__ import annotations

import json
import math

import numpy as np
import pytest
from deployment_oracle import random_cases
from scipy.stats import beta, gamma, lognorm, rv_continuous

import voros
from voros import Scenario, ThresholdPolicy, costs
from voros.io.documents import DocumentError
from voros.io.writing import with_checksum
from voros.policy.saved_policy import POLICY_SCHEMA

CHANGED = "was changed after it was saved: its checksum does not match"

COSTS = [
    1 / 30,
    (1 / 9, 1 / 6),
    costs.miss_costs(20, 40),
    costs.uniform_t(0.1, 0.9),
    costs.from_samples([0.1, 0.30000000000000004, 1 / 7], weights=[1, 2, 4], over="t"),
    costs.from_scipy(lognorm(0.5, scale=1 / 30)),
    costs.from_scipy(beta(2, 5, loc=0.1, scale=0.2), over="t"),
    costs.from_scipy(gamma(a=3.3, scale=9.1), over="miss"),
]


def make_policy(cost_ratio=(0.05, 2.0), seed=0, **limits):
    rng = np.random.default_rng(seed)
    labels, _ = random_cases(rng, 60)
    scores = rng.normal(size=60) + labels
    return ThresholdPolicy.from_validation(
        labels, scores, Scenario(cost_ratio=cost_ratio, **limits)
    )


@pytest.mark.parametrize("cost_ratio", COSTS, ids=repr)
def test_text_is_read_back_exactly(cost_ratio):
    policy = make_policy(cost_ratio, min_precision=1 / 3, capacity=0.7)
    loaded = ThresholdPolicy.from_json(policy.to_json())
    assert loaded == policy
    assert loaded.scenario == policy.scenario
    assert loaded.thresholds.tobytes() == policy.thresholds.tobytes()
    assert loaded.switches.tobytes() == policy.switches.tobytes()
    assert loaded.to_json() == policy.to_json()


@pytest.mark.parametrize(
    "limits",
    [
        {"capacity": 17},
        {"capacity": np.int64(17)},
        {"capacity": 0.5, "min_precision": np.float64(0.1)},
        {"prevalence": 0.07},
    ],
)
def test_limits_keep_their_kind(limits):
    policy = make_policy(**limits)
    loaded = ThresholdPolicy.from_json(policy.to_json())
    assert loaded.scenario == policy.scenario
    assert loaded.scenario.capacity_is_count == policy.scenario.capacity_is_count
    assert loaded.n_positive == policy.n_positive


def test_a_capacity_for_each_horizon_is_read_back():
    """40 alarms in the next 400 cases are 400 among 4,000 validation cases."""
    rng = np.random.default_rng(5)
    labels = rng.random(4000) < 0.3
    scores = rng.normal(size=4000) + 2 * labels
    policy = ThresholdPolicy.from_validation(
        labels,
        scores,
        Scenario(0.5, 40, (0.05, 0.2)),
        guarantee=voros.Guarantee(0.9, horizon=400),
        n_models=2,
    )
    assert policy.default.alarms > 40
    assert ThresholdPolicy.from_json(policy.to_json()) == policy


def test_infinite_thresholds_and_missing_precision_survive_strict_json():
    scenario = Scenario(min_precision=0.9, cost_ratio=0.1)
    with pytest.warns(voros.NeverAlarmWarning):
        policy = ThresholdPolicy.from_validation([0, 0, 1], [3, 2, 1], scenario)

    def refuse(constant):
        raise AssertionError(f"{constant} is not strict JSON")

    json.loads(policy.to_json(), parse_constant=refuse)
    loaded = ThresholdPolicy.from_json(policy.to_json())
    assert loaded == policy
    assert loaded.threshold() == math.inf
    assert math.isnan(loaded.default.precision)


def test_a_threshold_of_minus_infinity_is_read_back():
    policy = ThresholdPolicy.from_validation([1, 0, 1], [1, 0, -np.inf], Scenario(cost_ratio=0.1))
    assert policy.threshold() == -np.inf
    assert ThresholdPolicy.from_json(policy.to_json()).threshold() == -np.inf


def test_a_policy_is_saved_to_a_file_and_read_from_it(tmp_path):
    policy, file = make_policy(), tmp_path / "policy.json"
    text = policy.to_json(file)
    assert file.read_text() == text
    assert ThresholdPolicy.from_json(file) == policy
    assert ThresholdPolicy.from_json(str(file)) == policy


def test_an_existing_file_is_replaced_only_when_asked(tmp_path):
    file = tmp_path / "policy.json"
    make_policy(seed=0).to_json(file)
    before = file.read_text()
    with pytest.raises(FileExistsError, match=r"policy\.json"):
        make_policy(seed=1).to_json(file)
    assert file.read_text() == before
    make_policy(seed=1).to_json(file, force=True)
    assert ThresholdPolicy.from_json(file) == make_policy(seed=1)
    assert list(tmp_path.iterdir()) == [file]


def test_two_policies_differ_when_anything_saved_differs():
    assert make_policy(seed=0) != make_policy(seed=1)
    assert make_policy((0.05, 2.0)) != make_policy((0.05, 2.1))
    assert hash(make_policy()) == hash(make_policy())


def test_a_newer_schema_is_refused_by_name(tmp_path):
    fields = json.loads(make_policy().to_json())
    file = tmp_path / "future.json"
    file.write_text(json.dumps(fields | {"schema": POLICY_SCHEMA + 1}))
    accepted = f"accepted is {POLICY_SCHEMA}; written by a"
    with pytest.raises(
        ValueError, match=rf"future\.json has the schema {POLICY_SCHEMA + 1}; {accepted}"
    ):
        ThresholdPolicy.from_json(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 0}, "schema 0; accepted is 8"),
        ({"schema": "2"}, 'schema "2"'),
        ({"schema": True}, "schema true"),
        (
            {"format": "something else"},
            "has the format \"something else\"; accepted is the format 'voros threshold policy'",
        ),
        ({"choices": None}, CHANGED),
        ({"model": -1}, CHANGED),
        ({"n_models": True}, CHANGED),
        ({"surprise": 1}, CHANGED),
        ({"checksum": None}, CHANGED),
    ],
)
def test_a_damaged_file_is_refused_with_the_reason(change, message):
    text = json.dumps(json.loads(make_policy().to_json()) | change)
    with pytest.raises(ValueError, match=message):
        ThresholdPolicy.from_json(text)


def test_text_that_is_no_json_is_refused():
    with pytest.raises(ValueError, match="the text is not a valid saved policy: it is not JSON"):
        ThresholdPolicy.from_json('{"format": ')
    with pytest.raises(
        ValueError, match="is not a saved document; accepted is the format 'voros threshold policy'"
    ):
        ThresholdPolicy.from_json("[1, 2]")


@pytest.mark.parametrize("family", ["nope", "bootstrap"])
def test_nothing_of_scipy_but_a_distribution_is_called(family):
    """Even a file with a checksum of its own calls no other function of scipy.stats."""
    fields = json.loads(make_policy().to_json())
    fields["scenario"]["cost_ratio"] = {
        "kind": "scipy",
        "over": "ratio",
        "family": family,
        "args": [],
        "keywords": {},
    }
    del fields["checksum"]
    with pytest.raises(ValueError, match=f"scipy.stats has no continuous distribution '{family}'"):
        ThresholdPolicy.from_json(json.dumps(with_checksum(fields)))


@pytest.mark.parametrize("value", [None, "0.5", [0.5]])
def test_a_threshold_is_a_number_whatever_the_checksum_says(value):
    fields = json.loads(make_policy().to_json())
    fields["default"]["threshold"] = value
    del fields["checksum"]
    with pytest.raises(ValueError, match=r"default\.threshold is .*; accepted is a number"):
        ThresholdPolicy.from_json(json.dumps(with_checksum(fields)))


CHANGES = [
    lambda p: p["default"].update(threshold="NaN"),
    lambda p: p["choices"][0].update(threshold=p["choices"][-1]["threshold"]),
    lambda p: p["choices"][0].update(alarms=3),
    lambda p: p["choices"][0].update(tp=None),
    lambda p: p["choices"][-1].update(threshold="Infinity"),
    lambda p: p["scenario"].update(min_precision=0.95),
    lambda p: p["scenario"].update(prevalence=0.01),
    lambda p: p["scenario"].update(min_precision=False),
    lambda p: p["origin"].update(n_groups=10**6),
]


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_is_refused(change):
    fields = json.loads(make_policy().to_json())
    change(fields)
    with pytest.raises(DocumentError, match=CHANGED):
        ThresholdPolicy.from_json(json.dumps(fields))


def test_spaces_and_the_order_of_keys_do_not_matter():
    policy = make_policy()
    fields = json.loads(policy.to_json())
    text = json.dumps(dict(reversed(fields.items())), indent=7)
    assert ThresholdPolicy.from_json(text) == policy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"schema": 8,', '"schema": 8, "schema": 8,'), "given twice"),
        (lambda text: text.replace('"n_models": 1', f'"n_models": {"9" * 400}'), "too many digits"),
        (
            lambda text: text.replace('"n_models": 1', f'"n_models": {"9" * 5000}'),
            "too many digits",
        ),
        (lambda text: text.replace('"n_models": 1', '"n_models": 1e999'), "too large"),
        (lambda text: text.replace('"n_models": 1', '"n_models": NaN'), "NaN is not strict JSON"),
        (
            lambda text: text.replace('"n_models": 1', '"n_models": ' + "[" * 10**5 + "]" * 10**5),
            "nested too deep",
        ),
        (lambda text: text.replace('"model": null', '"model": "\\ud800"'), "half a character"),
        (lambda text: text.replace('"model": null', '"model": ""'), CHANGED),
    ],
)
def test_what_is_no_strict_json_is_refused_in_one_line(change, message):
    text = make_policy().to_json()
    assert change(text) != text
    with pytest.raises(DocumentError, match=message) as refused:
        ThresholdPolicy.from_json(change(text))
    assert len(str(refused.value)) < 300
    assert "\n" not in str(refused.value)


class Triangle(rv_continuous):
    """A family of somebody's own."""

    def _cdf(self, x):
        return x**2

    def _ppf(self, q):
        return q**0.5


def test_a_family_that_scipy_does_not_have_cannot_be_saved():
    own = costs.from_scipy(Triangle(a=0, b=1, name="lognorm")())
    with pytest.raises(ValueError, match=r"not of a family in scipy\.stats"):
        make_policy(own).to_json()
