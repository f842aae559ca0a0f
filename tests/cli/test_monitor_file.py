"""``voros monitor``: a file that is made once and fed every day."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="the command line needs the cli extra")

from monitoring_streams import make_policy

import voros


@pytest.fixture
def ward(tmp_path):
    """Write a policy and sixty days of alarms, one in ten of them true."""
    make_policy(capacity=1.0).to_json(tmp_path / "policy.json")
    when = np.datetime64("2026-01-01") + np.arange(120) // 2
    rows = [f"{i:04d},{day},0.9" for i, day in enumerate(when)]
    (tmp_path / "cases.csv").write_text("stay,admitted,risk\n" + "\n".join(rows) + "\n")
    rows = [f"{i:04d},{day + 5},{int(i % 10 == 0)}" for i, day in enumerate(when)]
    (tmp_path / "labels.csv").write_text("stay,known,died\n" + "\n".join(rows) + "\n")
    return tmp_path


MADE = ("monitor", "ward.voros", "--policy", "policy.json", "--window", "10")
CASES = ("--cases", "cases.csv", "--id", "stay", "--time", "admitted", "--score", "risk")
LABELS = ("--labels", "labels.csv", "--id", "stay", "--label", "died", "--label-time", "known")


def test_made_fed_and_checked(ward, voros_command):
    assert voros_command(*MADE).code == 0
    fed = voros_command("monitor", "ward.voros", *CASES, "--check")
    assert (fed.code, "120 new cases; 120 alarms" in fed.err) == (0, True)
    labelled = voros_command("monitor", "ward.voros", *LABELS, "--check")
    assert labelled.code == 1
    assert "120 labels new or corrected, 0 known before" in labelled.err
    assert "broken since about 2026-01-01" in labelled.out
    again = voros_command("monitor", "ward.voros", *CASES, *LABELS)
    assert "0 new cases, 120 known before" in again.err
    assert "0 labels new or corrected, 120 known before" in again.err


def test_json_csv_and_the_page(ward, voros_command):
    voros_command(*MADE)
    voros_command("monitor", "ward.voros", *CASES)
    ran = voros_command("monitor", "ward.voros", *LABELS, "--json", "-o", "ward.html")
    document = json.loads(ran.out)
    assert document["verdict"] == "broken"
    assert document["watches"][0]["name"] == "precision"
    assert (ward / "ward.html").read_text().count("<img") == 3
    rows = voros_command("monitor", "ward.voros", "--csv").out.splitlines()
    assert rows[0].startswith("name,verdict,words,limit,estimate")


def test_ids_keep_their_zeros_and_gaps_are_labels_to_come(ward, voros_command):
    voros_command(*MADE, *CASES)
    (ward / "some.csv").write_text("stay,died\n0000,1\n0001,\n")
    ran = voros_command(
        "monitor", "ward.voros", "--labels", "some.csv", "--id", "stay", "--label", "died"
    )
    assert "1 row without a label yet" in ran.err
    assert "1 label new or corrected" in ran.err


def test_a_renewed_policy_is_written_and_adopted_by_hand(ward, voros_command):
    voros_command(*MADE)
    rng = np.random.default_rng(0)
    scores = rng.random(800).round(4)
    died = (rng.random(800) < np.where(scores > 0.8, 0.6, 0.02)).astype(int)
    when = np.datetime64("2026-01-01") + np.arange(800) // 10
    zipped = list(zip(scores, died, when, strict=True))
    rows = "\n".join(f"{i},{day},{s}" for i, (s, _, day) in enumerate(zipped))
    (ward / "cases.csv").write_text(f"stay,admitted,risk\n{rows}\n")
    rows = "\n".join(f"{i},{day + 5},{y}" for i, (s, y, day) in enumerate(zipped) if s >= 0.5)
    (ward / "labels.csv").write_text(f"stay,known,died\n{rows}\n")
    ran = voros_command("monitor", "ward.voros", *CASES, *LABELS, "--renew", "new.json")
    assert "Nothing has changed yet; --adopt" in ran.err
    assert "instead of 0.5" in ran.err
    ran = voros_command("monitor", "ward.voros", "--adopt", "new.json")
    assert "new.json is deployed from now on" in ran.err
    assert ran.out.startswith("too early to tell")  # of the policy that decides now
    refused = voros_command("monitor", "ward.voros", "--policy", "new.json")
    assert refused.code == 2


def test_risks_are_calibrated_on_validation_cases(ward, voros_command):
    rng = np.random.default_rng(0)
    risk = rng.random(400).round(3)
    died = np.where(rng.random(400) < risk, "yes", "no")
    rows = "\n".join(f"{s},{y},{i // 2}" for i, (s, y) in enumerate(zip(risk, died, strict=True)))
    (ward / "valid.csv").write_text(f"risk,died,patient\n{rows}\n")
    policy = replace(make_policy(capacity=1.0), pos_label="yes")
    policy.to_json(ward / "policy.json", force=True)
    how = ("--validation", "valid.csv", "--label", "died", "--group", "patient")
    names = ("--id", "stay", "--time", "admitted", "--score", "risk")
    ran = voros_command(*MADE, *how, *names)
    assert ran.code == 0
    ran = voros_command("monitor", "ward.voros", "--cases", "cases.csv", *names, "--json")
    watch = next(w for w in json.loads(ran.out)["watches"] if w["name"] == "expected precision")
    validation = died == "yes", risk, np.arange(400) // 2
    alone = voros.Monitor(make_policy(capacity=1.0), window=10, validation=validation)
    when = np.datetime64("2026-01-01") + np.arange(120) // 2
    alone.update(np.full(120, 0.9), cases=np.arange(120), times=when)
    assert watch["words"] == alone.status()["expected precision"].words
    refused = voros_command("monitor", "ward.voros", *how)
    assert (refused.code, "requires --policy or --adopt" in refused.err) == (2, True)
    ran = voros_command("monitor", "ward.voros", "--adopt", "policy.json")
    assert "expected precision" not in ran.out
    ran = voros_command("monitor", "ward.voros", "--adopt", "policy.json", *how, *names)
    assert "expected precision" in ran.out
    (ward / "valid.csv").write_text("risk,died\n0.2,yes\n0.3,\n")
    ran = voros_command("monitor", "ward.voros", "--adopt", "policy.json", *how[:4], *names)
    assert (ran.code, "'died' has no value in 1 of 2 rows, first in row 2" in ran.err) == (2, True)


def test_a_first_call_that_fails_leaves_nothing(ward, voros_command):
    assert voros_command(*MADE, "--cases", "none.csv", *CASES[2:]).code == 2
    assert not (ward / "ward.voros").exists()
    assert voros_command(*MADE, *CASES).code == 0


def test_an_empty_file_is_named_as_that(ward, voros_command):
    (ward / "ward.voros").touch()
    for arguments in (MADE, ("monitor", "ward.voros")):
        ran = voros_command(*arguments)
        assert (ran.code, "ward.voros is empty, and not a monitor file" in ran.err) == (2, True)
    assert (ward / "ward.voros").stat().st_size == 0


def test_cases_are_withdrawn_and_fed_again(ward, voros_command):
    voros_command(*MADE, *CASES)
    (ward / "wrong.csv").write_text("stay\n0000\n0001\n")
    (ward / "right.csv").write_text("stay,admitted,risk\n0000,2026-02-14,0.9\n")
    withdraw = ("monitor", "ward.voros", "--withdraw", "wrong.csv", "--id", "stay")
    ran = voros_command(*withdraw, "--cases", "right.csv", *CASES[4:])
    assert "2 cases withdrawn" in ran.err
    assert "1 new case;" in ran.err
    assert voros_command(*withdraw[:2], "--withdraw", "right.csv", *withdraw[4:]).code == 0
    again = voros_command(*withdraw)
    assert (again.code, "'0000' cannot be withdrawn" in again.errors[0]) == (2, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("--alpha", "0.1"),
        ("--window", "10"),
        ("--run-length", "500"),
        ("--cost-ratio", "1/9"),
        ("--max-cost", "0.2"),
        ("--score-unit", "week"),
    ],
)
def test_settings_of_a_made_file_are_not_ignored(ward, voros_command, name, value):
    voros_command(*MADE)
    ran = voros_command("monitor", "ward.voros", name, value)
    assert ran.code == 2
    assert f"{name} requires --policy" in ran.errors[0]


def test_a_damaged_file_has_its_own_exit_code(ward, voros_command):
    voros_command(*MADE, *CASES)
    whole = (ward / "ward.voros").read_bytes()
    (ward / "ward.voros").write_bytes(whole[: len(whole) // 2])
    ran = voros_command("monitor", "ward.voros")
    assert ran.code == 65
    assert "ward.voros: it is damaged" in ran.errors[0]


def test_a_mistyped_year_is_confirmed_or_refused(ward, voros_command):
    voros_command(*MADE, *CASES)
    (ward / "typo.csv").write_text("stay,admitted,risk\nx,2062-01-01,0.9\n")
    typo = ("monitor", "ward.voros", "--cases", "typo.csv", *CASES[2:])
    refused = voros_command(*typo)
    assert refused.code == 2
    assert "is it mistyped? --confirm-times accepts it" in refused.errors[0]
    assert "1 new case;" in voros_command(*typo, "--confirm-times").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("monitor", "none.voros"), "create it with --policy"),
        (("monitor", "policy.json"), "is not a monitor file"),
        ((*MADE, "--cases", "cases.csv"), "the policy names no model"),
        ((*MADE, *CASES[:-1], "risks"), "no column 'risks' (--score); did you mean 'risk'?"),
        ((*MADE, *CASES[:-1], "admitted"), "is named as both --time and --score"),
        ((*MADE, "--alpha", "2"), "alpha=2"),
        (("monitor", "none.voros", "--policy", "cases.csv"), "cases.csv"),
    ],
)
def test_what_is_refused_is_said_in_one_line(ward, voros_command, arguments, message):
    ran = voros_command(*arguments)
    assert ran.code == 2
    assert len(ran.errors) == 1
    assert message in ran.errors[0]


@pytest.mark.parametrize(
    "outputs",
    [
        ("-o", "ward.voros"),
        ("-o", "-"),
        ("--renew", "ward.voros"),
        ("--renew", "new.html", "-o", "new.html"),
    ],
)
def test_no_output_replaces_the_monitor_or_another_output(ward, voros_command, outputs):
    voros_command(*MADE)
    before = sorted(path.name for path in ward.iterdir()), (ward / "ward.voros").read_bytes()
    ran = voros_command("monitor", "ward.voros", *outputs, "--force")
    assert (ran.code, len(ran.errors)) == (2, 1)
    after = sorted(path.name for path in ward.iterdir()), (ward / "ward.voros").read_bytes()
    assert after == before


@pytest.mark.parametrize(
    ("option", "files"),
    [
        ("--score", "--cases or --validation"),
        ("--period", "--cases"),
        ("--by", "--cases"),
        ("--label-time", "--labels"),
    ],
)
def test_a_column_of_no_file_is_refused_and_no_file_made(ward, voros_command, option, files):
    ran = voros_command(*MADE, option, "risk")
    assert (ran.code, ran.errors) == (2, [f"voros: error: {option} requires {files}"])
    assert not (ward / "ward.voros").exists()


def test_rows_of_stays_are_fed_and_judged_by_stay(tmp_path, voros_command):
    """Thirty stays of 24 hours, alarms at hours 0 and 12, an event of every tenth at hour 20."""
    rule = voros.AlarmRule(snooze="12h", horizon="12h", lead="1h")
    columns = {"stay": [1, 1, 2, 2], "time": [0, 5, 0, 5], "score": [0.1, 0.5, 0.1, 0.1]}
    points = voros.alarm_points(**columns, events=([1], [8]), rule=rule)
    scenario = voros.Scenario(0.3, capacity=2.0, per="patient-day", cost_ratio=0.05)
    voros.ThresholdPolicy.from_points(points, scenario).to_json(tmp_path / "policy.json")
    begin = np.datetime64("2026-01-01T00", "h") + 24 * np.arange(30)
    rows = [f"{i},{first + h},0.9" for i, first in enumerate(begin) for h in range(24)]
    (tmp_path / "rows.csv").write_text("stay,time,risk\n" + "\n".join(rows) + "\n")
    rows = [
        f"{i},{first + (20 if i % 10 == 0 else 24)},{int(i % 10 == 0)}"
        for i, first in enumerate(begin)
    ]
    (tmp_path / "events.csv").write_text("stay,onset,sepsis\n" + "\n".join(rows) + "\n")
    voros_command("monitor", "ward.voros", "--policy", "policy.json", "--window", "2")
    fed = voros_command(
        "monitor", "ward.voros", "--cases", "rows.csv", "--id", "stay", "--score", "risk"
    )
    assert "720 new rows; 60 alarms" in fed.err
    labels = (
        "--labels",
        "events.csv",
        "--id",
        "stay",
        "--label",
        "sepsis",
        "--label-time",
        "onset",
    )
    untimed = voros_command("monitor", "ward.voros", *labels[:-2])
    assert untimed.errors == ["voros: error: --label-time is needed: the time of each event"]
    assert voros_command("monitor", "ward.voros", *labels).code == 0
    ran = voros_command("monitor", "ward.voros", "--now", "2026-02-10", "--check")
    assert (ran.code, "3 of 60 alarms were true" in ran.out) == (1, True)
    assert "recall: 3 of 3 events of the stays that count were caught" in ran.out
