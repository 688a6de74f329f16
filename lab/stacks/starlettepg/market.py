"""Prices of the market in the city, which wants a token that is good for two seconds."""
import asyncio
import os
import time

import httpx

FAULT = os.environ.get("FAULT", "off")
GOOD_FOR = 2


class Market:
    async def open(self):
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
        self.prices = httpx.AsyncClient(base_url="http://" + os.environ["ADDR_MARKET"], timeout=20, limits=limits)
        self.tokens = httpx.AsyncClient(base_url="http://" + os.environ["ADDR_TOKENS"], timeout=20)
        self.lock = asyncio.Lock()
        await self.renew()
        if FAULT != "token-under-lock":
            self.renewing = asyncio.create_task(self.keep())

    async def close(self):
        await self.prices.aclose()
        await self.tokens.aclose()

    async def renew(self):
        answer = await self.tokens.get("/token")
        self.token, self.until = answer.json()["receipt"], time.monotonic() + GOOD_FOR

    async def keep(self):
        """Fetches a new token before the old one ends."""
        while True:
            await asyncio.sleep(GOOD_FOR / 2)
            await self.renew()

    async def current(self):
        """The token. With the fault the first who finds it too old fetches a new one, and all others wait for it."""
        if FAULT != "token-under-lock":
            return self.token
        async with self.lock:
            if time.monotonic() > self.until:
                await self.renew()
            return self.token

    async def price(self, apple):
        token = await self.current()
        answer = await self.prices.get(f"/apples/{apple}", headers={"Authorization": "Bearer " + token})
        return answer.json()
