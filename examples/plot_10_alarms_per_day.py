"""
How many alarms on a busy day?
==============================

Five alarms a day on average, on all but one day in twenty, or never more: three rules,
and three thresholds.
"""

import matplotlib.pyplot as plt
import numpy as np

import voros

rng = np.random.default_rng(0)
n = 6000
y = rng.random(n) < 0.15
score = 1.5 * y + rng.normal(size=n)
admitted = np.datetime64("2026-01-01") + rng.integers(0, 200 * 86_400, n).astype("timedelta64[s]")

for exceed in (None, 0.05, 0):
    rule = voros.Scenario(0.3, 5, cost_ratio=(1 / 30, 1 / 10), per="day", exceed=exceed)
    choice = voros.evaluate(y, score, rule, times=admitted).choices[0]
    print(f"{rule.rule}: {choice.alarms} alarms, recall {choice.recall:.2f}")

# %%
# The thresholds are chosen on the first half of the cases; the figure shows the second half:

seldom = voros.Scenario(0.3, 5, cost_ratio=(1 / 30, 1 / 10), per="day", exceed=0.05)
policy = voros.ThresholdPolicy.from_validation(
    y[:3000], score[:3000], seldom, times=admitted[:3000]
)
days = policy.evaluate(y[3000:], score[3000:], times=admitted[3000:]).by_period
alarms, tp = days.alarms[:, 0], days.tp[:, 0]
_, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
ax.bar(range(len(alarms)), alarms, width=1, color="#A6CFE5", label="false alarms")
ax.bar(range(len(alarms)), tp, width=1, color="#0072B2", label="true alarms")
ax.axhline(5, color="black", linestyle="--", label="capacity")
ax.set(xlabel="day", ylabel="alarms", ylim=(0, 10), xlim=(-1, len(alarms)))
ax.set_title(f"more than 5 alarms on {(alarms > 5).sum()} of {len(alarms)} days")
ax.legend(ncols=3, loc="upper center")
plt.show()
