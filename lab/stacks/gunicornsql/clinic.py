"""What a group of animal clinics serves on Flask: visits and animals in MariaDB by SQLAlchemy, a register of chips, an insurer and a laboratory by requests."""
import threading
import time

from flask import Flask, jsonify, request

from partners import Insurer, Laboratory
from records import Records

app = Flask(__name__)
records = Records()
insurer = Insurer()
laboratory = Laboratory()


def forget_old_drafts():
    """Looks each minute for drafts of letters that nobody has sent."""
    while True:
        time.sleep(60)
        records.count_drafts()


threading.Thread(target=forget_old_drafts, daemon=True, name="drafts").start()


@app.get("/health")
def health():
    return "ok"


@app.get("/visits/<int:number>")
def visit(number):
    return jsonify(records.visit(number))


@app.get("/animals/<int:number>/visits")
def visits(number):
    return jsonify(records.visits_of(number))


@app.post("/chips")
def chip():
    """A scanner at the door posts what it has read: {"chip": 97681000123}."""
    return jsonify(records.animal_of_chip(request.get_json()["chip"]))


@app.get("/visits/<int:number>/cover")
def cover(number):
    return jsonify(insurer.cover(number))


@app.get("/visits/<int:number>/results")
def results(number):
    return jsonify(laboratory.results(number))


@app.get("/admin/turnover")
def turnover():
    return jsonify(records.turnover())
