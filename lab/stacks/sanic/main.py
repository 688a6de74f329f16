"""The lost property of an airport on Sanic: things and their histories in Redis, airlines over HTTP."""

import json
import os

import redis.asyncio as redis
import requests
from aiohttp import ClientSession, ClientTimeout, TCPConnector
from requests.adapters import HTTPAdapter
from sanic import Sanic
from sanic import json as answer

FAULT = os.environ.get("FAULT", "off")
HOST, PORT = os.environ["ADDR"].split(":")
AIRLINES = "http://" + os.environ["ADDR_AIRLINES"]
THINGS = 4000
BELTS = 8
STEPS = 40_000

app = Sanic("property")
blocking = requests.Session()
blocking.mount("http://", HTTPAdapter(pool_maxsize=64))


@app.before_server_start
async def connect(app, _):
    app.ctx.redis = redis.from_url("redis://" + os.environ["ADDR_REDIS"], max_connections=64)
    app.ctx.airlines = ClientSession(timeout=ClientTimeout(total=20), connector=TCPConnector(limit=64))
    async with app.ctx.redis.pipeline(transaction=False) as fill:
        for thing in range(THINGS):
            fill.set(f"thing:{thing}", json.dumps({"thing": thing, "kind": ("bag", "coat", "phone")[thing % 3], "belt": thing % BELTS}))
        await fill.execute()
    for belt in range(BELTS):
        steps = [f"step {step} of belt {belt}: scanned by gate {step % 31}" for step in range(STEPS)]
        await app.ctx.redis.delete(f"belt:{belt}")
        await app.ctx.redis.rpush(f"belt:{belt}", *steps)


@app.after_server_stop
async def disconnect(app, _):
    await app.ctx.airlines.close()
    await app.ctx.redis.aclose()


@app.get("/things/<thing:int>")
async def find(request, thing):
    found = await app.ctx.redis.get(f"thing:{thing % THINGS}")
    return answer(json.loads(found))


@app.get("/belts/<belt:int>")
async def history(request, belt):
    """The last ten steps of a belt."""
    if FAULT == "whole-list":
        steps = (await app.ctx.redis.lrange(f"belt:{belt % BELTS}", 0, -1))[-10:]
    else:
        steps = await app.ctx.redis.lrange(f"belt:{belt % BELTS}", -10, -1)
    return answer([step.decode() for step in steps])


@app.get("/owners/<thing:int>")
async def owner(request, thing):
    """Whose thing it is, as the airline says."""
    if FAULT == "requests-on-loop":
        return answer(blocking.get(f"{AIRLINES}/bags/{thing}", timeout=20).json())
    async with app.ctx.airlines.get(f"{AIRLINES}/bags/{thing}") as response:
        return answer(await response.json())


if __name__ == "__main__":
    app.run(HOST, int(PORT), single_process=True, access_log=False, motd=False)
