"""Feeds of news on Flask under gevent: profiles in Redis, articles from an agency over HTTP."""
import csv
import io
import os

import redis
import requests
from flask import Flask, Response, jsonify

FAULT = os.environ.get("FAULT", "off")
app = Flask(__name__)
host, port = os.environ["ADDR_REDIS"].split(":")
store = redis.Redis(host=host, port=int(port), decode_responses=True)
agency = requests.Session()
if FAULT == "adapter-pool":
    agency.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=2, pool_block=True))
else:
    agency.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=60))


def fill():
    with store.pipeline(transaction=False) as p:
        for n in range(10_000):
            p.hset(f"profile:{n}", mapping={"name": f"Reader {n}", "since": 2000 + n % 25, "topics": "politics,sports,weather"})
        p.set("readers.csv", table(500))
        p.execute()


def table(rows):
    """A table of readers for the advertisers."""
    out = io.StringIO()
    writer = csv.writer(out)
    for n in range(rows):
        topics = sorted(f"{topic}-{n % 7}" for topic in "politics sports weather science arts".split())
        writer.writerow([n, f"Reader {n}", f"{n * 37 % 1000 / 7:.4f}", " ".join(topics).title(), f"reader{n}@example.org".upper()])
    return out.getvalue()


fill()


@app.get("/profiles/<int:reader>")
def profile(reader):
    return jsonify(store.hgetall(f"profile:{reader}"))


@app.get("/feeds/<int:reader>")
def feed(reader):
    return agency.get(f"http://{os.environ['ADDR_AGENCY']}/articles/{reader}", timeout=20).json()


@app.get("/readers.csv")
def readers():
    text = table(15_000) if FAULT == "table-on-hub" else store.get("readers.csv")
    return Response(text, mimetype="text/csv")
