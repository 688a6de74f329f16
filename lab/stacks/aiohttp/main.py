"""Tracking of parcels on aiohttp: sessions in Redis, carriers over HTTP at names of a zone."""
import asyncio
import os
import time

import redis.asyncio as redis
from aiohttp import ClientSession, ClientTimeout, TCPConnector, web
from aiohttp.resolver import AsyncResolver

FAULT = os.environ.get("FAULT", "off")
routes = web.RouteTableDef()
store = web.AppKey("store", redis.Redis)
client = web.AppKey("client", ClientSession)


@routes.get("/parcels/{parcel}")
async def parcel(request):
    where = await request.app[store].get("parcel:" + request.match_info["parcel"])
    return web.json_response({"where": where})


@routes.get("/arrivals/{parcel}")
async def arrival(request):
    """Asks the carrier, whose gateways change their addresses: its name is looked up for each call."""
    port = os.environ["ADDR_CARRIER"].split(":")[1]
    async with request.app[client].get(f"http://gateway.carrier.internal:{port}/arrival/{request.match_info['parcel']}") as answer:
        return web.json_response(await answer.json())


@routes.get("/duties/{parcel}")
async def duty(request):
    """Asks the customs, who refuse some calls: a quarter of a second later they answer."""
    for attempt in range(5):
        async with request.app[client].get(f"http://{os.environ['ADDR_CUSTOMS']}/duty/{request.match_info['parcel']}") as answer:
            if answer.status != 503:
                return web.json_response(await answer.json())
        if FAULT == "sleep-on-loop":
            time.sleep(0.25)
        else:
            await asyncio.sleep(0.25)
    raise web.HTTPServiceUnavailable()


async def connect(app):
    app[store] = redis.from_url("redis://" + os.environ["ADDR_REDIS"], decode_responses=True)
    async with app[store].pipeline(transaction=False) as fill:
        for n in range(20_000):
            fill.set(f"parcel:{n}", f"depot {n % 70}")
        await fill.execute()
    host, port = os.environ["ADDR_NAMES"].split(":")
    names = AsyncResolver(nameservers=[host], udp_port=int(port))
    app[client] = ClientSession(timeout=ClientTimeout(total=20), connector=TCPConnector(resolver=names, use_dns_cache=False, force_close=True, limit=0))
    yield
    await app[client].close()
    await app[store].aclose()


def main():
    app = web.Application()
    app.add_routes(routes)
    app.cleanup_ctx.append(connect)
    host, port = os.environ["ADDR"].split(":")
    web.run_app(app, host=host, port=int(port), access_log=None, print=None, shutdown_timeout=1)


if __name__ == "__main__":
    main()
