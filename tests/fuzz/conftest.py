"""The browser and the command line of other tests serve those that try things at random too."""

from cli.conftest import voros_command
from present.explorer.conftest import browser

__all__ = ["browser", "voros_command"]
