"""The options that several commands share, declared once as dataclasses.

A command takes ``cases: InputOptions`` as one argument; `bundled` shows typer every field of it
as an option of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_type_hints

import typer

from voros.cli.terminal import option_name
from voros.core.money import check_price
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.core.subgroups import FEWEST_CASES
from voros.io.columns import ColumnNames
from voros.io.scenario_file import read_scenario_fields
from voros.io.scenario_text import (
    COST_FIELDS,
    SCENARIO_FIELDS,
    read_count,
    read_number,
    scenario_from_fields,
    shown,
)

if TYPE_CHECKING:
    from voros.guarantee import Guarantee

Command = Callable[..., None]

Rules = Mapping[str, Collection[str]]
"""Lists of options, by the option that they require or exclude."""


def shown_in(
    panel: str | None, help_text: str, *names: str, default: Any = None, **settings: Any
) -> Any:
    """Declare an option and its default, under a heading of the help.

    A field of a dataclass or an argument of a command is set to it; an option that several commands
    share annotates their type.
    """
    declared = typer.Option(*names, help=help_text, rich_help_panel=panel, **settings)
    return field(default=default, metadata={"option": declared})


option = partial(shown_in, None)
in_columns, in_limits, in_choice, in_subgroups, in_intervals, in_output = (
    partial(shown_in, heading)
    for heading in ("Columns", "Limits and costs", "Choice", "Subgroups", "Intervals", "Output")
)
"""Declare an option under one of the headings of the help."""

column = partial(in_columns, metavar="COLUMN")
"""Declare an option that names a column."""

PredictionFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV or TSV (also gzipped), Parquet, Arrow; - is standard input.",
    ),
]

Check = Annotated[bool, in_limits("Exit with code 1 if a limit is not met.", "--check")]

TestFile = Annotated[Path | None, option("Test cases, to evaluate the choice on.", metavar="FILE")]

FalseAlarmCost = Annotated[
    str | None,
    in_limits(
        "Cost of a false alarm in money; the cost of 1,000 cases is then stated in money too.",
        metavar="AMOUNT",
    ),
]

Group = Annotated[
    str | None,
    column(
        "The patient of each case, for intervals and guarantees. Without it, cases count as "
        "independent.",
        "--group",
    ),
]

Force = Annotated[bool, in_output("Overwrite files that exist.", "--force")]


def refuse(options: Mapping[str, object], reason: str) -> None:
    """Raise where one of these options, listed with their values, is given.

    Examples
    --------
    >>> refuse({"time_zone": "UTC"}, "requires --time")
    Traceback (most recent call last):
    ValueError: --time-zone requires --time
    """
    for name, value in options.items():
        if value is not None and value is not False and value not in ([], ()):
            raise ValueError(f"{option_name(name)} {reason}")


def read_price(text: str | None) -> float | None:
    """Return the cost of a false alarm, where one was typed."""
    return None if text is None else check_price(read_number(text, "false_alarm_cost"))


@dataclass(frozen=True)
class WorthOptions:
    """What errors on each case cost."""

    miss_value: str | None = column(
        "The cost of missing each case, where cases differ in worth. Limits still count cases."
    )
    false_alarm_cost: str | None = in_columns(
        "Cost of a false alarm, as an amount; with --miss-value also a column, and 1 by default.",
        metavar="AMOUNT|COLUMN",
    )

    @property
    def given(self) -> bool:
        """Whether cases differ in worth."""
        return self.miss_value is not None

    @property
    def cost(self) -> float | str | None:
        """The amount that a false alarm costs, or its column."""
        if self.false_alarm_cost is None:
            return None
        try:
            amount = read_number(self.false_alarm_cost, "false_alarm_cost")
        except ValueError:
            return self.false_alarm_cost
        return check_price(amount)


By = Annotated[
    list[str] | None,
    in_subgroups(
        "Report on each subgroup of this column, such as sex; repeat for more columns. Subgroups "
        f"of fewer than {FEWEST_CASES} cases are pooled.",
        metavar="COLUMN",
    ),
]

MOST_FUTURE_CASES = 10**9
"""A longer horizon is refused; the guarantee for the population covers it."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeOptions:
    """A guarantee for future cases."""

    requires: ClassVar[Rules] = {"confidence": ["block"], "confidence|stay": ["horizon"]}

    confidence: str | None = in_choice(
        "Use only thresholds that keep the limits on future cases with this confidence, "
        "such as 0.95; of several, such as 0.95,0.9,0.8, the highest for which there is one.",
        metavar="SHARE[,...]",
    )
    horizon: str | None = in_choice(
        "With --confidence: the number of future cases in which the limits are kept; a --capacity "
        "of 20 then means 20 alarms in all of them. With --stay: the longest time before an event "
        "at which an alarm catches it, such as 12h.",
        metavar="COUNT|DURATION",
    )
    block: int | None = in_choice(
        "With --confidence and a capacity per day: how many neighbouring days count as one "
        "independent unit, such as 7.",
        metavar="COUNT",
    )

    def guarantee(self, *, over_stays: bool = False) -> Guarantee | None:
        """Return the guarantee, of one confidence or of a ladder of several between commas.

        Over stays the horizon is the rule's.

        Examples
        --------
        >>> GuaranteeOptions(confidence="95%").guarantee()
        Guarantee(confidence=0.95, horizon=None)
        """
        # Imported lazily.
        from voros.guarantee import Guarantee

        if self.confidence is None:
            return None
        horizon = None if over_stays else self.horizon
        steps = tuple(read_number(part, "confidence") for part in self.confidence.split(","))
        n_future = None if horizon is None else _read_future_cases(horizon)
        return Guarantee(steps if len(steps) > 1 else steps[0], n_future, self.block or 1)


def _read_future_cases(horizon: str) -> int:
    cases = read_count(horizon)
    if cases is None or cases > MOST_FUTURE_CASES:
        raise ValueError(
            f"--horizon={shown(horizon)}; accepted is a whole number of at most "
            f"{MOST_FUTURE_CASES:,} future cases, or with --stay a duration such as 12h; without "
            "--horizon the limits are promised for the population"
        )
    return cases


def output_to(help_text: str, metavar: str = "FILE") -> Any:
    """Declare where a command writes."""
    return option(help_text, "--output", "-o", metavar=metavar)


SavedTo = Annotated[
    Path | None, output_to("Save what was chosen, as JSON for voros apply; - is standard output.")
]


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """A file of predictions, and which of its columns hold what."""

    file: PredictionFile
    label: str | None = column("The true labels.")
    score: list[str] | None = column(
        "A model's scores; repeat for more. By default every column that looks like scores."
    )
    model: str | None = column("In a long file (a row per case and model): the model of each row.")
    case: str | None = column("Identifies a case.", "--id")
    weight: str | None = column("How many cases a row stands for.")
    pos_label: str | None = in_columns("The positive label, if not 1 or true.", metavar="LABEL")
    drop_missing: bool = in_columns(
        "Leave out rows with a missing value.", "--drop-missing", default=False
    )

    def given(self, *names: str) -> dict[str, Any]:
        """Return some of the options with their values."""
        return {name: getattr(self, name) for name in names}

    def names(self, **others: Any) -> ColumnNames:
        """Return the columns that are named here, and some others."""
        own = self.given("label", "model", "case", "weight")
        return ColumnNames(**({"scores": self.score or ()} | own | others))


OF_CASES = [item.name for item in fields(InputOptions) if item.name != "file"]
"""Options that name columns or rows of cases."""


@dataclass(frozen=True)
class CostOptions:
    """Costs, prevalence and recall floor: the options that `voros map` shares."""

    cost_ratio: str | None = in_limits(
        "Cost of a false alarm against a miss: 1/30, or 1/9:1/6 for a range. Give this or "
        "--miss-costs.",
        metavar="RATIO[:RATIO]",
    )
    miss_costs: str | None = in_limits(
        "How many false alarms a miss is worth: 30, or 20:40 for a range.", metavar="COUNT[:COUNT]"
    )
    prevalence: str | None = in_limits(
        "Share of positives at deployment, if not that of the data.", metavar="SHARE"
    )
    min_recall: str | None = in_limits(
        "Recall floor, the least share of positives that raise an alarm: 0.9, 90%, 9/10.",
        metavar="SHARE",
    )

    def given(self) -> dict[str, Any]:
        """Return what was typed, by the names that scenario files use."""
        values = {name: getattr(self, name, None) for name in SCENARIO_FIELDS}
        return {name: value for name, value in values.items() if value is not None}

    def read(self) -> Scenario:
        """Return the scenario of the options."""
        return scenario_from_fields(self.given())


@dataclass(frozen=True, kw_only=True)
class LimitOptions(CostOptions):
    """The limits and costs of a deployment."""

    requires: ClassVar[Rules] = {"scenarios": ["scenario"]}

    min_precision: str | None = in_limits(
        "Precision floor, the least share of correct alarms: 0.15, 15%, 3/20.", metavar="SHARE"
    )
    capacity: str | None = in_limits(
        "Most alarms: 0.5 or 50% of the cases, 500 cases, 20/day with --time, or "
        "0.1/patient-day with --stay.",
        metavar="SHARE|COUNT",
    )
    exceed: str | None = in_limits(
        "With a --capacity such as 20/day: the share of days that may have more, 0 for none. "
        "Without it the limit is on the mean over days.",
        metavar="SHARE",
    )
    scenarios: Path | None = in_limits("A TOML file of named scenarios.", metavar="FILE")
    scenario: str | None = in_limits(
        "The scenario in that file; other options replace its values.", metavar="NAME"
    )

    def read(self, **otherwise: Any) -> Scenario:
        """Return the scenario: the fields of the file, replaced by those of the options.

        ``otherwise`` states the costs where neither does.
        """
        fields, stated = self._from_file(), self.given()
        if "capacity" in stated:
            # The period belongs to the capacity.
            fields = {name: value for name, value in fields.items() if name != "per"}
        if any(name in stated for name in COST_FIELDS):
            fields = {name: value for name, value in fields.items() if name not in COST_FIELDS}
        fields |= stated
        has_costs = any(name in fields for name in COST_FIELDS)
        return scenario_from_fields(fields if has_costs else fields | otherwise)

    def _from_file(self) -> dict[str, Any]:
        if self.scenarios is None:
            return {}
        tables = read_scenario_fields(self.scenarios)
        listed = ", ".join(map(repr, tables))
        if self.scenario is None and len(tables) > 1:
            raise ValueError(f"{self.scenarios} holds {listed}; choose one with --scenario")
        name = next(iter(tables)) if self.scenario is None else self.scenario
        if name not in tables:
            raise ValueError(f"{self.scenarios} has no scenario {name!r}; it holds {listed}")
        return tables[name]


@dataclass(frozen=True, kw_only=True)
class CaseOptions(InputOptions):
    """A file of predictions, and which period each case falls in."""

    requires: ClassVar[Rules] = {"time": ["time_zone"]}

    time: str | None = column(
        "The time of each case, for a --capacity such as 20/day; with --stay the time of each "
        "row, as datetimes or numbers of hours."
    )
    period: str | None = column("The period of a case, for a --capacity such as 5/shift.")
    time_zone: str | None = in_columns(
        "With --time: the time zone in which days begin, such as Europe/Berlin; by default that "
        "of the times.",
        metavar="NAME",
    )

    def check_periods(self, scenario: Scenario) -> None:
        """Refuse, before anything is read, a period column that is missing or not needed."""
        if scenario.per == PATIENT_DAY:
            raise ValueError(
                f"--capacity {scenario.capacity:g}/{PATIENT_DAY} requires --stay, which voros "
                "score, select and apply accept"
            )
        named = [f"--{name}" for name in ("time", "period") if getattr(self, name) is not None]
        if scenario.per is None and named:
            raise ValueError(f"{named[0]} requires a capacity per period, such as 20/day")
        if scenario.per is not None and len(named) != 1:
            raise ValueError(
                f"a capacity per {scenario.per} requires the column of times (--time) or periods "
                "(--period)" + (", not both" if named else "")
            )


@dataclass(frozen=True)
class ShowOptions:
    """How results are shown."""

    excludes: ClassVar[Rules] = {"as_csv": ["as_json"]}

    as_json: bool = in_output("Print the result as JSON.", "--json", default=False)
    as_csv: bool = in_output("Print the result as CSV.", "--csv", default=False)

    @property
    def for_programs(self) -> bool:
        """Whether the result is printed as JSON or CSV."""
        return self.as_json or self.as_csv

    @property
    def force(self) -> bool:
        """Whether files are overwritten; commands that write no file have no such option."""
        return False


@dataclass(frozen=True)
class OutputOptions(ShowOptions):
    """How results are shown, by a command that also writes a file."""

    force: Force = False


@dataclass(frozen=True)
class ResamplingOptions:
    """How intervals are made."""

    resamples: int = in_intervals("How many resamples of the cases.", default=2000)
    confidence_level: str = in_intervals(
        "Confidence level of the intervals.", metavar="SHARE", default="0.95"
    )
    group: Group = None
    seed: int = in_intervals("Seed of the random draws.", min=0, default=0)

    @property
    def draws(self) -> dict[str, Any]:
        """The arguments that say how resamples are drawn."""
        return {
            "n_resamples": self.resamples,
            "confidence_level": read_number(self.confidence_level, "confidence_level"),
            "random_state": self.seed,
        }


def check_together(stated: Collection[str], requires: Rules, excludes: Rules) -> None:
    """Raise where an option is given without the one it requires, or beside one it excludes.

    Examples
    --------
    >>> check_together({"group"}, {"test|confidence": ["check", "group"]}, {})
    Traceback (most recent call last):
    ValueError: --group requires --test or --confidence
    >>> check_together({"stay", "engine"}, {}, {"stay": ["blend", "engine"]})
    Traceback (most recent call last):
    ValueError: --engine and --stay are mutually exclusive
    """
    for wanted, names in requires.items():
        lacking = not any(other in stated for other in wanted.split("|"))
        for name in names:
            if name in stated and lacking:
                listed = " or ".join(map(option_name, wanted.split("|")))
                raise ValueError(f"{option_name(name)} requires {listed}")
    for other, names in excludes.items():
        for name in names:
            if name in stated and other in stated:
                both = f"{option_name(name)} and {option_name(other)}"
                raise ValueError(f"{both} are mutually exclusive")


def bundled_with(**rules: Any) -> Callable[[Command], Command]:
    """Spread dataclasses as `bundled`, with its keyword arguments."""
    return partial(bundled, **rules)


def bundled(
    command: Command,
    *,
    without: Collection[str] = (),
    requires: Rules = MappingProxyType({}),
    excludes: Rules = MappingProxyType({}),
) -> Command:
    """Spread every argument that is a dataclass into its fields, for typer to read.

    The command lacks the fields ``without``, or declares them itself. Options in a list of
    ``requires`` have no effect without the option that the list is for, or without one of several
    between bars; those in a list of ``excludes`` cannot be given beside it. A dataclass may have
    such lists of its own.
    """
    hints = get_type_hints(command, include_extras=True)
    bundles: dict[str, Any] = {n: kind for n, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in bundles:
            spread = _spread(bundles[parameter.name])
            parameters += (option for option in spread if option.name not in without)
        else:
            hint = hints[parameter.name]
            parameters.append(_keyword(parameter.name, hint, parameter.default))
    # The help has headings in the order of their first option: output is the last one.
    parameters.sort(key=lambda option: option.name in ("as_json", "as_csv", "force"))
    defaults = {parameter.name: parameter.default for parameter in parameters}

    def run(**values: Any) -> None:
        stated = [name for name, value in values.items() if value not in (defaults[name], [])]
        check_together(stated, requires, excludes)
        for kind in bundles.values():
            check_together(stated, getattr(kind, "requires", {}), getattr(kind, "excludes", {}))
        packed = {
            name: kind(
                **{f.name: values.pop(f.name) for f in fields(kind) if f.name not in without}
            )
            for name, kind in bundles.items()
        }
        command(**packed, **values)

    run.__name__, run.__module__ = command.__name__, command.__module__
    run.__doc__ = _unwrapped(command.__doc__ or "")
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _unwrapped(text: str) -> str:
    """Put each paragraph on one line; the terminal wraps it."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def _spread(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [_keyword(item.name, hints[item.name], item) for item in fields(kind)]


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """Declare an option as typer reads it: its type annotated, and its plain default."""
    declared = default
    if isinstance(default, Field):
        default = inspect.Parameter.empty if default.default is MISSING else default.default
    if isinstance(declared, Field) and declared.metadata:
        annotation = Annotated[annotation, declared.metadata["option"]]
    elif len(parts := get_args(annotation)) == 2 and isinstance(parts[1], Field):
        annotation = Annotated[parts[0], parts[1].metadata["option"]]
    # Keyword-only, so that required ones may follow those with a default.
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)
