"""What is asked of an engine for an address, and what is made of its answer."""

import pytest

pytest.importorskip("narwhals", reason="the engines extra")

from voros.engines.addresses import reason_of


def test_duckdb_without_its_extension_says_what_to_install():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(
        config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    )
    with pytest.raises(duckdb.Error) as caught:
        connection.read_parquet("s3://bank/cards.parquet")
    reason = reason_of(caught.value)
    assert "httpfs is not installed" in reason
    assert "install s3fs" in reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError("bank/cards"), "there is no such file or folder"),
        (FileNotFoundError("no files match"), "no files match"),
        (ValueError("of the engine\nover\n\ntwo lines"), "of the engine over two lines"),
        (OSError("Traceback (most recent call last):\n  File x\nE: no bucket"), "E: no bucket"),
        (OSError("PUT http://169.254.169.254/latest/api"), "no credentials were found"),
        (OSError(), "OSError"),
    ],
)
def test_reasons_fit_on_one_line(error, reason):
    assert reason_of(error).startswith(reason)
    assert "\n" not in reason_of(error)
