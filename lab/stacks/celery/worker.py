"""Becomes a worker of Celery for the queue that its argument names."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.execv(sys.executable, [sys.executable, "-m", "celery", "--workdir", here, "-A", "tasks", "worker", "-P", "threads", "-c", "3", "-Q", sys.argv[1], "-n", sys.argv[1],
                          "-l", "warning", "--without-gossip", "--without-mingle", "--without-heartbeat"])
