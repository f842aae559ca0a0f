"""Run the study: two files for each split of each data set, then tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from voros import Scenario
from voros.core.arguments import check_count
from voros.installing import package_versions
from voros.progress import progress_bar
from voros_studies.evidence.figure import draw_evidence, draw_regrets
from voros_studies.evidence.fits import fitted_or_read
from voros_studies.evidence.mean_regret import MeanRegret, mean_regrets, regret_table
from voros_studies.evidence.one_split import FITTED, evidence_grid, fitted_scenario, run_split
from voros_studies.evidence.regret import Regret, regrets_of_split
from voros_studies.evidence.sources import DataSet
from voros_studies.evidence.summary import Difference, compare_all, evidence_table
from voros_studies.experiments.cases import TRAIN_SHARE
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import finished_or_computed, save
from voros_studies.experiments.grid import Candidate
from voros_studies.experiments.splits import SplitsResult, read_costs
from voros_studies.experiments.study import check_scenarios
from voros_studies.paper.cells import SCENARIOS, ScenarioName
from voros_studies.paper.paper_tables import ShownAsTables, table_files
from voros_studies.tables import Table

N_SPLITS = 10
TEST_SHARE = (1 - TRAIN_SHARE) / 2

Record = Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class EvidenceResult(ShownAsTables):
    """Differences of every data set, mean regrets, and the seconds it took.

    Examples
    --------
    >>> [table.name for table in EvidenceResult([], [], seconds=2.0).tables]
    ['evidence', 'regret']
    """

    differences: Sequence[Difference]
    regrets: Sequence[MeanRegret]
    seconds: float

    @property
    def tables(self) -> tuple[Table, ...]:
        """The differences, then the regrets."""
        return evidence_table(self.differences), regret_table(self.regrets)


def run_evidence(
    datasets: Sequence[DataSet],
    out: str | Path,
    *,
    n_splits: int = N_SPLITS,
    candidates: Sequence[Candidate] | None = None,
    scenarios: Mapping[ScenarioName, Scenario] | None = None,
    progress: bool | Callable[[int, int], None] = False,
) -> EvidenceResult:
    """Compare the strategies on every split of every data set, and write everything to a folder.

    Each split has a file of scores and one of results, written whole; files that exist are
    kept. The first split of all data sets comes before the second, so that an interrupted run is a
    smaller study.

    Parameters
    ----------
    datasets : sequence of DataSet
        As `voros_studies.evidence.sources.find_datasets` reads them.
    out : path-like
    n_splits : int, default 10
        Seeds 0 to n_splits - 1.
    candidates : sequence of Candidate, optional
        Models to choose from; 12 cheap ones by default.
    scenarios : mapping of names to Scenario, optional
        In place of the paper's two and the one that is fitted to each data set. The regrets keep
        their own grid of limits.
    progress : bool or callable
        Show a bar, or call a function with the splits done and their number.

    Returns
    -------
    EvidenceResult

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from voros_studies.evidence.sources import DataSet
    >>> from voros_studies.experiments import LabelledCases
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> cases = LabelledCases(X[:, :1], X.sum(axis=1) > 1, np.arange(400), ("lactate",))
    >>> ward, model = DataSet("ward", "a ward", cases), Candidate("LR", {"max_iter": 50, "C": 1})
    >>> result = run_evidence([ward], tempfile.mkdtemp(), n_splits=2, candidates=[model])
    ... # doctest: +SKIP
    >>> len(result.differences), result.differences[0].n  # doctest: +SKIP
    (21, 2)
    """
    if not datasets:
        raise ExperimentError("no data set was found; at least one is needed")
    check_count(n_splits, "n_splits", "a whole number of at least 1")
    check_scenarios(scenarios or SCENARIOS)
    root, grid = Path(out), evidence_grid() if candidates is None else tuple(candidates)
    known = {data.name: data.cases.fingerprint for data in datasets}
    todo = [(seed, data) for seed in range(n_splits) for data in datasets]
    records: dict[str, list[Record]] = {data.name: [] for data in datasets}
    for seed, data in progress_bar(todo, "splits", progress):
        identity = {
            "data": data.name,
            "fingerprint": known[data.name],
            "seed": seed,
            "candidates": [candidate.name for candidate in grid],
            "version": package_versions("voros")["voros"],
            **({"scenarios": str(dict(scenarios))} if scenarios else {}),
        }
        records[data.name].append(_record(root, data, grid, identity, scenarios))
    return _summarise(root, datasets, records, scenarios)


def _record(
    root: Path,
    data: DataSet,
    grid: Sequence[Candidate],
    identity: Record,
    scenarios: Mapping[ScenarioName, Scenario] | None,
) -> Record:
    name = f"{data.name}-{identity['seed']:02d}"

    def compute() -> Record:
        fitted = fitted_or_read(root / "scores" / f"{name}.npz", identity, data.cases, grid)
        costs = run_split(fitted, scenarios_for(data, scenarios))
        prevalence = float(data.cases.y.mean())
        regrets = regrets_of_split(fitted, prevalence, identity["seed"])
        return {
            "costs": [asdict(one) for one in costs],
            "regrets": [asdict(one) for one in regrets],
        }

    return finished_or_computed(root / "splits" / f"{name}.json", identity, compute)


def scenarios_for(
    data: DataSet, own: Mapping[ScenarioName, Scenario] | None = None
) -> dict[ScenarioName, Scenario]:
    """Return the user's scenarios, or the paper's and one fitted to the data set."""
    return dict(own) if own else {**SCENARIOS, FITTED: fitted_scenario(data.cases.y, data.prices)}


def _summarise(
    root: Path,
    datasets: Sequence[DataSet],
    records: Mapping[str, Sequence[Record]],
    scenarios: Mapping[ScenarioName, Scenario] | None,
) -> EvidenceResult:
    results = [
        _splits(data, records[data.name], scenarios_for(data, scenarios)) for data in datasets
    ]
    result = EvidenceResult(
        compare_all(results),
        mean_regrets([[_regrets(held) for held in records[data.name]] for data in datasets]),
        seconds=sum(held["seconds"] for splits in records.values() for held in splits),
    )
    for name, content in table_files(result.tables).items():
        save(root / name, content)
    save(root / "evidence.png", draw_evidence(result.differences))
    save(root / "regret.png", draw_regrets(result.regrets))
    return result


def _regrets(held: Record) -> list[Regret]:
    return [Regret(**row) for row in held["regrets"]]


def _splits(
    data: DataSet, records: Sequence[Record], scenarios: Mapping[ScenarioName, Scenario]
) -> SplitsResult:
    splits = tuple(read_costs(held["costs"]) for held in records)
    title = f"{data.title} ({data.cases.y.mean():.1%})"
    return SplitsResult(title, scenarios, splits, TEST_SHARE / (1 - TEST_SHARE))
