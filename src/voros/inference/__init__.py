"""Intervals and comparisons by resampling."""

from voros.inference.band import Band
from voros.inference.benefit_bands import net_benefit_band
from voros.inference.bootstrap import Bootstrap, bootstrap
from voros.inference.comparison import (
    Comparison,
    PairedDifference,
    compare,
    compare_policies,
)
from voros.inference.roc_bands import roc_band

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
