"""Frames of every engine, made of the same columns."""

import pytest


def _polars(columns):
    import polars as pl

    return pl.DataFrame(columns).lazy()


def _duckdb(columns):
    import duckdb
    import polars as pl

    table = pl.DataFrame(columns).to_arrow()
    return duckdb.connect().from_arrow(table)


def _dask(columns):
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(columns), npartitions=3)


MAKERS = {"polars": _polars, "duckdb": _duckdb, "dask": _dask}


@pytest.fixture(params=["polars", "duckdb", pytest.param("dask", marks=pytest.mark.slow)])
def make_frame(request):
    """A function from columns to a lazy frame, for each engine that runs in this process.

    Dask takes a second a pass; `test_files.py` and `test_collected_rows.py` try it at once.
    """
    for package in ("polars", "pyarrow", "pandas", request.param):
        pytest.importorskip(package)
    return MAKERS[request.param]
