"""The wine list of a restaurant supplier on Pyramid and Waitress: stocks in PostgreSQL by psycopg's pool, prices of vineyards over HTTP."""

import os
import signal
import sys

import requests
import waitress
from psycopg_pool import ConnectionPool
from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPNotFound
from pyramid.view import view_config
from requests.adapters import HTTPAdapter

from repricing import Repricing

FAULT = os.environ.get("FAULT", "off")


@view_config(route_name="order", renderer="json")
def show_order(request):
    with request.registry.pool.connection() as db:
        row = db.execute("select id, status, total_cents from orders where id = %s", (int(request.matchdict["id"]) % 300000,)).fetchone()
    if row is None:
        raise HTTPNotFound()
    return {"order": row[0], "status": row[1], "cents": row[2]}


@view_config(route_name="bottles", request_method="POST", renderer="json")
def sell_bottle(request):
    """Takes a bottle out of the stock."""
    with request.registry.pool.connection() as db:
        row = db.execute("update products set stock = stock - 1 where id = %s returning stock, price_cents", (int(request.matchdict["id"]) % 2000,)).fetchone()
    return {"stock": row[0], "cents": row[1]}


@view_config(route_name="quote", renderer="json")
def quote(request):
    """Asks a vineyard for a quote, which takes it 60 ms."""
    answer = request.registry.vineyards.get(f"http://{os.environ['ADDR_VINEYARD']}/quotes/{request.matchdict['id']}", timeout=20)
    return {"quote": answer.json()["cents"]}


def make_app():
    with Configurator() as config:
        config.add_route("order", r"/orders/{id:\d+}")
        config.add_route("bottles", r"/bottles/{id:\d+}")
        config.add_route("quote", r"/quotes/{id:\d+}")
        host, port = os.environ["ADDR_DB"].rsplit(":", 1)
        config.registry.pool = ConnectionPool(f"host={host} port={port} user=shop dbname=shop", min_size=20, max_size=20, timeout=20, open=True)
        config.registry.pool.wait()
        config.registry.vineyards = requests.Session()
        config.registry.vineyards.mount("http://", HTTPAdapter(pool_connections=2, pool_maxsize=40))
        config.scan(__name__)
        Repricing(config.registry.pool, os.environ["ADDR_VINEYARD"], in_one=FAULT == "repricing-in-one").start()
        return config.make_wsgi_app()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    waitress.serve(make_app(), listen=os.environ["ADDR"], threads=3 if FAULT == "few-threads" else 24, _quiet=True)
