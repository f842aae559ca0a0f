"""Charted items: the paper's 31 item ids, their channels, units and plausible ranges."""

from __future__ import annotations

from dataclasses import dataclass

FAHRENHEIT_ZERO, FAHRENHEIT_DEGREE = 32.0, 5 / 9
CM_PER_INCH = 2.54
KG_PER_POUND = 0.45359237


@dataclass(frozen=True)
class Unit:
    """Conversion of a reading to the channel's unit: ``(reading - offset) * factor``.

    ``spellings`` are how the unit is written in the chart, in lower case and without spaces.
    """

    spellings: tuple[str, ...]
    offset: float = 0.0
    factor: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Channel:
    """One quantity under the paper's name, charted as one or more items.

    ``items`` are item ids, with the unit each is charted in when the row names none. A row may name
    any of ``units``; one that names another is left out. Readings beyond ``low`` and ``high``,
    bounds in the channel's unit, are implausible. A ``static`` channel is taken as constant over
    the stay.
    """

    name: str
    items: dict[int, Unit]
    units: tuple[Unit, ...]
    low: float
    high: float
    static: bool = False


def _channel(
    name: str,
    items: tuple[int, ...],
    spellings: tuple[str, ...],
    plausible: tuple[float, float],
    *others: tuple[Unit, tuple[int, ...]],
    static: bool = False,
) -> Channel:
    own = Unit(spellings)
    by_item = dict.fromkeys(items, own) | {item: unit for unit, ids in others for item in ids}
    units = (own, *(unit for unit, _ in others))
    low, high = plausible
    return Channel(name=name, items=by_item, units=units, low=low, high=high, static=static)


FAHRENHEIT = Unit(("°f", "?f", "f", "degf", "deg.f"), FAHRENHEIT_ZERO, FAHRENHEIT_DEGREE)
INCH = Unit(("inch", "inches", "in"), factor=CM_PER_INCH)
POUND = Unit(("lb", "lbs", "pounds"), factor=KG_PER_POUND)

CHANNELS: tuple[Channel, ...] = (
    _channel("bp_diastolic_mmHg", (224643, 225310, 220180, 220051), ("mmhg",), (1, 250)),
    _channel("bp_systolic_mmHg", (227243, 224167, 220179, 225309, 220050), ("mmhg",), (1, 375)),
    _channel("heart_rate", (220045,), ("bpm",), (1, 350)),
    _channel("oxygen_saturation", (220277, 220227), ("%",), (1, 100)),
    _channel("resp_rate", (224422, 220210, 224689, 224690), ("insp/min", "bpm"), (0, 150)),
    _channel(
        "temp", (223762,), ("°c", "?c", "c", "degc", "deg.c"), (26, 45), (FAHRENHEIT, (223761,))
    ),
    _channel("cholesterol", (220603,), ("mg/dl",), (20, 1000)),
    _channel("glucose", (220621, 226537), ("mg/dl",), (10, 2000)),
    _channel("hemoglobin", (220228,), ("g/dl",), (1, 30)),
    _channel("lactic_acid", (225668,), ("mmol/l",), (0.05, 40)),
    _channel("pH", (223830, 220274), ("units",), (6.3, 8.4)),
    _channel("platelets", (227457,), ("k/ul",), (0, 3000)),
    _channel("white_blood_cell_count", (220546,), ("k/ul",), (0, 1000)),
    _channel("weight", (224639, 226512), ("kg",), (20, 500), (POUND, ()), static=True),
    _channel("height", (226730,), ("cm",), (100, 250), (INCH, (226707,)), static=True),
)
"""Six vitals, seven labs, and two quantities taken as constant over the stay.

The ranges are wide: they exclude typing errors and readings of another quantity, not patients
who are very ill.
"""

TIME_VARYING: tuple[Channel, ...] = tuple(c for c in CHANNELS if not c.static)
ITEM_IDS: tuple[int, ...] = tuple(item for c in CHANNELS for item in c.items)


def conversion_rows() -> list[tuple[int, int, str | None, float, float, float, float]]:
    """List every accepted item and unit: channel number, item, unit, conversion, bounds.

    The unit None stands for rows that name none; an item's other units are those of its channel.

    Examples
    --------
    >>> [row for row in conversion_rows() if row[1] == 223761][0][2:5]
    (None, 32.0, 0.5555555555555556)
    """
    rows = []
    for number, channel in enumerate(CHANNELS):
        named = [(word, unit) for unit in channel.units for word in unit.spellings]
        for item, own in channel.items.items():
            for word, unit in [(None, own), *named]:
                convert = (unit.offset, unit.factor, channel.low, channel.high)
                rows.append((number, item, word, *convert))
    return rows
