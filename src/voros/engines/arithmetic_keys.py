"""Keys of floats by exact arithmetic, for Spark, which does not show the bits of a float.

They are those of `voros.engines.keys`. Powers of two divide without rounding, and whole numbers
below 2**53 are floats.
"""

from __future__ import annotations

from voros.core.arrays import LARGEST_FINITE

FRACTION_BITS, EXPONENT_BIAS = 52, 1023
"""How a float64 is laid out."""

HIGHEST_POWER = (2 * EXPONENT_BIAS + 1) * 2**FRACTION_BITS
"""Key of an infinity."""

SMALLEST_NORMAL = 2.0**-1022
SCALE_HALF = 2.0**537
"""Its square makes a whole number of the smallest float."""


def spark_size_key(absolute: str, size: str, power: str) -> list[tuple[str, str]]:
    """Columns of SQL, one after the other, that end in the key of a size, unnamed."""
    denormal = f"{absolute} < {SMALLEST_NORMAL!r}D"
    infinite = f"{absolute} > {float(LARGEST_FINITE)!r}D"
    fraction = f"CAST((`{size}` / pow(2D, `{power}`) - 1) * {2.0**FRACTION_BITS!r}D AS BIGINT)"
    normal = f"(CAST(`{power}` AS BIGINT) + {EXPONENT_BIAS}) * {2**FRACTION_BITS} + {fraction}"
    return [
        (size, f"IF({denormal} OR {infinite}, 1D, {absolute})"),
        (power, f"greatest(least(floor(log2(`{size}`)), {EXPONENT_BIAS}), {1 - EXPONENT_BIAS})"),
        # A logarithm beside a power of two may round to the wrong side.
        (power, f"`{power}` - IF(`{size}` < pow(2D, `{power}`), 1, 0)"),
        (power, f"`{power}` + IF(`{size}` / pow(2D, `{power}`) >= 2, 1, 0)"),
        (
            "",
            f"CASE WHEN {denormal} THEN CAST({absolute} * {SCALE_HALF!r}D * {SCALE_HALF!r}D "
            f"AS BIGINT) WHEN {infinite} THEN {HIGHEST_POWER} ELSE {normal} END",
        ),
    ]
