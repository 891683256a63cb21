"""`hearth completion`: prints completion scripts for shells, and the manual page.

They are generated from the parser each time, so they know every command of this Hearth. Only for
names that the user gave or chose, such as models, the scripts call `hearth completion --names`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.base.shipped import GUIDES
from app.help.services.guides import Guides
from app.kit.terminal import streams
from app.kit.terminal.command import Argument, Command, WrongUsage
from app.settings.values.fields import fields
from engines.sentences import N_
from engines.text import on_one_line

if TYPE_CHECKING:
    from app.base.folder import DataFolder
    from app.kit.terminal.output import Output
    from app.wiring.app import App

SCRIPTS = ("bash", "zsh", "fish", "powershell", "man")

LISTED_NAMES: Final[Mapping[str, Callable[[App], Iterable[str]]]] = {
    "models": lambda app: (entry.id for entry in app.library.entries()),
    "collections": lambda app: (entry.name for entry in app.knowledge.collections()),
    "assistants": lambda app: (entry.name for entry in app.assistants.assistants()),
    "servers": lambda app: (entry.name for entry in app.servers.list()),
    "clients": lambda app: (entry.name for entry in app.api_keys.clients()),
}
"""The kinds of names that differ from computer to computer."""

FIXED_NAMES: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "settings": fields,
    "guides": lambda: (entry.topic for entry in Guides(GUIDES).all),
}
"""The kinds of names that are the same on every computer."""


def print_completion(folder: DataFolder, args: argparse.Namespace, out: Output) -> int:
    """Print the script for a shell, the manual page, or the names that a script offers."""
    if args.names is not None:
        names = list(_names(folder, args.names))
        out.value(names, lambda: "\n".join(names))
        return 0
    if args.shell is None:
        raise WrongUsage(
            N_("Hearth did not understand that command."),
            N_("No shell is named."),
            N_("Name one of: {names}.", names=", ".join(SCRIPTS)),
        )
    script = script_for(args.shell)
    if out.as_json:
        out.value({"shell": args.shell, "script": script}, str)
    else:
        streams.say(script)
    return 0


def script_for(shell: str) -> str:
    """Return the completion script for a shell, or the manual page for "man"."""
    from app.cli.parser import build_parser

    parser = build_parser()
    if shell == "man":
        from app.cli.manual import manual

        return "\n".join(manual(parser))
    import shtab

    _mark_values(parser)
    # shtab's script for zsh registers itself after `eval` alone; this one does so after `source`.
    return shtab.complete(parser, shell).replace(
        "$zsh_eval_context[-1] == eval", "$zsh_eval_context[-1] == (eval|file)"
    )


def _names(folder: DataFolder, kind: str) -> Iterator[str]:
    """Yield the names that a shell can offer; skip those that cannot be typed on one line."""
    from app.wiring.app import open_app

    with closing(open_app(folder, offline=True)) as app:
        for name in dict.fromkeys(LISTED_NAMES[kind](app)):
            if name and name == on_one_line(name):
                yield name


def _mark_values(parser: argparse.ArgumentParser) -> None:
    """Tell shtab which arguments take files, folders or names.

    Args:
        parser: A parser that serves no other purpose: it then accepts only the names of now.
    """
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                _mark_values(subparser)
            continue
        completable: Any = action  # shtab looks for an attribute that argparse does not declare
        kind = getattr(action, "offers", "")
        if kind in FIXED_NAMES:
            completable.choices = tuple(FIXED_NAMES[kind]())
        elif kind:
            completable.complete = _completion_of(kind)
        elif action.metavar == "DIR":
            completable.complete = shtab.DIRECTORY
        elif action.metavar == "FILE" or action.type is Path:
            completable.complete = shtab.FILE


def _completion_of(kind: str) -> dict[str, Any]:
    """Return what shtab needs to offer the names of a kind.

    It is not `shtab.cmd`, as bash would execute commands inside a name, and zsh would split names
    at spaces and ask for them when it loads the script. PowerShell also takes typographic
    apostrophes for the end of a text, so they are doubled.
    """
    function, command = f"_hearth_{kind}", f"completion --names {kind} 2>/dev/null"
    return {
        "bash": function,
        "zsh": function,
        "fish": f"(hearth {command})",
        "powershell": function,
        "preamble": {
            "bash": f"""
{function}() {{
  local name
  while IFS= read -r name; do
    [[ $name == "$1"* ]] && printf '%q\\n' "$name"
  done < <("${{COMP_WORDS[0]}}" {command})
}}""",
            "zsh": f"""
{function}() {{
  local -a names=("${{(@f)$(${{(Q)_comp_command1:-hearth}} {command})}}")
  compadd "$@" -a names
}}""",
            "powershell": f"""
function {function} {{
  param([string]$WordToComplete)
  hearth completion --names {kind} 2>$null | Where-Object {{ $_ -like "$WordToComplete*" }} |
    ForEach-Object {{
      if ($_ -match '^[\\w./:-]+$') {{ $_ }}
      else {{ "'" + ($_ -replace '[''\\u2018-\\u201b]', '$0$0') + "'" }}
    }}
}}""",
        },
    }


COMMAND = Command(
    "completion",
    "print a completion script for a shell, or the manual page",
    run_closed=print_completion,
    arguments=(
        Argument("shell", "the shell, or man for the manual page", nargs="?", choices=SCRIPTS),
        Argument(
            "--names",
            "print the names that a script offers, one a line; by default the script itself",
            choices=tuple(LISTED_NAMES),
        ),
    ),
)
