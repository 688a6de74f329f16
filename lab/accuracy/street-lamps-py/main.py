"""Street lamps of a town, and reports of streets. With FAULT=0 reports have a thread of their own."""

import asyncio
import os
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor

LAMPS = 12_000
STREETS = 60


def open_town():
    town = sqlite3.connect(":memory:", check_same_thread=False)
    town.execute("CREATE TABLE lamps (id INTEGER PRIMARY KEY, street INTEGER, note TEXT, watts INTEGER, day INTEGER)")
    town.executemany(
        "INSERT INTO lamps VALUES (?, ?, ?, ?, ?)",
        ((i, i % STREETS, f"lamp {i} of the series {i % 97}, glass {i % 13}", 20 + i % 41, i % 30) for i in range(LAMPS)),
    )
    town.commit()
    return town


town = open_town()
report_town = open_town()
reporters = ThreadPoolExecutor(1, thread_name_prefix="reporter") if os.environ.get("FAULT") == "0" else None


def find_lamp(number):
    row = town.execute("SELECT note, watts FROM lamps WHERE id = ?", (number,)).fetchone()
    return f"{row[0]}, {row[1]} W" if row else "no such lamp"


def report_street(street):
    """Counts for each lamp of a street the lamps of the town that burn brighter on the same day."""
    rows = report_town.execute(
        "SELECT id, (SELECT count(*) FROM lamps other WHERE other.day = lamps.day AND other.watts > lamps.watts)"
        " FROM lamps WHERE street = ? ORDER BY id",
        (street,),
    ).fetchall()
    return f"street {street}: " + ", ".join(f"lamp {lamp} before {count}" for lamp, count in rows)


async def answer(path):
    kind, number = path.strip("/").split("/")
    if kind == "lamp":
        return find_lamp(int(number))
    if reporters is None:
        return report_street(int(number))
    return await asyncio.get_running_loop().run_in_executor(reporters, report_street, int(number))


async def talk(reader, writer):
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            body = (await answer(line.split()[1].decode()) + "\n").encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main():
    host, port = os.environ["ADDR"].rsplit(":", 1)
    server = await asyncio.start_server(talk, host, int(port), backlog=256)
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
    await end.wait()
    server.close()


asyncio.run(main())
