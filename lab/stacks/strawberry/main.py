"""The catalogue of a fish market on Strawberry and uvicorn: orders in PostgreSQL, products in memory, GraphQL for the stalls' tills."""

import contextlib
import os

import strawberry
import uvicorn
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.routing import Mount
from strawberry.asgi import GraphQL
from strawberry.dataloader import DataLoader
from strawberry.extensions import ParserCache, ValidationCache

FAULT = os.environ.get("FAULT", "off")

db = AsyncConnectionPool(
    f"postgresql://shop@{os.environ['ADDR_DB']}/shop", min_size=4, max_size=12, open=False,
    kwargs={"autocommit": True, "row_factory": dict_row},
)
shelf = {}  # the products on sale, by number


async def rows(sql, *values):
    async with db.connection() as connection:
        return await (await connection.execute(sql, values)).fetchall()


@strawberry.type
class Product:
    id: int
    sku: str
    name: str
    price_cents: int
    stock: int


@strawberry.type
class Order:
    id: int
    quantity: int
    status: str
    product_id: strawberry.Private[int]

    @strawberry.field
    async def product(self, info: strawberry.Info) -> Product:
        if FAULT == "query-each":
            return Product(**(await rows("select id, sku, name, price_cents, stock from products where id = %s", self.product_id))[0])
        return await info.context["products"].load(self.product_id)


@strawberry.type
class Query:
    @strawberry.field
    async def order(self, id: int) -> Order | None:
        found = await rows("select id, quantity, status, product_id from orders where id = %s", id)
        return Order(**found[0]) if found else None

    @strawberry.field
    async def orders(self, customer: int) -> list[Order]:
        found = await rows("select id, quantity, status, product_id from orders where customer_id = %s order by id desc", customer)
        return [Order(**row) for row in found]

    @strawberry.field
    def on_sale(self, id: int) -> Product | None:
        return shelf.get(id)


async def load_products(ids):
    found = {row["id"]: Product(**row) for row in await rows("select id, sku, name, price_cents, stock from products where id = any(%s)", list(ids))}
    return [found[id] for id in ids]


class Endpoint(GraphQL):
    async def get_context(self, request, response):
        return {"request": request, "response": response, "products": DataLoader(load_products)}


@contextlib.asynccontextmanager
async def lifespan(app):
    await db.open(wait=True)
    shelf.update((row["id"], Product(**row)) for row in await rows("select id, sku, name, price_cents, stock from products"))
    yield
    await db.close()


# The tills send the same few documents again and again: what was parsed and found to be valid is kept.
extensions = [] if FAULT == "parse-each" else [ParserCache(maxsize=200), ValidationCache(maxsize=200)]
schema = strawberry.Schema(Query, extensions=extensions)
app = Starlette(routes=[Mount("/", Endpoint(schema))], lifespan=lifespan)

if __name__ == "__main__":
    host, port = os.environ["ADDR"].split(":")
    uvicorn.run(app, host=host, port=int(port), log_level="warning", access_log=False)
