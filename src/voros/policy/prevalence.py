r"""Fixed thresholds where positives are more or less common: label shift.

Label shift means that positives and negatives each score as before and only their shares change.
Then TPR and FPR of a threshold stay, and at a prevalence p

.. math::

    \text{precision} = \frac{p\,\text{TPR}}{p\,\text{TPR} + (1 - p)\,\text{FPR}}, \quad
    \text{alarms} = p\,\text{TPR} + (1 - p)\,\text{FPR}

of the cases. It does not hold where the positives themselves change, such as milder cases or a new
way to measure; no data without labels can show that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.cases import check_scores
from voros.core.exact_intervals import PER_CASES, fpr_of, recall_of
from voros.core.scenario import Scenario
from voros.core.volume import ratio_moments
from voros.exceptions import ArgumentError
from voros.io.frames import make_frame
from voros.text.numbers import interval, short, threshold_text
from voros.text.table import ReprMixin, Table
from voros.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    pass

N_PREVALENCES = 99
"""Prevalences that are looked at where none are named."""

KEPT_SLACK = 1e-12
"""Relative slack against a limit that is met exactly, which rates carry as rounding."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PrevalenceBand(ReprMixin):
    """What one threshold does at other prevalences, under label shift.

    Attributes
    ----------
    prevalences : ndarray
    threshold : float
    observed : float
        Prevalence of the cases.
    precision, precision_low, precision_high : ndarray
        At each prevalence, with a band that holds at all of them together with the stated
        confidence; NaN where no alarm is raised.
    recall, recall_low : float
        The same at every prevalence, and the low end of its interval.
    alarms, alarms_low, alarms_high : ndarray
        The same for alarms as a share of the cases.
    cost_per_1000 : ndarray
        Expected cost of 1,000 cases, a miss costing 1 and a false alarm its cost ratio.
    max_share : float
        The capacity as a share of the cases.
    scenario : Scenario
    confidence_level : float

    Examples
    --------
    >>> import voros
    >>> y, scores = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.9, 0.8, 0.7, 0.3, 0.2] * 20
    >>> policy = voros.ThresholdPolicy.from_validation(y, scores, voros.Scenario(0.5, 0.5, 0.1))
    >>> band = policy.evaluate(y, scores).over_prevalences([0.1, 0.5])
    >>> band.precision.tolist(), band.kept.tolist()
    ([0.1818, 0.6667], [False, True])
    """

    prevalences: FloatArray
    threshold: float
    observed: float
    precision: FloatArray
    precision_low: FloatArray
    precision_high: FloatArray
    recall: float
    recall_low: float
    alarms: FloatArray
    alarms_low: FloatArray
    alarms_high: FloatArray
    cost_per_1000: FloatArray
    max_share: float
    scenario: Scenario
    confidence_level: float

    @property
    def kept(self) -> BoolArray:
        """At which prevalences the rates on these cases keep the limits."""
        return self._within(self.precision, self.recall, self.alarms)

    @property
    def surely_kept(self) -> BoolArray:
        """At which prevalences the whole band keeps the limits."""
        return self._within(self.precision_low, self.recall_low, self.alarms_high)

    def _within(self, precision: FloatArray, recall: float, alarms: FloatArray) -> BoolArray:
        floor, least = float(self.scenario.floor), float(self.scenario.recall_floor)
        precise = np.isnan(precision) | (precision >= floor * (1 - KEPT_SLACK))
        recalled = recall >= least * (1 - KEPT_SLACK)
        return np.asarray(precise & recalled & (alarms <= self.max_share * (1 + KEPT_SLACK)))

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each prevalence."""
        names = (
            *("precision", "precision_low", "precision_high", "alarms", "alarms_low"),
            *("alarms_high", "cost_per_1000", "kept", "surely_kept"),
        )
        columns = {"prevalence": self.prevalences} | {name: getattr(self, name) for name in names}
        return make_frame({name: values.tolist() for name, values in columns.items()}, backend)

    def _parts(self) -> tuple[str, Table]:
        title = (
            f"threshold {threshold_text(self.threshold)} at prevalences from "
            f"{interval(self.prevalences[0], self.prevalences[-1])}; these cases have "
            f"{short(self.observed)}"
        )
        kept = {"these rates": self.kept, "the whole band": self.surely_kept}
        rows = [(name, _spans(self.prevalences, marks)) for name, marks in kept.items()]
        return title, Table.from_rows([("limits kept by", "prevalence"), *rows])


def _spans(prevalences: FloatArray, kept: BoolArray) -> str:
    """Name the runs of prevalences at which limits are kept."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]]).astype(np.int8)))
    spans = [
        interval(prevalences[start], prevalences[stop - 1]) for start, stop in edges.reshape(-1, 2)
    ]
    return ", ".join(spans) or "none of these"


def prevalence_band(evaluation: Any, prevalences: Any = None) -> PrevalenceBand:
    """Say what the threshold of an evaluation does at other prevalences.

    `PolicyEvaluation.over_prevalences` is this. The band follows from the limits of TPR and FPR,
    each with half of the error, so it holds at all prevalences together.
    """
    counts, scenario = evaluation.counts, evaluation.scenario
    _check(evaluation)
    grid = _grid(prevalences)
    half = 0.5 + evaluation.confidence_level / 2
    tpr, tpr_low, tpr_high = counts.share(recall_of, half).first
    fpr, fpr_low, fpr_high = counts.share(fpr_of, half).first
    n_cases = evaluation.n_positive + evaluation.n_negative
    ratios = np.array([ratio_moments(scenario.costs, np.empty(0), (1 - p) / p)[0] for p in grid])
    cost = PER_CASES * (ratios * (1 - grid) * fpr + grid * (1 - tpr))
    return PrevalenceBand(
        prevalences=grid,
        threshold=float(evaluation.choices[0].threshold),
        observed=float(counts.n_positive / (counts.n_positive + counts.n_negative)),
        precision=_precision(grid, tpr, fpr),
        precision_low=_precision(grid, tpr_low, fpr_high),
        precision_high=_precision(grid, tpr_high, fpr_low),
        recall=tpr,
        recall_low=tpr_low,
        alarms=grid * tpr + (1 - grid) * fpr,
        alarms_low=grid * tpr_low + (1 - grid) * fpr_low,
        alarms_high=grid * tpr_high + (1 - grid) * fpr_high,
        cost_per_1000=cost,
        max_share=float(evaluation.max_alarms / n_cases),
        scenario=scenario,
        confidence_level=evaluation.confidence_level,
    )


def _precision(prevalence: FloatArray, tpr: float, fpr: float) -> FloatArray:
    tp, fp = prevalence * tpr, (1 - prevalence) * fpr
    with np.errstate(invalid="ignore"):
        return np.asarray(tp / (tp + fp))


def _grid(prevalences: Any) -> FloatArray:
    if prevalences is None:
        return np.linspace(0.01, 0.99, N_PREVALENCES)
    grid = check_scores(np.atleast_1d(prevalences), name="prevalences").astype(np.float64)
    if len(grid) == 0 or not np.all((grid > 0) & (grid < 1)) or np.any(np.diff(grid) <= 0):
        raise ArgumentError(
            "prevalences", f"={prevalences!r}; accepted are rising numbers strictly within 0 and 1"
        )
    return grid


def _check(evaluation: Any) -> None:
    counts, exceed = evaluation.counts, evaluation.scenario.exceed
    if len(evaluation.choices) != 1:
        raise ValueError(
            f"{len(evaluation.choices)} thresholds were evaluated; a band is that of one: evaluate "
            "the default threshold, or one cost ratio"
        )
    if exceed is not None:
        raise ArgumentError(
            "exceed",
            f"={exceed!r}: how many periods pass the capacity at another prevalence depends on "
            "which positives come on the same day; without it the mean over periods is judged",
        )
    if not counts.whole:
        raise ValueError("a band needs whole cases, and these are weighted (sample_weight)")
    if not counts.n_positive or not counts.n_negative:
        raise ValueError("a band needs cases of both classes")
