"""
How do I get a classifier that keeps its limits?
================================================

A meta-estimator fits any classifier, decides thresholds on held-out scores, and predicts with
them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import voros

patients = voros.datasets.load_support2()
X = np.column_stack([v for v in patients.features.values() if v.dtype.kind == "f"])
y = patients.outcome("hospital_death_within_7_days")
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
ward = voros.Scenario(min_precision=0.3, capacity=0.1, cost_ratio=(1 / 40, 1 / 9))
model = voros.ConstrainedThresholdClassifier(
    RandomForestClassifier(30, min_samples_leaf=10, random_state=0), ward, cv=3
).fit(X_train, y_train)
alarms = model.predict(X_test).astype(bool)
print(f"alarms {alarms.mean():.3f}, precision {y_test[alarms].mean():.3f}")

# %%
# The less a false alarm costs, the more alarms: the policy has a threshold for each cost ratio. On
# new patients the share may exceed the capacity by a little, as here;
# ``guarantee=voros.Guarantee(0.95)`` keeps it in the population.

worth = np.arange(2, 61)
share = [model.predict(X_test, cost_ratio=1 / miss).mean() for miss in worth]
figure, axis = plt.subplots(layout="constrained")
axis.step(worth, share, where="post")
axis.axhline(0.1, color="k", ls=":", label="capacity")
axis.set(xlabel="false alarms that a miss is worth", ylabel="share of patients with an alarm")
axis.legend()
plt.show()
