"""What takes long to start, once for all tests: a browser and Spark."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1280,900",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    profile = tmp_path_factory.mktemp("profile")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    _wait_for_pages(started)
    yield started
    started.quit()


TWO_FRAMES = """
const frame = (then) => requestAnimationFrame(() => setTimeout(then));
frame(() => frame(arguments[0]));
"""
"""Answers once the page was drawn twice, so that sections opened by its script are drawn too."""


def _wait_for_pages(browser: Any) -> None:
    """Let `get` return once the page is drawn: on a busy machine the driver returns earlier."""
    load = browser.get
    loaded = "return document.readyState === 'complete' && location.href.startsWith(arguments[0])"

    def get(url: str) -> None:
        load(url)
        for _ in range(100):
            if browser.execute_script(loaded, url.partition("#")[0]):
                browser.execute_async_script(TWO_FRAMES)
                return
            time.sleep(0.05)

    browser.get = get


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark cluster of two worker processes on this machine."""
    pytest.importorskip("pyspark")
    pytest.importorskip("pyarrow")
    from voros.engines.backends import has_java

    if not has_java():
        pytest.skip("Spark needs Java, and none was found")
    session = _local_cluster()
    yield session
    session.stop()


def _local_cluster() -> Any:
    import pyspark
    from pyspark.sql import SparkSession

    # Workers are separate Java processes; they find Spark in the package's own folder.
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": "1g",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in options.items():
        builder = builder.config(name, value)
    # An earlier test may have left the session that voros starts, which has no worker processes.
    earlier = SparkSession.getActiveSession()
    if earlier is not None:
        earlier.stop()
    return builder.getOrCreate()
