"""
Why this threshold and not another?
===================================

Cost, precision and number of alarms along the thresholds of one model. Both limits are met in
the gold part; the threshold of least cost in it is marked.
"""

import matplotlib.pyplot as plt

import voros
from voros.datasets import load_support2

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")

from voros.plotting import ThresholdCostDisplay

ward = voros.Scenario(min_precision=0.2, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
display = ThresholdCostDisplay.from_predictions(died, patients.prognoses["SUPPORT model"], ward)
plt.show()

# %%
# The threshold to deploy, and how many of all thresholds are feasible:

frame = display.frame()
print(display.best_threshold, int(frame["feasible"].sum()), len(frame))
