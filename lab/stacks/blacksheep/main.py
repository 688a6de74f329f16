"""The votes of a song contest on BlackSheep: songs in PostgreSQL by asyncpg, scores in Redis, a bank that takes payments over HTTPS."""

import asyncio
import os

import asyncpg
import httpx
import redis.asyncio as redis
import uvicorn
from blacksheep import Application, Content, Response, get, json, post

FAULT = os.environ.get("FAULT", "off")
SONGS = 30_000

app = Application()


class Clients:
    """What is open while the program runs."""

    db: asyncpg.Pool
    scores: redis.Redis
    bank: httpx.AsyncClient
    recount: asyncio.Task
    votes = 0


@app.on_start
async def open_clients(_):
    Clients.db = await asyncpg.create_pool(f"postgresql://shop@{os.environ['ADDR_DB']}/shop", min_size=4, max_size=12)
    Clients.scores = redis.from_url("redis://" + os.environ["ADDR_SCORES"], decode_responses=True)
    Clients.bank = bank_client()
    await fill_scores(Clients.scores)
    Clients.recount = asyncio.create_task(recount())


@app.on_stop
async def close_clients(_):
    Clients.recount.cancel()
    await Clients.bank.aclose()
    await Clients.scores.aclose()
    await Clients.db.close()


async def fill_scores(scores):
    """Keeps scores as a list of songs with a key for the score of each, and as a sorted set."""
    for first in range(0, SONGS, 5000):
        songs = range(first, first + 5000)
        async with scores.pipeline(transaction=False) as pipe:
            pipe.rpush("songs", *songs)
            pipe.mset({f"score:{song}": song * 7919 % 100_003 for song in songs})
            pipe.zadd("ranking", {str(song): song * 7919 % 100_003 for song in songs})
            await pipe.execute()


async def recount():
    """Sums up the votes of each city again and again; no request waits for it."""
    while True:
        await asyncio.sleep(3)
        Clients.votes = await Clients.db.fetchval("select sum(quantity) from orders where id < 30000")


@get("/songs/{int:song}")
async def song(song: int):
    """Looks a song up, with its score."""
    row = await Clients.db.fetchrow("select id, sku, name from products where id = $1", song % 2000)
    return json({"song": song, "name": row["name"], "score": await Clients.scores.get(f"score:{song % SONGS}")})


@get("/ranking")
async def ranking():
    """Lists the twenty songs with the highest scores. With the fault Redis sorts all of them for it."""
    if FAULT == "sort-in-redis":
        best = await Clients.scores.sort("songs", start=0, num=20, by="score:*", desc=True)
    else:
        best = await Clients.scores.zrange("ranking", 0, 19, desc=True)
    return json(best)


def bank_client():
    """Trusts whom the world trusts, and the bank."""
    trusted = httpx.create_ssl_context()
    trusted.load_verify_locations("bank.pem")
    return httpx.AsyncClient(verify=trusted, timeout=20, base_url="https://" + os.environ["ADDR_BANK"], limits=httpx.Limits(max_keepalive_connections=40))


@post("/votes/{int:song}")
async def vote(song: int):
    """Takes a vote, which the bank is paid for."""
    if FAULT == "client-each":
        async with bank_client() as bank:
            paid = await bank.get(f"/payments/{song}")
    else:
        paid = await Clients.bank.get(f"/payments/{song}")
    await Clients.scores.incrby(f"score:{song % SONGS}", 1)
    return json(paid.json())


@get("/results.csv")
async def results():
    """All payments of a product, which is slow by nature."""
    rows = await Clients.db.fetch("select id, customer_id, total_cents from orders where customer_id < 20")
    lines = "".join(f"{row[0]},{row[1]},{row[2]}\n" for row in rows)
    return Response(200, content=Content(b"text/csv", lines.encode()))


@get("/votes/{int:song}/next")
async def next_vote(song: int):
    """Waits up to five seconds for the next vote."""
    await asyncio.sleep(5)
    return json({"song": song, "votes": 0})


if __name__ == "__main__":
    host, port = os.environ["ADDR"].rsplit(":", 1)
    uvicorn.run(app, host=host, port=int(port), log_level="warning", access_log=False)
