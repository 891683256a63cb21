"""`hearth serve`: runs the server for other programs until a signal ends it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.api.services.server_control import options_of
from app.base.home import expand_home
from app.kit.terminal.arguments import USUAL
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output
from app.kit.terminal.streams import read_file, read_line
from app.net.values.serving import Address, Reach, ServeOptions, ServerStatus
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.api.services.api_keys import ServerToken
    from app.wiring.app import App

_PLACE_SENTENCES = {
    "keyring": N_("It is kept in the system's keyring."),
    "environment": N_("It comes from HEARTH_API_TOKEN."),
    "memory": N_(
        "This system has no keyring, so the next start creates another one. For one that "
        "stays, name a file with --token-file or set the variable HEARTH_API_TOKEN; `hearth "
        "clients token --new` creates one."
    ),
}
_PERMISSIONS_OF_OTHERS = 0o077
"""The permission bits of a file for everyone but its owner."""
_CHECK_S = 0.2


def serve(app: App, args: argparse.Namespace, out: Output) -> int:
    """Serve until a signal arrives.

    Returns:
        130 after Ctrl-C, as other programs do; 0 after any other signal.
    """
    options = _options(app, args)
    if args.token_stdin:
        app.api_keys.use_token(read_line())
    elif args.token_file is not None:
        file = expand_home(args.token_file)
        app.api_keys.use_token(read_file(file))
        if os.name != "nt" and file.stat().st_mode & _PERMISSIONS_OF_OTHERS:
            out.note(
                N_(
                    "Other accounts on this computer may read {file}; `chmod 600` prevents that.",
                    file=file,
                )
            )
    with _until_signal() as wait:
        # Read the token before the server starts: the server would create it, and we could no
        # longer tell that it is new.
        token = app.api_keys.token() if options.needs_token else None
        status = app.server.start(options)
        out.value(
            {
                "url": f"{status.url}/v1",
                "token": token.secret.reveal() if token is not None else None,
                "token_place": _place(token, args),
                "elsewhere": [f"{url}/v1" for url in status.network_urls],
                "exposed": status.exposed,
                "encrypted": status.encrypted,
            },
            lambda: joined("\n", _lines(status, token, args)),
        )
        if status.exposed and not status.encrypted:
            out.note(
                N_("Others on this network can read the questions, the answers and the token.")
            )
        signal_number = wait()
        app.server.stop()
    return 130 if signal_number == signal.SIGINT else 0


def _options(app: App, args: argparse.Namespace) -> ServeOptions:
    """Return the options from the settings, overridden by the command line."""
    settings = app.settings.read()
    if args.expose:
        reach: Reach = "network_unencrypted" if args.without_tls else "network"
        settings = replace(settings, server_expose=reach)
    options = options_of(settings)
    if args.tls_cert is not None or args.tls_key is not None:
        options = replace(
            options, certificate=_absolute_path(args.tls_cert), key=_absolute_path(args.tls_key)
        )
    address = options.address
    return replace(
        options,
        address=Address(
            address.host if args.host is None else args.host,
            address.port if args.port is None else args.port,
        ),
        needs_token=not args.no_token,
        names=(*options.names, *(name.lower() for name in args.name)),
        window_open=False,
    )


def _absolute_path(path: Path | None) -> Path | None:
    return path and expand_home(path).absolute()


def _place(token: ServerToken | None, args: argparse.Namespace) -> str:
    if token is None:
        return "none"
    is_supplied = args.token_stdin or args.token_file is not None
    return "given" if is_supplied else token.status.place


def _lines(
    status: ServerStatus, token: ServerToken | None, args: argparse.Namespace
) -> Iterator[str]:
    yield N_("Listening at {url}/v1; Ctrl-C ends it.", url=status.url)
    for url in status.network_urls:
        yield N_("For other computers: {url}/v1", url=url)
    place = _place(token, args)
    if token is None:
        yield N_("There is no token: every program on this computer can use the server.")
    elif token.is_new:
        yield N_("Token: {token}", token=token.secret.reveal())
        yield N_("It is shown only now. {place}", place=_PLACE_SENTENCES[place])
    elif place == "given":
        yield N_("The token is the one that you supplied.")
    else:
        yield N_("{place} `hearth clients token` shows it.", place=_PLACE_SENTENCES[place])


@contextmanager
def _until_signal() -> Iterator[Callable[[], int]]:
    """Yield a function that waits for a signal to end the server and returns the signal's number.

    Call it on the main thread. Signals that arrive before anyone waits are remembered. A signal
    that was ignored at the start stays ignored: `nohup` and background jobs of a shell rely on
    that.
    """
    received: list[int] = []
    arrived = threading.Event()

    def note_signal(number: int, _frame: Any) -> None:
        received.append(number)
        arrived.set()

    if sys.platform == "win32":
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)
    else:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    old_handlers = {
        number: signal.signal(number, note_signal)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }

    def wait() -> int:
        # Wait in short steps, because a long wait cannot be interrupted on Windows.
        while not arrived.wait(_CHECK_S):
            pass
        return received[0]

    try:
        yield wait
    finally:
        for signal_number, handler in old_handlers.items():
            signal.signal(signal_number, handler)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port, which is 0 to 65535")
    return int(text)


COMMAND = Command(
    "serve",
    "let other programs use your models, by the protocols of OpenAI and Anthropic",
    serve,
    (
        Argument(
            "--host",
            "the address of this computer to listen at; by default 127.0.0.1, which only programs "
            "on this computer can reach",
            metavar="ADDRESS",
        ),
        Argument(
            "--port",
            f"the port to listen at; 0 takes a free one; {USUAL}",
            type=_port,
            metavar="PORT",
        ),
        Argument(
            "--expose",
            "let other computers connect, at all addresses or at the one of --host",
            action="store_true",
        ),
        Argument(
            "--tls-cert",
            "a PEM file with the server's certificate; by default the one in the settings",
            type=Path,
            metavar="FILE",
        ),
        Argument(
            "--tls-key",
            "a PEM file with the key of the certificate; by default the one in the settings",
            type=Path,
            metavar="FILE",
        ),
        Argument(
            "--without-tls",
            "let other computers connect without encryption; others on the network can then read "
            "everything",
            action="store_true",
        ),
        Argument(
            "--name",
            "a name by which other computers call this one; can be given several times",
            action="append",
            default=[],
            metavar="HOST",
        ),
        (
            Argument(
                "--token-stdin",
                "read the token of this run from standard input",
                action="store_true",
            ),
            Argument(
                "--token-file",
                "read the token of this run from a file; by default it is the one in the keyring",
                type=Path,
                metavar="FILE",
            ),
            Argument(
                "--no-token",
                "let every program of this computer use the server without a token",
                action="store_true",
            ),
        ),
    ),
)
