"""Trust: intervals, comparisons, and limits that hold on new data."""

from voros.inference.guarantees import Guarantee, one_per_group
from voros.inference.planning import CasesNeeded, cases_needed

__all__ = [
    "CasesNeeded",
    "Guarantee",
    "cases_needed",
    "one_per_group",
]
