"""Becomes gunicorn, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
workers, threads = ("1", "3") if os.environ.get("FAULT") == "three-threads" else ("2", "12")
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "--chdir", here, "--bind", os.environ["ADDR"], "--worker-class", "gthread", "--workers", workers, "--threads", threads,
                          "--keep-alive", "30", "--graceful-timeout", "2", "--worker-tmp-dir", "/dev/shm", "--no-control-socket", "school.wsgi"])
