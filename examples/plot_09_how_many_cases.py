"""
How many cases does a validation need?
======================================

To certify a floor the true precision must lie above it, and the closer it lies, the more alarms
are needed.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros

figure, axis = plt.subplots(layout="constrained")
true = np.linspace(0.35, 0.6, 26)
for floor in (0.2, 0.25, 0.3):
    needed = [voros.cases_needed(floor, value, confidence=0.95, power=0.8).alarms for value in true]
    axis.plot(true, needed, label=f"floor {floor:g}")
axis.set(yscale="log", xlabel="true precision", ylabel="labelled alarms needed")
axis.set_yticks([10, 20, 50, 100, 200, 500], ["10", "20", "50", "100", "200", "500"], minor=False)
axis.minorticks_off()
axis.legend()
plt.show()

# %%
# In cases, if a tenth of them raise an alarm:

plan = voros.cases_needed(0.3, 0.4, confidence=0.95, power=0.8, alarm_rate=0.1, prevalence=0.1)
print(plan.alarms, plan.cases)
