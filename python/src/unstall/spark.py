"""Reads captures, GC logs, traces and all else that unstall reads with Spark: each file is a run of its own.

    >>> from unstall import spark as unstall
    >>> verdicts = unstall.verdicts(spark, "s3a://incidents/2026/*.unstall")
    >>> verdicts.where("verdict = 'supported'").groupBy("cause").count().show()

The columns are those of `unstall export --to parquet` (docs/export.md of the project); what unstall
wrote by that is read by tables(). Executors need Python alone: the package and the binary are sent
to them. A file of a store is in a worker's memory as a whole, and on its disk while it is read.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import stat
import subprocess
import tempfile
import zipfile
from datetime import datetime
from typing import Any, Iterator, NamedTuple
from urllib.parse import unquote, urlsplit

from pyspark import RDD, SparkFiles
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (ArrayType, DoubleType, IntegerType, LongType, StringType, StructField, StructType,
                               TimestampType)

import unstall

__all__ = ["diagnoses", "runs", "ledger", "verdicts", "of", "tables", "write"]

_BINARY = "unstall-binary"
_PACKAGE = "unstall-package.zip"


def _struct(**fields: Any) -> StructType:
    return StructType([StructField(name, kind, True) for name, kind in fields.items()])


_text, _double, _long = StringType(), DoubleType(), LongType()

DIAGNOSES = _struct(path=_text, size=_long, error=_text, diagnosis=_text)

RUNS = _struct(path=_text, error=_text, tool_version=_text, start=TimestampType(), end=TimestampType(), duration_s=_double, outcome=_text,
               ranked_by=_text, requests=_long, unfinished=_long, failed=_long, slow=_long, slow_threshold_ms=_double, slow_rule=_text,
               slow_total_ms=_double, rate=_double, p50_ms=_double, p99_ms=_double, p999_ms=_double,
               targets=ArrayType(_struct(id=_text, kind=_text, name=_text, pid=_long, runtime=_text, version=_text, container=_text)),
               warnings=ArrayType(_text))

LEDGER = _struct(path=_text, subject=_text, mechanism=_text, title=_text, detail=_text, slow_ms=_double, low=_double, high=_double,
                 basis=_text, method=_text)

VERDICTS = _struct(path=_text, rank=IntegerType(), cause=_text, subject=_text, step=_text, verdict=_text, title=_text, summary=_text,
                   saves_ms=_double, saves_low_ms=_double, saves_high_ms=_double, saves_basis=_text,
                   evidence=ArrayType(_struct(id=_text, text=_text, value=_double, unit=_text, origin=_text, source=_text)),
                   needs=ArrayType(_text), fix=ArrayType(_struct(text=_text, setting=_text, code=_text)),
                   prediction=ArrayType(_struct(id=_text, fix_index=IntegerType(), metric=_text, unit=_text, now=_double, then=_double,
                                                low=_double, high=_double)))


def diagnoses(spark: SparkSession, path: str, slo: str | None = None, timeout: float = 600, partitions: int | None = None) -> DataFrame:
    """A row for each file: path, size (bytes; null where it went away), error (null where it was read), and the diagnosis as JSON.

    path is as Spark has it: a file, a folder with all below it, a pattern, several by commas. Files of file: are read
    where they are, by each executor. timeout (s) is of one file. The other tables are made of this one: cache() it where
    you need several.
    """
    return _table(spark, _diagnosed(spark, path, slo, timeout, partitions), DIAGNOSES)


def _diagnosed(spark: SparkSession, path: str, slo: str | None = None, timeout: float = 600, partitions: int | None = None) -> RDD[_File]:
    sc = spark.sparkContext
    _ship(sc)
    paths = re.split(r",(?![^{]*})", path)
    hadoop, conf = sc._jvm.org.apache.hadoop.fs, sc._jsc.hadoopConfiguration()
    here = all(hadoop.Path(p).getFileSystem(conf).getUri().getScheme() == "file" for p in paths)
    # A few for each core keep all busy to the end. More cost: Python needs 100 ms of CPU time before it begins with one.
    most = partitions or sc.defaultParallelism * 8
    how = _Diagnose([] if slo is None else [f"--slo={slo}"], timeout)
    if here:
        parts = _dealt(_local(spark, paths), most)
        return sc.parallelize(parts, max(1, len(parts))).mapPartitions(how.files)
    files = _listed(spark, paths).select("path", "content")
    return (files.repartition(partitions) if partitions else files.coalesce(most)).rdd.mapPartitions(how.contents)


def _listed(spark: SparkSession, paths: list[str]) -> DataFrame:
    """The files of paths, as a table that counts 4 MB more for each where it deals them out, so that small ones do not all end
    in one partition, as they do with binaryFiles of a context."""
    return spark.read.format("binaryFile").option("recursiveFileLookup", True).load(paths)


def _local(spark: SparkSession, paths: list[str]) -> list[str]:
    """The local files of paths, which may be patterns and folders."""
    many = "spark.sql.sources.parallelPartitionDiscovery.threshold"
    usual = spark.conf.get(many)
    spark.conf.set(many, 1 << 30)  # else a task for each file that a pattern names
    try:
        found = _listed(spark, paths).inputFiles()
    finally:
        spark.conf.set(many, usual)
    return [unquote(urlsplit(uri).path) for uri in found]


def _dealt(files: list[str], most: int) -> list[list[str]]:
    """The files in at most so many parts, with large ones in each."""
    def size(path: str) -> int:
        try:
            return os.path.getsize(path)
        except OSError:  # gone since; whoever reads it says so
            return 0

    files = sorted(files, key=size, reverse=True)
    return [files[n::most] for n in range(min(most, len(files)))]


def verdicts(spark: SparkSession, path: str, **how: Any) -> DataFrame:
    """A row for each verdict of each file, in order of rank from 1."""
    return _rows(spark, _diagnosed(spark, path, **how), "verdicts")


def ledger(spark: SparkSession, path: str, **how: Any) -> DataFrame:
    """A row for each mechanism that slow requests of a file spent time with; those of a file add up to its slow_total_ms."""
    return _rows(spark, _diagnosed(spark, path, **how), "ledger")


def runs(spark: SparkSession, path: str, **how: Any) -> DataFrame:
    """A row for each file, also of those that could not be read."""
    return _rows(spark, _diagnosed(spark, path, **how), "runs")


def of(spark: SparkSession, found: DataFrame, table: str) -> DataFrame:
    """A table ("runs", "ledger", "verdicts") of what diagnoses() gave."""
    return _rows(spark, found.rdd, table)


def _rows(spark: SparkSession, found: RDD, table: str) -> DataFrame:
    rows, schema = {"runs": (_run_rows, RUNS), "ledger": (_ledger_rows, LEDGER), "verdicts": (_verdict_rows, VERDICTS)}[table]
    return _table(spark, found.flatMap(rows), schema)


def _table(spark: SparkSession, rows: RDD, schema: StructType) -> DataFrame:
    return spark.createDataFrame(rows, schema, verifySchema=False)  # they are made for it, and to look at each value takes long


def tables(spark: SparkSession, directory: str) -> dict[str, DataFrame]:
    """The tables that `unstall export --to parquet` or write() put into a directory or bucket."""
    names = ("runs", "requests", "ledger", "verdicts")
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    found = {n: directory.rstrip("/") + "/" + n for n in names}
    return {n: spark.read.parquet(at) for n, at in found.items() if path(at).getFileSystem(conf).exists(path(at))}


def write(spark: SparkSession, found: DataFrame, directory: str, mode: str = "overwrite") -> None:
    """Writes runs, ledger and verdicts of what diagnoses() gave as Parquet."""
    for name in ("ledger", "verdicts", "runs"):
        of(spark, found, name).write.mode(mode).parquet(directory.rstrip("/") + "/" + name)


def _ship(sc: Any) -> None:
    """Sends the binary and this package to the executors, once for each context."""
    if _BINARY in getattr(sc, "_unstall", ()):
        return
    folder = tempfile.mkdtemp(prefix="unstall-")
    binary, package = os.path.join(folder, _BINARY), os.path.join(folder, _PACKAGE)
    shutil.copy(unstall.binary(), binary)  # Spark names a file that is linked to by what it links to
    here = os.path.dirname(os.path.abspath(__file__))
    with zipfile.ZipFile(package, "w") as z:
        for name in ("__init__.py", "spark.py"):
            z.write(os.path.join(here, name), "unstall/" + name)
    sc.addFile(binary)
    sc.addPyFile(package)
    sc._unstall = (_BINARY,)


class _File(NamedTuple):
    """What came of a file: a row of diagnoses()."""

    path: str
    size: int | None
    error: str | None
    diagnosis: str | None


class _Diagnose:
    """What a worker does with its files."""

    def __init__(self, options: list[str], timeout: float):
        self.options, self.timeout = options, timeout

    def files(self, parts: Iterator[list[str]]) -> Iterator[_File]:
        """Those of paths that are on this machine."""
        binary = self.binary()
        for path in (path for part in parts for path in part):
            folder, name = os.path.split(path)
            try:
                size = os.path.getsize(path)
            except OSError as e:
                why = f"{name}: was there when Spark listed it, and is not on {socket.gethostname()} now ({e.strerror})"
                yield _File("file:" + path, None, f"{why}: give paths that all executors have, or those of a store", None)
                continue
            yield _File("file:" + path, size, *self.one(binary, folder, name))

    def contents(self, files: Iterator[Any]) -> Iterator[_File]:
        """Those that come as path and content."""
        binary = self.binary()
        for path, content in files:
            name = os.path.basename(path)
            with tempfile.TemporaryDirectory(prefix="unstall-") as folder:
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(content)
                yield _File(path, len(content), *self.one(binary, folder, name))

    def binary(self) -> str:
        binary = SparkFiles.get(_BINARY)
        os.chmod(binary, os.stat(binary).st_mode | stat.S_IXUSR)
        return binary

    def one(self, binary: str, folder: str, name: str) -> tuple[str | None, str | None]:
        # One processor for each: Spark runs as many side by side as there are.
        try:
            ran = subprocess.run([binary, "diagnose", "--format", "json", *self.options, "--", name], cwd=folder, timeout=self.timeout,
                                 stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, "GOMAXPROCS": "1"})
        except subprocess.TimeoutExpired:
            return f"{name}: took more than {self.timeout:g} s: give a longer timeout", None
        if ran.returncode not in (0, 1) and not ran.stdout:
            return unstall._said(ran.stderr) or f"{name}: unstall ended with {ran.returncode}", None
        return unstall._said(ran.stderr) or None, ran.stdout.decode("utf-8")


def _known(text: str | None) -> str | None:
    return text or None


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    # Python before 3.11 reads no Z and no ns.
    day, _, rest = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{day}.{(rest + '000000')[:6]}+00:00")


def _run_rows(row: Any) -> list[tuple]:
    if not row.diagnosis:
        return [(row.path, row.error) + (None,) * (len(RUNS) - 4) + ([], [])]
    d = json.loads(row.diagnosis)
    q, w = d["requests"] or {}, d["window"]
    targets = [(t["id"], t["kind"], _known(t["name"]), t["pid"], _known(t["runtime"]), _known(t["version"]), _known(t["container"]))
               for t in d["targets"]]
    return [(row.path, row.error, _known(d["tool_version"]), _time(w["start"]), _time(w["end"]), _number(w["duration_s"]), d["outcome"], d["ranked_by"],
             q.get("count"), q.get("unfinished"), q.get("failed"), q.get("slow"), _number(q.get("slow_threshold_ms")), q.get("slow_rule"),
             _number(q.get("slow_total_ms")), _number(q.get("rate")), _number(q.get("p50_ms")), _number(q.get("p99_ms")), _number(q.get("p999_ms")),
             targets, [x["text"] for x in d["warnings"]])]


def _ledger_rows(row: Any) -> list[tuple]:
    if not row.diagnosis:
        return []
    return [(row.path, e["subject"], e["mechanism"], e["title"], _known(e["detail"]), _number(e["slow_ms"]), _number(e["low"]), _number(e["high"]),
             e["basis"], e["method"]) for e in json.loads(row.diagnosis)["ledger"]]


def _verdict_rows(row: Any) -> list[tuple]:
    if not row.diagnosis:
        return []
    out = []
    for rank, v in enumerate(json.loads(row.diagnosis)["verdicts"], 1):
        s = v["saves_ms"] or {}
        out.append((row.path, rank, v["cause"], v["subject"], v["step"], v["verdict"], v["title"], _known(v["summary"]),
                    _number(s.get("value")), _number(s.get("low")), _number(s.get("high")), s.get("basis"),
                    [(_known(e.get("id")), e["text"], _number(e["value"]), e["unit"], e["origin"], _known(e["source"])) for e in v["evidence"]],
                    v["needs"], [(f["text"], _known(f.get("setting")), _known(f.get("code"))) for f in v["fix"]],
                    [(p["id"], p["fix_index"], p["metric"], p["unit"], _number(p["now"]), _number(p["then"]), _number(p["low"]), _number(p["high"]))
                     for p in v["prediction"]]))
    return out


def _number(v: Any) -> float | None:
    return None if v is None else float(v)
