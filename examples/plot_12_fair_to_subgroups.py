"""
Does it work for women and men alike?
=====================================

Precision, recall and cost of one policy in each subgroup, with exact intervals that hold together.
A hollow mark says: too few alarms to tell.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros
from voros.datasets import load_support2

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")

from voros.plotting import SubgroupDisplay

test = np.random.default_rng(0).random(len(died)) < 0.5
risk = patients.prognoses["SUPPORT model"]
ward = voros.Scenario(min_precision=0.3, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
policy = voros.ThresholdPolicy.from_validation(died[~test], risk[~test], ward)
by = {"sex": patients.features["sex"][test], "disease": patients.features["dzclass"][test]}
SubgroupDisplay.from_predictions(died[test], risk[test], policy=policy, by=by)
plt.show()

# %%
# What a threshold for each subgroup would cost beside one for all:

sex = patients.features["sex"]
print(voros.compare_subgroup_thresholds(died[~test], risk[~test], ward, by=sex[~test]))
