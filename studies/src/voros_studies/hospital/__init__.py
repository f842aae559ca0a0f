"""The paper's study on hospital data: MIMIC-IV, eICU, PhysioNet 2012, and SUPPORT2.

Each module reads one source into cases; `voros_studies.experiments` does the rest. The command
``voros experiment`` runs them.
"""

from voros_studies.hospital.eicu import run_eicu
from voros_studies.hospital.mimic import run_mimic
from voros_studies.hospital.physionet2012 import run_physionet2012
from voros_studies.hospital.prognoses import run_support2

__all__ = [
    "run_eicu",
    "run_mimic",
    "run_physionet2012",
    "run_support2",
]
