"""Groups on the page: counted in Python, with the intervals and verdicts of an evaluation."""

import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from present.explorer.node import answers_of_page, needs_node
from scipy.stats import binomtest

import voros
from voros.core.subgroups import Subgroups
from voros.exceptions import ArgumentError
from voros.models import count_models
from voros.present.explorer import write_page
from voros.present.explorer.payload import held_points
from voros.present.explorer.subgroup_counts import subgroup_counts

LIMITS = [(0, 5), (5, 5), (3, 10), (1, 1000), (480, 1000), (12, 40_000)]
VERDICTS = {"kept": "kept", "broken": "broken", "too few to say": "open"}


@pytest.fixture(scope="module")
def cases() -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(4)
    sex, ward = rng.choice(["f", "m"], 1500), rng.choice(["a", "b", "c"], 1500)
    ward[:12] = np.repeat(["x", "y"], 6)
    y = rng.random(1500) < 0.3
    return y, rng.normal(size=1500) + y * (1 + (sex == "f")), {"sex": sex, "ward": ward}


def counted(cases: Any) -> dict[str, Any]:
    y, s, by = cases
    held = held_points(count_models(y, {"model": s}), None)
    return subgroup_counts(y, {"model": s}, held, Subgroups.from_columns(by))


def unpacked(groups: dict[str, Any]) -> Any:
    model = groups["models"][0]
    kind = {1: "u1", 2: "<u2", 4: "<u4"}[model["bytes"]]
    raw = np.frombuffer(base64.b64decode(model["counts"]), kind)
    return raw.reshape(len(model["kept"]), len(groups["names"]), 2)


def test_counts_are_those_of_each_group(cases: Any) -> None:
    y, s, by = cases
    groups = counted(cases)
    held = held_points(count_models(y, {"model": s}), None)["model"]
    counts = unpacked(groups)
    for row in (0, len(counts) // 2, -1):
        alarm = s >= held.thresholds[1:][groups["models"][0]["kept"][row]]
        for i, (name, column) in enumerate((("f", "sex"), ("m", "sex"), ("a", "ward"))):
            member = by[column] == name
            assert groups["names"][i] == f"{column}: {name}"
            assert counts[row, i].tolist() == [
                (alarm & y & member).sum(),
                (alarm & ~y & member).sum(),
            ]
    assert groups["positives"][0] == (y & (by["sex"] == "f")).sum()


def test_no_row_can_be_read_off(cases: Any) -> None:
    """Between two kept thresholds lie ten cases at least, and every group has ten."""
    groups = counted(cases)
    sexes = unpacked(groups)[:, :2].sum(axis=(1, 2)).astype(int)
    assert np.diff(np.concatenate([[0], sexes, [1500]])).min() >= 10
    assert groups["names"][2:] == ["ward: a", "ward: b", "ward: c", "ward: other"]
    assert groups["notes"] == ["ward: subgroups with fewer than 10 cases are pooled as other: x, y"]
    assert len(groups["models"][0]["kept"]) > 50


@pytest.mark.slow
@needs_node
def test_the_page_finds_what_an_evaluation_does(cases: Any, tmp_path: Path) -> None:
    y, s, by = cases
    groups = counted(cases)
    asked = [
        {"at": 5, "floor": 0.6, "recallFloor": 0.5},
        {"at": 40, "floor": 0.55, "recallFloor": 0.1},
        {"at": -1, "floor": 0.5, "recallFloor": 0.5},
    ]
    payload = {"limits": [[*pair, 0.99] for pair in LIMITS], "groups": groups, "asked": asked}
    page_answers = answers_of_page("groups.mjs", payload, tmp_path)
    for (count, of), limits in zip(LIMITS, page_answers["limits"], strict=True):
        assert limits == pytest.approx(tuple(binomtest(count, of).proportion_ci(0.99)), abs=1e-9)
    held = held_points(count_models(y, {"model": s}), None)["model"]
    for question, results in zip(asked, page_answers["found"], strict=True):
        threshold = np.inf
        if question["at"] >= 0:
            threshold = held.thresholds[1:][groups["models"][0]["kept"][question["at"]]]
        expected = evaluated(y, s, by, threshold, question["floor"], question["recallFloor"])
        for result, group in zip(results, expected, strict=True):
            assert result["name"] == group.name
            assert result["alarms"] == group.alarms
            assert result["precision"] == pytest.approx(group.intervals.precision, abs=1e-9)
            assert result["recall"] == pytest.approx(group.intervals.recall, abs=1e-9)
            assert result["floor"] == VERDICTS[group.floor]
            assert result["recallFloor"] == VERDICTS[group.recall_floor]


def evaluated(y: Any, s: Any, by: Any, threshold: float, floor: float, recall: float) -> Any:
    """What a policy with this threshold alone does in each group."""
    from voros.core.exact_intervals import ThresholdCounts
    from voros.policy.by_subgroup import SubgroupEvaluation

    scenario = voros.Scenario(floor, cost_ratio=0.1, min_recall=recall)
    one = np.ones(1)
    whole = ThresholdCounts(
        tp=one,
        fp=one,
        n_positive=2,
        n_negative=2,
        prevalence=None,
        probability=one,
        t_integral=one,
        ratio_integral=one,
    )
    evaluation = SimpleNamespace(
        scenario=scenario,
        choices=[SimpleNamespace(threshold=threshold)],
        counts=whole,
        confidence_level=0.95,
    )
    return SubgroupEvaluation.from_cases(Subgroups.from_columns(by), y, s, evaluation)


def test_groups_that_stay_small_are_refused_by_name(cases: Any) -> None:
    y, s, by = cases
    alone = {"ward": np.where(by["ward"] == "y", "a", by["ward"])}
    with pytest.raises(
        ArgumentError, match=r"also when the small ones are pooled: ward: other \(6\)"
    ):
        counted((y, s, alone))


def test_weighted_cases_have_no_exact_intervals(cases: Any, tmp_path: Path) -> None:
    y, s, by = cases
    scenario = voros.Scenario(0.3, cost_ratio=(0.1, 0.2))
    with pytest.raises(ArgumentError, match="by cannot be combined with sample_weight"):
        write_page(y, s, scenario, tmp_path / "p.html", sample_weight=np.ones(1500), by=by)
    with pytest.raises(ArgumentError, match="by has 2 cases and y_true 1500"):
        write_page(y, s, scenario, tmp_path / "p.html", by=["f", "m"], n_resamples=0)


@pytest.mark.slow
def test_the_table_follows_the_setting(browser: Any, cases: Any, tmp_path: Path) -> None:
    pytest.importorskip("selenium")
    from present.explorer.driving import element, text, type_into

    y, s, by = cases
    path = write_page(
        y, {"model": s}, voros.Scenario(0.6, 0.2, (0.1, 0.2)), tmp_path / "p.html", by=by
    )
    browser.get("about:blank")
    browser.get(path.as_uri())
    table = "return [...document.querySelectorAll('#groups tr')].map(r => r.dataset.floor)"
    first = browser.execute_script(table)
    assert len(first) == len(Subgroups.from_columns(by).partitions[1].names) + 2
    assert "nearest to that in use" in text(browser, "groups-text")
    type_into(browser, "floor-field", "0")
    assert browser.execute_script(table) == ["kept"] * len(first)
    element(browser, "own-prevalence").click()
    assert "prevalence of the data only" in text(browser, "groups-text")
