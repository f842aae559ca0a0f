"""
How do I score more rows than fit into memory?
==============================================

Counts are made where the data lie, here by Polars on a Parquet file, and only a few thousand of
them come back: ``largest_answer`` is a million by default. The score is exact.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import voros
from voros.plotting import RocDisplay

rng = np.random.default_rng(0)
risk = rng.random(500_000)
file = Path(tempfile.mkdtemp()) / "cards.parquet"
pl.DataFrame({"fraud": rng.random(len(risk)) < 0.3 * risk**8, "risk": risk}).write_parquet(file)

desk = voros.Scenario(min_precision=0.15, capacity=0.02, cost_ratio=(1 / 40, 1 / 20))
points = voros.engines.count_frame(
    pl.scan_parquet(file), label="fraud", scores=["risk"], scenarios=[desk], largest_answer=5000
)["risk"]
print(voros.evaluate(points, scenario=desk).score, points.covers.exact)

# %%
# All thresholds that can matter are there, few of the others:

print(len(points.thresholds), "points of", points.covers.usage.rows, "rows")
RocDisplay.from_points({"fraud model": points}, desk, zoom=True)
plt.show()
