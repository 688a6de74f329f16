"""Becomes gunicorn, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
command = [sys.executable, "-m", "gunicorn", "--bind", os.environ["ADDR"], "--chdir", here, "--worker-class", "gthread", "--workers", "2", "--threads", "20",
           "--keep-alive", "30", "--graceful-timeout", "2"]
if os.environ.get("FAULT") == "max-requests":
    command += ["--max-requests", "250"]  # against a leak that once was
os.execv(sys.executable, command + ["donors:app"])
