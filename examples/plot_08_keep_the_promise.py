"""
Will the limits hold on new patients?
=====================================

A threshold that just meets the floor on validation often breaks it on new cases. A guarantee
deploys only thresholds that keep both limits with a stated confidence. Here policies with and
without one are tried 200 times.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import voros

ward = voros.Scenario(min_precision=0.4, capacity=0.2, cost_ratio=(1 / 20, 1 / 10))
rng = np.random.default_rng(0)


def true_precision(threshold):
    hits, others = 0.1 * norm.sf(threshold - 1.8), 0.9 * norm.sf(threshold)
    return hits / (hits + others)


def deployed(guarantee):
    y = rng.random(3000) < 0.1
    score = rng.normal(size=3000) + 1.8 * y
    policy = voros.ThresholdPolicy.from_validation(y, score, ward, guarantee=guarantee, n_models=1)
    return true_precision(policy.default.threshold)


plain = [deployed(None) for _ in range(200)]
sure = [deployed(voros.Guarantee(0.95)) for _ in range(200)]
for name, precisions in {"no guarantee": plain, "95 % guarantee": sure}.items():
    print(f"{name}: floor broken in {100 * np.mean(np.array(precisions) < 0.4):.0f} % of the validations")

# %%
# The true precision of what was deployed. Left of the floor the limit is broken:

_, axes = plt.subplots(2, 1, figsize=(4.5, 3.6), sharex=True, layout="constrained")
ways = {"no guarantee": (plain, "C1"), "95 % guarantee": (sure, "C0")}
for axis, (name, (precisions, color)) in zip(axes, ways.items(), strict=True):
    axis.hist(precisions, bins=np.linspace(0.34, 0.54, 41), color=color)
    axis.axvspan(0.34, 0.4, color="0.9", zorder=0)
    axis.axvline(0.4, color="k", ls="--")
    broken = 100 * np.mean(np.array(precisions) < 0.4)
    axis.set_title(f"{name}: {broken:.0f} % broken")
    axis.set(xlim=(0.34, 0.54), yticks=[])
axes[1].set_xlabel("precision in the population (floor 0.4)")
plt.show()
