"""Becomes gunicorn with threads, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "--chdir", here, "--bind", os.environ["ADDR"], "--workers", "2", "--threads", "12",
                          "--worker-class", "gthread", "--worker-tmp-dir", "/dev/shm", "--no-control-socket", "permits.wsgi"])
