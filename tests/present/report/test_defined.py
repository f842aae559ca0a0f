"""Figures of a report are defined where they appear, reconcile, and say how sure they are."""

import json
import re
from datetime import datetime
from html import unescape

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta

pytest.importorskip("pyarrow", reason="reading files needs the cli extra")
pytest.importorskip("jinja2", reason="the report's template needs the cli extra")
pytest.importorskip("matplotlib", reason="the report's pictures need the cli extra")

import voros
from voros.core.calibration import RiskCounts, smooth_share
from voros.present.report import make_report
from voros.present.report.benefit import deployed_benefit
from voros.present.report.layout import render_report
from voros.present.report.values import report_document

RATIO = 0.125


def cases(rng, n):
    severity = rng.normal(size=n)
    died = rng.random(n) < expit(-2 + 1.5 * severity)
    risks = {
        "lab": expit(-2 + 1.5 * severity + 0.3 * rng.normal(size=n)),
        "nurse": expit(-2 + severity + rng.normal(size=n)),
    }
    return died, risks


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(5)
    return *cases(rng, 1500), *cases(rng, 1000)


@pytest.fixture(scope="module")
def report(drawn):
    y, scores, y_test, scores_test = drawn
    scenario = voros.Scenario(0.25, 0.2, cost_ratio=RATIO)
    tested = {"y_test": y_test, "scores_test": scores_test, "n_resamples": 200}
    return make_report(y, scores, scenario, **tested)


@pytest.fixture(scope="module")
def page(report):
    return " ".join(unescape(render_report(report, datetime(2026, 1, 1))).split())


def test_the_opening_says_how_sure_the_numbers_of_the_test_cases_are(page, drawn, report):
    _, _, y_test, scores_test = drawn
    alarm = scores_test["lab"] >= report.policy.default.threshold
    tp, alarms = int((alarm & y_test).sum()), int(alarm.sum())
    low, high = beta.ppf([0.025, 0.975], [tp, tp + 1], [alarms - tp + 1, alarms - tp])
    said = page.split('id="data"')[0]
    assert f"{100 * low:.1f} % to {100 * high:.1f} % of the alarms are correct" in said
    assert "the test cases come from, at 95 % confidence" in said


def test_without_test_cases_the_opening_promises_nothing(drawn, text_of):
    y, scores, *_ = drawn
    untested = make_report(y, scores, voros.Scenario(0.25, 0.2, cost_ratio=0.1), n_resamples=100)
    said, _, _ = text_of(untested).partition("Validation data")
    assert "expect worse on others. It was not tested." in said
    assert "confidence" not in said


def test_costs_and_net_benefit_reconcile_as_the_report_defines_them(report, page, drawn):
    _, _, y_test, scores_test = drawn
    alarm = scores_test["lab"] >= report.policy.default.threshold
    misses, fp = int((~alarm & y_test).sum()), int((alarm & ~y_test).sum())
    cost = misses + RATIO * fp  # in misses, of 1,000 cases
    worst = y_test.sum() + RATIO * (~y_test).sum()
    assert "Cost of 1,000 cases, in misses: the number of misses, plus C_FP / C_FN for each" in page
    assert re.search(rf"cost of 1,000 cases, in misses</th>\s*<td[^>]*>{cost:.1f}<", page)
    assert report.tested_by_cost.expected_cost == pytest.approx(cost / worst)
    benefit = f"{y_test.sum() - cost:.3g}"
    assert re.search(rf"<td>{benefit} \(", page)


def test_scores_are_defined_beside_the_ranking(page):
    ranking = page[page.index('id="ranking"') : page.index('id="chosen-policy"')]
    for words in ("Partial VOROS is the share", "VOROS is the same without", "partial AUROC is"):
        assert words in ranking


def test_the_lead_over_other_models_comes_with_its_interval(report, page, drawn):
    y, scores, *_ = drawn
    how = {"n_resamples": 200, "random_state": 0}
    pair = voros.compare(y, scores, report.scenario, **how).pair("lab", "nurse")
    assert f"{pair.difference:+.3f}" in page
    assert f"{pair.low:+.3f} to {pair.high:+.3f}" in page
    (written,) = report_document(report, datetime(2026, 1, 1))["differences"]
    assert (written["low"], written["high"]) == (pair.low, pair.high)


def test_thresholds_are_cut_on_the_page_and_whole_beside_it(report, page):
    exact = report.policy.default.threshold
    assert f"alarm at a score of at least {str(exact)[:5]}..., whatever the costs" in page
    assert repr(exact) not in page
    document = json.loads(json.dumps(report.policy.fields(), default=str))
    assert exact in [choice["threshold"] for choice in document["choices"]]


def test_the_decision_curve_has_the_deployed_thresholds(report, drawn):
    _, _, y_test, scores_test = drawn
    probabilities = np.array([0.05, 0.2, 0.4])
    ratios = probabilities / (1 - probabilities)
    gained = deployed_benefit(report, report.test_points, probabilities)
    for ratio, value in zip(ratios, gained, strict=True):
        alarm = scores_test["lab"] >= report.policy.threshold(ratio)
        expected = (alarm & y_test).mean() - ratio * (alarm & ~y_test).mean()
        assert value == pytest.approx(expected)


def test_the_smooth_calibration_curve_is_a_local_line(drawn):
    y, scores, *_ = drawn
    at = np.array([0.05, 0.2, 0.5])
    risks = RiskCounts.from_points(voros.OperatingPoints.from_scores(y, scores["lab"]))
    for centre, share in zip(at, smooth_share(risks, at), strict=True):
        away = np.abs(scores["lab"] - centre)
        reach = np.sort(away)[len(y) * 2 // 3 - 1]
        # np.polyfit squares its weights.
        weight = np.sqrt(np.clip(1 - (away / reach) ** 3, 0, None) ** 3)
        line = np.polyfit(scores["lab"], y.astype(float), 1, w=weight)
        assert share == pytest.approx(np.polyval(line, centre), abs=1e-6)
