"""Becomes gunicorn, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
workers = "2" if os.environ.get("FAULT") == "few-workers" else os.environ.get("WORKERS", "8")
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "--chdir", here, "--bind", os.environ["ADDR"], "--workers", workers,
                          "--worker-class", "sync", "--worker-tmp-dir", "/dev/shm", "--no-control-socket", "shop:app"])
