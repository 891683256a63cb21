"""Throughput of a transfer on this computer beside a bare client that writes and hashes the same.

`python -m tests.bench.download [--megabytes 200] [--rounds 7]`

A server in another process sends a file from memory. Transfer and bare client take turns, so that
both run in the same conditions; the figure is the median of the rounds' quotients. Both end with
fsync; `--bare-without-sync` leaves it out of the bare client.
"""

from __future__ import annotations

import argparse
import hashlib
import http.server  # noqa: TID251 - it is reached from this computer only
import multiprocessing
import os
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import httpx2

from app.models.hub.limiter import Limiter
from app.models.hub.source import Source
from app.models.hub.transfer import Terms, transfer
from app.net import Gate
from engines.cancel import CancelToken

BAR = 0.9
_BLOCK = bytes(range(256)) * 4096


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bare-without-sync", action="store_true")
    args = parser.parse_args()
    blocks = args.megabytes * 1_000_000 // len(_BLOCK)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_serve, args=(theirs, blocks), daemon=True)
    server.start()
    try:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            _compare(
                f"http://127.0.0.1:{ours.recv()}/file",
                blocks,
                args.rounds,
                not args.bare_without_sync,
                Path(folder),
            )
    finally:
        server.terminate()
        server.join()


def _compare(url: str, blocks: int, rounds: int, sync: bool, folder: Path) -> None:
    size = blocks * len(_BLOCK)
    digest = hashlib.sha256()
    for _ in range(blocks):
        digest.update(_BLOCK)
    source = Source(url, "bench/file", "file", size, digest.hexdigest())
    speeds: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        turns = (_hearth, _bare) if number % 2 else (_bare, _hearth)
        took = {turn: turn(source, folder / "file", sync) for turn in turns}
        hearth, bare = (size / took[turn] / 1e6 for turn in (_hearth, _bare))
        if number:  # the first round warms up
            speeds.append((hearth, bare))
            print(f"{hearth:7.0f} MB/s   bare {bare:7.0f} MB/s   {hearth / bare:.3f}")
    median = statistics.median(hearth / bare for hearth, bare in speeds)
    print(f"median of {rounds} rounds: {median:.3f} of the bare client (bar {BAR})")


def _hearth(source: Source, path: Path, sync: bool) -> float:
    gate = Gate(lambda connection: None, lambda: True)
    terms = Terms(Limiter())
    try:
        with gate.for_purpose("download a model"):
            client = gate.client
            began = time.perf_counter()
            transfer(client, source, path, terms, lambda step: None, CancelToken())
            return time.perf_counter() - began
    finally:
        gate.close()
        path.unlink()


def _bare(source: Source, path: Path, sync: bool) -> float:
    with httpx2.Client(trust_env=False) as client:
        began = time.perf_counter()
        digest = hashlib.sha256()
        with client.stream("GET", source.url) as response, path.open("wb") as file:
            for chunk in response.iter_raw():
                file.write(chunk)
                digest.update(chunk)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        assert digest.hexdigest() == source.checksum
        took = time.perf_counter() - began
    path.unlink()
    return took


def _serve(parent: Connection, blocks: int) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(blocks * len(_BLOCK)))
            self.end_headers()
            for _ in range(blocks):
                self.wfile.write(_BLOCK)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        parent.send(server.server_address[1])
        server.serve_forever()


if __name__ == "__main__":
    main()
