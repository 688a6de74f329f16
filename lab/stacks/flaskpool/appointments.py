"""Appointments in PostgreSQL: 300,000 of 1,500 donors, and places that are left in centres."""
import os
import random
import time

import psycopg
from psycopg import IsolationLevel
from psycopg.errors import SerializationFailure
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

FAULT = os.environ.get("FAULT", "off")
host, port = os.environ["ADDR_DB"].split(":")
TARGET = f"host={host} port={port} user=shop dbname=shop"


class Appointments:
    def __init__(self):
        self.pool = ConnectionPool(TARGET, min_size=20, max_size=20, open=True, timeout=20, kwargs={"row_factory": dict_row, "autocommit": True})

    def read(self, query, *values):
        """Reads rows by a connection of the pool; with the fault by one that is opened for it."""
        if FAULT == "connect-each":
            with psycopg.connect(TARGET, row_factory=dict_row, autocommit=True) as db:
                return db.execute(query, values).fetchall()
        with self.pool.connection() as db:
            return db.execute(query, values).fetchall()

    def find(self, number):
        return self.read("select id, product_id, status from orders where id = %s", number % 300_000)[0]

    def of_donor(self, number):
        return self.read("select id, product_id, status from orders where customer_id = %s order by id desc limit 30", number % 1500)

    def best_centres(self):
        return self.read("select product_id, sum(total_cents)::bigint as cents from orders group by product_id order by cents desc limit 10")

    def book(self, number):
        """Takes one of the places that a centre has left. With the fault by serializable transactions, which are tried again after a pause."""
        if FAULT != "serializable":
            return self.take(number, None)
        for attempt in range(12):
            try:
                return self.take(number, IsolationLevel.SERIALIZABLE)
            except SerializationFailure:
                time.sleep(random.uniform(0.1, 0.3))
        raise RuntimeError("too many others book here")

    def take(self, number, level):
        centre = 7 if number % 3 else number % 2000  # most want the one at the station
        with self.pool.connection() as db:
            db.isolation_level = level
            try:
                with db.transaction():
                    left = db.execute("select stock from products where id = %s", [centre]).fetchone()
                    db.execute("update products set stock = stock - 1 where id = %s", [centre])
                    db.execute("insert into payments (product_id, amount_cents, receipt) values (%s, 0, %s)", [centre, f"booking-{number}"])
            finally:
                db.isolation_level = None
        return {"centre": centre, "left": left["stock"] - 1}
