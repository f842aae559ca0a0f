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


MAKERS = {"polars": _polars, "duckdb": _duckdb}


@pytest.fixture(params=MAKERS)
def make_frame(request):
    """A function from columns to a lazy frame, for each engine that runs in this process."""
    for package in ("polars", "pyarrow", request.param):
        pytest.importorskip(package)
    return MAKERS[request.param]
