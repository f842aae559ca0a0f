"""Messages that know which of their parts name arguments, and text that is safe to print."""

from __future__ import annotations

from itertools import chain


class Argument(str):
    """The name of an argument within a `Message`.

    Where the text says more than the name, `name` is the argument and `value` what to give.
    """

    name: str
    value: str

    def __new__(cls, text: str, name: str = "", value: str = "") -> Argument:
        """Take the text as the name, unless one is given."""
        made = super().__new__(cls, text)
        made.name, made.value = name or text, value
        return made


class Message(str):
    """A text that knows which of its parts name arguments.

    The command line has options in place of arguments, and names those.

    Examples
    --------
    >>> message = Message("labels 'a' and 'b'; pass ", Argument("pos_label"))
    >>> print(message)
    labels 'a' and 'b'; pass pos_label
    >>> message.parts[1].name
    'pos_label'
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Message:
        """Join the parts; messages among them keep their own."""
        made = super().__new__(cls, "".join(parts))
        nested = (part.parts if isinstance(part, Message) else (part,) for part in parts)
        made.parts = tuple(chain.from_iterable(nested))
        return made


def printable(text: str) -> str:
    r"""Return text with an escape in place of each character that a terminal would obey.

    Examples
    --------
    >>> print(printable("red \x1b[31m, and bell \a"))
    red \x1b[31m, and bell \x07
    """
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii")
        for mark in text
    )
