"""The certificates of a driving school on Flask: learners in Redis, certificates and reports by Celery."""
import time
import uuid

from flask import Flask, abort, jsonify

from tasks import FAULT, make_report, print_certificate, store

app = Flask(__name__)
store.hset("learners", mapping={number: f"Learner {number}, class {'ABCD'[number % 4]}" for number in range(3000)})

PAUSE = 0.5 if FAULT == "slow-polls" else 0.01


@app.get("/learners/<int:number>")
def learner(number):
    name = store.hget("learners", number)
    if name is None:
        abort(404)
    return jsonify(number=number, name=name.decode())


@app.post("/certificates/<int:number>")
def certificate(number):
    job = str(uuid.uuid4())
    print_certificate.delay(job, number)
    return jsonify(number=number, receipt=wait_for_certificate(job))


@app.post("/reports/<int:year>")
def report(year):
    make_report.delay(year)
    return jsonify(year=year), 202


def wait_for_certificate(job):
    """Looks again and again whether a certificate was printed."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        receipt = store.get(f"certificate:{job}")
        if receipt is not None:
            return receipt.decode()
        time.sleep(PAUSE)
    abort(504)
