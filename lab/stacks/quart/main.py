"""The carts of a bicycle shop on Quart and Hypercorn: carts in PostgreSQL by SQLAlchemy's asyncio on asyncpg, letters by a post office over HTTP."""

import asyncio
import os
import zlib

import aiohttp
from hypercorn.asyncio import serve
from hypercorn.config import Config
from quart import Quart, jsonify
from sqlalchemy import select
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine

from letters import Letters
from models import Order, Payment

FAULT = os.environ.get("FAULT", "off")
REFUSED_AFTER = 6  # seconds in which a customer may pay otherwise

app = Quart(__name__)
refused = {}  # sessions of the carts whose card was refused


@app.before_serving
async def begin():
    app.engine = create_async_engine(f"postgresql+asyncpg://shop@{os.environ['ADDR_DB']}/shop", pool_size=12, max_overflow=0, pool_timeout=20)
    app.sessions = async_sessionmaker(app.engine, expire_on_commit=False)
    app.client = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(20), connector=aiohttp.TCPConnector(limit=0))
    app.letters = Letters(app.client, os.environ["ADDR_POST"], writers=1 if FAULT == "one-writer" else 8)


@app.after_serving
async def end():
    app.letters.close()
    await app.client.close()
    await app.engine.dispose()


@app.get("/carts/<int:cart>")
async def show_cart(cart):
    async with app.sessions() as session:
        order = await session.get(Order, cart % 300_000)
    return jsonify(cart=order.id, cents=order.total_cents, status=order.status, note=order.note)


def is_refused(cart):
    """One card in 12 is refused."""
    return zlib.crc32(b"card %d" % cart) % 12 == 7


@app.post("/carts/<int:cart>/payment")
async def pay(cart):
    """Pays a cart. Who is refused may pay otherwise for a while; with the fault the cart's session stays open for that."""
    session = app.sessions()
    order = (await session.execute(select(Order).where(Order.id == cart % 300_000))).scalar_one()
    if is_refused(cart):
        if FAULT == "refused-open":
            refused[cart] = session
            asyncio.get_running_loop().call_later(REFUSED_AFTER, lambda: asyncio.ensure_future(refused.pop(cart).close()))
        else:
            await session.close()
        return jsonify(cart=cart, refused=True), 402
    payment = Payment(product_id=order.product_id, amount_cents=order.total_cents, receipt="card")
    session.add(payment)
    await session.commit()
    await session.close()
    return jsonify(cart=cart, payment=payment.id)


@app.post("/carts/<int:cart>/letter")
async def send_letter(cart):
    return jsonify(cart=cart, receipt=await app.letters.send(cart))


@app.get("/carts/<int:cart>/offers")
async def wait_for_offers(cart):
    """Answers when there is an offer, or after five seconds."""
    await asyncio.sleep(5)
    return jsonify(cart=cart, offers=[])


if __name__ == "__main__":
    config = Config()
    config.bind = [os.environ["ADDR"]]
    config.loglevel = "WARNING"
    config.graceful_timeout = 1
    asyncio.run(serve(app, config))
