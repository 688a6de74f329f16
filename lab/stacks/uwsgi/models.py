"""The tables of the brewery: sales are orders of barrels, beers are products."""
from datetime import datetime

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)


class Sale(db.Model):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int]
    product_id: Mapped[int]
    quantity: Mapped[int]
    total_cents: Mapped[int]
    status: Mapped[str]
    placed_at: Mapped[datetime]


class Beer(db.Model):
    __tablename__ = "products"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    price_cents: Mapped[int]
    stock: Mapped[int]
