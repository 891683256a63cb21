"""`hearth completion`: prints completion scripts for shells, and the manual page.

They are generated from the parser each time, so they know every command of this Hearth. Only for
names that the user gave or chose, such as models, the scripts call `hearth completion --names`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from app.base.shipped import GUIDES
from app.cli.described import DescribedCommand, DescribedOption, described
from app.cli.manual import manual
from app.help.services.guides import Guides
from app.kit.terminal import streams
from app.kit.terminal.command import Command, WrongUsage
from app.settings.values.fields import fields
from engines.text import on_one_line

if TYPE_CHECKING:
    from app.base.folder import DataFolder
    from app.kit.terminal.output import Output
    from app.wiring.app import App

_ASK = "completion --names"


def print_completion(folder: DataFolder, args: argparse.Namespace, out: Output) -> int:
    """Print the script for a shell, the manual page, or the names that a script offers."""
    if args.names is not None:
        names = list(_names(folder, args.names))
        out.value(names, lambda: "\n".join(names))
        return 0
    if args.shell is None:
        raise WrongUsage(
            "Hearth did not understand that command.",
            "No shell is named.",
            f"Name one of: {', '.join(WRITERS)}.",
        )
    from app.cli.parser import build_parser

    script = "\n".join(WRITERS[args.shell](described(build_parser())))
    if out.as_json:
        out.value({"shell": args.shell, "script": script}, str)
    else:
        streams.say(script)
    return 0


def _names(folder: DataFolder, kind: str) -> Iterator[str]:
    """Yield the names that a shell can offer; skip those that cannot be typed on one line."""
    from app.wiring.app import open_app

    with closing(open_app(folder, offline=True)) as app:
        for name in dict.fromkeys(NAMED[kind](app)):
            if name and name == on_one_line(name):
                yield name


NAMED: Mapping[str, Callable[[App], Iterable[str]]] = {
    "models": lambda app: (it.id for it in app.library.entries()),
    "collections": lambda app: (it.name for it in app.knowledge.collections()),
    "assistants": lambda app: (it.name for it in app.assistants.assistants()),
    "servers": lambda app: (it.name for it in app.servers.list()),
    "clients": lambda app: (it.name for it in app.api_keys.clients()),
}
"""The kinds of names that differ from computer to computer."""


def bash(program: DescribedCommand) -> Iterator[str]:
    """Yield the lines of the completion script for bash."""
    yield "# Completes the command lines of hearth in bash."
    yield "_hearth() {"
    yield "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}"
    yield "    local place= known= files= names= name i"
    yield "    for ((i = 1; i < COMP_CWORD; i++)); do"
    yield '        case "$place ${COMP_WORDS[i]}" in'
    yield f'            {_places(program)}) place+=" ${{COMP_WORDS[i]}}" ;;'
    yield "        esac"
    yield "    done"
    yield '    case "$place:$before" in'
    for pattern, option in _values(program):
        match option.takes:
            case "folder":
                found = 'compopt -o filenames; COMPREPLY=($(compgen -d -- "$current"))'
            case "file":
                found = 'compopt -o filenames; COMPREPLY=($(compgen -f -- "$current"))'
            case _ if option.names in NAMED:
                found = f"_hearth_names {option.names}"
            case _:
                words = " ".join(option.choices)
                found = f'COMPREPLY=($(compgen -W {_quoted(words)} -- "$current"))'
        yield f"        {pattern}) {found}; return ;;"
    yield "    esac"
    yield "    case $place in"
    for command in program.walk():
        words = " ".join(name for name, _ in _words(command))
        files = " files=1" if command.takes_files else ""
        names = f" names={kind}" if (kind := _kind(command)) else ""
        yield f"        {_quoted(_place(command))}) known={_quoted(words)}{files}{names} ;;"
    yield "    esac"
    yield '    COMPREPLY=($(compgen -W "$known" -- "$current"))'
    yield "    if [[ -n $files && $current != -* ]]; then"
    yield "        compopt -o filenames"
    yield '        COMPREPLY+=($(compgen -f -- "$current"))'
    yield "    fi"
    yield '    [[ -n $names && $current != -* ]] && _hearth_names "$names"'
    yield "    return 0"
    yield "}"
    # Not by `compgen -W`, which would execute commands inside a name.
    yield "_hearth_names() {"
    yield "    local name"
    yield "    while IFS= read -r name; do"
    yield '        [[ $name == "$current"* ]] && COMPREPLY+=("$(printf %q "$name")")'
    yield f'    done < <("${{COMP_WORDS[0]}}" {_ASK} "$1" 2>/dev/null)'
    yield "}"
    yield "complete -F _hearth hearth"


def zsh(program: DescribedCommand) -> Iterator[str]:
    """Yield the lines of the completion script for zsh."""
    yield "#compdef hearth"
    yield "# Completes the command lines of hearth in zsh."
    yield "_hearth() {"
    yield "    local place= files= of="
    yield "    local -a names options"
    yield "    local -i i"
    yield "    for ((i = 2; i < CURRENT; i++)); do"
    yield '        case "$place ${words[i]}" in'
    yield f'            ({_places(program)}) place+=" ${{words[i]}}" ;;'
    yield "        esac"
    yield "    done"
    yield '    case "$place:${words[CURRENT-1]}" in'
    for pattern, option in _values(program):
        match option.takes:
            case "folder":
                found = "_files -/"
            case "file":
                found = "_files"
            case _ if option.names in NAMED:
                found = _zsh_names(option.names)
            case _ if option.choices:
                found = f"compadd -- {' '.join(map(_quoted, option.choices))}"
            case _:
                found = f"_message {_quoted(option.value)}"
        yield f"        ({pattern}) {found}; return ;;"
    yield "    esac"
    yield "    case $place in"
    for command in program.walk():
        yield f"        ({_quoted(_place(command))})"
        for name, wanted in (("names", False), ("options", True)):
            shown = [
                _quoted(f"{word.replace(':', chr(92) + ':')}:{text}")
                for word, text in _words(command)
                if word.startswith("-") is wanted
            ]
            yield f"            {name}=({' '.join(shown)})"
        yield f"            files={'1' if command.takes_files else ''} of={_kind(command)} ;;"
    yield "    esac"
    yield "    (( $#names )) && _describe -t commands command names"
    yield "    [[ -n $files ]] && _files"
    yield f"    [[ -n $of && ${{words[CURRENT]}} != -* ]] && {_zsh_names('$of')}"
    yield "    [[ ${words[CURRENT]} == -* ]] && _describe -o -t options option options"
    yield "    return 0"
    yield "}"
    # When compinit loads the script, it calls it once with the first words; when the user sources
    # it, the script has to register itself.
    yield 'if [[ $funcstack[1] == _hearth ]]; then _hearth "$@"; else compdef _hearth hearth; fi'


def fish(program: DescribedCommand) -> Iterator[str]:
    """Yield the lines of the completion script for fish."""
    places = " ".join(_quoted(_place(it)) for it in program.walk() if it.words)
    yield "# Completes the command lines of hearth in fish."
    yield "function __hearth_at"
    yield f"    set -l places {places}"
    yield "    set -l place ''"
    yield "    for word in (commandline -opc)[2..-1]"
    yield '        contains -- "$place $word" $places; and set place "$place $word"'
    yield "    end"
    yield '    test "$place" = "$argv[1]"'
    yield "end"
    yield "complete -c hearth -f"
    for command in program.walk():
        condition = f'__hearth_at "{_place(command)}"'
        here = f"complete -c hearth -n {_quoted(condition)}"
        for it in command.below:
            yield f"{here} -a {_quoted(it.words[-1])} -d {_quoted(it.text)}"
        for argument in command.arguments:
            if argument.choices:
                yield f"{here} -a {_quoted(' '.join(argument.choices))}"
            if fixed := _fixed(argument):
                yield f"{here} -a {_quoted(' '.join(fixed))}"
        if kind := _kind(command):
            yield f"{here} -a {_fish_names(kind)}"
        if command.takes_files:
            yield f"{here} -F"
        for option in command.options:
            names = " ".join(
                f"-l {it[2:]}" if it.startswith("--") else f"-s {it[1:]}" for it in option.flags
            )
            choices = f" -a {_quoted(' '.join(option.choices))}" if option.choices else ""
            if option.names in NAMED:
                choices = f" -a {_fish_names(option.names)}"
            follows = {"": "", "word": " -x"}.get(option.takes, " -r -F")
            yield f"{here} {names}{follows}{choices} -d {_quoted(option.text)}"


WRITERS: Mapping[str, Callable[[DescribedCommand], Iterable[str]]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
    "man": manual,
}
"""The functions that write each script, by its name."""


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=tuple(WRITERS), help="the shell, or man")
    parser.add_argument(
        "--names",
        choices=tuple(NAMED),
        help="print names that a script offers, a line each; by default the script itself",
    )


COMMAND = Command(
    "completion",
    "print the completion script of a shell, or the manual's page",
    run_closed=print_completion,
    declare=_declare,
)


def _kind(command: DescribedCommand) -> str:
    """Return the kind of names that an argument of a command takes; "" for none."""
    return next((it.names for it in command.arguments if it.names in NAMED), "")


def _fixed(option: DescribedOption) -> tuple[str, ...]:
    """Return the names that are the same on every computer."""
    if option.names == "settings":
        return tuple(fields())
    return tuple(it.topic for it in Guides(GUIDES).all) if option.names == "guides" else ()


def _zsh_names(kind: str) -> str:
    return f'compadd -- ${{(f)"$(${{words[1]}} {_ASK} {kind} 2>/dev/null)"}}'


def _fish_names(kind: str) -> str:
    return f"'(hearth {_ASK} {kind} 2>/dev/null)'"


def _place(command: DescribedCommand) -> str:
    """Return a command's words, each preceded by a space."""
    return "".join(f" {word}" for word in command.words)


def _places(program: DescribedCommand) -> str:
    return "|".join(_quoted(_place(it)) for it in program.walk() if it.words)


def _words(command: DescribedCommand) -> Iterator[tuple[str, str]]:
    """Yield the words that can follow a command, with their descriptions."""
    for it in command.below:
        yield it.words[-1], it.text
    for argument in command.arguments:
        for choice in (*argument.choices, *_fixed(argument)):
            yield choice, argument.text
    for option in command.options:
        for flag in option.flags:
            yield flag, option.text


def _values(program: DescribedCommand) -> Iterator[tuple[str, DescribedOption]]:
    """Yield the options that take a value, each with the shell pattern of `place:option`."""
    for command in program.walk():
        for option in command.options:
            if option.takes:
                place = _place(command)
                yield "|".join(_quoted(f"{place}:{flag}") for flag in option.flags), option


def _quoted(text: str) -> str:
    """Quote a text for any of the shells; an apostrophe becomes a typographic one."""
    return "'" + text.replace("'", "’") + "'"
