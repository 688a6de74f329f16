"""Deliveries in PostgreSQL: 300,000 of 1,500 orchards."""
import os

import asyncpg

FAULT = os.environ.get("FAULT", "off")


class Deliveries:
    async def open(self):
        host, port = os.environ["ADDR_DB"].split(":")
        self.pool = await asyncpg.create_pool(host=host, port=int(port), user="shop", database="shop", min_size=16, max_size=16)

    async def close(self):
        await self.pool.close()

    async def find(self, number):
        return dict(await self.pool.fetchrow("select id, product_id, total_cents, status from orders where id = $1", number % 300_000))

    async def of_orchard(self, number):
        """The last 30 deliveries with the names of the apples; with the fault each name is asked for by itself."""
        if FAULT != "name-of-each":
            rows = await self.pool.fetch("select o.id, o.total_cents, p.name from orders o join products p on p.id = o.product_id "
                                         "where o.customer_id = $1 order by o.id desc limit 30", number % 1500)
            return [dict(row) for row in rows]
        found = []
        for row in await self.pool.fetch("select id, total_cents, product_id from orders where customer_id = $1 order by id desc limit 30", number % 1500):
            name = await self.pool.fetchval("select name from products where id = $1", row["product_id"])
            found.append({"id": row["id"], "total_cents": row["total_cents"], "name": name})
        return found

    async def for_sheet(self, number, orchards):
        first = number % 1380
        return await self.pool.fetch("select id, product_id, quantity, total_cents, note from orders where customer_id between $1 and $2", first, first + orchards - 1)

    async def best_apples(self):
        rows = await self.pool.fetch("select product_id, sum(total_cents)::bigint as cents from orders group by product_id order by cents desc limit 10")
        return [dict(row) for row in rows]
