"""One rule for how models look: told apart far beyond twelve."""

import itertools

import pytest

from voros.styles import HUES, letter_of

LINES, LINES_ON_DARK, FILLS = zip(*HUES, strict=True)

WHITE, NIGHT = "#FFFFFF", "#15202B"


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    coded = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in coded]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def rgb_distance(one: str, other: str) -> float:
    return sum((int(one[i : i + 2], 16) - int(other[i : i + 2], 16)) ** 2 for i in (1, 3, 5)) ** 0.5


@pytest.mark.parametrize("palette", [LINES, FILLS, LINES_ON_DARK], ids=["lines", "fills", "dark"])
def test_twelve_colours_differ(palette):
    assert len(palette) == 12
    for one, other in itertools.combinations(palette, 2):
        assert rgb_distance(one, other) > 50


def test_colours_stand_out_from_their_ground():
    assert min(contrast(colour, WHITE) for colour in LINES) > 2.2
    assert min(contrast(colour, NIGHT) for colour in LINES_ON_DARK) > 4.5


def test_letters_count_as_spreadsheets_do():
    letters = [
        "".join(pair)
        for n in (1, 2)
        for pair in itertools.product(*["ABCDEFGHIJKLMNOPQRSTUVWXYZ"] * n)
    ]
    assert [letter_of(i) for i in range(len(letters))] == letters
