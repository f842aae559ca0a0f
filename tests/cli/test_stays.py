"""Alarms over stays from the shell: what the library counts, and errors that name the option."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from alarms.test_points import large_ward

import voros

pytest.importorskip("typer", reason="the command line needs the cli extra")
pytest.importorskip("pyarrow", reason="the command line needs the cli extra")

RULE = ("--snooze", "3h", "--horizon", "5h", "--lead", "1h")
STAYS = ("--stay", "id", "--time", "hour", "--events", "events.csv")
LIMITS = ("--min-precision", "0.2", "--capacity", "1.5/patient-day", "--miss-costs", "5:50")
SCENARIO = voros.Scenario(0.2, 1.5, cost_ratio=voros.costs.miss_costs(5, 50), per="patient-day")


def write_ward(folder, name="rows.csv", seed=0, first_stay=0, n_stays=200):
    """Write rows, and append their events to one file; return the points of the library."""
    stay, hour, score, (of, at) = large_ward(seed, n_stays=n_stays)
    noise = np.random.default_rng(seed).normal(size=len(score))
    rows = zip(stay + first_stay, hour, score.tolist(), noise.tolist(), stay % 2, strict=True)
    lines = [f"{s:04},{h},{a!r},{b!r},{g}" for s, h, a, b, g in rows]
    (folder / name).write_text("\n".join(["id,hour,good,noise,sex", *lines, ""]))
    events = folder / "events.csv"
    known = events.read_text() if events.exists() else "id,hour\n"
    events.write_text(
        known + "".join(f"{s + first_stay:04},{h}\n" for s, h in zip(of, at, strict=True))
    )
    rule = voros.AlarmRule(snooze=3, horizon=5, lead=1)
    return voros.alarm_points(stay=stay, time=hour, score=score, events=(of, at), rule=rule)


def test_scores_are_those_of_the_library(voros_command, tmp_path):
    points = write_ward(tmp_path)
    ran = voros_command("score", "rows.csv", "--score", "good", *STAYS, *RULE, *LIMITS, "--json")
    document = json.loads(ran.out)
    expected = voros.evaluate(points, scenario=SCENARIO)
    assert document["models"][0]["partial_voros"] == pytest.approx(expected.score, rel=1e-12)
    assert (document["stays"], document["events"]) == (200, points.n_positive)
    assert document["patient_days"] == points.stays.patient_days
    ran = voros_command("score", "rows.csv", "--score", "good", *STAYS, *RULE, *LIMITS)
    assert "200 stays, 66 events" in ran.out


def test_a_policy_is_chosen_tested_and_applied(voros_command, tmp_path):
    points = write_ward(tmp_path, n_stays=600)
    write_ward(tmp_path, "later.csv", seed=1, first_stay=5000)
    models = ("--score", "good", "--score", "noise")
    chosen = voros_command(
        "select", "rows.csv", *models, *STAYS, *RULE, *LIMITS, "--confidence", "0.95",
        "--test", "later.csv", "--by", "sex", "-o", "policy.json", "--json",
    )  # fmt: skip
    document = json.loads(chosen.out)
    policy = voros.ThresholdPolicy.from_json(tmp_path / "policy.json")
    alone = voros.ThresholdPolicy.from_points(points, SCENARIO, guarantee=0.95, n_models=2)
    assert document["winner"] == "good"
    assert policy.threshold() == alone.threshold()
    stay, hour, score, events = large_ward(1, n_stays=200)
    tested = policy.evaluate_stays(stay=stay, time=hour, score=score, events=events)
    assert document["test_default"]["tp"] == tested.tp
    assert document["test_default"]["alarms"] == tested.alarms
    parts = document["test_default"]["by_subgroup"]
    assert [part["subgroup"] for part in parts] == ["0", "1"]
    assert sum(part["tp"] for part in parts) == tested.tp
    shown = voros_command("apply", "policy.json", "later.csv", *STAYS, "-o", "alarms.csv")
    assert f"{tested.alarms} alarms in {len(stay):,} rows" in shown.err
    assert "recall of events" in shown.err
    with (tmp_path / "alarms.csv").open() as file:
        rows = list(csv.DictReader(file))
    sounded, _ = policy.alarms(stay=stay, time=hour, score=score, events=events)
    assert [row["alarm"] == "1" for row in rows] == sounded.tolist()
    assert rows[0]["id"] == "5000"


def test_rows_in_parts_go_on_from_a_state(voros_command, tmp_path):
    points = write_ward(tmp_path)
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO, model="good")
    policy.to_json(tmp_path / "policy.json")
    header, *lines = (tmp_path / "rows.csv").read_text().splitlines()
    parts = [[], []]
    for line in lines:
        parts[int(line.split(",")[1]) >= 20].append(line)
    alarms = []
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.csv").write_text("\n".join([header, *part, ""]))
        how = ("--stay", "id", "--time", "hour", "--state", "state.json", "--json")
        alarms.append(json.loads(voros_command("apply", "policy.json", f"{number}.csv", *how).out))
    stay, hour, score, _ = large_ward(0, n_stays=200)
    sounded, _ = policy.alarms(stay=stay, time=hour, score=score)
    assert sum(part["alarms"] for part in alarms) == sounded.sum()


def test_alarms_are_not_written_without_their_state(voros_command, tmp_path):
    points = write_ward(tmp_path, n_stays=20)
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO, model="good")
    policy.to_json(tmp_path / "ward.json")
    for state, complaint in (
        ("missing/state.json", "there is no folder missing"),
        ("./alarms.csv", "alarms.csv is named for two files"),
    ):
        ran = voros_command(
            "apply", "ward.json", "rows.csv", *STAYS[:4], "--state", state, "-o", "alarms.csv"
        )
        assert (ran.code, len(ran.errors)) == (2, 1)
        assert complaint in ran.errors[0]
        assert not (tmp_path / "alarms.csv").exists()


def test_csv_has_a_line_for_each_subgroup(voros_command, tmp_path):
    points = write_ward(tmp_path)
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO, model="good")
    policy.to_json(tmp_path / "ward.json")
    ran = voros_command("apply", "ward.json", "rows.csv", *STAYS, "--by", "sex", "--csv")
    header, *rows = csv.reader(ran.out.splitlines())
    assert header[:2] == ["column", "subgroup"]
    assert len(rows) == 2
    alarms = header.index("alarms")
    whole = voros_command("apply", "ward.json", "rows.csv", *STAYS, "--json")
    assert sum(int(row[alarms]) for row in rows) == json.loads(whole.out)["alarms"]


def test_datetimes_and_parquet(voros_command, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    points = write_ward(tmp_path)
    stay, hour, score, (of, at) = large_ward(0, n_stays=200)
    start = np.datetime64("2024-03-30T20:00", "us")
    for name, columns in {
        "rows": {"id": stay, "hour": start + hour * np.timedelta64(1, "h"), "good": score},
        "events": {"id": of, "hour": start + at * np.timedelta64(1, "h")},
    }.items():
        parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    files = ("--stay", "id", "--time", "hour", "--events", "events.parquet")
    ran = voros_command("score", "rows.parquet", *files, *RULE, *LIMITS, "--json")
    score_found = json.loads(ran.out)["models"][0]["partial_voros"]
    assert score_found == pytest.approx(voros.evaluate(points, scenario=SCENARIO).score)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", *STAYS[2:], *RULE[:2]), "--events requires --stay"),
        (("score", *STAYS[:2], *STAYS[4:], *RULE), "--stay requires --time"),
        (("score", *STAYS[:4], *RULE), "--stay requires --events FILE"),
        (("score", *STAYS, *RULE[2:]), "--stay requires --snooze, such as --snooze 12h"),
        (("score", *STAYS, *RULE[:2]), "--stay requires --horizon, such as --horizon 12h"),
        (
            ("score", *STAYS, *RULE, "--lead", "long"),
            "--lead='long'; accepted is --lead 12h, 30min or",
        ),
        (("score", *STAYS, *RULE, "--lead", "6h"), "a duration of at most --horizon 5h"),
        (
            ("score", *STAYS, *RULE, "--capacity", "0.1"),
            "or a rate with --capacity 0.1/patient-day",
        ),
        (("score", *STAYS, *RULE, "--label", "sex"), "--label and --stay are mutually exclusive"),
        (("score", *STAYS, *RULE, "--period", "sex"), "--period and --stay are mutually exclusive"),
        (("score", *STAYS, *RULE, "--engine", "duckdb"), "--engine and --stay are mutually"),
        (("score", "--time", "hour"), "--capacity 1.5/patient-day requires --stay"),
        (("score", *STAYS, *RULE, "--stay", "idd"), "has no column 'idd' (--stay); did you mean"),
        (("select", *STAYS, *RULE, "--test", "rows.csv"), "the stay '0000' is in rows.csv and in"),
        (
            ("select", *STAYS, *RULE, "--confidence", ".9", "--block", "7"),
            "--block and --stay are mutually",
        ),
        (("select", "--confidence", ".9", "--horizon", "12h"), "--horizon='12h'; accepted is a"),
    ],
)
def test_what_is_wrong_is_named_by_its_option(voros_command, tmp_path, words, message):
    write_ward(tmp_path, n_stays=6)
    command, *rest = words
    limits = LIMITS if "12h" not in rest else ("--miss-costs", "9", "--label", "sex")
    ran = voros_command(command, "rows.csv", *limits, "--score", "good", *rest)
    assert ran.code == 2
    assert message in ran.errors[0]


def test_policies_of_cases_and_of_stays_are_told_apart(voros_command, tmp_path):
    points = write_ward(tmp_path)
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO, model="good")
    policy.to_json(tmp_path / "stays.json")
    voros.ThresholdPolicy.from_validation(
        [0, 1], [0.1, 0.9], voros.Scenario(0.1, 1.0, 0.1), model="good"
    ).to_json(tmp_path / "cases.json")
    for policy_file, words, message in (
        ("stays.json", (), "stays.json is a policy for alarms over stays; add --stay"),
        ("cases.json", STAYS, "--stay is not for cases.json, a threshold policy"),
        ("stays.json", (*STAYS, "--label", "sex"), "--label is not for stays.json"),
        ("stays.json", (*STAYS[:4], "--check"), "--check is for whole stays"),
        ("stays.json", (*STAYS[:4], "--by", "sex"), "--by is for whole stays"),
    ):
        ran = voros_command("apply", policy_file, "rows.csv", *words)
        assert message in ran.errors[0]


@pytest.mark.slow
def test_a_report_is_written(voros_command, tmp_path):
    pytest.importorskip("matplotlib", reason="a report draws pictures")
    points = write_ward(tmp_path)
    write_ward(tmp_path, "later.csv", seed=1, first_stay=5000, n_stays=60)
    models = ("--score", "good", "--score", "noise")
    voros_command(
        "report", "rows.csv", *models, *STAYS, *RULE, *LIMITS, "--test", "later.csv",
        "--by", "sex", "--resamples", "100", "-o", "ward.html",
    )  # fmt: skip
    document = json.loads((tmp_path / "ward.json").read_text())
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO)
    stay, hour, score, events = large_ward(1, n_stays=60)
    tested = policy.evaluate_stays(stay=stay, time=hour, score=score, events=events)
    assert document["winner"] == "good"
    assert document["validation"]["file"] == "rows.csv"
    assert document["validation"]["stays"]["patient_days"] == points.stays.patient_days
    assert document["test"]["at_default"]["alarms"] == tested.alarms
    assert len(document["test"]["at_default"]["by_subgroup"]) == 2


@pytest.mark.parametrize("option", ["--false-alarm-cost=35", "--block=7"])
def test_a_report_over_stays_refuses_options_of_cases(voros_command, tmp_path, option):
    write_ward(tmp_path, n_stays=20)
    ran = voros_command(
        "report", "rows.csv", *STAYS, *RULE, *LIMITS, "--test", "rows.csv", option,
        "--confidence=0.95", "-o", "ward.html",
    )  # fmt: skip
    assert ran.code == 2
    assert "and --stay are mutually exclusive" in ran.err


def test_a_page_is_written(voros_command, tmp_path):
    write_ward(tmp_path)
    limits = ("--min-precision", "0.2", "--capacity", "0.5/patient-day", "--miss-costs", "5:50")
    words = ("rows.csv", "--score", "good", *STAYS, *RULE, *limits, "-o", "page.html")
    assert voros_command("explore", *words).code == 0
    assert '"cases":"patient-days"' in (tmp_path / "page.html").read_text()
    for option in ("--by=sex", "--resamples=300"):
        ran = voros_command(
            "explore", "rows.csv", *STAYS, *RULE, *limits, option, "-o", "again.html"
        )
        assert "and --stay are mutually exclusive" in ran.err


def test_events_of_stays_without_a_row_are_said(voros_command, tmp_path):
    points = write_ward(tmp_path)
    with (tmp_path / "events.csv").open("a") as file:
        file.write("9001,4\n9001,7\n9002,4\n")
    words = ("score", "rows.csv", "--score", "good", *STAYS, *RULE, *LIMITS)
    document = json.loads(voros_command(*words, "--json").out)
    assert (document["events"], document["events_elsewhere"]) == (points.n_positive, 3)
    left_out = "3 events of stays without a row are left out"
    assert left_out in " ".join(voros_command(*words).out.split())
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO, model="good")
    policy.to_json(tmp_path / "policy.json")
    shown = voros_command("apply", "policy.json", "rows.csv", *STAYS, "-o", "alarms.csv")
    assert left_out in shown.err
    (tmp_path / "events.csv").write_text("id,hour\n7,4\n")
    ran = voros_command(*words)
    assert "warning: --events: none of 1 belongs to a stay of the rows" in ran.err
