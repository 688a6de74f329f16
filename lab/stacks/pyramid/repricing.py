"""The job that asks vineyards for the prices of their bottles every few seconds, and enters them."""

import threading
import time

import requests

BOTTLES = range(0, 24)
PAUSE = 1.5  # seconds


class Repricing(threading.Thread):
    def __init__(self, pool, address, in_one):
        super().__init__(name="repricing", daemon=True)
        self.pool = pool
        self.url = f"http://{address}/bottles/"
        self.in_one = in_one
        self.vineyards = requests.Session()

    def run(self):
        while True:
            time.sleep(PAUSE)
            if self.in_one:
                self.enter_in_one()
            else:
                self.enter_each()

    def enter_each(self):
        """Enters prices once all are known."""
        prices = [(self.ask(bottle), bottle) for bottle in BOTTLES]
        with self.pool.connection() as db, db.cursor() as cursor:
            cursor.executemany("update products set price_cents = %s where id = %s", prices)

    def enter_in_one(self):
        """Enters each price as it is known, and all or none: in one transaction."""
        with self.pool.connection() as db:
            for bottle in BOTTLES:
                db.execute("update products set price_cents = %s where id = %s", (self.ask(bottle), bottle))

    def ask(self, bottle):
        return self.vineyards.get(f"{self.url}{bottle}", timeout=20).json()["cents"]
