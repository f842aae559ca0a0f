"""
What if no threshold meets the limits?
======================================

Then the score is 0, and voros says which limit binds and what could be met instead. The score
here is a weak one for a rare disease.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import voros

rng = np.random.default_rng(0)
ill = rng.random(20_000) < 0.02
score = np.round(4 * (rng.normal(size=20_000) + 0.9 * ill))
strict = voros.Scenario(min_precision=0.4, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    voros.partial_voros_score(ill, score, strict)
print(caught[0].message)

# %%
# The greatest precision within each capacity, as a basis for other limits:

points = voros.OperatingPoints.from_scores(ill, score)
figure, axis = plt.subplots(layout="constrained")
axis.plot(points.alarms[1:] / points.n_cases, points.precision[1:], "-o", ms=3)
axis.axhline(0.4, color="k", ls=":", label="floor")
axis.axvline(0.1, color="k", ls="--", label="capacity")
axis.set(xscale="log", xlabel="share of patients with an alarm", ylabel="precision")
axis.legend()
plt.show()
