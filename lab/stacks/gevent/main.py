"""Becomes gunicorn with a worker of greenlets, one for each container."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "--chdir", here, "--bind", os.environ["ADDR"], "--workers", "1", "--worker-class", "gevent",
                          "--worker-connections", "500", "--worker-tmp-dir", "/dev/shm", "--no-control-socket", "feeds:app"])
