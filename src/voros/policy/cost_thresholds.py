"""A threshold for each cost ratio: what is deployed, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.costs import read_cost_ratios
from voros.core.hull import Choice, choice_columns
from voros.core.scenario import Scenario
from voros.core.volume import cost_moments
from voros.io.frames import make_frame
from voros.policy.confidence_curve import ConfidenceCurve, ConfidenceStep, check_curve
from voros.policy.origin import COST_AWARE, Origin, PolicyStrategy, PolicyValues
from voros.policy.summary import policy_html, policy_text
from voros.typing import FloatArray

if TYPE_CHECKING:
    from voros.alarms import AlarmRule
    from voros.guarantee import Guarantee


@dataclass(frozen=True, eq=False, kw_only=True)
class CostThresholds:
    """The map from cost ratio to threshold; `ThresholdPolicy` says what each field holds."""

    scenario: Scenario
    strategy: PolicyStrategy
    choices: tuple[Choice, ...]
    default: Choice
    n_positive: float
    n_negative: float
    guarantee: Guarantee | None = None
    model: str | None = None
    n_models: int = 1
    pos_label: Any = None
    origin: Origin | None = None
    curve: tuple[ConfidenceStep, ...] = ()
    rule: AlarmRule | None = None
    values: PolicyValues | None = None

    @property
    def odds(self) -> float:
        """Negatives per positive, or the same of their values: what costs over t are read with."""
        if self.values is None:
            return self.n_negative / self.n_positive
        return self.values.false_alarm_cost / self.values.miss_value

    @property
    def thresholds(self) -> FloatArray:
        """The threshold on each interval of the cost ratio, in increasing order."""
        return np.array([choice.threshold for choice in self.choices])

    @property
    def switches(self) -> FloatArray:
        """Rising cost ratios at which the next threshold takes over."""
        return np.array([choice.cost_ratio_low for choice in self.choices[1:]])

    @property
    def probabilities(self) -> FloatArray:
        """Probability of each interval, if the class sizes are those of the validation data."""
        return cost_moments(self.scenario.costs, self.switches, self.odds)[0]

    @property
    def never_alarms(self) -> bool:
        """Whether the policy raises no alarm at any cost ratio."""
        return all(choice.never_alarm for choice in self.choices)

    def threshold(self, cost_ratio: Any = None) -> Any:
        """Return the threshold to deploy at a cost ratio C_FP / C_FN.

        Parameters
        ----------
        cost_ratio : float or array-like, optional
            Any number of at least 0, within or beyond the scenario's range; None is the default
            threshold, for when the cost ratio is not known.

        Returns
        -------
        float or ndarray
            +inf is never alarm.
        """
        if cost_ratio is None:
            return self.default.threshold
        ratios = read_cost_ratios(cost_ratio)
        chosen = self.thresholds[np.searchsorted(self.switches, ratios, side="right")]
        return chosen if ratios.ndim else float(chosen)

    def fixed(self) -> Self:
        """Return the policy that deploys the default threshold whatever the cost ratio is."""
        strategy: PolicyStrategy = "single" if self.strategy in COST_AWARE else self.strategy
        return replace(self, strategy=strategy, choices=(self.default,))

    def confidence_curve(self) -> ConfidenceCurve:
        """Return what each confidence of the guarantee's ladder would deploy, and what it costs.

        The ladder was fixed beforehand, so any of its confidences may be chosen after a look at
        the curve: decide again with ``guarantee=policy.guarantee.at(0.8)``.
        """
        confidence = None if self.guarantee is None else self.guarantee.confidence
        return check_curve(self.curve, confidence)

    def frame(self, backend: str | None = None) -> Any:
        """Return the policy as a data frame, one row per interval of the cost ratio.

        The counts are those on the validation data; `probability` is that of the interval.
        """
        columns = choice_columns(self.choices) | {"probability": self.probabilities.tolist()}
        return make_frame(columns, backend)

    def _repr_html_(self) -> str:
        """Show limits, guarantee and thresholds, for notebooks."""
        return policy_html(self)

    def __repr__(self) -> str:
        """Show limits, guarantee and thresholds."""
        return policy_text(self)
