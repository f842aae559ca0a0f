"""Spark data frames, classic or Connect."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Any

import narwhals.stable.v2 as nw

from voros.engines.adapter import Adapter, as_lazy
from voros.engines.keys import MAGNITUDE


class SparkAdapter(Adapter):
    """Reads the bits of a float with the Java method that does so; no Python on the workers."""

    name, package = "spark", "pyspark"

    def check(self) -> None:
        """Raise where the package or Java is missing."""
        super().check()
        if not has_java():
            raise OSError(
                "engine='spark' needs Java 17 or newer, and neither JAVA_HOME nor a java command "
                "was found; install one (Debian: apt install default-jre-headless), or set "
                "SPARK_REMOTE to a Spark Connect server"
            )

    def open_parquet(self, path: str) -> Any:
        """Read in the session that is active, or in a new one."""
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        session = active or SparkSession.builder.appName("voros").getOrCreate()
        return session.read.parquet(path)

    def pick(self, frame: nw.LazyFrame[Any], columns: Mapping[str, str]) -> nw.LazyFrame[Any]:
        """Take columns by quoted names: Spark reads a dot as a field of a struct."""
        from pyspark.sql.functions import col

        picked = [col(_quoted(name)).alias(short) for short, name in columns.items()]
        return as_lazy(frame.to_native().select(*picked))

    def with_cell(
        self, frame: nw.LazyFrame[Any], score: str, cell: str, level: int
    ) -> nw.LazyFrame[Any]:
        """Add the cell in SQL."""
        from pyspark.sql.functions import expr

        bits = f"CAST(java_method('java.lang.Double', 'doubleToLongBits', `{score}`) AS BIGINT)"
        with_bits = frame.to_native().selectExpr("*", f"{bits} AS `{cell}`")
        key = f"CASE WHEN `{cell}` >= 0 THEN `{cell}` ELSE -(`{cell}` & {MAGNITUDE}) END"
        return as_lazy(with_bits.withColumn(cell, expr(f"shiftright({key}, {level})")))


def has_java() -> bool:
    """Whether Spark has a Java to run on, here or behind Spark Connect."""
    home = os.environ.get("JAVA_HOME")
    at_home = home is not None and Path(home, "bin", "java").exists()
    return at_home or which("java") is not None or "SPARK_REMOTE" in os.environ


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


ADAPTER = SparkAdapter()
