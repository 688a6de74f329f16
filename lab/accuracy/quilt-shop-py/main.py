"""A quilt shop: what quilts cost, and packers who send them out."""

import http.server
import json
import os
import queue
import socket
import sqlite3
import threading
import time
import zlib

QUILTS = 400
orders = queue.Queue()
book = threading.Lock()
shop = sqlite3.connect(":memory:", check_same_thread=False)


def open_shop():
    shop.execute("CREATE TABLE quilts (id INTEGER PRIMARY KEY, name TEXT, patches INTEGER, price INTEGER)")
    shop.executemany(
        "INSERT INTO quilts VALUES (?, ?, ?, ?)",
        [(i, f"quilt {i}", 40 + i % 90, 120 + i * 7 % 300) for i in range(QUILTS)],
    )
    shop.commit()


def pack():
    """Packs what was ordered. Tissue paper is slow."""
    while True:
        number = orders.get()
        time.sleep(0.02)
        with book:
            shop.execute("UPDATE quilts SET patches = patches + 1 WHERE id = ?", (number,))


def archive():
    """Archives the order book now and then. zlib computes without the interpreter's lock."""
    pages = b"".join(b"order %d of a quilt with %d patches\n" % (i, i * 37 % 901) for i in range(20_000))
    while True:
        time.sleep(3)
        zlib.compress(pages, 6)


class Counter(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 4096  # the head and the body of a response go together
    disable_nagle_algorithm = True

    def do_GET(self):
        number = int(self.path.rsplit("/", 1)[1])
        with book:
            row = shop.execute("SELECT name, patches, price FROM quilts WHERE id = ?", (number,)).fetchone()
        if row is None:
            self.send_error(404)
            return
        if number % 8 == 0:
            orders.put(number)
        body = json.dumps(dict(zip(("name", "patches", "price"), row))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Shop(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    address_family = socket.AF_INET


open_shop()
for _ in range(6):
    threading.Thread(target=pack, name="packer", daemon=True).start()
threading.Thread(target=archive, name="archivist", daemon=True).start()
host, port = os.environ["ADDR"].rsplit(":", 1)
Shop((host, int(port)), Counter).serve_forever()
