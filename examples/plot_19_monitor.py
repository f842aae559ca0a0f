"""
Is a deployed alarm still keeping its promise?
==============================================

A monitor is fed cases and labels as they come. It says kept, too early to tell, watch or
broken, and its error holds however often you look.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import voros

rng = np.random.default_rng(0)
y = rng.random(4000) < 0.2
score = rng.normal(size=4000) + 1.5 * y
ward = voros.Scenario(min_precision=0.4, capacity=0.2, cost_ratio=(1 / 20, 1 / 10))
policy = voros.ThresholdPolicy.from_validation(
    y, score, ward, guarantee=voros.Guarantee(0.95), n_models=1
)

monitor = voros.Monitor(policy, Path(tempfile.mkdtemp()) / "ward.voros", window=0)
verdicts, precision = [], []
for week in range(40):
    sick = rng.random(150) < (0.2 if week < 20 else 0.04)  # the admissions change in week 20
    risk = rng.normal(size=150) + 1.5 * sick
    name = [f"{week}-{i}" for i in range(150)]
    day = np.datetime64("2026-01-05") + 7 * week
    alarms = monitor.update(risk, cases=name, times=np.full(150, day)).alarms
    monitor.label(sick, cases=name, times=np.full(150, day))
    precision.append(sick[alarms].mean() if alarms.any() else np.nan)
    verdicts.append(monitor.status()["precision"].verdict)

# %%
# Precision of each week, and since when the monitor calls the floor broken:

broken = next((w for w, verdict in enumerate(verdicts) if verdict == "broken"), None)
print(verdicts[19], broken, verdicts[-1])
figure, axis = plt.subplots(layout="constrained")
axis.plot(precision, "o")
axis.axhline(0.4, color="k", ls=":", label="floor")
axis.axvline(20, color="0.7", label="the change")
if broken is not None:
    axis.axvline(broken, color="C3", label="called broken")
axis.set(xlabel="week", ylabel="precision of the alarms")
axis.legend()
plt.show()
