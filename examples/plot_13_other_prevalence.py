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

patients = load_support2().with_all_prognoses()
died = patients.outcome("hospital_death_within_7_days")
test = np.random.default_rng(0).random(len(died)) < 0.5
risk = patients.prognoses["SUPPORT model"]
ward = voros.Scenario(min_precision=0.3, capacity=0.15, cost_ratio=(1 / 40, 1 / 9))
policy = voros.ThresholdPolicy.from_validation(
    died[~test], risk[~test], ward, guarantee=voros.Guarantee(0.95), n_models=1
)
evaluation = policy.evaluate(died[test], risk[test])
band = evaluation.over_prevalences(np.linspace(0.01, 0.3, 291))
x = band.prevalences
_, panels = plt.subplots(2, 1, figsize=(6.4, 5.2), sharex=True, layout="constrained")
for ax, name, limit in zip(panels, ("precision", "alarms"), (0.3, 0.15), strict=True):
    ax.fill_between(x, 0, 1, where=band.surely_kept, color="#F6D55C", alpha=0.5)
    low, high = getattr(band, f"{name}_low"), getattr(band, f"{name}_high")
    ax.fill_between(x, low, high, color="#0072B2", alpha=0.3)
    ax.plot(x, getattr(band, name), color="#0072B2")
    ax.axhline(limit, color="black", linestyle="--", linewidth=1)
    ax.axvline(band.observed, color="black", linewidth=0.8)
panels[0].set(ylabel="precision", ylim=(0, 1), title="thin line: the prevalence of these cases")
panels[1].set(xlabel="prevalence", ylabel="alarms (share of cases)", ylim=(0, 0.4))
plt.show()
