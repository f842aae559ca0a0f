"""
How should wards share one team?
================================

One team can visit a tenth of all patients. Fixed shares per diagnosis waste visits; one
capacity for all of them goes where it saves most.
"""

import matplotlib.pyplot as plt

import voros
from voros.datasets import load_support2

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death")
risk = patients.prognoses["SUPPORT model"]
ward = patients.features["dzclass"]
scenario = voros.Scenario(min_precision=0.3, cost_ratio=(1 / 40, 1 / 20))
policy = voros.allocate(died, risk, scenario, capacity=0.1, by=ward)
print(policy.table().text())

# %%
# Who gets the alarms as the capacity grows:

shares = [0.02, 0.05, 0.1, 0.15, 0.2]
grown = [voros.allocate(died, risk, scenario, capacity=share, by=ward) for share in shares]
alarms = zip(*(shared.default.alarms for shared in grown), strict=True)
with plt.rc_context({"figure.figsize": (4.8, 3.4), "font.size": 14}):
    _, axis = plt.subplots(layout="constrained")
    axis.stackplot(shares, *alarms, labels=policy.names)
    axis.set(xlabel="shared capacity", ylabel="alarms")
    axis.set_xticks([0.05, 0.1, 0.15, 0.2], ["5 %", "10 %", "15 %", "20 %"])
    axis.legend(loc="upper left", fontsize="small")
plt.show()
