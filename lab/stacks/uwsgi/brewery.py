"""What a brewery serves to pubs on Flask: sales and beers in PostgreSQL by Flask-SQLAlchemy, a carrier over HTTP, texts of labels."""
import os

import requests
from flask import Flask, jsonify, request
from requests.adapters import HTTPAdapter

from labels import is_printable
from models import Beer, Sale, db

FAULT = os.environ.get("FAULT", "off")
CARRIER = f"http://{os.environ['ADDR_CARRIER']}"

app = Flask(__name__)
app.config["SQLALCHEMY_DATABASE_URI"] = f"postgresql+psycopg://shop@{os.environ['ADDR_DB']}/shop"
app.config["SQLALCHEMY_ENGINE_OPTIONS"] = {"pool_size": 12, "max_overflow": 4}
db.init_app(app)
carriers = requests.Session()
carriers.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=12))


@app.get("/health")
def health():
    return "ok"


@app.get("/sales/<int:number>")
def sale(number):
    found = db.get_or_404(Sale, number % 300000)
    return jsonify(id=found.id, beer=found.product_id, barrels=found.quantity, cents=found.total_cents, status=found.status)


@app.get("/pubs/<int:pub>/sales")
def sales(pub):
    query = db.select(Sale, Beer).join(Beer, Beer.id == Sale.product_id).where(Sale.customer_id == pub % 1500).order_by(Sale.id.desc()).limit(25)
    return jsonify([{"id": found.id, "beer": beer.name, "cents": found.total_cents} for found, beer in db.session.execute(query)])


@app.get("/sales/<int:number>/delivery")
def delivery(number):
    return jsonify(delivery=order_delivery(number))


@app.post("/beers/<int:beer>/barrels")
def reserve(beer):
    """Reserves a barrel and orders its delivery first, with the fault between the lock of the beer and its commit."""
    if FAULT == "call-in-transaction":
        found = lock_beer(beer)
        receipt = order_delivery(beer)
    else:
        receipt = order_delivery(beer)
        found = lock_beer(beer)
    found.stock -= 1
    left = found.stock
    db.session.commit()
    return jsonify(left=left, delivery=receipt)


@app.post("/labels")
def label():
    return jsonify(printable=is_printable(request.get_data(as_text=True)))


def lock_beer(beer):
    return db.session.execute(db.select(Beer).where(Beer.id == beer % 2000).with_for_update()).scalar_one()


def order_delivery(number):
    return carriers.get(f"{CARRIER}/deliveries/{number}", timeout=20).json()["receipt"]
