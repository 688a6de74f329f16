"""A line for each request."""
import logging
import logging.handlers
import queue
import time

from django.conf import settings

log = logging.getLogger("permits")


def start():
    """Lines are sent by a thread of their own; with the fault by the thread of the request."""
    send = logging.handlers.HTTPHandler(settings.COLLECTOR, "/lines", method="POST")
    log.setLevel(logging.INFO)
    log.propagate = False
    if settings.FAULT == "log-over-http":
        log.addHandler(send)
        return
    lines = queue.Queue(10000)
    log.addHandler(logging.handlers.QueueHandler(lines))
    logging.handlers.QueueListener(lines, send).start()


def note_request(get_response):
    def middleware(request):
        began = time.monotonic()
        response = get_response(request)
        log.info("%s %s %d %.1f ms", request.method, request.path, response.status_code, (time.monotonic() - began) * 1e3)
        return response

    return middleware
