"""Trust: intervals, comparisons, and limits that hold on new data."""

from voros.inference.bands import Band, area_band, roc_band
from voros.inference.bootstrap import Bootstrap, bootstrap
from voros.inference.comparison import Comparison, PairedDifference, compare
from voros.inference.guarantees import Guarantee, one_per_group
from voros.inference.planning import CasesNeeded, cases_needed
from voros.inference.policy_comparison import compare_policies

__all__ = [
    "Band",
    "Bootstrap",
    "CasesNeeded",
    "Comparison",
    "Guarantee",
    "PairedDifference",
    "area_band",
    "bootstrap",
    "cases_needed",
    "compare",
    "compare_policies",
    "one_per_group",
    "roc_band",
]
