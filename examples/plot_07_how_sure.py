"""
How sure is the ranking?
========================

Differences come from a paired bootstrap, which applies the limits again in every resample. Each
score has an interval from the exact limits of its curve.
"""

import matplotlib.pyplot as plt

import voros
from voros.datasets import load_support2

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")

ward = voros.Scenario(min_precision=0.2, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
result = voros.compare(died, patients.prognoses, ward, n_resamples=300, random_state=0)
print(result)

# %%
# Intervals of the four scores:

figure, axis = plt.subplots(layout="constrained")
for row, score in enumerate(result.models.values()):
    axis.plot([score.low, score.high], [row, row], color="C0")
    axis.plot(score.estimate, row, "o", color="C0")
axis.set(yticks=range(4), yticklabels=list(result.models), xlabel="partial VOROS")
plt.show()
