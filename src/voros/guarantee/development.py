"""Fix model and thresholds on development cases, so that validation tests nothing else.

Development cases choose a model and its thresholds, one or a few in a fixed sequence, before
validation. Each threshold is then tested at the full alpha. The choice affects the power of the
certificate, not its validity, so it may be rough: draw populations that the development cases make
likely, draw validation cases from each, and choose the sequence that saves most on average.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr, ndtri

from voros.core.coverage import GIVEN_POINTS
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.binomial_tests import fewest_at, most_counted
from voros.guarantee.next_cases.one_threshold import OneTest, most_once, needed_once, normal_margin
from voros.guarantee.recall_tests import misses_allowed, recall_kept, recall_sentence
from voros.guarantee.shortfall import limits_in_words
from voros.guarantee.tuning import TUNING
from voros.text.numbers import threshold_text
from voros.typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A model and thresholds, fixed on development cases, to be tested on validation cases.

    Attributes
    ----------
    goal : Goal
    model : str
    thresholds : tuple of float
        From strict to lenient. They are tested in this order until one fails.
    shares : tuple of float
        Share of the development cases that each threshold flags.
    n_development : int
        Number of development cases.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4000) < 0.2
    >>> points = OperatingPoints.from_scores(y, 1.5 * y + rng.normal(size=4000))
    >>> scenario = Scenario(0.5, 0.3, cost_ratio=(0.05, 0.1))
    >>> goal = Goal(n_cases=2000, horizon=None, alpha=0.05, scenario=scenario)
    >>> plan = Plan.from_development({"a": points}, goal)
    >>> plan.model, round(plan.shares[0], 2), round(plan.shares[-1], 2)
    ('a', 0.02, 0.39)
    """

    goal: Goal
    model: str
    thresholds: tuple[float, ...]
    shares: tuple[float, ...]
    n_development: int

    @classmethod
    def from_development(cls, points_by_model: Mapping[str, OperatingPoints], goal: Goal) -> Plan:
        """Choose the sequence that saves most on average, over all models."""
        candidates = {model: Candidates(points, goal) for model, points in points_by_model.items()}
        if len(candidates) > TUNING.plan_models:
            first = {model: candidate.best_one(goal) for model, candidate in candidates.items()}
            kept = sorted(first, key=first.__getitem__, reverse=True)[: TUNING.plan_models]
            candidates = {model: candidates[model] for model in kept}
        best = {model: candidate.best(goal) for model, candidate in candidates.items()}
        model = max(best, key=lambda name: best[name].saved)
        points, rows = points_by_model[model], best[model].rows
        return cls(
            goal=goal,
            model=model,
            thresholds=tuple(points.thresholds[rows].tolist()),
            shares=tuple((points.alarms[rows] / points.n_cases).tolist()),
            n_development=int(points.n_cases),
        )

    def counts(self, points: OperatingPoints) -> OperatingPoints:
        """Count validation cases at no alarm and at the thresholds of the plan."""
        rows = np.searchsorted(-points.thresholds, -np.array(self.thresholds), side="right") - 1
        return OperatingPoints(
            np.append(np.inf, self.thresholds),
            np.append(0, points.tp[rows]),
            np.append(0, points.fp[rows]),
            points.n_positive,
            points.n_negative,
            covers=GIVEN_POINTS,
        )

    def passed(self, points: OperatingPoints) -> BoolArray:
        """Return which of `counts` may be deployed; for the next cases only the last that passes.

        Of thresholds with the same validation alarms only the strictest is returned.
        """
        goal, tp, alarms = self.goal, points.tp[1:], points.alarms[1:]
        passes = np.logical_and.accumulate(tp >= self.needed(alarms))
        if not goal.several:
            passes &= np.arange(len(passes)) == np.count_nonzero(passes) - 1
        else:
            passes &= np.diff(points.alarms) > 0
        recalled = recall_kept(points, goal.scenario, goal.horizon, goal.recall_alpha)
        return np.append(True, passes & recalled[1:])

    def needed(self, alarms: AnyArray) -> AnyArray:
        """Return the true positives that pass at numbers of alarms; more than alarms if none do."""
        goal = self.goal
        if not goal.alpha:
            return np.zeros_like(alarms)
        least, most = self.window
        within = np.clip(alarms, least, max(most, least))
        if goal.horizon is None:
            floor = goal.scenario.min_precision
            fewest = fewest_at(goal.alpha, within, floor) if floor else np.zeros_like(within)
        else:
            fewest = within + 1 if self.test is None else needed_once(self.test)[within - least]
        return np.where((alarms >= least) & (alarms <= most), fewest, alarms + 1)

    @property
    def window(self) -> tuple[int, int]:
        """The fewest and the most validation alarms with which a threshold can pass."""
        goal = self.goal
        if goal.horizon is None:
            return 1, most_counted(goal.n_cases, goal.share * goal.n_cases, None, goal.alpha)
        return (1, 0) if self.test is None else (self.test.least, self.test.most)

    def explain(self, points: OperatingPoints) -> str:
        """Say by how much the first threshold failed."""
        goal, scenario, alarms = self.goal, self.goal.scenario, int(points.alarms[1])
        fixed = f"fixed on {self.n_development:,} development cases"
        passes = points.tp >= self.needed(points.alarms)
        if scenario.min_recall is not None and passes[1]:
            others = np.append(False, np.logical_and.accumulate(passes[1:]))
            said = recall_sentence(points, scenario, goal.horizon, goal.recall_alpha, others)
            return f"no threshold {fixed} is certified. {said.removesuffix('.')}"
        least, most = self.window
        about = "population" if goal.horizon is None else f"next {goal.horizon:,} cases"
        counted, enough = f"{alarms:,} validation alarms", f"{least:,} to {most:,} may pass"
        if most < least:
            enough = "no number may pass"
        elif least <= alarms <= most:
            counted = f"{points.tp[1]:,} true positives in {counted}"
            enough = f"{self.needed(points.alarms[1:2])[0]:,} are needed"
        return (
            f"the threshold {threshold_text(self.thresholds[0])}, {fixed}, has {counted}; {enough} "
            f"for {limits_in_words(scenario.changed(min_recall=None))} in the {about}, so none is "
            "certified"
        )

    @cached_property
    def test(self) -> OneTest | None:
        """The test of each threshold for the next cases; None where none can pass.

        Numbers of alarms far from those expected from the development cases do not pass. The risk
        is then bounded over fewer shares.
        """
        goal = self.goal
        assert goal.horizon is not None
        low, high = (goal.n_cases * np.array([self.shares[0], self.shares[-1]])).tolist()
        spread = TUNING.plan_reach * np.sqrt(1 + goal.n_cases / self.n_development)
        least = int((1 - TUNING.plan_drift) * low - spread * np.sqrt(low))
        n_steps, floor = len(self.thresholds), goal.scenario.min_precision
        if 0 < floor < 1:
            # Fewer alarms would not pass even without a false alarm.
            level = ndtr(-normal_margin(goal.alpha, goal.horizon / goal.n_cases, n_steps))
            least = max(least, int(np.ceil(np.log(level) / np.log(floor))))
        most = most_once(goal.n_cases, goal.horizon, goal.capacity, goal.alpha, n_steps)
        most = min(most, int((1 + TUNING.plan_drift) * high + spread * np.sqrt(high)) + 1)
        if max(least, 1) > most:
            return None
        return OneTest(
            n_cases=goal.n_cases,
            horizon=goal.horizon,
            min_precision=floor,
            capacity=goal.capacity,
            alpha=goal.alpha,
            least=max(least, 1),
            most=most,
            n_thresholds=n_steps,
        )


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The limits, costs and numbers of cases that a plan is made for.

    Attributes
    ----------
    n_cases : int
        Number of validation cases.
    horizon : int or None
        Number of next cases; None for the population.
    alpha : float
    scenario : Scenario
        As the guarantee reads it.
    false_alarm_cost : float
        Cost of a false alarm, as a share of that of a miss.
    recall_alpha : float
        The error of a recall floor. `alpha` is that of the other limits, and 0 without any.
    """

    n_cases: int
    horizon: int | None
    alpha: float
    scenario: Scenario
    false_alarm_cost: float = 0.0
    recall_alpha: float = 0.0

    @property
    def several(self) -> bool:
        """Whether all thresholds that pass may be deployed, and not only the last."""
        return self.horizon is None or not self.alpha

    @property
    def capacity(self) -> int:
        """The most alarms in the next cases."""
        assert self.horizon is not None
        return int(self.scenario.max_alarms(self.horizon))

    @property
    def share(self) -> float:
        """The capacity as a share of the cases."""
        n_cases = self.horizon or self.n_cases
        return min(self.scenario.max_alarms(n_cases) / n_cases, 1.0)

    def rules(self) -> Iterator[Rule]:
        """Return an approximate test for each length of a sequence that is tried."""
        if self.horizon is None or self.several:
            yield Rule.at(self, self.alpha, None)
            return
        for n_steps in TUNING.plan_lengths:
            margin = normal_margin(self.alpha, self.horizon / self.n_cases, n_steps)
            yield Rule.at(self, float(ndtr(-margin)), n_steps)


class Rule(NamedTuple):
    """An approximate test of thresholds: the binomial test at a level."""

    floor: float
    level: float
    most: int
    n_steps: int | None

    @classmethod
    def at(cls, goal: Goal, level: float, n_steps: int | None) -> Rule:
        """Return the approximate test of both limits at a level."""
        most = most_counted(goal.n_cases, goal.share * goal.n_cases, None, level)
        return cls(goal.scenario.min_precision, level, most, n_steps)

    def excess(self, tp: AnyArray, alarms: AnyArray) -> FloatArray:
        """Return by how much counts pass, in standard deviations; less than 0 fails."""
        root = np.sqrt(np.maximum(alarms, 1))
        excess = (tp - self.floor * alarms) / root - self._margin(root)
        over = (self.most - alarms) / np.sqrt(max(self.most, 1))
        return np.where(alarms > 0, np.minimum(excess, over), -1.0)

    def _margin(self, root: FloatArray) -> FloatArray:
        """Return the true positives needed above the floor, over the root of the alarms."""
        if self.floor == 0:
            return np.full_like(root, -1.0)
        alarms = np.unique(np.geomspace(1, root.max() ** 2, TUNING.plan_nodes).astype(np.int64))
        needed = fewest_at(self.level, alarms, self.floor)
        margins = (needed - self.floor * alarms) / alarms**0.5
        return np.asarray(np.interp(root, alarms**0.5, margins))


class Sequence(NamedTuple):
    """Rows of development points to test in turn, and their mean saving."""

    rows: AnyArray
    saved: float


class Candidates:
    """Thresholds of one model, and their likely results by its development cases."""

    def __init__(self, points: OperatingPoints, goal: Goal) -> None:
        n_cases = int(points.n_cases)
        ranks = np.geomspace(min(TUNING.plan_first_rank, n_cases), n_cases, TUNING.plan_bins)
        rows = np.searchsorted(points.alarms, np.rint(ranks))
        self._bins = np.unique(np.minimum(rows, len(points) - 1))
        reach = TUNING.plan_beyond * goal.share * n_cases
        self.rows = self._bins[: max(1, np.count_nonzero(points.alarms[self._bins] <= reach))]
        self._points = points

    @cached_property
    def _pseudo_counts(self) -> FloatArray:
        """Cases of each class and bin: part of each count observed, part from a smooth curve."""
        counts = np.diff(
            np.stack([counts[self._bins] for counts in (self._points.tp, self._points.fp)]),
            prepend=0,
        )
        total = counts.sum(axis=0)
        middle = (np.cumsum(total) - total / 2) / total.sum()
        smooth = total * expit(_fitted_logit(ndtri(middle), counts[0], total))
        fitted = np.stack([smooth, total - smooth])
        return np.asarray(counts + TUNING.plan_smooth * (fitted - counts))

    def draws(self, goal: Goal, n_draws: int) -> tuple[FloatArray, AnyArray, AnyArray]:
        """Return savings of thresholds in likely populations, and validation counts drawn there."""
        rng = np.random.default_rng(TUNING.order_seed)
        weights = np.maximum(self._pseudo_counts, TUNING.plan_least_count).reshape(-1)
        shares = rng.gamma(weights, size=(n_draws, len(weights)))
        shares /= shares.sum(axis=1, keepdims=True)
        counts = rng.multinomial(goal.n_cases, shares)
        n_bins, places = len(self._bins), np.log(self._points.alarms[self._bins])
        # Where scores come from other fits, a threshold flags more of the cases, or fewer.
        moved = rng.normal(scale=TUNING.plan_moved, size=(n_draws, 1, 1))
        at = np.interp(places[: len(self.rows)] + moved, places, np.arange(n_bins))
        at = np.rint(at).astype(np.int64)
        above, counted = (
            np.take_along_axis(np.cumsum(cells.reshape(n_draws, 2, n_bins), axis=2), at, axis=2)
            for cells in (shares, counts)
        )
        tp, fp = counted[:, 0], counted[:, 1]
        saving = above[:, 0] - goal.false_alarm_cost * above[:, 1]
        if goal.recall_alpha:
            n_positive = counts[:, :n_bins].sum(axis=1, keepdims=True)
            # Raising no alarm breaks the floor, so every threshold that passes saves something.
            recalled = tp >= self._recall_needed(goal) * n_positive
            saving = np.where(recalled, saving + goal.false_alarm_cost, 0.0)
        return np.asarray(saving, dtype=np.float64), tp, tp + fp

    def _recall_needed(self, goal: Goal) -> float:
        """Return about the validation recall that certifies a recall floor."""
        prevalence = float(self._points.n_positive / self._points.n_cases)
        sizes = max(round(prevalence * goal.n_cases), 1), goal.n_cases
        floor = goal.scenario.recall_floor
        return 1 - misses_allowed(*sizes, floor, goal.horizon, goal.recall_alpha) / sizes[0]

    def best_one(self, goal: Goal) -> float:
        """Return about the saving of the best single threshold."""
        saving, tp, alarms = self.draws(goal, TUNING.plan_few_draws)
        passes = next(goal.rules()).excess(tp, alarms) >= 0
        return float((passes * saving).mean(axis=0).max())

    def best(self, goal: Goal) -> Sequence:
        """Return the sequence of largest mean saving; if none passes, the closest threshold."""
        saving, tp, alarms = self.draws(goal, TUNING.plan_draws)
        best = Sequence(self.rows[:1], -np.inf)
        for rule in goal.rules():
            excess = rule.excess(tp, alarms)
            if best.saved == -np.inf:
                best = Sequence(self.rows[[int(excess.mean(axis=0).argmax())]], 0.0)
            for steps in _sequences(len(self.rows), rule.n_steps):
                saves = saving[:, steps]
                if goal.recall_alpha and goal.several:
                    # The strictest thresholds that pass may find too few positives.
                    saves = np.maximum.accumulate(saves, axis=1)
                saved = _saved(excess[:, steps] >= 0, saves)
                if saved > best.saved:
                    best = Sequence(self.rows[steps], saved)
        return best


def _sequences(size: int, n_steps: int | None) -> Iterator[AnyArray]:
    """Return evenly spaced positions of candidates, as many as asked for or of any number."""
    places = np.arange(size)
    starts = range(0, size, 1 if n_steps else -(-size // TUNING.plan_starts))
    for start, stride in product(starts, TUNING.plan_strides if n_steps != 1 else (1,)):
        steps = places[start::stride][:n_steps]
        if n_steps is None or len(steps) == n_steps:
            yield steps


def _saved(passes: BoolArray, saving: FloatArray) -> float:
    """Return the mean saving if the last threshold before the first failure is deployed."""
    n_passed = np.count_nonzero(np.logical_and.accumulate(passes, axis=1), axis=1)
    padded = np.concatenate([np.zeros((len(saving), 1)), saving], axis=1)
    return float(padded[np.arange(len(saving)), n_passed].mean())


def _fitted_logit(place: FloatArray, positive: AnyArray, total: AnyArray) -> FloatArray:
    """Fit the log odds of a positive by a parabola, by Newton's method with a light penalty."""
    design = np.stack([np.ones_like(place), place, place**2], axis=1)
    penalty = np.array(TUNING.plan_penalty)

    def loss(fitted: FloatArray) -> float:
        logit = design @ fitted
        likely = total * np.logaddexp(0, logit) - positive * logit
        return float(likely.sum() + penalty @ fitted**2 / 2)

    share = (positive.sum() + 0.5) / (total.sum() + 1)
    fitted = np.array([np.log(share / (1 - share)), 0.0, 0.0])
    for _ in range(TUNING.plan_fit_steps):
        chance = expit(design @ fitted)
        slope = design.T @ (positive - total * chance) - penalty * fitted
        curvature = (design.T * (total * chance * (1 - chance))) @ design + np.diag(penalty)
        step = np.asarray(np.linalg.solve(curvature, slope))
        # Where classes are far apart a whole step can lead away.
        while loss(fitted + step) > loss(fitted) and np.abs(step).max() > TUNING.plan_fit_step:
            step = step / 2
        fitted = fitted + step
    return np.asarray(design @ fitted)
