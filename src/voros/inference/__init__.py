"""Intervals and comparisons by resampling."""

from voros.inference.bands import Band, roc_band
from voros.inference.benefit_bands import net_benefit_band
from voros.inference.bootstrap import Bootstrap, bootstrap
from voros.inference.comparison import (
    Comparison,
    PairedDifference,
    compare,
    compare_policies,
)

__all__ = [
    "Band",
    "Bootstrap",
    "Comparison",
    "PairedDifference",
    "bootstrap",
    "compare",
    "compare_policies",
    "net_benefit_band",
    "roc_band",
]
