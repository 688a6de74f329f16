"""Becomes gunicorn, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.environ["LABORATORY_CA"] = os.path.abspath("provider.pem")  # gunicorn leaves the folder
# Threads sleep most of the time: in calls of partners, which take far longer than the work.
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "--bind", os.environ["ADDR"], "--chdir", here, "--worker-class", "gthread", "--workers", "2", "--threads", "16",
                          "--keep-alive", "30", "--graceful-timeout", "2", "clinic:app"])
