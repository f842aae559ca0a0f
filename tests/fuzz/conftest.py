"""What other tests start serves those that try things at random too."""

from cli.conftest import voros_command
from engines.conftest import spark
from present.explorer.conftest import browser

__all__ = ["browser", "spark", "voros_command"]
