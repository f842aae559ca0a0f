"""TOML that people write: scenarios and answers, with limits to what a parser is given."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from voros.io.documents import DEEPEST

LARGEST_TOML = 2**20
"""Bytes of a file; scenarios take a few hundred."""

NOT_OF_A_KEY = re.compile(r"[^\w.\"' \t-]+")


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a file of TOML.

    Raises
    ------
    ValueError
        When it is not TOML, or so large or deeply nested that a parser would take minutes.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "ward.toml")
    >>> _ = file.write_text(".".join("a" * 100_000) + " = 1")
    >>> read_toml(file)
    Traceback (most recent call last):
    ValueError: ...ward.toml is not TOML: a key has more than 32 parts
    """
    try:
        text = _checked_text(Path(path))
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{path} is not TOML: values are nested too deep") from None
    except ValueError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None


def _checked_text(path: Path) -> str:
    """Read a text; the parser's time grows with the square of the parts of a key."""
    if path.stat().st_size > LARGEST_TOML:
        raise ValueError(f"it has more than {LARGEST_TOML:,} bytes")
    text = path.read_text(encoding="utf-8")
    for piece in NOT_OF_A_KEY.split(text):
        if piece.count(".") > DEEPEST and sum(map(bool, piece.split("."))) > DEEPEST:
            raise ValueError(f"a key has more than {DEEPEST} parts")
    return text
