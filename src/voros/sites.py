"""Counts of several models at one or more sites, which a hospital can share and add.

A document of counts names its models, the positive label, the weights and its sites. Documents that
differ in these are not added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from voros.core.arguments import check_type
from voros.core.arrays import check_weights
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.engines import BinnedCounts
from voros.engines.orders import Orders, orders_of_models
from voros.engines.summaries import FIELDS, ROUNDING
from voros.exceptions import ArgumentError
from voros.io.documents import Entry, read_document
from voros.io.writing import json_text, saved, with_checksum
from voros.models import columns_by_model

SITES_FORMAT = "voros site counts"
SITES_SCHEMA = 2
"""Version of the fields of a document."""

SAVED = ("sites", "outcome", "pos_label", "weights", "min_rows", "models")
"""Fields of a document, in order."""

MIN_ROWS = 10
"""Fewest rows of a range by default."""

ANY_WIDTH = float(np.nextafter(1.0, 0.0))
"""Accepts every interval below 1, for uses that show it beside the score."""


class MismatchError(ValueError):
    """Counts that do not belong together."""


@dataclass(frozen=True)
class Site:
    """A site and the cases that it counted.

    Attributes
    ----------
    name : str
    cases : int
        Number of rows.
    positive, negative : float
        Cases of each class, or the sum of their weights.
    """

    name: str
    cases: int
    positive: float
    negative: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteCounts:
    """Counts by ranges of scores of several models, from one site or merged from several.

    Attributes
    ----------
    models : mapping of str to BinnedCounts
    sites : tuple of Site
    outcome : str
        Name of the outcome.
    pos_label : str
        The positive label as text; true is 1.
    weights : str or None
        The column of weights.
    min_rows : int
        Fewest rows of a range.

    Examples
    --------
    >>> import voros
    >>> from voros.sites import SiteCounts
    >>> north = SiteCounts.from_scores(
    ...     [1, 0, 1, 0], {"risk": [0.9, 0.8, 0.7, 0.1]}, site="north", min_rows=1
    ... )
    >>> south = SiteCounts.from_scores([1, 0], {"risk": [0.6, 0.2]}, site="south", min_rows=1)
    >>> both = north + south
    >>> [site.name for site in both.sites], both.n_cases
    (['north', 'south'], 6)
    >>> both.bounds(voros.Scenario(0.5, 0.5, cost_ratio=(0.2, 0.4)))
    {'risk': (0.711..., 0.711...)}
    """

    holds_counts: ClassVar[bool] = True
    """Functions that need cases recognise counts by it."""

    models: Mapping[str, BinnedCounts]
    sites: tuple[Site, ...]
    outcome: str
    pos_label: str
    weights: str | None
    min_rows: int

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        scores: Any,
        *,
        site: str,
        outcome: str = "label",
        pos_label: Any = None,
        sample_weight: Any = None,
        min_rows: int = MIN_ROWS,
        bits: int = 20,
        since: SiteCounts | None = None,
    ) -> SiteCounts:
        """Count the cases of a site.

        Parameters
        ----------
        y_true : array-like of shape (n_cases,)
            Labels; one class is enough.
        scores : mapping of str to array-like, data frame, or array-like of shape (n_cases,)
            The scores of each model.
        site : str
            Name of the site. The counts of a site can be added once.
        outcome : str
            Name of the outcome, the same at every site.
        pos_label, sample_weight
            As in `voros.partial_voros_score`.
        min_rows : int, default 10
            Neighbouring ranges are merged until each holds at least this many rows.
        bits : int, default 20
            How fine the ranges are before they are merged, as in `BinnedCounts`.
        since : SiteCounts, optional
            Earlier published counts of this site, of some of these cases. Ranges are merged until
            each has grown by ``min_rows`` rows, so that the difference of the two counts shows no
            fewer.

        Returns
        -------
        SiteCounts

        Raises
        ------
        ArgumentError
            If two models order nearly all cases alike, or in reverse, and their ranges together
            would show fewer than ``min_rows`` rows.
        """
        columns = columns_by_model(y_true, scores)
        counted = {
            model: BinnedCounts.from_scores(
                y_true, column, bits=bits, pos_label=pos_label, sample_weight=sample_weight
            )
            for model, column in columns.items()
        }
        for name, text in (("site", site), ("outcome", outcome)):
            if not isinstance(text, str) or not text.strip():
                raise ArgumentError(name, f"={text!r}; accepted is a name")
        one = next(iter(counted.values()))
        if since is not None:
            counted = _grown(counted, since, site, min_rows)
        models = {name: counts.merge_small_bins(min_rows) for name, counts in counted.items()}
        mass = None if sample_weight is None else check_weights(sample_weight)
        _check_overlays(models, orders_of_models(columns, bits, mass), min_rows)
        return cls(
            models={name: _coarse_weight(model) for name, model in models.items()},
            sites=(Site(site, int(one.rows.sum()), one.n_positive, one.n_negative),),
            outcome=outcome,
            pos_label=label_text(pos_label),
            weights=None if sample_weight is None else "sample_weight",
            min_rows=min_rows,
        )

    @property
    def n_cases(self) -> int:
        """Number of rows at all sites."""
        return sum(site.cases for site in self.sites)

    @property
    def n_positive(self) -> float:
        """Positive cases, or the sum of their weights."""
        return sum(site.positive for site in self.sites)

    @property
    def points(self) -> dict[str, OperatingPoints]:
        """Operating points of each model, for uses that show the interval beside a score."""
        return {
            name: counts.binned.within(ANY_WIDTH).points for name, counts in self.models.items()
        }

    def bounds(self, scenario: Scenario) -> dict[str, tuple[float, float]]:
        """Return the lowest and highest partial VOROS of each model that the counts allow."""
        return {name: counts.bounds(scenario) for name, counts in self.models.items()}

    def of_models(self, names: Iterable[str]) -> SiteCounts:
        """Return the counts of some models only."""
        chosen = list(names)
        unknown = [name for name in chosen if name not in self.models]
        if unknown:
            listed = ", ".join(map(repr, self.models))
            raise ArgumentError("scores", f"={unknown[0]!r} is not counted; there are {listed}")
        return replace(self, models={name: self.models[name] for name in chosen})

    def __add__(self, other: SiteCounts) -> SiteCounts:
        """Add the counts of other sites.

        Raises
        ------
        MismatchError
            If outcome, positive label, models or weights differ, or a site is in both.
        """
        if not isinstance(other, SiteCounts):
            return NotImplemented
        _check_fit(self, other)
        return replace(
            self,
            models={name: counts + other.models[name] for name, counts in self.models.items()},
            sites=self.sites + other.sites,
            min_rows=min(self.min_rows, other.min_rows),
        )

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the counts as JSON, and write them to a file if a path is given.

        An existing file is replaced only with ``force=True``.
        """
        fields: dict[str, Any] = {"format": SITES_FORMAT, "schema": SITES_SCHEMA}
        fields |= {name: getattr(self, name) for name in SAVED}
        fields["models"] = {name: counts.fields() for name, counts in self.models.items()}
        return saved(json_text(with_checksum(fields), indent=None), path, force=force)

    @classmethod
    def from_json(cls, source: str | Path) -> SiteCounts:
        """Read counts from JSON text or from a file.

        Returns
        -------
        SiteCounts
        """
        document = read_document(source, "document of counts")
        document.check_format(SITES_FORMAT, SITES_SCHEMA)
        entries = document.keys("format", "schema", *SAVED, "checksum")
        counts = cls(
            models={
                name: BinnedCounts.from_entries(entry.keys(*FIELDS))
                for name, entry in entries["models"].named().items()
            },
            sites=tuple(map(_read_site, entries["sites"].items())),
            outcome=entries["outcome"].text(),
            pos_label=entries["pos_label"].text(),
            weights=entries["weights"].optional(Entry.text),
            min_rows=entries["min_rows"].whole(1),
        )
        _check_consistent(counts, entries)
        document.check_unchanged()
        return counts

    def __repr__(self) -> str:
        """Return cases, sites and models in one line."""
        sites, models = (", ".join(map(repr, n)) for n in (self._site_names, self.models))
        return f"SiteCounts({self.n_cases:,} cases of {sites}; models {models})"

    @property
    def _site_names(self) -> list[str]:
        return [site.name for site in self.sites]


def _coarse_weight(counts: BinnedCounts) -> BinnedCounts:
    """Round the smallest weight, that of one case, down to a power of two."""
    return replace(counts, one_case=2.0 ** np.floor(np.log2(counts.one_case)))


def _grown(
    counted: Mapping[str, BinnedCounts], since: SiteCounts, site: str, min_rows: int
) -> dict[str, BinnedCounts]:
    """Merge ranges until each has grown by ``min_rows`` rows since the site's earlier counts."""
    check_type(since, "since", SiteCounts, "SiteCounts of the same site")
    if since._site_names != [site] or set(since.models) != set(counted):
        raise MismatchError(
            f"since holds counts of {', '.join(since._site_names)} for "
            f"{', '.join(sorted(since.models))}; accepted are earlier counts of {site} for "
            f"{', '.join(sorted(counted))}"
        )
    try:
        return {name: part.since(since.models[name], min_rows) for name, part in counted.items()}
    except ValueError as error:
        raise ArgumentError("since", f": {error}") from None


def _check_overlays(models: Mapping[str, BinnedCounts], orders: Orders, min_rows: int) -> None:
    """Raise if ranges of two models that order cases alike would together show few rows."""
    for (one, other), order in orders.items():
        cuts = np.cumsum(models[one].rows)
        more = np.cumsum(models[other].rows)
        more = more if order == "alike" else cuts[-1] - more
        fewest = int(np.diff(np.union1d(np.append(0, cuts), more)).min())
        if fewest < min_rows:
            how = "alike" if order == "alike" else "in reverse"
            raise ArgumentError(
                "scores",
                f": {one!r} and {other!r} order the cases {how}, so their ranges together would "
                f"show as few as {fewest:,} cases, and min_rows={min_rows}; leave one out",
            )


def label_text(pos_label: Any) -> str:
    """Return a positive label as the same text whether it is a number, a boolean or text.

    Examples
    --------
    >>> label_text(None), label_text(True), label_text("1.0"), label_text("died")
    ('1', '1', '1', 'died')
    """
    text = "1" if pos_label is None else str(pos_label).strip()
    if text.lower() in ("true", "false"):
        return str(int(text.lower() == "true"))
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)


def _check_fit(one: SiteCounts, other: SiteCounts) -> None:
    """Raise unless the counts are of different sites and of the same models and labels."""
    repeated = sorted(set(one._site_names) & set(other._site_names))
    if repeated:
        raise MismatchError(f"site {repeated[0]!r} is in both; each may be added once")
    both = f"{', '.join(one._site_names)} and {', '.join(other._site_names)} do not fit together"
    stated = {
        "outcome": (one.outcome, other.outcome),
        "positive label": (one.pos_label, other.pos_label),
        "models": (sorted(one.models), sorted(other.models)),
        "weights": (one.weights, other.weights),
    }
    for part, (mine, theirs) in stated.items():
        if mine != theirs:
            raise MismatchError(f"{both}: {part} {mine!r} and {theirs!r}")


def _read_site(entry: Entry) -> Site:
    entries = entry.keys("name", "cases", "positive", "negative")
    return Site(
        entries["name"].text(),
        entries["cases"].whole(1),
        entries["positive"].number(0),
        entries["negative"].number(0),
    )


def _check_consistent(counts: SiteCounts, entries: Mapping[str, Entry]) -> None:
    if not counts.sites or not counts.models:
        entries["sites" if counts.models else "models"].refuse("at least one")
    if len(set(counts._site_names)) < len(counts.sites):
        entries["sites"].contradict("name one site twice")
    totals = [
        sum(getattr(site, name) for site in counts.sites) for name in ("positive", "negative")
    ]
    for name, entry in entries["models"].named().items():
        model = counts.models[name]
        if int(model.rows.sum()) != counts.n_cases:
            entry.contradict(f"counts {model.rows.sum()} rows, and the sites {counts.n_cases}")
        if model.rows.min(initial=counts.min_rows) < counts.min_rows:
            entry.contradict(f"has a range of fewer rows than min_rows, {counts.min_rows}")
        totals_of_model = model.n_positive, model.n_negative
        if not np.allclose(totals_of_model, totals, rtol=ROUNDING, atol=0.0):
            entry.contradict(
                f"counts {totals_of_model} cases of each class, and the sites {totals}"
            )
