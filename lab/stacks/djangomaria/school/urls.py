from django.urls import path

from . import views

urlpatterns = [
    path("lessons/<int:lesson>", views.find_lesson),
    path("pupils/<int:pupil>/lessons", views.lessons_of_pupil),
    path("pupils/<int:pupil>/login", views.log_in),
    path("pupils/<int:pupil>/hours", views.hours_of_pupil),
    path("teachers/<int:teacher>/calendar", views.calendar_of_teacher),
    path("exams/<int:exam>", views.find_exam),
    path("swaps/<int:swap>", views.swap_rooms),
    path("admin/rooms", views.rooms),
    path("health", views.health),
]
