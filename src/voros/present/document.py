"""HTML documents that need no other file, from templates that escape their content."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Any

from voros.installing import missing_package
from voros.text.numbers import count, percent, short, threshold_text, with_interval

CONTENT_POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
"""All that a document may do, besides using its style, is to show its own images."""

SHOWN_SIZE = 11 / 15
"""Width on a screen of a pixel of a picture; type then has one size in all pictures."""

FILTERS = {
    "count": count,
    "percent": percent,
    "short": short,
    "threshold": threshold_text,
    "with_interval": with_interval,
}
"""How templates write numbers."""

STYLE_TO_COME = "(content policy)"
"""Stands for the policy until the digest of the style is known."""


@dataclass(frozen=True)
class Picture:
    """An image of a document; the first sentence of its caption says what it shows."""

    png: bytes
    caption: str

    @property
    def title(self) -> str:
        """The text for readers who cannot see the image."""
        return self.caption.partition(". ")[0]

    @property
    def width(self) -> int:
        """Width on a screen; the header of a PNG has that of the image."""
        return round(SHOWN_SIZE * int.from_bytes(self.png[16:20], "big"))

    @property
    def address(self) -> str:
        """The image, encoded as a data URL."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode('ascii')}"


def render_document(package: str, template: str, **content: Any) -> str:
    """Fill a template from the folder ``templates`` of a package; it may use those of this one."""
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise missing_package("writing a document", "jinja2") from error
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("voros.present")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= FILTERS
    environment.globals["Picture"] = Picture
    page = environment.get_template(template).render(content, content_policy=STYLE_TO_COME)
    return _with_policy(page)


def _with_policy(page: str) -> str:
    """Forbid a document to load or run anything, or to use another style than its own."""
    style = page.partition("<style>")[2].partition("</style>")[0]
    return page.replace(STYLE_TO_COME, f"{CONTENT_POLICY}; style-src {source_digest(style)}", 1)


def source_digest(text: str) -> str:
    """Return the digest of a style or a script, as a content security policy names it."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
