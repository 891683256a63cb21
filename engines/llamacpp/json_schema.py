"""Writes a JSON schema as a grammar in GBNF; every text that follows it follows the schema: pure.

What a grammar cannot say is refused and never left out; what a schema only notes, as a title or a
default, is passed over. An object has the schema's properties in the schema's order, and others
only where `additionalProperties` is there and allows them. Source: JSON Schema, draft 2020-12, with
what drafts 7 and OpenAPI 3.0 call otherwise ("definitions", "items" as a list, "nullable").
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NoReturn

from engines.errors import GrammarInvalid
from engines.llamacpp.grammar import ROOT, require_grammar
from engines.llamacpp.json_numbers import NUMBER, Bounds, NoNumber, integers, multiples, numbers
from engines.llamacpp.json_strings import (
    ANY,
    CHARACTER,
    FORMATS,
    PLAIN,
    NoPattern,
    literal,
    matching,
    times,
)

MAX_LENGTH: Final = 200_000
"""Characters of a schema."""
MAX_DEPTH: Final = 100
"""Lists and objects of a schema within each other."""
MAX_RULES: Final = 10_000
"""Rules of its grammar."""
_MOST_MERGES: Final = 2000
"""Schemas that are joined to one, as `allOf` and a reference with more beside it want it."""

Schema = dict[str, Any]

_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

_OF_TYPE: Final[Mapping[str, tuple[str, ...]]] = {
    "object": (
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames",
        "minProperties", "maxProperties", "unevaluatedProperties",
    ),
    "array": ("items", "prefixItems", "minItems", "maxItems", "unevaluatedItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}  # fmt: skip
"""What a schema says of values of one type only."""

_REFUSED: Final = (
    "not", "if", "dependentRequired", "dependentSchemas", "dependencies", "contains",
    "minContains", "maxContains", "$dynamicRef", "$recursiveRef",
)  # fmt: skip
"""What cannot be said in a grammar of reasonable size."""

_UNKEPT_FORMATS: Final = (
    "idn-email", "idn-hostname", "uri-reference", "iri", "iri-reference", "uri-template",
    "json-pointer", "relative-json-pointer", "regex",
)  # fmt: skip
"""Formats of JSON Schema without a pattern here; other names stand for no rule at all."""

_COMBINED: Final = ("anyOf", "oneOf", "allOf", "$ref", "type", "enum", "const", "nullable")
_KEPT: Final = frozenset(
    {*_COMBINED, *_REFUSED, "uniqueItems", "additionalItems", "discriminator"}.union(
        *_OF_TYPE.values()
    )
)
"""All that a schema can ask for; the rest is notes."""

_SPACE: Final = 'space ::= (" " | "\\n" [ \\t]{0,40})?'
_FREE: Final[Mapping[str, str]] = {
    "value": "object | array | string | number | boolean | null",
    "object": '"{" space (string ":" space value ("," space string ":" space value)* space)? "}"',
    "array": '"[" space (value ("," space value)* space)? "]"',
    "string": f'"\\"" {ANY}* "\\""',
    "number": NUMBER,
    "boolean": '"true" | "false"',
    "null": '"null"',
    ANY: CHARACTER,
    "key-rest": f'{PLAIN}* "\\""',
}


class _Impossible(Exception):
    """Nothing can follow a schema."""


@lru_cache(maxsize=8)  # a schema usually comes back with the next request
def grammar_of(schema: str) -> str:
    """Write the grammar of a JSON schema, given as JSON. Raises GrammarInvalid."""
    if len(schema) > MAX_LENGTH:
        raise _invalid(f"It is longer than {MAX_LENGTH} characters.")
    try:
        read = json.loads(schema, parse_constant=_no_number)
        _require_depth(read)
        # No text has half a character, and JSON has no number without an end.
        json.dumps(read, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise _invalid("It is no JSON, or too deep.") from error
    if not isinstance(read, dict | bool):
        raise _invalid("It has to be an object.")
    written = _Writer(read).grammar()
    try:
        require_grammar(written)
    except GrammarInvalid as error:
        raise _invalid(
            "Written as a grammar it is too large, or never ends: a part of it may need itself."
        ) from error
    return written


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


class _Writer:
    """Writes the rules of one schema. Schemas that say the same share a rule."""

    def __init__(self, root: Schema | bool) -> None:
        self._root = root
        self._rules: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._waiting: list[tuple[str, Any]] = []
        self._merges = 0

    def grammar(self) -> str:
        """Write them all. Raises GrammarInvalid."""
        begin = self._rule(self._root)
        while self._waiting:
            name, schema = self._waiting.pop()
            try:
                self._rules[name] = self._body(schema)
            except _Impossible:
                raise _invalid(f"Nothing can follow this part of it: {_quoted(schema)}") from None
            except (NoPattern, NoNumber) as error:
                raise _invalid(
                    f"{error} It stands in this part of it: {_quoted(schema)}"
                ) from error
        rules = "\n".join(f"{name} ::= {body}" for name, body in self._rules.items())
        return f"{ROOT} ::= {begin}\n{rules}\n{_SPACE}\n"

    def _rule(self, schema: Any) -> str:
        """Return the name of the rule for a schema, which is written later."""
        if not isinstance(schema, dict | bool):
            raise _invalid(f"This stands where a schema should: {_quoted(schema)}")
        key = json.dumps(schema)
        if key not in self._names:
            self._names[key] = self._add("part", "")
            self._waiting.append((self._names[key], schema))
        return self._names[key]

    def _add(self, kind: str, body: str) -> str:
        """Add a rule, or give the one of this name its body; returns its name."""
        if kind in self._rules:
            self._rules[kind] = body
            return kind
        if len(self._rules) >= MAX_RULES:
            raise _invalid(f"It makes more than {MAX_RULES} rules.")
        name = f"{kind}-{len(self._rules) + 1}"
        self._rules[name] = body
        return name

    def _free(self, name: str) -> str:
        """Return the name of a rule of JSON itself, added with all that it needs."""
        if name not in self._rules:
            self._rules[name] = _FREE[name]
            for other in _FREE.keys() & set(re.findall(r"[a-z-]+", _FREE[name])):
                self._free(other)
        return name

    def _body(self, given: Schema | bool) -> str:
        if isinstance(given, bool):
            if not given:
                raise _Impossible
            return self._free("value")
        if set(given) & _KEPT == {"$ref"}:
            return self._rule(self._target(given["$ref"]))
        schema = self._flat(given)
        for key in _REFUSED:
            if key in schema:
                raise _invalid(f"“{key}” cannot be kept by a grammar.")
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self._either(schema, key)
        if "enum" in schema:
            return self._listed(schema)
        kinds = _kinds(schema)
        if kinds is None:
            return self._free("value")
        return " | ".join(self._of_kind(kind, schema) for kind in kinds)

    def _of_kind(self, kind: str, schema: Schema) -> str:
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            return self._array(schema)
        if kind == "string":
            return self._string(schema)
        if kind in ("number", "integer"):
            return self._number(schema, whole=kind == "integer")
        return self._free(kind)

    def _listed(self, schema: Schema) -> str:
        found = []
        kinds = _kinds(schema) if "type" in schema else None
        for value in schema["enum"]:
            kind = _kind_of(value)
            if kinds is not None and not _overlap([kind], kinds):
                continue
            beside = _OF_TYPE.get("number" if kind == "integer" else kind, ())
            if said := next((key for key in beside if key in schema), None):
                raise _invalid(f"“{said}” cannot be kept together with “enum” or “const”.")
            found.append(literal(_json(value)))
        if not found:
            raise _Impossible
        return " | ".join(found)

    def _either(self, schema: Schema, key: str) -> str:
        rest = {other: value for other, value in schema.items() if other != key}
        tag = rest.pop("discriminator", None)
        if isinstance(tag, dict) and isinstance(tag.get("propertyName"), str):
            rest["required"] = [*rest.get("required", []), tag["propertyName"]]
        found: list[Any] = []
        for option in _list(schema[key], key):
            if not rest and isinstance(option, dict):
                found.append(option)
                continue
            try:
                found.append(self._flat({"allOf": [rest, option]}))
            except _Impossible:
                continue
        if not found:
            raise _Impossible
        if key == "oneOf":
            self._require_apart(found)
        return " | ".join(map(self._rule, found))

    def _object(self, schema: Schema) -> str:
        named = dict(_mapping(schema.get("properties", {}), "properties"))
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        required = _list(schema.get("required", []), "required")
        for name in required:
            if not isinstance(name, str):
                raise _invalid("“required” has to be a list of names.")
            named.setdefault(name, True if others is None else others)
            if named[name] is False:
                raise _Impossible
        written = {name: value for name, value in named.items() if value is not False}
        least, most = _count(schema, "minProperties") or 0, _count(schema, "maxProperties")
        if "properties" not in schema and not named and others is None:
            others = True
        pair = self._other_pair(schema, named, others)
        one = least == 1 and not required
        if least > max(len(required), int(one)) or (
            most is not None and (most < least or (written if pair else len(written) > most))
        ):
            raise _invalid("How many different properties there are cannot be kept by a grammar.")
        behind, firsts = "", list[str]()
        if pair and most != 0:
            more = times(f'("," space {pair})', 0, None if most is None else most - 1)
            behind = self._add("more", more)
            firsts = [f"{pair} {behind}"]
        for name, value in reversed(written.items()):
            its = f'{literal(_json(name))} ":" space {self._rule(value)}'
            if name in required:
                firsts = [f"{its} {behind}"]
                behind = self._add("more", f'"," space {its} {behind}')
            else:
                firsts.insert(0, f"{its} {behind}")
                behind = self._add("more", f'"," space {its} {behind} | {behind or _NOTHING}')
        return _enclosed("{", firsts, "}", empty=not required and not one)

    def _other_pair(self, schema: Schema, named: Schema, others: Any) -> str:
        """Write a property that the schema does not name; "" where there is to be none."""
        patterns = _mapping(schema.get("patternProperties", {}), "patternProperties")
        names = schema.get("propertyNames")
        if patterns:
            if named or names is not None or len(patterns) > 1 or others not in (None, False, True):
                raise _invalid("“patternProperties” can be kept only where nothing is beside it.")
            ((pattern, value),) = patterns.items()
            self._free(ANY)
            key, others = self._add("key", rf'"\"" ({matching(pattern)}) "\""'), value
        elif others is None or others is False:
            return ""
        elif names is not None and not named:
            key = self._rule({"allOf": [{"type": "string"}, names]})
        elif names is not None:
            raise _invalid("“propertyNames” cannot be kept together with “properties”.")
        else:
            key = self._key_beside(named) if named else self._free("string")
        return f'{key} ":" space {self._rule(others)}'

    def _key_beside(self, names: Iterable[str]) -> str:
        """Write a key that is none of the names, by what all names of a beginning go on with."""
        ends = [name for name in names if _json(name) == f'"{name}"']
        rules: dict[str, str] = {"": self._add("key", "")}
        for name in ends:
            for end in range(1, len(name) + 1):
                if name[:end] not in rules:
                    rules[name[:end]] = self._add("key", "")
        rest = self._free("key-rest")
        following: dict[str, list[str]] = {begin: [] for begin in rules}
        for begin in rules:
            if begin:
                following[begin[:-1]].append(begin)
        for begin, rule in rules.items():
            ways = [f"{literal(longer[-1])} {rules[longer]}" for longer in following[begin]]
            taken = "".join(_in_set(longer[-1]) for longer in following[begin])
            ways.append(f"{PLAIN[:-1]}{taken}] {rest}")
            if begin not in ends:
                ways.append(r'"\""')
            self._add(rule, " | ".join(ways))
        return self._add("key", rf'"\"" {rules[""]}')

    def _array(self, schema: Schema) -> str:
        prefix = _list(schema.get("prefixItems", []), "prefixItems")
        items = schema.get("items", schema.get("unevaluatedItems"))
        least, most = _count(schema, "minItems") or 0, _count(schema, "maxItems")
        if schema.get("uniqueItems") is True and (most is None or most > 1):
            raise _invalid("“uniqueItems” cannot be kept by a grammar.")
        if items is None and (not prefix or least > len(prefix)):
            items = True
        if most is not None and most <= len(prefix):
            prefix, items = prefix[:most], False
        if items is None:
            items = False
        if (most is not None and least > most) or (items is False and least > len(prefix)):
            raise _Impossible
        behind, first = "", ""
        if items is not False and most != 0:
            item = self._rule(items)
            low, high = max(0, least - len(prefix)), None if most is None else most - len(prefix)
            if prefix:
                behind = times(f'("," space {item})', low, high)
            else:
                high = None if high is None else high - 1
                more = times(f'("," space {item})', max(0, low - 1), high)
                first = f"{item} {more}"
        for at in reversed(range(len(prefix))):
            first = f"{self._rule(prefix[at])} {behind}"
            its = f'"," space {first}'
            behind = self._add("more", its if at < least else f"{its} | {_NOTHING}")
        return _enclosed("[", [first] if first else [], "]", empty=not least)

    def _string(self, schema: Schema) -> str:
        least, most = _count(schema, "minLength") or 0, _count(schema, "maxLength")
        pattern, form = schema.get("pattern"), schema.get("format")
        if most is not None and least > most:
            raise _Impossible
        if form in _UNKEPT_FORMATS:
            raise _invalid(f"The format “{form}” cannot be kept by a grammar.")
        whole = FORMATS.get(form) if isinstance(form, str) else None
        if whole is not None and pattern is not None:
            raise _invalid("“pattern” and “format” cannot be kept together.")
        self._free(ANY)
        if whole is not None:
            text = matching(whole, least, most, whole=True)
        elif isinstance(pattern, str):
            text = matching(pattern, least, most)
        elif least or most is not None:
            text = times(ANY, least, most)
        else:
            return self._free("string")
        return rf'"\"" ({text}) "\""'

    def _number(self, schema: Schema, *, whole: bool) -> str:
        bounds = _bounds(schema)
        of = _decimal(schema, "multipleOf")
        if of is not None and of <= 0:
            raise _invalid("“multipleOf” has to be above zero.")
        if of is None or (whole and Decimal(1) % of == 0):
            text = integers(bounds) if whole else numbers(bounds)
        elif of == of.to_integral_value():
            text = multiples(int(of), bounds, self._add)
        elif not whole and of.normalize().as_tuple().digits == (1,):
            text = numbers(bounds, -int(of.normalize().as_tuple().exponent))
        else:
            raise _invalid(f"Multiples of {of} cannot be kept by a grammar.")
        return f"({text})"

    def _target(self, reference: Any) -> Any:
        """Return what a reference is to. Raises GrammarInvalid."""
        from urllib.parse import unquote

        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise _invalid(f"It refers to what is not within it: {_quoted(reference)}")
        at: Any = self._root
        for step in unquote(reference).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict) and name in at:
                at = at[name]
            elif isinstance(at, list) and name.isdecimal() and int(name) < len(at):
                at = at[int(name)]
            else:
                raise _invalid(f"It refers to what is not there: {_quoted(reference)}")
        return at

    def _flat(self, schema: Any, depth: int = 0) -> Schema:
        """Join a schema with those that it refers to and consists of; notes are left out."""
        self._merges += 1
        if depth > MAX_DEPTH or self._merges > _MOST_MERGES:
            raise _invalid("It refers to itself without end, or joins too many schemas.")
        if schema is False:
            raise _Impossible
        if schema is True:
            return {}
        if not isinstance(schema, dict):
            raise _invalid(f"This stands where a schema should: {_quoted(schema)}")
        flat = {key: value for key, value in schema.items() if key in _KEPT}
        parts = _list(flat.pop("allOf", []), "allOf")
        if "$ref" in flat:
            parts = [self._target(flat.pop("$ref")), *parts]
        if "const" in flat:
            parts = [*parts, {"enum": [flat.pop("const")]}]
        _modernise(flat)
        for part in parts:
            flat = _joined(flat, self._flat(part, depth + 1))
        return flat

    def _require_apart(self, options: Sequence[Any]) -> None:
        for one in options:
            for other in options:
                if one is not other and not self._apart(one, other):
                    raise _invalid(
                        "Two parts of “oneOf” could both hold, which a grammar cannot rule out;"
                        " “anyOf” lets them."
                    )

    def _apart(self, written: Any, other: Any, depth: int = 0) -> bool:
        """Whether nothing that is written for one schema follows the other, where that is plain."""
        try:
            one, two = self._flat(written), self._flat(other)
        except _Impossible:
            return True
        if depth > _DEEPEST_LOOK:
            return False
        for key in ("anyOf", "oneOf"):
            if key in one or key in two:
                pairs = itertools.product(_ways(one, key), _ways(two, key))
                return all(self._apart(mine, theirs, depth + 1) for mine, theirs in pairs)
        return self._values_apart(one, two, depth)

    def _values_apart(self, one: Schema, two: Schema, depth: int) -> bool:
        allowed = _kinds(two) if "type" in two else None
        if "enum" in one:
            values = [
                it for it in one["enum"] if allowed is None or _overlap([_kind_of(it)], allowed)
            ]
            others = {_json(it) for it in two["enum"]} if "enum" in two else None
            return not values or (
                others is not None and not any(_json(it) in others for it in values)
            )
        kinds = _kinds(one) or list(_TYPES)
        if "enum" in two:
            return not _overlap([_kind_of(it) for it in two["enum"]], kinds)
        common = _overlap(kinds, allowed or list(_TYPES))
        return not common or (common == ["object"] and self._objects_apart(one, two, depth))

    def _objects_apart(self, one: Schema, two: Schema, depth: int) -> bool:
        mine, theirs = one.get("properties", {}), two.get("properties", {})
        always = one.get("required", [])
        closed = one.get("additionalProperties") in (None, False) and "properties" in one
        for name in two.get("required", []):
            if closed and name not in always and mine.get(name, False) is False:
                return True
        for name in always:
            if name not in theirs:
                if two.get("additionalProperties") is False and "patternProperties" not in two:
                    return True
            elif self._apart(mine.get(name, True), theirs[name], depth + 1):
                return True
        return False


_DEEPEST_LOOK: Final = 3
"""Properties within each other by which alternatives are told apart."""

_NOTHING: Final = '""'

_LARGEST: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_SMALLEST: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_JOINED: Final = (
    "items", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip


def _joined(one: Schema, other: Schema) -> Schema:
    """Join two flat schemas to one that asks for both. Raises GrammarInvalid, _Impossible."""
    joined = dict(one)
    for key, value in other.items():
        if key not in one or _json(one[key]) == _json(value):
            joined[key] = value
        elif key != "properties":
            joined[key] = _both(key, one[key], value)
    if "properties" in one or "properties" in other:
        named = [_mapping(it.get("properties", {}), "properties") for it in (one, other)]
        joined["properties"] = {
            name: _all_of([_property(it, name) for it in (one, other)])
            for name in {**named[0], **named[1]}
        }
    return joined


def _modernise(schema: Schema) -> None:
    """Say what older drafts and OpenAPI 3.0 have as draft 2020-12 says it."""
    if schema.pop("nullable", False) is True and "type" in schema:
        schema["type"] = [*_type_names(schema), "null"]
    more = schema.pop("additionalItems", None)
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if more is not None:
            schema["items"] = more


def _ways(schema: Schema, key: str) -> list[Any]:
    """List a schema with each of its alternatives by this key; itself where it has none."""
    if key not in schema:
        return [schema]
    rest = {name: value for name, value in schema.items() if name != key}
    return [{"allOf": [rest, way]} for way in _list(schema[key], key)]


def _both(key: str, one: Any, other: Any) -> Any:
    """Join what two schemas say by one key. Raises GrammarInvalid, _Impossible."""
    if key in _LARGEST + _SMALLEST and _are_numbers(one, other):
        return max(one, other) if key in _LARGEST else min(one, other)
    if key in _JOINED:
        return _all_of([one, other])
    if key == "prefixItems" and len(_list(one, key)) == len(_list(other, key)):
        return [_all_of(list(pair)) for pair in zip(one, other, strict=True)]
    if joiner := _JOINERS.get(key):
        return joiner(key, one, other)
    raise _invalid(f"Two parts of it each have their own “{key}”, which cannot be kept together.")


def _both_names(key: str, one: Any, other: Any) -> list[str]:
    return list(dict.fromkeys([*_list(one, key), *_list(other, key)]))


def _common_types(key: str, one: Any, other: Any) -> list[str]:
    if not (kinds := _overlap(_type_names({key: one}), _type_names({key: other}))):
        raise _Impossible
    return kinds


def _common_values(key: str, one: Any, other: Any) -> list[Any]:
    others = {_json(value) for value in _list(other, key)}
    if not (values := [value for value in _list(one, key) if _json(value) in others]):
        raise _Impossible
    return values


def _alternatives(key: str, one: Any, other: Any) -> list[Any]:
    return [{"allOf": [way, {key: other}]} for way in _list(one, key)]


_JOINERS: Final[Mapping[str, Callable[[str, Any, Any], Any]]] = {
    "required": _both_names,
    "type": _common_types,
    "enum": _common_values,
    "anyOf": _alternatives,
    "oneOf": _alternatives,
    "uniqueItems": lambda _, one, other: one is True or other is True,
    "discriminator": lambda _, one, _other: one,
}


def _property(schema: Schema, name: str) -> Any:
    named = schema.get("properties", {})
    if name in named or "patternProperties" in schema:
        return named.get(name, True)
    return schema.get("additionalProperties", True)


def _all_of(parts: Sequence[Any]) -> Any:
    if any(part is False for part in parts):
        return False
    asking = [part for part in parts if part is not True]
    return {"allOf": asking} if len(asking) > 1 else asking[0] if asking else True


def _kinds(schema: Schema) -> list[str] | None:
    """List the types of values to write; None is any."""
    if "type" in schema:
        names = _type_names(schema)
    else:
        names = [kind for kind, keys in _OF_TYPE.items() if any(key in schema for key in keys)]
        if not names:
            return ["array"] if schema.get("uniqueItems") is True else None
    return [name for name in names if name != "integer" or "number" not in names]


def _type_names(schema: Schema) -> list[str]:
    given = schema["type"]
    names = [given] if isinstance(given, str) else _list(given, "type")
    if not names or any(name not in _TYPES for name in names):
        raise _invalid(f"“type” has to be one of {', '.join(_TYPES)}, or some of them.")
    return list(dict.fromkeys(names))


def _overlap(some: Sequence[str], others: Sequence[str]) -> list[str]:
    """List the types that both allow: a whole number is a number, too."""
    found = [kind for kind in some if kind in others]
    if "integer" in some and "number" in others and "integer" not in found:
        found.append("integer")
    if "number" in some and "integer" in others and "integer" not in found:
        found.append("integer")
    return found


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    kinds = {float: "number", str: "string", list: "array", dict: "object"}
    return kinds[type(value)]


def _bounds(schema: Schema) -> Bounds:
    least, most = _decimal(schema, "minimum"), _decimal(schema, "maximum")
    above, below = _decimal(schema, "exclusiveMinimum"), _decimal(schema, "exclusiveMaximum")
    # Draft 4 says only whether “minimum” itself is excluded.
    with_least = schema.get("exclusiveMinimum") is not True
    with_most = schema.get("exclusiveMaximum") is not True
    if above is not None and (least is None or above >= least):
        least, with_least = above, False
    if below is not None and (most is None or below <= most):
        most, with_most = below, False
    return Bounds(least, most, with_least, with_most)


def _decimal(schema: Schema, key: str) -> Decimal | None:
    value = schema.get(key)
    if value is None or isinstance(value, bool):
        return None
    if not isinstance(value, int | float):
        raise _invalid(f"“{key}” has to be a number.")
    return Decimal(str(value))


def _count(schema: Schema, key: str) -> int | None:
    value = schema.get(key)
    if value is None:
        return None
    if not isinstance(value, int | float) or value < 0 or value != int(value):
        raise _invalid(f"“{key}” has to be a whole number.")
    return int(value)


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(it, int | float) and not isinstance(it, bool) for it in values)


def _list(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise _invalid(f"“{key}” has to be a list.")
    return value


def _mapping(value: Any, key: str) -> Schema:
    if not isinstance(value, dict):
        raise _invalid(f"“{key}” has to be an object.")
    return value


def _enclosed(begin: str, ways: Sequence[str], end: str, *, empty: bool) -> str:
    if not ways:
        return f'"{begin}" space "{end}"'
    inner = f"({' | '.join(ways)}) space"
    return f'"{begin}" space {f"({inner})?" if empty else inner} "{end}"'


def _in_set(char: str) -> str:
    return literal(char)[1:-1]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _quoted(part: Any) -> str:
    text = _json(part)
    return text if len(text) <= 100 else f"{text[:100]}…"


def _require_depth(schema: Any) -> None:
    """Refuse a schema that is too deep. Raises GrammarInvalid."""
    level = [schema]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise _invalid(f"It is deeper than {MAX_DEPTH}.")


def _invalid(why: str) -> GrammarInvalid:
    return GrammarInvalid(
        "The schema of the answer cannot be used.", why, "Change the schema, or ask without it."
    )
