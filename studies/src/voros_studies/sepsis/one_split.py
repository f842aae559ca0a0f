"""One split: fit models, choose model and threshold at several levels, and test on other stays."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import voros
from voros import OperatingPoints, Scenario
from voros.exceptions import NeverAlarmWarning
from voros.typing import AnyArray, BoolArray, FloatArray
from voros.winners import score_grid
from voros_studies.experiments.cases import Split
from voros_studies.experiments.grid import Candidate, combinations
from voros_studies.sepsis.bedside import bedside_scores
from voros_studies.sepsis.features import hourly_features
from voros_studies.sepsis.hours import HourlyStays
from voros_studies.sepsis.utility import HourlyUtility

HORIZON, LEAD, SNOOZE = 12, 1, 12
"""Hours: an alarm counts 12 to 1 before the onset, and silences the next 12."""

RULE = voros.AlarmRule(snooze=SNOOZE, horizon=HORIZON, lead=LEAD)
SCENARIO = Scenario(min_precision=0.1, capacity=0.1, cost_ratio=(1 / 40, 1 / 20), per="patient-day")
"""The default limits."""

GUARANTEE = voros.Guarantee(0.95)

ROWS, STAYS, UTILITY, EVENTS, GUARANTEED = "rows", "stays", "utility", "events", "guaranteed"
LEVELS = (ROWS, STAYS, UTILITY, EVENTS, GUARANTEED)
"""Levels on which a threshold is chosen; the last is events with a guarantee by patient."""

SELECTED = "selected"
"""The best of the fitted models at each level, by partial VOROS or utility on validation."""

OTHER_ROWS = 0.25
"""Share of the training rows at which no alarm counts that are fitted; all others are."""

MAP_FLOORS = np.round(np.arange(0.02, 0.405, 0.02), 2)
MAP_RATES = np.round(np.geomspace(0.005, 1.0, 24), 4)
"""Precision floors, and alarms per patient-day, of the winner map."""

CURVE_RATES = np.geomspace(0.002, 2.0, 60)
"""False alarms per patient-day at which the curve of events is kept."""


@contextmanager
def _without_notices() -> Iterator[None]:
    """Do not warn where no alarm can be deployed: the tables show it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverAlarmWarning)
        yield


def sepsis_grid() -> tuple[Candidate, ...]:
    """Return the models that are fitted.

    Examples
    --------
    >>> from collections import Counter
    >>> dict(Counter(candidate.family for candidate in sepsis_grid()))
    {'LR': 3, 'MLP': 1, 'RF': 2, 'HGB': 6}
    """
    return (
        *combinations("LR", C=(0.0001, 0.001, 0.1), max_iter=(60,)),
        *combinations("MLP", hidden_layer_sizes=((32,),), alpha=(0.01,), max_iter=(8,)),
        *combinations("RF", n_estimators=(40,), max_depth=(8, 14), min_samples_leaf=(20,)),
        *combinations("HGB", max_iter=(50, 150), max_leaf_nodes=(4, 8, 31)),
    )


def quick_sepsis_grid() -> tuple[Candidate, ...]:
    """Return two of the models that are fitted within seconds.

    Examples
    --------
    >>> [candidate.family for candidate in quick_sepsis_grid()]
    ['LR', 'HGB']
    """
    quick = ("LR_C=0.001_max_iter=60", "HGB_max_iter=50_max_leaf_nodes=8")
    return tuple(candidate for candidate in sepsis_grid() if candidate.name in quick)


@dataclass(frozen=True, eq=False)
class SepsisData:
    """Stays with features, bedside scores and utilities of every row, and the limits."""

    stays: HourlyStays
    X: FloatArray
    bedside: Mapping[str, FloatArray]
    utility: HourlyUtility
    scenario: Scenario

    @classmethod
    def from_stays(cls, stays: HourlyStays, scenario: Scenario = SCENARIO) -> SepsisData:
        """Compute what all splits share."""
        features, _ = hourly_features(stays)
        utility = HourlyUtility.from_stays(stays)
        return cls(stays, features, bedside_scores(stays), utility, scenario)

    @cached_property
    def ahead(self) -> FloatArray:
        """Hours from each row to the onset."""
        return np.asarray(self.stays.onset[self.stays.stay] - self.stays.hour)

    @cached_property
    def due(self) -> BoolArray:
        """Whether an alarm at the row counts."""
        return (self.ahead >= LEAD) & (self.ahead <= HORIZON)

    def rows_of(self, chosen: AnyArray) -> AnyArray:
        """Return the rows of some stays."""
        member = np.zeros(len(self.stays), dtype=np.bool_)
        member[chosen] = True
        return np.flatnonzero(member[self.stays.stay])


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """The rows of one part of the stays, with every model's scores."""

    data: SepsisData
    chosen: AnyArray
    rows: AnyArray
    scores: Mapping[str, FloatArray]

    @cached_property
    def points(self) -> dict[str, OperatingPoints]:
        """Alarms and events at every threshold, by model."""
        stays = self.data.stays
        septic = self.chosen[stays.septic[self.chosen]]
        points = voros.alarm_points(
            stay=stays.stay[self.rows],
            time=stays.hour[self.rows],
            score=self.scores,
            events=(septic, stays.onset[septic]),
            rule=RULE,
        )
        assert isinstance(points, dict)
        return points

    @cached_property
    def before(self) -> BoolArray:
        """Whether each row counts: it is not after the onset."""
        return np.asarray(self.data.ahead[self.rows] >= 0)

    @cached_property
    def utility(self) -> HourlyUtility:
        """Utility of each row with and without an alarm."""
        return self.data.utility.take(self.rows)

    @property
    def patient_days(self) -> float:
        """Patient-days during which an alarm may sound."""
        return float(_stays_of(next(iter(self.points.values()))).patient_days)

    def highest(self, name: str) -> tuple[BoolArray, FloatArray]:
        """Return which stays have an onset, and the highest score of each up to it."""
        stays = self.data.stays
        highest = np.full(len(stays), -np.inf)
        rows = self.rows[self.before]
        np.maximum.at(highest, stays.stay[rows], self.scores[name][self.before])
        return stays.septic[self.chosen], highest[self.chosen]


@_without_notices()
def run_split(
    data: SepsisData, split: Split, seed: int, candidates: Sequence[Candidate]
) -> dict[str, Any]:
    """Return the test results of every choice, and the figure's curves, as plain data."""
    valid, test = fit_and_score(data, split, seed, candidates)
    names = [candidate.name for candidate in candidates]
    thresholds = {name: choose_thresholds(valid, name) for name in valid.scores}
    selected = select_by_level(valid, names)
    choices = [
        outcome(test, name, level, threshold)
        for name, by_level in thresholds.items()
        for level, threshold in by_level.items()
    ]
    for level, name in selected.items():
        choices.append(outcome(test, name, level, thresholds[name][level], SELECTED))
    choices.append(outcome(test, *_guaranteed_selection(valid, names), SELECTED))
    shown = dict.fromkeys([*data.bedside, _best_linear(valid, candidates), selected[EVENTS]])
    return {
        "sizes": {part: len(stays) for part, stays in split.parts.items()},
        "n_events": int(data.stays.septic[split.test].sum()),
        "test_days": test.patient_days,
        "partial_voros": {
            name: voros.partial_voros_score(points, scenario=data.scenario)
            for name, points in test.points.items()
        },
        "choices": [asdict(one) for one in choices],
        **figure_data(test, [name for name in shown if name is not None]),
    }


def fit_and_score(
    data: SepsisData, split: Split, seed: int, candidates: Sequence[Candidate]
) -> tuple[ScoredPart, ScoredPart]:
    """Fit on training rows, and score every row of the other two parts."""
    rows = training_rows(data, split.train, seed)
    parts = split.valid, split.test
    part_rows = [data.rows_of(chosen) for chosen in parts]
    scores = [{name: s[rows_] for name, s in data.bedside.items()} for rows_ in part_rows]
    known = ~np.isnan(data.X[rows]).all(axis=0)
    X = data.X[:, known]
    for candidate in candidates:
        model = fitted(candidate, seed, X[rows], data.due[rows])
        for held, wanted in zip(scores, part_rows, strict=True):
            held[candidate.name] = model.predict_proba(X[wanted])[:, 1]
    valid, test = (
        ScoredPart(data, np.sort(chosen), wanted, held)
        for chosen, wanted, held in zip(parts, part_rows, scores, strict=True)
    )
    return valid, test


def training_rows(data: SepsisData, train: AnyArray, seed: int) -> AnyArray:
    """Return the rows to fit: those at which an alarm counts, and a share of the earlier others.

    Thinning shifts the scores of a model and hardly their order, and thresholds are chosen on whole
    stays.
    """
    rows = data.rows_of(train)
    kept = np.random.default_rng(seed).random(len(rows)) < OTHER_ROWS
    return rows[(data.ahead[rows] >= LEAD) & (data.due[rows] | kept)]


def fitted(candidate: Candidate, seed: int, X: FloatArray, y: BoolArray) -> Any:
    """Fit a model; one that does not take missing values gets means and standardised features."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = candidate.estimator(seed)
    if candidate.family != "HGB":
        model = make_pipeline(SimpleImputer(), StandardScaler(), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def choose_thresholds(valid: ScoredPart, name: str) -> dict[str, float]:
    """Return the threshold that each level chooses for a model on validation."""
    points, scenario = valid.points[name], valid.data.scenario
    due, risk = valid.data.due[valid.rows][valid.before], valid.scores[name][valid.before]
    policy = voros.ThresholdPolicy
    return {
        ROWS: float(policy.from_validation(due, risk, row_scenario(scenario)).threshold()),
        STAYS: float(
            policy.from_validation(*valid.highest(name), stay_scenario(valid)).threshold()
        ),
        UTILITY: valid.utility.best_threshold(valid.scores[name]),
        EVENTS: float(policy.from_points(points, scenario).threshold()),
        GUARANTEED: float(
            policy.from_points(points, scenario, guarantee=GUARANTEE, n_models=1).threshold()
        ),
    }


def row_scenario(scenario: Scenario) -> Scenario:
    """Return the limits with every row as a case: the rate becomes a share of the hours."""
    return replace(scenario, capacity=scenario.capacity / 24, per=None)


def stay_scenario(part: ScoredPart) -> Scenario:
    """Return the limits with every stay as a case, with at most one alarm each."""
    scenario = part.data.scenario
    share = scenario.capacity * part.patient_days / len(part.chosen)
    return replace(scenario, capacity=min(1.0, share), per=None)


def select_by_level(valid: ScoredPart, names: Sequence[str]) -> dict[str, str]:
    """Return the model that is best on validation at each level but the guaranteed one."""
    due, scenario = valid.data.due[valid.rows][valid.before], valid.data.scenario
    by_level = {
        ROWS: lambda name: voros.partial_voros_score(
            due, valid.scores[name][valid.before], row_scenario(scenario)
        ),
        STAYS: lambda name: voros.partial_voros_score(*valid.highest(name), stay_scenario(valid)),
        UTILITY: lambda name: valid.utility.normalised(
            valid.scores[name], valid.utility.best_threshold(valid.scores[name])
        ),
        EVENTS: lambda name: voros.partial_voros_score(valid.points[name], scenario=scenario),
    }
    return {level: max(names, key=score) for level, score in by_level.items()}


def _guaranteed_selection(valid: ScoredPart, names: Sequence[str]) -> tuple[str, str, float]:
    points = {name: valid.points[name] for name in names}
    selection = voros.select_model(points, scenario=valid.data.scenario, guarantee=GUARANTEE)
    return selection.winner, GUARANTEED, float(selection.policy().threshold())


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one threshold on the test stays.

    ``row`` is the row of the tables: a model's name, or `SELECTED`. Without alarms ``precision``
    and ``lead`` are None, and so is ``threshold``.
    """

    row: str
    model: str
    level: str
    threshold: float | None
    alarms: int
    caught: int
    per_day: float
    precision: float | None
    utility: float
    lead: float | None
    broken: tuple[str, ...]


def outcome(
    test: ScoredPart, model: str, level: str, threshold: float, row: str | None = None
) -> Outcome:
    """Count the alarms and events of a threshold on the test stays."""
    stays = _stays_of(test.points[model])
    counts = stays.counts(np.array([threshold]))
    alarms, caught = int(counts.alarms.sum()), int(counts.tp.sum())
    per_day = alarms / stays.patient_days
    limits = test.data.scenario
    is_broken = {
        "precision": caught < limits.min_precision * alarms,
        "capacity": per_day > limits.capacity,
    }
    return Outcome(
        row=row or model,
        model=model,
        level=level,
        threshold=threshold if alarms else None,
        alarms=alarms,
        caught=caught,
        per_day=per_day,
        precision=caught / alarms if alarms else None,
        utility=test.utility.normalised(test.scores[model], threshold),
        lead=float(np.median(stays.lead_times(threshold))) if caught else None,
        broken=tuple(name for name, broken in is_broken.items() if broken),
    )


def _stays_of(points: OperatingPoints) -> Any:
    stays = points.stays
    assert stays is not None
    return stays


def _best_linear(valid: ScoredPart, candidates: Sequence[Candidate]) -> str | None:
    linear = [one.name for one in candidates if one.family == "LR"]
    score = {
        name: voros.partial_voros_score(valid.points[name], scenario=valid.data.scenario)
        for name in linear
    }
    return max(linear, key=score.__getitem__, default=None)


def figure_data(test: ScoredPart, names: Sequence[str]) -> dict[str, Any]:
    """Return curves and scores over a grid of limits of a few models, on the test stays."""
    points = {name: test.points[name] for name in names}
    counts = np.maximum(np.rint(MAP_RATES * test.patient_days), 1).astype(int)
    # Two rates of a short test part may be one number of alarms.
    counts, kept = np.unique(counts, return_index=True)
    grid = score_grid(points, test.data.scenario.without_limits(), MAP_FLOORS, counts)
    false_alarms = CURVE_RATES * test.patient_days
    return {
        "models": list(points),
        "rates": MAP_RATES[kept].tolist(),
        "map": grid.scores.tolist(),
        "feasible": grid.feasible.tolist(),
        "curves": {name: _events_caught(one, false_alarms) for name, one in points.items()},
    }


def _events_caught(points: OperatingPoints, false_alarms: FloatArray) -> list[float]:
    """Return the largest share of events caught within each rate of false alarms."""
    order = np.argsort(points.fp, kind="stable")
    best = np.maximum.accumulate(points.tp[order])
    places = np.searchsorted(points.fp[order], false_alarms, side="right") - 1
    shares: list[float] = (best[places] / points.n_positive).tolist()
    return shares
