"""
What if nobody knows what a miss costs?
=======================================

Say a range. The score averages over it. The curve shows how good each model is at every cost in
the range, and whether the winner depends on the cost at all.
"""

import matplotlib.pyplot as plt

import voros
from voros.datasets import load_support2

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")

from voros.plotting import AreaCurveDisplay

ward = voros.Scenario(0.2, 0.3, cost_ratio=voros.costs.miss_costs(5, 60))
AreaCurveDisplay.from_predictions(died, patients.prognoses, ward)
plt.show()

# %%
# Each marker is a cost at which another threshold becomes the best one.
