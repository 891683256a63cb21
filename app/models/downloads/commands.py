"""`hearth models pull` and `hearth downloads`: download models and show the progress."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.base.errors import AppError
from app.base.units import MB
from app.kit.terminal.arguments import REVISION, USUAL
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, bar, size, table
from app.models.downloads.services.metered import is_metered
from app.models.downloads.services.pulling import request_of
from app.models.downloads.services.queue import DownloadLimits, DownloadQueue
from app.models.downloads.values.downloads import Download
from app.models.hub.retry import Patience
from app.models.hub.values.names import hub_name
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

_POLL_S = 0.2
_ATTEMPTS = 8
_FINISHED = ("done", "failed", "cancelled", "paused")
_STATES = {
    "waiting": N_("waiting"),
    "running": N_("running"),
    "retrying": N_("retrying"),
    "verifying": N_("verifying"),
    "paused": N_("paused"),
    "done": N_("done"),
    "failed": N_("failed"),
    "cancelled": N_("cancelled"),
}
_SOLVED_BY_TOKEN = ("repository_gated", "token_refused")
"""The codes of errors that a token can solve."""


def pull(app: App, args: argparse.Namespace, out: Output) -> int:
    """Download a model and its companion files; return the exit status."""
    name = hub_name(args.what)
    revision = args.revision
    if revision == "main" and name.revision is not None:
        revision = name.revision
    repository = app.hub.repository(name.repo, revision)
    along = app.projectors.of_repo(name.repo) is not None
    projector = along if args.projector is None else args.projector
    request = request_of(repository, name, revision, app.fitting.quick, projector=projector)
    if is_metered():
        out.note(
            N_(
                "This connection is metered: the download takes {size}.",
                size=size(request.bytes_total),
            )
        )
    _set_limits(app.downloads, args.limit)
    added = app.downloads.add(request)
    return _wait_for(app.downloads, added.id, N_("hearth models pull {what}", what=args.what), out)


def _list(app: App, _: argparse.Namespace, out: Output) -> int:
    downloads = app.downloads.downloads()
    out.value(
        [_value(download) for download in downloads],
        lambda: table([_row(download) for download in downloads]) or N_("There are no downloads."),
    )
    return 0


def _resume(app: App, args: argparse.Namespace, out: Output) -> int:
    _set_limits(app.downloads, None)
    app.downloads.resume(args.what)
    return _wait_for(
        app.downloads, args.what, N_("hearth downloads resume {what}", what=args.what), out
    )


def _pause(app: App, args: argparse.Namespace, out: Output) -> int:
    app.downloads.pause(args.what)
    return _show_state(app.downloads.download(args.what), out)


def _cancel(app: App, args: argparse.Namespace, out: Output) -> int:
    app.downloads.cancel(args.what)
    return _show_state(app.downloads.download(args.what), out)


def _show_state(now: Download, out: Output) -> int:
    out.value(_value(now), lambda: _state_line(now))
    return 0


def _state_line(now: Download) -> str:
    return N_("{label}: {state}", label=now.wanted.label, state=_STATES[now.state])


def _set_limits(queue: DownloadQueue, limit: float | None) -> None:
    """Limit the retries, because the user waits at the terminal.

    Args:
        limit: Speed limit in MB/s that replaces the setting; None keeps the setting.
    """
    from_settings = queue.limits
    limit_bytes = None if limit is None else max(0.0, limit) * MB

    def limits() -> DownloadLimits:
        now = replace(from_settings(), patience=Patience(_ATTEMPTS, most_s=30.0))
        return now if limit_bytes is None else replace(now, limit=limit_bytes)

    queue.limits = limits


def _wait_for(queue: DownloadQueue, download: str, again: str, out: Output) -> int:
    """Wait for a download, with a progress bar; Ctrl-C pauses it."""
    queue.start(only={download})
    try:
        now = _follow(queue, download, out)
    except KeyboardInterrupt:
        queue.pause(download)
        out.rewrite("")
        out.note(N_("The downloaded part is kept. `{again}` resumes it.", again=again))
        raise
    if now.state != "done":
        raise _error(now, again)
    paths = queue.paths(download)
    out.value(_pulled(now, paths), lambda: "\n".join(str(path) for path in paths))
    return 0


def _follow(queue: DownloadQueue, download: str, out: Output) -> Download:
    """Show a download's progress until it ends; return its last state."""
    announced = ""
    while True:
        now = queue.download(download)
        if now.state in _FINISHED:
            out.rewrite("")
            return now
        if now.state == "retrying" and now.what != announced:
            out.rewrite("")
            out.note(joined(" ", (now.what, now.why)))
            announced = now.what
        out.rewrite(_line(now))
        time.sleep(_POLL_S)


def _line(now: Download) -> str:
    total = now.wanted.bytes_total
    share = now.bytes_done / total if total else 1.0
    parts = [
        N_("{label} {bar} of {size}", label=now.wanted.label, bar=bar(share), size=size(total))
    ]
    if now.state == "retrying" and now.retry_in_s is not None:
        parts.append(N_("trying again in {seconds} s", seconds=f"{now.retry_in_s:.0f}"))
    elif now.state == "verifying":
        parts.append(N_("checking the downloaded part"))
    if now.bytes_per_s is not None:
        parts.append(N_("{size}/s", size=size(now.bytes_per_s)))
    if now.seconds_left is not None:
        parts.append(N_("{time} left", time=_time(now.seconds_left)))
    return joined("  ", parts)


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _pulled(now: Download, paths: list[Path]) -> dict[str, Any]:
    request = now.wanted
    return {
        "repo": request.repo,
        "revision": request.revision,
        "files": [file.path for file in request.files],
        "paths": [str(path) for path in paths],
        "bytes": request.bytes_total,
        "sha256_verified": True,
    }


def _error(now: Download, again: str) -> AppError:
    if now.state == "cancelled":
        return AppError(
            N_("The download was cancelled."),
            N_("It was cancelled in the window or by another command."),
            N_("`{again}` starts it again.", again=again),
        )
    if not now.what:
        return AppError(
            N_("The download was paused."),
            N_("It was paused in the window or by another command."),
            N_("`{again}` resumes it.", again=again),
        )
    tokens = (
        N_("{do} `hearth token set hf` stores one.", do=now.do)
        if now.code in _SOLVED_BY_TOKEN
        else ""
    )
    error = AppError(now.what, now.why, now.do, terminal=tokens)
    error.code = now.code
    return error


def _value(download: Download) -> dict[str, Any]:
    request = download.wanted
    value = asdict(replace(download, wanted=replace(request, files=())))
    del value["runner"]
    value["wanted"] = {"repo": request.repo, "revision": request.revision, "label": request.label}
    value["wanted"]["files"] = [file.path for file in request.files]
    return {**value, "bytes_total": request.bytes_total}


def _row(download: Download) -> tuple[str, ...]:
    total = download.wanted.bytes_total
    share = download.bytes_done / total if total else 1.0
    state = _STATES[download.state]
    return download.id, state, f"{share:.0%}", size(total), download.wanted.label


PULL = Command(
    "pull",
    "download a model from the Hub",
    pull,
    (
        Argument(
            "what",
            "the model: owner/name, owner/name:QUANT or owner/name/file.gguf",
            metavar="M",
            offers="models",
        ),
        REVISION,
        Argument(
            "--projector",
            "also download the file with which the model sees or hears, or leave it out; "
            "by default it is included if Hearth's catalogue names one",
            action=argparse.BooleanOptionalAction,
            default=None,
        ),
        Argument(
            "--limit",
            f"at most this many megabytes a second; 0 sets no limit; {USUAL}",
            type=float,
            metavar="MB/S",
        ),
    ),
)
_ID = Argument("what", N_("the download's id, as `hearth downloads list` shows it"), metavar="ID")
DOWNLOADS = Command(
    "downloads",
    "list, pause, resume and cancel downloads",
    verbs=(
        Command("list", "list all downloads", _list),
        Command("pause", "pause a download and keep what has arrived", _pause, (_ID,)),
        Command("resume", "continue a download", _resume, (_ID,)),
        Command("cancel", "end a download and delete what has arrived", _cancel, (_ID,)),
    ),
)
