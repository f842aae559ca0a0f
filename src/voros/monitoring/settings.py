"""What a monitor is asked to promise; kept in its file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from voros.core.arrays import (
    LARGEST_FINITE,
    OPEN_INTERVAL,
    as_number,
    check_count,
    check_number,
)
from voros.core.calendar import CALENDAR, Calendar
from voros.exceptions import ArgumentError
from voros.io.documents import read_document
from voros.io.writing import json_text
from voros.monitoring.times import SECONDS_PER_DAY, read_days
from voros.policy import ThresholdPolicy


@dataclass(frozen=True)
class Settings:
    """How a monitor judges; `Monitor` explains each."""

    window: float
    alpha: float = 0.05
    run_length: float = 10_000.0
    cost_ratio: float | None = None
    capacity: float | None = None
    exceed: float | None = None
    max_cost: float | None = None
    most_per_patient: int = 1
    episode: float = 0.0
    score_unit: str | None = None

    def __post_init__(self) -> None:
        """Check every setting."""
        object.__setattr__(self, "window", read_days(self.window, "window"))
        object.__setattr__(self, "episode", read_days(self.episode, "episode"))
        check_number(self.alpha, "alpha", "a number strictly between 0 and 1", *OPEN_INTERVAL)
        accepted = "a number of alarms of at least 10"
        check_number(self.run_length, "run_length", accepted, 10.0, 1e12)
        if self.cost_ratio is not None:
            accepted = "a finite number of at least 0"
            check_number(self.cost_ratio, "cost_ratio", accepted, 0.0, LARGEST_FINITE)
        if self.exceed is not None:
            check_number(self.exceed, "exceed")
            if self.capacity is None:
                raise ArgumentError("exceed", " needs capacity, a number of alarms per period")
        for name in ("capacity", "max_cost"):
            value = getattr(self, name)
            if value is not None and not as_number(value, name) > 0:
                raise ArgumentError(name, f"={value!r}; accepted is a number above 0")
        check_count(self.most_per_patient, "most_per_patient", "a whole number from 1")
        self._check_episode()
        if self.score_unit is not None and Calendar.of(self.score_unit) is None:
            accepted = ", ".join(CALENDAR)
            raise ArgumentError("score_unit", f"={self.score_unit!r}; accepted are {accepted}")

    def _check_episode(self) -> None:
        """Alarms of a patient are summed only within an episode: both settings, or neither."""
        most, episode = self.most_per_patient, self.episode
        if most > 1 and not episode:
            raise ArgumentError(
                "episode",
                f" is needed with most_per_patient={most}: the days after a patient's first alarm "
                "within which further alarms are summed with it",
            )
        if episode and most == 1:
            raise ArgumentError(
                "episode", f"={episode:g} needs most_per_patient, the most alarms of an episode"
            )

    @property
    def window_seconds(self) -> float:
        """The maturity window in seconds."""
        return self.window * SECONDS_PER_DAY

    @property
    def episode_seconds(self) -> float:
        """The length of an episode in seconds."""
        return self.episode * SECONDS_PER_DAY

    @property
    def reach_seconds(self) -> float:
        """How long after its begin a unit may still get another alarm, in seconds."""
        return self.episode_seconds if self.most_per_patient > 1 else 0.0

    def text(self) -> str:
        """Return the settings as JSON."""
        return json_text(asdict(self), indent=None)

    @classmethod
    def from_text(cls, text: str) -> Settings:
        """Read settings back."""
        values: dict[str, Any] = read_document(text, "settings of a monitor").value
        unknown = sorted(set(values) - set(cls.__dataclass_fields__))
        if unknown:
            raise ValueError(f"settings of a monitor hold {unknown[0]!r}, which is not known here")
        return cls(**values)


@dataclass(frozen=True)
class CapacityLimit:
    """Most alarms: a share of the cases, or a number per period.

    Attributes
    ----------
    most : float
    kind : str
        "share" of the cases; "mean" number over periods; "exceed", the share of periods that may
        have more; "never" may any.
    exceed : float
    """

    most: float
    kind: str
    exceed: float = 0.0


def capacity_limit(policy: ThresholdPolicy, settings: Settings) -> CapacityLimit | None:
    """Return the limit on alarms that a monitor watches; None where there is none."""
    if settings.capacity is not None:
        return _per_period(settings.capacity, settings.exceed)
    scenario, n_cases = policy.scenario, policy.n_positive + policy.n_negative
    if scenario.per is not None:
        return _per_period(scenario.capacity, scenario.exceed)
    share = float(scenario.capacity) / (n_cases if scenario.capacity_is_count else 1)
    return CapacityLimit(share, "share") if share < 1 else None


def _per_period(most: float, exceed: Any) -> CapacityLimit:
    if exceed is None:
        return CapacityLimit(float(most), "mean")
    kind = "exceed" if exceed > 0 else "never"
    return CapacityLimit(float(most), kind, float(exceed))
