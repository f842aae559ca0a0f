"""The tables of the pages on evidence and losses hold the numbers of the CSV files beside them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "studies"
SHORT = {
    "max partial VOROS, limits tightened by 10%": "limits 10 % tighter",
    "max partial VOROS, guaranteed 95%": "guaranteed",
}


def rows_of(name):
    with (PAGES / name).open(newline="") as text:
        return list(csv.DictReader(text))


def table_rows(name):
    """The rows of all tables of a page, their cells stripped."""
    lines = (PAGES / name).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]


def number(value, decimals, sign=""):
    value = round(float(value), decimals)
    text = f"{value:{sign}.{decimals}f}".replace("0.", ".", 1)
    return text if value else text.strip("+-")


def interval(row, names, decimals, sign=""):
    estimate, low, high = (row[name] for name in names)
    bounds = f"{number(low, decimals)} to {number(high, decimals)}"
    return f"{number(estimate, decimals, sign)} ({bounds})"


def test_costs_by_scenario():
    written = table_rows("evidence.md")
    deployed, ranking = ("above", "low", "high"), ("of it ranking", "ranking low", "ranking high")
    means = [row for row in rows_of("evidence.csv") if row["data set"].startswith("mean")]
    assert len(means) == 3 * 7
    for row in means:
        strategy = SHORT.get(row["strategy"], row["strategy"])
        broken, excess = (float(row[name]) for name in ("limits broken", "excess"))
        assert [
            strategy if row["scenario"] == "1" else "",
            row["scenario"],
            interval(row, deployed, 3, "+"),
            interval(row, ranking, 3, "+"),
            f"{broken:.0%}, {excess:.1%}".replace("%", " %"),
        ] in written


def test_mean_regrets():
    written = [row[1:] for row in table_rows("evidence.md")]
    overall = [row for row in rows_of("regret.csv") if row["capacity"] == "all"]
    assert len(overall) == 13
    for row in overall[1:]:  # the first is partial VOROS, with which the others are compared
        names = ("above", "low", "high"), ("deployed above", "deployed low", "deployed high")
        assert [interval(row, one, 4, "+") for one in names] in written


@pytest.mark.parametrize(("size", "mean"), [("2500", "mean of 10"), ("10000", "mean of 4")])
def test_losses(size, mean):
    written = table_rows("training.md")
    head = next(row for row in written if row[0] == "loss, start")
    means = [
        row
        for row in rows_of("training.csv")
        if (row["cases"], row["data set"], row["scenario"]) == (size, mean, "all")
    ]
    networks = [row for row in means if row["scores"] != "trees" and row["loss"] != "log loss"]
    assert len(networks) == 20
    for row in networks:
        place = head.index(f"{row['scores']}, {int(size):,}")
        (line,) = (one for one in written if one[0] == f"{row['loss']}, {row['start']}")
        zero = interval(row, ("above", "low", "high"), 4).replace(".0000", "0")
        assert line[place] == zero
