"""Throughput of `karat serve` on loopback: document pages per second, refused requests and delays.

    python bench/serve.py ARCHIVE --rate 200 --seconds 10

A document page is what a browser requests to open a text: the leaderboard, the cases of the dataset and a block of
texts. A separate process sends requests at a steady rate. The report counts the responses and their delays.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections import Counter


async def send_request(port: int, path: str, delays: list[float], statuses: Counter[int], due: float) -> None:
    """Send one request on a new connection; append its delay since its scheduled time `due`, and count its status."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"GET {path} HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n".encode()
    )
    data = await reader.read()
    writer.close()
    statuses[int(data[9:12])] += 1
    delays.append(time.perf_counter() - due)


async def send_requests(port: int, paths: list[str], rate: int, seconds: int) -> None:
    """Send `rate` requests per second for some seconds, each path in turn, and print the statuses and delays."""
    delays: list[float] = []
    statuses: Counter[int] = Counter()
    start = time.perf_counter()
    tasks = []
    for number in range(rate * seconds):
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(send_request(port, paths[number % len(paths)], delays, statuses, due)))
    failed = sum(isinstance(result, BaseException) for result in await asyncio.gather(*tasks, return_exceptions=True))
    taken = time.perf_counter() - start
    delays.sort()
    print(f"{len(delays) / taken:.0f} requests a second for {taken:.1f} s; responses {dict(statuses)}, failed {failed}")
    print(f"median {1000 * delays[len(delays) // 2]:.1f} ms, 99 % {1000 * delays[int(len(delays) * 0.99)]:.1f} ms")


def main() -> None:
    """Start `karat serve` on an archive, request each resource once, then measure and stop the server."""
    import http.client
    import json

    parser = argparse.ArgumentParser()
    parser.add_argument("archive")
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    command = [sys.executable, "-m", "karat", "serve", options.archive, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline().rpartition(":")[2].partition("/")[0])
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/api/resources")
            names = json.loads(connection.getresponse().read())["resources"]
            paths = [
                "/",
                *(f"/api/resources/{name}" for name in names if name.startswith(("leaderboard", "cases", "texts"))),
            ]
            for path in paths:  # so that each is built before the measurement
                connection.request("GET", path)
                connection.getresponse().read()
            asyncio.run(send_requests(port, paths, options.rate, options.seconds))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
