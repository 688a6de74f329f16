"""The insurer and the laboratory, over HTTP and HTTPS."""
import os
import ssl

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

FAULT = os.environ.get("FAULT", "off")


class Insurer:
    """Says at once for one call in five that it is busy. Covers are then said to be unknown; with the fault it is asked again, each time later."""

    def __init__(self):
        again = Retry(total=6, backoff_factor=0.4, status_forcelist=[503], raise_on_status=False) if FAULT == "retries-later" else Retry(total=0)
        self.session = requests.Session()
        self.session.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=32, max_retries=again))
        self.address = os.environ["ADDR_INSURER"]

    def cover(self, visit):
        answer = self.session.get(f"http://{self.address}/covers/{visit}", timeout=10)
        if answer.status_code == 503:
            return {"visit": visit, "cover": "unknown"}
        return {"visit": visit, "cover": answer.json()["cents"]}


class Pinned(HTTPAdapter):
    """Trusts the laboratory's own certificate, too, which no authority has signed."""

    def init_poolmanager(self, *args, **kwargs):
        context = ssl.create_default_context(cafile=requests.certs.where())
        context.load_verify_locations(os.environ["LABORATORY_CA"])
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        super().init_poolmanager(*args, ssl_context=context, **kwargs)


class Laboratory:
    """Is in another city, and asked over TLS by one session; with the fault by a new one for each call, with its own connection."""

    def __init__(self):
        self.session = self._open()
        self.address = os.environ["ADDR_LABORATORY"]

    @staticmethod
    def _open():
        session = requests.Session()
        session.mount("https://", Pinned(pool_connections=1, pool_maxsize=32))
        return session

    def results(self, visit):
        url = f"https://{self.address}/results/{visit}"
        if FAULT == "session-each":
            with self._open() as session:
                return session.get(url, timeout=10).json()
        return self.session.get(url, timeout=10).json()
