"""Limits and costs as people write them, and the TOML file that holds them."""

from fractions import Fraction

import pytest

from voros import Scenario, costs
from voros.io.scenario_file import read_scenarios
from voros.io.scenario_text import read_capacity, read_range, scenario_from_fields


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"cost_ratio": "1/9:1/6"}, Scenario(cost_ratio=(1 / 9, 1 / 6))),
        ({"cost_ratio": "1/30"}, Scenario(cost_ratio=1 / 30)),
        ({"cost_ratio": [0.1, 0.2]}, Scenario(cost_ratio=(0.1, 0.2))),
        ({"miss_costs": "20:40"}, Scenario(cost_ratio=costs.miss_costs(20, 40))),
        ({"miss_costs": 30}, Scenario(cost_ratio=costs.miss_costs(30))),
        ({"t": "0:1"}, Scenario(cost_ratio=costs.uniform_t(0, 1))),
        (
            {"min_precision": "15%", "capacity": "500", "cost_ratio": 0.1, "prevalence": "1/8"},
            Scenario(0.15, 500, 0.1, 0.125),
        ),
        ({"capacity": "50%", "cost_ratio": "0.1"}, Scenario(0.0, 0.5, 0.1)),
    ],
)
def test_fields(fields, expected):
    assert scenario_from_fields(fields) == expected


def test_fractions_are_read_exactly():
    low, high = read_range("1/9:1/6", "cost_ratio")
    assert (low, high) == (float(Fraction(1, 9)), float(Fraction(1, 6)))


def test_a_whole_capacity_counts_cases_and_a_decimal_is_a_share():
    assert isinstance(read_capacity("1"), int)
    assert isinstance(read_capacity("1.0"), float)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({}, "state the costs: cost_ratio .* or miss_costs"),
        (
            {"cost_ratio": "1/9", "miss_costs": "9"},
            "cost_ratio and miss_costs are mutually exclusive",
        ),
        ({"cost_ratio": "a"}, "cost_ratio='a' is not a number"),
        ({"cost_ratio": "1/0"}, "cost_ratio='1/0' is not a number"),
        ({"cost_ratio": "1:2:3"}, "two as in 1/9:1/6"),
        ({"miss_costs": "40:20"}, "reversed"),
        ({"cost_ratio": 0.1, "min_precision": "150%"}, "min_precision=1.5; accepted"),
        ({"cost_ratio": 0.1, "capacity": "-5"}, "capacity=-5; accepted"),
        ({"cost_ratio": 0.1, "min_f1": 0.5}, "'min_f1' is not a limit"),
    ],
)
def test_fields_that_are_not_understood(fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        scenario_from_fields(fields)


def test_a_file_of_scenarios(tmp_path):
    path = tmp_path / "limits.toml"
    path.write_text(
        '[ward]\nmin_precision = 0.15\ncapacity = 0.5\ncost_ratio = "1/9:1/6"\n\n'
        "[icu]\nmin_precision = 0.5\ncapacity = 40\nmiss_costs = [20, 40]\nprevalence = 0.08\n"
    )
    assert read_scenarios(path) == {
        "ward": Scenario(0.15, 0.5, (1 / 9, 1 / 6)),
        "icu": Scenario(0.5, 40, costs.miss_costs(20, 40), 0.08),
    }


def test_a_file_names_scenarios_in_the_units_of_their_costs(tmp_path):
    path = tmp_path / "limits.toml"
    path.write_text(
        '["the big ward"]\nmin_precision = 0.5\ncapacity = 40\nmiss_costs = [20, 40]\n'
        "prevalence = 0.08\n[night]\ncost_ratio = 0.1\n",
        encoding="utf-8",
    )
    assert read_scenarios(path) == {
        "the big ward": Scenario(0.5, 40, costs.miss_costs(20, 40), 0.08),
        "night": Scenario(cost_ratio=0.1),
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "names no scenario"),
        ("capacity = 3\n", "'capacity' stands outside any scenario"),
        ("[ward\n", "is not TOML"),
        ("[ward]\ncapacity = 0.5\n", "scenario 'ward': state the costs: "),
    ],
)
def test_files_that_are_not_understood(tmp_path, text, complaint):
    path = tmp_path / "limits.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=complaint):
        read_scenarios(path)
