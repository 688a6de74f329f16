"""Letters to customers, which tasks take from a queue and hand to the post office, 60 ms each."""

import asyncio


class Letters:
    def __init__(self, client, address, writers):
        self.client = client
        self.url = f"http://{address}/letters/"
        self.queue = asyncio.Queue()
        self.tasks = [asyncio.create_task(self.write()) for _ in range(writers)]

    async def send(self, cart):
        """Puts a letter into the queue and waits until the post office has it."""
        sent = asyncio.get_running_loop().create_future()
        await self.queue.put((cart, sent))
        return await sent

    async def write(self):
        while True:
            cart, sent = await self.queue.get()
            try:
                async with self.client.get(f"{self.url}{cart}") as answer:
                    sent.set_result((await answer.json())["receipt"])
            except Exception as e:
                if not sent.done():
                    sent.set_exception(e)

    def close(self):
        for task in self.tasks:
            task.cancel()
