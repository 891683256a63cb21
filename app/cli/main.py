"""Runs a command line and returns its exit status."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from app.base.folder import DataFolder
from app.base.home import expand_home
from app.kit.terminal import streams
from app.kit.terminal.display import DisplayTrial, has_display
from app.kit.terminal.interrupt import ending_at_once
from app.window.values.launch_request import LaunchRequest
from engines.errors import UserError
from engines.sentences import N_

if TYPE_CHECKING:
    import argparse

    from app.kit.terminal.output import Output
    from app.wiring.app import App

_NO_DISPLAY = N_("No display found: chatting in the terminal.")


def main(words: Sequence[str] | None = None) -> int:
    """Run a command line.

    Returns:
        0 for success, 1 for an error, 2 for wrong usage, 130 after Ctrl-C.
    """
    streams.prepare()
    words = [_as_text(word) for word in (sys.argv[1:] if words is None else words)]
    folder: DataFolder | None = None
    try:
        if has_display() and (plain_start := parse_plain_start(words)) is not None:
            folder = _folder(plain_start.data_dir)
            status = _in_window(folder, plain_start.offline, LaunchRequest(), words)
            if status is None:
                status = run_in_terminal(_parse(words), folder, words)
        else:
            args = _parse(words)
            folder = _folder(args.data_dir if "data_dir" in args else None)
            status = _carry_out(args, folder, words)
        return status
    except UserError as error:
        return _failed(error, words)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of the output has gone. Nothing more can be written, not even at exit.
        streams.discard(sys.stdout)
        return 1
    except Exception as error:  # noqa: BLE001 - the last handler: reports internal errors
        from app.base.reports import as_user_error

        return _failed(as_user_error(error, folder or DataFolder.default()), words)


def _failed(error: UserError, words: Sequence[str]) -> int:
    """Print an error, and return the exit status."""
    try:
        _output(words).error(error)
    except (BrokenPipeError, UserError):
        streams.discard(sys.stdout)
    return 2 if error.code == "usage" else 1


def _output(words: Sequence[str]) -> Output:
    """Create the output. Imported only here, as a start of the window prints nothing."""
    from app.kit.terminal.output import Output

    return Output(as_json="--json" in words, quiet="--quiet" in words)


def _folder(path: Path | None) -> DataFolder:
    """Return the data folder at a path, or the default one."""
    return DataFolder.default() if path is None else DataFolder(expand_home(path).absolute())


def _carry_out(args: argparse.Namespace, folder: DataFolder, words: Sequence[str]) -> int:
    """Run the parsed command line: in the window if there is one for it, else in the terminal."""
    if args.run_closed is not None:
        _use_language_of(folder)
        return int(args.run_closed(folder, args, _output(words)))
    status = None
    if args.command in (None, "open") and has_display():
        status = _in_window(folder, "offline" in args, _launch_request(args), words)
    return run_in_terminal(args, folder, words) if status is None else status


def _in_window(
    folder: DataFolder, offline: bool, request: LaunchRequest, words: Sequence[str]
) -> int | None:
    """Open the window. If it cannot open, tell the user why and return None."""
    gc.disable()  # Imports create no garbage; the window enables it again.
    try:
        with ending_at_once():
            from app.start import window

            if window.pass_to_open_window(folder, request):
                gc.enable()
                return 0
            trial = DisplayTrial()
            import app.start.running  # noqa: F401 - the window's modules

            why_not = trial.problem()
    except (ImportError, OSError) as error:
        why_not = str(error)
    if why_not:
        gc.enable()
        _output(words).note(
            N_("The window cannot open ({why_not}): the terminal is used instead.", why_not=why_not)
        )
        return None
    return window.open_window(folder, offline, request)


def run_in_terminal(args: argparse.Namespace, folder: DataFolder, words: Sequence[str]) -> int:
    """Run a command of the terminal; return its exit status."""
    with ending_at_once():
        from app.base.reports import keep_log
        from app.wiring.app import open_app

    _use_language_of(folder)
    app = open_app(folder, offline="offline" in args)
    with keep_log(folder), closing(app):
        if app.hindered is not None:
            _output(words).note(app.hindered.in_terminal)
        return _with_app(args, app, _output(words))


def _use_language_of(folder: DataFolder) -> None:
    """Translate into the language of the settings file. This works if the rest cannot be opened."""
    from app.settings.store import SettingsFile

    _use_language(SettingsFile(folder.settings).read().language)


def _use_language(setting: str) -> None:
    """Translate into a language.

    Args:
        setting: A value of the setting `language`; "system" for the terminal's language.
    """
    from app.base.language import language_code, language_of_terminal, use_language

    use_language(language_code(setting, language_of_terminal()))


def _parse(words: Sequence[str]) -> argparse.Namespace:
    with ending_at_once():
        from app.cli.parser import build_parser, with_command

    _use_language("system")
    words = with_command(words)
    return build_parser(words).parse_args(words)


class _PlainStart(NamedTuple):
    """The options that a plain start of the window can have."""

    data_dir: Path | None
    offline: bool


def parse_plain_start(words: Sequence[str]) -> _PlainStart | None:
    """Read the options of a plain start of the window; return None for any other command line.

    This lets the window start without building the whole parser.
    """
    data_dir, offline = None, False
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if word == "--offline":
            offline = True
        elif word == "--data-dir" and remaining and remaining[0].strip() and remaining[0][0] != "-":
            data_dir = Path(remaining.pop(0))
        else:
            return None
    return _PlainStart(data_dir, offline)


def _with_app(args: argparse.Namespace, app: App, out: Output) -> int:
    for fault in app.settings.load().faults:
        out.note(fault.in_terminal)
    if args.command is None and not has_display():
        out.note(_NO_DISPLAY)
    if args.run is None:
        from app.chats.commands.chat import chat_or_answer_once

        return chat_or_answer_once(app, args, out)
    return int(args.run(app, args, out))


def _launch_request(args: argparse.Namespace) -> LaunchRequest:
    """Return the request to the window: the files or the link to open."""
    from app.window.values.links import is_link, path_of

    words = args.files if args.command == "open" else ()
    links = [word for word in words if is_link(word)]
    if len(links) > 1:
        from app.kit.terminal.command import WrongUsage

        raise WrongUsage(
            N_("The links were not opened."),
            N_("There is more than one."),
            N_("Open one after the other."),
        )
    files = [expand_home(path_of(word)).absolute() for word in words if not is_link(word)]
    return LaunchRequest(args.quick_ask, tuple(files), "".join(links))


def _as_text(word: str) -> str:
    """Decode a word. Bytes that are not text are kept only in names of existing files."""
    return word if os.path.lexists(word) else os.fsencode(word).decode("utf-8", "replace")
