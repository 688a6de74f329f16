"""Calendars of teachers, which take 20 ms, and the board of examiners, who serve four calls of 100 ms at a time."""
import os

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

FAULT = os.environ.get("FAULT", "off")


class Calendars:
    def __init__(self):
        self.session = requests.Session()
        self.session.mount("http://", HTTPAdapter(pool_maxsize=32))

    def of(self, teacher):
        return self.session.get(f"http://{os.environ['ADDR_CALENDARS']}/calendars/{teacher}", timeout=10).json()


class Board:
    """Is given time to answer; with the fault it is asked again, up to three times, when it has not answered within a quarter of a second."""

    def __init__(self):
        again = Retry(total=3, backoff_factor=0) if FAULT == "asked-again" else Retry(total=0)
        self.patience = 0.25 if FAULT == "asked-again" else 10
        self.session = requests.Session()
        self.session.mount("http://", HTTPAdapter(pool_maxsize=32, max_retries=again))

    def exam(self, number):
        try:
            return self.session.get(f"http://{os.environ['ADDR_BOARD']}/exams/{number}", timeout=self.patience).json()
        except requests.exceptions.ConnectionError:
            return {"exam": number, "mark": "not known yet"}
