"""What a manager of flats serves on FastAPI: leases in PostgreSQL by SQLAlchemy's asyncio on asyncpg, sessions in Redis, a bank by httpx."""
import asyncio
import os
import zlib
from contextlib import asynccontextmanager

import httpx
import redis.asyncio as redis
from fastapi import Depends, FastAPI
from pydantic import BaseModel, ConfigDict
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import selectinload

from models import Deposit, Lease

FAULT = os.environ.get("FAULT", "off")
PAGE = 100

engine = create_async_engine(f"postgresql+asyncpg://shop@{os.environ['ADDR_DB']}/shop", pool_size=5, max_overflow=0, pool_timeout=20)
sessions = async_sessionmaker(engine, expire_on_commit=False)
store = redis.from_url("redis://" + os.environ["ADDR_REDIS"])
bank = httpx.AsyncClient(base_url="http://" + os.environ["ADDR_BANK"], timeout=20, limits=httpx.Limits(max_connections=None, max_keepalive_connections=100))


class LedgerLine(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: int
    customer_id: int
    product_id: int
    total_cents: int
    status: str
    note: str


class LeaseLine(BaseModel):
    lease: int
    flat: str
    cents: int


async def archive(text=b"a flat with two rooms, a kitchen and a view of the river; " * 15000):
    """Packs the day's letters each four seconds in a thread, which lets others run."""
    while True:
        await asyncio.sleep(4)
        await asyncio.to_thread(zlib.compress, text, 9)


@asynccontextmanager
async def lifespan(app):
    packing = asyncio.create_task(archive())
    yield
    packing.cancel()
    await bank.aclose()
    await store.aclose()
    await engine.dispose()


app = FastAPI(lifespan=lifespan)


async def session():
    async with sessions() as opened:
        yield opened


@app.get("/leases/{lease}")
async def find_lease(lease: int, db: AsyncSession = Depends(session)):
    found = await db.get(Lease, lease % 300_000)
    return {"lease": found.id, "cents": found.total_cents, "status": found.status}


@app.get("/tenants/{tenant}/leases", response_model=list[LeaseLine])
async def leases_of_tenant(tenant: int, db: AsyncSession = Depends(session)):
    """The last 50 leases of a tenant with their flats, which the fault loads one by one."""
    query = select(Lease).where(Lease.customer_id == tenant % 1500).order_by(Lease.id.desc()).limit(50)
    if FAULT != "flat-of-each":
        query = query.options(selectinload(Lease.flat))
    leases = (await db.scalars(query)).all()
    return [LeaseLine(lease=one.id, flat=(await one.awaitable_attrs.flat).name, cents=one.total_cents) for one in leases]


@app.get("/ledgers/{quarter}", response_model=list[LedgerLine])
async def ledger(quarter: int, db: AsyncSession = Depends(session)):
    """A page of a quarter's ledger; with the fault all of it."""
    first = quarter % 40 * 7000
    query = select(Lease).where(Lease.id >= first, Lease.id < first + 7000).order_by(Lease.id)
    if FAULT != "whole-quarter":
        query = query.limit(PAGE)
    return (await db.scalars(query)).all()


@app.post("/leases/{lease}/deposit")
async def pay_deposit(lease: int):
    """The bank is asked before the transaction; with the fault within it."""
    if FAULT == "bank-in-session":
        async with sessions.begin() as db:
            return await enter(db, lease, await reserve(lease, await db.get(Lease, lease % 300_000)))
    async with sessions() as db:
        found = await db.get(Lease, lease % 300_000)
    receipt = await reserve(lease, found)
    async with sessions.begin() as db:
        return await enter(db, lease, receipt)


async def reserve(lease, found):
    answer = await bank.get(f"/reservations/{lease}", params={"cents": found.total_cents})
    return answer.json()["receipt"]


async def enter(db, lease, receipt):
    db.add(Deposit(product_id=lease % 2000, amount_cents=90000, receipt=receipt))
    await db.flush()
    return {"lease": lease, "receipt": receipt}


@app.get("/visitors/{visitor}")
async def visitor(visitor: int):
    visits = await store.incr(f"visitor:{visitor % 5000}")
    return {"visitor": visitor, "visits": visits}


@app.get("/doors/{door}/bell")
async def bell(door: int):
    """Answers when somebody rings, or after five seconds."""
    await asyncio.sleep(5)
    return {"door": door, "rang": False}


@app.get("/admin/flats")
async def flats(db: AsyncSession = Depends(session)):
    """What each flat has brought, from all leases: the ten best."""
    cents = func.sum(Lease.total_cents)
    rows = await db.execute(select(Lease.product_id, cents).group_by(Lease.product_id).order_by(cents.desc()).limit(10))
    return [{"flat": flat, "cents": int(sum_)} for flat, sum_ in rows]


@app.get("/health")
async def health():
    return "ok"
