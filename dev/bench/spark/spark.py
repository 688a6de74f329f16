"""Measures how much faster two workers of Spark read a folder of logs than one, and holds each verdict against the single run's.

    make bench-spark LOGS=folder              20 copies of each file, a round of each number of workers in turn
    make bench-spark LOGS=folder SPARKFLAGS='--copies 5 --rounds 3'

Workers are of local-cluster: processes of their own with one core each, which their JVM is told, as a container would
tell it. What is timed is the reading and the verdicts of all files, once executors, their Python and the binary are there.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python" / "src"))


def measure(folder: str, workers: int) -> dict:
    """Seconds that the verdicts of all files of a folder take, and what they are, by the name of the file."""
    from pyspark.sql import SparkSession

    from unstall import spark as fleet

    spark = (SparkSession.builder.master(f"local-cluster[{workers},1,1024]").appName("unstall")
             .config("spark.executor.extraJavaOptions", "-XX:ActiveProcessorCount=1")
             .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
             .config("spark.scheduler.minRegisteredResourcesRatio", "1.0").config("spark.scheduler.maxRegisteredResourcesWaitingTime", "60s")
             .config("spark.sql.shuffle.partitions", str(workers)).getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    few = folder + "/00-*"
    fleet.verdicts(spark, few).count()
    began = time.monotonic()
    rows = fleet.verdicts(spark, folder).select("path", "rank", "cause", "verdict", "saves_ms").collect()
    took = time.monotonic() - began
    found: dict[str, list] = {}
    for r in sorted(rows, key=lambda r: (r.path, r.rank)):
        found.setdefault(pathlib.Path(r.path).name, []).append([r.cause, r.verdict, r.saves_ms])
    spark.stop()
    return {"s": took, "found": found}


def single(path: pathlib.Path) -> list:
    """The verdicts of one file by itself."""
    import unstall

    try:
        d = unstall.diagnose(path.name, cwd=path.parent)
    except unstall.Error:
        return []
    return [[v["cause"], v["verdict"], (v["saves_ms"] or {}).get("value")] for v in d["verdicts"]]


def main() -> int:
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("logs", type=pathlib.Path, nargs="?")
    a.add_argument("--copies", type=int, default=20)
    a.add_argument("--rounds", type=int, default=1)
    a.add_argument("--least", type=float, default=1.7, help="times as fast that two workers must be")
    a.add_argument("--of", help="a folder that one number of workers reads (the program calls itself)")
    a.add_argument("--workers", type=int)
    args = a.parse_args()
    if args.of:
        print(json.dumps(measure(args.of, args.workers)))
        return 0
    if not args.logs or not args.logs.is_dir():
        a.error("give a folder of logs")
    files = sorted(f for f in args.logs.iterdir() if f.is_file() and f.suffix != ".json")
    with tempfile.TemporaryDirectory(prefix="unstall-spark-") as folder:
        for n in range(args.copies):
            for f in files:
                shutil.copy(f, pathlib.Path(folder, f"{n:02}-{f.name}"))
        took: dict[int, list[float]] = {1: [], 2: []}
        found = {}
        env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        for _ in range(args.rounds):
            for workers in took:
                out = subprocess.run([sys.executable, __file__, "--of", folder, "--workers", str(workers)], env=env, check=True, stdout=subprocess.PIPE).stdout
                run = json.loads(out.splitlines()[-1])
                took[workers].append(run["s"])
                found = run["found"]
                print(f"{workers} worker{'s' if workers > 1 else ''}: {run['s']:.1f} s", flush=True)
        alone = {f.name: single(f) for f in files}
        differ = [f.name for f in files if any(found.get(f"{n:02}-{f.name}", []) != alone[f.name] for n in range(args.copies))]
    ratio = [a / b for a, b in zip(took[1], took[2])]
    print(f"{len(files)} logs × {args.copies}: two workers {statistics.median(ratio):.2f} ({min(ratio):.2f}–{max(ratio):.2f}) × one; "
          f"verdicts that differ from the single run's: {len(differ)} {' '.join(differ)}")
    return 1 if differ or statistics.median(ratio) < args.least else 0


if __name__ == "__main__":
    sys.exit(main())
