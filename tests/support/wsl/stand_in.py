"""A stand-in for wsl.exe on Linux: `stand_in.py FOLDER …`, where … is a command line of WSL.

FOLDER/windows.json describes this Windows. The program's own output is UTF-16, as on Windows.
`--exec` runs the words on this Linux, with the home of a distribution and an environment that has
nothing of the caller's except the variables that WSLENV names. Like wsl.exe's, these processes are
no children of this one: their streams are passed on, and if this process is killed, they only
notice the end of their input. It needs only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import threading
import time
from pathlib import Path
from typing import Any

ABSENT = 50
"""The exit status of wsl.exe if WSL is not installed."""


def say(text: str) -> None:
    sys.stdout.buffer.write(text.replace("\n", "\r\n").encode("utf-16-le"))
    sys.stdout.buffer.flush()


def warn(text: str) -> None:
    """Write a warning, as wsl.exe often does before it succeeds."""
    sys.stderr.buffer.write(text.replace("\n", "\r\n").encode("utf-16-le"))
    sys.stderr.buffer.flush()


def table(distributions: dict[str, Any]) -> str:
    """Return the table of distributions in a language that needs two words for a state.

    The default distribution is marked.
    """
    rows = ["  NAME                   STATUS             VERSION"]
    for number, (name, facts) in enumerate(distributions.items()):
        mark = "*" if number == 0 else " "
        rows.append(f"{mark} {name:<22} {'Wird ausgeführt':<18} {facts['version']}")
    return "\n".join(rows) + "\n"


def variables(folder: Path, name: str) -> dict[str, str]:
    """Return the environment in a distribution."""
    place = folder / name
    passed = [it.partition("/")[0] for it in os.environ.get("WSLENV", "").split(":") if it]
    return {it: os.environ[it] for it in passed if it in os.environ} | {
        "HOME": str(place / "home"),
        "USER": "somebody",
        "LANG": "C.UTF-8",
        "WSL_DISTRO_NAME": name,
        "PATH": f"{place / 'bin'}:/usr/bin:/bin",
    }


def run(words: list[str], environment: dict[str, str]) -> int:
    """Run words beside this process, pass their streams on, and return the exit status."""
    pipes = [os.pipe() for _ in range(4)]
    (in_read, in_write), (out_read, out_write), (err_read, err_write), (end_read, end_write) = pipes
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child == 0:
            for number, end in enumerate((in_read, out_write, err_write)):
                os.dup2(end, number)
            try:
                os.execvpe(words[0], words, environment)
            except OSError as error:
                os.write(2, f"<3>WSL ERROR: execvpe({words[0]}) failed: {error}\n".encode())
                os._exit(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        for end in (in_read, in_write, out_read, out_write, err_read, err_write, end_read):
            os.close(end)
        _, status = os.waitpid(child, 0)
        os.write(end_write, str(os.waitstatus_to_exitcode(status) & 255).encode())
        os._exit(0)
    for end in (in_read, out_write, err_write, end_write):
        os.close(end)
    threading.Thread(target=relay, args=(0, in_write), daemon=True).start()
    said = [
        threading.Thread(target=relay, args=it, daemon=True)
        for it in ((out_read, 1), (err_read, 2))
    ]
    for thread in said:
        thread.start()
    status = int(os.read(end_read, 16) or b"1")
    for thread, source in zip(said, (out_read, err_read), strict=True):
        until_passed_on(thread, source)
    return status


def until_passed_on(thread: threading.Thread, source: int) -> None:
    """Wait until the output has been passed on, not for its end.

    A process that the words have started may keep it open.
    """
    thread.join(0.1)
    while thread.is_alive() and select.select([source], [], [], 0)[0]:
        thread.join(0.05)


def relay(source: int, to: int) -> None:
    with contextlib.suppress(OSError):
        while data := os.read(source, 1 << 16):
            os.write(to, data)
    os.close(to)


def main(place: str, *words: str) -> int:
    folder = Path(place)
    windows = json.loads((folder / "windows.json").read_text(encoding="utf-8"))
    with (folder / "asked.txt").open("a", encoding="utf-8") as asked:
        asked.write(json.dumps(words) + "\n")
    time.sleep(windows.get("seconds", 0.0))
    distributions = windows["distributions"]
    if not windows["installed"]:
        say("Das Windows-Subsystem für Linux ist nicht installiert.\n")
        return ABSENT
    if words == ("--status",):
        say("Standardversion: 2\n")
        return 0
    if words[:1] == ("--list",) and not distributions:
        say("Das Windows-Subsystem für Linux verfügt über keine installierten Distributionen.\n")
        return 255
    if words == ("--list", "--quiet"):
        say("\n".join(distributions) + "\n")
        return 0
    if words == ("--list", "--verbose"):
        say(table(distributions))
        return 0
    if len(words) > 3 and (words[0], words[2]) == ("--distribution", "--exec"):
        facts = distributions.get(words[1])
        if facts is None or facts.get("broken"):
            say("Der virtuelle Datenträger wurde nicht gefunden.\nFehlercode: Wsl/Service/E_FAIL\n")
            return 255
        warn("wsl: Eine localhost-Proxykonfiguration wurde erkannt, aber nicht gespiegelt.\n")
        return run(list(words[3:]), variables(folder, words[1]))
    say(f"Ungültige Befehlszeilenoption: {' '.join(words)}\n")
    return 255


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]))
