"""
Which model should raise the alarm?
===================================

A ward can follow up on one patient in ten, and one alarm in five must be correct. Four prognoses
compete. The AUROC would pick the physicians; within the limits the SUPPORT model wins.
"""

import matplotlib.pyplot as plt

import voros
from voros.datasets import load_support2
from voros.plotting import RocDisplay

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")

ward = voros.Scenario(min_precision=0.2, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
print(voros.select_model(died, patients.prognoses, ward))

# %%
# The best two. The gold region meets both limits; the curves are solid inside it.

two = {name: patients.prognoses[name] for name in ("SUPPORT model", "physicians")}
with plt.rc_context({"font.size": 13}):
    _, axis = plt.subplots(figsize=(5, 4), layout="constrained")
    RocDisplay.from_predictions(died, two, ward, zoom=True, ax=axis)
plt.show()
