"""Writes the grammar of calls: what follows once a model begins to ask for tools. Pure.

The names are those of the tools that were offered, and the arguments follow their schemas. What
begins calls is no part of the grammar: until then an answer is free.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from engines.dialect.formats import CallFormat
from engines.dialect.values import is_text
from engines.errors import GrammarInvalid
from engines.llamacpp.gbnf import MAX_REPETITIONS
from engines.llamacpp.grammar import ROOT, require_grammar
from engines.llamacpp.json_schema import grammar_of
from engines.types import Tool

_BLANKS: Final = '(" " | "\\n" " "{0,8})?'
"""What may stand between the parts of a call; more, and a weak model writes nothing but blanks."""
_ANY_OBJECT: Final = '{"type": "object"}'
_ANY_VALUE: Final = "{}"
_TOKENS: Final = re.compile(
    r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|#[^\r\n]*|[A-Za-z0-9-]*[A-Za-z][A-Za-z0-9-]*'
)
"""Texts, sets, comments and names of GBNF."""
_DEPTH: Final = 12
"""Values within each other that are written out for Gemma's form."""


@dataclass(frozen=True)
class CallGrammar:
    """A grammar in GBNF. free: tools whose arguments it leaves free, as it cannot say more."""

    text: str
    free: tuple[str, ...] = ()


def call_grammar(form: CallFormat, tools: Sequence[Tool], *, parallel: bool) -> CallGrammar:
    """Write the grammar behind the first of `form.begins`. Raises GrammarInvalid.

    parallel: several calls may follow each other.
    """
    told = tuple(json.dumps([it.name, "", dict(it.parameters)]) for it in tools)
    return _call_grammar(form, told, parallel)


def arguments_grammar(tool: Tool) -> CallGrammar:
    """Write the grammar of the arguments of one tool as JSON. Raises GrammarInvalid."""
    rules = _Rules()
    rules.add(ROOT, rules.arguments(tool))
    return rules.checked()


def answer_or_calls(answer: str, begin: str, calls: CallGrammar) -> str:
    """Write the grammar of an answer that follows one, or asks for tools. Raises GrammarInvalid.

    begin: what begins calls.
    """
    begins = f"{_literal(begin)} " if begin else ""
    text = "\n".join(
        (
            f"{ROOT} ::= answer-{ROOT} | {begins}calls-{ROOT}",
            _prefixed(answer, "answer-"),
            _prefixed(calls.text, "calls-"),
        )
    )
    require_grammar(text)
    return text


@lru_cache(maxsize=8)  # the tools of an agent come back with each of its requests
def _call_grammar(form: CallFormat, told: tuple[str, ...], parallel: bool) -> CallGrammar:
    tools = [Tool(*json.loads(it)) for it in told]
    try:
        return _written(form, tools, parallel=parallel, free=False)
    except GrammarInvalid:
        # Together they are too much; the names still hold, and the form.
        grammar = _written(form, tools, parallel=parallel, free=True)
        return CallGrammar(grammar.text, tuple(it.name for it in tools))


def _written(form: CallFormat, tools: Sequence[Tool], *, parallel: bool, free: bool) -> CallGrammar:
    rules = _Rules(only_free=free)
    one = _STYLES[form.style](form, tools, rules)
    rules.add("call", " | ".join(one))
    rules.add(ROOT, _sections(form, parallel=parallel))
    return rules.checked()


def _sections(form: CallFormat, *, parallel: bool) -> str:
    """Write how calls follow each other, behind what begins the first."""
    blank, more = _BLANKS, parallel
    opens = _literal(form.opens) if form.opens else ""
    first = "" if form.begins and form.begins[0] == form.opens else opens
    ends = _literal(form.ends) if form.ends else ""
    begins = _literal(form.begins[0]) if form.begins else ""
    # Directly behind these stands the name.
    lead = blank if first or form.style in ("object", "python", "braces", "tagged") else ""
    if form.listed or (form.style == "python" and form.plural):
        again = f'({blank} "," {blank} call)*' if more else ""
        return f'{blank} "[" {blank} call {again} {blank} "]" {blank} {ends}'
    if form.plural:
        between = opens or (f'";" {blank}' if form.bare else "")
        again = f"({blank} {between} call)*" if more and between else ""
        return f"{lead} {first} call {again} {blank} {ends}"
    again = f"({blank} {begins} {lead} {first} call {blank} {ends})*" if more and begins else ""
    return f"{lead} {first} call {blank} {ends} {again}"


@dataclass
class _Rules:
    """The rules of one grammar. only_free: arguments may be any JSON."""

    only_free: bool = False
    rules: dict[str, str] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    free: list[str] = field(default_factory=list)

    def add(self, name: str, body: str) -> str:
        self.rules[name] = body
        return name

    def new(self, body: str) -> str:
        return self.add(f"r{len(self.rules)}", body)

    def checked(self) -> CallGrammar:
        own = "\n".join(f"{name} ::= {body}" for name, body in self.rules.items())
        text = "\n".join([own, *self.parts]) + "\n"
        require_grammar(text)
        return CallGrammar(text, tuple(self.free))

    def schema(self, schema: Mapping[str, Any], otherwise: str, tool: str) -> str:
        """Return the rule of what follows a schema; `otherwise` where no grammar can say it."""
        written = otherwise if self.only_free else json.dumps(schema)
        if written not in self.known:
            try:
                grammar = grammar_of(written)
            except GrammarInvalid:
                grammar = ""
            if grammar:
                prefix = f"s{len(self.known)}-"
                self.parts.append(_prefixed(grammar, prefix))
                self.known[written] = prefix + ROOT
            else:
                self.free.append(tool)
                self.known[written] = self.schema(json.loads(otherwise), otherwise, tool)
        return self.known[written]

    def arguments(self, tool: Tool) -> str:
        return self.schema({"type": "object", **tool.parameters}, _ANY_OBJECT, tool.name)

    def until(self, end: str) -> str:
        """Return the rule of any text that does not hold `end`, as an automaton finds it."""
        if end in self.known:
            return self.known[end]
        name = f"u{len(self.rules)}"
        self.known[end] = f"{name}-0"
        letters = dict.fromkeys(end)
        for state in range(len(end)):
            others = "".join(map(_in_set, letters))
            ways = [f"[^{others}] {name}-0"]
            for letter in letters:
                after = _advanced(end, state, letter)
                if after < len(end):
                    ways.append(f"{_literal(letter)} {name}-{after}")
            self.add(f"{name}-{state}", f'{" | ".join(ways)} | ""')
        return f"{name}-0"


def _objects(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls that are JSON as a whole."""
    blank, calls = _BLANKS, []
    for tool in tools:
        arguments, name = rules.arguments(tool), _literal(json.dumps(tool.name))
        if not form.arguments:
            inside = f'{name} {blank} ":" {blank} {arguments}'
        else:
            keys = [form.arguments]
            if form.bare and form.name_key == "name":
                keys = list(dict.fromkeys([*keys, "parameters", "arguments"]))
            told = " | ".join(_literal(json.dumps(key)) for key in keys)
            inside = (
                f'{_literal(json.dumps(form.name_key))} {blank} ":" {blank} {name} {blank} ","'
                f' {blank} ({told}) {blank} ":" {blank} {arguments}'
            )
            if form.bare:
                # Models without markers have learnt several spellings, which are all read.
                kind = f'"\\"type\\"" {blank} ":" {blank} "\\"function\\"" {blank} "," {blank}'
                inside = f"({kind})? {inside}"
        if form.id_key:
            number = f'"\\"" [0-9a-zA-Z]{{1,9}} "\\"" {blank} "," {blank}'
            inside = f'{_literal(json.dumps(form.id_key))} {blank} ":" {blank} {number} {inside}'
        calls.append(f'"{{" {blank} {inside} {blank} "}}"')
    return calls


def _named(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls with the name before JSON."""
    calls = []
    for tool in tools:
        name = _literal(tool.name)
        if form.numbered:
            name = f"{_literal('functions.' + tool.name + ':')} [0-9]{{1,4}}"
        elif form.id_after:
            name = f"{name} ({_literal(form.id_after)} [0-9a-zA-Z]{{9}})?"
        elif form.id_before:
            name = f"[0-9a-zA-Z_-]{{1,40}} {_literal(form.id_before)} {name}"
        closes = _literal(form.closes) if form.closes else ""
        calls.append(f"{name} {_literal(form.names)} {rules.arguments(tool)} {closes}")
    return calls


def _channels(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write messages of the harmony format, behind “to=functions.”."""
    del form
    header = _literal(" <|constrain|>json<|message|>")
    return [f"{_literal(it.name)} {header} {rules.arguments(it)}" for it in tools]


def _tagged(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls with each argument between markers."""
    closes = _literal(form.closes) if form.closes else ""
    calls = []
    for tool in tools:
        if rules.only_free:
            any_ = f"({_BLANKS} {_any_tagged(form, rules)})*"
            calls.append(f"{_literal(tool.name + form.names)} {any_} {_BLANKS} {closes}")
            continue
        ways = [
            f"{_BLANKS} {_tagged_argument(form, tool, name, schema, rules)}{mark}"
            if not mark
            else f"({_BLANKS} {_tagged_argument(form, tool, name, schema, rules)}){mark}"
            for name, schema, mark in _properties(tool)
        ]
        names = form.names
        if form.name == "kimi_k3":
            names = '" index="1"' + names
        calls.append(f"{_literal(tool.name + names)} {' '.join(ways)} {_BLANKS} {closes}")
    return calls


def _tagged_argument(
    form: CallFormat, tool: Tool, name: str, schema: Mapping[str, Any], rules: _Rules
) -> str:
    text = is_text(tool, name) is not False
    end = form.value_end.replace("{key}", name)
    typed = ""
    if form.typed:
        kinds = ("string", "number") if "type" in form.typed else ("true", "false")
        typed = form.typed + kinds[0 if text else 1]
        typed += '"' if not form.key_end.startswith('"') else ""
    head = _literal(form.key + name + typed + form.key_end)
    if form.value:
        head = f"{head} {_BLANKS} {_literal(form.value)}"
    padding = '"\\n"' if form.padded else ""
    if not text:
        whole = {**schema, **_definitions(tool)}
        value = rules.schema(whole, _ANY_VALUE, tool.name)
    elif choices := _choices(schema):
        value = "(" + " | ".join(map(_literal, choices)) + ")"
    else:
        value = rules.until(("\n" if form.padded else "") + end)
    return f"{head} {padding} {value} {padding} {_literal(end)}"


def _any_tagged(form: CallFormat, rules: _Rules) -> str:
    """Return the rule of any argument between markers."""
    if "any-argument" not in rules.rules:
        key = rules.add("any-key", "[A-Za-z0-9_.-]{1,64}")
        kinds = f'{_literal(form.typed)} [a-z]{{1,9}} "\\""?' if form.typed else ""
        value = f"{_BLANKS} {_literal(form.value)}" if form.value else ""
        end, named, rest = form.value_end.partition("{key}")
        after = f"{key} {_literal(rest)}" if named else ""
        rules.add(
            "any-argument",
            f"{_literal(form.key)} {key} {kinds} {_literal(form.key_end)} {value}"
            f" {rules.until(end)} {_literal(end)} {after}",
        )
    return "any-argument"


def _python(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls as Python has them; their values are those of JSON, which are read, too."""
    del form
    calls = []
    for tool in tools:
        if rules.only_free:
            value = rules.schema({}, _ANY_VALUE, tool.name)
            item = rules.new(f'[A-Za-z_] [A-Za-z0-9_]{{0,63}} "=" {value}')
            calls.append(f'{_literal(tool.name + "(")} ({item} (", " {item})*)? ")"')
            continue
        items = []
        for name, schema, mark in _properties(tool):
            value = rules.schema({**schema, **_definitions(tool)}, _ANY_VALUE, tool.name)
            items.append((f"{_literal(name + '=')} {value}", bool(mark)))
        calls.append(f'{_literal(tool.name + "(")} {_between(items, ", ", rules)} ")"')
    return calls


def _braces(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls in Gemma's form, whose arguments are in the order of their names."""
    if rules.only_free:
        _brace_any(form, rules)
        anything = '"{" (brace-pair ("," brace-pair)*)? "}"'
        return [f"{_literal(it.name)} {anything}" for it in tools]
    return [
        f"{_literal(it.name)} {_brace_object(form, it.parameters, rules, _DEPTH)}" for it in tools
    ]


def _brace_object(form: CallFormat, schema: Mapping[str, Any], rules: _Rules, depth: int) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    required = required if isinstance(required, list) else []
    if not isinstance(properties, Mapping):
        properties = {}
    items = [
        (
            f"{_literal(name + ':')} {_brace_value(form, properties[name], rules, depth)}",
            name not in required,
        )
        for name in sorted(properties)
    ]
    return f'"{{" {_between(items, ",", rules)} "}}"'


def _brace_value(form: CallFormat, schema: object, rules: _Rules, depth: int) -> str:
    """Return the rule of a value in Gemma's form; what it cannot say may be anything."""
    told = schema if isinstance(schema, Mapping) and depth > 0 else {}
    quote, kind = _literal(form.quote), told.get("type")
    if choices := _choices(told):
        body = " | ".join(f"{quote} {_literal(it)} {quote}" for it in choices)
    elif kind == "string":
        body = f"{quote} {rules.until(form.quote)} {quote}"
    elif kind in ("integer", "number", "boolean", "null"):
        body = rules.schema(told, _ANY_VALUE, "")
    elif kind == "array":
        body = _array(_brace_value(form, told.get("items"), rules, depth - 1), told)
    elif kind == "object" and told.get("properties"):
        body = _brace_object(form, told, rules, depth - 1)
    else:
        body = _brace_any(form, rules)
    return rules.new(body)


def _array(item: str, schema: Mapping[str, Any]) -> str:
    """Write an array of as many items as the schema allows."""
    least, most = (schema.get(it) for it in ("minItems", "maxItems"))
    least = min(least, MAX_REPETITIONS) if isinstance(least, int) else 0
    if most == 0:
        return '"[]"'
    after = f"{min(most - 1, MAX_REPETITIONS)}" if isinstance(most, int) else ""
    items = f'{item} ("," {item}){{{max(least - 1, 0)},{after}}}'
    return f'"[" {items} "]"' if least else f'"[" ({items})? "]"'


def _brace_any(form: CallFormat, rules: _Rules) -> str:
    """Return the rule of any value in Gemma's form."""
    if "brace-any" not in rules.rules:
        quote, text = _literal(form.quote), rules.until(form.quote)
        simple = rules.schema({"type": ["number", "boolean", "null"]}, _ANY_VALUE, "")
        rules.add("brace-pair", '[A-Za-z0-9_-]{1,60} ":" brace-any')
        rules.add(
            "brace-any",
            f"{quote} {text} {quote} | {simple}"
            ' | "[" (brace-any ("," brace-any)*)? "]"'
            ' | "{" (brace-pair ("," brace-pair)*)? "}"',
        )
    return "brace-any"


_STYLES: Final[Mapping[str, Callable[[CallFormat, Sequence[Tool], _Rules], list[str]]]] = {
    "object": _objects,
    "named": _named,
    "tagged": _tagged,
    "python": _python,
    "braces": _braces,
    "channel": _channels,
}


def _properties(tool: Tool) -> Iterable[tuple[str, Mapping[str, Any], str]]:
    """Yield each argument with its schema, and "?" where it may be missing."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    required = required if isinstance(required, list) else []
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        told = schema if isinstance(schema, Mapping) else {}
        yield str(name), told, "" if name in required else "?"


def _definitions(tool: Tool) -> dict[str, Any]:
    return {it: tool.parameters[it] for it in ("$defs", "definitions") if it in tool.parameters}


def _choices(schema: Mapping[str, Any]) -> list[str]:
    """List the texts that a schema allows, where it lists them all."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    listed = values if isinstance(values, list) else []
    return listed if all(isinstance(it, str) for it in listed) else []


def _between(items: Sequence[tuple[str, bool]], comma: str, rules: _Rules) -> str:
    """Return the rule of items in their order, with commas between those that are there.

    items: each with whether it may be missing.
    """
    begun, fresh = '""', '""'
    for body, optional in reversed(items):
        item = rules.new(body)
        with_comma, alone = f"{_literal(comma)} {item} {begun}", f"{item} {begun}"
        begun = rules.new(f"{with_comma} | {begun}" if optional else with_comma)
        fresh = rules.new(f"{alone} | {fresh}" if optional else alone)
    return fresh


def _prefixed(grammar: str, prefix: str) -> str:
    """Return a grammar with this before the name of each rule."""
    return _TOKENS.sub(lambda it: it[0] if it[0][0] in '"[#' else prefix + it[0], grammar)


def _advanced(text: str, state: int, letter: str) -> int:
    """Return how much of `text` has been met behind `state` letters of it and this one."""
    met = text[:state] + letter
    return next(size for size in range(len(met), -1, -1) if met.endswith(text[:size]))


def _literal(text: str) -> str:
    """Write a text as GBNF has it."""
    told = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{told}"'.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _in_set(letter: str) -> str:
    """Write a character as it stands in a set of GBNF."""
    if letter in '\\]-[^"':
        return f"\\x{ord(letter):02X}"
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(letter, letter)
