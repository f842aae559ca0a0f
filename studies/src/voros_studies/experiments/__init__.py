"""A study from cases to tables: split, grid of 140 models, selection on validation, test.

`run_experiment` takes any cases; `voros_studies.hospital` runs it on MIMIC-IV, eICU and SUPPORT2.
"""

from voros_studies.experiments.cases import LabelledCases
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.experiment import RunOptions, run_experiment
from voros_studies.experiments.results import StudyResult

__all__ = ["ExperimentError", "LabelledCases", "RunOptions", "StudyResult", "run_experiment"]
