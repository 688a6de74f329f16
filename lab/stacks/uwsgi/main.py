"""Becomes uWSGI, as a container's command does."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
# uWSGI gives a process one thread if nothing is said.
threads = [] if os.environ.get("FAULT") == "no-threads" else ["--threads", "12"]
uwsgi = os.path.join(os.path.dirname(sys.executable), "uwsgi")
os.execv(sys.executable, [sys.executable, uwsgi, "--http-socket", os.environ["ADDR"], "--chdir", here, "--module", "brewery:app", "--master", "--processes", "2",
                          *threads, "--enable-threads", "--lazy-apps", "--die-on-term", "--disable-logging", "--need-app", "--add-header", "Connection: close"])
