"""`hearth doctor`: checks for common faults, and reports each with a fix."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from app import __version__
from app.base.errors import NotADataFolder
from app.base.folder import DataFolder
from app.base.language import translated
from app.base.reports import as_user_error
from app.kit.terminal.command import Command
from app.kit.terminal.display import has_display
from app.kit.terminal.output import Output, size
from app.settings.store import SettingsFile
from app.wiring.opening import open_database
from engines.errors import UserError
from engines.helper.command import module_command
from engines.models.gguf.header import read_header
from engines.registry import availability
from engines.sentences import N_, joined

State = Literal["ok", "warning", "failed"]

_LOADING_S = 60.0
_LOW_DISK = 2_000_000_000
_PACKAGED = bool(getattr(sys, "frozen", False))
_REINSTALL = (
    N_("Install Hearth's package again.")
    if _PACKAGED
    else N_("Delete the folder .venv, then start Hearth with run.py.")
)
_REPAIR = _REINSTALL if _PACKAGED else N_("Run run.py again.")
_INSTALL_LIBRARIES = (
    N_("Install Hearth's package again: it names the system packages that it needs.")
    if _PACKAGED
    else N_("Run run.py again: it names the missing system packages.")
)
_MARKS = {"ok": "ok", "warning": N_("warning"), "failed": N_("FAILED")}


@dataclass(frozen=True)
class CheckResult:
    """One line of the report; `fix` is empty if nothing is wrong."""

    check: str
    state: State
    finding: str
    fix: str = ""


def doctor(folder: DataFolder, out: Output) -> int:
    """Run every check; return exit status 1 if one failed."""
    checks: dict[str, Callable[[DataFolder], CheckResult]] = {
        "python": _python,
        N_("data folder"): _data_folder,
        N_("privacy"): _privacy,
        N_("disk"): _disk,
        N_("database"): _database,
        N_("settings"): _settings,
        "llama cpp": _llama_cpp,
        "vllm": _vllm,
        N_("starter"): _starter,
        N_("memory"): _memory,
        N_("window"): _window,
    }
    if _is_foreign(folder):
        for name in ("privacy", "disk", "database", "settings", "llama cpp", "vllm"):
            del checks[name]
    findings = [_run_check(name, check, folder) for name, check in checks.items()]

    def human() -> str:
        marks = {state: translated(mark) for state, mark in _MARKS.items()}
        width = max(map(len, marks.values())) + 1
        lines = [f"Hearth {__version__}"]
        for result in findings:
            check, finding = translated(result.check), translated(result.finding)
            lines.append(f"{marks[result.state]:{width}}{check}: {finding}")
            if result.fix:
                lines.append(f"{'':{width}}{translated(result.fix)}")
        return "\n".join(lines)

    out.value([asdict(result) for result in findings], human)
    return 1 if any(result.state == "failed" for result in findings) else 0


def _is_foreign(folder: DataFolder) -> bool:
    """Return whether the folder belongs to other programs; then its content is not checked."""
    try:
        folder.require_own()
    except NotADataFolder:
        return True
    except OSError:
        return False  # the checks report what is wrong with it
    return False


def _run_check(
    name: str, check: Callable[[DataFolder], CheckResult], folder: DataFolder
) -> CheckResult:
    try:
        return check(folder)
    except UserError as error:
        return CheckResult(name, "failed", joined(" ", (error.what, error.why)), error.terminal)
    except OSError as error:
        path = f"{error.filename}: " if error.filename else ""
        finding = N_(
            "it cannot be checked: {path}{reason}", path=path, reason=error.strerror or error
        )
        return CheckResult(
            name, "failed", finding, N_("Check that this path exists and that you may read it.")
        )
    except Exception as error:  # noqa: BLE001 - an error in one check must not hide the others
        problem = as_user_error(error, folder)
        return CheckResult(
            name,
            "failed",
            N_("it cannot be checked: {reason}", reason=problem.why),
            problem.terminal,
        )


def _python(_: DataFolder) -> CheckResult:
    return CheckResult("Python", "ok", f"{sys.version.split()[0]}, {sys.platform}")


def _data_folder(folder: DataFolder) -> CheckResult:
    folder.prepare()
    return CheckResult(N_("data folder"), "ok", N_("{root} can be written to", root=folder.root))


def _privacy(folder: DataFolder) -> CheckResult:
    """Close files that an older Hearth or another program left readable for other accounts."""
    readable = folder.close_to_others()
    if not readable:
        return CheckResult("privacy", "ok", N_("no other account can read your chats"))
    others = N_(" and {count} more", count=len(readable) - 1) if len(readable) > 1 else ""
    return CheckResult(
        "privacy",
        "warning",
        N_(
            "other accounts may read {path}{others}, and Hearth cannot change that",
            path=readable[0],
            others=others,
        ),
        N_(
            "Become the owner of these files and run `chmod -R go=` on that folder, or use "
            "--data-dir to choose a data folder on a disk that supports permissions."
        ),
    )


def _disk(folder: DataFolder) -> CheckResult:
    free = shutil.disk_usage(folder.root).free
    if free < _LOW_DISK:
        return CheckResult(
            "disk",
            "warning",
            N_("{size} free", size=size(free)),
            N_("Free some space: models are large."),
        )
    return CheckResult("disk", "ok", N_("{size} free", size=size(free)))


def _database(folder: DataFolder) -> CheckResult:
    database = open_database(folder)
    try:
        with database.read() as db:
            verdict = str(db.execute("PRAGMA quick_check").fetchone()[0])
            chats = db.execute("SELECT count(*) FROM chats WHERE deleted IS NULL").fetchone()[0]
    finally:
        database.close()
    if verdict != "ok":
        return CheckResult(
            N_("chats"),
            "failed",
            N_("the database is damaged: {verdict}", verdict=verdict),
            N_("Restore a copy of it."),
        )
    return CheckResult("chats", "ok", N_("{count} chats, the database is intact", count=chats))


def _settings(folder: DataFolder) -> CheckResult:
    faults = SettingsFile(folder.settings).load().faults
    if faults:
        finding = joined(" ", (part for fault in faults for part in (fault.what, fault.why)))
        return CheckResult("settings", "warning", finding, faults[0].terminal)
    return CheckResult("settings", "ok", N_("can be read"))


def _llama_cpp(folder: DataFolder) -> CheckResult:
    state = next(state for state in availability() if state.name == "llamacpp")
    if not state.available:
        return CheckResult("llama.cpp", "failed", state.why_not or "", _REPAIR)
    # First in a child process, because a truncated library crashes the process that loads it.
    trial = _child("app.kit.terminal.loading", "llama_cpp")
    if trial.returncode not in {0, 1}:
        finding = N_(
            "the process that loaded its library ended with code {code}",
            code=trial.returncode,
        )
        return CheckResult("llama.cpp", "failed", finding, _REINSTALL)
    from app.wiring.app import hardware
    from engines.llamacpp.native import load_native
    from engines.llamacpp.packs import use_packs

    use_packs(folder.packs)
    load_native()
    names = ", ".join(gpu.name for gpu in hardware(folder.root).gpus if gpu.usable) or N_(
        "the processor"
    )
    return CheckResult("llama.cpp", "ok", N_("loads; models run on {names}", names=names))


def _vllm(folder: DataFolder) -> CheckResult:
    """Check that the installed vLLM is still complete; starting it would take a minute."""
    state = next(state for state in availability(folder.engines) if state.name == "vllm")
    fix = N_("Install it again: hearth engines install vllm")
    if not state.available:
        if folder.engines.joinpath("current").exists():
            return CheckResult("vLLM", "failed", N_("the current environment is incomplete"), fix)
        return CheckResult("vLLM", "ok", N_("not installed; only checkpoints need it"))
    from engines.vllm.provision.home import EngineHome

    current = EngineHome(folder.engines).current()
    runs_here = current is not None and not current.linux
    if current is not None and runs_here and not os.access(current.python, os.X_OK):
        finding = N_("its Python {path} is missing or cannot be run", path=current.python)
        return CheckResult("vLLM", "failed", finding, fix)
    return CheckResult("vLLM", "ok", state.about.removeprefix("vLLM "))


def _starter(_: DataFolder) -> CheckResult:
    from app.base.shipped import STARTER

    header = read_header(STARTER)
    return CheckResult(
        N_("starter model"),
        "ok",
        N_(
            "{size}, {architecture}",
            size=size(header.size_bytes),
            architecture=header.architecture,
        ),
    )


def _memory(_: DataFolder) -> CheckResult:
    from engines.hardware import detect

    memory = detect().memory
    free = memory.available_bytes
    if free < _LOW_DISK:
        return CheckResult(
            "memory",
            "warning",
            N_("{size} free", size=size(free)),
            N_("Close other programs before a large model."),
        )
    return CheckResult(
        "memory",
        "ok",
        N_("{free} free of {total_bytes}", free=size(free), total_bytes=size(memory.total_bytes)),
    )


def _window(_: DataFolder) -> CheckResult:
    """Load Qt in a child process, as a missing system library ends the process that loads it."""
    trial = _child("app.kit.terminal.loading", "PySide6.QtWidgets")
    if trial.returncode != 0:
        reason = (trial.stderr.strip().splitlines() or [N_("unknown reason")])[-1]
        return CheckResult(
            "window", "warning", N_("cannot open: {why_not}", why_not=reason), _INSTALL_LIBRARIES
        )
    if not has_display():
        return CheckResult(
            "window", "warning", N_("no display"), N_("`hearth chat` works in the terminal.")
        )
    if why_not := _child("app.kit.terminal.display").stdout.strip():
        return CheckResult(
            "window",
            "warning",
            N_("cannot open: {why_not}", why_not=why_not),
            N_(
                "Look at DISPLAY, WAYLAND_DISPLAY and XAUTHORITY; `hearth chat` works in the "
                "terminal."
            ),
        )
    return CheckResult("window", "ok", N_("can open"))


def _child(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        [*module_command(module), *words],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=_LOADING_S,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((root, os.environ.get("PYTHONPATH", "")))},
    )


COMMAND = Command(
    "doctor",
    "check this installation for common problems",
    run_closed=lambda folder, _, out: doctor(folder, out),
)
