"""How many document pages a second `karat serve` sends on loopback, and whether any is refused.

    python bench/serve.py ARCHIVE --rate 200 --seconds 10

A document page is what a browser asks for when it opens a text: the board, the cases of the dataset and a block of
texts. Requests are sent at a steady rate from a process of their own; the report has what came back and how late.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections import Counter


async def ask(port: int, path: str, late: list[float], statuses: Counter[int], due: float) -> None:
    """One request on a connection of its own, timed from when it was due."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"GET {path} HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n".encode()
    )
    data = await reader.read()
    writer.close()
    statuses[int(data[9:12])] += 1
    late.append(time.perf_counter() - due)


async def load(port: int, paths: list[str], rate: int, seconds: int) -> None:
    late: list[float] = []
    statuses: Counter[int] = Counter()
    start = time.perf_counter()
    tasks = []
    for number in range(rate * seconds):
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(ask(port, paths[number % len(paths)], late, statuses, due)))
    failed = sum(isinstance(one, BaseException) for one in await asyncio.gather(*tasks, return_exceptions=True))
    taken = time.perf_counter() - start
    late.sort()
    print(f"{len(late) / taken:.0f} requests a second for {taken:.1f} s; replies {dict(statuses)}, failed {failed}")
    print(f"median {1000 * late[len(late) // 2]:.1f} ms, 99 % {1000 * late[int(len(late) * 0.99)]:.1f} ms")


def main() -> None:
    import http.client
    import json

    parser = argparse.ArgumentParser()
    parser.add_argument("archive")
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=10)
    given = parser.parse_args()
    command = [sys.executable, "-m", "karat", "serve", given.archive, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline().rpartition(":")[2].partition("/")[0])
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/api/pieces")
            names = json.loads(connection.getresponse().read())["pieces"]
            paths = ["/", *(f"/api/pieces/{name}" for name in names if name.startswith(("board", "cases", "texts")))]
            for path in paths:  # each is made once
                connection.request("GET", path)
                connection.getresponse().read()
            asyncio.run(load(port, paths, given.rate, given.seconds))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
