"""Damaged policies are refused by name, or decide exactly as the one that was saved."""

import json
import warnings

import numpy as np
import pytest
from fuzz.tampering import tampered
from scipy.stats import lognorm

import voros
from voros import Scenario, ThresholdPolicy, costs
from voros.io.documents import DocumentError

pytestmark = [
    pytest.mark.slow,
    # A damaged scenario may look like a slip, and is warned of before it is refused.
    pytest.mark.filterwarnings("ignore::voros.VorosWarning"),
]

TRIES = 700
"""Damaged copies of each policy."""

COSTS = [
    (0.05, 2.0),
    1 / 30,
    costs.miss_costs(20, 40),
    costs.from_samples([0.1, 0.3, 1 / 7], weights=[1, 2, 4], over="t"),
    costs.from_scipy(lognorm(0.5, scale=1 / 30)),
]
RATIOS = np.geomspace(1e-4, 1e4, 200)
GRID = np.linspace(-4, 5, 500)


def saved(position):
    rng = np.random.default_rng(position)
    labels = rng.random(80) < 0.3
    scores = rng.normal(size=80) + 1.5 * labels
    limits = [{}, {"capacity": 30}, {"prevalence": 0.1}, {"min_precision": 0.4}, {}][position]
    weights = rng.random(80) + 0.5 if position == 4 else None
    scenario = Scenario(cost_ratio=COSTS[position], **limits)
    guarantee = voros.Guarantee(0.8) if position == 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        return ThresholdPolicy.from_validation(
            labels,
            scores,
            scenario,
            sample_weight=weights,
            guarantee=guarantee,
            n_models=None if guarantee is None else 3,
            model="risk",
        )


def behaviour(policy):
    """What a policy decides, whatever the file says besides."""
    return (policy.threshold(RATIOS).tobytes(), policy.predict(GRID).tobytes())


@pytest.mark.parametrize("position", range(len(COSTS)))
def test_a_damaged_policy_is_refused_or_decides_as_before(position):
    policy = saved(position)
    document, expected = json.loads(policy.to_json()), behaviour(policy)
    rng = np.random.default_rng([13, position])
    messages, unchanged = [], 0
    for _ in range(TRIES):
        text, what = tampered(document, rng)
        try:
            loaded = ThresholdPolicy.from_json(text)
        except DocumentError as error:
            messages.append(str(error))
            continue
        assert behaviour(loaded) == expected, what
        assert loaded == ThresholdPolicy.from_json(loaded.to_json()), what
        unchanged += 1
    assert all(message and "\n" not in message and len(message) < 500 for message in messages)
    print(f"{TRIES} damaged policies: {len(messages)} refused, {unchanged} decide as before")
    assert len(messages) > 0.5 * TRIES


def test_apply_ends_in_one_line_on_a_damaged_policy(tmp_path, monkeypatch):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from voros.cli.app import app

    monkeypatch.chdir(tmp_path)
    scores = "\n".join(f"{score:.3f}" for score in GRID[::10])
    (tmp_path / "cases.csv").write_text(f"risk\n{scores}\n")
    policy = saved(0)
    document, rng = json.loads(policy.to_json()), np.random.default_rng(14)
    policy.to_json(tmp_path / "sound.json")
    sound = CliRunner().invoke(app, ["apply", "sound.json", "cases.csv"])
    assert sound.exit_code == 0
    tried = 0
    for _ in range(150):
        text, what = tampered(document, rng)
        (tmp_path / "policy.json").write_text(text)
        ran = CliRunner().invoke(app, ["apply", "policy.json", "cases.csv"])
        assert ran.exception is None or isinstance(ran.exception, SystemExit), (what, ran.exception)
        if ran.exit_code == 0:
            assert ran.stdout == sound.stdout, what
        else:
            assert ran.exit_code == 2, what
            *notes, error = ran.stderr.splitlines()
            assert error.startswith("voros: error: "), what
            assert all(note.startswith("voros: warning: ") for note in notes), what
        tried += 1
    print(f"{tried} damaged policies applied")


def allocated(position):
    rng = np.random.default_rng([3, position])
    died = {name: rng.random(60) < 0.3 for name in ("a", "b")}
    risk = {name: rng.normal(size=60) + labels for name, labels in died.items()}
    how = [
        {"capacity": 0.3},
        {"capacity": 20, "overlap": "once"},
        {"capacity": 8, "per": "day", "exceed": 0.5, "periods": np.arange(60) // 15},
    ][position]
    return voros.allocate(died, risk, Scenario(0.2, 1.0, (0.1, 0.4)), **how)


@pytest.mark.parametrize("position", range(3))
def test_a_damaged_joint_policy_is_refused_or_decides_as_before(position):
    policy = allocated(position)
    document = json.loads(policy.to_json())
    rng = np.random.default_rng([17, position])
    messages = []
    for _ in range(TRIES):
        text, what = tampered(document, rng)
        try:
            loaded = voros.JointPolicy.from_json(text)
        except DocumentError as error:
            messages.append(str(error))
            continue
        assert loaded.thresholds() == policy.thresholds(), what
    assert all(message and "\n" not in message and len(message) < 500 for message in messages)
    assert len(messages) > 0.5 * TRIES
