"""Named scenarios in a TOML file, so that a team keeps its limits in one place.

.. code-block:: toml

    [ward]
    min_precision = 0.15      # or "15%"
    capacity = 0.5            # a share of the cases; a whole number counts cases
    cost_ratio = "1/9:1/6"    # or miss_costs = "6:9", or a pair of numbers

    [icu]
    min_precision = 0.5
    capacity = 40
    miss_costs = [20, 40]
    prevalence = 0.08         # only where it differs from the data's

    [night]
    capacity = "20/day"       # alarms of each day, by times or periods of the cases
    exceed = 0.05             # this share of the days may have more; the mean is a limit anyway
    miss_costs = 30
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from voros.core.scenario import Scenario
from voros.io.scenario_text import scenario_from_fields

MOST_PARTS = 32
"""Parts of a key, as in ``a.b.c``; scenarios take one."""

LONGEST_TOML = 2**20
"""Most characters of a file; scenarios take a few hundred."""

NOT_OF_A_KEY = re.compile(r"[^\w.\"' \t-]+")
"""Ends a key. The time of the parser grows with the square of a key's parts."""


def read_scenarios(path: str | Path) -> dict[str, Scenario]:
    r"""Read every scenario of a TOML file, by name.

    Returns
    -------
    dict of str to Scenario

    Raises
    ------
    ValueError
        If the file is not TOML, names no scenario, or has an invalid one; the message says which.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "limits.toml"
    ...     _ = file.write_text("[ward]\nmin_precision = 0.3\ncapacity = 0.1\ncost_ratio = 0.05\n")
    ...     read_scenarios(file)["ward"].capacity
    0.1
    """
    scenarios = {}
    for name, fields in read_scenario_fields(path).items():
        try:
            scenarios[name] = scenario_from_fields(fields)
        except ValueError as error:
            raise ValueError(f"{path}, scenario {name!r}: {error}") from None
    return scenarios


def read_scenario_fields(path: str | Path) -> dict[str, dict[str, object]]:
    """Read the fields of each scenario in a TOML file, without checking them."""
    tables = read_toml(path)
    loose = [name for name, fields in tables.items() if not isinstance(fields, dict)]
    if loose or not tables:
        problem = f"{loose[0]!r} stands outside any scenario" if loose else "it names no scenario"
        raise ValueError(f"{path}: {problem}; start each with its name, as in [ward]")
    return tables


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a file of TOML.

    Raises
    ------
    ValueError
        If it is not TOML, or so large or deeply nested that the parser would take minutes.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(LONGEST_TOML + 1)
        if len(text) > LONGEST_TOML:
            raise ValueError(f"it has more than {LONGEST_TOML:,} characters")
        pieces = NOT_OF_A_KEY.split(text)
        if any(sum(map(bool, piece.split("."))) > MOST_PARTS for piece in pieces):
            raise ValueError(f"a key has more than {MOST_PARTS} parts")
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{path} is not TOML: values are nested too deep") from None
    except ValueError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
