"""A capacity per day on the command line, against counting by hand."""

import csv
import json
from collections import Counter
from datetime import datetime, timedelta

import numpy as np
import pytest
from cli.cases import write_cases

from voros import Scenario, ThresholdPolicy, compare, costs, evaluate, worklist
from voros.io import read_predictions

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COSTS = ("--miss-costs", "5:20")
DAILY = ("--capacity", "2/day", "--time", "admitted")


@pytest.fixture
def admissions(tmp_path):
    """Cases with the time of admission, in UTC, and a ward; no case on the third day."""
    plain = write_cases(tmp_path / "plain.csv").read_text().splitlines()
    rng = np.random.default_rng(7)
    start = datetime(2024, 3, 30, 22, 30)
    lines = [f"{plain[0]},admitted,ward"]
    for row, line in enumerate(plain[1:]):
        day = int(rng.integers(0, 19))
        time = start + timedelta(days=day + (day > 1), minutes=int(rng.integers(0, 60)))
        lines.append(f"{line},{time.isoformat()}+00:00,ward {row % 8}")
    (tmp_path / "plain.csv").unlink()
    path = tmp_path / "admissions.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def by_day(path, threshold, hours=0):
    """Count alarms of each day, a fixed number of hours from UTC."""
    counts = Counter()
    with path.open() as file:
        for row in csv.DictReader(file):
            time = datetime.fromisoformat(row["admitted"]) + timedelta(hours=hours)
            counts[time.date()] += float(row["good"]) >= threshold
    return counts


def test_shifts_are_read_off_times_at_the_usual_hours_and_at_others(voros_command, admissions):
    for per, note in (("shift", "2024-03-30T15:00"), ("shift 06:00,18:00", "2024-03-30T18:00")):
        ran = voros_command(
            *("score", admissions, "--score", "good", "--label", "died", *COSTS, "--json"),
            *("--capacity", f"1/{per}", "--time", "admitted"),
        )
        assert ran.code == 0
        cases = read_predictions(admissions, scores=["good"], label="died", time="admitted")
        scenario = Scenario(capacity=1, per=per, cost_ratio=costs.miss_costs(5, 20))
        evaluation = evaluate(cases.labels, cases.scores_of("good"), scenario, times=cases.times)
        assert json.loads(ran.out)["models"][0]["partial_voros"] == evaluation.score
        assert f"shifts from {note} to" in ran.err


def test_a_policy_per_day_is_chosen_saved_tested_and_applied(voros_command, admissions):
    limits = ("--capacity", "2/day", "--exceed", "10%", "--time", "admitted", *COSTS)
    ran = voros_command(
        *("select", admissions, "--score", "good", "--label", "died", "-o", "policy.json"),
        *(*limits, "--test", admissions, "--json"),
    )
    assert ran.code == 0
    document = json.loads(ran.out)
    policy = ThresholdPolicy.from_json(admissions.parent / "policy.json")
    assert policy.scenario.changed(cost_ratio=1.0) == Scenario(
        capacity=2, cost_ratio=1.0, per="day", exceed=0.1
    )
    assert policy.origin.n_periods == 20
    counts = by_day(admissions, policy.threshold())
    above = sum(count > 2 for count in counts.values())
    assert document["test_default"]["by_period"]["n_above"] == [above]
    assert above <= 2
    assert "20 days from 2024-03-30 to 2024-04-18, 1 of them without a case" in ran.err
    applied = voros_command("apply", "policy.json", admissions, "--time", "admitted", "--json")
    verdict = json.loads(applied.out)
    assert verdict["kept"]
    assert (verdict["periods"], verdict["periods_above"]) == (20, above)
    labelled = voros_command(
        "apply", "policy.json", admissions, "--time", "admitted", "--label", "died", "--json"
    )
    assert json.loads(labelled.out)["periods_above"] == above


def test_days_begin_by_the_clock_that_is_named(voros_command, admissions, tmp_path):
    """22:30 UTC is 23:30 in Berlin on the 30th of March, and 00:30 from the 31st on."""
    choice = ("--score", "good", "--label", "died", "--capacity", "2/day", "--json", *COSTS)
    table = parquet_of(admissions, tmp_path / "cases.parquet")
    for path in (admissions, table):
        ran = voros_command(
            "score", path, *choice, "--time", "admitted", "--time-zone", "Europe/Berlin"
        )
        assert ran.code == 0
        assert "from 2024-03-30 to 2024-04-19" in ran.err
        assert "the clock of Europe/Berlin" in ran.err
        assert json.loads(ran.out)["scenario"]["per"] == "day"


def parquet_of(path, target):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    times = [datetime.fromisoformat(row["admitted"]) for row in rows]
    columns = {name: [float(row[name]) for row in rows] for name in ("died", "good")}
    stamps = pa.array(times, type=pa.timestamp("us", tz="UTC"))
    parquet.write_table(pa.table(columns | {"admitted": stamps}), target)
    return target


def test_any_column_is_a_period(voros_command, admissions):
    ran = voros_command(
        *("score", admissions, "--score", "good", "--label", "died", "--json", *COSTS),
        *("--capacity", "5/ward", "--exceed", "0", "--period", "ward"),
    )
    assert ran.code == 0
    (choice,) = json.loads(ran.out)["models"][0]["choices"]
    with admissions.open() as file:
        flagged = Counter(
            row["ward"] for row in csv.DictReader(file) if float(row["good"]) >= choice["threshold"]
        )
    assert max(flagged.values()) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "--capacity", "2/day"), "requires the column of times (--time) or periods"),
        (
            ("score", "--capacity", "2", "--time", "admitted"),
            "--time requires a capacity per period",
        ),
        (
            ("score", "--capacity", "2/day", "--time", "admitted", "--period", "ward"),
            "periods (--period), not both",
        ),
        (("score", "--capacity", "2/day", "--period", "ward", "--time-zone", "UTC"), "--time-zone"),
        (("score", "--capacity", "2/ward", "--time", "admitted"), "is not a calendar period"),
        (("score", "--capacity", "2/day", "--time", "ward"), "--time[0]='ward 0' is not a time"),
        (("score", "--capacity", "20%/day", "--time", "admitted"), "a whole number of alarms"),
        (
            ("score", "--capacity", "0.2", "--exceed", "5%"),
            "--exceed=0.05 requires a capacity per period, such as --capacity 20/day",
        ),
        (
            ("score", "--capacity", "2/day", "--time", "admitted", "--engine", "duckdb"),
            "--engine cannot count by period",
        ),
        (("compare", "--capacity", "2/day"), "times (--time) or periods (--period)"),
        (("compare", *DAILY, "--group", "ward"), "are mutually exclusive"),
        (
            ("review", "--capacity", "2/day", "--review-capacity", "5", "--review-cost", "0.01"),
            "--capacity per day is not kept by a review band",
        ),
        (("report", "--capacity", "2/day", "-o", "a.html"), "times (--time) or periods (--period)"),
        (
            ("report", *DAILY, "-o", "a.html", "--group", "ward"),
            "--group and a capacity per day are mutually exclusive",
        ),
        (
            ("explore", "--capacity", "2/day", "-o", "a.html"),
            "times (--time) or periods (--period)",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(voros_command, admissions, arguments, message):
    command, *rest = arguments
    ran = voros_command(command, admissions, "--label", "died", "--score", "good", *rest, *COSTS)
    assert ran.code == 2
    (line,) = ran.errors
    assert message in line


@pytest.mark.slow
@pytest.mark.parametrize("rule", [(), ("--exceed", "10%")])
def test_a_report_resamples_days(voros_command, admissions, rule):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    ran = voros_command(
        *("report", admissions, "--label", "died", "--score", "good", "--score", "fair"),
        *(*DAILY, *rule, *COSTS, "--test", admissions, "--resamples", "100", "-o", "choice.html"),
    )
    assert ran.code == 0
    document = json.loads((admissions.parent / "choice.json").read_text())
    first = document["ranking"][0]
    assert first["estimate"] == first["partial_voros"]
    page = (admissions.parent / "choice.html").read_text()
    assert "100 resamples of the periods (per day)" in page
    words = "on average"
    if rule:
        words += " and in all but 10 % of the periods"
    assert f"at most 40 of 400 cases (2 per day, {words})" in page


@pytest.mark.parametrize("rule", [(), ("--exceed", "10%")])
def test_models_are_compared_on_whole_days(voros_command, admissions, rule):
    ran = voros_command(
        *("compare", admissions, "--label", "died", "--score", "good", "--score", "fair"),
        *(*DAILY, *rule, *COSTS, "--resamples", "100", "--json"),
    )
    assert ran.code == 0
    cases = read_predictions(admissions, label="died", time="admitted")
    scores = {name: cases.scores_of(name) for name in ("good", "fair")}
    exceed = 0.1 if rule else None
    scenario = Scenario(capacity=2, cost_ratio=costs.miss_costs(5, 20), per="day", exceed=exceed)
    options = {"times": cases.times, "n_resamples": 100, "random_state": 0}
    comparison = compare(cases.labels, scores, scenario, **options)
    for row in json.loads(ran.out)["models"]:
        own = comparison.models[row["model"]]
        assert (row["estimate"], row["low"], row["high"]) == (own.estimate, own.low, own.high)


@pytest.mark.slow
def test_a_scenario_file_states_a_capacity_per_period(voros_command, admissions):
    toml = admissions.parent / "limits.toml"
    toml.write_text('[ward]\ncapacity = "2/day"\nexceed = "5%"\nmiss_costs = [5, 20]\n')
    choice = ("--label", "died", "--score", "good", "--time", "admitted", "--json")
    ran = voros_command("score", admissions, "--scenarios", toml, *choice)
    assert ran.code == 0
    assert json.loads(ran.out)["scenario"]["exceed"] == 0.05
    weekly = voros_command(
        "score", admissions, "--scenarios", toml, "--capacity", "9/week", *choice
    )
    scenario = json.loads(weekly.out)["scenario"]
    assert (scenario["capacity"], scenario["per"], scenario["exceed"]) == (9, "week", 0.05)


def test_a_worklist_is_compared_with_the_threshold_policy_and_written(voros_command, admissions):
    words = ("--label", "died", "--score", "good", *DAILY, "--exceed", "0", *COSTS)
    ran = voros_command("worklist", admissions, *words, "--json")
    assert ran.code == 0
    document = json.loads(ran.out)
    cases = read_predictions(admissions, label="died", scores=["good"], time="admitted")
    scenario = Scenario(capacity=2, cost_ratio=costs.miss_costs(5, 20), per="day", exceed=0.0)
    daily_list = worklist(cases.positive, cases.scores_of("good"), scenario, times=cases.times)
    assert document["threshold"] == daily_list.threshold
    assert document["policy_threshold"] == daily_list.policy.threshold()
    listed, policy = document["compared"]
    assert listed["mean_recall"] > policy["mean_recall"]
    table = voros_command("worklist", admissions, *words, "-o", "list.json")
    applied = voros_command(
        "apply", "list.json", admissions, "--time", "admitted", "-o", "list.csv"
    )
    assert "capacity 2 per day, in every one: kept" in applied.err
    assert "the 2 highest scores of each day, if at least 1.49...\n" in table.out
    assert "the list is full in" in table.out
    counts = Counter()
    with (admissions.parent / "list.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        counts[row["admitted"][:10]] += int(row["alarm"])
    assert max(counts.values()) == 2
    assert sum(counts.values()) == listed["mean_alarms"]
    # By hand: of each day the highest scores from the threshold on.
    for day in counts:
        of_day = sorted((float(r["good"]) for r in rows if r["admitted"][:10] == day), reverse=True)
        assert counts[day] == sum(score >= daily_list.threshold for score in of_day[:2])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--capacity", "2"), "a worklist requires a capacity per period"),
        ((*DAILY, "--score", "fair"), "a list is of one model"),
    ],
)
def test_a_worklist_says_what_is_missing(voros_command, admissions, words, message):
    ran = voros_command(
        "worklist", admissions, "--label", "died", "--score", "good", *words, *COSTS
    )
    assert ran.code == 2
    assert message in ran.err


def test_a_page_of_days_opens_with_their_rule(voros_command, admissions):
    words = ("--label", "died", "--score", "good", *DAILY, "--exceed", "10%", *COSTS)
    ran = voros_command("explore", admissions, *words, "-o", "page.html")
    assert ran.code == 0
    page = (admissions.parent / "page.html").read_text()
    assert '"per":"day","exceed":0.1' in page
    assert '"periods":{"n":20' in page
    empty = voros_command("explore", "--capacity", "2/day", *COSTS, "-o", "none.html")
    assert empty.code == 2
    assert "a page without data counts no periods" in empty.err
