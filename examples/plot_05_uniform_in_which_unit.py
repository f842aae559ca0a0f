"""
Uniform in which unit?
======================

"A miss is worth 5 to 60 false alarms, all equally likely" and "a false alarm costs 1/60 to 1/5
of a miss, all equally likely" cover the same range and are different beliefs.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros

beliefs = {
    "miss_costs(5, 60)": voros.costs.miss_costs(5, 60),
    "uniform(1/60, 1/5)": voros.costs.uniform(1 / 60, 1 / 5),
}
rng = np.random.default_rng(0)
samples = {
    "miss_costs(5, 60)": rng.uniform(5, 60, 100_000),
    "uniform(1/60, 1/5)": 1 / rng.uniform(1 / 60, 1 / 5, 100_000),
}
figure, axis = plt.subplots(layout="constrained")
for name, worth in samples.items():
    axis.hist(worth, bins=55, density=True, histtype="step", label=name)
axis.set(xlabel="false alarms that a miss is worth", ylabel="density")
axis.legend()
plt.show()

# %%
# The second belief gives most weight to misses that cost little, so it prefers stricter thresholds.
# The scores differ:

died = rng.random(5000) < 0.1
risk = rng.normal(size=5000) + 1.5 * died
for name, costs in beliefs.items():
    print(f"{name}: {voros.voros_score(died, risk, cost_ratio=costs):.4f}")
