"""Colours and titles of axes, for pictures and the interactive page.

Colours begin with those of Okabe and Ito, which people with any common colour blindness can
distinguish. No picture relies on colours alone: a line also has dashes, a point a marker, and an
area a letter. After the twelfth model colours repeat, with other dashes and markers.
"""

from __future__ import annotations

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
"""Colours of each model: of lines and markers on white or gold; of lines, markers and areas on a
dark background; and of areas, where the first four also differ in brightness when printed grey."""

REGION = "#F6D55C"
"""The feasible region."""
REGION_OPACITY, REGION_OPACITY_ON_DARK = 0.55, 0.3
"""The opacity is lower on a dark background, so that curves stand out."""

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
"""Lengths of dashes and gaps, in widths of the line; an empty tuple is a solid line."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", "p", ">", "h")
"""Markers in matplotlib's notation."""


def letter_of(position: int) -> str:
    """Return A to Z, then AA, AB and so on, as spreadsheets name columns.

    Examples
    --------
    >>> letter_of(0), letter_of(25), letter_of(26), letter_of(27 * 26)
    ('A', 'Z', 'AA', 'AAA')
    """
    rest, last = divmod(position, len(ascii_uppercase))
    return (letter_of(rest - 1) if rest else "") + ascii_uppercase[last]
