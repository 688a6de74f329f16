from django.urls import path

from . import views

urlpatterns = [
    path("permits/<int:pk>", views.PermitView.as_view()),
    path("houses/<int:house>/permits", views.HouseView.as_view()),
    path("houses/<int:house>/owner", views.OwnerView.as_view()),
]
