"""What a museum serves on Falcon's ASGI: visits in PostgreSQL by asyncpg, groups in Redis, a ticket office by httpx, and labels that a program prints."""
import asyncio
import gc
import os
import subprocess
import sys

import asyncpg
import falcon.asgi
import httpx
import redis.asyncio as redis

FAULT = os.environ.get("FAULT", "off")
HERE = os.path.dirname(os.path.abspath(__file__))


class House:
    """What all share: the pool, the store, the client of the ticket office, and the catalogue."""

    def __init__(self):
        self.pool = None
        self.store = redis.from_url("redis://" + os.environ["ADDR_REDIS"])
        connections = 2 if FAULT == "two-connections" else 100
        self.office = httpx.AsyncClient(base_url="http://" + os.environ["ADDR_OFFICE"], timeout=20,
                                        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections))
        self.catalogue = {number: {"number": number, "room": number % 90, "title": f"Picture {number}", "years": [1600 + number % 300, 1601 + number % 300]}
                          for number in range(160_000)}

    async def process_startup(self, scope, event):
        host, port = os.environ["ADDR_DB"].split(":")
        self.pool = await asyncpg.create_pool(host=host, port=int(port), user="shop", database="shop", min_size=8, max_size=8)

    async def process_shutdown(self, scope, event):
        await self.office.aclose()
        await self.pool.close()


class Visit:
    def __init__(self, house):
        self.house = house

    async def on_get(self, req, resp, number):
        row = await self.house.pool.fetchrow("select id, total_cents, status from orders where id = $1", number % 300_000)
        resp.media = {"visit": row["id"], "cents": row["total_cents"], "status": row["status"]}


class VisitsOfMember:
    def __init__(self, house):
        self.house = house

    async def on_get(self, req, resp, number):
        rows = await self.house.pool.fetch("select id, total_cents from orders where customer_id = $1 order by id desc limit 30", number % 1500)
        resp.media = [{"visit": row["id"], "cents": row["total_cents"]} for row in rows]


class Ticket:
    """Buys a ticket at the office, which takes its time."""

    def __init__(self, house):
        self.house = house

    async def on_post(self, req, resp, number):
        answer = await self.house.office.get(f"/tickets/{number}")
        resp.media = answer.json()


class Group:
    def __init__(self, house):
        self.house = house

    async def on_get(self, req, resp, number):
        resp.media = {"group": number, "asked": await self.house.store.incr(f"group:{number % 2000}")}


class Label:
    """Has the label of a picture printed by a program of the printer's maker."""

    def __init__(self, house):
        self.house = house

    async def on_post(self, req, resp, number):
        command = [sys.executable, "-S", "-E", os.path.join(HERE, "label.py"), str(number)]
        if FAULT == "run-on-loop":
            printed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        else:
            child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
            printed, _ = await child.communicate()
        resp.media = {"picture": number, "label": printed.decode()}


class Room:
    """The pictures of a room, of a catalogue in memory. With the fault what was used for it is collected at once."""

    def __init__(self, house):
        self.house = house

    async def on_get(self, req, resp, number):
        pictures = [self.house.catalogue[picture] for picture in range(number % 1000, 160_000, 8000)]
        resp.media = pictures
        if FAULT == "collect-each":
            gc.collect()


class Door:
    """Answers when somebody rings, or after five seconds."""

    async def on_get(self, req, resp, number):
        await asyncio.sleep(5)
        resp.media = {"door": number, "rang": False}


class Years:
    """What each picture has brought, from all visits: the ten best."""

    def __init__(self, house):
        self.house = house

    async def on_get(self, req, resp):
        rows = await self.house.pool.fetch("select product_id, sum(total_cents)::bigint as cents from orders group by product_id order by cents desc limit 10")
        resp.media = [{"picture": row["product_id"], "cents": row["cents"]} for row in rows]


class Health:
    async def on_get(self, req, resp):
        resp.text = "ok"


house = House()
app = falcon.asgi.App(middleware=[house])
app.add_route("/visits/{number:int}", Visit(house))
app.add_route("/members/{number:int}/visits", VisitsOfMember(house))
app.add_route("/visits/{number:int}/ticket", Ticket(house))
app.add_route("/groups/{number:int}", Group(house))
app.add_route("/pictures/{number:int}/label", Label(house))
app.add_route("/rooms/{number:int}", Room(house))
app.add_route("/doors/{number:int}/bell", Door())
app.add_route("/admin/years", Years(house))
app.add_route("/health", Health())
