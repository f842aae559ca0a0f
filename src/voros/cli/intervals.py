"""What counts of ranges leave open, for the tables: an interval beside every score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voros.core.scenario import Scenario
    from voros.sites import SiteCounts

SCORE_TITLE = "partial VOROS"
"""The column that an interval stands beside."""


@dataclass(frozen=True)
class Intervals:
    """Certified intervals of every model's partial VOROS, and who counted.

    Attributes
    ----------
    bounds : mapping of str to (float, float)
    sites : str
        In words.
    """

    bounds: Mapping[str, tuple[float, float]]
    sites: str

    @classmethod
    def from_counts(cls, counts: SiteCounts, scenario: Scenario) -> Intervals:
        """Bound the score of every model in a scenario."""
        return cls(counts.bounds(scenario), _sites_in_words(counts))

    def row(self, model: str) -> dict[str, float]:
        """Return what programs are given of a model's interval."""
        low, high = self.bounds[model]
        return {"partial_voros_low": low, "partial_voros_high": high}

    @property
    def may_be_met(self) -> bool:
        """Whether some threshold inside a range may meet the limits."""
        return any(high > 0 for _, high in self.bounds.values())

    def between(self, columns: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """Put the upper ends beside the scores, which are the lower ones."""
        shown: dict[str, Sequence[str]] = {}
        for name, column in columns.items():
            shown[name] = column
            if name == SCORE_TITLE:
                shown["at most"] = [f"{self.bounds[model][1]:.4f}" for model in columns["model"]]
            if name == "threshold":
                # A range may hold a threshold within the limits where no end of one is.
                bounds = [self.bounds[model] for model in columns["model"]]
                is_open = [low == 0 < high for low, high in bounds]
                shown[name] = ["open" if o else c for o, c in zip(is_open, column, strict=True)]
        return shown

    @property
    def notes(self) -> tuple[str, ...]:
        """Say who counted, and who may be ahead of the model of the highest lower end."""
        best = max(self.bounds, key=lambda model: self.bounds[model][0])
        lowest = self.bounds[best][0]
        ahead = (model for model, (_, high) in self.bounds.items() if high > lowest)
        others = ", ".join(model for model in ahead if model != best)
        open_ = f"the counts leave open whether {best} is ahead of {others}"
        return (self.sites, open_) if others else (self.sites,)


def _sites_in_words(counts: SiteCounts) -> str:
    """Say which sites counted, and how finely."""
    sites = ", ".join(f"{site.name} ({site.cases:,} cases)" for site in counts.sites)
    return (
        f"counted by ranges of scores at {sites}, each of at least {counts.min_cell} rows: a score "
        "lies between the two numbers, and the lower one is reached at the thresholds shown"
    )
