"""Wherever costs are compared it is said who kept the limits on the test cases."""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.test_study import some_scored

from voros_studies.experiments.labels import LABELS
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.run_summary import answers
from voros_studies.experiments.splits import SplitCost, SplitsResult
from voros_studies.experiments.splits_summary import splits_answers
from voros_studies.experiments.study import STUDIED, cost_intervals, run_study
from voros_studies.paper.cells import SCENARIOS


@pytest.fixture(scope="module")
def parts():
    return some_scored(600), some_scored(600, random_state=7)


@pytest.fixture(scope="module")
def result(parts):
    deployed = tuple(run_study(*parts))
    intervals = {
        number: cost_intervals(list(ones), parts[1], n_resamples=100)
        for number, ones in groupby(deployed, key=attrgetter("scenario"))
    }
    records = {f"m{j}": {"family": "RF", "parameters": {"max_depth": j}} for j in range(6)}
    return StudyResult("Ward", deployed, intervals, records)


def broken_by_counting(one, test):
    """Limits that some deployed threshold broke on the test cases."""
    scenario, broken = SCENARIOS[one.scenario], set()
    for threshold in one.policy.thresholds:
        alarms = test.scores[one.model] >= threshold
        if alarms.sum() > scenario.capacity * len(alarms):
            broken.add("capacity")
        if alarms.any() and test.y_true[alarms].mean() < scenario.min_precision:
            broken.add("precision")
    return broken


def limits_said(text, label):
    """What the summary says of a strategy: in its own sentence, or before the names of a group."""
    outcome = r"(kept the limits|broke the [a-z ]+ limit)"
    group = rf"{outcome}: (.*?)(?=; [a-z ]+, (?:kept|broke)|\. The)"
    own = re.search(rf"On test, {re.escape(label)} {outcome}\.", text)
    if own:
        return own[1]
    (limits,) = [
        limits
        for limits, names in re.findall(group, text)
        if re.search(rf"(^|, ){re.escape(label)}(,|$)", names)
    ]
    return limits


@pytest.mark.slow
def test_the_summary_says_of_every_strategy_whether_it_kept_the_limits(result, parts):
    said = dict(zip(result.scenarios, answers(result), strict=True))
    seen = set()
    for one in result.deployed:
        limits = limits_said(said[one.scenario], LABELS[one.strategy])
        broken = broken_by_counting(one, parts[1])
        assert (limits == "kept the limits") == (not broken)
        assert all(limit in limits for limit in broken)
        seen.add(limits)
    assert len(seen) > 1


def test_the_table_of_differences_says_so_too(result, parts):
    tables = {table.name: table for table in result.tables}
    for number in result.scenarios:
        table = tables[f"scenario_{number}_differences"]
        names = [column.key for column in table.columns]
        kept = [row[names.index("kept")] for row in table.rows]
        for text, one in zip(kept, result.deployed_in(number), strict=True):
            broken = broken_by_counting(one, parts[1])
            assert text == "yes" if not broken else all(limit in text for limit in broken)


def test_the_summary_of_splits_counts_on_how_many_the_limits_were_kept():
    rng = np.random.default_rng(0)
    splits = tuple(
        tuple(
            SplitCost(
                scenario=number,
                strategy=strategy,
                beside="partial_voros",
                model="m",
                cost=cost,
                ranking_only=cost,
                excess=0.0,
                broken=broken,
            )
            for number in SCENARIOS
            for strategy in STUDIED
            for cost, broken in [(rng.random(), ("precision",) * int(rng.random() < 0.5))]
        )
        for _ in range(7)
    )
    said = splits_answers(SplitsResult("Ward", SCENARIOS, splits, 1 / 3))
    for number, text in zip(SCENARIOS, said, strict=True):
        for strategy in STUDIED:
            kept = sum(
                not one.broken
                for split in splits
                for one in split
                if (one.scenario, one.strategy) == (number, strategy)
            )
            label = re.escape(LABELS[strategy])
            assert re.search(rf"\b{label} (\S+, )?kept the limits on {kept} of 7", text)
