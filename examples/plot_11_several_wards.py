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
# Who gets the alarms as the capacity grows, and what one more alarm saves:

growth = voros.allocation.capacity_growth(died, risk, scenario, by=ward)
shown = growth.capacity <= 0.3 * len(died)
_, (upper, lower) = plt.subplots(2, 1, figsize=(6.4, 5.2), sharex=True, layout="constrained")
colors = ["#00578A", "#F0A35E", "#3FA98A", "#F0D3E2"]
upper.stackplot(growth.capacity[shown], growth.alarms[shown].T, labels=growth.names, colors=colors)
lower.step(growth.capacity[shown], growth.shadow_price[shown], where="post", color="black")
for panel in (upper, lower):
    panel.axvline(policy.max_alarms, color="black", linestyle="--", linewidth=1)
lower.annotate("capacity", (policy.max_alarms, 0.8), (5, 0), textcoords="offset points")
upper.set(ylabel="alarms", xlim=(0, growth.capacity[shown][-1]))
upper.legend(loc="upper left")
lower.set(ylabel="misses saved by\none more alarm", xlabel="shared capacity (alarms)", ylim=(0, 1))
plt.show()
