"""A desk of traders on Tornado: quotes in Redis, exchanges over HTTP, and a feed of prices every second and a half."""
import asyncio
import io
import json
import os
import random
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import redis.asyncio as redis
import requests
from tornado.ioloop import PeriodicCallback
from tornado.locks import Condition
from tornado.web import Application, RequestHandler

FAULT = os.environ.get("FAULT", "off")
PAPERS = 14_000


class Desk:
    """What the handlers share."""

    def __init__(self):
        self.store = redis.from_url("redis://" + os.environ["ADDR_REDIS"], decode_responses=True, max_connections=1000)
        self.session = requests.Session()  # each exchange is asked with a connection of its pool
        self.session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=40))
        self.callers = ThreadPoolExecutor(max_workers=2 if FAULT == "few-callers" else 40, thread_name_prefix="exchange-caller")
        self.traded = Condition()
        self.prices = {}
        self.feed = b"<feed>" + b"".join(b'<paper id="%d" name="Paper %d"><bid>%d</bid><ask>%d</ask><at>2024-05-01T12:00:00Z</at></paper>' % (n, n, n % 977, n % 977 + 2) for n in range(PAPERS)) + b"</feed>"

    async def fill(self):
        async with self.store.pipeline(transaction=False) as pipe:
            for n in range(10_000):
                pipe.set(f"quote:{n}", json.dumps({"paper": n, "bid": n % 977}))
            await pipe.execute()

    async def read_feed(self):
        """Reads the prices of all papers, a piece at a time. With the fault all at once."""
        parser = ElementTree.XMLPullParser(events=("end",))
        piece = len(self.feed) if FAULT == "feed-on-loop" else 8192
        source = io.BytesIO(self.feed)
        while text := source.read(piece):
            parser.feed(text)
            for _, element in parser.read_events():
                if element.tag == "paper":
                    self.prices[int(element.get("id"))] = (int(element.find("bid").text), int(element.find("ask").text))
            await asyncio.sleep(0.001)

    def ask_exchange(self, paper):
        return self.session.get(f"http://{os.environ['ADDR_EXCHANGE']}/offers/{paper}", timeout=20).json()


class Handler(RequestHandler):
    def initialize(self, desk):
        self.desk = desk


class Quote(Handler):
    async def get(self, paper):
        self.set_header("Content-Type", "application/json")
        self.write(await self.desk.store.get("quote:" + paper) or "{}")


class Offer(Handler):
    async def get(self, paper):
        loop = asyncio.get_running_loop()
        self.write(await loop.run_in_executor(self.desk.callers, self.desk.ask_exchange, paper))


class Trade(Handler):
    """A trade wakes all who wait for one."""

    async def post(self, paper):
        await self.desk.store.incr("trades")
        self.desk.traded.notify_all()
        self.write({"paper": paper})


class Updates(Handler):
    """Waits for a trade, for seven seconds at most."""

    async def get(self, trader):
        seen = await self.desk.traded.wait(timeout=timedelta(seconds=7 + random.random()))
        self.write({"trader": trader, "traded": seen})


async def main():
    desk = Desk()
    await desk.fill()
    app = Application([
        (r"/quotes/(\d+)", Quote, {"desk": desk}),
        (r"/offers/(\d+)", Offer, {"desk": desk}),
        (r"/trades/(\d+)", Trade, {"desk": desk}),
        (r"/updates/(\d+)", Updates, {"desk": desk}),
    ], log_function=lambda handler: None)
    host, port = os.environ["ADDR"].split(":")
    app.listen(int(port), host)
    PeriodicCallback(desk.read_feed, 1500).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
