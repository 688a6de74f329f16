"""Becomes uvicorn, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
host, port = os.environ["ADDR"].split(":")
os.execv(sys.executable, [sys.executable, "-m", "uvicorn", "--app-dir", here, "--host", host, "--port", port, "--no-access-log",
                          "--log-level", "warning", "--timeout-graceful-shutdown", "1", "orchard:app"])
