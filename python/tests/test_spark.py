"""Tests with a real Spark of two workers (local-cluster), on files of the repository."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "src"))

try:
    import pyspark  # noqa: F401
except ImportError:
    raise unittest.SkipTest("no pyspark here: dev/tools/spark.sh fetches one")

import unstall  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from unstall import spark as fleet  # noqa: E402

# One of each kind of file: of those that tell a verdict by themselves, and of those that do not.
KINDS = ["gctrace.log", "gc.log.gz", "trace.out.gz", "access.log.gz", "cpu.pb.gz", "threads-0001.nettrace.zst", "procfs.txt.zst", "load.json.zst"]


def corpus(to: pathlib.Path) -> list[pathlib.Path]:
    files = []
    for kind in KINDS:
        for n, f in enumerate(sorted((ROOT / "internal" / "diagnose" / "check" / "testdata").glob(f"*/*/{kind}"))[:4]):
            files.append(to / f"{f.parent.parent.name}.{f.parent.name}.{n}.{kind}")
            shutil.copy(f, files[-1])
    odd = to / "notes.txt"
    odd.write_text("nothing that any format knows\n")
    return files + [odd]


class Spark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.files = corpus(pathlib.Path(cls.folder.name))
        # Executors get the package and the binary by Spark alone.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        os.environ.pop("PYTHONPATH", None)
        cls.spark = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("unstall")
                     .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
                     .config("spark.hadoop.fs.viewfs.mounttable.store.link./files", pathlib.Path(cls.folder.name).as_uri())
                     .config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "2").getOrCreate())
        cls.spark.sparkContext.setLogLevel("ERROR")
        cls.found = fleet.diagnoses(cls.spark, cls.folder.name).cache()

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()
        cls.folder.cleanup()

    def single(self, f):
        """The diagnosis of one file by itself; None where there is none."""
        try:
            return unstall.diagnose(f.name, cwd=f.parent)
        except unstall.Error as e:
            return str(e)

    def test_each_as_single(self):
        runs = {pathlib.Path(r.path).name: r for r in fleet.of(self.spark, self.found, "runs").collect()}
        rows = {}
        for r in fleet.of(self.spark, self.found, "verdicts").orderBy("path", "rank").collect():
            rows.setdefault(pathlib.Path(r.path).name, []).append(r)
        charged = {}
        for r in fleet.of(self.spark, self.found, "ledger").collect():
            charged.setdefault(pathlib.Path(r.path).name, []).append((r.mechanism, r.detail, r.slow_ms, r.method))
        self.assertEqual(set(runs), {f.name for f in self.files})
        supported = 0
        for f in self.files:
            d = self.single(f)
            if isinstance(d, str):
                self.assertEqual((runs[f.name].error, runs[f.name].outcome), (d, None))
                continue
            run, q = runs[f.name], d["requests"] or {}
            self.assertEqual((run.outcome, run.requests, run.slow_total_ms, run.p99_ms), (d["outcome"], q.get("count"), q.get("slow_total_ms"), q.get("p99_ms")), f.name)
            got = rows.get(f.name, [])
            self.assertEqual(len(got), len(d["verdicts"]), f.name)
            for n, (r, v) in enumerate(zip(got, d["verdicts"]), 1):
                s = v["saves_ms"] or {}
                self.assertEqual((r.rank, r.cause, r.subject, r.verdict, r.title, r.summary or "", r.saves_ms, r.saves_low_ms), (n, v["cause"], v["subject"], v["verdict"], v["title"], v["summary"], s.get("value"), s.get("low")), f.name)
                self.assertEqual([(e.id or "", e.text, e.value, e.unit, e.origin) for e in r.evidence], [(e.get("id", ""), e["text"], e["value"], e["unit"], e["origin"]) for e in v["evidence"]], f.name)
                self.assertEqual([(x.text, x.setting) for x in r.fix], [(x["text"], x.get("setting")) for x in v["fix"]], f.name)
                supported += v["verdict"] == "supported"
            self.assertEqual(sorted(charged.get(f.name, []), key=str), sorted(((e["mechanism"], e["detail"] or None, e["slow_ms"], e["method"]) for e in d["ledger"]), key=str), f.name)
        self.assertGreater(supported, 3)

    def test_store(self):
        """Files that no executor has on its disk come through Spark: those of Hadoop's view of other file systems count as such."""
        stored = "viewfs://store/files"
        by = lambda t: sorted((pathlib.Path(r.path).name, r.size, r.error or "", r.diagnosis or "") for r in t.collect())  # noqa: E731
        self.assertEqual(by(fleet.diagnoses(self.spark, f"{stored}/*.{{log,txt}},{stored}/*.log.gz", partitions=3)),
                         [r for r in by(self.found) if r[0].endswith((".log", ".txt", ".log.gz"))])

    def test_gone(self):
        """A file that goes away after Spark listed it has a row that says so; the others are read."""
        with tempfile.TemporaryDirectory() as at:
            here, gone = pathlib.Path(at, "here, 100% of it.log"), pathlib.Path(at, "gone.log")
            for f in (here, gone):
                shutil.copy(next(f for f in self.files if f.name.endswith(".gctrace.log")), f)
            found = fleet.diagnoses(self.spark, at)
            gone.unlink()
            rows = {pathlib.Path(r.path).name: r for r in found.collect()}
            self.assertEqual(set(rows), {here.name, gone.name})
            self.assertEqual((rows[here.name].error, rows[here.name].size), (None, here.stat().st_size))
            self.assertEqual((rows[gone.name].diagnosis, rows[gone.name].size), (None, None))
            self.assertRegex(rows[gone.name].error, r"^gone\.log: was there when Spark listed it, .*No such file or directory")
            self.assertEqual([r.error for r in fleet.of(self.spark, found, "runs").where("outcome is null").collect()], [rows[gone.name].error])

    def test_parquet(self):
        with tempfile.TemporaryDirectory() as to:
            fleet.write(self.spark, self.found, to)
            tables = fleet.tables(self.spark, to)
            self.assertEqual(set(tables), {"runs", "ledger", "verdicts"})
            self.assertEqual(sorted(map(str, tables["verdicts"].collect())), sorted(map(str, fleet.of(self.spark, self.found, "verdicts").collect())))
            # What the command writes has the same columns, and its run for the path.
            own = pathlib.Path(to, "own")
            unstall.export([f for f in self.files if f.suffix != ".txt"], own)
            written = fleet.tables(self.spark, str(own))
            self.assertEqual(set(written), {"runs", "requests", "ledger", "verdicts"})
            for name in ("runs", "ledger", "verdicts"):
                self.assertEqual(set(written[name].columns) - {"run", "files", "host"}, set(tables[name].columns) - {"path"}, name)
            by = lambda t: sorted((r.cause, r.verdict, r.saves_ms or 0) for r in t.select("cause", "verdict", "saves_ms").collect())  # noqa: E731
            self.assertEqual(by(written["verdicts"]), by(tables["verdicts"]))
            self.assertGreater(written["requests"].where("slow").count(), 100)


if __name__ == "__main__":
    unittest.main()
