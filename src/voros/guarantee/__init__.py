"""Limits that hold on new data, with a stated confidence."""

from voros.guarantee.planning import CasesNeeded, cases_needed
from voros.guarantee.promise import Guarantee

__all__ = ["CasesNeeded", "Guarantee", "cases_needed"]
