"""`hearth engines`: lists the engines; installs, stops, rolls back and removes vLLM."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args

from app.base.errors import AppError, EngineHindered
from app.base.language import translated
from app.kit.terminal.arguments import YES
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.confirmation import confirm
from app.kit.terminal.interrupt import interruptible
from app.kit.terminal.output import Output, bar, is_dumb, size, table
from app.runtime.values.installation import Check, Phase, Step
from engines.sentences import N_, joined
from engines.vllm.provision.lock import LockName

if TYPE_CHECKING:
    from app.wiring.app import App

INSTALLED = "vllm"
_PHASES: dict[Phase, str] = {
    "look": N_("look"),
    "download": N_("download"),
    "install": N_("install"),
    "kernels": N_("kernels"),
    "try": N_("try"),
    "switch": N_("switch"),
}
_NOT_INSTALLED = N_("Not installed; `hearth engines install vllm` installs it.")
_OF_CARDS = ("driver", "cuda", "capability")
"""Codes of findings that only rule out the build for NVIDIA cards."""
_SLOW_BUILD = N_(
    "There is a build for processors, too, which is slow: `hearth engines install vllm --profile "
    "cpu`."
)


def _use(app: App, args: argparse.Namespace, out: Output) -> int:
    settings = app.choice.use(args.what)
    out.value({"engine": settings.engine}, lambda: N_("Engine: {engine}", engine=settings.engine))
    return 0


def _roll_back(app: App, args: argparse.Namespace, out: Output) -> int:
    _require_vllm(args.what)
    now = app.installer.rollback()
    out.value(
        {"version": now.version}, lambda: N_("vLLM {version} is in use again.", version=now.version)
    )
    return 0


def _stop(app: App, args: argparse.Namespace, out: Output) -> int:
    _require_vllm(args.what)
    ended = app.vllm.end_staying()
    lines = [N_("vLLM with {name} has ended.", name=name) for name in ended]
    out.value({"stopped": list(ended)}, lambda: joined("\n", lines) or N_("No vLLM is running."))
    return 0


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    _require_vllm(args.what)
    app.vllm.end_unused()
    app.installer.remove()
    out.value({"removed": INSTALLED}, lambda: N_("vLLM and all its files were removed."))
    return 0


def _require_vllm(name: str) -> None:
    if name != INSTALLED:
        raise AppError(
            N_("There is nothing to install, stop, switch or remove for “{name}”.", name=name),
            N_("llama.cpp comes with Hearth, and Hearth does not manage other servers."),
            N_("Only vllm can be installed."),
        )


def _list(app: App, _: argparse.Namespace, out: Output) -> int:
    chosen = app.settings.read().engine
    rows = [_row(app, asdict(state), chosen) for state in app.availability()]
    out.value(rows, lambda: table([_cells(row) for row in rows]))
    return 0


def _row(app: App, status: dict[str, Any], chosen: str) -> dict[str, Any]:
    row = {**status, "chosen": status["name"] == chosen, "version": None, "previous": None}
    if status["name"] != INSTALLED:
        return row
    installer = app.installer
    state = installer.state()
    row |= asdict(state)
    row["running"] = [asdict(worker) for worker in app.vllm.staying()]
    row["available"] = state.version is not None
    row["why_not"] = None
    if state.version is None:
        finding = installer.check("cuda").hindrance
        row["why_not"] = joined(" ", (finding.what, finding.do)) if finding else _NOT_INSTALLED
    return row


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    parts = [
        row["why_not"],
        N_("Kept for a rollback: {row}.", row=row["previous"]) if row["previous"] else "",
        N_("Chosen in the settings.") if row["chosen"] else "",
    ]
    if row.get("unfinished_bytes"):
        parts.append(
            N_("{row} remain from an unfinished installation.", row=size(row["unfinished_bytes"]))
        )
    parts += [_running(worker) for worker in row.get("running", ())]
    state = N_("ready") if row["available"] else N_("not here")
    return row["name"], state, row["version"] or "", joined(" ", parts)


def _running(worker: dict[str, Any]) -> str:
    if worker["left_s"] is None:
        return N_("Runs {value}, which another command or the window uses.", value=worker["model"])
    minutes = max(1, round(worker["left_s"] / 60))
    return N_(
        "Runs {value} for the next command, and ends in about {minutes} min; `hearth engines "
        "stop vllm` ends it now.",
        value=worker["model"],
        minutes=minutes,
    )


def _install(app: App, args: argparse.Namespace, out: Output) -> int:
    _require_vllm(args.what)
    installer = app.installer
    # Without --profile, keep Ray if the version in use has it.
    name: LockName = args.profile or (
        "cuda-ray" if installer.usual_lock() == "cuda-ray" else "cuda"
    )
    check = installer.check(name)
    _show(check, out)
    finding = check.hindrance
    if finding is not None:
        do = finding.do
        if name in ("cuda", "cuda-ray") and finding.code in _OF_CARDS:
            slow = installer.check("cpu").hindrance is None
            do = joined(" ", (do, _SLOW_BUILD)) if slow else do
        raise EngineHindered(finding.what, finding.why, finding.do, terminal=do)
    if not args.yes and not confirm(
        out, N_("Install it?"), N_("Hearth could not ask whether to install this.")
    ):
        out.note(N_("Nothing was changed."))
        return 1
    phase = ""

    def show(step: Step) -> None:
        nonlocal phase
        words = translated(_PHASES[step.phase])
        out.rewrite(f"{words:8} {bar(step.share)}  {translated(step.words)[:60]}")
        if step.phase != phase:
            phase = step.phase
            if not sys.stderr.isatty() or is_dumb():
                out.note(N_("{phase}: {words}", phase=_PHASES[step.phase], words=step.words))

    try:
        installations = list(
            interruptible(lambda cancel: iter([installer.install(name, show, cancel)]))
        )
    except KeyboardInterrupt:
        out.rewrite("")
        out.note(N_("The downloaded files are kept; run the same command to continue."))
        raise
    out.rewrite("")
    out.value(
        {
            "version": installations[0].version,
            "profile": installations[0].profile,
            "folder": str(installations[0].folder),
        },
        lambda: N_("vLLM {version} is installed and in use.", version=installations[0].version),
    )
    return 0


def _show(check: Check, out: Output) -> None:
    """Print the findings, one line each, and the price."""
    for finding in check.findings:
        mark = translated("ok" if finding.ok else N_("note") if finding.warning else N_("NO"))
        out.note(f"{mark:4}  {translated(finding.what)}")
        if not finding.ok:
            out.note(f"      {translated(finding.why)} {translated(finding.do)}")
    price = check.price if check.hindrance is None else None
    if price is not None and price.disk_bytes:
        out.note(
            N_(
                "This downloads {download_bytes}, uses up to {disk_bytes} of disk space during "
                "the installation and {kept_bytes} afterwards, and takes about {minutes} "
                "minutes on a typical connection. The files come from the package indexes that "
                "pip and uv use on this computer; for an NVIDIA card, vLLM then downloads "
                "compiled kernels from their makers.",
                download_bytes=size(price.download_bytes),
                disk_bytes=size(price.disk_bytes),
                kept_bytes=size(price.kept_bytes),
                minutes=price.minutes,
            )
        )
    if price is not None and check.linux:
        out.note(
            N_(
                "It is installed in {linux}, the Linux inside Windows, where only the folder "
                "~/.local/share/hearth is changed.",
                linux=check.linux,
            )
        )


_NAME = Argument("what", N_("the engine, such as vllm"), metavar="NAME")

COMMAND = Command(
    "engines",
    "list, install and choose the engines that run models",
    verbs=(
        Command("list", "list the engines with their versions, and why one cannot run here", _list),
        Command(
            "install",
            "check this computer, say what the installation takes, ask, and install",
            _install,
            (
                _NAME,
                YES,
                Argument(
                    "--profile",
                    "the build to install; by default cuda, for NVIDIA cards; cuda-ray adds Ray, "
                    "for a model that several computers share; cpu is a community's build for "
                    "processors, slow and meant for tests; cpu-plain is the same with the torch of "
                    "PyPI, a larger download",
                    choices=get_args(LockName),
                ),
            ),
        ),
        Command(
            "use",
            "prefer an engine for models that several engines can run",
            _use,
            (Argument("what", "the engine, or auto to let Hearth choose", metavar="NAME"),),
        ),
        Command("stop", "stop an engine that an earlier command left running", _stop, (_NAME,)),
        Command("rollback", "go back to an engine's previous version", _roll_back, (_NAME,)),
        Command("remove", "remove all versions of an engine", _remove, (_NAME,), aliases=("rm",)),
    ),
)
