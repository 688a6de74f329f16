"""A car hire on Falcon, Waitress and SQLAlchemy: orders in PostgreSQL, insurers over HTTP."""
import os
import threading
import time

import falcon
import requests
import waitress
from sqlalchemy import create_engine, text

FAULT = os.environ.get("FAULT", "off")

engine = create_engine(
    f"postgresql+psycopg://shop@{os.environ['ADDR_DB']}/shop",
    isolation_level="AUTOCOMMIT", pool_timeout=20,
    pool_size=2 if FAULT == "queue-pool" else 16, max_overflow=0,
)
session = requests.Session()
session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=40))


class Order:
    def on_get(self, req, resp, order):
        with engine.connect() as db:
            row = db.execute(text("select customer_id, total_cents from orders where id = :id"), {"id": order}).one()
        resp.media = {"customer": row.customer_id, "cents": row.total_cents}


class Turnover:
    """Reads what is kept on slow storage: it takes 20 ms."""

    def on_get(self, req, resp, customer):
        with engine.connect() as db:
            resp.media = {"cents": int(db.execute(text("select archived_turnover(:id)"), {"id": customer}).scalar_one())}


class Insurance:
    """Asks the insurer, who refuses some calls: they are asked again after a pause."""

    def on_get(self, req, resp, car):
        for attempt in range(6):
            answer = session.get(f"http://{os.environ['ADDR_INSURER']}/cover/{car}", timeout=20)
            if answer.status_code != 503:
                resp.media = answer.json()
                return
            time.sleep(0.6 if FAULT == "sleeping-retries" else 0.01)
        raise falcon.HTTPServiceUnavailable()


class Tariff:
    """A tariff is made of a year of turnovers, kept for two seconds for each city."""

    def __init__(self):
        self.kept = {}
        self.making = threading.Lock()

    def on_get(self, req, resp, city):
        kept = self.kept.get(city)
        if kept is None or time.monotonic() - kept[1] > 2:
            with self.making:
                kept = self.kept.get(city)
                if kept is None or time.monotonic() - kept[1] > 2:
                    kept = self.kept[city] = (self.make(city), time.monotonic())
        resp.media = {"city": city, "cents": kept[0]}

    def make(self, city):
        with engine.connect() as db:
            return int(db.execute(text("select sum(total_cents) from orders where customer_id between :from and :from + 20"), {"from": city * 20}).scalar_one())


def main():
    app = falcon.App()
    app.add_route("/orders/{order:int}", Order())
    app.add_route("/customers/{customer:int}/turnover", Turnover())
    app.add_route("/cars/{car:int}/insurance", Insurance())
    app.add_route("/cities/{city:int}/tariff", Tariff())
    # Waitress has four threads if nothing else is said.
    waitress.serve(app, listen=os.environ["ADDR"], threads=int(os.environ.get("THREADS", "16")), connection_limit=500, _quiet=True)


if __name__ == "__main__":
    main()
