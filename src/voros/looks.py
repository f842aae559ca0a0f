"""How a model looks, by its position: the one rule of the pictures and of the interactive page.

Colours begin with those of Okabe and Ito, which people with any common colour blindness can tell
apart. No picture relies on them alone: a line also has dashes, a point a marker, and an area a
letter. After the twelfth model a colour comes again, with other dashes and another marker.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase

LINES = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#000000",
    "#E69F00",
    "#7A6A00",
    "#2222DD",
    "#8B1A3A",
    "#9467FF",
    "#6B8E23",
)
"""One colour per model, for lines and markers on white or gold."""

LINES_ON_DARK = (
    "#4FA8E0",
    "#F28E4B",
    "#2FC299",
    "#E59BC3",
    "#A6DBFF",
    "#FFFFFF",
    "#FFC24D",
    "#9C8F2E",
    "#6F7DFF",
    "#FF5C73",
    "#D0B0FF",
    "#C8E89A",
)
"""The same hues, lighter, for lines, markers and areas on a dark ground."""

FILLS = (
    "#00578A",
    "#F0A35E",
    "#3FA98A",
    "#F0D3E2",
    "#56B4E9",
    "#444444",
    "#E69F00",
    "#F0E442",
    "#2222DD",
    "#7A1F3D",
    "#9467FF",
    "#A8C686",
)
"""The same hues for areas; the first four also differ in brightness when printed grey."""

DASHES: tuple[tuple[float, ...], ...] = ((), (6, 1.5), (3, 1, 1, 1), (1, 1))
"""Lengths on and off, in widths of the line; none is a solid line."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", "p", ">", "h")
"""In matplotlib's letters."""


@dataclass(frozen=True)
class Look:
    """The looks of one model.

    Attributes
    ----------
    line, fill : str
        Colours of lines and of areas on a light ground.
    on_dark : str
        Colour of lines and areas on a dark ground.
    dashes : tuple of float
    marker, letter : str
    """

    line: str
    fill: str
    on_dark: str
    dashes: tuple[float, ...]
    marker: str
    letter: str


def look_of(position: int) -> Look:
    """Return the looks of the model at a position, from 0.

    Examples
    --------
    >>> look_of(0).line == look_of(12).line, look_of(0).dashes == look_of(12).dashes
    (True, False)
    """
    colour = position % len(LINES)
    # One step more in every round of colours, so that a colour never meets its dashes again soon.
    style = position + position // len(LINES)
    return Look(
        line=LINES[colour],
        fill=FILLS[colour],
        on_dark=LINES_ON_DARK[colour],
        dashes=DASHES[style % len(DASHES)],
        marker=MARKERS[style % len(MARKERS)],
        letter=letter_of(position),
    )


def letter_of(position: int) -> str:
    """Return A to Z, then AA, AB and so on, as spreadsheets name columns.

    Examples
    --------
    >>> letter_of(0), letter_of(25), letter_of(26), letter_of(27 * 26)
    ('A', 'Z', 'AA', 'AAA')
    """
    rest, last = divmod(position, len(ascii_uppercase))
    return (letter_of(rest - 1) if rest else "") + ascii_uppercase[last]
