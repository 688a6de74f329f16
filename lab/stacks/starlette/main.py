"""The news of a region on Starlette and Hypercorn: articles in PostgreSQL, a front page in Redis, an archive of pictures over HTTP."""

import asyncio
import contextlib
import json
import os
from concurrent.futures import ThreadPoolExecutor

import redis.asyncio as redis
import requests
from hypercorn.asyncio import serve
from hypercorn.config import Config
from psycopg_pool import AsyncConnectionPool
from requests.adapters import HTTPAdapter
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

FAULT = os.environ.get("FAULT", "off")
PAGE_AGE = 2

FRONT_PAGE = """
    select product_id, count(*), sum(total_cents), max(placed_at)::text from orders
    group by product_id order by sum(total_cents) desc limit 60"""

db = AsyncConnectionPool(f"postgresql://shop@{os.environ['ADDR_DB']}/shop", min_size=4, max_size=12, open=False, kwargs={"autocommit": True})
cache = redis.from_url("redis://" + os.environ["ADDR_CACHE"])
archive = requests.Session()
archive.mount("http://", HTTPAdapter(pool_maxsize=64))
# Without threads of its own a program has asyncio's, which are four more than the CPUs.
threads = None if FAULT == "default-threads" else ThreadPoolExecutor(40, thread_name_prefix="archive")


@contextlib.asynccontextmanager
async def lifespan(app):
    await db.open(wait=True)
    await build_front_page()
    keeper = None if FAULT == "cache-stampede" else asyncio.create_task(renew_front_page())
    yield
    if keeper:
        keeper.cancel()
    await db.close()
    await cache.aclose()


async def renew_front_page():
    while True:
        await asyncio.sleep(PAGE_AGE)
        await build_front_page()


async def build_front_page():
    """Reads what is read most, and keeps it. It may be PAGE_AGE seconds old."""
    async with db.connection() as connection:
        rows = await (await connection.execute(FRONT_PAGE)).fetchall()
    page = json.dumps([{"article": article, "readers": readers, "cents": int(cents), "last": last} for article, readers, cents, last in rows]).encode()
    # A task renews the page in time; with the fault, the requests that miss it do.
    await cache.set("front-page", page, ex=PAGE_AGE if FAULT == "cache-stampede" else PAGE_AGE * 10)
    return page


async def front(request):
    page = await cache.get("front-page")
    if page is None:
        page = await build_front_page()
    return Response(page, media_type="application/json")


async def article(request):
    async with db.connection() as connection:
        row = await (await connection.execute("select id, note, total_cents from orders where id = %s", (request.path_params["article"],))).fetchone()
    return JSONResponse({"id": row[0], "text": row[1], "cents": row[2]} if row else {}, status_code=200 if row else 404)


async def picture(request):
    """Asks the archive by a client that blocks, on a thread."""
    loop = asyncio.get_running_loop()
    return JSONResponse(await loop.run_in_executor(threads, ask_archive, request.path_params["picture"]))


def ask_archive(picture):
    return archive.get(f"http://{os.environ['ADDR_ARCHIVE']}/pictures/{picture}", timeout=20).json()


app = Starlette(lifespan=lifespan, routes=[
    Route("/front", front),
    Route("/articles/{article:int}", article),
    Route("/pictures/{picture:int}", picture),
])

if __name__ == "__main__":
    config = Config()
    config.bind = [os.environ["ADDR"]]
    asyncio.run(serve(app, config))
