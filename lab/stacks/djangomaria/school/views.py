import hashlib
import os
import time

from django.core.cache import cache
from django.db import OperationalError, transaction
from django.db.models import Count, Sum
from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from .models import Lesson, Room
from .partners import Board, Calendars

FAULT = os.environ.get("FAULT", "off")
DEADLOCK = 1213  # ER_LOCK_DEADLOCK
calendars = Calendars()
board = Board()


def find_lesson(request, lesson):
    found = Lesson.objects.select_related("room").get(id=1 + lesson % 299_999)
    return JsonResponse({"lesson": found.id, "room": found.room.name, "cents": found.cents})


def lessons_of_pupil(request, pupil):
    lessons = Lesson.objects.filter(pupil=pupil % 1500).select_related("room").order_by("-id")[:30]
    return JsonResponse({"lessons": [{"lesson": one.id, "room": one.room.name, "cents": one.cents} for one in lessons]})


@require_POST
def log_in(request, pupil):
    """Checks a password, which takes some 50 ms on purpose."""
    key = hashlib.pbkdf2_hmac("sha256", b"password of %d" % pupil, b"salt", 90_000)
    return JsonResponse({"pupil": pupil, "token": key[:8].hex()})


def hours_of_pupil(request, pupil):
    """How much a pupil has paid for, kept for ten minutes."""
    pupil %= 1500
    cents = cache.get_or_set(f"hours:{pupil}", lambda: Lesson.objects.filter(pupil=pupil).aggregate(cents=Sum("cents"))["cents"], 600)
    return JsonResponse({"pupil": pupil, "cents": cents})


def calendar_of_teacher(request, teacher):
    return JsonResponse(calendars.of(teacher))


def find_exam(request, exam):
    return JsonResponse(board.exam(exam))


@require_POST
def swap_rooms(request, swap):
    """Swaps two rooms, a hall and its foyer, of which the school has two. A swap that MariaDB has ended is tried again later."""
    hall = 1 + swap // 2 % 2 * 2
    rooms = [hall, hall + 1] if swap % 2 else [hall + 1, hall]
    if FAULT != "swaps-cross":
        rooms.sort()
    for attempt in range(1, 6):
        try:
            return JsonResponse({"swap": swap, "rooms": exchange(rooms), "attempts": attempt})
        except OperationalError as e:
            if e.args[0] != DEADLOCK or attempt == 5:
                raise
            time.sleep(0.35 * attempt)


@transaction.atomic
def exchange(rooms):
    """Locks one room, asks whether it is free, and locks the other."""
    first = Room.objects.select_for_update().get(id=rooms[0])
    calendar = calendars.of(first.id)
    second = Room.objects.select_for_update().get(id=rooms[1])
    for room in (first, second):
        room.stock -= 1
        room.save(update_fields=["stock"])
    return [first.name, second.name, calendar["receipt"]]


def rooms(request):
    """The rooms in which most lessons are, from all lessons."""
    busiest = Lesson.objects.values("room").annotate(lessons=Count("id")).order_by("-lessons")[:10]
    return JsonResponse({"rooms": list(busiest)})


def health(request):
    return HttpResponse("ok")
