"""Costs from counts of alarms, and the table of losses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from voros import OperatingPoints, Scenario, ThresholdPolicy
from voros.policy.allowed import allowed_thresholds
from voros.typing import AnyArray, FloatArray
from voros_studies.evidence.mean_regret import over_data_sets
from voros_studies.experiments.study import STUDY_CONFIDENCE, ranking_cost
from voros_studies.tables import Column, Table, Value
from voros_studies.training.prepare import MADE_UP, scenario_of

BESIDE = {"perceptron": "linear", "trees": "perceptron"}
"""Architecture with which each is compared where both are fitted by log loss."""

MEASURES = ("ranking only", "deployed", "excess")
"""Cost by test thresholds, cost by validation thresholds, and how far those break limits.
"""

TEXTS = ("cases", "data set", "scenario", "scores", "loss", "start", "less log loss of")
NUMBERS = (
    *("cost", "above", "low", "high"),
    *("deployed above", "deployed low", "deployed high", "excess"),
)


def costs_of(counts: AnyArray, n_cases: AnyArray, scenario: Scenario) -> FloatArray:
    """Return the `MEASURES` of one model in one scenario.

    Parameters
    ----------
    counts : ndarray of shape (6, n_costs)
        As `voros_studies.training.counts.count_alarms` returns them.
    n_cases : ndarray of shape (4,)
        Positive and negative cases of validation and of test.
    """
    valid, test, own = counts.reshape(3, 2, -1)
    order = valid.sum(axis=0)
    on_valid, on_test = _points(valid, n_cases[:2], order), _points(test, n_cases[2:], order)
    policy = ThresholdPolicy.from_allowed(allowed_thresholds(on_valid, scenario))
    deployed = policy.evaluate(on_test, by_cost=True)
    by_own = _points(own, n_cases[2:], own.sum(axis=0))
    excess = max((one.missed_by / one.bound for one in deployed.violations), default=0.0)
    return np.array([ranking_cost(by_own, scenario), deployed.expected_cost, excess])


def _points(counts: AnyArray, n_cases: AnyArray, order: AnyArray) -> OperatingPoints:
    """Return points with thresholds in the order of ``order``; at the last, all cases raise alarms.

    Thresholds that raise the same alarms are one point. No other threshold is needed, so
    these points count as complete.
    """
    places, first = np.unique(order, return_index=True)
    whole = np.column_stack([counts[:, first], n_cases])
    thresholds = -np.append(places, n_cases.sum() + places[-1] + 1.0)
    (tp, fp), (n_positive, n_negative) = whole, n_cases
    return OperatingPoints.from_counts(tp, fp, n_positive, n_negative, thresholds, every_score=True)


def read_costs(paths: Iterable[Path], folder: Path) -> dict[tuple[str, int, str], FloatArray]:
    """Return the measures by data set, size and method, of shape (seeds, scenarios, measures)."""
    costs = {}
    for path in paths:
        with np.load(path) as held:
            filed = {name: held[name] for name in held.files}
        for name, counts in filed.items():
            task, _, method = name.partition(", ")
            if method == "cases":
                continue
            data, _, size = task.rpartition("-")
            with np.load(folder / f"{data}.npz") as splits:
                scenarios = [scenario_of(row) for row in splits["limits"]]
            costs[data, int(size), method] = np.array(
                [
                    [costs_of(*one) for one in zip(seed, [n] * len(seed), scenarios, strict=True)]
                    for seed, n in zip(counts, filed[f"{task}, cases"], strict=True)
                ]
            )
    return costs


def losses_table(costs: Mapping[tuple[str, int, str], FloatArray]) -> Table:
    """Compare every method with log loss, by size: over real data sets, by scenario, and on each.

    ``cost`` is the ranking-only cost, ``above`` how much it exceeds that of log loss; the same for
    the deployed cost; ``excess`` is the mean share by which the limit broken most is broken.

    Parameters
    ----------
    costs : mapping
        As `read_costs` returns them.
    """
    rows: list[tuple[Value, ...]] = []
    for size in sorted({n for _, n, _ in costs}):
        by_data: dict[str, dict[str, FloatArray]] = {}
        for (data, n, method), values in costs.items():
            if n == size:
                by_data.setdefault(data, {})[method] = values
        real = [one for data, one in by_data.items() if data != MADE_UP]
        groups = {f"mean of {len(real)}": real} if len(real) > 1 else {}
        for label, group in {**groups, **{data: [one] for data, one in by_data.items()}}.items():
            rows += [(str(size), label, *row) for row in _compare(group)]
    columns = (*map(Column, TEXTS), *(Column(name, decimals=4) for name in NUMBERS))
    title = (
        "Test cost with thresholds set there within the limits, and above that of log loss; "
        f"{STUDY_CONFIDENCE:.0%} intervals over data sets and seeds"
    )
    return Table(columns, tuple(rows), title, "training")


def _compare(by_data: Sequence[Mapping[str, FloatArray]]) -> Iterator[tuple[Value, ...]]:
    """Yield a row for each method that all data sets have, and for each scenario of several."""
    for method in by_data[0]:
        names = (method, compared_with(method))
        if not all(one.keys() >= set(names) for one in by_data):
            continue
        own, control = (np.array([one[name] for one in by_data]) for name in names)
        numbers = list(range(own.shape[2]))
        alone = {str(n + 1): [n] for n in numbers} if len(by_data) > 1 else {}
        for scenario, at in {"all": numbers, **alone}.items():
            cost, _, excess = own[:, :, at].mean(axis=(0, 1, 2))
            above, deployed, _ = np.moveaxis((own - control)[:, :, at].mean(axis=2), -1, 0)
            intervals = [over_data_sets(one) for one in (above, deployed)]
            bounds = [n for one in intervals for n in (one.estimate, one.low, one.high)]
            beside = names[1].partition(", ")[0]
            yield scenario, *method.split(", "), beside, float(cost), *bounds, float(excess)


def compared_with(method: str) -> str:
    """Return the method that another is compared with.

    Examples
    --------
    >>> compared_with("linear, soft ROC, scratch")
    'linear, log loss, scratch'
    >>> compared_with("trees, log loss, scratch")
    'perceptron, log loss, scratch'
    """
    scores, rest = method.split(", ", 1)
    simpler = BESIDE.get(scores, scores) if rest == "log loss, scratch" else scores
    return f"{simpler}, log loss, scratch"
