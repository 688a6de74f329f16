from django.db import models


class Customer(models.Model):
    name = models.TextField()
    city = models.TextField()

    class Meta:
        db_table = "customers"
        managed = False


class Invoice(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.DO_NOTHING)
    number = models.BigIntegerField()
    month = models.IntegerField()
    net = models.DecimalField(max_digits=12, decimal_places=2)
    vat = models.DecimalField(max_digits=4, decimal_places=2)
    signature = models.TextField()

    class Meta:
        db_table = "invoices"
        managed = False


class NumberRange(models.Model):
    name = models.TextField(primary_key=True)
    next = models.BigIntegerField()

    class Meta:
        db_table = "number_ranges"
        managed = False
