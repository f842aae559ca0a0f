r"""Names drawn literally: not as mathematics, not hidden by an underscore, and short enough."""

from __future__ import annotations

import textwrap

from voros.text.table import latex_text

UNKNOWN = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "…"


def literal(text: str) -> str:
    r"""Write text so that matplotlib draws every character of it.

    Examples
    --------
    >>> print(literal(r"$\frac{1$ of $2"))
    \$\frac{1\$ of \$2
    """
    from matplotlib import rcParams

    if rcParams["text.usetex"]:
        return latex_text(text)
    return text.replace("$", r"\$")


def visible(name: str) -> str:
    r"""Replace invisible characters: line breaks by a space, control characters by a sign.

    Examples
    --------
    >>> visible("one\ntwo\x1b[31m")
    'one two�[31m'
    >>> visible(" ")
    "' '"
    """
    shown = "".join(" " if c.isspace() else c if c.isprintable() else UNKNOWN for c in str(name))
    return shown if shown.strip() else repr(name)


def wrapped(name: str, width: int, lines: int = 3) -> str:
    """Break a name into lines of at most ``width`` characters; a longer one loses its middle.

    Examples
    --------
    >>> print(wrapped("gradient boosting, calibrated", 16))
    gradient
    boosting,
    calibrated
    >>> wrapped("a_very_long_name_without_a_blank_2", 12, lines=1)
    'a_ver…lank_2'
    """
    width = max(width, 3)
    shown = visible(name)
    parts = textwrap.wrap(shown, width)
    if len(parts) > lines:
        most = width * lines
        if len(shown) > most:
            head = (most - 1) // 2
            shown = shown[:head] + ELLIPSIS + shown[len(shown) - (most - 1 - head) :]
        parts = [shown[i : i + width] for i in range(0, len(shown), width)]
    return "\n".join(parts)


def distinct(names: list[str], shown: list[str]) -> list[str]:
    """Number texts that are the same for different names.

    Examples
    --------
    >>> distinct(["model one", "model two", "other"], ["mo…", "mo…", "other"])
    ['mo… (1)', 'mo… (2)', 'other']
    """
    same = {text: [n for n, s in zip(names, shown, strict=True) if s == text] for text in shown}
    return [
        text if len(same[text]) == 1 else f"{text} ({same[text].index(name) + 1})"
        for name, text in zip(names, shown, strict=True)
    ]
