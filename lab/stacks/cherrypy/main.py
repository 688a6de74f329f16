"""The seed library of a town on CherryPy and SQLite: loans in a file, a museum over HTTP, a report of the year in the background."""

import contextlib
import http.client
import json
import os
import sqlite3
import threading
import time

import cherrypy

FAULT = os.environ.get("FAULT", "off")
HOST, PORT = os.environ["ADDR"].split(":")
MUSEUM = os.environ["ADDR_MUSEUM"]
FILE = "library.db"
SEEDS = 5000
local = threading.local()


def fill():
    with contextlib.closing(sqlite3.connect(FILE)) as db:
        db.execute("pragma journal_mode = wal")
        db.execute("create table if not exists seeds (id integer primary key, name text not null, packets integer not null)")
        db.execute("create table if not exists loans (id integer primary key, seed integer not null, at real not null)")
        db.executemany("insert or replace into seeds values (?, ?, 1000)", ((n, f"bean {n}") for n in range(SEEDS)))
        db.commit()


def database():
    """The connection of this thread."""
    if not hasattr(local, "db"):
        local.db = sqlite3.connect(FILE, timeout=20, isolation_level=None)
        local.db.execute("pragma synchronous = off")
    return local.db


def ask_museum(seed):
    if not hasattr(local, "museum"):
        local.museum = http.client.HTTPConnection(MUSEUM, timeout=20)
    local.museum.request("GET", f"/seeds/{seed}")
    return json.loads(local.museum.getresponse().read())["receipt"]


class Library:
    @cherrypy.expose
    @cherrypy.tools.json_out()
    def seeds(self, seed):
        found = database().execute("select id, name, packets from seeds where id = ?", (int(seed) % SEEDS,)).fetchone()
        return {"seed": found[0], "name": found[1], "packets": found[2]}

    @cherrypy.expose
    @cherrypy.tools.json_out()
    def loans(self, seed):
        """Lends a packet, which the museum has to know."""
        db, number = database(), int(seed) % SEEDS
        receipt = None if FAULT == "call-in-transaction" else ask_museum(number)
        db.execute("begin immediate")
        try:
            db.execute("update seeds set packets = packets - 1 where id = ?", (number,))
            db.execute("insert into loans (seed, at) values (?, ?)", (number, time.time()))
            if receipt is None:
                receipt = ask_museum(number)
            db.execute("commit")
        except BaseException:
            db.execute("rollback")
            raise
        return {"seed": number, "receipt": receipt}

    @cherrypy.expose
    @cherrypy.tools.json_out()
    def origins(self, seed):
        """Where a seed comes from, which the museum knows."""
        return {"seed": seed, "origin": ask_museum(seed)}


if __name__ == "__main__":
    fill()
    cherrypy.config.update({
        "environment": "production", "log.screen": False, "server.socket_host": HOST, "server.socket_port": int(PORT),
        # Without a number of its own a server has 10 threads.
        "server.thread_pool": 10 if FAULT == "default-threads" else 40,
        "server.socket_queue_size": 128,
    })
    cherrypy.quickstart(Library())
