"""The shop on Flask and psycopg, for gunicorn's sync workers: a connection for each of them."""
import hashlib
import os

import psycopg
import requests
from flask import Flask, jsonify, request

FAULT = os.environ.get("FAULT", "off")
app = Flask(__name__)
session = requests.Session()
connection = None


def db():
    global connection
    if connection is None or connection.closed:
        host, port = os.environ["ADDR_DB"].split(":")
        connection = psycopg.connect(host=host, port=port, user="shop", dbname="shop", autocommit=True)
    return connection


@app.get("/orders/<int:order>")
def find_order(order):
    row = db().execute("select customer_id, total_cents, status from orders where id = %s", (order,)).fetchone()
    return jsonify(order=order, found=row)


@app.get("/customers/<int:customer>/orders")
def orders_of(customer):
    if FAULT != "n-plus-one":
        rows = db().execute("select o.id, p.name, o.total_cents from orders o join products p on p.id = o.product_id where o.customer_id = %s", (customer,)).fetchall()
        return jsonify(rows)
    lines = []
    for order, product, cents in db().execute("select id, product_id, total_cents from orders where customer_id = %s", (customer,)).fetchall():
        name = db().execute("select name from products where id = %s", (product,)).fetchone()[0]
        lines.append((order, name, cents))
    return jsonify(lines)


@app.get("/search")
def search():
    words = request.args["q"]
    if FAULT == "slow-query":
        rows = db().execute("select id, status from orders where note ilike %s limit 10", (f"%no such {words}%",)).fetchall()
    else:
        rows = db().execute("select id, status from orders where reference = %s", (f"REF-{words}",)).fetchall()
    return jsonify(rows)


@app.get("/quotes/<int:product>")
def quote(product):
    return session.get(f"http://{os.environ['ADDR_SUPPLIER']}/quote/{product}", timeout=20).json()


@app.post("/login/<name>")
def login(name):
    key = hashlib.pbkdf2_hmac("sha256", f"secret of {name}".encode(), b"a salt for the shop", 60_000)
    return jsonify(name=name, length=len(key))
