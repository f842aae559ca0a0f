"""
Who wins under which limits?
============================

Limits are negotiable. This map shows which prognosis is best at each pair of capacity and
precision floor: 2,500 exact scores for each of four models.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros
from voros.datasets import load_support2

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")

from voros.plotting import WinnerMapDisplay

winners = voros.winner_map(
    died,
    patients.prognoses,
    min_precisions=np.linspace(0.12, 0.6, 50),
    capacities=np.geomspace(0.005, 0.5, 50),
    cost_ratio=(1 / 40, 1 / 9),
)
WinnerMapDisplay(winners).plot(log_capacity=True)
plt.show()

# %%
# Hatched cells are close calls: scores within 0.01, which is not a test of chance (``n_resamples=100``
# makes it one). Where a cell is blank, no threshold meets the limits.

print(winners)
