"""The command line in the test's own process, as the tests of commands run it."""

from cli.conftest import voros_command

__all__ = ["voros_command"]
