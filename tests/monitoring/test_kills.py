"""A process that is killed at any moment loses nothing and repeats nothing."""

from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest
from monitoring_streams import feed_all, make_policy

import voros

KILLS = 50


def dump(path: Path) -> list[str]:
    database = sqlite3.connect(path)
    lines = list(database.iterdump())
    database.close()
    return lines


@pytest.mark.slow
def test_killed_fifty_times(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole.voros", tmp_path / "killed.voros"
    for path in (whole, killed):
        voros.Monitor(make_policy(), path, window=5).close()
    begun = time.perf_counter()
    feed_all(str(whole))
    takes = time.perf_counter() - begun
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["monitoring_streams", "voros.monitoring.monitor"])
    rng, kills, sizes = np.random.default_rng(0), 0, set()
    while kills < KILLS:
        ready = context.Event()
        child = context.Process(target=feed_all, args=(str(killed), ready))
        child.start()
        assert ready.wait(30)
        time.sleep(rng.random() * 0.15 * takes)
        child.kill()
        child.join()
        kills += child.exitcode == -signal.SIGKILL
        with voros.Monitor.open(killed) as monitor:
            sizes.add(monitor._store.sizes()[0])
        if child.exitcode == 0:  # through: it must be whole, and the next one begins again
            assert dump(killed) == dump(whole)
            killed.unlink()
            voros.Monitor(make_policy(), killed, window=5).close()
    # Kills fell into the work, at how many states depends on the machine; a batch has 30 cases.
    assert len(sizes) > 1
    assert all(size % 30 == 0 for size in sizes)
    feed_all(str(killed))
    assert dump(killed) == dump(whole)
    with voros.Monitor.open(killed) as one, voros.Monitor.open(whole) as other:
        assert one.status().document() == other.status().document()
