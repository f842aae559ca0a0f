"""Keys of floats by exact arithmetic, for engines that do not show the bits of a float.

They are those of `voros.engines.keys`. Powers of two divide without rounding, and whole numbers
below 2**53 are floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from voros.core.arrays import LARGEST_FINITE

FRACTION_BITS, EXPONENT_BIAS = 52, 1023
"""How a float64 is laid out."""

HIGHEST_POWER = (2 * EXPONENT_BIAS + 1) * 2**FRACTION_BITS
"""Key of an infinity."""

SMALLEST_NORMAL = 2.0**-1022
SCALE_HALF = 2.0**537
"""Its square makes a whole number of the smallest float."""

LOGARITHM_MARGIN = 2.0**-30
"""More than a logarithm to base two of a float is off."""


def spark_size_key(absolute: str, size: str, power: str) -> list[tuple[str, str]]:
    """Columns of SQL, one after the other, that end in the key of `ibis_size_key`, unnamed."""
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


def ibis_bucket(score: Any, level: int) -> Any:
    """Return the bucket of an Ibis column, shifting whole numbers that are not negative.

    Databases shift the sign bit each their own way: the bucket of -k is -1 - ((k - 1) >> level).
    """
    import ibis

    negative = ibis.ifelse(score < 0, 1, 0)
    return ((ibis_size_key(score) - negative) >> level) * (1 - 2 * negative) - negative


def ibis_size_key(score: Any) -> Any:
    """Return the key of `voros.engines.keys.to_key` of the size of an Ibis column of float64.

    Each column is named few times, for a database is sent the whole expression. A logarithm may
    round to the wrong side of a power of two, so that the power taken is the right one or the one
    below, and the size is 1 to 4 of it. To cast the power makes PostgreSQL compute in floats.
    """
    import ibis

    size = score.abs()
    normal = ibis.greatest(SMALLEST_NORMAL, ibis.least(LARGEST_FINITE, size))
    power = (normal.ln() * (1 / np.log(2.0)) - LOGARITHM_MARGIN).floor()
    times = normal / ibis.literal(2.0).pow(power.cast("float64"))
    fraction = ibis.ifelse(
        times < 2.0, (times - 1.0) * 2.0**FRACTION_BITS, times * 2.0 ** (FRACTION_BITS - 1)
    )
    key = (power.cast("int64") + EXPONENT_BIAS) * 2**FRACTION_BITS + fraction.cast("int64")
    # By halves, for no float holds the whole factor.
    small = (ibis.least(SMALLEST_NORMAL, size) * SCALE_HALF * SCALE_HALF).cast("int64")
    highest = ibis.literal(HIGHEST_POWER, "int64")
    beyond = ibis.ifelse(size > LARGEST_FINITE, highest, key)
    return ibis.ifelse(size < SMALLEST_NORMAL, small, beyond)
