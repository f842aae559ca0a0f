"""Colours and titles of axes: the one rule of the pictures and of the interactive page.

Colours begin with those of Okabe and Ito, which look different to people with any common colour
blindness. No picture relies on them alone: a line also has dashes, a point a marker, and an area a
letter. After the twelfth model a colour comes again, with other dashes and another marker.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase

HUES = (
    ("#0072B2", "#4FA8E0", "#00578A"),
    ("#D55E00", "#F28E4B", "#F0A35E"),
    ("#009E73", "#2FC299", "#3FA98A"),
    ("#CC79A7", "#E59BC3", "#F0D3E2"),
    ("#56B4E9", "#A6DBFF", "#56B4E9"),
    ("#000000", "#FFFFFF", "#444444"),
    ("#E69F00", "#FFC24D", "#E69F00"),
    ("#7A6A00", "#9C8F2E", "#F0E442"),
    ("#2222DD", "#6F7DFF", "#2222DD"),
    ("#8B1A3A", "#FF5C73", "#7A1F3D"),
    ("#9467FF", "#D0B0FF", "#9467FF"),
    ("#6B8E23", "#C8E89A", "#A8C686"),
)
"""The hue of each model: lines and markers on white or gold; lines, markers and areas on a dark
ground, which are lighter; areas, of which the first four also differ in brightness printed grey."""

REGION = "#F6D55C"
"""The feasible region."""
REGION_OPACITY, REGION_OPACITY_ON_DARK = 0.55, 0.3
"""Less of it on a dark ground, so that curves stand out."""

AXIS_TITLES = {
    "fpr": "false alarm rate (FPR)",
    "tpr": "recall (TPR)",
    "area": "best normalised area",
    "miss": "false alarms that a miss is worth",
    "threshold": "alarm threshold (score)",
    "min_precision": "minimum precision",
    "capacity": "capacity",
    "net_benefit": "net benefit",
}

DASHES: tuple[tuple[float, ...], ...] = ((), (6, 1.5), (3, 1, 1, 1), (1, 1))
"""Lengths on and off, in widths of the line; none is a solid line."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", "p", ">", "h")
"""In matplotlib's letters."""


@dataclass(frozen=True, kw_only=True)
class Style:
    """How one model is drawn: colours as in `HUES`, dashes, marker and letter."""

    line: str
    on_dark: str
    fill: str
    dashes: tuple[float, ...]
    marker: str
    letter: str


def style_of(position: int) -> Style:
    """Return the style of the model at a position, from 0.

    Examples
    --------
    >>> style_of(0).line == style_of(12).line, style_of(0).dashes == style_of(12).dashes
    (True, False)
    """
    # One step more in every round of colours, so that a colour never meets its dashes again soon.
    step = position + position // len(HUES)
    line, on_dark, fill = HUES[position % len(HUES)]
    return Style(
        line=line,
        on_dark=on_dark,
        fill=fill,
        dashes=DASHES[step % len(DASHES)],
        marker=MARKERS[step % len(MARKERS)],
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
