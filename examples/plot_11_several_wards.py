"""
How should wards share one team?
================================

One team can visit a tenth of all patients. Fixed shares per diagnosis waste visits; one
capacity for all of them goes where it saves most.
"""

import matplotlib.pyplot as plt

import voros
from voros.datasets import load_support2
from voros.plotting import CapacityDisplay

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death")
risk = patients.prognoses["SUPPORT model"]
ward = patients.features["dzclass"]
scenario = voros.Scenario(min_precision=0.3, cost_ratio=(1 / 40, 1 / 20))
policy = voros.allocate(died, risk, scenario, capacity=0.1, by=ward)
print(policy.table().text())

# %%
# Who gets the alarms as the capacity grows, and what one more alarm saves:

with plt.rc_context({"figure.figsize": (4.8, 4.2), "font.size": 14}):
    CapacityDisplay.from_predictions(died, risk, scenario, by=ward, policy=policy)
plt.show()
