"""The paper's study on hospital data: MIMIC-IV, eICU, and SUPPORT2, which comes with voros.

Each module reads one source into cases; `voros.studies.experiments` does the rest. The command
``voros experiment`` runs them.
"""

from voros.studies.hospital.eicu import run_eicu
from voros.studies.hospital.mimic import run_mimic
from voros.studies.hospital.prognoses import quick_support2, run_support2

__all__ = ["quick_support2", "run_eicu", "run_mimic", "run_support2"]
