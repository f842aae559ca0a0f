"""The browser of the tests of the page serves those that type and navigate at random too."""

from explorer.conftest import browser

__all__ = ["browser"]
