"""The guarantee that comes with a page: Python's thresholds, and said only of their limits."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import voros
from voros.exceptions import ArgumentError
from voros.present.explorer import render_page, write_page
from voros.present.explorer.replicates import Units, draws, resampled_counts

COSTS = voros.costs.miss_costs(4, 12)


def cases(n: int = 3000) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(8)
    y = rng.random(n) < 0.2
    return y, {"good": 2 * y + rng.normal(size=n), "fair": y + rng.normal(size=n)}


def payload_of(page: str) -> dict[str, Any]:
    held = page.split('<script type="application/json" id="payload">')[1].split("</script>")[0]
    payload: dict[str, Any] = json.loads(held)
    return payload


def promised(payload: dict[str, Any], position: int) -> list[float]:
    """The thresholds that a page says are guaranteed."""
    thresholds = payload["models"][position]["thresholds"]
    runs = payload["promise"]["models"][position]["runs"]
    return [thresholds[i] for first, last in runs for i in range(first, last + 1)]


def points_of(y: Any, scores: dict[str, Any], **how: Any) -> dict[str, voros.OperatingPoints]:
    return {name: voros.OperatingPoints.from_scores(y, s, **how) for name, s in scores.items()}


def test_a_capacity_is_promised_by_the_binomial_tail() -> None:
    y, scores = cases()
    page = render_page(
        points_of(y, scores), voros.Scenario(0, 0.2, COSTS), guarantee=voros.Guarantee(0.9)
    )
    payload = payload_of(page)
    assert payload["promise"]["confidence"] == 0.9
    for position, name in enumerate(scores):
        alarms = [
            int((scores[name] >= threshold).sum())
            for threshold in payload["models"][position]["thresholds"]
        ]
        # Each of the two models has half of alpha.
        kept = [int(k) for k in alarms if binom.cdf(k, len(y), 0.2) <= 0.05]
        thresholds = promised(payload, position)
        assert [int((scores[name] >= threshold).sum()) for threshold in thresholds] == kept
        assert 100 < len(kept) < len(alarms)


@pytest.mark.parametrize(
    "kind", ["population", pytest.param("horizon", marks=pytest.mark.slow), "patients", "days"]
)
def test_policies_deploy_promised_thresholds_only(kind: str, tmp_path: Path) -> None:
    y, scores = cases()
    guarantee = voros.Guarantee(0.9, horizon=600 if kind == "horizon" else None)
    groups = {"groups": np.arange(len(y)) // 3} if kind == "patients" else {}
    times = np.datetime64("2024-01-01") + np.arange(len(y)) // 30
    days = {"times": times} if kind == "days" else {}
    scenario = voros.Scenario(0.4, 0.25, COSTS)
    if kind == "horizon":
        scenario = voros.Scenario(0.3, 150, COSTS)
    if kind == "days":
        scenario = voros.Scenario(0, 12, COSTS, per="day", exceed=0.2)
    path = write_page(
        y,
        scores,
        scenario,
        tmp_path / "a.html",
        guarantee=guarantee,
        n_resamples=0,
        **groups,
        **days,
    )
    payload = payload_of(path.read_text(encoding="utf-8"))
    assert payload.get("repeated", False) is (kind == "patients")
    if kind == "horizon":
        assert payload["setting"]["capacity"] == {"share": 0.25}
    for position, name in enumerate(scores):
        policy = voros.ThresholdPolicy.from_validation(
            y, scores[name], scenario, guarantee=guarantee, n_models=2, **groups, **days
        )
        deployed = {t for t in policy.thresholds.tolist() if np.isfinite(t)}
        thresholds = promised(payload, position)
        assert deployed
        held = set(payload["models"][position]["thresholds"])
        assert deployed & held <= set(thresholds)
        assert payload["promise"]["models"][position]["lowest"] == min(deployed)


def test_patients_are_resampled_as_wholes() -> None:
    y, scores = cases(60)
    points = points_of(y, scores, groups=np.arange(60) // 4)
    by_patient = resampled_counts(
        y, scores, points_of(y, scores), 100, Units.from_points(points["good"])
    )
    by_case = resampled_counts(y, scores, points_of(y, scores), 100)
    assert by_patient != by_case
    counts = np.frombuffer(b64decode(by_patient["models"][0]["counts"]), np.uint8).reshape(100, -1)
    for resample in range(100):
        times = np.bincount(draws(resample, 15), minlength=15).repeat(4)
        assert counts[resample, 1::2].sum() == times[y].sum()
        assert counts[resample].sum() == 60


def test_what_cannot_be_promised_is_refused() -> None:
    y, scores = cases(200)
    with pytest.raises(ArgumentError, match=r"prevalence=0\.1 cannot be combined with a guarantee"):
        render_page(
            points_of(y, scores),
            voros.Scenario(0.2, 0.5, COSTS, prevalence=0.1),
            guarantee=voros.Guarantee(),
        )
    with pytest.raises(TypeError, match=r"accepted is a voros\.Guarantee or a confidence"):
        render_page(points_of(y, scores), voros.Scenario(0.2, 0.5, COSTS), guarantee="95 %")


def test_a_bare_confidence_is_a_guarantee_of_the_population() -> None:
    points, scenario = points_of(*cases(200)), voros.Scenario(0.2, 0.5, COSTS)
    page = render_page(points, scenario, guarantee=0.9)
    assert page == render_page(points, scenario, guarantee=voros.Guarantee(0.9))


@pytest.mark.browser
@pytest.mark.slow
def test_the_page_says_it_of_these_limits_alone(browser: Any, tmp_path: Path) -> None:
    from present.explorer.driving import choose, complaints, text, type_into, until

    y, scores = cases()
    scenario = voros.Scenario(0.4, 0.25, COSTS)
    guarantee = voros.Guarantee(0.9, horizon=600)
    page = write_page(y, scores, scenario, tmp_path / "a.html", guarantee=guarantee, n_resamples=0)
    browser.get(page.as_uri())
    said = set()
    for position, name in enumerate(scores):
        choose(browser, "focus", str(position))
        for at in ("0", "100"):
            browser.execute_script(
                "const s = document.getElementById('at-slider'); s.value = arguments[0];"
                "s.dispatchEvent(new Event('input'))",
                at,
            )
            ratio = 1 / (4 if at == "0" else 12)
            chosen = voros.ThresholdPolicy.from_validation(y, scores[name], scenario)
            flags = guarantee.split(2).allowed(
                voros.OperatingPoints.from_scores(y, scores[name]), scenario
            )
            sure = chosen.threshold(ratio) in promised_set(y, scores[name], flags)
            words = text(browser, "promise")
            opening = (
                "With a confidence of 90\N{NO-BREAK SPACE}% this"
                if sure
                else "These cases do not show"
            )
            assert words.startswith(opening)
            assert "in the next 600 cases" in words
            said.add(sure)
    assert False in said
    type_into(browser, "low-field", "2")
    assert "says nothing" not in text(browser, "promise")
    type_into(browser, "floor-field", "41")
    assert "these limits. It was tested for: At least 40\N{NO-BREAK SPACE}% of alarms" in text(
        browser, "promise"
    )
    said_itself = until(browser, "document.getElementById('guarantee').textContent")
    assert "95\N{NO-BREAK SPACE}%" in said_itself
    type_into(browser, "floor-field", "40")
    assert "in the next 600 cases" in text(browser, "promise")
    choose(browser, "language", "de")
    assert "in den nächsten 600 Fällen" in text(browser, "promise")
    assert complaints(browser) == []


def promised_set(y: Any, values: Any, flags: Any) -> set[float]:
    points = voros.OperatingPoints.from_scores(y, values)
    return set(points.thresholds[flags].tolist())


@pytest.mark.browser
def test_with_patients_of_several_cases_the_page_tests_nothing_itself(
    browser: Any, tmp_path: Path
) -> None:
    from present.explorer.driving import settle, text

    y, scores = cases(900)
    patients = np.arange(len(y)) // 3
    page = write_page(
        y,
        scores,
        voros.Scenario(0.4, 0.25, COSTS),
        tmp_path / "a.html",
        groups=patients,
        n_resamples=0,
    )
    browser.get(page.as_uri())
    settle(browser)
    assert text(browser, "promise") == text(browser, "guarantee") == ""
