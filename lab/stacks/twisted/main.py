"""The leases of a boat yard on Twisted and Klein: PostgreSQL by adbapi and psycopg, a bank over HTTP by Twisted's Agent."""
import json
import os
import random
import sys

import requests
from klein import Klein
from twisted.enterprise import adbapi
from twisted.internet import reactor, task
from twisted.logger import Logger, globalLogBeginner, textFileLogObserver
from twisted.web.client import Agent, HTTPConnectionPool, readBody
from twisted.web.server import Site

FAULT = os.environ.get("FAULT", "off")
BANK = "http://" + os.environ["ADDR_BANK"]
app = Klein()
log = Logger("yard")
calls = HTTPConnectionPool(reactor)
calls.maxPersistentPerHost = 40
agent = Agent(reactor, pool=calls)
session = requests.Session()


def connect():
    """The pool has the three to five connections, each with its thread, that adbapi has by default."""
    host, port = os.environ["ADDR_DB"].split(":")
    return adbapi.ConnectionPool("psycopg", f"host={host} port={port} user=shop dbname=shop", cp_reconnect=True)


pool = connect()


def reply(request, found):
    request.setHeader("Content-Type", "application/json")
    return json.dumps(found)


@app.route("/orders/<int:order>")
async def order(request, order):
    rows = await pool.runQuery("select id, quantity, total_cents, status from orders where id = %s", (order,))
    return reply(request, rows[0] if rows else None)


@app.route("/leases/<int:boat>", methods=["POST"])
async def lease(request, boat):
    """Leases a boat: the bank takes the money, and the lease is written."""
    if FAULT == "pay-in-interaction":
        receipt = await pool.runInteraction(pay_and_write, boat)
    else:
        answer = await agent.request(b"GET", f"{BANK}/pay/{boat}".encode())
        receipt = json.loads(await readBody(answer))["receipt"]
        await pool.runInteraction(write, boat, receipt)
    return reply(request, {"boat": boat, "receipt": receipt})


def pay_and_write(cursor, boat):
    receipt = session.get(f"{BANK}/pay/{boat}", timeout=20).json()["receipt"]
    write(cursor, boat, receipt)
    return receipt


def write(cursor, boat, receipt):
    cursor.execute("select price_cents from products where id = %s", (boat,))
    (cents,) = cursor.fetchone()
    cursor.execute("insert into payments (product_id, amount_cents, receipt) values (%s, %s, %s)", (boat, cents, receipt))


@app.route("/inspections/<int:boat>", methods=["POST"])
async def inspect(request, boat):
    """Notes an inspection: the authorities want all that was looked at in the log."""
    rows = await pool.runQuery("select id, sku, name from products where id = %s", (boat,))
    parts = [f"{part}: {random.choice(('sound', 'worn', 'renewed'))}" for part in PARTS]
    log.info("inspection of {boat}: {parts}", boat=rows[0], parts="; ".join(parts))
    return reply(request, {"boat": boat, "parts": len(parts)})


PARTS = [f"{where} {what} {n}" for where in ("port", "starboard") for what in ("cleat", "shroud", "winch", "stay") for n in range(14)]


@app.route("/tides/<int:gauge>")
async def tide(request, gauge):
    """Answers when the water at a gauge has changed, which takes one to five seconds."""
    await task.deferLater(reactor, random.uniform(1, 5))
    return reply(request, {"gauge": gauge, "cm": random.randint(0, 400)})


def main():
    globalLogBeginner.beginLoggingTo([textFileLogObserver(sys.stdout)], redirectStandardIO=False)
    host, port = os.environ["ADDR"].split(":")
    reactor.listenTCP(int(port), Site(app.resource()), interface=host, backlog=256)
    reactor.run()


main()
