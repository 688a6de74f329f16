"""Leases are orders of the shop, flats its products."""
from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.ext.asyncio import AsyncAttrs
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(AsyncAttrs, DeclarativeBase):
    pass


class Flat(Base):
    __tablename__ = "products"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class Lease(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int]
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id"))
    total_cents: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str]
    note: Mapped[str]
    flat: Mapped[Flat] = relationship()


class Deposit(Base):
    __tablename__ = "payments"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    product_id: Mapped[int]
    amount_cents: Mapped[int] = mapped_column(BigInteger)
    receipt: Mapped[str]
