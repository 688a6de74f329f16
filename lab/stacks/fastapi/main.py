"""The shop on FastAPI and uvicorn: one process, one event loop."""
import os
from contextlib import asynccontextmanager

import httpx
import uvicorn
from fastapi import FastAPI
from psycopg_pool import AsyncConnectionPool, ConnectionPool

FAULT = os.environ.get("FAULT", "off")
host, port = os.environ["ADDR_DB"].split(":")
where = f"host={host} port={port} user=shop dbname=shop"
pool = AsyncConnectionPool(where, min_size=2 if FAULT == "pool-small" else 12, max_size=2 if FAULT == "pool-small" else 12, open=False, kwargs={"autocommit": True}, timeout=60)
plain = ConnectionPool(where, min_size=4, max_size=4, open=False, kwargs={"autocommit": True})
client = httpx.AsyncClient(timeout=20)


@asynccontextmanager
async def lifespan(app):
    await pool.open(wait=True)
    plain.open(wait=True)
    yield
    await pool.close()
    plain.close()


app = FastAPI(lifespan=lifespan)


async def one(query, *values):
    async with pool.connection() as db:
        return await (await db.execute(query, values)).fetchone()


@app.get("/orders/{order}")
async def find_order(order: int):
    return {"order": order, "found": await one("select customer_id, total_cents, status from orders where id = %s", order)}


@app.get("/customers/{customer}/turnover")
async def turnover(customer: int):
    if FAULT == "query-on-loop":
        with plain.connection() as db:  # the loop stands still until PostgreSQL answers
            cents = db.execute("select archived_turnover(%s)", (customer,)).fetchone()[0]
    else:
        cents = (await one("select archived_turnover(%s)", customer))[0]
    return {"cents": int(cents)}


@app.get("/quotes/{product}")
async def quote(product: int):
    return (await client.get(f"http://{os.environ['ADDR_SUPPLIER']}/quote/{product}")).json()


if __name__ == "__main__":
    own = os.environ["ADDR"].split(":")
    uvicorn.run(app, host=own[0], port=int(own[1]), access_log=False)
