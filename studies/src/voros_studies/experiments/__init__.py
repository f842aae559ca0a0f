"""A study from cases to tables: split, grid of 140 models, selection on validation, test.

`run_experiment` takes any cases, `run_table` a table; `voros_studies.hospital` runs the study on
MIMIC-IV, eICU, PhysioNet 2012 and SUPPORT2.
"""

from voros_studies.experiments.cases import LabelledCases
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.experiment import RunOptions, run_experiment
from voros_studies.experiments.model_file import own_models
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.table import TableColumns
from voros_studies.experiments.table_study import run_table

__all__ = [
    "ExperimentError",
    "LabelledCases",
    "RunOptions",
    "StudyResult",
    "TableColumns",
    "own_models",
    "run_experiment",
    "run_table",
]
