from django.urls import path

from . import views

urlpatterns = [
    path("invoices/<int:invoice>", views.find_invoice),
    path("months/<int:month>/vat", views.vat_of_month),
    path("customers/<int:customer>/invoices", views.issue_invoice),
]
