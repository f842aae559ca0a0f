"""
What does a limit cost in net benefit?
======================================

A decision curve within a capacity and a precision floor, beside the one without. The gap is what the
limits cost at each price of a false alarm. The dotted line takes scores as probabilities: this one
forecasts two months and not seven days, so alarms at its face value cost more than they gain.
"""

import matplotlib.pyplot as plt

import voros
from voros.datasets import load_support2
from voros.plotting import DecisionCurveDisplay

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")
ward = voros.Scenario(min_precision=0.2, capacity=0.05, cost_ratio=(1 / 40, 1 / 9))
model = {"SUPPORT model": patients.prognoses["SUPPORT model"]}
display = DecisionCurveDisplay.from_predictions(died, model, ward)
plt.show()

# %%
# The limits cost most where misses are costly:

frame = display.frame("pandas")
print(frame[["threshold_probability", "within_limits", "cost_of_limits"]].iloc[[1, 4, 9, 19]])
