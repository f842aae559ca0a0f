"""What voros warns of is one line on the standard error stream, said once."""

from cli.cases import LIMITS

DEAR = ("--min-precision", "0.1", "--capacity", "0.2", "--cost-ratio", "1/20:1/5")


def warnings_of(ran):
    return [line for line in ran.err.splitlines() if line.startswith("voros: warning:")]


def test_costs_beyond_the_floor_are_told_once_for_all_models(voros_command, cases):
    ran = voros_command("score", cases, "--label", "died", *DEAR)
    assert ran.code == 0
    # At a floor of 0.1 raising no alarm is the costliest choice below 0.1/0.9 only.
    (line,) = warnings_of(ran)
    assert "with a precision floor of 0.1, raising no alarm is not the worst choice" in line
    assert "at cost ratios above 0.111," in line


def test_nothing_is_said_where_nothing_is_wrong(voros_command, cases):
    assert warnings_of(voros_command("score", cases, *LIMITS)) == []


def test_a_model_without_a_feasible_threshold_stands_in_its_row(voros_command, cases):
    floor = ("--min-precision", "0.8", "--capacity", "0.2", "--cost-ratio", "1/20:1/10")
    ran = voros_command("score", cases, "--label", "died", *floor)
    assert ran.code == 0
    row = next(line for line in ran.out.splitlines() if "useless" in line)
    assert "none meets the limits" in row
    assert warnings_of(ran) == []


def test_costs_upside_down_are_told_by_the_options(voros_command, cases):
    ran = voros_command(
        "score", cases, "--label", "died", "--capacity", "0.2", "--miss-costs", "0.1"
    )
    assert ran.code == 0
    assert warnings_of(ran)[0] == (
        "voros: warning: --miss-costs 0.1 says that a miss costs as little as 0.1 false alarms. If "
        "a false alarm costs 0.1 of a miss, write --cost-ratio 0.1"
    )
    ran = voros_command(
        "score", cases, "--label", "died", "--capacity", "0.2", "--cost-ratio", "5:9"
    )
    assert "--cost-ratio 5:9 says that a false alarm costs 5 to 9 times" in warnings_of(ran)[0]
    assert "write --miss-costs 5:9" in warnings_of(ran)[0]
