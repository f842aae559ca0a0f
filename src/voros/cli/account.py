"""What the alarms of a policy mean for the limits it was made for."""

from __future__ import annotations

from dataclasses import dataclass

from voros.files import Predictions
from voros.inputs import BoolArray
from voros.report.wording import number
from voros.roc import OperatingPoints
from voros.scenario import Scenario


@dataclass(frozen=True)
class Account:
    """Alarms among new cases, against the capacity and, where labels are known, the floor.

    What labels would tell is None where there are none, and where no alarm was raised.
    """

    cases: int
    alarms: int
    max_alarms: float
    within_capacity: bool
    min_precision: float
    precision: float | None = None
    recall: float | None = None
    precise_enough: bool | None = None

    @classmethod
    def of(cls, scenario: Scenario, cases: Predictions, alarms: BoolArray) -> Account:
        """Count the alarms, and the right ones among them where labels are known."""
        n_cases, raised = len(alarms), int(alarms.sum())
        most = scenario.max_alarms(n_cases, one_case=0.0)
        capacity = (n_cases, raised, most, raised <= most, scenario.min_precision)
        if cases.positive is None or raised == 0:
            return cls(*capacity)
        right, n_positive = int((alarms & cases.positive).sum()), int(cases.positive.sum())
        point = OperatingPoints.from_counts(
            [right], [raised - right], n_positive, n_cases - n_positive
        )
        precise = bool(point.precise_enough(scenario.min_precision)[1])
        return cls(*capacity, right / raised, right / n_positive, precise)

    @property
    def kept(self) -> bool:
        """Whether no limit is known to be broken."""
        return self.within_capacity and self.precise_enough is not False

    @property
    def words(self) -> str:
        """The account in one line."""
        line = (
            f"{self.alarms:,} alarms in {self.cases:,} cases ({self.alarms / self.cases:.2%}), "
            f"capacity {number(self.max_alarms)}: {'kept' if self.within_capacity else 'exceeded'}"
        )
        if self.precision is None:
            return line
        return (
            f"{line}; precision {self.precision:.4f}, floor {self.min_precision:g}: "
            f"{'kept' if self.precise_enough else 'broken'}; recall {self.recall:.4f}"
        )
