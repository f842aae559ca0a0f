"""The price of each confidence of a ladder: thresholds, alarms and expected cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.volume import cost_moments
from voros.io.frames import make_frame
from voros.text.numbers import count, short, threshold_text
from voros.text.table import ReprMixin, Table

if TYPE_CHECKING:
    from voros.policy.threshold_policy import ThresholdPolicy


@dataclass(frozen=True, kw_only=True)
class ConfidenceStep:
    """The threshold that would be deployed at one confidence, with its results on validation.

    Attributes
    ----------
    confidence : float or None
        None without a guarantee.
    model : str or None
    threshold : float
        The default threshold; +inf raises no alarm.
    alarms, tp : float
        Counts on the validation cases.
    recall : float
    expected_cost : float
        Expected normalised cost on the validation cases.
    """

    confidence: float | None
    model: str | None
    threshold: float
    alarms: float
    tp: float
    recall: float
    expected_cost: float

    @classmethod
    def from_policy(cls, policy: ThresholdPolicy) -> ConfidenceStep:
        """Return the results of a policy on the cases that it was decided on."""
        chosen, guarantee = policy.default, policy.guarantee
        return cls(
            confidence=None if guarantee is None else guarantee.only_confidence,
            model=policy.model,
            threshold=chosen.threshold,
            alarms=chosen.alarms,
            tp=chosen.tp,
            recall=chosen.recall,
            expected_cost=_expected_cost(policy),
        )


def _expected_cost(policy: ThresholdPolicy) -> float:
    """Return the expected normalised cost, with the threshold of each cost."""
    probability, t_integral = cost_moments(policy.scenario.costs, policy.switches, policy.odds)
    choices, values = policy.choices, policy.values
    if values is None:
        fpr = np.array([choice.fp for choice in choices]) / policy.n_negative
        missed = 1.0 - np.array([choice.recall for choice in choices])
    else:
        fpr = np.array([choice.false_alarm_cost for choice in choices]) / values.false_alarm_cost
        missed = 1.0 - np.array([choice.value_caught for choice in choices]) / values.miss_value
    return float(t_integral @ fpr + (probability - t_integral) @ missed)


@dataclass(frozen=True, repr=False)
class ConfidenceCurve(ReprMixin):
    """The price of each confidence; any may be chosen after the curve is seen.

    Attributes
    ----------
    steps : tuple of ConfidenceStep
        From the highest confidence to the lowest; the last step is without a guarantee.
    deployed : float
        The confidence of the policy.

    Examples
    --------
    >>> import numpy as np, voros
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(900) < 0.2
    >>> scores = 1.2 * y + rng.normal(size=900)
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.2, cost_ratio=(0.05, 0.1))
    >>> policy = voros.ThresholdPolicy.from_validation(
    ...     y, scores, scenario, guarantee=(0.95, 0.9, 0.8), n_models=1
    ... )
    >>> policy.confidence_curve()
    confidence  threshold  alarms  tp  recall  expected cost  given up
    0.95            never       0   0       0          0.765     0.365
    0.9*          2.24...      29  21   0.120          0.675     0.276
    0.8           2.24...      29  21   0.120          0.675     0.276
    none          1.18...     176  90   0.514          0.399         0
    * deployed; any confidence of the ladder may be chosen
    """

    steps: tuple[ConfidenceStep, ...]
    deployed: float

    @property
    def given_up(self) -> tuple[float, ...]:
        """Expected cost of each step, less that without a guarantee."""
        plain = self.steps[-1].expected_cost
        return tuple(step.expected_cost - plain for step in self.steps)

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each step."""
        names = ConfidenceStep.__dataclass_fields__
        columns = {name: [getattr(step, name) for step in self.steps] for name in names}
        return make_frame(columns | {"given_up": list(self.given_up)}, backend)

    def table(self) -> Table:
        """Return a table with a row for each step."""
        head = ("threshold", "alarms", "tp", "recall", "expected cost", "given up")
        named = len({step.model for step in self.steps}) > 1
        rows = [("confidence", *(("model",) if named else ()), *head)]
        for step, given_up in zip(self.steps, self.given_up, strict=True):
            mark = "*" if step.confidence == self.deployed else ""
            confidence = "none" if step.confidence is None else f"{step.confidence:g}{mark}"
            model = (step.model or "",) if named else ()
            rows.append((confidence, *model, *_cells(step), short(given_up)))
        return Table.from_rows(rows)

    def _parts(self) -> tuple[Table, str]:
        return self.table(), "* deployed; any confidence of the ladder may be chosen"


def _cells(step: ConfidenceStep) -> tuple[str, ...]:
    return (
        "never" if step.alarms == 0 else threshold_text(step.threshold),
        count(step.alarms),
        count(step.tp),
        short(step.recall),
        short(step.expected_cost),
    )
