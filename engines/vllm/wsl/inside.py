"""Hearth's helper program inside WSL2, which is the main program of the file that `pack` makes.

Its argument is "guard", which runs `engines.vllm.guardian`, or "serve". With "serve", orders come
on standard input, one line of JSON each: {"do": name, …}. The answers are JSON lines too: {"line":
text} for each line that a command prints, and finally {"done": value} or {"failed": {"status":
number, "lines": [text, …]}}. Empty lines on the input are signs of life. The end of the input, or a
minute without a line, means that Hearth is gone: the current order ends with every process that it
started, and unfinished files are removed.

Uses the standard library only.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sys
import threading
import time
import zipfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from engines.cancel import CancelToken
from engines.errors import Cancelled, UserError
from engines.private import OTHERS
from engines.vllm.leftovers import outlive, reap, settle
from engines.vllm.provision.child import CommandFailed
from engines.vllm.provision.environment import LocalMaker
from engines.vllm.provision.exclusive import exclusive
from engines.vllm.provision.home import EngineHome, worker_folder
from engines.vllm.provision.lock import Lock
from engines.vllm.provision.users import in_use
from engines.vllm.scratch import make_scratch, runs_folder

_ROOT: Final = ".local/share/hearth/engines"
"""Folder for engines in the user's home."""

_SILENCE_S: Final = 60.0
_CHUNK: Final = 1 << 16


def main() -> int:
    """Carry out orders until the input ends."""
    if sys.argv[1] == "guard":
        from engines.vllm import guardian

        return guardian.main()
    os.umask(OTHERS)
    reader = _StdinReader()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        # On another thread, because the main thread can hold a lock at this moment.
        signal.signal(number, lambda *_: threading.Thread(target=reader.end).start())
    for listen in (reader.listen, reader.watch):
        threading.Thread(target=listen, daemon=True).start()
    with ExitStack() as stack:
        commands = _Commands(Path.home() / _ROOT, reader.cancel, stack)
        stack.callback(commands.clear_up)
        try:
            _say({"done": sys.argv[0]})
            while (order := reader.orders.get()) is not None:
                _carry_out(commands, order)
        except Cancelled:
            return 0
    return 0


class _StdinReader:
    """Reads orders, and notices while one is carried out that Hearth is gone.

    Attributes:
        orders: The orders; None is the last one.
    """

    def __init__(self) -> None:
        self.cancel = CancelToken()
        self.orders: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._heard = time.monotonic()

    def listen(self) -> None:
        """Read the input on a thread, without Python's buffer, which would block an abrupt end."""
        rest = b""
        while data := os.read(0, _CHUNK):
            self._heard = time.monotonic()
            *lines, rest = (rest + data).split(b"\n")
            for line in filter(None, lines):
                self.orders.put(json.loads(line))
        self.end()

    def watch(self) -> None:
        """End the work after a long silence from Hearth; runs on a thread."""
        while time.monotonic() - self._heard < _SILENCE_S:
            time.sleep(_SILENCE_S / 20)
        self.end()

    def end(self) -> None:
        """Cancel the current order, and end the queue of orders."""
        self.cancel.cancel()
        self.orders.put(None)


def _say(message: dict[str, Any]) -> None:
    """Write a message. Raises Cancelled if nobody reads it."""
    try:
        os.write(1, json.dumps(message).encode() + b"\n")
    except OSError as error:
        raise Cancelled from error


def _carry_out(commands: _Commands, order: dict[str, Any]) -> None:
    try:
        done = getattr(commands, order.pop("do"))(**order)
    except CommandFailed as error:
        _say({"failed": {"status": error.status, "lines": error.lines}})
    except (OSError, UserError) as error:
        _say({"failed": {"status": 1, "lines": [str(error)]}})
    else:
        _say({"done": done})


class _Commands:
    """The orders that can be given, as methods.

    Args:
        root: Hearth's folder for engines.
        stack: Keeps locks for as long as the program runs.
    """

    def __init__(self, root: Path, cancel: CancelToken, stack: ExitStack) -> None:
        self._home = EngineHome(root / "vllm")
        self._workers = worker_folder(root / "vllm")
        self._cancel = cancel
        self._stack = stack
        self._maker: LocalMaker | None = None

    def begin(self, lock: dict[str, Any], files: str, tool: str) -> None:
        """Begin an environment.

        Args:
            files: Folder of its wheels.
            tool: Name of uv's wheel in that folder.
        """
        pythons = tuple((int(major), int(minor)) for major, minor in lock["pythons"])
        parsed_lock = Lock(**(lock | {"pythons": pythons, "files": ()}))
        lock_descriptor = self._stack.enter_context(
            exclusive(self._home.root, lambda: None, self._cancel)
        )
        self._home.forget_work()
        uv = _unpacked(Path(files) / tool, "uv", self._home.work / "bin")
        self._maker = LocalMaker(
            self._home, parsed_lock, Path(files), str(uv), lock_descriptor, self._cancel
        )

    def create(self, python: list[int]) -> None:
        self._current_maker.create((python[0], python[1]))

    def fill(self) -> None:
        self._current_maker.fill()

    def fetch_kernels(self) -> None:
        self._current_maker.fetch_kernels(lambda line: _say({"line": line}))

    def test(self) -> None:
        self._current_maker.test()

    def finish(self) -> dict[str, Any]:
        """Finish the environment, and return its facts, including its folder and size."""
        finished = self._current_maker.finish()
        self._maker = None
        self._home.forget_work()
        return asdict(finished) | {"folder": str(finished.folder)}

    def remove(self, names: list[str]) -> None:
        """Remove environments that exist; after the last one, also remove the workers' folder."""
        with exclusive(self._home.root, lambda: None, self._cancel):
            for name in names:
                folder = self._home.versions / Path(name).name
                if folder.exists():
                    shutil.rmtree(folder)
            self._home.forget_work()
            if not self._home.installed():
                shutil.rmtree(self._workers, ignore_errors=True)

    def used(self, folder: str) -> bool:
        """Return whether a process uses an environment."""
        return in_use(Path(folder))

    def prepare(self) -> dict[str, Any]:
        """End the remains of earlier workers, and make the private folder of a new one."""
        reap(runs_folder(self._workers))
        scratch, _ = make_scratch(self._workers)
        variables = dict(os.environ)
        return {"folder": str(self._workers), "scratch": str(scratch), "variables": variables}

    def settle(self, record: str, scratch: str, limit_s: float) -> None:
        """Wait until nothing is left of a worker; kill its guardian after `limit_s` seconds."""
        outlive(Path(record), time.monotonic() + limit_s)
        settle(Path(record), Path(scratch))

    def clear_up(self) -> None:
        """Remove an unfinished environment before the program ends."""
        if self._maker is not None:
            shutil.rmtree(self._maker.folder, ignore_errors=True)
            self._home.forget_work()

    @property
    def _current_maker(self) -> LocalMaker:
        if self._maker is None:
            raise CommandFailed(["begin"], 1, ["Nothing was begun."])
        return self._maker


def _unpacked(wheel: Path, name: str, folder: Path) -> Path:
    """Extract a program from its wheel. Source: PEP 427, .data/scripts. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        entry = next(
            entry for entry in archive.namelist() if entry.endswith(f".data/scripts/{name}")
        )
        with archive.open(entry) as packed, (folder / name).open("wb") as out:
            shutil.copyfileobj(packed, out)
    (folder / name).chmod(0o755)
    return folder / name
