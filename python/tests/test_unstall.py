"""Tests of the package against the command: UNSTALL_BINARY names it. python -m unittest discover python/tests"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "src"))

import unstall  # noqa: E402

SICK = ROOT / "internal" / "diagnose" / "check" / "testdata" / "go.gc-rate" / "sick"


class Package(unittest.TestCase):
    def test_diagnose(self):
        log = SICK / "gctrace.log"
        d = unstall.diagnose(log)
        said = subprocess.run([unstall.binary(), str(log), "--format", "json"], check=True, capture_output=True).stdout
        self.assertEqual(d, json.loads(said))
        self.assertEqual(d["verdicts"][0]["cause"], "go.gc-rate")
        self.assertEqual(unstall.inspect(log)["schema"], "unstall.gc/v1")

    def test_options(self):
        trace = next(SICK.glob("trace.out.gz"))
        self.assertEqual(unstall.diagnose(trace, slo="1ms")["requests"]["slow_rule"], "slo")
        with self.assertRaises(unstall.Error) as e:
            unstall.diagnose(trace, slo="fast")
        self.assertEqual(e.exception.code, 2)

    def test_errors(self):
        with self.assertRaises(unstall.Error) as e:
            unstall.diagnose("no-such-file.log")
        self.assertEqual((str(e.exception), e.exception.code), ("no-such-file.log: no such file or directory: check the name", 3))
        with tempfile.TemporaryDirectory() as folder:
            odd = pathlib.Path(folder, "--format")  # a name like an option is a name
            odd.write_text("nothing\n")
            with self.assertRaises(unstall.Error) as e:
                unstall.diagnose("--format", cwd=folder)
            self.assertEqual(e.exception.code, 3)
        with self.assertRaises(ValueError):
            unstall.diagnose()

    def test_no_binary(self):
        before = dict(os.environ)
        try:
            os.environ.pop("UNSTALL_BINARY", None)
            os.environ["PATH"] = "/nonexistent"
            if not (ROOT / "python/src/unstall/bin/unstall").exists():
                with self.assertRaises(FileNotFoundError):
                    unstall.binary()
        finally:
            os.environ.clear()
            os.environ.update(before)


class Tables(unittest.TestCase):
    """DuckDB reads what is exported where it lies, and the figures are the JSON's."""

    @classmethod
    def setUpClass(cls):
        try:
            import duckdb
        except ImportError:
            raise unittest.SkipTest("no duckdb here: dev/tools/python.sh fetches one")
        cls.sql = staticmethod(lambda q, *names: duckdb.sql(q).fetchall())

    def hold(self, at, files, q):
        d = unstall.diagnose(*files)
        rows = q(f"select mechanism, detail, slow_ms, low, high, basis, method from '{at}/ledger/*.parquet'")
        self.assertEqual(sorted(rows, key=str), sorted(((e["mechanism"], e["detail"] or None, e["slow_ms"], e["low"], e["high"], e["basis"], e["method"]) for e in d["ledger"]), key=str))
        rows = q(f"select cause, verdict, title, saves_ms, len(evidence), fix[1].setting from '{at}/verdicts/*.parquet' order by rank")
        self.assertEqual(rows, [(v["cause"], v["verdict"], v["title"], (v["saves_ms"] or {}).get("value"), len(v["evidence"]),
                                 (v["fix"][0].get("setting") if v["fix"] else None)) for v in d["verdicts"]])
        (count, total, slow), = q(f"select count(*) filter (slow), sum(latency_ms) filter (slow), sum(latency_ms) filter (not slow) from '{at}/requests/*.parquet'")
        self.assertEqual(count, d["requests"]["slow"])
        self.assertAlmostEqual(total, d["requests"]["slow_total_ms"], places=3)
        self.assertGreater(slow, 0)
        (total,), = q(f"select sum(slow_ms) from '{at}/ledger/*.parquet' join '{at}/runs/*.parquet' using (run)")
        self.assertAlmostEqual(total, d["requests"]["slow_total_ms"], places=3)

    def test_directory(self):
        files = sorted(SICK.glob("*.gz"))
        with tempfile.TemporaryDirectory() as folder:
            unstall.export(files, folder, together=True)
            self.hold(folder, files, self.sql)
            names, = self.sql(f"select files from '{folder}/runs/*.parquet'")
            self.assertEqual(names[0], [str(f) for f in files])

    def test_store(self):
        """To a store that speaks S3, and that checks signatures."""
        try:
            import boto3
            from moto.server import ThreadedMotoServer
        except ImportError:
            self.skipTest("no moto here: dev/tools/python.sh fetches one")
        os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "false"
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        server.start()
        try:
            host, port = server.get_host_and_port()
            at = f"http://{host}:{port}"
            iam = boto3.client("iam", endpoint_url=at, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
            iam.create_user(UserName="exporter")
            key = iam.create_access_key(UserName="exporter")["AccessKey"]
            iam.put_user_policy(UserName="exporter", PolicyName="all", PolicyDocument=json.dumps(
                {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}))
            s3 = boto3.client("s3", endpoint_url=at, region_name="us-east-1", aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"])
            s3.create_bucket(Bucket="fleet")
            env = {"AWS_ENDPOINT_URL": at, "AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
            before = dict(os.environ)
            os.environ.update(env)
            import requests
            requests.post(at + "/moto-api/reset-auth", data="0", timeout=10)  # from now on every signature is checked
            try:
                files = sorted(SICK.glob("*.gz"))
                unstall.export(files, "s3://fleet/a b/2026", together=True)
                os.environ["AWS_SECRET_ACCESS_KEY"] = "wrong"
                with self.assertRaisesRegex(unstall.Error, "SignatureDoesNotMatch.*check AWS_ACCESS_KEY_ID"):
                    unstall.export(files[:1], "s3://fleet/x")
                os.environ.update(env)
                with self.assertRaisesRegex(unstall.Error, "the bucket does not exist"):
                    unstall.export(files[:1], "s3://other/x")
            finally:
                os.environ.clear()
                os.environ.update(before)
            with tempfile.TemporaryDirectory() as folder:
                for item in s3.list_objects_v2(Bucket="fleet")["Contents"]:
                    self.assertTrue(item["Key"].startswith("a b/2026/"))
                    to = pathlib.Path(folder, item["Key"][len("a b/2026/"):])
                    to.parent.mkdir(exist_ok=True)
                    to.write_bytes(s3.get_object(Bucket="fleet", Key=item["Key"])["Body"].read())
                self.hold(folder, files, self.sql)
        finally:
            server.stop()


if __name__ == "__main__":
    unittest.main()
