"""
Why not the AUROC?
==================

Two models with nearly the same AUROC whose curves cross. Which one is better depends on where
on the curve you have to work.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

import voros
from voros.plotting import RocDisplay

rng = np.random.default_rng(3)
ill = rng.random(20_000) < 0.1
steep = rng.normal(size=20_000) + np.where(rng.random(20_000) < 0.45, 4.0, 0.35) * ill
broad = rng.normal(size=20_000) + 1.13 * ill
models = {"sure of some": steep, "fair on all": broad}
lenient = voros.Scenario(capacity=0.6, cost_ratio=(1 / 60, 1 / 30))
strict = voros.Scenario(min_precision=0.5, capacity=0.05, cost_ratio=(1 / 20, 1 / 10))
for name, score in models.items():
    print(
        f"{name}: AUROC {roc_auc_score(ill, score):.3f}, "
        f"strict {voros.partial_voros_score(ill, score, strict):.3f}, "
        f"lenient {voros.partial_voros_score(ill, score, lenient):.3f}"
    )
RocDisplay.from_predictions(ill, models, {"strict": strict, "lenient": lenient})
plt.show()
