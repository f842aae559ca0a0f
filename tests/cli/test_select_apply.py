"""A policy is chosen, saved, tested and applied."""

import csv
import io
import json

import numpy as np
import pytest
from cli.cases import LIMITS
from pyarrow import parquet

from voros import Guarantee, Scenario, ThresholdPolicy, costs
from voros.io import read_predictions

MODEL = "good"


@pytest.fixture
def policy(voros_command, cases):
    ran = voros_command("select", cases, "-o", "policy.json", *LIMITS)
    assert ran.code == 0
    return ThresholdPolicy.from_json(cases.parent / "policy.json")


def test_the_saved_policy_knows_whose_scores_it_is_for(policy):
    assert policy.model == MODEL
    assert policy.scenario.min_precision == 0.3
    assert policy.scenario.costs == costs.miss_costs(5, 20)


def test_the_test_account_is_the_one_counted_by_hand(voros_command, cases, later_cases):
    ran = voros_command(
        "select", cases, "--test", later_cases, "--json", "--strategy", "recall", *LIMITS
    )
    document = json.loads(ran.out)
    threshold = document["policy"]["default"]["threshold"]
    later = read_predictions(later_cases)
    alarms = later.scores_of(document["winner"]) >= threshold
    tp = (alarms & later.labels).sum()
    assert document["test"]["mean_alarms"] == alarms.sum()
    assert document["test"]["mean_precision"] == pytest.approx(tp / alarms.sum(), abs=1e-15)
    kept = alarms.sum() <= 0.2 * later.n_cases and tp >= 0.3 * alarms.sum()
    assert document["test"]["satisfied"] == kept


def test_notes_on_the_test_are_printed_once(voros_command, cases, later_cases):
    options = ("--test", later_cases, "--confidence", "0.9", "--capacity", "0.5")
    text = voros_command("select", cases, *options, "--miss-costs", "1:100").out
    assert text.count("\ntest, ") == 2
    assert text.count("guarantee: ") == 1
    assert text.count("intervals take ") == 1


def test_check_after_the_test(voros_command, cases, tmp_path):
    # The test file is the validation file with its labels turned round: precision collapses.
    header, *rows = cases.read_text().splitlines()
    turned = [f"{1 - int(row[0])}{row[1:]}" for row in rows]
    (tmp_path / "turned.csv").write_text("\n".join([header, *turned]))
    floor = ("--min-precision", "0.6", "--capacity", "0.2", "--miss-costs", "5:20")
    kept = voros_command("select", cases, "--test", cases, "--check", *floor)
    broken = voros_command("select", cases, "--test", "turned.csv", "--check", *floor)
    unasked = voros_command("select", cases, "--test", "turned.csv", *floor)
    assert (kept.code, broken.code, unasked.code) == (0, 1, 0)
    assert "limits broken" in broken.out


@pytest.mark.parametrize("prevalence", ["2%", "5%", "20%", "50%"])
@pytest.mark.parametrize("strategy", ["recall", "partial_voros"])
@pytest.mark.slow
def test_select_and_apply_come_to_the_same_verdict(
    voros_command, cases, later_cases, prevalence, strategy
):
    limits = ("--capacity", "20%", "--miss-costs", "5:20", "--prevalence", prevalence)
    for floor in ("5%", "20%", "40%", "60%"):
        options = ("--min-precision", floor, *limits, "--strategy", strategy, "--force")
        test = ("--test", later_cases, "--json", "--check")
        chosen = voros_command("select", cases, *test, *options, "-o", "policy.json")
        if chosen.code == 2:
            continue
        applied = voros_command(
            "apply", "policy.json", later_cases, "--label", "died", "--json", "--check"
        )
        tested, decided = json.loads(chosen.out), json.loads(applied.out)
        default = tested["test_default"]
        assert decided["kept"] == default["satisfied"] == (applied.code == 0)
        assert decided["evaluation"]["mean_alarms"] == default["mean_alarms"]
        assert decided["max_alarms"] == default["max_alarms"]
        assert decided["evaluation"]["mean_precision"] == default["mean_precision"]
        assert chosen.code == int(not (tested["test"]["satisfied"] and default["satisfied"]))
        if strategy == "recall":
            assert applied.code == chosen.code


def test_a_day_without_positives_is_judged_by_its_alarms(voros_command, cases, tmp_path):
    limits = ("--min-precision", "5%", "--capacity", "20%", "--miss-costs", "5:20")
    for prevalence in ((), ("--prevalence", "5%")):
        options = ("-o", "policy.json", "--force", *prevalence)
        assert voros_command("select", cases, *options, *limits).code == 0
        (tmp_path / "day.csv").write_text("died,good\n0,-9.0\n0,-8.0\n")
        options = ("--label", "died", "--pos-label", "1", "--check", "--json")
        ran = voros_command("apply", "policy.json", "day.csv", *options)
        assert ran.code == 0
        assert json.loads(ran.out)["alarms"] == 0


@pytest.mark.parametrize("command", [("select",), ("report", "-o", "report.html")])
def test_a_winner_that_could_only_never_alarm_is_refused(voros_command, tmp_path, command):
    (tmp_path / "hard.csv").write_text("died,only\n0,0.9\n1,0.8\n0,0.7\n1,0.6\n")
    limits = ("--min-precision", "0.9", "--capacity", "0.5", "--cost-ratio", "0.1")
    ran = voros_command(command[0], "hard.csv", *command[1:], *limits)
    assert ran.code == 2
    assert "model 'only'" in ran.err
    assert "precision within the capacity is 0.5" in ran.err
    assert not (tmp_path / "report.html").exists()


def test_the_saved_policy_says_from_how_many_models_it_was_chosen(voros_command, cases, tmp_path):
    more = ("--confidence", "0.8", "-o", "sure.json")
    assert voros_command("select", cases, *more, *LIMITS).code == 0
    sure = ThresholdPolicy.from_json(tmp_path / "sure.json")
    assert (sure.guarantee, sure.n_models) == (Guarantee(0.8), 3)


def test_no_policy_is_written_where_none_is_certified(voros_command, cases, tmp_path):
    limits = ("--min-precision", "0.97", "--capacity", "0.1", "--cost-ratio", "1/9")
    ran = voros_command("select", cases, *limits, "--confidence", "0.999", "-o", "none.json")
    assert ran.code == 2
    assert "with confidence 0.999, so none is certified" in ran.errors[0]
    assert "Development cases (--development) would help" in ran.errors[0]
    assert not (tmp_path / "none.json").exists()


def grouped_cases(path, n_groups=300, per_subgroup=4, seed=0):
    """Write cases of patients with several each, and what was written."""
    rng = np.random.default_rng(seed)
    died = rng.random(n_groups * per_subgroup) < 0.2
    risk = rng.normal(size=len(died)) + 1.8 * died
    patient = np.repeat(np.arange(n_groups), per_subgroup)
    rows = zip(died.tolist(), risk.tolist(), patient.tolist(), strict=True)
    lines = ["died,risk,patient", *(f"{int(y)},{s!r},p{g}" for y, s, g in rows)]
    path.write_text("\n".join(lines) + "\n")
    return died, risk, [f"p{g}" for g in patient]


@pytest.mark.parametrize("command", ["select", "report"])
@pytest.mark.slow
def test_groups_reach_the_guarantee(voros_command, tmp_path, command):
    died, risk, patients = grouped_cases(tmp_path / "patients.csv")
    options = ["--confidence", "0.9", "--group", "patient", *LIMITS]
    output = "policy.json" if command == "select" else "report.html"
    more = [] if command == "select" else ["--resamples", "100"]
    ran = voros_command(command, "patients.csv", "-o", output, *options, *more)
    assert ran.code == 0, ran.err
    scenario = Scenario(0.3, 0.2, costs.miss_costs(5, 20))
    told = ThresholdPolicy.from_validation(
        died, risk, scenario, guarantee=Guarantee(0.9), n_models=1, groups=patients
    )
    untold = ThresholdPolicy.from_validation(
        died, risk, scenario, guarantee=Guarantee(0.9), n_models=1
    )
    assert told.default.alarms != untold.default.alarms
    document = json.loads((tmp_path / output.replace(".html", ".json")).read_text())
    policy = document if command == "select" else document["policy"]
    assert policy["default"]["alarms"] == told.default.alarms


def test_a_policy_is_not_overwritten_unasked(voros_command, cases, policy, tmp_path):
    before = (tmp_path / "policy.json").read_bytes()
    again = voros_command("select", cases, "-o", "policy.json", "--score", "fair", *LIMITS)
    assert again.code == 2
    assert "--force" in again.errors[0]
    assert (tmp_path / "policy.json").read_bytes() == before
    forced = voros_command(
        "select", cases, "-o", "policy.json", "--score", "fair", "--force", *LIMITS
    )
    assert forced.code == 0
    assert ThresholdPolicy.from_json(tmp_path / "policy.json").model == "fair"


@pytest.mark.parametrize("ratio", [None, "1/20", "0.5"])
def test_alarms_are_those_above_the_threshold(voros_command, policy, later_cases, ratio):
    options = () if ratio is None else ("--cost-ratio", ratio)
    ran = voros_command("apply", "policy.json", later_cases, *options)
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    at = {None: None, "1/20": 0.05, "0.5": 0.5}[ratio]
    threshold = policy.threshold(at)
    assert [int(row["alarm"]) for row in rows] == [
        int(float(row[MODEL]) >= threshold) for row in rows
    ]
    assert len(rows) == 400
    assert "capacity 80" in ran.err


def test_other_cells_stay_as_they_were_written(voros_command, policy, tmp_path):
    original = 'id,good,note\n007,9.50,"a, b"\n008,-9.0,\n'
    (tmp_path / "new.csv").write_text(original)
    ran = voros_command("apply", "policy.json", "new.csv")
    expected = list(csv.reader(io.StringIO(original)))
    assert list(csv.reader(io.StringIO(ran.out))) == [
        [*expected[0], "alarm"],
        [*expected[1], "1"],
        [*expected[2], "0"],
    ]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet", "out.arrow"])
def test_every_output_format_is_read_back(voros_command, policy, later_cases, tmp_path, name):
    assert voros_command("apply", "policy.json", later_cases, "-o", name).code == 0
    decided = read_predictions(tmp_path / name, label="alarm", scores=[MODEL])
    expected = policy.predict(read_predictions(later_cases).scores_of(MODEL))
    assert decided.labels.tolist() == expected.tolist()


def test_parquet_columns_keep_their_types(voros_command, policy, tmp_path):
    import pyarrow as pa

    table = pa.table({"id": pa.array([7, 8], pa.int32()), MODEL: [9.5, -9.0]})
    parquet.write_table(table, tmp_path / "new.parquet")
    voros_command("apply", "policy.json", "new.parquet", "-o", "out.parquet")
    decided = parquet.read_table(tmp_path / "out.parquet")
    assert decided.select(["id", MODEL]).equals(table)
    assert decided["alarm"].to_pylist() == [1, 0]


def test_check_compares_capacity_and_precision(voros_command, policy, later_cases, tmp_path):
    threshold = policy.threshold()
    (tmp_path / "crowd.csv").write_text(
        f"good\n{threshold + 1}\n{threshold + 2}\n{threshold - 1}\n"
    )
    crowd = voros_command("apply", "policy.json", "crowd.csv", "--check")
    assert crowd.code == 1
    assert "exceeded" in crowd.err
    rows = [f"0,{threshold + 1}", *[f"{i % 2},{threshold - 1}" for i in range(20)]]
    (tmp_path / "wrong.csv").write_text("\n".join(["died,good", *rows]))
    unlabelled = voros_command("apply", "policy.json", "wrong.csv", "--check")
    wrong = voros_command("apply", "policy.json", "wrong.csv", "--check", "--label", "died")
    assert (unlabelled.code, wrong.code) == (0, 1)
    assert "precision: 0, at least 0.3 required" in wrong.err


@pytest.mark.parametrize("output", [(), ("-o", "out.csv")])
def test_the_account_for_programs(voros_command, policy, later_cases, tmp_path, output):
    options = ("--label", "died", *output)
    document = json.loads(
        voros_command("apply", "policy.json", later_cases, "--json", *options).out
    )
    predictions = read_predictions(later_cases)
    alarms = predictions.scores_of(MODEL) >= policy.threshold()
    tp = int((alarms & predictions.labels).sum())
    assert document["alarms"] == alarms.sum()
    assert document["evaluation"]["mean_precision"] == tp / alarms.sum()
    assert document["evaluation"]["mean_recall"] == tp / predictions.labels.sum()
    assert document["kept"] == (alarms.sum() <= 80 and tp >= 0.3 * alarms.sum())
    assert document["written"] == (output[1] if output else None)
    assert (tmp_path / "out.csv").exists() == bool(output)
    again = voros_command("apply", "policy.json", later_cases, "--csv", "--force", *options).out
    (row,) = csv.DictReader(io.StringIO(again))
    assert int(row["alarms"]) == alarms.sum()
    assert float(row["mean_precision"]) == tp / alarms.sum()


def test_scores_under_another_name(voros_command, policy, tmp_path):
    (tmp_path / "renamed.csv").write_text("risk\n9.5\n-9.0\n")
    ran = voros_command("apply", "policy.json", "renamed.csv", "--score", "risk")
    assert ran.out == "risk,alarm\n9.5,1\n-9.0,0\n"


def test_long_files(voros_command, cases, tmp_path):
    wide = read_predictions(cases)
    lines = ["case,who,died,risk"]
    for who in ("fair", "good"):
        lines += [
            f"{i},{who},{int(y)},{s!r}"
            for i, (y, s) in enumerate(zip(wide.labels, wide.scores_of(who).tolist(), strict=True))
        ]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    columns = ("--model", "who", "--id", "case", "--score", "risk", "--label", "died")
    long = voros_command("select", "long.csv", "--test", "long.csv", "--json", *columns, *LIMITS)
    narrow = ("--score", "fair", "--score", "good", "--label", "died")
    direct = voros_command("select", cases, "--test", cases, "--json", *narrow, *LIMITS)
    assert json.loads(long.out)["ranking"] == json.loads(direct.out)["ranking"]
    assert json.loads(long.out)["test"] == json.loads(direct.out)["test"]


def test_whole_alarms_are_read_per_horizon(voros_command, tmp_path):
    """Thirty alarms in each 100 of 600 cases, not thirty of all."""
    rng = np.random.default_rng(0)
    positive = rng.random(600) < 0.3
    scores = rng.normal(size=600) + 4 * positive
    rows = [f"{int(y)},{s}" for y, s in zip(positive, scores, strict=True)]
    (tmp_path / "many.csv").write_text("\n".join(["label,risk", *rows]))
    promise = ("--confidence", "0.9", "--horizon", "100")
    limits = ("--min-precision", "0", "--capacity", "30", "--miss-costs", "5:20")
    ran = voros_command("select", "many.csv", "-o", "many.json", *promise, *limits)
    assert ran.code == 0
    assert 90 < ThresholdPolicy.from_json(tmp_path / "many.json").default.alarms <= 180


def test_development_cases_fix_what_the_validation_cases_certify(voros_command, tmp_path):
    from cli.cases import write_cases

    development = write_cases(tmp_path / "dev.csv", 2000, seed=2)
    valid = write_cases(tmp_path / "valid.csv", 1000, seed=3)
    words = ("--development", development, "--confidence", "0.95", "-o", "policy.json")
    ran = voros_command("select", valid, *words, *LIMITS)
    assert ran.code == 0
    assert "fixed on 2,000 development cases" in ran.out
    policy = ThresholdPolicy.from_json(tmp_path / "policy.json")
    dev = read_predictions(development)
    assert np.isin(policy.default.threshold, dev.scores_of(policy.model))
    assert policy.origin.n_development == 2000
    refused = voros_command("select", valid, "--development", development, *LIMITS)
    assert "--development requires --confidence" in refused.errors[0]
