"""
Does it work for women and men alike?
=====================================

Precision, recall and cost of one policy in each subgroup, with exact intervals that hold together.
A hollow mark means that there are too few alarms to tell.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros
from voros.datasets import load_support2
from voros.plotting import SubgroupDisplay

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")
test = np.random.default_rng(0).random(len(died)) < 0.5
risk = patients.prognoses["SUPPORT model"]
ward = voros.Scenario(min_precision=0.3, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
policy = voros.ThresholdPolicy.from_validation(died[~test], risk[~test], ward)
age = np.where(patients.features["age"] < 65, "below 65", "65 and older")
by = {"sex": patients.features["sex"][test], "age": age[test]}
evaluation = policy.evaluate(died[test], risk[test], by=by)
with plt.rc_context({"font.size": 14}):
    _, axes = plt.subplots(1, 3, figsize=(7, 4), sharey=True, layout="constrained")
    SubgroupDisplay(evaluation.by_subgroup).plot(axes)
    for panel in axes[:2]:
        panel.set_xlim(0.25, 0.65)
    axes[2].set_xlabel("cost of 1,000\ncases, in misses")
plt.show()
