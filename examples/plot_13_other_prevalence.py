"""
Will it work at another hospital?
=================================

Sensitivity may carry over to a hospital with fewer deaths; precision does not. The band shows
what one threshold does as the prevalence moves, under label shift.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros
from voros.datasets import load_support2

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")

from voros.plotting import PrevalenceDisplay

test = np.random.default_rng(0).random(len(died)) < 0.5
risk = patients.prognoses["SUPPORT model"]
ward = voros.Scenario(min_precision=0.3, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
policy = voros.ThresholdPolicy.from_validation(died[~test], risk[~test], ward)
evaluation = policy.evaluate(died[test], risk[test])
PrevalenceDisplay.from_evaluation(evaluation)
plt.show()
