"""What the documentation says of every hospital study, for the TRIPOD+AI checklist."""

from collections.abc import Mapping

_PAGE = "documentation of voros-studies: the hospital experiments"

DOCUMENTED: Mapping[str, str] = {
    **dict.fromkeys(("5a", "7", "9a", "9b", "15"), _PAGE),
    "8a": f"title; {_PAGE}",
}
"""Items that the page answers, with what the title of the study adds."""
