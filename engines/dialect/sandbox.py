"""The compilation of a chat template for a sandbox, with the functions that templates expect there.

It is separate from `template`, because importing Jinja takes time and memory, which is needed only
when a template is rendered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NoReturn

import jinja2
from jinja2 import meta, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment


class _GenerationTag(Extension):
    """The tag {% generation %}, which marks text for training; here it has no effect."""

    tags = {"generation"}  # noqa: RUF012  jinja2 declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


OLD_VALUES: Final[Mapping[str, Callable[[Sequence[Mapping[str, Any]]], str]]] = {
    "functions": lambda tools: json.dumps(
        [tool["function"] for tool in tools], indent=4, ensure_ascii=False
    ),
    # Only the date: with the time, no prompt would begin like the one before it.
    "datetime": lambda _tools: _now("%Y-%m-%d"),
}
"""The variables that templates from before `tools` expect, such as that of firefunction v2."""


def old_values_of(source: str) -> frozenset[str]:
    """Return the OLD_VALUES that a template cannot be rendered without."""
    if not all(name in source for name in OLD_VALUES):
        return frozenset()
    undeclared = meta.find_undeclared_variables(_environment().parse(source))
    return frozenset(OLD_VALUES) if undeclared >= OLD_VALUES.keys() else frozenset()


def compile_template(source: str) -> jinja2.Template:
    """Compile a chat template as Hugging Face does. Raises Jinja's and Python's errors."""
    return _environment().from_string(source)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _GenerationTag]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = _now
    return environment


def _to_json(value: object, **options: Any) -> str:
    """Return JSON without the HTML escapes of Jinja's own filter."""
    return json.dumps(value, **{"ensure_ascii": False, **options})


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)
