"""The SUPPORT2 study over many random splits, to see whether one split misleads.

Run ``python benchmarks/support2_splits.py FOLDER --splits 20``: the full grid is fitted again on
each split, so it takes about two minutes of one core for each outcome and split. It can be stopped:
the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from voros.datasets import load_support2
from voros_studies.experiments import RunOptions
from voros_studies.experiments.rivals import compare_forecasts
from voros_studies.experiments.splits import run_splits
from voros_studies.hospital.prognoses import OUTCOME_TITLES, support2_cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--quick", action="store_true", help="fit 12 models, not 140")
    asked = parser.parse_args()
    prognoses = dict(load_support2().prognoses)
    for outcome, named in OUTCOME_TITLES.items():
        title = f"SUPPORT2, {named}"
        found = run_splits(
            title,
            support2_cases(outcome),
            asked.folder / outcome,
            RunOptions(quick=asked.quick, jobs=asked.jobs),
            n_splits=asked.splits,
            description={"experiment": "support2", "outcome": outcome},
            find_rivals=partial(compare_forecasts, title, prognoses),
        )
        print(found.text(), flush=True)


if __name__ == "__main__":
    main()
