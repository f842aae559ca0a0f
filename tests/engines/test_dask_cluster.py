"""Dask on a cluster of processes, and with one of them killed."""

import os
import signal
import threading
from contextlib import suppress

import numpy as np
import pytest

import voros
from voros.engines import count_frame

pl = pytest.importorskip("polars")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::voros.VorosWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
    # distributed's own, when a worker dies under it.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SCENARIO = voros.Scenario(0.25, 0.3, (0.05, 0.4))


@pytest.fixture(scope="module")
def client():
    # Here and not above: they take a second to load, and these tests are slow ones.
    pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(40)
    scores = rng.random(400_000) * 2 - 0.4
    return {"y": rng.random(400_000) < scores / 2, "s": scores, "tied": scores.round(2)}


@pytest.fixture(scope="module")
def folder(cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dask")
    for part in range(8):
        rows = slice(part * 50_000, (part + 1) * 50_000)
        table = pl.DataFrame({name: column[rows] for name, column in cases.items()})
        table.write_parquet(folder / f"part{part}.parquet")
    return folder


def count(folder):
    import dask.dataframe

    frame = dask.dataframe.read_parquet(folder)
    return count_frame(
        frame, label="y", scores=["s", "tied"], scenarios=[SCENARIO], largest_answer=20_000
    )


def truths(cases):
    return {name: voros.evaluate(cases["y"], cases[name], SCENARIO).score for name in ("s", "tied")}


def test_a_cluster_of_processes_gives_the_score_in_memory(client, cases, folder):
    assert len({os.getpid(), *client.run(os.getpid).values()}) == 3
    for name, truth in truths(cases).items():
        assert count(folder)[name].covers.interval == pytest.approx((truth, truth), abs=1e-12)


def test_a_killed_worker_leads_to_the_right_number_or_an_error(client, cases, folder):
    """Dask computes the lost parts again, or gives up; a wrong number is not an outcome."""
    import distributed

    victim = next(iter(client.run(os.getpid).values()))
    expected = truths(cases)
    killer = threading.Timer(0.7, os.kill, (victim, signal.SIGKILL))
    killer.start()
    with suppress(distributed.KilledWorker, distributed.comm.CommClosedError, OSError):
        for _ in range(3):
            for name, points in count(folder).items():
                truth = expected[name]
                assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    killer.join()
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)
