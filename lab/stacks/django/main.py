"""Becomes gunicorn with threads, at a UNIX socket for nginx and at a port for probes."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "--chdir", here, "--bind", f"unix:{os.getcwd()}/ledger.sock", "--bind", os.environ["ADDR"], "--workers", "2",
                          "--threads", "8", "--worker-class", "gthread", "--worker-tmp-dir", "/dev/shm", "--no-control-socket", "ledger.wsgi"])
