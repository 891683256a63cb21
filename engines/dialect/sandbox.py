"""Compiles a chat template for a sandbox, with what templates expect to find there.

Apart from `template`, because Jinja takes time and memory that only a rendered template is worth.
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
    """{% generation %} marks the model's own words for training; here it changes nothing."""

    tags = {"generation"}  # noqa: RUF012  jinja2 declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


OLD_VALUES: Final[Mapping[str, Callable[[Sequence[Mapping[str, Any]]], str]]] = {
    "functions": lambda tools: json.dumps(
        [tool["function"] for tool in tools], indent=4, ensure_ascii=False
    ),
    # The day alone: with the time, no prompt would begin like the one before it.
    "datetime": lambda _tools: _now("%Y-%m-%d"),
}
"""What templates from before `tools` take under names of their own, such as firefunction v2's."""


def old_values_of(source: str) -> frozenset[str]:
    """Return which of the OLD_VALUES a template takes, and cannot do without."""
    if not all(name in source for name in OLD_VALUES):
        return frozenset()
    undeclared = meta.find_undeclared_variables(_environment().parse(source))
    return frozenset(OLD_VALUES) if undeclared >= OLD_VALUES.keys() else frozenset()


def compile_template(source: str) -> jinja2.Template:
    """Compile a chat template as Hugging Face does. Raises what Jinja and Python's compiler do."""
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
    """Write JSON without escaping for HTML, as Jinja's own filter would."""
    return json.dumps(value, **{"ensure_ascii": False, **options})


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)
