"""Answers of several people to the page's five questions, read from the TOML files it saves.

.. code-block:: toml

    [[answer]]
    who = "ward sister"
    min_precision = 0.3       # of ten alarms, three must be correct
    capacity = 0.1            # of a hundred cases, ten can be looked after
    accepted = [10]           # false alarms for one more case caught
    refused = [30, 17]
    miss_costs = [10, 17]     # what follows from both
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voros.core import costs
from voros.core.arguments import check_number
from voros.core.scenario import Scenario
from voros.io.scenario_file import read_toml
from voros.io.scenario_text import read_range, scenario_from_fields
from voros.text.numbers import percent
from voros.text.table import Table

LIMITS = ("min_precision", "capacity", "miss_costs")

OFFERS = ("accepted", "refused")
"""Keys of the numbers of false alarms that a person would accept, or not, for one more catch."""

POINTS_EACH = 41
"""Number of costs in the range of each person."""


@dataclass(frozen=True)
class Answer:
    """Limits of one person, and the range of false alarms that a miss is worth.

    Attributes
    ----------
    who : str
    min_precision, capacity : float
    miss_costs : tuple of float
    """

    who: str
    min_precision: float
    capacity: float
    miss_costs: tuple[float, float]

    @property
    def scenario(self) -> Scenario:
        """The limits and costs of this person alone."""
        return Scenario(self.min_precision, self.capacity, costs.miss_costs(*self.miss_costs))


@dataclass(frozen=True)
class Answers:
    """Answers of several people.

    Attributes
    ----------
    people : tuple of Answer

    Examples
    --------
    >>> both = Answers((Answer("a", 0.3, 0.1, (4, 8)), Answer("b", 0.2, 0.2, (10, 30))))
    >>> both.scenario.min_precision, both.scenario.capacity
    (0.3, 0.1)
    >>> both.costs.support
    (4.0, 30.0)
    >>> print(both)
    who  correct, at least  alarms, at most  a miss is worth
    a                 30 %             10 %           4 to 8
    b                 20 %             20 %         10 to 30
    """

    people: tuple[Answer, ...]

    @property
    def costs(self) -> costs.Samples:
        """The cost of a miss, with the same weight for the range of each person."""
        ranges = [np.linspace(*person.miss_costs, POINTS_EACH) for person in self.people]
        return costs.from_samples(np.concatenate(ranges), over="miss")

    @property
    def scenario(self) -> Scenario:
        """Limits that satisfy everybody, with the costs of all."""
        floor = max(person.min_precision for person in self.people)
        return Scenario(floor, min(person.capacity for person in self.people), self.costs)

    def __str__(self) -> str:
        """Show the answers in a table."""
        rows = [
            (
                person.who,
                percent(person.min_precision),
                percent(person.capacity),
                "{:g} to {:g}".format(*person.miss_costs),
            )
            for person in self.people
        ]
        names = ("who", "correct, at least", "alarms, at most", "a miss is worth")
        return Table.from_rows([names, *rows]).text()


def read_answers(*paths: str | Path) -> Answers:
    r"""Read the answers that the page saved, from one file or several.

    Raises
    ------
    ValueError
        If a file holds no answers or an incomplete one; the message says which.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "answers.toml")
    >>> written = 'who = "a"\nmin_precision = 0.3\ncapacity = 0.1\nmiss_costs = [5, 9]\n'
    >>> _ = file.write_text("[[answer]]\n" + written)
    >>> read_answers(file).costs
    from_samples(<41 values in [5, 9]>, over='miss')
    """
    if not paths:
        raise ValueError("paths is empty; name at least one file of answers")
    return Answers(tuple(answer for path in paths for answer in _answers_in(path)))


def _answers_in(path: str | Path) -> list[Answer]:
    answers = read_toml(path).get("answer")
    if not isinstance(answers, list) or not all(isinstance(fields, dict) for fields in answers):
        raise ValueError(f"{path} holds no answers; each begins with [[answer]]")
    return [_answer(fields, f"{path}, answer {i}") for i, fields in enumerate(answers, start=1)]


def _answer(fields: dict[str, Any], where: str) -> Answer:
    absent = [name for name in Answer.__dataclass_fields__ if name not in fields]
    if absent:
        raise ValueError(f"{where} has no {absent[0]}")
    try:
        scenario = scenario_from_fields({name: fields[name] for name in LIMITS})
        costs = read_range(fields["miss_costs"], "miss_costs")
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    _check_follows(costs, fields, where)
    return Answer(str(fields["who"]), scenario.min_precision, scenario.capacity, costs)


def _check_follows(costs: tuple[float, float], fields: dict[str, Any], where: str) -> None:
    """Raise unless the range follows from the accepted and refused offers."""
    if not any(name in fields for name in OFFERS):
        return
    accepted, refused = (_offers(fields.get(name, []), f"{where}, {name}") for name in OFFERS)
    # If all were accepted, or all refused, the range is one number.
    ends = [end for end in (max(accepted, default=None), min(refused, default=None)) if end]
    if not ends:
        raise ValueError(f"{where} has no accepted and no refused offer to derive miss_costs from")
    if not np.allclose(costs, (min(ends), max(ends)), rtol=1e-9, atol=0):
        raise ValueError(
            f"{where}, miss_costs={list(costs)}; from what is accepted and refused follows "
            f"[{min(ends):g}, {max(ends):g}]"
        )


def _offers(offers: Any, where: str) -> list[float]:
    if not isinstance(offers, list):
        raise ValueError(f"{where}={offers!r}; accepted is a list of numbers above 0")
    return [check_number(offer, where, "numbers above 0", 1e-100, 1e100) for offer in offers]
