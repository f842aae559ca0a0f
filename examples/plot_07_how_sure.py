"""
How sure is the ranking?
========================

A paired bootstrap resamples the patients and applies the limits again in every resample.
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
for row, (_name, risk) in enumerate(patients.prognoses.items()):
    score = voros.bootstrap(died, risk, ward, n_resamples=300, random_state=0)
    axis.plot([score.low, score.high], [row, row], color="C0")
    axis.plot(score.estimate, row, "o", color="C0")
axis.set(yticks=range(4), yticklabels=list(patients.prognoses), xlabel="partial VOROS")
plt.show()
