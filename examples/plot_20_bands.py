"""
How far can the whole curve be trusted?
=======================================

With 95 % confidence a simultaneous band contains the whole ROC curve.
"""

import matplotlib.pyplot as plt

from voros.datasets import load_support2
from voros.inference import roc_band
from voros.plotting import RocDisplay, draw_bands

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")
two = {name: patients.prognoses[name] for name in ("SUPPORT model", "SPS")}
display = RocDisplay.from_predictions(died, two)
draw_bands(display, roc_band(died, two, n_resamples=200, random_state=0))
plt.show()
