"""What workers do: certificates are printed while a clerk waits, reports are made until the evening."""
import os

import redis
import requests
from celery import Celery

FAULT = os.environ.get("FAULT", "off")

app = Celery("school", broker=f"redis://{os.environ['ADDR_BROKER']}/1")
app.conf.update(
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    # What has no route goes to the queue celery.
    task_routes={} if FAULT == "one-queue" else {"tasks.make_report": "reports"},
)

store = redis.Redis.from_url(f"redis://{os.environ['ADDR_FAR']}/0")
session = requests.Session()
session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=8))


@app.task
def print_certificate(job, learner):
    answer = session.get(f"http://{os.environ['ADDR_PRINTER']}/certificates/{learner}", timeout=20)
    store.set(f"certificate:{job}", answer.json()["receipt"], ex=60)


@app.task
def make_report(year):
    session.get(f"http://{os.environ['ADDR_ARCHIVE']}/years/{year}", timeout=20).raise_for_status()
