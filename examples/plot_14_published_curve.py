"""
Can I judge a model by its published curve?
===========================================

Points read off two published curves and the size of the study are enough for a score, at your
prevalence and within your limits. (These curves are made up.)
"""

import matplotlib.pyplot as plt

import voros
from voros.plotting import RocDisplay

sizes = {"n_positive": 840, "n_negative": 11_160}
curve = voros.OperatingPoints.from_points
curves = {
    "vendor": curve([0.01, 0.03, 0.06, 0.12, 0.25], [0.18, 0.36, 0.52, 0.69, 0.85], **sizes),
    "bedside score": curve([0.02, 0.08, 0.2, 0.4], [0.22, 0.45, 0.7, 0.88], **sizes),
}
ward = voros.Scenario(0.3, 0.1, cost_ratio=voros.costs.miss_costs(10, 30))
print(voros.select_model(curves, scenario=ward))
RocDisplay.from_points(curves, ward, zoom=True)
plt.show()

# %%
# At a prevalence of 3 % instead of 7 % only the strictest point still keeps the floor:

here = ward.changed(prevalence=0.03)
print(voros.evaluate(curves["vendor"], scenario=here))
