"""Values that nobody should pass, and the kinds of argument for which each is sound after all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import voros

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N = 24
RNG = np.random.default_rng(11)
LABELS = np.tile([1, 0, 0], N // 3)
SCORES = LABELS * 0.4 + RNG.random(N)


@dataclass(frozen=True)
class Odd:
    """A value, made again for every call, and the kinds of argument that accept it."""

    name: str
    make: Callable[[], Any]
    fits: frozenset[str] = frozenset()


def _odd(name: str, value: Any, *fits: str) -> Odd:
    return Odd(name, lambda: value, frozenset(fits))


SHARES = ("share", "prevalence", "level", "costs", "capacity", "ratio", "size", "tolerance", "t")
COLUMN = ("scores", "models", "weights", "groups", "rate")

NUMBERS = [
    _odd("nan", float("nan")),
    _odd("inf", float("inf")),
    _odd("-inf", float("-inf")),
    _odd("-1", -1),
    _odd("-0.5", -0.5),
    _odd("0", 0, "share", "tolerance", "t"),
    _odd("0.0", 0.0, "share", "tolerance", "t"),
    _odd("1", 1, "share", "costs", "capacity", "ratio", "size", "tolerance", "t"),
    _odd("1.0", 1.0, "share", "costs", "capacity", "ratio", "size", "tolerance", "t"),
    _odd("1.5", 1.5, "costs", "ratio", "size"),
    _odd("5", 5, "costs", "capacity", "ratio", "size"),
    _odd("0.3", 0.3, *SHARES),
    _odd("1e308", 1e308),
    _odd("1e-308", 1e-308, "share", "tolerance", "t", "level"),
    _odd("5e-324", 5e-324, "share", "tolerance", "t", "level"),
    _odd("10**400", 10**400, "capacity"),
    _odd("-10**400", -(10**400)),
    _odd("True", True, "flag", "progress"),
    _odd("np.True_", np.True_, "flag", "progress"),
    _odd("np.float32", np.float32(0.25), *SHARES),
    _odd("np.int8", np.int8(7), "costs", "capacity", "ratio", "size"),
    _odd("Fraction", Fraction(1, 3), *SHARES),
    _odd("Decimal", Decimal("0.3")),
    _odd("complex", 0.3 + 0.1j),
    _odd("0-d array", np.array(0.3)),
    _odd("array of one", np.array([0.3])),
]

OBJECTS = [
    _odd("None", None),
    _odd("text", "text"),
    _odd("number as text", "0.3"),
    _odd("percent", "30%"),
    _odd("bytes", b"0.3"),
    _odd("object", object()),
    _odd("class", int),
    _odd("function", len),
    _odd("empty list", []),
    _odd("empty mapping", {}),
    _odd("empty array", np.array([])),
    _odd("list of one", [0.3]),
    _odd("three numbers", (0.1, 0.2, 0.3)),
    _odd("reversed pair", (0.4, 0.1)),
    _odd("pair", (0.1, 0.4), "costs"),
    _odd("pair of texts", ("0.1", "0.2")),
    _odd("pair of bools", (False, True)),
    _odd("pair with nan", (0.1, float("nan"))),
    _odd("pair to infinity", (0.1, float("inf"))),
    _odd("huge pair", (1e300, 1e308)),
    _odd("set", {1, 2}),
    _odd("mapping", {"min_precision": 0.3}),
    _odd("ragged", [[1], [2, 3]]),
    _odd("scenario", voros.Scenario(0.3, 0.5, 0.1), "scenario"),
    _odd("distribution", voros.costs.uniform(0.1, 0.2), "costs"),
    _odd("scipy frozen", stats.lognorm(0.5, scale=0.1)),
]


def _with(values: Any, at: int, value: Any) -> Any:
    changed = np.array(values, dtype=object)
    changed[at] = value
    return changed


COLUMNS = [
    _odd("labels", LABELS, "labels", *COLUMN),
    _odd("scores", SCORES, *COLUMN),
    _odd("list", SCORES.tolist(), *COLUMN),
    _odd("bools", LABELS == 1, "labels", "scores", "models", "groups", "weights", "rate"),
    _odd("column", SCORES[:, None], *COLUMN),
    _odd("two columns", np.column_stack([SCORES, SCORES])),
    _odd("row", SCORES[None, :]),
    _odd("one short", SCORES[:-1]),
    _odd("one nan", np.append(SCORES[:-1], np.nan)),
    _odd("one inf", np.append(SCORES[:-1], np.inf), "scores", "models", "groups"),
    _odd("one None", _with(SCORES, 3, None)),
    _odd("one text", _with(SCORES, 3, "x"), "groups"),
    _odd("one pd.NA", _with(SCORES, 3, pd.NA)),
    _odd("negative", -SCORES, "scores", "models", "groups"),
    _odd("zeros", np.zeros(N), "scores", "models", "rate"),
    _odd("ones", np.ones(N), "scores", "models", "weights", "rate"),
    _odd("texts", np.array(["0.3"] * N), "groups_of_one"),
    _odd("complex column", SCORES + 1j, "groups"),
    _odd("dates", np.arange(N).astype("datetime64[D]"), "groups"),
    _odd("masked", np.ma.masked_array(SCORES, mask=np.arange(N) == 2)),
    _odd("three labels", np.arange(N) % 3, *(set(COLUMN) - {"rate"})),
    _odd("yes and no", np.where(LABELS == 1, "yes", "no"), "groups"),
    _odd("Series", pd.Series(SCORES), *COLUMN),
    _odd("Series with NA", pd.Series(SCORES, dtype="Float64").mask(LABELS == 1)),
    _odd("categories", pd.Series(np.where(LABELS == 1, "a", "b"), dtype="category"), "groups"),
    _odd("polars", pl.Series(SCORES), *COLUMN),
    _odd("polars with null", pl.Series([None, *SCORES[1:].tolist()])),
    _odd("frame", pd.DataFrame({"a": SCORES, "b": SCORES[::-1]}), "models"),
    _odd("frame of one", pd.DataFrame({"a": SCORES}), *COLUMN),
    _odd("frame of texts", pd.DataFrame({"a": ["x"] * N, "b": ["y"] * N})),
    _odd("lazy frame", pl.LazyFrame({"a": SCORES})),
    _odd("tiny weights", np.full(N, 1e-200), "scores", "models", "weights", "rate"),
    _odd("vast weights", np.full(N, 1e308), "scores", "models"),
    _odd("whole numbers", np.arange(N), "scores", "models", "weights", "groups"),
    _odd("unsigned", np.arange(N, dtype=np.uint8), "scores", "models", "weights", "groups"),
    _odd("half floats", SCORES.astype(np.float16), *COLUMN),
    _odd("structured", np.array([(x,) for x in SCORES], dtype=[("a", "f8")])),
    _odd("huge whole numbers", [10**400] * N),
    Odd("generator", lambda: (value for value in SCORES.tolist())),
    Odd("range", lambda: range(N), frozenset({"scores", "models", "weights", "groups"})),
]

ODD_VALUES = [*NUMBERS, *OBJECTS, *COLUMNS]
