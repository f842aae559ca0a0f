"""The options that several commands share: columns, limits, output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from voros.core.scenario import Scenario
from voros.io.scenario_file import read_scenario_fields
from voros.io.scenario_text import COST_FIELDS, FIELDS, scenario_from_fields
from voros.selection import PAPER_TOLERANCE, STRATEGIES

MOST_FUTURE_CASES = 10**9
"""A horizon beyond which the promise is that for the population."""

_COLUMNS, _LIMITS, _CHOICE, _OUTPUT = "Columns", "Limits and costs", "Choice", "Output"

PredictionFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Predictions: CSV, TSV, JSON lines (also gzipped), Parquet, Arrow; - is standard "
        "input.",
    ),
]

Check = Annotated[
    bool,
    typer.Option("--check", help="Exit with 1 where a limit is not met.", rich_help_panel=_LIMITS),
]

TestFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Test cases, to evaluate the choice on.")
]

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]


def shown_in(panel: str, help_text: str, *names: str, metavar: str | None = None) -> Any:
    """Declare an option that the help shows under a heading of its own."""
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel)


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns hold what."""

    label: Annotated[
        str | None,
        shown_in(_COLUMNS, "The true labels.", metavar="COLUMN"),
    ] = None
    score: Annotated[
        list[str] | None,
        shown_in(
            _COLUMNS,
            "A model's scores; repeat for more. Without it, every other numeric column is a model.",
            metavar="COLUMN",
        ),
    ] = None
    model: Annotated[
        str | None,
        shown_in(
            _COLUMNS,
            "In a long file (a row per case and model): who gave the score.",
            metavar="COLUMN",
        ),
    ] = None
    case: Annotated[
        str | None,
        shown_in(_COLUMNS, "Identifies a case.", "--id", metavar="COLUMN"),
    ] = None
    weight: Annotated[
        str | None,
        shown_in(_COLUMNS, "How many cases a row stands for.", metavar="COLUMN"),
    ] = None
    pos_label: Annotated[
        str | None,
        shown_in(_COLUMNS, "The positive label, if not 1 or true.", metavar="LABEL"),
    ] = None
    drop_missing: Annotated[
        bool,
        shown_in(_COLUMNS, "Leave out rows with a missing value.", "--drop-missing"),
    ] = False
    file_format: Annotated[
        str | None,
        shown_in(
            _COLUMNS,
            "csv, tsv, parquet, arrow or jsonl, where the name does not tell.",
            "--format",
            metavar="FORMAT",
        ),
    ] = None


@dataclass(frozen=True)
class CostOptions:
    """What a false alarm costs against a miss, and how common positives will be."""

    cost_ratio: Annotated[
        str | None,
        shown_in(
            _LIMITS,
            "Cost of a false alarm against a miss: 1/30, or 1/9:1/6 for a range. Give this or "
            "--miss-costs.",
            metavar="RATIO[:RATIO]",
        ),
    ] = None
    miss_costs: Annotated[
        str | None,
        shown_in(
            _LIMITS,
            "How many false alarms a miss is worth: 30, or 20:40 for a range.",
            metavar="COUNT[:COUNT]",
        ),
    ] = None
    prevalence: Annotated[
        str | None,
        shown_in(
            _LIMITS, "Share of positives at deployment, if not that of the data.", metavar="SHARE"
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what was typed, by the names that scenario files use."""
        values = {name: getattr(self, name, None) for name in FIELDS}
        return {name: value for name, value in values.items() if value is not None}

    def read(self) -> Scenario:
        """Return the scenario of the options."""
        return scenario_from_fields(self.given())


@dataclass(frozen=True)
class LimitOptions(CostOptions):
    """The limits and costs of a deployment."""

    min_precision: Annotated[
        str | None,
        shown_in(
            _LIMITS,
            "At least this share of the alarms must be right: 0.15, 15%, 3/20.",
            metavar="SHARE",
        ),
    ] = None
    capacity: Annotated[
        str | None,
        shown_in(
            _LIMITS,
            "At most so many alarms: 0.5 or 50% of the cases, or 500 cases.",
            metavar="SHARE|COUNT",
        ),
    ] = None
    scenarios: Annotated[
        Path | None,
        shown_in(_LIMITS, "A TOML file of named scenarios.", metavar="FILE"),
    ] = None
    scenario: Annotated[
        str | None,
        shown_in(
            _LIMITS,
            "Which scenario of that file; options given beside it replace its values.",
            metavar="NAME",
        ),
    ] = None

    def read(self, **otherwise: Any) -> Scenario:
        """Put the scenario together: the file's fields first, then whatever options replace.

        ``otherwise`` states the costs where neither does.
        """
        fields, given = self._from_file(), self.given()
        if any(name in given for name in COST_FIELDS):
            fields = {name: value for name, value in fields.items() if name not in COST_FIELDS}
        fields |= given
        stated = any(name in fields for name in COST_FIELDS)
        return scenario_from_fields(fields if stated else fields | otherwise)

    def _from_file(self) -> dict[str, Any]:
        if self.scenarios is None:
            if self.scenario is not None:
                raise ValueError("--scenario names one of a file; say which with --scenarios FILE")
            return {}
        tables = read_scenario_fields(self.scenarios)
        listed = ", ".join(map(repr, tables))
        if self.scenario is None and len(tables) > 1:
            raise ValueError(f"{self.scenarios} holds {listed}; choose one with --scenario")
        name = next(iter(tables)) if self.scenario is None else self.scenario
        if name not in tables:
            raise ValueError(f"{self.scenarios} has no scenario {name!r}; it holds {listed}")
        return tables[name]


@dataclass(frozen=True)
class ChoiceOptions:
    """How a model and its thresholds are chosen."""

    strategy: Annotated[
        str,
        shown_in(_CHOICE, f"Rank by {', '.join(STRATEGIES)}.", metavar="NAME"),
    ] = "partial_voros"
    tolerance: Annotated[
        float,
        shown_in(_CHOICE, "Scores this close to the best are marked as no worse."),
    ] = PAPER_TOLERANCE
    confidence: Annotated[
        float | None,
        shown_in(
            _CHOICE,
            "Use only thresholds that keep the limits on future cases with this confidence, "
            "such as 0.95.",
            metavar="SHARE",
        ),
    ] = None
    horizon: Annotated[
        int | None,
        shown_in(
            _CHOICE,
            "With --confidence: how many future cases the limits are promised for; a --capacity of "
            "whole alarms is then one per horizon.",
            metavar="COUNT",
        ),
    ] = None

    def read(self) -> dict[str, Any]:
        """Return the arguments of `voros.select_points`."""
        if self.strategy not in STRATEGIES:
            accepted = ", ".join(STRATEGIES)
            raise ValueError(f"--strategy={self.strategy!r}; accepted are {accepted}")
        return {
            "strategy": self.strategy,
            "tolerance": self.tolerance,
            "guarantee": self._guarantee(),
        }

    def _guarantee(self) -> Any:
        if self.confidence is None:
            if self.horizon is not None:
                raise ValueError("--horizon needs --confidence, such as --confidence 0.95")
            return None
        if self.horizon is not None and self.horizon > MOST_FUTURE_CASES:
            raise ValueError(
                f"--horizon={self.horizon}; accepted are at most {MOST_FUTURE_CASES:,} cases; "
                "without --horizon the limits are promised for the population"
            )
        from voros.guarantee import Guarantee

        return Guarantee(confidence=self.confidence, horizon=self.horizon)


@dataclass(frozen=True)
class ShowOptions:
    """How results are shown."""

    as_json: Annotated[bool, shown_in(_OUTPUT, "Print the result as JSON.", "--json")] = False
    as_csv: Annotated[bool, shown_in(_OUTPUT, "Print the result as CSV.", "--csv")] = False

    def __post_init__(self) -> None:
        """Refuse both at once, before any work is done or file written."""
        if self.as_json and self.as_csv:
            raise ValueError("--json and --csv exclude one another; choose one")

    @property
    def for_programs(self) -> bool:
        """Whether a form was asked for that programs read."""
        return self.as_json or self.as_csv
