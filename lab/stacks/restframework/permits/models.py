from django.db import models


class Key(models.Model):
    """The key of an office that asks for permits."""

    secret = models.CharField(max_length=40, unique=True)
    office = models.CharField(max_length=60)
    last_used = models.DateTimeField(null=True)

    class Meta:
        db_table = "keys"


class Permit(models.Model):
    house = models.CharField(max_length=60)
    kind = models.CharField(max_length=20)
    state = models.CharField(max_length=20)
    fee_cents = models.IntegerField()
    filed_at = models.DateTimeField()

    class Meta:
        db_table = "permits"
