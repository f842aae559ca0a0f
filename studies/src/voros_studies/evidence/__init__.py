"""Does choosing by partial VOROS cost less? A comparison on many open data sets.

`run_evidence` fits a small grid on many splits of every data set that it finds, lets each strategy
choose a model and its thresholds on validation, and compares the costs on test.
"""

from voros_studies.evidence.run import EvidenceResult, run_evidence

__all__ = ["EvidenceResult", "run_evidence"]
