"""A threshold for each cost ratio: what is deployed, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from voros.core.costs import read_cost_ratios
from voros.core.hull import Choice, choice_columns
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.core.volume import cost_moments
from voros.exceptions import ArgumentError
from voros.io.frames import make_frame
from voros.policy.confidence_curve import ConfidenceCurve, ConfidenceStep
from voros.policy.origin import COST_AWARE, Origin, PolicyStrategy, PolicyValues
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
            +inf raises no alarm.
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
        if not self.curve or not isinstance(confidence, float):
            raise ArgumentError(
                "guarantee",
                " has one confidence or none; a curve needs a ladder that was fixed beforehand, as "
                "guarantee=voros.Guarantee(confidence=(0.95, 0.9, 0.8))",
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
        return _metadata(self)

    def table(self) -> Table:
        """Return the default threshold and, where others are used, those at each cost."""
        return Table.from_rows(_thresholds(self))


def _metadata(policy: CostThresholds) -> list[tuple[str, str]]:
    scenario, cases = policy.scenario, policy.n_positive + policy.n_negative
    if policy.rule is None or policy.origin is None:
        n_periods: float | None = None if policy.origin is None else policy.origin.n_periods
        all_cases = f"{count(cases)} cases"
    else:
        n_periods = policy.origin.patient_days or 0.0
        all_cases = f"{policy.origin.n_stays:,} stays over {count(n_periods)} patient-days"
    most = scenario.max_alarms(cases, one_case=0.0, n_periods=n_periods)
    rule = f" ({scenario.capacity:,} {scenario.rule})" if scenario.per else ""
    alarms = f"{count_within(most, *(c.alarms for c in policy.choices))} of {all_cases}{rule}"
    if policy.rule is not None and scenario.per not in (None, PATIENT_DAY):
        # The periods are those of admission, which the policy does not count.
        alarms = f"{scenario.capacity:,} {scenario.rule}"
    shared = f"; error split over {policy.n_models} models" if policy.n_models > 1 else ""
    if policy.origin is not None and policy.origin.plan:
        shared += f"; {policy.origin.plan}"
    positive = positives_in_words(policy.n_positive, scenario.prevalence)
    return [
        ("policy for", "one model" if policy.model is None else policy.model),
        ("strategy", policy.strategy),
        *([] if policy.rule is None else [("rule", repr(policy.rule))]),
        ("costs", scenario.costs.words),
        *([] if policy.values is None else [("values", _values(policy.values))]),
        ("precision", f"at least {scenario.min_precision:g}"),
        *([("recall", f"at least {scenario.min_recall:g}")] if scenario.min_recall else []),
        ("alarms", f"at most {alarms}"),
        ("guarantee", "none" if policy.guarantee is None else policy.guarantee.words + shared),
        ("validated on", f"{all_cases}, {positive}"),
    ]


def _values(values: PolicyValues) -> str:
    times = " times miss value" if values.threshold_on == "value" else ""
    return (
        f"positives are worth {short(values.miss_value)}, false alarms on all negatives would cost "
        f"{short(values.false_alarm_cost)} times the cost ratio; threshold on the score{times}"
    )


def _thresholds(policy: CostThresholds) -> list[tuple[str, ...]]:
    """The default threshold, and those for the scenario's costs."""
    low, high = policy.scenario.costs.ratio_range(policy.odds)
    used = [c for c, p in zip(policy.choices, policy.probabilities, strict=True) if p > 0]
    rows: list[tuple[str, ...]] = [("cost ratio", "threshold", "alarms", "precision", "recall")]
    rows.append(("default", *_cells(policy.default)))
    for choice in used if len(used) > 1 else ():
        start, end = max(choice.cost_ratio_low, low), min(choice.cost_ratio_high, high)
        rows.append((interval(start, end), *_cells(choice)))
    return rows


def _cells(choice: Choice) -> tuple[str, str, str, str]:
    threshold = "never alarm" if choice.never_alarm else threshold_text(choice.threshold)
    precision = "" if choice.never_alarm else short(choice.precision)
    return threshold, count(choice.alarms), precision, short(choice.recall)
