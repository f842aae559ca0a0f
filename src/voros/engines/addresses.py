"""Addresses of object stores: how DuckDB reads them, and what engines say of them."""

from __future__ import annotations

import re
from typing import Any

_ANSWER = re.compile(r"<Message>(.*?)</Message>")
"""What an object store says, in XML."""

_MEANINGS = {
    "expanded paths were empty": "no files match",
    # Where machines of a cloud ask who they are: the last place to look for credentials.
    "169.254.169.254": "no credentials were found; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
    "hold them",
    "httpfs": "DuckDB's extension httpfs is not installed and could not be downloaded; run INSTALL "
    "httpfs in DuckDB where the internet is in reach, or install s3fs, through which "
    "engine='duckdb' reads as well, or take engine='polars'",
}
"""What engines mean by some of their words."""


def give_filesystem(connection: Any, address: str) -> None:
    """Let DuckDB read an address through fsspec, where the package for its kind is installed.

    It takes the same environment variables as other engines do. Without the package DuckDB loads
    or downloads its extension httpfs, which has settings of its own.
    """
    try:
        import fsspec

        connection.register_filesystem(fsspec.filesystem(address.partition("://")[0]))
    except (ImportError, ValueError):
        return


def reason_of(error: Exception) -> str:
    """Return in one line why an engine could not read what it was given.

    Examples
    --------
    >>> reason_of(OSError("404 <Error><Message>The bucket does not exist</Message></Error>"))
    'The bucket does not exist'
    """
    text = str(error).split("Original Message:")[-1].strip()
    if isinstance(error, FileNotFoundError) and " " not in text:
        return "there is no such file or folder"
    answer = _ANSWER.search(text)
    known = [meaning for words, meaning in _MEANINGS.items() if words in text]
    if answer or known:
        return answer[1] if answer else known[0]
    last = text.splitlines()[-1:] if text.startswith("Traceback") else text.split()
    return " ".join(last) or type(error).__name__
