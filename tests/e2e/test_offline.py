"""Whole sessions watched from outside: nothing leaves this computer without a request for it.

That holds with --offline for any request, and in the usual mode for all requests that do not need a
connection.

An audit hook inside Python sees the connections of Python code, and strace, if it is installed,
every system call of Hearth, its libraries and its child processes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, environment, value

TALKING = "connect,sendto,sendmsg,sendmmsg"
NAME_SERVICE = 53

_AUDIT = """
import os, sys
def _note(event, args):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        where = args[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        where = args[0]
    else:
        return
    with open(os.environ["TALK"], "a") as file:
        file.write(f"{where!r}\\n")
sys.addaudithook(_note)
"""

_COMMAND = """
import sys
from app.__main__ import main
sys.exit(main())
"""

_COMMANDS = """
import json, sys
from app.cli.main import main

for words in json.loads(sys.argv[1]):
    if main(words):
        sys.exit(f"failed: {words}")
"""

_WINDOW = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
from app.start import window
from app.base.folder import DataFolder
from app.window.pages.main_window import MainWindow
from app.window.values.launch_request import LaunchRequest

def begin():
    main = next((w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)), None)
    if main is None or not main.is_built:
        QTimer.singleShot(20, begin)
        return
    print(main.findChild(QWidget, "offlineSwitch").isChecked())
    ended = main.presenters.generation.ended
    ended.connect(lambda answer: main.go_to("models"))
    ended.connect(lambda _: QTimer.singleShot(700, lambda: main.go_to("connections")))
    ended.connect(lambda _: QTimer.singleShot(1100, main.show_settings))
    ended.connect(lambda _: QTimer.singleShot(2500, lambda: (print("seen"), main.close())))
    main.page.ask("What can you do?")

window._application()
QTimer.singleShot(0, begin)
sys.exit(window.open_window(DataFolder.default(), "--offline" in sys.argv, LaunchRequest()))
"""

# Connecting a datagram socket only sets its address: no packet is sent.
_OUTSIDE = """
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
"""

Watched = Callable[..., tuple["subprocess.CompletedProcess[str]", list[str]]]


@pytest.fixture
def watched(strace: list[str], data_dir: Path, tmp_path: Path) -> Watched:
    """Return a function that runs a program; it returns the result and the outside connections."""
    calls, addresses = tmp_path / "calls.txt", tmp_path / "addresses.txt"

    def run(
        program: str, *words: str, given: str = ""
    ) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        calls.write_text("")
        addresses.write_text("")
        result = subprocess.run(
            [*(strace and [*strace, str(calls)]), sys.executable, "-c", _AUDIT + program, *words],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=110,
            cwd=ROOT,
            env=environment(data_dir)
            | {
                "QT_QPA_PLATFORM": "offscreen",
                "HF_ENDPOINT": "https://hub.invalid",
                "HF_TOKEN": "hf_secret",
                "TALK": str(addresses),
            },
        )
        return result, seen_by_strace(calls.read_text()) + seen_by_audit(addresses.read_text())

    return run


@pytest.fixture(scope="module")
def strace() -> list[str]:
    """Return the words before the file for the calls; empty if it cannot watch another process."""
    command = ["strace", "-f", "-e", f"trace={TALKING}", "-o"]
    if shutil.which("strace") is None:
        return []
    tried = subprocess.run([*command, os.devnull, "true"], capture_output=True)
    return command if tried.returncode == 0 else []


def seen_by_strace(talk: str) -> list[str]:
    """Return the calls that went elsewhere than to this computer or its name server."""
    return [line for line in talk.splitlines() if not _stays(line)]


def _stays(call: str) -> bool:
    for family, rest in re.findall(r"sa_family=AF_(\w+)([^}]*)", call):
        if family in ("INET", "INET6"):
            (port,) = re.findall(r"htons\((\d+)\)", rest)
            local = re.search(r'inet_addr\("127\.|inet_pton\(AF_INET6, "::1"', rest)
            if not local or int(port) == NAME_SERVICE:
                return False
        elif family == "UNIX":
            if "resolve" in rest:
                return False
        elif family not in ("NETLINK", "UNSPEC"):
            return False
    return True


def seen_by_audit(talk: str) -> list[str]:
    """Return the addresses that are not of this computer, nor a path or the kernel's."""
    address = r"(?:127\.[\d.]+|::1)"
    path = r"b?['\"][/\\x@]"
    netlink = r"\(\d+, \d+\)"
    here = re.compile(rf"\('{address}',|b?'{address}'$|{path}|{netlink}")
    return [line for line in talk.splitlines() if not here.match(line)]


MODES = pytest.mark.parametrize("mode", [("--offline",), ()], ids=["offline", "usual"])
FEW_MODES = pytest.mark.parametrize(
    "mode",
    [pytest.param(("--offline",), marks=pytest.mark.exhaustive), ()],
    ids=["offline", "usual"],
)
"""Without `--all` the usual mode alone, in which more could leave."""


COMMANDS = (
    "ask Hello", "models list", "models show starter", "models fit starter", "downloads list",
    "engines list", "servers list", "settings list", "token status hf", "hardware", "doctor",
    "connections",
)  # fmt: skip


@MODES
def test_no_command_talks_to_anybody(watched: Watched, mode: tuple[str, ...]) -> None:
    """One process runs them all, as starting one takes longer than most commands."""
    commands = [[*mode, *command.split()] for command in COMMANDS]
    result, outside = watched(_COMMANDS, json.dumps(commands))
    assert result.returncode == 0, result.stderr
    assert outside == []


@FEW_MODES
def test_a_recommendation_talks_to_nobody(watched: Watched, mode: tuple[str, ...]) -> None:
    _, outside = watched(_COMMAND, *mode, "recommend")
    assert outside == []


@FEW_MODES
def test_a_chat_talks_to_nobody(watched: Watched, mode: tuple[str, ...]) -> None:
    given = "Hello\nWhat is a token?\n/model\n/chats\n/again\n"
    result, outside = watched(_COMMAND, "chat", *mode, given=given)
    assert result.returncode == 0, result.stderr
    assert outside == []


@FEW_MODES
def test_the_window_talks_to_nobody(watched: Watched, mode: tuple[str, ...]) -> None:
    """It asks a question, and visits the pages of models, connections and settings."""
    result, outside = watched(_WINDOW, *mode)
    assert result.returncode == 0, result.stderr
    offline, seen = result.stdout.split()
    assert offline == str(bool(mode)), "it does not say whether it is offline"
    assert seen == "seen"
    assert outside == []


def test_what_is_asked_for_is_seen_to_leave(watched: Watched) -> None:
    """Otherwise the usual mode would prove nothing."""
    _, outside = watched(_COMMAND, "models", "search", "gemma", "--json")
    assert outside


def test_the_setting_is_as_good_as_the_option(watched: Watched) -> None:
    assert watched(_COMMAND, "settings", "set", "offline", "true")[0].returncode == 0
    result, outside = watched(_COMMAND, "models", "search", "gemma", "--json")
    assert outside == []
    assert value(result)["error"]["code"] == "offline"


def test_a_search_is_refused_before_anything_is_asked(watched: Watched) -> None:
    result, outside = watched(_COMMAND, "--offline", "models", "search", "gemma", "--json")
    assert outside == []
    assert value(result)["error"]["code"] == "offline"


def test_an_offender_is_seen_by_each_watcher(watched: Watched, strace: list[str]) -> None:
    result, outside = watched(_OUTSIDE)
    assert result.returncode == 0, result.stderr
    assert len(outside) == (2 if strace else 1)
    assert all("192.0.2.1" in line for line in outside)


def ipv4(address: str, port: int) -> str:
    """Return a call as strace writes it."""
    where = f'sin_port=htons({port}), sin_addr=inet_addr("{address}")'
    return f"connect(3, {{sa_family=AF_INET, {where}}}, 16) = 0"


def ipv6(address: str, port: int) -> str:
    where = f'inet_pton(AF_INET6, "{address}", &sin6_addr), sin6_scope_id=0'
    return f"connect(3, {{sa_family=AF_INET6, sin6_port=htons({port}), {where}}} <unfinished ...>"


def local(path: str) -> str:
    return f'connect(3, {{sa_family=AF_UNIX, sun_path="{path}"}}, 42) = 0'


def test_calls_are_told_apart() -> None:
    here = [
        ipv4("127.0.0.1", 80),
        ipv6("::1", 8080),
        local("/run/user/0/bus"),
        "sendto(4, [{nlmsg_len=20}], 20, 0, {sa_family=AF_NETLINK, nl_pid=0}, 12) = 20",
    ]
    outside = [
        ipv4("192.0.2.1", 443),
        ipv4("127.0.0.53", 53),
        ipv6("2001:db8::1", 443),
        local("/run/systemd/resolve/io.systemd.Resolve"),
        "sendto(4, x, 20, 0, {sa_family=AF_PACKET, nl_pid=0}, 12) = 20",
    ]
    assert seen_by_strace("\n".join(here + outside)) == outside


def test_addresses_are_told_apart() -> None:
    here = ["('127.0.0.1', 80)", "'127.0.0.1'", "'/run/user/0/bus'", "(0, 0)", "('::1', 80, 0, 0)"]
    outside = ["('192.0.2.1', 9)", "'hub.invalid'", "b'hub.invalid'", "('localhost.example', 80)"]
    assert seen_by_audit("\n".join(here + outside)) == outside
