"""What a blood donor service serves on Flask: appointments in PostgreSQL by psycopg, a laboratory by requests, and a register of places in memory."""
import os
import time

import requests
from flask import Flask, jsonify
from requests.adapters import HTTPAdapter

from appointments import Appointments
from places import Places

app = Flask(__name__)
appointments = Appointments()
places = Places()
laboratory = requests.Session()
laboratory.mount("http://", HTTPAdapter(pool_maxsize=40))


@app.get("/appointments/<int:number>")
def appointment(number):
    return jsonify(appointments.find(number))


@app.get("/donors/<int:number>/appointments")
def appointments_of(number):
    return jsonify(appointments.of_donor(number))


@app.post("/centres/<int:number>/booking")
def book(number):
    return jsonify(appointments.book(number))


@app.get("/samples/<int:number>")
def sample(number):
    answer = laboratory.get(f"http://{os.environ['ADDR_LABORATORY']}/samples/{number}", timeout=20)
    return jsonify(answer.json())


@app.get("/places/<int:number>")
def place(number):
    return jsonify(places.near(number))


@app.get("/buses/<int:number>/call")
def call(number):
    """Answers when a bus calls, or after four seconds."""
    time.sleep(4)
    return jsonify({"bus": number, "called": False})


@app.get("/admin/centres")
def centres():
    return jsonify(appointments.best_centres())


@app.get("/health")
def health():
    return "ok"
