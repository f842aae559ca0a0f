"""Alarms over real stays: sepsis in the hours of PhysioNet Challenge 2019."""

from voros_studies.sepsis.hours import read_hours
from voros_studies.sepsis.run import run_physionet2019

__all__ = ["read_hours", "run_physionet2019"]
