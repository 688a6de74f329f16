"""Sends receipts by the post office's service. Each is confirmed to whom it was asked of."""
import asyncio
import os

import httpx

FAULT = os.environ.get("FAULT", "off")


class Mailer:
    def open(self):
        limits = httpx.Limits(max_connections=40, max_keepalive_connections=40)
        self.post = httpx.AsyncClient(base_url="http://" + os.environ["ADDR_POST"], timeout=20, limits=limits)
        self.letters = asyncio.Queue()
        self.senders = [asyncio.create_task(self.deliver()) for _ in range(1 if FAULT == "one-sender" else 20)]

    async def send(self, delivery):
        sent = asyncio.get_running_loop().create_future()
        await self.letters.put((delivery, sent))
        return await sent

    async def deliver(self):
        while True:
            delivery, sent = await self.letters.get()
            try:
                answer = await self.post.get(f"/receipts/{delivery}")
                sent.set_result(answer.json())
            except Exception as err:
                sent.set_exception(err)
