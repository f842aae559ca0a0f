"""A threshold for each cost ratio: which is deployed, and how all are printed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.costs import read_cost_ratios
from voros.core.hull import Choice, choice_columns
from voros.core.scenario import Scenario
from voros.core.volume import cost_moments
from voros.exceptions import ArgumentError
from voros.io.frames import make_frame
from voros.policy.confidence_curve import ConfidenceCurve, ConfidenceStep
from voros.policy.origin import (
    COST_AWARE,
    STRATEGY_WORDS,
    Origin,
    PolicyStrategy,
    PolicyValues,
)
from voros.text.numbers import (
    count,
    count_within,
    interval,
    positives_in_words,
    short,
    threshold_text,
)
from voros.text.table import Table, html_pairs
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
        """Negatives per positive, or the ratio of their values, which costs over t depend on."""
        if self.values is None:
            return self.n_negative / self.n_positive
        return self.values.false_alarm_cost / self.values.miss_value

    @property
    def thresholds(self) -> FloatArray:
        """The threshold on each interval of the cost ratio, in increasing order."""
        return np.array([choice.threshold for choice in self.choices])

    @property
    def switches(self) -> FloatArray:
        """Rising cost ratios; from each on, the next threshold is deployed."""
        return np.array([choice.cost_ratio_low for choice in self.choices[1:]])

    @property
    def probabilities(self) -> FloatArray:
        """Probability of each interval, at the class sizes of the validation data."""
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
            Any number of at least 0, within or beyond the scenario's range; None returns the
            default threshold, for a cost ratio that is not known.

        Returns
        -------
        float or ndarray
            +inf raises no alarm.
        """
        if cost_ratio is None:
            return self.default.threshold
        ratios = read_cost_ratios(cost_ratio)
        chosen = self.thresholds[np.searchsorted(self.switches, ratios, side="right")]
        return chosen if ratios.ndim else float(chosen)

    def fixed(self) -> Self:
        """Return the policy that deploys the default threshold at every cost ratio."""
        strategy: PolicyStrategy = "single" if self.strategy in COST_AWARE else self.strategy
        return replace(self, strategy=strategy, choices=(self.default,))

    def confidence_curve(self) -> ConfidenceCurve:
        """Return the threshold at each confidence of the guarantee's ladder, and its cost.

        The ladder was fixed beforehand, so any of its confidences may be chosen after the curve is
        seen: decide again with ``guarantee=policy.guarantee.at(0.8)``.
        """
        confidence = None if self.guarantee is None else self.guarantee.confidence
        if not self.curve or not isinstance(confidence, float):
            raise ArgumentError(
                "guarantee",
                " has one confidence or none; a curve needs a ladder that was fixed beforehand, "
                "such as guarantee=voros.Guarantee(confidence=(0.95, 0.9, 0.8))",
            )
        return ConfidenceCurve(self.curve, confidence)

    def frame(self, backend: str | None = None) -> Any:
        """Return the policy as a data frame, one row per interval of the cost ratio.

        The counts are those on the validation data; `probability` is that of the interval.
        """
        columns = choice_columns(self.choices) | {"probability": self.probabilities.tolist()}
        return make_frame(columns, backend)

    def _repr_html_(self) -> str:
        """Show limits, guarantee and thresholds, for notebooks."""
        return html_pairs(self.summary()) + self.table().html()

    def __repr__(self) -> str:
        """Show limits, guarantee and thresholds."""
        lines = (f"{name}: {text}" for name, text in self.summary())
        return "\n".join((*lines, self.table().text()))

    def summary(self) -> list[tuple[str, str]]:
        """Return model, limits, guarantee and cases, as pairs of name and text."""
        scenario = self.scenario
        guarantee = "none" if self.guarantee is None else self.guarantee.words
        if self.guarantee is not None and self.n_models > 1:
            guarantee += f"; error split over {self.n_models} models"
        if self.guarantee is not None and self.origin is not None and self.origin.plan:
            guarantee += f"; {self.origin.plan}"
        positive = positives_in_words(self.n_positive, scenario.prevalence)
        stated = dict(scenario.summary())
        return [
            ("policy for", "one model" if self.model is None else self.model),
            ("strategy", STRATEGY_WORDS[self.strategy]),
            *([] if self.rule is None else [("rule", self.rule.words)]),
            ("costs", stated["costs"]),
            *([] if self.values is None else [("values", _values(self.values))]),
            *((name, stated[name]) for name in ("precision", "recall") if name in stated),
            ("alarms", f"at most {self._most_alarms}" if scenario.has_capacity else "any number"),
            ("guarantee", guarantee),
            ("validated on", f"{self._all_cases}, {positive}"),
        ]

    @property
    def _all_cases(self) -> str:
        if self.rule is None or self.origin is None:
            return f"{count(self.n_positive + self.n_negative)} cases"
        days = count(self.origin.patient_days or 0.0)
        return f"{self.origin.n_stays:,} stays over {days} patient-days"

    @property
    def _most_alarms(self) -> str:
        scenario, origin = self.scenario, self.origin
        per_period = f"{scenario.capacity:,} {scenario.rule}"
        if self.rule is not None and scenario.per_period:
            # The periods are those of admission, which the policy does not count.
            return per_period
        n_periods = None
        if origin is not None:
            n_periods = origin.n_periods if self.rule is None else origin.patient_days
        most = scenario.max_alarms(self.n_positive + self.n_negative, 0.0, n_periods)
        whole = count_within(most, *(choice.alarms for choice in self.choices))
        return f"{whole} of {self._all_cases}" + (f" ({per_period})" if scenario.per else "")

    def table(self) -> Table:
        """Return the default threshold and, where there are others, that of each cost."""
        low, high = self.scenario.costs.ratio_range(self.odds)
        used = [c for c, p in zip(self.choices, self.probabilities, strict=True) if p > 0]
        rows: list[tuple[str, ...]] = [("cost ratio", "threshold", "alarms", "precision", "recall")]
        rows.append(("default", *_cells(self.default)))
        for choice in used if len(used) > 1 else ():
            start, end = max(choice.cost_ratio_low, low), min(choice.cost_ratio_high, high)
            rows.append((interval(start, end), *_cells(choice)))
        return Table.from_rows(rows)


def _values(values: PolicyValues) -> str:
    times = " times miss value" if values.threshold_on == "value" else ""
    return (
        f"positives are worth {short(values.miss_value)}, false alarms on all negatives would cost "
        f"{short(values.false_alarm_cost)} times the cost ratio; threshold on the score{times}"
    )


def _cells(choice: Choice) -> tuple[str, str, str, str]:
    threshold = "never alarm" if choice.never_alarm else threshold_text(choice.threshold)
    precision = "" if choice.never_alarm else short(choice.precision)
    return threshold, count(choice.alarms), precision, short(choice.recall)
