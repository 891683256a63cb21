"""`hearth token`: manages the user's tokens; reads them from standard input, never prints them."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import TYPE_CHECKING, Any

from app.base.errors import NoKeyring
from app.base.language import translated
from app.base.secret import SavedToken, SecretStatus
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output
from app.kit.terminal.streams import read_line
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

_PLACES = {
    "keyring": N_("in the system's keyring"),
    "memory": N_("in memory, for this run only"),
    "environment": N_("in the environment"),
    "none": N_("nowhere"),
}


def _set(app: App, args: argparse.Namespace, out: Output) -> int:
    _show_saved(app.tokens.save(args.what, _read(), test=not args.untested), args.what, out)
    return 0


def _status(app: App, args: argparse.Namespace, out: Output) -> int:
    _show(app.tokens.status(args.what), args.what, out)
    return 0


def _clear(app: App, args: argparse.Namespace, out: Output) -> int:
    _show(app.tokens.clear(args.what), args.what, out)
    return 0


def _read() -> str:
    """Read the token without echoing it."""
    if sys.stdin.isatty():
        return getpass.getpass(translated(N_("Token (it is not shown): ")))
    return read_line()


def _show_saved(saved: SavedToken, service: str, out: Output) -> None:
    """Tell the user where the token is stored.

    Raises:
        NoKeyring: It is only in memory, which ends with this command.
    """
    status = saved.status
    if status.place == "memory":
        why = N_("This system has no keyring, and Hearth writes no token into a file.")
        if saved.account:
            works = N_("The token belongs to {account} and works.", account=saved.account)
            why = joined(" ", (works, why))
        raise NoKeyring(
            N_("The token was not stored."),
            why,
            N_(
                "Install a keyring such as GNOME Keyring or KWallet, or set HF_TOKEN in the "
                "environment."
            ),
        )
    for line in filter(None, (saved.why_untested, status.warning)):
        out.note(line)
    out.value(
        {**_described(status, service), "account": saved.account},
        lambda: (
            N_("Stored the token of {account}.", account=saved.account)
            if saved.account
            else N_("Stored the token.")
        ),
    )


def _show(status: SecretStatus, service: str, out: Output) -> None:
    if status.warning:
        out.note(status.warning)
    sentence = (
        N_("There is a token, {place}.", place=_PLACES[status.place])
        if status.present
        else N_("There is no token.")
    )
    out.value(_described(status, service), lambda: sentence)


def _described(status: SecretStatus, service: str) -> dict[str, Any]:
    return {
        "service": service,
        "present": status.present,
        "place": status.place,
        "warning": status.warning,
    }


_SERVICE = Argument("what", N_("hf, for the Hugging Face Hub"), metavar="SERVICE")

COMMAND = Command(
    "token",
    "manage access tokens in the system's keyring",
    verbs=(
        Command(
            "set",
            "store a token, read from standard input",
            _set,
            (
                _SERVICE,
                Argument(
                    "--untested", "store it without testing it on the Hub", action="store_true"
                ),
            ),
        ),
        Command("status", "show whether a token is stored, and where", _status, (_SERVICE,)),
        Command("clear", "delete a token", _clear, (_SERVICE,)),
    ),
)
