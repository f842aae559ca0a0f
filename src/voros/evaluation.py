"""Evaluate a classifier: its score, limits and region, and the best threshold for every cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from voros.core.costs import read_cost_ratios
from voros.core.decision import NO_REGION, Decision, decide, solve
from voros.core.exact_intervals import PER_CASES
from voros.core.geometry import Region
from voros.core.hull import Choice, CostHull, choice_columns
from voros.core.limits import MostPrecise, binding_limits, most_precise
from voros.core.money import MoneyCost, money_cost, money_of_values, refuse_price
from voros.core.operating_points import OperatingPoints
from voros.core.pruning import kept_points
from voros.core.scenario import Scenario, check_scenario
from voros.core.volume import cost_moments, dominated_area, ratio_moments
from voros.exceptions import IncompleteCountsError, UndefinedScoreError
from voros.io.frames import make_frame
from voros.models import check_points, points_of_one, read_points
from voros.notices import warn_about
from voros.text.numbers import count, count_within, interval, short, threshold_text
from voros.text.table import Table, html_pairs
from voros.typing import FloatArray

__all__ = ["Evaluation", "evaluate"]

SHOWN_CHOICES = 12
"""Largest number of choices in a printed table."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Partial VOROS of one classifier in one scenario, with the decision behind it.

    Attributes
    ----------
    decision : Decision
        Points, feasible thresholds, hull and region.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> result = voros.evaluate([0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2], scenario)
    >>> round(result.score, 4), result.max_alarms, result.binding
    (0.7444, 3.0, ('capacity',))
    >>> result.most_precise
    MostPrecise(precision=1.0, recall=0.3333, alarms=1, threshold=0.9)
    """

    decision: Decision

    @property
    def score(self) -> float:
        """Partial VOROS, between 0 and 1; higher is better.

        With values of cases and limits it is not defined and raises UndefinedScoreError.
        """
        return self.decision.partial_voros

    @property
    def expected_cost(self) -> float:
        """Expected normalised cost of the best threshold at each cost; lower is better."""
        return self.decision.expected_cost

    @property
    def scenario(self) -> Scenario:
        """Limits and costs."""
        return self.decision.scenario

    @property
    def points(self) -> OperatingPoints:
        """Operating points at the prevalence of the scenario."""
        return self.decision.points

    @property
    def hull(self) -> CostHull:
        """The feasible thresholds that are best at some cost."""
        return self.decision.hull

    @property
    def region(self) -> Region:
        """The part of ROC space within the limits."""
        return self.decision.region

    @property
    def feasible(self) -> bool:
        """Whether any threshold that raises an alarm meets the limits."""
        return self.decision.can_alarm

    @property
    def max_alarms(self) -> float:
        """The capacity as a number of alarms."""
        return self.decision.max_alarms

    @cached_property
    def binding(self) -> tuple[str, ...]:
        """The limits without which other thresholds would be chosen.

        Raises
        ------
        IncompleteCountsError
            Where the points were counted for this scenario only.
        """
        return binding_limits(self.decision)

    @cached_property
    def most_precise(self) -> MostPrecise:
        """The highest precision within the capacity, and the recall at its threshold."""
        return most_precise(self.points, self.decision.capable)

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """The best feasible threshold on each interval of the cost ratio, in increasing order."""
        ratios = self.scenario.costs.ratio_range(self.points.costed.negatives_per_positive)
        return self.hull.choices(self.points, self.decision.used_vertices, ratios)

    def normalised_area(self, cost_ratio: Any) -> Any:
        """Share of the feasible region that is costlier than the best threshold at a cost ratio.

        Parameters
        ----------
        cost_ratio : float or array-like
            C_FP / C_FN, within or beyond the scenario's range.

        Returns
        -------
        float or ndarray
        """
        if self.points.worth is not None:
            raise UndefinedScoreError(NO_REGION)
        ratios = read_cost_ratios(cost_ratio)
        flat = ratios.ravel()
        decision = self._decision_at(flat)
        points, hull = decision.points, decision.hull
        chosen = hull.index[hull.best(flat)]
        # An infinite ratio is the vertical line, t = 1.
        with np.errstate(invalid="ignore"):
            slope = flat * points.negatives_per_positive
            t = np.where(np.isinf(slope), 1.0, slope / (1.0 + slope))
        if decision.scores_nothing:
            return np.zeros(ratios.shape)[()]
        shares = dominated_area(self.region, points.fpr[chosen], points.tpr[chosen], 1.0 - t, t)
        return shares.reshape(ratios.shape)[()]

    def _decision_at(self, ratios: FloatArray) -> Decision:
        """Return a decision whose hull holds at some cost ratios."""
        low, high = self.scenario.costs.ratio_range(self.points.negatives_per_positive)
        if np.all((ratios >= low) & (ratios <= high)):
            return self.decision
        observed = self.decision.counted_points
        if not observed.covers.whole_curve:
            raise IncompleteCountsError(
                f"these points were counted for cost ratios from {short(low)} to {short(high)}; "
                "count every threshold with OperatingPoints.from_scores"
            )
        # Cases on a device were counted for the costs of the scenario only.
        return solve(observed, self.scenario) if observed.on_device else self.decision

    def in_money(self, false_alarm_cost: float | None = None) -> MoneyCost:
        """Expected cost of 1,000 cases in money, with the best threshold at each cost.

        Costs for which the mean price of a miss does not exist are refused, as in
        `PolicyEvaluation.in_money`.

        Parameters
        ----------
        false_alarm_cost : float
            Price of a false alarm; that of a miss is this divided by the cost ratio. Left out where
            cases have values, which determine the cost of errors.

        Returns
        -------
        MoneyCost

        Examples
        --------
        >>> import voros
        >>> scenario = voros.Scenario(capacity=0.5, cost_ratio=0.1)
        >>> result = voros.evaluate([0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2], scenario)
        >>> result.in_money(30).per_1000  # of 6 cases a false alarm and a miss: 330
        55000.0
        """
        points = self.points
        sizes = points.n_positive, points.n_negative
        if points.worth is not None:
            refuse_price(false_alarm_cost)
            return self._money_of_values()
        return money_cost(self.choices, self.scenario.costs, *sizes, false_alarm_cost)

    def _money_of_values(self) -> MoneyCost:
        points, worth, costs = self.points, self.points.costed, self.scenario.costs
        rows = self.decision.chosen_rows[::-1]
        switches = np.array([choice.cost_ratio_low for choice in self.choices[1:]])
        ratios = ratio_moments(costs, switches, worth.negatives_per_positive)
        probability, _ = cost_moments(costs, switches, worth.negatives_per_positive)
        total = float(ratios @ worth.fp[rows] + probability @ (worth.n_positive - worth.tp[rows]))
        sums, sizes = (worth.n_positive, worth.n_negative), (points.n_positive, points.n_negative)
        per_1000 = PER_CASES * total / points.n_cases
        return money_of_values(per_1000, *sums, *sizes, float(ratios.sum()))

    def frame(self, backend: str | None = None) -> Any:
        """Return the choices as a data frame, one row per interval of the cost ratio."""
        return make_frame(choice_columns(self.choices), backend)

    def summary(self) -> tuple[tuple[str, str], ...]:
        """Return score, limits, costs and region as pairs of name and text."""
        best = self.most_precise
        try:
            binding = " and ".join(self.binding) or "no limit"
        except IncompleteCountsError:
            binding = "not known from these counts"
        recall = self.scenario.min_recall
        most = count_within(self.max_alarms, *(choice.alarms for choice in self.choices))
        limits = (
            f"precision >= {self.scenario.min_precision:g}, "
            f"{'' if recall is None else f'recall >= {recall:g}, '}"
            f"alarms <= {most} of {self._all_cases}"
        )
        nothing = "only raising no alarm" if recall is None else "nothing"
        if self.scenario.per is not None:
            limits += f" ({self.scenario.capacity} {self.scenario.rule})"
        return (
            self._scored,
            ("limits", limits),
            ("costs", self.scenario.costs.words),
            ("feasible", "yes" if self.feasible else nothing),
            ("binding", binding),
            (
                "highest precision within capacity",
                f"{short(best.precision, self.scenario.min_precision)} at recall "
                f"{short(best.recall)} ({count(best.alarms)} alarms)",
            ),
            ("region", f"area {short(self.region.area)}"),
        )

    @property
    def _scored(self) -> tuple[str, str]:
        """The score, or the cost where cases have values, for which the score may be undefined."""
        if self.points.worth is None:
            return "partial VOROS", short(self.score)
        return "expected cost", f"{short(self.expected_cost)} of the worst, by the values of cases"

    @property
    def _all_cases(self) -> str:
        stays = self.points.stays
        return count(self.points.n_cases) if stays is None else stays.words

    def _table(self) -> Table:
        header = ("cost ratio", "threshold", "TP", "FP", "alarms", "precision", "recall")
        rows: list[tuple[str, ...]] = [
            (
                interval(c.cost_ratio_low, c.cost_ratio_high),
                "never alarm" if c.never_alarm else threshold_text(c.threshold),
                count(c.tp),
                count(c.fp),
                count(c.alarms),
                short(c.precision),
                short(c.recall),
            )
            for c in self.choices[:SHOWN_CHOICES]
        ]
        n_more = len(self.choices) - SHOWN_CHOICES
        if n_more > 0:
            rows.append((f"... and {n_more} more", *[""] * (len(header) - 1)))
        return Table.from_rows([header, *rows])

    def __repr__(self) -> str:
        """Show score, limits and choices as text."""
        width = max(len(name) for name, _ in self.summary())
        lines = [f"{name:<{width}}  {text}" for name, text in self.summary()]
        return "\n".join([*lines, "", self._table().text()])

    def _repr_html_(self) -> str:
        return f"{html_pairs(self.summary())}{self._table().html()}"


def evaluate(
    y_true: Any,
    y_score: Any = None,
    scenario: Scenario | None = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    periods: Any = None,
    times: Any = None,
    miss_value: Any = None,
    false_alarm_cost: Any = None,
) -> Evaluation:
    """Score a classifier in a scenario, and keep the decision behind the score.

    With 32,768 cases or more, and with arrays on a device (torch, CuPy), only the thresholds that
    can be chosen within the limits are counted; `Evaluation.points` holds no others.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight, periods, times
        As in `voros.partial_voros_score`, `OperatingPoints` in place of `y_true` and `y_score` too.
    scenario : Scenario
        Limits and costs.
    miss_value, false_alarm_cost : array-like of shape (n_cases,) or number, optional
        The cost of missing each case, and of a false alarm on it, in the same unit; 1 where only
        the other is given. Costs add up these values, with those of false alarms multiplied by the
        cost ratio, which is 1 where both are in money. Limits count cases.

    Returns
    -------
    Evaluation
        The score, the chosen thresholds and what binds them.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> result = voros.evaluate([0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.8, 0.7, 0.3, 0.2], scenario)
    >>> result.choices[0].threshold, result.choices[0].alarms, result.binding
    (0.7, 3, ('capacity',))

    A published curve of three points, 1,000 positives and 9,000 negatives:

    >>> curve = voros.OperatingPoints.from_points(
    ...     [0.01, 0.05, 0.2], [0.3, 0.6, 0.85], n_positive=1000, n_negative=9000
    ... )
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.2, cost_ratio=(1 / 40, 1 / 20))
    >>> round(voros.evaluate(curve, scenario=scenario).score, 4)
    0.4805
    """
    limits = check_scenario(scenario)
    how = {"pos_label": pos_label, "sample_weight": sample_weight, "miss_value": miss_value}
    how |= {"false_alarm_cost": false_alarm_cost, "periods": periods, "times": times}
    points = read_points(y_true, y_score, limits, **how, worth=True)
    evaluation = Evaluation(decide(kept_points(points), limits))
    warn_about(evaluation.decision)
    return evaluation


def evaluation_of(points: OperatingPoints, scenario: Scenario) -> Evaluation:
    """Score operating points as `evaluate` does, without a warning."""
    points_of_one(points)
    return Evaluation(decide(check_points(points), check_scenario(scenario)))
