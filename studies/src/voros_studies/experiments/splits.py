"""A study on many random splits, because one split can mislead."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from voros import Scenario
from voros.core.arguments import check_count
from voros.installing import package_versions
from voros.text.signatures import takes
from voros.typing import BoolArray, FloatArray
from voros_studies.experiments.cases import LabelledCases, Split, split_around_test, split_patients
from voros_studies.experiments.experiment import RunOptions, run_experiment
from voros_studies.experiments.folder import save, save_json
from voros_studies.experiments.labels import LABELS, scenario_in_words
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.rivals import SELECTED, Rivals
from voros_studies.experiments.study import GUARANTEED_BY, STUDY_CONFIDENCE, CostInterval, Deployed
from voros_studies.paper.cells import ScenarioName
from voros_studies.paper.paper_tables import ShownAsTables
from voros_studies.tables import Absent, Column, Table, Value

SAME = 1e-12
"""Smaller differences in cost mean the same choice."""

SPLIT_FILE = "split.json"
"""Written last, so its presence means that a split is finished."""

DRAWS_FILE = "resampled_costs.npy"
"""A row for each cost of the split: on the test cases, then on their resamples."""


@dataclass(frozen=True, kw_only=True)
class SplitCost:
    """The result of one strategy or forecast on the test part of one split.

    ``beside`` is the cost it is compared with; ``ranking_only`` and ``excess`` as in `Deployed`.
    """

    scenario: ScenarioName
    strategy: str
    beside: str
    model: str
    cost: float
    ranking_only: float
    excess: float
    broken: tuple[str, ...]

    @classmethod
    def from_deployed(cls, one: Deployed, beside: str) -> SplitCost:
        """Return the costs of a deployed policy that are compared over splits."""
        broken = tuple(violation.limit for violation in one.test.violations)
        return cls(
            scenario=one.scenario,
            strategy=one.strategy,
            beside=beside,
            model=one.model,
            cost=one.test.expected_cost,
            ranking_only=one.ranking_only,
            excess=one.excess,
            broken=broken,
        )


def read_costs(records: Iterable[Mapping[str, Any]]) -> tuple[SplitCost, ...]:
    """Read back the costs of a split."""
    return tuple(SplitCost(**{**one, "broken": tuple(one["broken"])}) for one in records)


@dataclass(frozen=True, eq=False, repr=False)
class SplitsResult(ShownAsTables):
    """The costs of each split, and the tables over all of them.

    ``test_ratio`` is the size of the test part over that of the other two, which is what the
    corrected interval needs. Where all splits have the same test cases, ``draws`` holds for each
    split, in the order of its costs, the cost and those of the resamples of the test cases.
    """

    title: str
    scenarios: Mapping[ScenarioName, Scenario]
    splits: tuple[tuple[SplitCost, ...], ...]
    test_ratio: float
    draws: tuple[FloatArray, ...] = ()

    @property
    def tables(self) -> tuple[Table, ...]:
        """One table for each scenario and comparison."""
        seen = dict.fromkeys((one.beside, one.scenario) for one in self.splits[0])
        return tuple(self._table(beside, number) for beside, number in seen)

    def deployed_in(self, beside: str, scenario: ScenarioName) -> dict[str, list[SplitCost]]:
        """Return the results on every split by strategy."""
        by_strategy: dict[str, list[SplitCost]] = {}
        for split in self.splits:
            for one in split:
                if (one.beside, one.scenario) == (beside, scenario):
                    by_strategy.setdefault(one.strategy, []).append(one)
        return by_strategy

    def excess(self, beside: str, scenario: ScenarioName, strategy: str) -> CostInterval:
        """Return the mean difference in cost of a strategy, with its interval."""
        if self.draws:
            return fixed_test_interval(self._resampled(beside, scenario, strategy))
        return corrected_interval(self._differences(beside, scenario, strategy), self.test_ratio)

    @property
    def n_splits_in_words(self) -> str:
        """Such as ``"20 splits"``."""
        n = len(self.splits)
        return f"{n} split{'' if n == 1 else 's'}"

    @property
    def interval_method(self) -> str:
        """Method of the intervals of the differences."""
        if self.draws:
            return "for the test patients, whom all splits share, and for how splits differ"
        return "corrected for the patients that splits share"

    def _resampled(self, beside: str, scenario: ScenarioName, strategy: str) -> FloatArray:
        """Return the difference on each split (rows): as it is, then on every resample."""
        differences = []
        for split, draws in zip(self.splits, self.draws, strict=True):
            named = {(one.beside, one.scenario, one.strategy): i for i, one in enumerate(split)}
            own, other = (named[beside, scenario, name] for name in (strategy, beside))
            differences.append(draws[own] - draws[other])
        return np.array(differences)

    def _differences(self, beside: str, scenario: ScenarioName, strategy: str) -> FloatArray:
        costs = self.deployed_in(beside, scenario)
        return np.array(
            [a.cost - b.cost for a, b in zip(costs[strategy], costs[beside], strict=True)]
        )

    def _table(self, beside: str, number: ScenarioName) -> Table:
        label = LABELS.get(beside, beside)
        columns = (
            Column("forecast" if beside == SELECTED else "strategy"),
            Column("mean test cost", "cost"),
            Column("ranking only", "ranking_only"),
            Column(f"above {label}", "excess"),
            Column("low"),
            Column("high"),
            *(Column(name, decimals=0) for name in ("more costly", "same", "less costly")),
            *(Column(f"{name} kept", decimals=0) for name in ("precision", "capacity", "both")),
        )
        rows = tuple(
            self._row(beside, number, strategy) for strategy in self.deployed_in(beside, number)
        )
        asked = scenario_in_words(self.scenarios[number])
        kind = "forecasts" if beside == SELECTED else "strategies"
        title = (
            f"{self.title}, {self.n_splits_in_words}, scenario {number}: {asked}; number of "
            f"splits on which it cost more and kept the limits, {STUDY_CONFIDENCE:.0%} intervals "
            f"{self.interval_method}"
        )
        return Table(columns, rows, title, f"splits_{kind}_{number}")

    def _row(self, beside: str, number: ScenarioName, strategy: str) -> tuple[Value, ...]:
        costs = self.deployed_in(beside, number)[strategy]
        more = self._differences(beside, number, strategy)
        mean = self.excess(beside, number, strategy)
        bounds: list[Value] = [mean.low, mean.high]
        if math.isnan(mean.low):
            bounds = [Absent("an interval needs two splits")] * 2
        broken = [set(one.broken) for one in costs]
        return (
            LABELS.get(strategy, strategy),
            float(np.mean([one.cost for one in costs])),
            float(np.mean([one.ranking_only for one in costs])),
            mean.estimate,
            *bounds,
            *(float(held.sum()) for held in (more > SAME, abs(more) <= SAME, more < -SAME)),
            *(float(sum(limit not in b for b in broken)) for limit in ("precision", "capacity")),
            float(sum(not b for b in broken)),
        )


def corrected_interval(differences: FloatArray, test_ratio: float) -> CostInterval:
    """Return the mean of differences over splits, and its corrected resampled t interval.

    The splits share patients, so their differences are not independent: Nadeau and Bengio (2003)
    take (1/J + test/learning) s^2 as the variance of the mean of J, rather than s^2/J. What is
    learnt from is the training and the validation part.

    Examples
    --------
    >>> result = corrected_interval(np.array([0.1, 0.2, 0.3]), test_ratio=1 / 3)
    >>> round(result.estimate, 3), round(result.low, 3), round(result.high, 3)
    (0.2, -0.151, 0.551)
    """
    mean, n = float(differences.mean()), len(differences)
    if n < 2:
        return CostInterval(mean, math.nan, math.nan)
    error = math.sqrt((1 / n + test_ratio) * float(differences.var(ddof=1)))
    half = error * float(stats.t.ppf((1 + STUDY_CONFIDENCE) / 2, n - 1))
    return CostInterval(mean, mean - half, mean + half)


def fixed_test_interval(differences: FloatArray) -> CostInterval:
    """Return the mean of differences over splits that have one test set, and its interval.

    ``differences`` has a row for each split: the difference, then that of every resample of the
    test cases, the same resamples in each row. Of two independent errors one is that of the test
    cases, by percentiles of the mean over splits; the other is that of training and validation, by
    a t interval over splits. Their distances from the mean add as squares (MOVER). The cases that
    are split into training and validation are taken as given.

    Examples
    --------
    Splits that agree leave the error of the test cases alone:

    >>> fixed_test_interval(np.array([[0.2, 0.1, 0.3, 0.2], [0.2, 0.1, 0.3, 0.2]]))
    CostInterval(estimate=0.2, low=0.105, high=0.295)
    """
    of_test = CostInterval.from_draws(differences.mean(axis=0))
    of_splits = corrected_interval(differences[:, 0], test_ratio=0.0)
    mean, half = of_test.estimate, of_splits.high - of_splits.estimate
    low, high = (math.hypot(mean - end, half) for end in (of_test.low, of_test.high))
    return CostInterval(mean, mean - low, mean + high)


@takes(run_experiment, leave_out=("split",))
def run_splits(
    title: str,
    cases: LabelledCases,
    root: Path,
    options: RunOptions,
    *,
    n_splits: int,
    description: Mapping[str, Any],
    test: BoolArray | None = None,
    **study: Any,
) -> SplitsResult:
    """Run a study on splits of consecutive seeds, each in a folder of its own, and compare.

    A finished split is not run again. ``test`` says which cases are the test part of every split;
    without it the test part is drawn again for each. The other parameters are those of
    `run_experiment`.
    """
    check_count(n_splits, "n_splits", "a whole number of at least 1")
    make_split: Callable[[int], Split] = (
        partial(split_patients, cases) if test is None else partial(split_around_test, cases, test)
    )
    splits: list[tuple[SplitCost, ...]] = []
    draws: list[FloatArray] = []
    for seed in range(options.random_state, options.random_state + n_splits):
        own, split = replace(options, random_state=seed), make_split(seed)
        folder = root / f"split-{seed:02d}"
        identity = _identity(cases, description, own)
        held = _finished(folder, identity)
        options.announce(f"split {seed}: {folder}{', finished before' if held else ''}")
        if held is None:
            result = run_experiment(
                title, cases, folder, own, description=description, split=split, **study
            )
            held = _save_split(folder, identity, result)
        splits.append(held)
        if test is not None:
            draws.append(np.load(folder / DRAWS_FILE))
    ratio = len(split.test) / (len(cases) - len(split.test))
    return SplitsResult(title, options.scenarios, tuple(splits), ratio, tuple(draws))


def _save_split(
    folder: Path, identity: Mapping[str, Any], result: StudyResult
) -> tuple[SplitCost, ...]:
    """Save the costs that are compared over splits, and their resamples in the same order."""
    compared: dict[str, StudyResult | Rivals] = {GUARANTEED_BY: result}
    if result.rivals is not None:
        compared[SELECTED] = result.rivals
    costs: list[SplitCost] = []
    draws: list[FloatArray] = []
    for beside, held in compared.items():
        costs += [SplitCost.from_deployed(one, beside) for one in held.deployed]
        draws += [held.intervals[one.scenario][one.strategy].draws for one in held.deployed]
    packed = io.BytesIO()
    np.save(packed, np.array(draws))
    save(folder / DRAWS_FILE, packed.getvalue())
    listed = [asdict(one) for one in costs]
    save_json(folder / SPLIT_FILE, {"identity": identity, "costs": listed})
    return tuple(costs)


def _identity(
    cases: LabelledCases, description: Mapping[str, Any], options: RunOptions
) -> dict[str, Any]:
    return {
        "fingerprint": cases.fingerprint,
        **description,
        **options.identity,
        "candidates": len(options.candidates),
        "version": package_versions("voros")["voros"],
    }


def _finished(folder: Path, identity: Mapping[str, Any]) -> tuple[SplitCost, ...] | None:
    path = folder / SPLIT_FILE
    held = json.loads(path.read_text()) if path.exists() else {}
    if held.get("identity") != identity or not (folder / DRAWS_FILE).exists():
        return None
    return read_costs(held["costs"])
