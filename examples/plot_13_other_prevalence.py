"""
Will it work at another hospital?
=================================

Sensitivity may carry over to a hospital with fewer deaths; precision does not. The band shows
what one threshold does as the prevalence moves, under label shift. A threshold chosen with a
guarantee leaves some margin: where the picture is golden, both limits are kept with 95 % confidence.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros
from voros.datasets import load_support2
from voros.plotting import PrevalenceDisplay

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")
test = np.random.default_rng(0).random(len(died)) < 0.5
risk = patients.prognoses["SUPPORT model"]
ward = voros.Scenario(min_precision=0.3, capacity=0.15, cost_ratio=(1 / 40, 1 / 9))
policy = voros.ThresholdPolicy.from_validation(
    died[~test], risk[~test], ward, guarantee=voros.Guarantee(0.95), n_models=1
)
evaluation = policy.evaluate(died[test], risk[test])
PrevalenceDisplay.from_evaluation(evaluation, prevalences=np.linspace(0.01, 0.3, 291))
plt.show()
