"""
Does a deployed alarm still keep its limits?
============================================

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
# Precision of each week, coloured by what the monitor said then:

print(verdicts[19], verdicts[-1])
colors = {"kept": "C0", "too early to tell": "0.6", "watch": "C1", "broken": "C3"}
_, axis = plt.subplots(figsize=(4.5, 3.4), layout="constrained")
axis.axhline(0.4, color="k", ls="--")
axis.text(39, 0.41, "floor", ha="right")
axis.axvline(19.5, color="0.7", lw=6, zorder=0)
axis.text(19, 0.03, "the change ", ha="right")
for verdict, color in colors.items():
    weeks = [week for week, said in enumerate(verdicts) if said == verdict]
    if weeks:
        axis.plot(weeks, np.array(precision)[weeks], "o", ms=7, color=color, label=verdict)
axis.set(xlabel="week", ylabel="precision of the alarms", ylim=(0, 1))
axis.legend(loc="upper right")
plt.show()
