from django.db.transaction import non_atomic_requests
from django.urls import path

from . import views

urlpatterns = [
    path("permits/<int:pk>", non_atomic_requests(views.PermitView.as_view())),
    path("houses/<int:house>/permits", non_atomic_requests(views.HouseView.as_view())),
    path("houses/<int:house>/owner", views.OwnerView.as_view()),
]
