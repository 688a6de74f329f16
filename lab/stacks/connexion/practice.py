"""What the practice serves: animals, the visits of an owner, whether an insurer pays, and what is in stock as a sheet."""

import csv
import io
import os

import flask
import openpyxl
import peewee
import requests
from playhouse.pool import PooledMySQLDatabase
from requests.adapters import HTTPAdapter

FAULT = os.environ.get("FAULT", "off")
HOST, PORT = os.environ["ADDR_DB"].split(":")
INSURER = f"http://{os.environ['ADDR_INSURER']}"
ANIMALS, OWNERS, DRUGS = 30000, 1500, 5000

database = PooledMySQLDatabase("shop", host=HOST, port=int(PORT), user="shop", max_connections=64, stale_timeout=300, timeout=20)
insurers = requests.Session()
insurers.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=64))


class Animal(peewee.Model):
    name = peewee.CharField()
    kind = peewee.CharField()
    owner = peewee.IntegerField()

    class Meta:
        database = database


class Visit(peewee.Model):
    animal = peewee.ForeignKeyField(Animal)
    owner = peewee.IntegerField()
    reason = peewee.CharField()
    cents = peewee.IntegerField()

    class Meta:
        database = database


def give_back(_error):
    """Gives the connection of a request back to the pool."""
    if not database.is_closed():
        database.close()


def animal(id):
    found = Animal.get_by_id(id % ANIMALS)
    return {"name": found.name, "kind": found.kind}


def visits(id):
    """The visits of an owner with the animal of each. With the fault each animal is read when its name is asked for."""
    query = Visit.select().where(Visit.owner == id % OWNERS)
    if FAULT != "lazy-animals":
        query = Visit.select(Visit, Animal).join(Animal).where(Visit.owner == id % OWNERS)
    return [{"animal": visit.animal.name, "reason": visit.reason, "cents": visit.cents} for visit in query]


def cover(id):
    """Whether the insurer of an animal pays for it."""
    answer = insurers.get(f"{INSURER}/covers/{id}", timeout=20)
    return {"cover": answer.json()["receipt"]}


def sheet(id):
    """What is in stock, as the wholesaler wants it: lines of text, with the fault a workbook."""
    rows = ([f"drug {id}-{n}", n % 40, f"shelf {n % 9}", n * 7 % 900, f"batch {n * 31 % 977}", n % 365] for n in range(DRUGS))
    out = io.BytesIO()
    if FAULT == "workbook":
        write_workbook(rows, out)
    else:
        text = io.TextIOWrapper(out, newline="", write_through=True)
        csv.writer(text).writerows(rows)
    return flask.Response(out.getvalue(), mimetype="application/octet-stream")


def write_workbook(rows, out):
    book = openpyxl.Workbook()
    page = book.active
    for row in rows:
        page.append(row)
    book.save(out)
