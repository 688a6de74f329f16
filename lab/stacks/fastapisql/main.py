"""Becomes uvicorn with two workers, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
host, port = os.environ["ADDR"].split(":")
os.execv(sys.executable, [sys.executable, "-m", "uvicorn", "--app-dir", here, "--host", host, "--port", port, "--workers", "2", "--no-access-log",
                          "--log-level", "warning", "--timeout-graceful-shutdown", "1", "estate:app"])
