"""Becomes uvicorn with two workers, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
name = os.environ["ADDR"].split(":")
os.execv(sys.executable, [sys.executable, "-m", "uvicorn", "--app-dir", here, "--host", name[0], "--port", name[1], "--workers", "2", "--no-access-log",
                          "--log-level", "warning", "--timeout-graceful-shutdown", "1", "museum:app"])
