"""Terminals get no control sequences, and streams may be closed, full or gone."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.folder import DataFolder
from app.chats.history.store.chats import ChatStore
from tests.e2e.conftest import ROOT, environment
from tests.support.suite import sampled
from tests.support.terminal import Hearth

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals and shells")

ORDERS = (
    "\x1b[2J\x1b]52;c;aGk=\x07\x1b]8;;http://e\x1b\\\x9b31m\x9d0;t\x9c\rover\x08\x7f\u202etxt\u2066"
)
PROGRESS = "\r\x1b[K"
OBEYED = {"\x1b", "\x07", "\x08", "\x7f", "\x9b", "\x9c", "\x9d", "\u202e", "\u2066"}


def run(data_dir: Path, command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command line in a shell in which `hearth` is the command."""
    return subprocess.run(
        ["sh", "-c", f'hearth() {{ {sys.executable} -m app "$@"; }}; {command}'],
        input=given,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=100,
        cwd=ROOT,
        env=environment(data_dir),
    )


def at_terminal(data_dir: Path, *program: str, given: str = "") -> str:
    """Return a program's output and errors at a terminal, without progress lines."""
    return all_at_terminal(data_dir, *program, given=given).replace(PROGRESS, "")


def all_at_terminal(data_dir: Path, *program: str, given: str = "") -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *program],
        stdin=subprocess.PIPE, stdout=theirs, stderr=theirs, cwd=ROOT, env=environment(data_dir),
    )  # fmt: skip
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(given.encode())
    process.stdin.close()
    shown, until = b"", time.monotonic() + 90
    while time.monotonic() < until:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            shown += os.read(ours, 4096)
        except OSError:
            break  # the other end is closed
    process.wait(60)
    os.close(ours)
    return shown.decode("utf-8", "replace")


@pytest.fixture
def hostile(data_dir: Path) -> str:
    """Store a chat whose title and messages are full of control sequences, and return its id."""
    folder = DataFolder(data_dir)
    folder.prepare()
    database = Database(folder.database)
    chats = ChatStore(database)
    question, _ = chats.ask(None, f"Begun {ORDERS} over")
    chats.rename(question.chat_id, f"Title {ORDERS}\nand a line of its own")
    database.close()
    return question.chat_id


COMMANDS = (
    "chats list", "chats show {id}", "chats search Begun", "chats export {id}",
    "chats export {id} --format json", "chats list --json", "chats show {id} --json",
    "ask Hello --model {orders}", "{orders}", "models show {orders}",
    "ask Hello --file {orders}", "settings set theme {orders}", "chats rm {orders}",
    "ask Hello --temperature {orders}",
)  # fmt: skip
END_OF_COMMAND = "\f"
ONE_AFTER_THE_OTHER = f"""
import json, sys
from app.cli.main import main

for words in json.loads(sys.argv[1]):
    main(words)
    print(end={END_OF_COMMAND!r}, flush=True)
"""


def test_nothing_gives_orders_to_a_terminal(data_dir: Path, hostile: str) -> None:
    commands = [
        [word.format(id=hostile, orders=ORDERS) for word in command.split()] for command in COMMANDS
    ]
    *each, rest = at_terminal(data_dir, "-c", ONE_AFTER_THE_OTHER, json.dumps(commands)).split(
        END_OF_COMMAND
    )
    assert not rest
    for command, words, shown in zip(COMMANDS, commands, each, strict=True):
        assert shown.strip(), command
        assert not OBEYED & set(shown), command
        assert "\r" not in shown.replace("\r\n", ""), f"{command}: a line can be overwritten"
        if "--json" in words:
            assert json.loads(shown)


def test_the_commands_of_a_chat_give_none_either(data_dir: Path, hostile: str) -> None:
    given = f"/chats\n/open {hostile}\n/nothing{ORDERS}\n/model\n"
    shown = at_terminal(data_dir, "-m", "app", "chat", given=given)
    assert "Title" in shown
    assert not OBEYED & set(shown)
    assert "\nand a line" not in shown, "a title has made a line of its own"


def test_standard_error_gives_none_into_a_pipe(data_dir: Path) -> None:
    result = run(data_dir, 'hearth ask Hello --model "$(cat)"', ORDERS)
    assert result.returncode == 1
    assert "\ufffd" in result.stderr
    assert not OBEYED & set(result.stderr)


def test_what_python_itself_says_gives_none(data_dir: Path) -> None:
    program = (
        "import sys, threading, logging, warnings\n"
        "from app.kit.terminal import streams\n"
        "streams.prepare()\n"
        f"orders = {ORDERS!r}\n"
        "def fail(): raise OSError(orders)\n"
        "thread = threading.Thread(target=fail); thread.start(); thread.join()\n"
        "logging.warning('log %s', orders)\n"
        "warnings.warn(orders)\n"
        "fail()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=60
    )
    said = result.stderr.decode()
    assert said.count("Traceback") == 2
    assert "log " in said
    assert not OBEYED & set(said)


def test_json_says_what_it_said(
    hearth: Hearth, hostile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("chats", "show", hostile, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["messages"][0]["text"] == f"Begun {ORDERS} over"
    assert hearth("chats", "export", hostile, "--format", "json") == 0
    exported = json.loads(capsys.readouterr().out)
    assert f"Begun {ORDERS} over" in [it["text"] for it in exported["messages"]]


def test_an_export_into_a_file_is_as_it_was_written(
    hearth: Hearth, hostile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("chats", "export", hostile) == 0
    assert ORDERS in capsys.readouterr().out


def test_a_report_and_the_log_can_be_looked_at(data_dir: Path) -> None:
    from app.base.reports import describe, keep_log, log_file

    assert not OBEYED & set(describe(ValueError(ORDERS)))
    import logging

    folder = DataFolder(data_dir)
    folder.prepare()
    with keep_log(folder):
        logging.getLogger("test").warning("a name: %s", ORDERS)
    assert not OBEYED & set(log_file(folder).read_text("utf-8"))


FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
ALL_FULL = (FULL, pytest.mark.exhaustive)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        pytest.param("hearth ask Hello >/dev/full", 1, marks=FULL),
        pytest.param("hearth chats list --json >/dev/full", 1, marks=ALL_FULL),
        pytest.param("echo Hello | hearth chat >/dev/full", 1, marks=FULL),
        pytest.param("hearth --version --json >/dev/full", 1, marks=FULL),
        pytest.param("hearth --help >/dev/full", 1, marks=ALL_FULL),
        pytest.param("hearth --version >/dev/full", 1, marks=ALL_FULL),
        pytest.param("hearth settings get nothing --json >/dev/full", 1, marks=ALL_FULL),
        ("hearth ask Hello >&-", 1),
        pytest.param("hearth settings list >&-", 1, marks=pytest.mark.exhaustive),
        ("hearth chat <&-", 0),
        ("hearth <&-", 0),
        ("hearth ask - <&-", 2),
        ("hearth token set hf <&-", 1),
        pytest.param("hearth chat 0>/dev/null", 1, marks=pytest.mark.exhaustive),
    ],
)
def test_a_stream_that_is_closed_or_full_is_no_bug(
    data_dir: Path, command: str, status: int
) -> None:
    result = run(data_dir, command)
    assert result.returncode == status, result.stderr
    assert "Traceback" not in result.stderr
    assert "bug of ours" not in result.stderr
    assert result.stderr.strip(), "it was not said"
    assert not list((data_dir / "logs").glob("report-*"))


@pytest.mark.parametrize("where", ["2>&-", pytest.param("2>/dev/full", marks=FULL)])
def test_where_nobody_hears_of_notes_the_answer_still_comes(data_dir: Path, where: str) -> None:
    result = run(data_dir, f"hearth ask 'What is Hearth?' --mtp on {where}")
    assert result.returncode == 0
    assert "private AI chat" in result.stdout
    assert "Thinking" not in result.stdout
    assert "MTP" not in result.stdout


def test_all_three_may_be_closed(
    data_dir: Path, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(data_dir, "hearth ask Hello <&- >&- 2>&-").returncode == 1
    assert not list((data_dir / "logs").glob("report-*"))
    assert hearth("chats", "list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [], "the database was written into"


def test_a_reader_that_wants_one_line_gets_it_quietly(data_dir: Path) -> None:
    result = run(data_dir, "hearth settings list | head -n 1")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a limit is not kept")
@pytest.mark.parametrize("megabytes", sampled([60, 120, 180, 200, 220], [60, 200]))
def test_too_little_memory_is_named_as_such(data_dir: Path, megabytes: int) -> None:
    result = run(data_dir, f"ulimit -v {megabytes * 1000}; hearth ask Hello")
    if result.returncode == 128 + signal.SIGSEGV:
        # CPython can crash when one certain allocation fails; a little more room avoids that one.
        result = run(data_dir, f"ulimit -v {megabytes * 1000 + 2000}; hearth ask Hello")
    assert result.returncode == 0 or "emory" in result.stderr, result.stderr
    assert "report" not in result.stderr
    assert not list((data_dir / "logs").glob("report-*"))


@pytest.mark.parametrize(
    "command",
    [
        "hearth ask -",
        "hearth chat",
        "hearth token set hf",
        "hearth servers add here http://127.0.0.1:9 --key-stdin",
        "hearth serve --token-stdin --port 0",
        "hearth ask Hello --grammar /dev/stdin",
    ],
)
def test_input_without_an_end_is_refused_before_it_fills_the_memory(
    data_dir: Path, command: str
) -> None:
    endless = f'{sys.executable} -c \'while True: print("y" * 65536, end="")\' 2>/dev/null'
    done = run(data_dir, f"{endless} | (ulimit -v 8000000; {command} --json)")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "input_too_long"
    assert "10,000,000 characters" in done.stderr


@pytest.mark.parametrize("given", ["", "\n \n"])
def test_a_chat_asks_nothing_by_itself(data_dir: Path, given: str) -> None:
    for option in ("", " --json"):
        done = run(data_dir, f"hearth chat{option}", given)
        assert (done.returncode, done.stdout) == (0, "")
    assert "before anything was asked" in run(data_dir, "hearth chat", given).stderr
    assert json.loads(run(data_dir, "hearth chats list --json").stdout) == []


@pytest.mark.parametrize("command", [["ask", "Hello"], ["models", "verify", "starter"]])
def test_a_terminal_that_takes_no_orders_gets_none(
    data_dir: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert PROGRESS in all_at_terminal(data_dir, "-m", "app", *command)
    monkeypatch.setenv("TERM", "dumb")
    shown = all_at_terminal(data_dir, "-m", "app", *command)
    assert not OBEYED & set(shown), shown
    assert "\r" not in shown.replace("\r\n", "\n")


@pytest.mark.parametrize(
    "words",
    [
        ["--version"], ["--help"], ["-h"], ["models", "--help"], ["chats", "export", "-h"],
        ["completion", "bash"], ["completion", "man"], ["help"], ["help", "privacy"], ["about"],
        ["completion", "--names", "servers"], ["completion"], ["models"],
    ],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("first", [False, True])
def test_json_is_all_that_stdout_gets(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], words: list[str], first: bool
) -> None:
    with suppress(SystemExit):  # argparse ends the process after the help
        hearth(*(["--json", *words] if first else [*words, "--json"]))
    json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "words",
    [
        ["chats", "list"], ["chats", "list", "--place", "trash"], ["chats", "search", "x"],
        ["chats", "restore", "list"], ["docs", "list"], ["downloads", "list"],
        ["assistants", "list"], ["servers", "list"], ["clients", "list"],
        ["models", "set", "starter"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_an_empty_list_is_said(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert hearth(*words) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert len(line) > 10
    assert hearth(*words, "--json") == 0
    assert not json.loads(capsys.readouterr().out)
