"""
Which model should raise the alarm?
===================================

A ward can follow up on one patient in ten, and one alarm in five must be right. Four prognoses
compete. The AUROC would pick the physicians; within the limits another one wins.
"""

import matplotlib.pyplot as plt

import voros
from voros.datasets import load_support2

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")

ward = voros.Scenario(min_precision=0.2, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
print(voros.select_model(died, patients.prognoses, ward))

# %%
# The curves are solid where a threshold meets both limits. Gold is what the limits leave.

from voros.plotting import RocDisplay

RocDisplay.from_predictions(died, patients.prognoses, ward, zoom=True)
plt.show()
