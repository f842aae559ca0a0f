"""
How do I tune a model within limits?
====================================

Partial VOROS as the score of a scikit-learn search, beside the AUROC as the score of another.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import voros

patients = voros.datasets.load_support2()
X = np.column_stack([v for v in patients.features.values() if v.dtype.kind == "f"])
y = patients.outcome("hospital_death_within_7_days")
ward = voros.Scenario(min_precision=0.3, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
search = GridSearchCV(
    DecisionTreeClassifier(random_state=0, min_samples_leaf=20),
    {"max_depth": [1, 2, 3, 4, 6, 8, 12]},
    scoring={"partial VOROS": voros.make_scorer(ward), "AUROC": "roc_auc"},
    refit="partial VOROS",
    cv=3,
).fit(X, y)
depth = search.param_grid["max_depth"]
figure, axis = plt.subplots(layout="constrained")
for name in ("partial VOROS", "AUROC"):
    axis.plot(depth, search.cv_results_[f"mean_test_{name}"], "-o", label=name)
axis.set(xlabel="depth of the tree", ylabel="mean score over the folds")
axis.legend()
plt.show()

# %%
# The search keeps the depth that serves the ward:

print(search.best_params_)
