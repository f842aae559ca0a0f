"""One table from the costs of every split: paired differences and their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voros.typing import FloatArray
from voros_studies.evidence.one_split import COMPARED
from voros_studies.experiments.labels import LABELS
from voros_studies.experiments.splits import SplitsResult
from voros_studies.experiments.study import GUARANTEED_BY, STUDY_CONFIDENCE, CostInterval
from voros_studies.paper.cells import ScenarioName
from voros_studies.tables import Column, Table

OTHERS = tuple(strategy for strategy in COMPARED if strategy != GUARANTEED_BY)
EVERY = "mean of all data sets"
MEAN_RESAMPLES = 10_000


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How much more than partial VOROS a strategy cost on test, over the splits of a data set.

    ``interval`` resamples splits (or data sets, for the mean over them); ``corrected`` also takes
    into account that splits share cases. ``ranking`` is the difference where both set their
    thresholds on test within the limits, resampled alike, ``thresholds`` the rest. ``broken`` and
    ``broken_beside`` are the shares of splits on which the strategy, and partial VOROS, broke a
    limit; ``excess`` is the mean share by which it was broken.
    """

    data: str
    scenario: ScenarioName
    strategy: str
    n: int
    cost: float
    interval: CostInterval
    corrected: CostInterval | None
    ranking: CostInterval
    broken: float
    broken_beside: float
    excess: float

    @property
    def thresholds(self) -> float:
        """The part of the difference due to thresholds."""
        return self.interval.estimate - self.ranking.estimate


def compare_all(results: Sequence[SplitsResult]) -> list[Difference]:
    """Return the differences of every data set, and of the mean over data sets."""
    differences = []
    for number in results[0].scenarios:
        for strategy in OTHERS:
            by_dataset = [_difference(result, number, strategy) for result in results]
            differences += (
                by_dataset if len(by_dataset) < 2 else [*by_dataset, _mean_of(by_dataset)]
            )
    return differences


def _difference(result: SplitsResult, number: ScenarioName, strategy: str) -> Difference:
    held = result.deployed_in(GUARANTEED_BY, number)
    one, beside = held[strategy], held[GUARANTEED_BY]
    cost, ranking = (
        np.array([getattr(a, name) - getattr(b, name) for a, b in zip(one, beside, strict=True)])
        for name in ("cost", "ranking_only")
    )
    return Difference(
        data=result.title,
        scenario=number,
        strategy=strategy,
        n=len(one),
        cost=float(np.mean([split.cost for split in one])),
        interval=bootstrap_mean(cost),
        corrected=result.excess(GUARANTEED_BY, number, strategy),
        ranking=bootstrap_mean(ranking),
        broken=float(np.mean([bool(split.broken) for split in one])),
        broken_beside=float(np.mean([bool(split.broken) for split in beside])),
        excess=float(np.mean([split.excess for split in one])),
    )


def _mean_of(differences: Sequence[Difference]) -> Difference:
    means = np.array([one.interval.estimate for one in differences])
    ranking = np.array([one.ranking.estimate for one in differences])
    names = ("cost", "broken", "broken_beside", "excess")
    parts = {name: float(np.mean([getattr(one, name) for one in differences])) for name in names}
    return Difference(
        data=EVERY,
        scenario=differences[0].scenario,
        strategy=differences[0].strategy,
        n=len(differences),
        interval=bootstrap_mean(means),
        corrected=None,
        ranking=bootstrap_mean(ranking),
        **parts,
    )


def bootstrap_mean(values: FloatArray, random_state: int = 0) -> CostInterval:
    """Return the mean of values and its percentile interval over resamples of them.

    Examples
    --------
    >>> bootstrap_mean(np.array([0.25, 0.25]))
    CostInterval(estimate=0.25, low=0.25, high=0.25)
    """
    rng = np.random.default_rng(random_state)
    means = rng.choice(values, (MEAN_RESAMPLES, len(values))).mean(axis=1)
    return CostInterval.from_draws(np.append(values.mean(), means))


def evidence_table(differences: Sequence[Difference]) -> Table:
    """Lay out one row for each scenario, strategy and data set."""
    titles = ("scenario", "strategy", "data set")
    counted = ("n", "cost", "above", "low", "high", "corrected low", "corrected high")
    ranking = ("of it ranking", "ranking low", "ranking high", "of it thresholds")
    parts = (*ranking, "limits broken", "by partial VOROS", "excess")
    columns = (
        *map(Column, titles),
        *(Column(title, decimals=0 if title == "n" else 3) for title in (*counted, *parts)),
    )
    rows = tuple(
        (
            *(str(one.scenario), LABELS[one.strategy], one.data),
            *(float(one.n), one.cost, one.interval.estimate, one.interval.low, one.interval.high),
            *_corrected(one),
            *(one.ranking.estimate, one.ranking.low, one.ranking.high, one.thresholds),
            *(one.broken, one.broken_beside, one.excess),
        )
        for one in differences
    )
    title = (
        "Test cost above that of max partial VOROS, by scenario, strategy and data set; "
        f"{STUDY_CONFIDENCE:.0%} intervals over n splits, or over n data sets for the mean; "
        "shares of the splits on which a limit was broken"
    )
    return Table(columns, rows, title, "evidence")


def _corrected(one: Difference) -> tuple[float, float] | tuple[str, str]:
    if one.corrected is None or np.isnan(one.corrected.low):
        return "", ""
    return one.corrected.low, one.corrected.high
