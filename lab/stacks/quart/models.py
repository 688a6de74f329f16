"""The tables of the shop."""

from sqlalchemy import BigInteger
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    product_id: Mapped[int]
    total_cents: Mapped[int] = mapped_column(BigInteger)
    status: Mapped[str]
    note: Mapped[str]


class Payment(Base):
    __tablename__ = "payments"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    product_id: Mapped[int]
    amount_cents: Mapped[int] = mapped_column(BigInteger)
    receipt: Mapped[str]
