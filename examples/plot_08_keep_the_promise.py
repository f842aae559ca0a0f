"""
Will the limits hold on new patients?
=====================================

A threshold that just meets the floor on validation often breaks it on new cases. A guarantee
deploys only what keeps both limits with confidence. Here both are tried 200 times.
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
    print(f"{name}: floor broken in {np.mean(np.array(precisions) < 0.4):.1%} of the validations")

# %%
# The true precision of what was deployed:

figure, axis = plt.subplots(layout="constrained")
bins = np.linspace(0.3, 0.6, 40)
axis.hist(plain, bins=bins, alpha=0.6, label="no guarantee")
axis.hist(sure, bins=bins, alpha=0.6, label="95 % guarantee")
axis.axvline(0.4, color="k", ls=":", label="floor")
axis.set(xlabel="precision in the population", ylabel="validations")
axis.legend()
plt.show()
