"""What a fixed threshold does over the stays of each subgroup, such as sexes or sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.io.frames import make_frame
from voros.text.numbers import percent
from voros.text.table import ReprMixin, Table

if TYPE_CHECKING:
    from voros.policy.by_subgroup import FloorVerdict
    from voros.policy.over_stays import StayEvaluation


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StaySubgroups(ReprMixin):
    """What a policy does over the stays of each subgroup, threshold and rule fixed.

    Of each figure the intervals of all subgroups hold together with the stated confidence, by
    Bonferroni, and so does what is said of the floors. The capacity is one for all stays.

    Attributes
    ----------
    results : mapping of (str, str) to StayEvaluation
        By column and subgroup.
    min_precision : float
    min_recall : float or None
    confidence_level : float
        Of all subgroups together.
    notes : tuple of str
        Which subgroups were pooled.

    Examples
    --------
    >>> import voros
    >>> ward = {"stay": [1, 1, 2, 3], "time": [0, 5, 0, 0], "score": [0.2, 0.9, 0.4, 0.6]}
    >>> ward["events"], sex = ([1], [8]), {"sex": ["f", "f", "m", "m"]}
    >>> rule = voros.AlarmRule(snooze="4h", horizon="6h")
    >>> points = voros.alarm_points(**ward, rule=rule)
    >>> policy = voros.ThresholdPolicy.from_points(points, voros.Scenario(0.5, cost_ratio=0.1))
    >>> result = policy.evaluate_stays(**ward, by=sex).by_subgroup
    >>> list(result), result["sex", "other"].n_stays, result["sex", "other"].floor
    ([('sex', 'other')], 3, 'too few to say')
    """

    results: Mapping[tuple[str, str], StayEvaluation]
    min_precision: float
    confidence_level: float
    notes: tuple[str, ...] = ()
    min_recall: float | None = None

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Go through the columns and subgroups."""
        return iter(self.results)

    def __len__(self) -> int:
        """How many subgroups there are."""
        return len(self.results)

    def __getitem__(self, name: tuple[str, str]) -> StayEvaluation:
        """Return one subgroup by its column and name."""
        if name not in self.results:
            listed = ", ".join(map(repr, self.results))
            raise KeyError(f"no subgroup {name!r}; the subgroups are {listed}")
        return self.results[name]

    def with_floor(self, verdict: FloorVerdict) -> tuple[tuple[str, str], ...]:
        """Return the subgroups of which this is known of the precision floor."""
        return tuple(name for name, result in self.results.items() if result.floor == verdict)

    def values(self) -> list[dict[str, Any]]:
        """Return the figures of each subgroup as plain values; the limits are for all stays."""
        rows = []
        for (column, subgroup), result in self.results.items():
            row = {"column": column, "subgroup": subgroup} | result.values()
            del row["satisfied"], row["violations"]
            recall = {} if self.min_recall is None else {"recall_floor": result.recall_floor}
            rows.append(row | {"floor": result.floor} | recall)
        return rows

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each subgroup."""
        rows = self.values()
        plain = [name for name, value in rows[0].items() if np.isscalar(value)]
        return make_frame({name: [row[name] for row in rows] for name in plain}, backend)

    def table(self) -> Table:
        """Return the subgroups as a table for people."""
        floors = [f"floor {self.min_precision:g}"]
        floors += [] if self.min_recall is None else [f"recall floor {self.min_recall:g}"]
        head = ("subgroup", "stays", "events", "precision", "recall of events")
        rows: list[tuple[str, ...]] = [(*head, "alarms per patient-day", *floors)]
        for (column, name), result in self.results.items():
            figures = map(result.with_interval, ("precision", "recall", "alarms_per_patient_day"))
            sizes = f"{result.n_stays:,}", f"{result.n_events:,}"
            verdicts = (result.floor, result.recall_floor or "")[: len(floors)]
            rows.append((f"{column}: {name}", *sizes, *figures, *verdicts))
        return Table.from_rows(rows)

    @property
    def words(self) -> tuple[str, ...]:
        """How sure the table is, and what was pooled."""
        together = (
            f"intervals of all {len(self)} subgroups together hold with confidence "
            f"{percent(self.confidence_level)} (Bonferroni)"
        )
        return (together, *self.notes)

    def _parts(self) -> tuple[str | Table, ...]:
        return self.table(), *self.words
