"""Runs a chat template: a program that comes with the model file, in a sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engines.errors import TemplateFailed

# Far more than any context takes; a template writes some ten pieces for each message.
_MOST_PIECES = 1_000_000
_MOST_TEXT = 1 << 26


class Template:
    """A compiled template. Raises TemplateFailed, also when it is made."""

    def __init__(self, source: str) -> None:
        self._template = _compile(source)

    def run(self, messages: list[dict[str, object]], values: Mapping[str, object]) -> str:
        """What it writes for these messages, up to where the answer begins."""
        try:
            return _limited(
                self._template.generate(
                    messages=messages,
                    add_generation_prompt=True,
                    tools=None,
                    documents=None,
                    **values,
                )
            )
        except Exception as error:  # a foreign program may raise anything
            raise TemplateFailed(
                "The model's chat template does not accept this conversation.",
                f"It says: {str(error) or type(error).__name__}.",
                "Start a new chat, or choose another model.",
            ) from error


class _GenerationTag(Extension):
    """{% generation %} marks the model's own words for training; here it changes nothing."""

    tags = {"generation"}  # noqa: RUF012  jinja2 declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _compile(source: str) -> jinja2.Template:
    """The template with what Hugging Face's templates expect to find."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _GenerationTag]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = _now
    try:
        return environment.from_string(source)
    except Exception as error:  # Python's own compiler may refuse what jinja2 makes of it
        raise TemplateFailed(
            "The model's chat template cannot be used.",
            f"It is not written correctly: {str(error) or type(error).__name__}.",
            "Get the model from another place, or choose another one.",
        ) from error


def _limited(pieces: Iterable[str]) -> str:
    """The pieces as one text; raises ValueError if they are endless.

    A template that writes nothing in its loops, or collects the text in a variable or a macro,
    is not stopped: it yields no piece meanwhile.
    """
    kept: list[str] = []
    length = 0
    for piece in pieces:
        kept.append(piece)
        length += len(piece)
        if len(kept) > _MOST_PIECES or length > _MOST_TEXT:
            raise ValueError("the prompt it writes has no end")
    return "".join(kept)


def _to_json(value: object, **options: Any) -> str:
    """Jinja's own filter would escape for HTML."""
    return json.dumps(value, **{"ensure_ascii": False, **options})


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)
