"""Writes the manual page of `hearth` from its parser."""

from __future__ import annotations

from collections.abc import Iterator

from app import __version__
from app.cli.described import DescribedCommand, DescribedOption

_ENVIRONMENT = (
    ("HEARTH_DATA_DIR", "where settings, chats, models and logs live, like --data-dir"),
    ("HF_ENDPOINT", "the address of a mirror of the Hugging Face Hub"),
    ("HF_TOKEN", "an access token for the Hub"),
    ("NO_COLOR", "no colours, if it is set"),
)
_STATUS = (
    ("0", "all went well"),
    ("1", "it did not; standard error says what happened, why, and what to do"),
    ("2", "the command line is wrong"),
    ("130", "it was interrupted by Ctrl-C; what was already answered is kept"),
)
_ABOUT = (
    "Hearth runs language models on this computer. Without a command it opens its window, or a chat"
    " in the terminal where there is no display. With names of files, or a link that begins with"
    " “hearth:”, it opens these in the window."
)


def manual(program: DescribedCommand) -> Iterator[str]:
    """Yield the lines of the manual page, for man(1)."""
    yield f'.TH HEARTH 1 "" "Hearth {__version__}" "User Commands"'
    yield ".SH NAME"
    yield r"hearth \- private AI chat on your own computer"
    yield ".SH SYNOPSIS"
    yield _bold("hearth") + r" [\fIoptions\fR] [\fIcommand\fR]"
    yield ".br"
    yield _bold("hearth") + r" [\fIoptions\fR] \fIfile\fR|\fIlink\fR ..."
    yield ".SH DESCRIPTION"
    yield _plain(_ABOUT)
    yield ".SH OPTIONS"
    yield "These may stand before or after a command."
    yield from _options(program.options)
    anywhere = set(program.options)
    yield ".SH COMMANDS"
    for command in program.walk():
        if not command.words:
            continue
        yield f".SS {_plain(' '.join(('hearth', *command.words)))}"
        yield _plain(command.text[:1].upper() + command.text[1:] + ".")
        if command.below:
            yield ".br"
            yield "Followed by one of: " + ", ".join(_bold(it.words[-1]) for it in command.below)
        else:
            yield from _options(command.arguments)
        yield from _options(it for it in command.options if it not in anywhere)
    yield ".SH ENVIRONMENT"
    yield from _terms(_ENVIRONMENT)
    yield ".SH EXIT STATUS"
    yield from _terms(_STATUS)
    yield ".SH SEE ALSO"
    yield _bold("hearth help") + " lists the guides, which say how each thing works."


def _options(options: Iterator[DescribedOption] | tuple[DescribedOption, ...]) -> Iterator[str]:
    for option in options:
        value = f"\\fI{_plain(option.value)}\\fR" if option.takes else ""
        names = ", ".join(map(_bold, option.flags))
        yield ".TP"
        yield " ".join(filter(None, (names, value)))
        one_of = f"One of {', '.join(option.choices)}." if "|" not in option.value else ""
        said = ". ".join(filter(None, (option.text, one_of if option.choices else "")))
        yield _plain(said) or r"\&"


def _terms(terms: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, text in terms:
        yield ".TP"
        yield _bold(name)
        yield _plain(text)


def _bold(text: str) -> str:
    return f"\\fB{_plain(text)}\\fR"


def _plain(text: str) -> str:
    """Escape a text so that man interprets nothing in it."""
    safe = text.replace("\\", r"\e").replace("-", r"\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
