"""A file of a band or a worklist keeps the positive label, and new cases are labelled in words."""

import json

import numpy as np
import pytest

LIMITS = ("--label", "died", "--pos-label", "yes", "--score", "risk", "--miss-costs", "9")
BAND = ("--review-capacity", "10%", "--review-cost", "1/50", "--capacity", "20%")
TIMES = ("--time", "day")


@pytest.mark.parametrize(
    ("command", "options", "times", "counts", "recall"),
    [
        ("review", BAND, (), "counts", "recall"),
        ("worklist", ("--capacity", "3/day"), TIMES, "compared", "mean_recall"),
    ],
)
def test_the_positive_label_is_kept(
    voros_command, tmp_path, command, options, times, counts, recall
):
    rng = np.random.default_rng(0)
    died = rng.random(200) < 0.3
    rows = zip(died, died + rng.normal(size=200), np.arange(200) // 20, strict=True)
    lines = (f"{'yes' if d else 'no'},{risk:.4f},2026-03-{1 + day:02d}" for d, risk, day in rows)
    (tmp_path / "words.csv").write_text("\n".join(["died,risk,day", *lines]))
    arguments = (*LIMITS, *options, *times)
    ran = voros_command(command, "words.csv", *arguments, "-o", "saved.json", "--json")
    assert ran.code == 0, ran.err
    chosen = json.loads(ran.out)[counts][0][recall]
    ran = voros_command("apply", "saved.json", "words.csv", "--label", "died", *times, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["evaluation"][recall] == pytest.approx(chosen)
    assert chosen > 0
