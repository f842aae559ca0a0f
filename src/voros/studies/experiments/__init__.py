"""The hospital experiments: MIMIC-IV, eICU, and the same study on data that everybody has.

From a folder of tables to the tables of the paper: a cohort, its features, the grid of 140 models,
selection on validation, and the account on test. ``voros experiment`` runs them.
"""

from voros.studies.experiments.errors import ExperimentError
from voros.studies.experiments.experiment import Options
from voros.studies.experiments.hospital_studies import run_eicu, run_mimic
from voros.studies.experiments.results import StudyResult
from voros.studies.experiments.support2 import quick_support2, run_support2

__all__ = [
    "ExperimentError",
    "Options",
    "StudyResult",
    "quick_support2",
    "run_eicu",
    "run_mimic",
    "run_support2",
]
