"""The holiday flats of a coast on Litestar and uvicorn: flats in PostgreSQL by asyncpg, prices of agencies over HTTP, a ranking in memory."""

import asyncio
import contextlib
import os

import aiohttp
import asyncpg
import uvicorn
from litestar import Litestar, get, post

from ranking import Ranking

FAULT = os.environ.get("FAULT", "off")
NIGHTS = 40

ranking = Ranking(on_loop=FAULT == "job-on-loop")


@contextlib.asynccontextmanager
async def lifespan(app):
    host, port = os.environ["ADDR_DB"].rsplit(":", 1)
    async with (
        asyncpg.create_pool(host=host, port=int(port), user="shop", database="shop", min_size=12, max_size=12) as app.state.db,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(20), connector=aiohttp.TCPConnector(limit=0)) as app.state.agencies,
    ):
        keeper = asyncio.create_task(ranking.keep())
        yield
        keeper.cancel()


@get("/flats/{flat:int}")
async def show_flat(flat: int) -> dict:
    row = await app.state.db.fetchrow("select id, note, total_cents from orders where id = $1", flat % 300000)
    return {"flat": row["id"], "text": row["note"], "cents": row["total_cents"], "rank": ranking.of(flat)}


async def ask(path):
    async with app.state.agencies.get(f"http://{os.environ['ADDR_AGENCY']}/{path}") as response:
        return (await response.json())["cents"]


@get("/flats/{flat:int}/nights")
async def show_nights(flat: int) -> dict:
    """Shows what the next nights cost. The agency gives them in one list; with the fault each night is asked for, all at once."""
    if FAULT == "gather-all":
        cents = await asyncio.gather(*(ask(f"flats/{flat}/nights/{night}") for night in range(NIGHTS)))
        return {"flat": flat, "cents": sum(cents)}
    return {"flat": flat, "cents": await ask(f"flats/{flat}/nights?first=0&count={NIGHTS}")}


@post("/flats/{flat:int}/bookings")
async def book(flat: int) -> dict:
    paid = await app.state.db.fetchval("insert into payments (product_id, amount_cents, receipt) values ($1, 9900, 'flat') returning id", flat % 2000)
    return {"booking": paid}


@get("/news/{guest:int}")
async def wait_for_news(guest: int) -> dict:
    """Answers when there is news, or after five seconds."""
    await asyncio.sleep(5)
    return {"guest": guest, "news": None}


app = Litestar([show_flat, show_nights, book, wait_for_news], lifespan=[lifespan], openapi_config=None)

if __name__ == "__main__":
    host, port = os.environ["ADDR"].rsplit(":", 1)
    uvicorn.run(app, host=host, port=int(port), log_level="warning", access_log=False)
