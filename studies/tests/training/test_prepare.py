"""Splits are written with the limits that the losses aim at, and no others are taken for them."""

from __future__ import annotations

import numpy as np
import pytest

from voros import Scenario
from voros_studies.experiments.errors import ExperimentError
from voros_studies.training.prepare import made_up_top, write_splits


def test_own_limits_are_written_and_other_ones_refused(tmp_path):
    own = {"ward": Scenario(min_precision=0.3, capacity=0.2, cost_ratio=(0.05, 0.1))}
    write_splits([made_up_top(400)], tmp_path, n_seeds=1, scenarios=own)
    with np.load(tmp_path / "made_up.npz") as held:
        assert held["limits"].tolist() == [[0.3, 0.2, 0.05, 0.1]]
    write_splits([made_up_top(400)], tmp_path, n_seeds=1, scenarios=own)
    with pytest.raises(ExperimentError, match="holds a run with other limits"):
        write_splits([made_up_top(400)], tmp_path, n_seeds=1)
    recall = {"ward": Scenario(min_precision=0.3, min_recall=0.5, cost_ratio=(0.05, 0.1))}
    with pytest.raises(ExperimentError, match="accepted here are a precision floor, a capacity"):
        write_splits([made_up_top(400)], tmp_path, n_seeds=1, scenarios=recall)
