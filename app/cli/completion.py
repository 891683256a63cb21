"""`hearth completion`: scripts that complete its command lines, and the manual's page.

They are made of the parser each time, so they know what this Hearth knows. None of them starts
Hearth while somebody types.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from app.cli import streams
from app.cli.command import Command
from app.cli.described import DescribedCommand, DescribedOption, described
from app.cli.manual import manual

if TYPE_CHECKING:
    from app.cli.output import Output
    from app.store.folder import DataFolder


def print_completion(_: DataFolder, args: argparse.Namespace, __: Output) -> int:
    """Print the script for a shell, or the page."""
    from app.cli.parser import build_parser

    program = described(build_parser())
    streams.say("\n".join(WRITERS[args.shell](program)))
    return 0


def bash(program: DescribedCommand) -> Iterator[str]:
    """Yield the lines of a script for bash."""
    yield "# Completes the command lines of hearth in bash."
    yield "_hearth() {"
    yield "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}"
    yield "    local place= known= files= i"
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
            case _:
                words = " ".join(option.choices)
                found = f'COMPREPLY=($(compgen -W {_quoted(words)} -- "$current"))'
        yield f"        {pattern}) {found}; return ;;"
    yield "    esac"
    yield "    case $place in"
    for command in program.walk():
        words = " ".join(name for name, _ in _words(command))
        files = " files=1" if command.takes_files else ""
        yield f"        {_quoted(_place(command))}) known={_quoted(words)}{files} ;;"
    yield "    esac"
    yield '    COMPREPLY=($(compgen -W "$known" -- "$current"))'
    yield "    if [[ -n $files && $current != -* ]]; then"
    yield "        compopt -o filenames"
    yield '        COMPREPLY+=($(compgen -f -- "$current"))'
    yield "    fi"
    yield "}"
    yield "complete -F _hearth hearth"


def zsh(program: DescribedCommand) -> Iterator[str]:
    """Yield the lines of a script for zsh."""
    yield "#compdef hearth"
    yield "# Completes the command lines of hearth in zsh."
    yield "_hearth() {"
    yield "    local place= files="
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
        yield f"            files={'1' if command.takes_files else ''} ;;"
    yield "    esac"
    yield "    (( $#names )) && _describe -t commands command names"
    yield "    [[ -n $files ]] && _files"
    yield "    [[ ${words[CURRENT]} == -* ]] && _describe -o -t options option options"
    yield "    return 0"
    yield "}"
    # Loaded by compinit it is called once with the first words; sourced it names itself.
    yield 'if [[ $funcstack[1] == _hearth ]]; then _hearth "$@"; else compdef _hearth hearth; fi'


def fish(program: DescribedCommand) -> Iterator[str]:
    """Yield the lines of a script for fish."""
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
        if command.takes_files:
            yield f"{here} -F"
        for option in command.options:
            names = " ".join(
                f"-l {it[2:]}" if it.startswith("--") else f"-s {it[1:]}" for it in option.flags
            )
            choices = f" -a {_quoted(' '.join(option.choices))}" if option.choices else ""
            follows = {"": "", "word": " -x"}.get(option.takes, " -r -F")
            yield f"{here} {names}{follows}{choices} -d {_quoted(option.text)}"


WRITERS: Mapping[str, Callable[[DescribedCommand], Iterable[str]]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
    "man": manual,
}
"""What can be written, by name."""

COMMAND = Command(
    "completion",
    "print the completion script of a shell, or the manual's page",
    run_closed=print_completion,
    declare=lambda parser: parser.add_argument("shell", choices=tuple(WRITERS)),
)


def _place(command: DescribedCommand) -> str:
    """Name a command by its words, each behind a space."""
    return "".join(f" {word}" for word in command.words)


def _places(program: DescribedCommand) -> str:
    return "|".join(_quoted(_place(it)) for it in program.walk() if it.words)


def _words(command: DescribedCommand) -> Iterator[tuple[str, str]]:
    """Yield the words that may follow a command, with what they mean."""
    for it in command.below:
        yield it.words[-1], it.text
    for argument in command.arguments:
        for choice in argument.choices:
            yield choice, argument.text
    for option in command.options:
        for flag in option.flags:
            yield flag, option.text


def _values(program: DescribedCommand) -> Iterator[tuple[str, DescribedOption]]:
    """Yield the options that something follows, with the pattern of `place:option`."""
    for command in program.walk():
        for option in command.options:
            if option.takes:
                place = _place(command)
                yield "|".join(_quoted(f"{place}:{flag}") for flag in option.flags), option


def _quoted(text: str) -> str:
    """Quote a text for any of the shells."""
    return "'" + text.replace("'", "’") + "'"
