import os
from collections import defaultdict
from decimal import Decimal

import requests
from django.db import connection, transaction
from django.http import JsonResponse
from django.views.decorators.http import require_POST

from .models import Invoice, NumberRange

FAULT = os.environ.get("FAULT", "off")
signer = requests.Session()
signer.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=16))


def find_invoice(request, invoice):
    found = Invoice.objects.select_related("customer").get(id=invoice)
    return JsonResponse({"number": found.number, "customer": found.customer.name, "net": str(found.net)})


def vat_of_month(request, month):
    """What is owed to the tax office for a month, by rate."""
    if FAULT == "sums-in-python":
        owed = defaultdict(Decimal)
        for invoice in Invoice.objects.filter(month=month):
            owed[invoice.vat] += (invoice.net * invoice.vat / 100).quantize(Decimal("0.01"))
        return JsonResponse({str(rate): str(vat) for rate, vat in owed.items()})
    with connection.cursor() as cursor:
        cursor.execute("select vat, owed from vat_of_months where month = %s", [month])
        return JsonResponse({str(rate): str(vat) for rate, vat in cursor.fetchall()})


@require_POST
def issue_invoice(request, customer):
    """Issues an invoice with the next number, and the signature that the tax office asks for."""
    if FAULT != "number-range":
        signature = sign(customer)
        with transaction.atomic():
            number = next_number()
            store(customer, number, signature)
    else:
        with transaction.atomic():
            number = next_number()
            signature = sign(number)  # all others wait for the row of the range meanwhile
            store(customer, number, signature)
    return JsonResponse({"number": number})


def next_number():
    numbers = NumberRange.objects.select_for_update().get(name="invoices")
    numbers.next += 1
    numbers.save(update_fields=["next"])
    return numbers.next


def sign(what):
    answer = signer.get(f"http://{os.environ['ADDR_SIGNER']}/sign/{what}", timeout=20)
    return answer.json()["receipt"]


def store(customer, number, signature):
    Invoice.objects.create(customer_id=customer, number=number, month=48, net=Decimal("100.00"), vat=Decimal("19.00"), signature=signature)
