"""Lessons are orders of the shop, rooms its products."""
from django.db import models


class Room(models.Model):
    name = models.CharField(max_length=60)
    stock = models.IntegerField()

    class Meta:
        db_table = "products"
        managed = False


class Lesson(models.Model):
    pupil = models.IntegerField(db_column="customer_id")
    room = models.ForeignKey(Room, on_delete=models.DO_NOTHING, db_column="product_id")
    cents = models.BigIntegerField(db_column="total_cents")
    note = models.CharField(max_length=120)

    class Meta:
        db_table = "orders"
        managed = False
