"""Count the alarms of deployed thresholds in each period, against a capacity per period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.grouped_cases import counts_by_group
from voros.core.periods import SUM_ROUNDING, PeriodCases, most_above
from voros.core.scenario import Scenario
from voros.io.frames import make_frame
from voros.policy.violations import CheckedLimit
from voros.text.numbers import count, threshold_text
from voros.text.table import ReprMixin, Table
from voros.typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PeriodEvaluation(ReprMixin):
    """Alarms of each period at each deployed threshold.

    Attributes
    ----------
    scenario : Scenario
    names : ndarray of str, shape (n_periods,)
        All periods, including those without a case.
    thresholds : ndarray of shape (n_thresholds,)
    n_cases, n_positive : ndarray of shape (n_periods,)
    tp, fp : ndarray of shape (n_periods, n_thresholds)
    note : str
        How the periods were counted.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(capacity=1, per="day", cost_ratio=0.1, exceed=0.5)
    >>> y, scores, days = [1, 1, 0, 1, 0], [9, 8, 2, 5, 3], ["mon", "mon", "mon", "tue", "wed"]
    >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario, periods=days)
    >>> result = policy.evaluate(y, scores, periods=days).by_period
    >>> result.names.tolist(), result.alarms[:, 0].tolist()
    (['mon', 'tue', 'wed'], [2, 1, 0])
    """

    scenario: Scenario
    names: AnyArray
    thresholds: FloatArray
    n_cases: AnyArray
    n_positive: AnyArray
    tp: AnyArray
    fp: AnyArray
    note: str

    @classmethod
    def from_cases(
        cls,
        cases: PeriodCases,
        thresholds: FloatArray,
        scenario: Scenario,
        per_positive: float = 1.0,
        per_negative: float = 1.0,
    ) -> PeriodEvaluation:
        """Count the alarms of each period; the classes may be weighted to another prevalence.

        Returns
        -------
        PeriodEvaluation
        """
        cases.check_unit(scenario)
        everything = np.append(thresholds, -np.inf)

        def counts(members: BoolArray, weight: float) -> AnyArray:
            weights = None if cases.weights is None else cases.weights[members]
            codes, scores = cases.periods.codes[members], cases.scores[members]
            n_periods = cases.periods.n_periods
            by_period = counts_by_group(codes, n_periods, scores, everything, weights)
            return by_period if weight == 1.0 else by_period * weight

        tp, fp = counts(cases.positive, per_positive), counts(~cases.positive, per_negative)
        rows = np.arange(cases.periods.n_periods)
        if cases.drawn is not None:
            rows = np.repeat(rows, cases.drawn)
        return cls(
            scenario=scenario,
            names=cases.periods.names[rows],
            thresholds=thresholds,
            n_cases=(tp + fp)[rows, -1],
            n_positive=tp[rows, -1],
            tp=tp[rows, :-1],
            fp=fp[rows, :-1],
            note=cases.periods.note,
        )

    @property
    def n_periods(self) -> int:
        """How many periods there are."""
        return len(self.names)

    @property
    def alarms(self) -> AnyArray:
        """Alarms of each period at each threshold."""
        return np.asarray(self.tp + self.fp)

    @property
    def above(self) -> BoolArray:
        """Which periods have more alarms than the capacity, at each threshold."""
        return np.asarray(self.alarms > self.scenario.capacity + self._rounding)

    @property
    def mean_alarms(self) -> FloatArray:
        """Mean number of alarms of a period, at each threshold."""
        return np.asarray(self.alarms.sum(axis=0) / self.n_periods)

    @property
    def n_above(self) -> AnyArray:
        """How many periods have more alarms than the capacity, at each threshold."""
        return np.asarray(np.count_nonzero(self.above, axis=0))

    @property
    def limits(self) -> tuple[CheckedLimit, ...]:
        """The mean over periods, and with ``exceed`` the share of periods above the capacity."""
        capacity, per, exceed = self.scenario.capacity, self.scenario.per, self.scenario.exceed
        broken = self.alarms.sum(axis=0) > capacity * self.n_periods + self._rounding
        measure = f"alarms per {per}, on average"
        mean = CheckedLimit("capacity", self.mean_alarms, float(capacity), broken, measure)
        if exceed is None:
            return (mean,)
        measure = f"of the periods (per {per}) have more than {capacity} alarms"
        broken = self.n_above > most_above(self.scenario, self.n_periods)
        above = self.n_above / self.n_periods
        return mean, CheckedLimit("capacity", above, exceed, broken, measure)

    @property
    def _rounding(self) -> float:
        """How far rounding can move a sum of weighted alarms; counts are exact."""
        return SUM_ROUNDING * float(self.n_cases.sum()) if self.alarms.dtype.kind == "f" else 0.0

    @property
    def broken(self) -> BoolArray:
        """Which thresholds break the capacity, on average or in too many periods."""
        return np.asarray(np.any([limit.broken for limit in self.limits], axis=0))

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each threshold and period, column by column."""
        n_thresholds = len(self.thresholds)
        by_threshold = {"tp": self.tp, "fp": self.fp, "alarms": self.alarms, "above": self.above}
        return {
            "period": np.tile(self.names, n_thresholds).tolist(),
            "threshold": np.repeat(self.thresholds, self.n_periods).tolist(),
            "cases": np.tile(self.n_cases, n_thresholds).tolist(),
            "positives": np.tile(self.n_positive, n_thresholds).tolist(),
            **{name: values.T.ravel().tolist() for name, values in by_threshold.items()},
            "capacity": [self.scenario.capacity] * (n_thresholds * self.n_periods),
        }

    def values(self) -> dict[str, Any]:
        """Return the counts that the capacity limits, for each threshold, as plain values."""
        return {
            "n_periods": self.n_periods,
            "thresholds": self.thresholds.tolist(),
            "mean_alarms": self.mean_alarms.tolist(),
            "n_above": self.n_above.tolist(),
            "most_alarms": self.alarms.max(axis=0).tolist(),
            "note": self.note,
        }

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each threshold and period."""
        return make_frame(self.columns(), backend)

    def _parts(self) -> tuple[str | Table, ...]:
        title = f"alarms at most {self.scenario.capacity:,} {self.scenario.rule}; {self.note}"
        head = ("threshold", "mean", "most", f"above {self.scenario.capacity:,}", "kept")
        columns = (self.thresholds, self.mean_alarms, self.alarms.max(axis=0), self.n_above)
        rows = [
            (
                threshold_text(threshold),
                count(mean),
                count(most),
                f"{n_above:,} of {self.n_periods:,}",
                "no" if broken else "yes",
            )
            for threshold, mean, most, n_above, broken in zip(*columns, self.broken, strict=True)
        ]
        return title, Table.from_rows([head, *rows])
