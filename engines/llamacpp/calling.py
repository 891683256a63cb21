"""The grammar of tool calls: it takes over once a model begins to call tools. Pure.

The names are those of the offered tools, and the arguments follow their schemas. The text that
begins a call is not part of the grammar: until it appears, the answer is free.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from engines.dialect.formats import CallFormat
from engines.dialect.values import is_text
from engines.errors import GrammarInvalid
from engines.llamacpp.json_schema import PreparedSchema, Schema, prepare_arguments
from engines.llamacpp.lark import Lark, literal
from engines.types import Tool

_BLANKS: Final = r"/( |\n {0,8})?/"
"""The blanks allowed between the parts of a call; with more, weak models write nothing but blanks.
"""
_ANY_OBJECT: Final[Schema] = {"type": "object"}
_ANY_VALUE: Final[Schema] = {}
_MOST_ITEMS: Final = 2000
"""The most array items that are counted in Gemma's format."""
_DEPTH: Final = 12
"""The nesting depth to which values are written out in Gemma's format."""

Weaken = Callable[[PreparedSchema], PreparedSchema]
"""A function that removes from a tool's schema what cannot be enforced. Raises GrammarInvalid."""


@dataclass(frozen=True)
class CallGrammar:
    """A grammar of tool calls.

    Attributes:
        text: The grammar for llguidance.
        unenforced: The parts of the tools' schemas that the grammar does not enforce: a tool's
            name, with a path in its schema and the keyword there, or "" for the whole schema.
    """

    text: str
    unenforced: tuple[tuple[str, str], ...] = ()


def call_grammar(
    form: CallFormat,
    tools: Sequence[Tool],
    *,
    parallel: bool,
    weaken: Weaken | None = None,
    free: bool = False,
) -> CallGrammar:
    """Write the grammar of the text after the first of `form.begins`.

    Args:
        form: The format in which the model writes calls.
        tools: The tools that the model may call.
        parallel: Whether several calls may follow each other.
        weaken: Weakens the tools' schemas; None leaves them unchanged.
        free: Whether to enforce only the names and allow any arguments.
    """
    if weaken is None:
        described = tuple(json.dumps([tool.name, "", dict(tool.parameters)]) for tool in tools)
        return _call_grammar(form, described, parallel, free)
    lark = Lark()
    start, unenforced = write_calls(lark, form, tools, parallel=parallel, weaken=weaken, free=free)
    return CallGrammar(lark.text(start), unenforced)


@lru_cache(maxsize=8)  # an agent sends the same tools with each request
def _call_grammar(
    form: CallFormat, described: tuple[str, ...], parallel: bool, free: bool
) -> CallGrammar:
    lark = Lark()
    tools = [Tool(*json.loads(tool)) for tool in described]
    start, unenforced = write_calls(lark, form, tools, parallel=parallel, free=free)
    return CallGrammar(lark.text(start), unenforced)


def arguments_grammar(
    tool: Tool, *, weaken: Weaken | None = None, free: bool = False
) -> CallGrammar:
    """Write the grammar of one tool's arguments as JSON. See `call_grammar`."""
    rules = _Rules(Lark(), weaken, only_free=free)
    text = rules.lark.text(rules.arguments(tool))
    return CallGrammar(text, tuple(rules.unenforced))


def write_calls(
    lark: Lark,
    form: CallFormat,
    tools: Sequence[Tool],
    *,
    parallel: bool,
    weaken: Weaken | None = None,
    free: bool = False,
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Write the rules of calls; return the name of the start rule and the parts not enforced."""
    rules = _Rules(lark, weaken, only_free=free)
    one = _STYLES[form.style](form, tools, rules)
    rules.add("call", " | ".join(one))
    start = rules.add("calls", _sections(form, parallel=parallel))
    return start, tuple(dict.fromkeys(rules.unenforced))


def _sections(form: CallFormat, *, parallel: bool) -> str:
    """Write how calls follow each other, after the text that begins the first call."""
    blank, more = _BLANKS, parallel
    opens = literal(form.opens) if form.opens else ""
    first = "" if form.begins and form.begins[0] == form.opens else opens
    ends = literal(form.ends) if form.ends else ""
    begins = literal(form.begins[0]) if form.begins else ""
    # In other styles, the name follows directly.
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
    """The rules of one grammar.

    Attributes:
        lark: The grammar that the rules are written to.
        weaken: Weakens schemas, if given.
        only_free: Whether arguments can be any JSON.
        unenforced: The parts of the tools' schemas that are not enforced.
        known: The rules of schemas already written, by their JSON.
    """

    lark: Lark
    weaken: Weaken | None = None
    only_free: bool = False
    unenforced: list[tuple[str, str]] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, body: str) -> str:
        return self.lark.add(name, body)

    def new(self, body: str) -> str:
        return self.lark.new(body)

    def schema(self, schema: Schema, otherwise: Schema, tool: str, base: str = "#") -> str:
        """Return the name of the rule for JSON that follows a schema.

        Args:
            schema: The schema.
            otherwise: A simpler schema to use if `schema` cannot be used.
            tool: The name of the tool that the schema belongs to.
            base: The path of the schema within the tool's schema.
        """
        written = json.dumps(otherwise if self.only_free else schema)
        if written not in self.known:
            self.known[written] = self._json(
                otherwise if self.only_free else schema, otherwise, tool, base
            )
        elif self.only_free:
            self.unenforced.append((tool, ""))
        return self.known[written]

    def _json(self, schema: Schema, otherwise: Schema, tool: str, base: str) -> str:
        if self.only_free:
            self.unenforced.append((tool, ""))
        try:
            prepared = prepare_arguments(schema)
            if self.weaken is not None and not self.only_free:
                prepared = self.weaken(prepared)
        except GrammarInvalid:
            self.unenforced.append((tool, "" if base == "#" else base))
            prepared = prepare_arguments(otherwise)
        self.unenforced += [(tool, base + path.removeprefix("#")) for path in prepared.unenforced]
        return self.lark.json(prepared.schema)

    def arguments(self, tool: Tool) -> str:
        """Return the name of the rule for all arguments of a tool, as a JSON object."""
        return self.schema({"type": "object", **tool.parameters}, _ANY_OBJECT, tool.name)


def _objects(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls that consist entirely of JSON."""
    blank, calls = _BLANKS, []
    for tool in tools:
        arguments, name = rules.arguments(tool), literal(json.dumps(tool.name))
        if not form.arguments:
            inside = f'{name} {blank} ":" {blank} {arguments}'
        else:
            keys = [form.arguments]
            if form.bare and form.name_key == "name":
                keys = list(dict.fromkeys([*keys, "parameters", "arguments"]))
            argument_keys = " | ".join(literal(json.dumps(key)) for key in keys)
            inside = (
                f'{literal(json.dumps(form.name_key))} {blank} ":" {blank} {name} {blank} ","'
                f' {blank} ({argument_keys}) {blank} ":" {blank} {arguments}'
            )
            if form.bare:
                # Models without markers have learnt several spellings; Hearth reads them all.
                kind = f'"\\"type\\"" {blank} ":" {blank} "\\"function\\"" {blank} "," {blank}'
                inside = f"({kind})? {inside}"
        if form.id_key:
            number = f'/"[0-9a-zA-Z]{{1,9}}"/ {blank} "," {blank}'
            inside = f'{literal(json.dumps(form.id_key))} {blank} ":" {blank} {number} {inside}'
        calls.append(f'"{{" {blank} {inside} {blank} "}}"')
    return calls


def _named(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls with the tool's name before the JSON."""
    calls = []
    for tool in tools:
        name = literal(tool.name)
        if form.numbered:
            name = f"{literal('functions.' + tool.name + ':')} /[0-9]{{1,4}}/"
        elif form.id_after:
            name = f"{name} ({literal(form.id_after)} /[0-9a-zA-Z]{{9}}/)?"
        elif form.id_before:
            name = f"/[0-9a-zA-Z_-]{{1,40}}/ {literal(form.id_before)} {name}"
        closes = literal(form.closes) if form.closes else ""
        calls.append(f"{name} {literal(form.names)} {rules.arguments(tool)} {closes}")
    return calls


def _channels(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write messages of the harmony format, after “to=functions.”."""
    del form
    header = literal(" <|constrain|>json<|message|>")
    return [f"{literal(tool.name)} {header} {rules.arguments(tool)}" for tool in tools]


def _tagged(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls in which each argument stands between markers."""
    closes = literal(form.closes) if form.closes else ""
    calls = []
    for tool in tools:
        if rules.only_free:
            rules.unenforced.append((tool.name, ""))
            any_ = f"({_BLANKS} {_any_tagged(form, rules)})*"
            calls.append(f"{literal(tool.name + form.names)} {any_} {_BLANKS} {closes}")
            continue
        arguments = [
            f"{_BLANKS} {_tagged_argument(form, tool, name, schema, rules)}{mark}"
            if not mark
            else f"({_BLANKS} {_tagged_argument(form, tool, name, schema, rules)}){mark}"
            for name, schema, mark in _properties(tool)
        ]
        names = form.names
        if form.name == "kimi_k3":
            names = '" index="1"' + names
        calls.append(f"{literal(tool.name + names)} {' '.join(arguments)} {_BLANKS} {closes}")
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
    head = literal(form.key + name + typed + form.key_end)
    if form.value:
        head = f"{head} {_BLANKS} {literal(form.value)}"
    padding = "\n" if form.padded else ""
    begin = f"{head} {literal(padding)}"
    if text and not (choices := _choices(schema)):
        return f"{begin} {rules.lark.until(padding + end)}"
    if text:
        value = "(" + " | ".join(map(literal, choices)) + ")"
    else:
        whole = {**schema, **_definitions(tool)}
        value = rules.schema(whole, _ANY_VALUE, tool.name, f"#/properties/{name}")
    return f"{begin} {value} {literal(padding + end)}"


def _any_tagged(form: CallFormat, rules: _Rules) -> str:
    """Return the rule for an arbitrary argument between markers."""
    kinds = f'{literal(form.typed)} /[a-z]{{1,9}}"?/' if form.typed else ""
    value = f"{_BLANKS} {literal(form.value)}" if form.value else ""
    end, named, rest = form.value_end.partition("{key}")
    key = "/[A-Za-z0-9_.-]{1,64}/"
    after = f"{key} {literal(rest)}" if named else ""
    return rules.new(
        f"{literal(form.key)} {key} {kinds} {literal(form.key_end)} {value}"
        f" {rules.lark.until(end)} {after}"
    )


def _python(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls in Python syntax, with JSON values, which Hearth also reads."""
    del form
    calls = []
    for tool in tools:
        if rules.only_free:
            value = rules.schema({}, _ANY_VALUE, tool.name)
            item = rules.new(f'/[A-Za-z_][A-Za-z0-9_]{{0,63}}/ "=" {value}')
            calls.append(f'{literal(tool.name + "(")} ({item} (", " {item})*)? ")"')
            continue
        items = []
        for name, schema, mark in _properties(tool):
            whole = {**schema, **_definitions(tool)}
            value = rules.schema(whole, _ANY_VALUE, tool.name, f"#/properties/{name}")
            items.append((f"{literal(name + '=')} {value}", bool(mark)))
        calls.append(f'{literal(tool.name + "(")} {_between(items, ", ", rules)} ")"')
    return calls


def _braces(form: CallFormat, tools: Sequence[Tool], rules: _Rules) -> list[str]:
    """Write calls in Gemma's format, with the arguments ordered by name."""
    if rules.only_free:
        _brace_any(form, rules)
        rules.unenforced += [(tool.name, "") for tool in tools]
        anything = '"{" (brace-pair ("," brace-pair)*)? "}"'
        return [f"{literal(tool.name)} {anything}" for tool in tools]
    return [
        f"{literal(tool.name)} {_brace_object(form, tool.parameters, rules, _DEPTH)}"
        for tool in tools
    ]


def _brace_object(form: CallFormat, schema: Mapping[str, Any], rules: _Rules, depth: int) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    required = required if isinstance(required, list) else []
    if not isinstance(properties, Mapping):
        properties = {}
    items = [
        (
            f"{literal(name + ':')} {_brace_value(form, properties[name], rules, depth)}",
            name not in required,
        )
        for name in sorted(properties)
    ]
    return f'"{{" {_between(items, ",", rules)} "}}"'


def _brace_value(form: CallFormat, schema: object, rules: _Rules, depth: int) -> str:
    """Return the rule for a value in Gemma's format; without a usable schema, any value."""
    known = schema if isinstance(schema, Mapping) and depth > 0 else {}
    quote, kind = literal(form.quote), known.get("type")
    if choices := _choices(known):
        body = " | ".join(f"{quote} {literal(choice)} {quote}" for choice in choices)
    elif kind == "string":
        body = f"{quote} {rules.lark.until(form.quote)}"
    elif kind in ("integer", "number", "boolean", "null"):
        body = rules.schema(dict(known), _ANY_VALUE, "")
    elif kind == "array":
        body = _array(_brace_value(form, known.get("items"), rules, depth - 1), known)
    elif kind == "object" and known.get("properties"):
        body = _brace_object(form, known, rules, depth - 1)
    else:
        body = _brace_any(form, rules)
    return rules.new(body)


def _array(item: str, schema: Mapping[str, Any]) -> str:
    """Write an array with as many items as the schema allows."""
    least, most = (schema.get(keyword) for keyword in ("minItems", "maxItems"))
    least = min(least, _MOST_ITEMS) if isinstance(least, int) else 0
    if most == 0:
        return '"[]"'
    after = f"{min(most - 1, _MOST_ITEMS)}" if isinstance(most, int) else ""
    items = f'{item} ("," {item}){{{max(least - 1, 0)},{after}}}'
    return f'"[" {items} "]"' if least else f'"[" ({items})? "]"'


def _brace_any(form: CallFormat, rules: _Rules) -> str:
    """Return the rule for any value in Gemma's format."""
    simple = rules.lark.json({"type": ["number", "boolean", "null"]})
    rules.add("brace-pair", '/[A-Za-z0-9_-]{1,60}/ ":" brace-any')
    return rules.add(
        "brace-any",
        f"{literal(form.quote)} {rules.lark.until(form.quote)} | {simple}"
        ' | "[" (brace-any ("," brace-any)*)? "]"'
        ' | "{" (brace-pair ("," brace-pair)*)? "}"',
    )


_STYLES: Final[Mapping[str, Callable[[CallFormat, Sequence[Tool], _Rules], list[str]]]] = {
    "object": _objects,
    "named": _named,
    "tagged": _tagged,
    "python": _python,
    "braces": _braces,
    "channel": _channels,
}


def _properties(tool: Tool) -> Iterable[tuple[str, Mapping[str, Any], str]]:
    """Yield each argument's name and schema, and "?" if it is optional, otherwise ""."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    required = required if isinstance(required, list) else []
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        known = schema if isinstance(schema, Mapping) else {}
        yield str(name), known, "" if name in required else "?"


def _definitions(tool: Tool) -> dict[str, Any]:
    return {
        keyword: tool.parameters[keyword]
        for keyword in ("$defs", "definitions")
        if keyword in tool.parameters
    }


def _choices(schema: Mapping[str, Any]) -> list[str]:
    """List the allowed texts if the schema is a list of texts, otherwise nothing."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    listed = values if isinstance(values, list) else []
    return listed if all(isinstance(item, str) for item in listed) else []


def _between(items: Sequence[tuple[str, bool]], comma: str, rules: _Rules) -> str:
    """Return the rule for items in a fixed order, separated by commas.

    Args:
        items: The body of each item, and whether it is optional.
        comma: The separator.
        rules: The rules that the result is added to.
    """
    begun, fresh = '""', '""'
    for body, optional in reversed(items):
        item = rules.new(body)
        with_comma, without_comma = f"{literal(comma)} {item} {begun}", f"{item} {begun}"
        begun = rules.new(f"{with_comma} | {begun}" if optional else with_comma)
        fresh = rules.new(f"{without_comma} | {fresh}" if optional else without_comma)
    return fresh
