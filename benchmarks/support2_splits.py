"""The SUPPORT2 study over many random splits, to see whether one split tells the truth.

Run ``python benchmarks/support2_splits.py --splits 20``: the full grid is fitted anew on each
split, so it takes about two minutes of one core for each outcome and split.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from voros.studies.experiments.cases import split_patients
from voros.studies.experiments.folder import open_run
from voros.studies.experiments.grid import paper_grid
from voros.studies.experiments.runs import run_grid
from voros.studies.experiments.study import STUDIED, Deployed, Scored, run_study
from voros.studies.hospital.prognoses import OUTCOMES, support2_cases
from voros.text.table import Table

SAME = 1e-12
"""Costs nearer than this are of the same choice."""


def study_split(outcome: str, seed: int, jobs: int | None) -> list[Deployed]:
    cases = support2_cases(outcome)
    split = split_patients(cases, seed)
    with tempfile.TemporaryDirectory() as place:
        folder = open_run(Path(place), cases, split, {"outcome": outcome, "seed": seed})
        names = list(run_grid(folder, paper_grid(), random_state=seed, jobs=jobs))
        valid, test = (Scored.read(folder, names, part) for part in ("valid", "test"))
    return run_study(valid, test)


def collect(found: list[Deployed]) -> dict[str, tuple[float, float, bool]]:
    return {
        f"{one.scenario} {one.strategy}": (
            one.test.expected_cost,
            one.cost_aware_test,
            one.test.satisfied,
        )
        for one in found
    }


def table(splits: list[Mapping[str, tuple[float, float, bool]]], scenario: int) -> str:
    rows: list[tuple[str, ...]] = [
        ("strategy", "cost", "by cost", "more", "dearer", "same", "cheaper", "limits kept")
    ]
    cost = {
        s: np.array([split[f"{scenario} {s}"] for split in splits], dtype=float) for s in STUDIED
    }
    for strategy, values in cost.items():
        more = values[:, 0] - cost["partial_voros"][:, 0]
        counts = ((more > SAME).sum(), (abs(more) <= SAME).sum(), (more < -SAME).sum())
        rows.append(
            (
                strategy,
                *(f"{mean:.3f}" for mean in values[:, :2].mean(axis=0)),
                f"{more.mean():+.3f}",
                *(f"{count}/{len(splits)}" for count in counts),
                f"{int(values[:, 2].sum())}/{len(splits)}",
            )
        )
    return Table.from_rows(rows).text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--save", type=Path, default=None, help="write every number as JSON")
    asked = parser.parse_args()
    everything: dict[str, list[Mapping[str, tuple[float, float, bool]]]] = defaultdict(list)
    for outcome in OUTCOMES:
        for seed in range(asked.splits):
            everything[outcome].append(collect(study_split(outcome, seed, asked.jobs)))
            if asked.save:
                asked.save.write_text(json.dumps(everything))
        for scenario in (1, 2):
            print(f"{outcome}, scenario {scenario}, {asked.splits} splits")
            print(table(everything[outcome], scenario), flush=True)


if __name__ == "__main__":
    main()
