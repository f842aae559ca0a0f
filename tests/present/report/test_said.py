"""What a report says of limits, patients and cases, beside how often or whether it is so."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from scipy.stats import beta

pytest.importorskip("pyarrow", reason="reading files needs the cli extra")
pytest.importorskip("jinja2", reason="the report's template needs the cli extra")
pytest.importorskip("matplotlib", reason="the report's pictures need the cli extra")

import voros
from voros.present.report import make_report
from voros.present.report.layout import render_report
from voros.present.report.wording import limits_verdict

COUNTS = "counts-at-the-deployed-threshold"
SCENARIO = voros.Scenario(0.3, 0.3, cost_ratio=0.1)


def cases(seed, n=400):
    rng = np.random.default_rng(seed)
    died = rng.random(n) < 0.2
    return died, 2.0 * died + rng.normal(size=n)


@pytest.fixture
def opening(text_of):
    return lambda report: text_of(report).partition("Validation data")[0]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Forty patients of ten cases each; five of them are in both files."""
    folder = tmp_path_factory.mktemp("patients")
    for name, first in (("valid", 0), ("test", 35)):
        died, risk = cases(first)
        rows = [
            f"{int(y)},{s},{first + i // 10}"
            for i, (y, s) in enumerate(zip(died, risk, strict=True))
        ]
        (folder / f"{name}.csv").write_text("\n".join(["died,risk,patient", *rows]) + "\n")
    lines = (folder / "test.csv").read_text().splitlines()
    bare = [line.rpartition(",")[0] for line in lines]
    (folder / "bare.csv").write_text("\n".join(bare) + "\n")
    return folder


@pytest.fixture
def reported(files, report_file):
    def on_files(test, **more):
        columns = {"label": "died", "scores": ["risk"]}
        options = {"test": files / test, "columns": columns, "n_resamples": 100}
        return report_file(files / "valid.csv", SCENARIO, **options, **more)

    return on_files


def test_patients_are_said_to_be_resampled_where_they_are(reported, text_of):
    by_patient = reported("test.csv", group="patient")
    assert "from 100 resamples of the 40 patients" in text_of(by_patient, "ranking")
    assert "resamples of the cases" in text_of(reported("bare.csv"), "ranking")


def test_what_is_resampled_is_told_from_what_is_exact(reported, text_of):
    """Only intervals that are quantiles of resamples are said to come from them."""
    report = reported("bare.csv")
    assert report.intervals["risk"].method == "curve"
    said = text_of(report, "ranking")
    assert "The interval of a score comes from the exact limits of its ROC curve" in said
    assert "differences and wins come from 100 resamples" in said
    by_quantiles = {name: replace(one, method="bca") for name, one in report.intervals.items()}
    vars(report)["intervals"] = by_quantiles
    assert "Intervals and wins come from 100 resamples" in text_of(report, "ranking")


def test_patients_in_both_files_are_counted(reported, opening, text_of):
    report = reported("test.csv", group="patient")
    said = "5 of 40 patients of the test cases are among the validation cases, with 50 of 400"
    assert (report.in_both.patients, report.in_both.cases) == (5, 50)
    assert said in text_of(report, COUNTS)
    assert said in opening(report)
    without = reported("bare.csv", group="patient")
    assert without.in_both is None
    assert "provided that no patient is in both files" in text_of(without, COUNTS)


def test_patients_in_neither_are_said_to_be_held_out(text_of):
    (y, s), (y_test, s_test) = cases(1), cases(2)
    patients = np.arange(400) // 4
    report = make_report(
        y,
        s,
        SCENARIO,
        y_test=y_test,
        scores_test=s_test,
        groups=patients,
        groups_test=1000 + patients,
        n_resamples=100,
    )
    assert report.in_both.patients == 0
    assert "none of their patients is among the validation" in text_of(report, COUNTS)
    with pytest.raises(ValueError, match="groups_test is about test cases"):
        make_report(y, s, SCENARIO, groups_test=patients, n_resamples=100)


def test_the_opening_speaks_of_the_test_cases_where_there_are_any(opening):
    (y, s), (y_test, s_test) = cases(1), cases(2)
    how = {"n_resamples": 100}
    alone = make_report(y, s, SCENARIO, **how)
    tested = make_report(y, s, SCENARIO, y_test=y_test, scores_test=s_test, **how)
    for report, which, died, risk in (
        (alone, "validation", y, s),
        (tested, "test", y_test, s_test),
    ):
        alarm = risk >= report.policy.threshold()
        numbers = alarm.mean(), (alarm & died).mean(), (~alarm & died).mean()
        pattern = (
            rf"Of 1,000 {which} cases (\S+) raise an alarm, (\S+) of them correctly, and (\S+) are"
        )
        said = re.search(pattern, opening(report))
        assert said is not None
        assert [int(number) for number in said.groups()] == [round(1000 * n) for n in numbers]


@pytest.mark.parametrize("capacity", [1.0, 60])
@pytest.mark.parametrize(("n", "tp", "fp"), [(400, 25, 10), (400, 12, 20), (400, 3, 30)])
def test_limits_are_kept_only_where_no_interval_reaches_across(n, tp, fp, capacity):
    died = np.arange(n) < 50
    alarm = (np.arange(n) < tp) | ((np.arange(n) >= 50) & (np.arange(n) < 50 + fp))
    scenario = voros.Scenario(0.3, capacity, cost_ratio=0.1)
    policy = voros.ThresholdPolicy.from_validation([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.2], scenario)
    verdict = limits_verdict(policy.evaluate(died, np.where(alarm, 0.95, 0.0)))
    # The exact interval of Clopper and Pearson, from the beta distribution.
    low = beta.ppf(0.025, tp, fp + 1)
    most = n * beta.ppf(0.975, tp + fp + 1, n - tp - fp)
    if tp / (tp + fp) < 0.3:
        assert verdict == "limits broken"
    elif low >= 0.3 and (capacity == 1.0 or most <= 60):
        assert verdict == "limits kept"
    else:
        assert verdict.startswith("limits met on these cases, which are too few to tell: at 95 %")
        assert (f"precision may be {low:.3g}, below 0.3" in verdict) == (low < 0.3)
        assert ("above 60" in verdict) == (capacity == 60 and most > 60)


def test_a_model_s_name_begins_a_sentence_as_it_is_written():
    (died, risk), written = cases(3), datetime(2026, 1, 1, tzinfo=UTC)
    scores = {"risk": risk, "noise": np.roll(risk, 7)}
    report = make_report(died, scores, SCENARIO, n_resamples=100)
    page = render_report(report, written)
    assert "<p>risk has the highest partial VOROS" in page
    assert "Risk has" not in page
