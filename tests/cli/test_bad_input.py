"""Whatever is wrong with the input: one line that says what to do, exit code 2, nothing written."""

import json

import pytest
from cli.cases import LIMITS

from voros import Scenario, ThresholdPolicy
from voros.io import read_predictions

MILLION = 1_000_000


def listing(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


@pytest.fixture
def refused(voros_command, tmp_path):
    """Run a command that must fail, and return the one line it says."""

    def run(*arguments, stdin=None):
        before = listing(tmp_path)
        ran = voros_command(*arguments, stdin=stdin)
        assert ran.code == 2
        assert ran.out == ""
        assert len(ran.errors) == 1
        assert "Traceback" not in ran.err
        assert listing(tmp_path) == before
        return ran.errors[0]

    return run


COMMANDS = [
    ("score",),
    ("compare",),
    ("select", "-o", "policy.json"),
    ("explore", "-o", "page.html"),
    ("report", "-o", "report.html"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
class TestEveryCommand:
    def test_missing_file(self, refused, command):
        said = refused(*command, "nowhere.csv", *LIMITS)
        assert "nowhere.csv does not exist; name a file" in said

    def test_empty_file(self, refused, tmp_path, command):
        (tmp_path / "empty.csv").touch()
        assert "empty.csv is empty" in refused(*command, "empty.csv", *LIMITS)

    def test_wrong_column(self, refused, cases, command):
        said = refused(*command, cases, "--label", "dead", *LIMITS)
        assert "no column 'dead' (--label); did you mean 'died'?" in said

    def test_no_such_model(self, refused, cases, command):
        said = refused(*command, cases, "--score", "godo", *LIMITS)
        assert "no column 'godo' (--score); did you mean 'good'?" in said

    def test_labels_that_are_not_binary(self, refused, tmp_path, command):
        (tmp_path / "grades.csv").write_text("label,score\n0,0.1\n1,0.2\n2,0.3\n")
        said = refused(*command, "grades.csv", *LIMITS)
        assert "column 'label' has 3 distinct labels (0, 1, 2); two are accepted" in said


@pytest.mark.slow
def test_one_bad_number_in_a_million_rows(refused, tmp_path):
    lines = ["label,score\n", *(["0,0.25\n", "1,0.75\n"] * (MILLION // 2))]
    lines[999_998] = "1,0.7.5\n"
    (tmp_path / "million.csv").write_text("".join(lines))
    said = refused("score", "million.csv", *LIMITS)
    assert "row 999998 (line 999999), column 'score': '0.7.5' is not a number; fix" in said


@pytest.mark.parametrize(
    "command",
    [("score",), ("compare",), ("select", "-o", "policy.json"), ("report", "-o", "report.html")],
)
def test_limits_that_cannot_be_met(refused, cases, command):
    floor = ("--min-precision", "0.99", "--capacity", "0.5", "--cost-ratio", "1/9")
    said = refused(*command, cases, "--score", "useless", *floor)
    assert "The precision floor binds: the highest precision within the capacity is" in said


def test_a_capacity_below_one_case(refused, cases):
    said = refused("score", cases, "--capacity", "0.001", "--cost-ratio", "1/9")
    assert "fewer than one case" in said
    assert "The smallest capacity that admits one is 0.0025" in said


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        (("--capacity", "0.5"), "state the costs: --cost-ratio"),
        (
            ("--cost-ratio", "1/9", "--miss-costs", "9"),
            "--cost-ratio and --miss-costs are mutually exclusive",
        ),
        (("--cost-ratio", "nine"), "--cost-ratio='nine' is not a number"),
        (("--cost-ratio", "1/6:1/9"), "reversed"),
        (("--cost-ratio", "1/9", "--min-precision", "1.5"), "--min-precision=1.5; accepted is"),
        (("--cost-ratio", "1/9", "--capacity", "1.5"), "--capacity=1.5; accepted is"),
        (("--cost-ratio", "1/9", "--prevalence", "0"), "--prevalence=0.0; accepted is"),
        (("--scenario", "ward"), "--scenario requires --scenarios"),
        (("--scenarios", "none.toml"), "none.toml"),
        (("--cost-ratio", "1/9", "--json", "--csv"), "--json and --csv are mutually exclusive"),
    ],
)
def test_options_that_are_not_understood(refused, cases, limits, complaint):
    assert complaint in refused("score", cases, *limits)


def test_a_scenario_that_the_file_does_not_hold(refused, cases, tmp_path):
    (tmp_path / "limits.toml").write_text("[ward]\ncost_ratio = 0.1\n[icu]\ncost_ratio = 0.2\n")
    said = refused("score", cases, "--scenarios", "limits.toml", "--scenario", "home")
    assert "no scenario 'home'; it holds 'ward', 'icu'" in said
    assert "choose one with --scenario" in refused("score", cases, "--scenarios", "limits.toml")


def test_labels_without_a_clear_positive(refused, tmp_path):
    (tmp_path / "words.csv").write_text("state,score\nill,0.9\nwell,0.1\n")
    said = refused("score", "words.csv", "--label", "state", *LIMITS)
    assert "pass --pos-label" in said


def test_a_policy_made_for_other_columns(voros_command, refused, cases, tmp_path):
    voros_command("select", cases, "-o", "policy.json", *LIMITS)
    (tmp_path / "other.csv").write_text("risk\n0.5\n")
    said = refused("apply", "policy.json", "other.csv", "-o", "out.csv")
    assert "policy.json was made for the scores of 'good'" in said
    assert "it has 'risk'" in said
    assert "--score" in said


def test_a_policy_that_is_none(refused, cases, tmp_path):
    (tmp_path / "policy.json").write_text(json.dumps({"format": "something else"}))
    assert "is not a saved policy" in refused("apply", "policy.json", cases)
    assert "none.json" in refused("apply", "none.json", cases)


def test_a_test_file_without_the_winner(refused, cases, tmp_path):
    (tmp_path / "later.csv").write_text("died,fair\n1,0.5\n0,0.1\n")
    said = refused("select", cases, "--test", "later.csv", "-o", "policy.json", *LIMITS)
    assert "later.csv has no column 'good'" in said


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--resamples", "10"), "--resamples=10; accepted is"),
        (("--confidence-level", "1.5"), "--confidence-level=1.5; accepted is"),
        (("--weight", "fair"), "No such option: --weight"),
        (("--group", "ward"), "no column 'ward' (--group)"),
        (("--metric", "accuracy"), "accuracy"),
        (("--score", "good"), "needs at least two"),
    ],
)
def test_intervals_that_cannot_be_made(refused, cases, options, complaint):
    assert complaint in refused("compare", cases, *options, *LIMITS)


def test_groups_that_nothing_would_look_at(refused, cases):
    assert "--group requires --confidence" in refused("select", cases, "--group", "fair", *LIMITS)


def test_groups_and_the_next_cases(refused, tmp_path):
    rows = [f"{i % 2},{7 * i % 40},{i // 4}" for i in range(40)]
    (tmp_path / "patients.csv").write_text("\n".join(["died,risk,patient", *rows]))
    options = ("--group", "patient", "--confidence", "0.9", "--horizon", "50")
    assert "horizon=50 with groups" in refused("select", "patients.csv", *options, *LIMITS)


def test_a_check_without_test_cases(refused, cases):
    assert "--check requires --test" in refused("select", cases, "--check", *LIMITS)


def test_an_alarm_column_that_is_there_already(voros_command, refused, cases, tmp_path):
    voros_command("select", cases, "-o", "policy.json", *LIMITS)
    (tmp_path / "new.csv").write_text("good,alarm\n0.5,1\n")
    assert "column 'alarm' already" in refused("apply", "policy.json", "new.csv")


@pytest.mark.parametrize(
    "command",
    [
        ("select", "-o", "taken.json"),
        ("explore", "-o", "taken.html"),
        ("report", "-o", "taken.html"),
        ("report", "-o", "other.html"),
        ("select", "-o", "no/such/folder.json"),
    ],
)
def test_outputs_that_cannot_be_written(refused, cases, tmp_path, command):
    for name in ("taken.json", "taken.html", "other.json"):
        (tmp_path / name).write_text("mine")
    said = refused(*command, cases, *LIMITS)
    assert "exists already" in said or "no folder" in said


def test_a_picture_of_an_unknown_kind(refused, cases):
    assert ".png, .svg, .pdf" in refused("map", cases, "-o", "a.gif", "--cost-ratio", "1/9")


def test_a_map_needs_a_grid_and_two_models(refused, cases):
    said = refused("map", cases, "--cost-ratio", "1/9", "--min-precision", "0.5")
    assert "low:high:count" in said
    assert "at least two" in refused("map", cases, "--cost-ratio", "1/9", "--score", "good")


def test_a_policy_that_does_not_say_whose_it_is(refused, cases, tmp_path):
    predictions = read_predictions(cases)
    scenario = Scenario(0.3, 0.2, cost_ratio=(0.05, 0.2))
    policy = ThresholdPolicy.from_validation(
        predictions.labels, predictions.scores_of("good"), scenario
    )
    policy.to_json(tmp_path / "policy.json")
    assert "name the column of scores with --score" in refused("apply", "policy.json", cases)
    said = refused("apply", "policy.json", cases, "--score", "godo")
    assert "no column 'godo' (--score); did you mean 'good'?" in said
    assert "must end in one of .csv" in refused("apply", "policy.json", cases, "-o", "alarms.xls")


def test_a_long_test_file_without_the_winner(refused, tmp_path):
    rows = [f"{i},{who},{i % 2},{i % 7 + 3 * (i % 2)}" for who in "ab" for i in range(40)]
    (tmp_path / "valid.csv").write_text("\n".join(["case,who,died,risk", *rows]))
    other = "\n".join(["case,who,died,risk", *(row.replace(",b,", ",c,") for row in rows[40:])])
    (tmp_path / "test.csv").write_text(other)
    columns = ("--model", "who", "--id", "case", "--label", "died", "--score", "risk")
    said = refused("select", "valid.csv", "--test", "test.csv", *columns, *LIMITS)
    assert "test.csv has no model 'a'; it has 'c'" in said


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (("select", "--horizon", "50"), "--horizon requires --confidence"),
        (("select", "--strategy", "luck"), "--strategy='luck'"),
        (("select", "--confidence", "2"), "confidence=2"),
        (("score", "--pos-label", "ill"), "is not a number, and column 'died' holds numbers"),
        (("score", "--pos-label", "7"), "not one of the labels of column 'died'"),
    ],
)
def test_choices_that_are_not_understood(refused, cases, command, complaint):
    name, *options = command
    assert complaint in refused(name, cases, "--label", "died", *options, *LIMITS)


def test_nothing_is_left_when_every_row_has_a_gap(refused, tmp_path):
    (tmp_path / "gaps.csv").write_text("label,a,b\n1,,1\n0,2,\n")
    columns = ("--label", "label", "--score", "a", "--score", "b", "--drop-missing")
    assert "every row has a missing value" in refused("score", "gaps.csv", *columns, *LIMITS)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (("compare", "--metric", "auc"), "--metric='auc'; accepted are 'partial_voros', 'voros'"),
        (("select", "--strategy", "best"), "--strategy='best'; accepted are 'partial_voros', "),
        (("explore", "-o", "page"), "the name of a page must end in .html"),
        (("explore", "-o", "page.html", "--thin", "0"), "--thin=0; accepted is a whole number"),
        (
            ("select", "-o", "policy.json", "--json", "--csv"),
            "--json and --csv are mutually exclusive",
        ),
    ],
)
def test_options_of_single_commands(refused, cases, command, complaint):
    assert complaint in refused(*command, cases, *LIMITS)


def test_a_policy_and_cases_the_wrong_way_round(voros_command, refused, cases):
    voros_command("select", cases, "-o", "policy.json", *LIMITS)
    said = refused("apply", cases, "policy.json")
    assert "is not JSON" in said
    assert "POLICY comes before FILE" in said


def test_a_policy_in_place_of_cases(voros_command, refused, cases):
    voros_command("select", cases, "-o", "policy.json", *LIMITS)
    said = refused("score", "policy.json", "--label", "died", *LIMITS)
    assert 'policy.json has the format "voros threshold policy"' in said


def test_two_outputs_of_one_name(refused, cases, tmp_path):
    said = refused("select", cases, *LIMITS, "--blend", "b.json", "-o", tmp_path / "b.json")
    assert "b.json is named for two files" in said
    assert not (tmp_path / "b.json").exists()


def test_a_missing_label_is_not_blamed_on_the_policy(voros_command, refused, cases):
    voros_command("select", cases, "-o", "policy.json", *LIMITS)
    said = refused("apply", "policy.json", cases, "--label", "dead")
    assert "has no column 'dead' (--label)" in said
    assert "--score" not in said


@pytest.mark.parametrize(
    ("command", "opening"),
    [
        (("score", "--cost-ratio", "1e308"), "--cost-ratio holds 1e+308; accepted are"),
        (("score", "--miss-costs", "1e308"), "--miss-costs holds 1e+308; accepted are"),
        (("score", "--miss-costs", "9", "--capacity", "-1"), "--capacity=-1; accepted is"),
        (("score", "--miss-costs", "9", "--prevalence", "2"), "--prevalence=2.0; accepted is"),
        (("select", "--miss-costs", "9", "--confidence", "2"), "--confidence=2.0; accepted is"),
        (("select", "--miss-costs", "9", "--confidence", ".9", "--horizon", "0"), "--horizon=0;"),
        (("compare", "--miss-costs", "9", "--resamples", "1"), "--resamples=1; accepted is"),
    ],
)
def test_errors_of_the_library_name_the_option(refused, cases, command, opening):
    name, *options = command
    said = refused(name, cases, "--label", "died", *options)
    assert said.startswith(f"voros: error: {opening}")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("report", "-o", "r.html", "--blend", "b.json"), "No such option: --blend"),
        (("report", "-o", "r.html", "--threshold-on", "value"), "No such option: --threshold-on"),
        (("report", "-o", "r.html", "--weight", "fair"), "No such option: --weight"),
        (("worklist", "--min-recall", "0.5"), "No such option: --min-recall"),
        (("review", "--exceed", "5%"), "No such option: --exceed"),
        (("allocate", "--horizon", "500"), "No such option: --horizon"),
        (
            ("select", "--test", "cases.csv", "--test-events", "e.csv"),
            "--test-events requires --stay",
        ),
        (
            ("select", "--stay", "id", "--events", "e.csv", "--blend", "b.json"),
            "--label and --stay are mutually exclusive",
        ),
    ],
)
def test_an_option_without_effect_is_refused(refused, cases, words, complaint):
    name, *options = words
    assert complaint in refused(name, cases, "--label", "died", *options, *LIMITS)


def test_options_of_cases_are_refused_for_curves_and_for_an_empty_page(refused, cases):
    curves = ("--curves", "10:20", "--miss-costs", "9")
    assert "--label and --curves are mutually exclusive" in refused(
        "map", cases, "--label", "died", *curves
    )
    assert "--resamples needs data" in refused("explore", "-o", "p.html", "--resamples", "500")
