"""Every kind of policy: choose, save, load, apply, evaluate, compare, monitor, renew.

In Python and in the shell, and both must say the same. What is decided is checked against plain
comparisons of scores and thresholds.
"""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import voros
from voros.allocation.joint_policy import load_policy
from voros.policy import Worklist

FLOOR, RATIO, PER_DAY, DAYS = 0.3, 0.1, 20, 45
COLUMNS = ("id", "day", "ward", "sepsis", "kidney", "risk", "renal")
STREAMS = """
[sepsis]
label = "sepsis"
score = "risk"
min_precision = 0.3
cost_ratio = 0.1

[kidney]
label = "kidney"
score = "renal"
min_precision = 0.3
cost_ratio = 0.1
"""


@dataclass(frozen=True)
class Ward:
    """Cases of some days, with two outcomes and a score for each."""

    first: int
    columns: dict[str, np.ndarray]

    @classmethod
    def draw(cls, seed: int, first: str) -> Ward:
        rng, n = np.random.default_rng(seed), PER_DAY * DAYS
        days = np.datetime64(first) + np.repeat(np.arange(DAYS), PER_DAY)
        sepsis, kidney = (rng.random(n) < share for share in (0.2, 0.25))
        values = (
            [f"{first}/{i}" for i in range(n)],
            days.astype(str),
            rng.choice(["icu", "ward"], n),
            sepsis.astype(int),
            kidney.astype(int),
            np.round(1.6 * sepsis + rng.normal(size=n), 6),
            np.round(1.8 * kidney + rng.normal(size=n), 6),
        )
        return cls(seed, dict(zip(COLUMNS, map(np.array, values), strict=True)))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def write(self, path: Path) -> Path:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(zip(*map(np.ndarray.tolist, self.columns.values()), strict=True))
        return path


VALID, TEST, NEXT = (
    Ward.draw(seed, first) for seed, first in enumerate(("2026-01-01", "2026-03-01", "2026-05-01"))
)


class Life(ABC):
    """What differs between the kinds of policies; the course of their lives is one."""

    chosen: tuple[str, ...]
    applied: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    fed: tuple[str, ...] = ()
    labelled: tuple[str, ...] = ("--label", "sepsis")
    evaluated: tuple[str, ...] = ("--label", "sepsis")
    renewed = True
    alarm_columns: tuple[str, ...] = ("alarm",)

    @abstractmethod
    def choose(self, ward: Ward, capacity: float):
        """Decide a policy on a ward."""

    def scores(self, ward: Ward):
        return ward["risk"]

    def labels(self, ward: Ward):
        return ward["sepsis"]

    def units(self, _: Ward) -> dict:
        return {}

    @abstractmethod
    def decide_by_hand(self, policy, ward: Ward) -> dict[str, np.ndarray]:
        """Alarms of a ward by plain comparisons, by the name of their column."""

    def precise(self, alarms: dict[str, np.ndarray], ward: Ward) -> bool:
        """Whether every stream keeps the floor; by default all cases are one."""
        return precision(alarms["alarm"], ward["sepsis"]) >= FLOOR


def precision(alarms: np.ndarray, positive: np.ndarray) -> float:
    return positive[alarms].mean()


class ThresholdLife(Life):
    chosen = (
        *("select", "--label", "sepsis", "--score", "risk", "--score", "renal"),
        *("--min-precision", "0.3", "--cost-ratio", "0.1"),
    )

    def choose(self, ward, capacity):
        scores = {name: ward[name] for name in ("risk", "renal")}
        scenario = voros.Scenario(FLOOR, capacity, cost_ratio=RATIO)
        return voros.select_model(ward["sepsis"], scores, scenario).policy()

    def decide_by_hand(self, policy, ward):
        return {"alarm": ward["risk"] >= policy.threshold()}


class OutcomesLife(Life):
    chosen = ("allocate", "--streams", "streams.toml")
    applied = compared = fed = labelled = ("--streams", "streams.toml")
    evaluated = ()
    alarm_columns = ("alarm_sepsis", "alarm_kidney")
    renewed = False

    def choose(self, ward, capacity):
        scenario = voros.Scenario(FLOOR, cost_ratio=RATIO)
        return voros.allocate(self.labels(ward), self.scores(ward), scenario, capacity=capacity)

    def scores(self, ward):
        return {"sepsis": ward["risk"], "kidney": ward["renal"]}

    def labels(self, ward):
        return {"sepsis": ward["sepsis"], "kidney": ward["kidney"]}

    def decide_by_hand(self, policy, ward):
        at = policy.thresholds()
        scores = self.scores(ward)
        return {f"alarm_{name}": scores[name] >= at[name] for name in ("sepsis", "kidney")}

    def precise(self, alarms, ward):
        names = ("sepsis", "kidney")
        return all(precision(alarms[f"alarm_{name}"], ward[name]) >= FLOOR for name in names)


class SubgroupsLife(Life):
    chosen = (
        *("allocate", "--label", "sepsis", "--score", "risk", "--by", "ward"),
        *("--min-precision", "0.3", "--cost-ratio", "0.1"),
    )
    applied = compared = fed = ("--by", "ward", "--score", "risk")
    renewed = False

    def choose(self, ward, capacity):
        scenario = voros.Scenario(FLOOR, cost_ratio=RATIO)
        return voros.allocate(
            ward["sepsis"], ward["risk"], scenario, capacity=capacity, by=ward["ward"]
        )

    def units(self, ward):
        return {"by": ward["ward"]}

    def decide_by_hand(self, policy, ward):
        at = np.array([policy.thresholds()[name] for name in ward["ward"]])
        return {"alarm": ward["risk"] >= at}

    def precise(self, alarms, ward):
        groups = (alarms["alarm"] & (ward["ward"] == name) for name in ("icu", "ward"))
        return all(precision(of_group, ward["sepsis"]) >= FLOOR for of_group in groups)


class WorklistLife(Life):
    chosen = (
        *("worklist", "--label", "sepsis", "--score", "risk", "--time", "day", "--exceed", "0"),
        *("--min-precision", "0.3", "--cost-ratio", "0.1"),
    )
    applied = compared = ("--time", "day")

    def choose(self, ward, capacity):
        k = round(capacity * PER_DAY)
        scenario = voros.Scenario(FLOOR, k, cost_ratio=RATIO, per="day", exceed=0.0)
        return voros.worklist(
            ward["sepsis"], ward["risk"], scenario, times=ward["day"], model="risk"
        )

    def units(self, ward):
        return {"times": ward["day"]}

    def decide_by_hand(self, policy, ward):
        listed = np.zeros(len(ward["risk"]), dtype=bool)
        for day in np.unique(ward["day"]):
            rows = np.flatnonzero(ward["day"] == day)
            best = rows[np.argsort(-ward["risk"][rows])][: int(policy.scenario.capacity)]
            listed[best] = ward["risk"][best] >= policy.threshold
        return {"alarm": listed}


LIVES = {
    "threshold policy": ThresholdLife(),
    "allocation": OutcomesLife(),
    "subgroup thresholds": SubgroupsLife(),
    "worklist": WorklistLife(),
}


def thresholds_of(policy):
    if isinstance(policy, Worklist):
        return policy.threshold
    return policy.thresholds() if isinstance(policy, voros.JointPolicy) else policy.threshold()


def by_column(alarms) -> dict[str, np.ndarray]:
    if isinstance(alarms, dict):
        return {f"alarm_{name}": column for name, column in alarms.items()}
    return {"alarm": alarms}


def watch(monitor: voros.Monitor, life: Life, ward: Ward) -> None:
    """Feed a ward's cases, and all of their labels a day later."""
    units = life.units(ward)
    by = {"by": units["by"]} if "by" in units else {}
    update = monitor.update(life.scores(ward), cases=ward["id"], times=ward["day"], **by)
    expected = life.decide_by_hand(monitor.policy, ward)
    assert {k: v.tolist() for k, v in by_column(update.alarms).items()} == {
        k: v.tolist() for k, v in expected.items()
    }
    known = (np.array(ward["day"], dtype="datetime64[D]") + 1).astype(str)
    monitor.label(life.labels(ward), cases=ward["id"], times=known)


@pytest.mark.parametrize("kind", LIVES)
def test_a_whole_life_in_python(kind: str, tmp_path: Path) -> None:
    life = LIVES[kind]
    policy = life.choose(VALID, 0.2)
    policy.to_json(tmp_path / "policy.json")
    loaded = load_policy(tmp_path / "policy.json")
    assert type(loaded) is type(policy)
    assert loaded.to_json() == policy.to_json()
    units = life.units(TEST)
    expected = life.decide_by_hand(policy, TEST)
    applied = by_column(loaded.predict(life.scores(TEST), **units))
    assert all(np.array_equal(applied[name], alarms) for name, alarms in expected.items())
    tested = loaded.evaluate(life.labels(TEST), life.scores(TEST), **units)
    raised = sum(alarms.sum() for alarms in expected.values())
    part = tested.worklist if isinstance(loaded, Worklist) else tested
    assert round(getattr(part, "mean_alarms", None) or part.alarms, 6) == raised
    smaller = life.choose(VALID, 0.05)
    comparison = voros.compare_policies(
        life.labels(TEST),
        {"large": life.scores(TEST), "small": life.scores(TEST)},
        {"large": loaded, "small": smaller},
        **units,
        n_resamples=100,
        random_state=0,
    )
    assert comparison.ranking == ("large", "small")
    with voros.Monitor(loaded, tmp_path / "ward.voros", window=2) as monitor:
        watch(monitor, life, TEST)
    with voros.Monitor.open(tmp_path / "ward.voros") as monitor:
        monitor.advance("2026-05-01")
        status = monitor.status()
        assert (status.cases, status.alarms) == (PER_DAY * DAYS, raised)
        assert status.verdict in ("kept", "too early to tell")
        if life.renewed:
            renewal = monitor.renew()
            assert renewal.n_cases == PER_DAY * DAYS
            successor = renewal.policy
        else:
            with pytest.raises(ValueError, match="a joint policy is not renewed from its monitor"):
                monitor.renew()
            successor = life.choose(TEST, 0.2)
        monitor.adopt(successor)
        watch(monitor, life, NEXT)
        assert thresholds_of(monitor.policy) == thresholds_of(successor)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Run a command in a folder with the files of the three wards."""
    pytest.importorskip("typer", reason="the command line needs the cli extra")
    from typer.testing import CliRunner

    from voros.cli.app import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "streams.toml").write_text(STREAMS)
    for name, ward in (("valid", VALID), ("test", TEST), ("next", NEXT)):
        ward.write(tmp_path / f"{name}.csv")

    def run(command: str, *arguments: object) -> str:
        result = CliRunner().invoke(app, [command, *map(str, arguments)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.stdout + result.stderr

    return run


def read_alarms(path: Path, names: tuple[str, ...]) -> dict[str, list[bool]]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] == "1" for row in rows] for name in names}


@pytest.mark.parametrize("kind", LIVES)
def test_a_whole_life_in_the_shell(kind: str, shell, tmp_path: Path) -> None:
    life = LIVES[kind]
    command, *words = life.chosen
    large, small = ("4/day", "1/day") if kind == "worklist" else ("0.2", "0.05")
    for name, capacity in (("large", large), ("small", small)):
        shell(command, "valid.csv", *words, "--capacity", capacity, "-o", f"{name}.json")
    policy = load_policy(tmp_path / "large.json")
    assert thresholds_of(policy) == thresholds_of(life.choose(VALID, 0.2))
    said = shell("apply", "large.json", "test.csv", *life.applied, "-o", "decided.csv")
    expected = life.decide_by_hand(policy, TEST)
    raised = sum(int(alarms.sum()) for alarms in expected.values())
    within = raised <= 0.2 * len(TEST["id"])
    assert f": {'kept' if within else 'exceeded'}" in said
    decided = read_alarms(tmp_path / "decided.csv", life.alarm_columns)
    assert decided == {name: alarms.tolist() for name, alarms in expected.items()}
    options = (*life.applied, *life.evaluated, "--json", "--check")
    document = json.loads(shell("apply", "large.json", "test.csv", *options).partition("voros:")[0])
    assert (document["alarms"], document["within_capacity"]) == (raised, within)
    assert document["kept"] == (within and life.precise(expected, TEST))
    options = (*life.compared, *life.evaluated, "--resamples", "100")
    said = shell(
        "compare", "test.csv", "--policy", "large.json", "--policy", "small.json", *options
    )
    assert "large has the lowest expected cost" in said
    score = () if "--score" in life.fed or kind == "allocation" else ("--score", "risk")
    feed = ("--id", "id", "--time", "day", *score, *life.fed)
    shell("monitor", "ward.voros", "--policy", "large.json", "--window", "2")
    said = shell("monitor", "ward.voros", "--cases", "test.csv", *feed)
    assert f"900 new cases; {raised:,} alarms" in said
    shell("monitor", "ward.voros", "--labels", "test.csv", "--id", "id", *life.labelled)
    said = shell("monitor", "ward.voros", "--now", "2026-05-01", "--check")
    assert "precision" in said
    if life.renewed:
        shell("monitor", "ward.voros", "--renew", "next.json")
    else:
        said = shell("monitor", "ward.voros", "--renew", "next.json")
        assert "error: a joint policy is not renewed from its monitor" in said
        shell(command, "test.csv", *words, "--capacity", large, "-o", "next.json")
    assert "next.json is deployed from now on" in shell(
        "monitor", "ward.voros", "--adopt", "next.json"
    )
    shell("monitor", "ward.voros", "--cases", "next.csv", *feed)
    with voros.Monitor.open(tmp_path / "ward.voros") as monitor:
        assert monitor.status().cases == 2 * PER_DAY * DAYS
        assert thresholds_of(monitor.policy) == thresholds_of(load_policy(tmp_path / "next.json"))
