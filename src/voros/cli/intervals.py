"""Certified intervals of scores that are computed from counts by ranges, for the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voros.cli.terminal import columns_text
from voros.text.numbers import short

if TYPE_CHECKING:
    from voros.core.scenario import Scenario
    from voros.sites import SiteCounts


@dataclass(frozen=True)
class Intervals:
    """Certified intervals of every model's partial VOROS, and the sites that counted.

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
        """Return a model's interval for JSON and CSV."""
        low, high = self.bounds[model]
        return {"partial_voros_low": low, "partial_voros_high": high}

    @property
    def may_be_met(self) -> bool:
        """Whether some threshold inside a range may meet the limits."""
        return any(high > 0 for _, high in self.bounds.values())

    @property
    def text(self) -> str:
        """The intervals, the sites, and the models that may be ahead of the best lower end."""
        models = list(self.bounds)
        low, high = (
            [short(end) for end in ends] for ends in zip(*self.bounds.values(), strict=True)
        )
        table = columns_text({"model": models, "partial VOROS at least": low, "at most": high})
        best = max(self.bounds, key=lambda model: self.bounds[model][0])
        lowest = self.bounds[best][0]
        ahead = (model for model, (_, end) in self.bounds.items() if end > lowest)
        others = ", ".join(model for model in ahead if model != best)
        open_ = f"\nthe counts leave open whether {best} is ahead of {others}" if others else ""
        return f"{table}\n{self.sites}{open_}"


def _sites_in_words(counts: SiteCounts) -> str:
    """Return which sites counted, and how finely."""
    sites = ", ".join(f"{site.name} ({site.cases:,} cases)" for site in counts.sites)
    return (
        f"counted by ranges of scores of at least {counts.min_rows} rows at {sites}; the lower "
        "number is reached at the thresholds shown, and inside a range a threshold may reach more"
    )
