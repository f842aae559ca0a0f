"""The SUPPORT2 study over many random splits, to see whether one split misleads.

Run ``python benchmarks/support2_splits.py FOLDER --splits 20``: the full grid is fitted again on
each split, so it takes about two minutes of one core for each outcome and split. It can be stopped:
the same command goes on where it stopped. Both outcomes of a split come before the next split.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from voros_studies.experiments.cases import LabelledCases, split_patients
from voros_studies.experiments.experiment import RunOptions
from voros_studies.experiments.folder import open_run
from voros_studies.experiments.runs import run_grid
from voros_studies.experiments.splits import SplitCost, SplitsResult
from voros_studies.experiments.study import GUARANTEED_BY, Scored, run_study
from voros_studies.hospital.prognoses import OUTCOME_TITLES, support2_cases

TEST_RATIO = 1 / 3
"""Test cases over those that are learnt from."""


def one_split(cases: LabelledCases, root: Path, options: RunOptions) -> tuple[SplitCost, ...]:
    """Fit the grid, and deploy every strategy; without the intervals and pages of a whole study."""
    seed = options.random_state
    folder = open_run(root, cases, split_patients(cases, seed), options.identity)
    records = run_grid(folder, options.candidates, random_state=seed, jobs=options.jobs)
    done = [name for name, record in records.items() if record["status"] == "done"]
    valid, test = (Scored.read(folder, done, part) for part in ("valid", "test"))
    return tuple(SplitCost.from_deployed(one, GUARANTEED_BY) for one in run_study(valid, test))


def main() -> None:
    """Print the tables of all splits so far, after each split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--quick", action="store_true", help="fit 12 models, not 140")
    asked = parser.parse_args()
    costs: dict[str, list[tuple[SplitCost, ...]]] = {outcome: [] for outcome in OUTCOME_TITLES}
    for seed in range(asked.splits):
        options = RunOptions(quick=asked.quick, jobs=asked.jobs, random_state=seed)
        for outcome, named in OUTCOME_TITLES.items():
            root = asked.folder / outcome / f"split-{seed:02d}"
            costs[outcome].append(one_split(support2_cases(outcome), root, options))
            splits = tuple(costs[outcome])
            result = SplitsResult(f"SUPPORT2, {named}", options.scenarios, splits, TEST_RATIO)
            print(result.text(), flush=True)


if __name__ == "__main__":
    main()
