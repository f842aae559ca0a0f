"""Counts, discrimination and calibration of a report, against the cases themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import confusion_matrix, roc_auc_score

pytest.importorskip("pyarrow", reason="reading files needs the cli extra")
pytest.importorskip("jinja2", reason="the report's template needs the cli extra")

from voros import Scenario, Subgroups
from voros.exceptions import ArgumentError
from voros.io import read_predictions
from voros.present.report import make_report
from voros.present.report.benefit import net_benefits
from voros.present.report.values import accuracy_values
from voros.text.numbers import interval, short

SCENARIO = Scenario(0.2, 0.3, (0.05, 0.2))
FEW = {"n_resamples": 100}
COUNTS = "counts-at-the-deployed-threshold"
CALIBRATION = "discrimination-and-calibration"
COLUMNS = {"label": "died", "scores": ["risk"]}


def drawn(seed, n=400, *, risks=True):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.25
    logit = -1.2 + 1.5 * y + rng.normal(size=n)
    return y, 1 / (1 + np.exp(-logit)) if risks else logit


@pytest.fixture(scope="module")
def tested():
    (y, a), (later, b) = drawn(0), drawn(1, 300)
    noise = np.random.default_rng(2)
    by = {"sex": np.where(noise.random(300) < 0.5, "f", "m")}
    models = {"risk": a, "noise": noise.random(400)}
    return make_report(y, models, SCENARIO, y_test=later, scores_test={"risk": b}, by=by, **FEW), (
        y,
        a,
        later,
        b,
    )


def exact(hits, of, confidence=0.95):
    interval = stats.binomtest(int(hits), int(of)).proportion_ci(confidence)
    return hits / of, interval.low, interval.high


def test_counts_and_exact_intervals_on_both_sets(tested, text_of):
    report, (y, a, later, b) = tested
    threshold = report.policy.threshold()
    for evaluation, labels, scores in (
        (report.validated, y, a),
        (report.tested, later, b),
    ):
        values = accuracy_values(evaluation)
        alarm = scores >= threshold
        tn, fp, fn, tp = confusion_matrix(labels, alarm).ravel()
        assert [values[name] for name in ("tp", "fp", "fn", "tn")] == [tp, fp, fn, tn]
        expected = (
            exact(tp, tp + fp),
            exact(tp, tp + fn),
            exact(tn, tn + fp),
            exact(tn, tn + fn),
            tuple(1000 * share for share in exact(tp + fp, len(labels))),
        )
        for measure, (value, low, high) in zip(values["measures"].values(), expected, strict=True):
            assert (measure.value, measure.low, measure.high) == pytest.approx(
                (value, low, high), abs=1e-6
            )
    said = text_of(report, COUNTS)
    assert f"test {tp:,} {fp:,} {fn:,} {tn:,}" in said
    for name, measure in values["measures"].items():
        assert f"{name} {short(accuracy_values(report.validated)['measures'][name].value)}" in said
        assert f"{short(measure.value)} ({interval(measure.low, measure.high)})" in said


def test_at_another_prevalence_precision_follows_bayes(text_of):
    y, a = drawn(3)
    report = make_report(y, a, Scenario(0.1, 0.3, 0.05, prevalence=0.05), **FEW)
    values = accuracy_values(report.validated)
    alarm = a >= report.policy.threshold()
    tpr, fpr = alarm[y].mean(), alarm[~y].mean()
    measures = values["measures"]
    positive, alarms = 0.05 * tpr, 0.05 * tpr + 0.95 * fpr
    assert measures["precision (positive predictive value)"].value == pytest.approx(
        positive / alarms
    )
    assert measures["alarms per 1,000 cases"].value == pytest.approx(1000 * alarms)
    assert measures["negative predictive value"] is None
    assert values["tp"] == (alarm & y).sum()
    assert "precision and alarms are at a prevalence of 5 %" in text_of(report, COUNTS)


def test_what_chose_the_threshold_is_said(tested, tmp_path, report_file, text_of):
    assert "were held out" in text_of(tested[0], COUNTS)
    alone = make_report(*drawn(4), SCENARIO, **FEW)
    said = text_of(alone, COUNTS)
    assert "optimistic" in said
    assert "No held-out cases were given" in said
    path = write(tmp_path / "cases.csv", *drawn(5))
    twice = report_file(path, SCENARIO, test=path, columns=COLUMNS, **FEW)
    assert "byte for byte: nothing was held out" in text_of(twice, COUNTS)
    assert (twice.held_out, alone.held_out, tested[0].held_out) == (False, False, True)


def test_discrimination_and_calibration_of_every_model(tested, text_of):
    report, (y, a, later, b) = tested
    said = text_of(report, CALIBRATION)
    assert f"Brier score risk {roc_auc_score(y, a):.3f} (" in said
    assert f"risk, test cases {roc_auc_score(later, b):.3f} (" in said
    assert f") {a.mean():.3f} {y.mean():.3f} " in said
    assert ") noise 0.5" in said
    assert report.best_quality.calibration.curve.cases.sum() == len(b)


def test_net_benefit_of_the_deployed_thresholds_case_by_case(tested, text_of):
    report, (y, a, later, b) = tested
    said = text_of(report, "decision-curve")
    rows = list(net_benefits(report))
    assert [row.which for row in rows] == ["validation", "test"] * 2
    wanted = [(c, *part) for c in (0.05, 0.2) for part in ((y, a), (later, b))]
    for row, (ratio, labels, scores) in zip(rows, wanted, strict=True):
        alarm = scores >= report.policy.threshold(ratio)
        worth = 1000 * np.where(alarm, np.where(labels, 1.0, -ratio), 0.0)
        normal = stats.norm.interval(0.95, worth.mean(), worth.std() / np.sqrt(len(worth)))
        assert row.threshold_probability == pytest.approx(ratio / (1 + ratio))
        assert row.of_threshold.value == pytest.approx(worth.mean())
        # Exact limits are wider than normal ones, by little with this many cases.
        low, high = row.of_threshold.low, row.of_threshold.high
        assert (low, high) == pytest.approx(normal, abs=0.15 * (normal[1] - normal[0]))
        assert high - low >= normal[1] - normal[0]
        everybody = 1000 * (labels.mean() - ratio * (~labels).mean())
        assert row.of_everybody == pytest.approx(everybody)
        assert f"{short(worth.mean())} ({interval(low, high)}) {short(everybody)}" in said


def test_scores_that_are_no_risks_say_so(text_of):
    report = make_report(*drawn(6, risks=False), SCENARIO, **FEW)
    assert "needs scores that are probabilities" in text_of(report, CALIBRATION)
    assert report.best_quality.calibration is None
    assert ") - - - - -" in text_of(report, CALIBRATION)


def test_certain_risks_are_said(text_of):
    y, a = drawn(7)
    report = make_report(y, np.where(a < 0.1, 0.0, a), SCENARIO, **FEW)
    said = text_of(report, CALIBRATION)
    assert f"leave out the {(a < 0.1).sum():,} cases whose risk is exactly 0 or 1" in said
    assert report.best_quality.calibration is not None


def write(path, y, scores, holes=()):
    rows = [
        f"{int(label)},{'' if i in holes else repr(score)},{i % 2},{i // 2}"
        for i, (label, score) in enumerate(zip(y, scores.tolist(), strict=True))
    ]
    path.write_text("\n".join(["died,risk,sex,patient", *rows]) + "\n")
    return path


def test_rows_that_are_left_out_are_counted_and_named(tmp_path, report_file, text_of):
    y, a = drawn(8)
    path = write(tmp_path / "cases.csv", y, a, holes=(3, 50, 51))
    columns = COLUMNS | {"drop_missing": True}
    said = text_of(report_file(path, SCENARIO, columns=columns, **FEW), "data")
    kept = np.delete(y, (3, 50, 51))
    assert "rows 400, of which 3 left out: no value in risk (3) cases" in said
    assert f"cases 397, of which {kept.sum()} positive (" in said


def test_arrays_frames_and_files_give_the_same_report(tmp_path, report_file):
    pandas = pytest.importorskip("pandas")
    (y, a), (later, b) = drawn(9), drawn(10)
    first = write(tmp_path / "valid.csv", y, a)
    second = write(tmp_path / "test.csv", later, b)
    sex, whose = np.arange(400) % 2, np.arange(400) // 2
    by = Subgroups.from_columns({"sex": sex})
    reports = [
        make_report(y, {"risk": a}, SCENARIO, y_test=later, scores_test={"risk": b}, by=by,
                    groups=whose, groups_test=whose, **FEW),
        make_report(
            pandas.Series(y), pandas.DataFrame({"risk": a}), SCENARIO,
            y_test=pandas.Series(later), scores_test=pandas.DataFrame({"risk": b}),
            by=pandas.DataFrame({"sex": sex}), groups=pandas.Series(whose),
            groups_test=pandas.Series(whose), **FEW,
        ),
        report_file(first, SCENARIO, test=second, by=["sex"], group="patient",
                    columns=COLUMNS, **FEW),
    ]  # fmt: skip
    assert len({report.tested_by_cost.expected_cost for report in reports}) == 1
    assert len({report.intervals["risk"].low for report in reports}) == 1
    assert len({repr(report.tested.by_subgroup) for report in reports}) == 1
    assert [report.data["validation"].file for report in reports] == ["", "", "valid.csv"]
    cases = read_predictions(second, label="died", scores=["risk"])
    alarm = cases.scores_of("risk") >= reports[2].policy.threshold()
    assert accuracy_values(reports[2].tested)["tp"] == (alarm & cases.labels).sum()


def test_half_a_test_and_groups_of_nothing_are_refused():
    y, a = drawn(11)
    with pytest.raises(ArgumentError, match="y_test is about test cases, which need both"):
        make_report(y, a, SCENARIO, y_test=y, **FEW)
    with pytest.raises(ValueError, match="y_test holds negative cases only"):
        make_report(y, a, SCENARIO, y_test=[0, 0], scores_test=[0.1, 0.2], **FEW)
    with pytest.raises(ArgumentError, match="by is about test cases"):
        make_report(y, a, SCENARIO, by=y, **FEW)
    with pytest.raises(ArgumentError, match="false_alarm_cost prices test cases"):
        make_report(y, a, SCENARIO, false_alarm_cost=3, **FEW)


def test_intervals_of_the_report_know_patients(text_of):
    y, a = (np.repeat(values, 4) for values in drawn(9, 150))
    whose = np.repeat(np.arange(150), 4)
    alone, grouped = (make_report(y, a, SCENARIO, groups=groups, **FEW) for groups in (None, whose))
    for name in ("recall (sensitivity)", "specificity", "alarms per 1,000 cases"):
        narrow, wide = (
            accuracy_values(report.validated)["measures"][name] for report in (alone, grouped)
        )
        assert 1.5 < (wide.high - wide.low) / (narrow.high - narrow.low) < 2.6, name
    firsts = [next(net_benefits(report)).of_threshold for report in (alone, grouped)]
    widths = [first.high - first.low for first in firsts]
    assert 1.5 < widths[1] / widths[0] < 2.6
    assert "patients with several cases" in text_of(alone, COUNTS)
    assert "take patients as independent" in text_of(grouped, COUNTS)
