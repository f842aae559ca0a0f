"""
What if patients have several cases?
====================================

Cases of one patient are not independent, and an interval that takes them so is too narrow.
``groups`` names the patient of each case.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros

rng = np.random.default_rng(1)
patient = np.repeat(np.arange(300), 10)
frailty = rng.normal(size=300)[patient]
y = rng.random(3000) < 1 / (1 + np.exp(2.6 - 1.2 * frailty))
score = 0.8 * y + frailty + 0.5 * rng.normal(size=3000)
ward = voros.Scenario(min_precision=0.2, capacity=0.2, cost_ratio=(1 / 20, 1 / 10))
ways = {"as if independent": None, "by patient": patient}
figure, axis = plt.subplots(figsize=(6, 2), layout="constrained")
for row, (name, groups) in enumerate(ways.items()):
    interval = voros.bootstrap(y, score, ward, groups=groups, n_resamples=400, random_state=0)
    print(f"{name}: {interval.low:.3f} to {interval.high:.3f}")
    axis.plot([interval.low, interval.high], [row, row], lw=3)
    axis.plot(interval.estimate, row, "ko")
axis.set(yticks=[0, 1], yticklabels=list(ways), xlabel="partial VOROS", ylim=(-0.5, 1.5))
plt.show()
