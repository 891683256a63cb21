"""Writes the JSON texts that follow a JSON schema as GBNF: pure.

Every text of the grammar is valid by the schema, as far as llama.cpp can hold an answer to it. The
reverse need not be so: properties come in the order in which they are written, those that the
schema does not name only where it says so, and numbers have the digits that programs can tell
apart. What cannot be held is refused with a sentence; annotations have no say. Source: JSON Schema
2020-12, and of draft 7 what its schemas still write (definitions, lists of items).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Any, Final, NoReturn
from urllib.parse import unquote

from engines.errors import GrammarInvalid
from engines.llamacpp.gbnf import Grammar, NotGbnf, Rule, parse
from engines.llamacpp.grammar import ROOT, can_be_empty, require_grammar
from engines.llamacpp.numerals import LARGEST, write_integers, write_numbers
from engines.llamacpp.pattern import (
    MAX_REPETITIONS,
    NotAPattern,
    lengths,
    literal,
    parse_pattern,
    within,
    write_pattern,
)
from engines.llamacpp.schema_keywords import (
    HELD,
    KEYWORDS,
    NOT_HELD,
    Schema,
    allowed_kinds,
    both,
    bound,
    count,
    decimal,
    family,
    invalid,
    is_bare,
    is_object,
    is_open,
    kinds,
    kinds_of,
    listed,
    mapping,
    next_integer,
    require_order,
    short,
    spelt,
    together,
)

MAX_LENGTH: Final = 100_000
"""Characters of a schema."""
MAX_DEPTH: Final = 64
"""Objects and arrays of a schema within each other."""
MAX_RULES: Final = 5_000
"""Rules of the grammar before repetition is written out."""
MAX_MERGES: Final = 10_000
"""Schemas that are put together with others."""
MAX_WRITTEN: Final = 4_000_000
"""Characters of all schemas that get a rule; putting schemas together makes new ones."""
MAX_NAME: Final = 256
"""Characters of a property's name."""
MAX_CHARACTERS: Final = 50_000
"""Characters of a string whose length is counted; a schema that allows more allows this many."""

_MONTHS: Final = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|"
    r"02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_DATE: Final = rf"(?:[12][0-9]{{3}}-{_MONTHS}|[12][0-9](?:0[48]|[2468][048]|[13579][26])-02-29)"
_TIME: Final = (
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_HOST: Final = r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?(?:\.[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?){0,4}"
_BYTE: Final = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_FORMATS: Final = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": r"P(?:[0-9]{1,4}W|[0-9]{1,4}D(?:T[0-9]{1,4}H)?|T[0-9]{1,4}[HMS]|"
    r"T[0-9]{1,4}H[0-9]{1,4}M(?:[0-9]{1,4}S)?)",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "email": rf"[A-Za-z0-9_+-]{{1,30}}(?:\.[A-Za-z0-9_+-]{{1,30}}){{0,2}}@{_HOST}\.[a-z]{{2,10}}",
    "hostname": _HOST,
    "ipv4": rf"{_BYTE}(?:\.{_BYTE}){{3}}",
    "ipv6": "[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7}",
    "uri": rf"https?://{_HOST}(?:/[A-Za-z0-9._~-]{{0,60}}){{0,8}}",
}
"""Patterns whose texts have a format, though not all of them (RFC 3339, 4122, 5321, 1123, 3986)."""

_BASE: Final = r"""ws ::= | " " | "\n" [ \t]{0,20}
value ::= map | list | string | number | "true" | "false" | "null"
map ::= "{" ws (pair ("," ws pair)* ws)? "}"
pair ::= string ":" ws value
list ::= "[" ws (value ("," ws value)* ws)? "]"
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" code)
code ::= [0-9a-cA-CefEF] hex hex hex | [dD] [0-7] hex hex
hex ::= [0-9a-fA-F]
integer ::= "0" | "-"? [1-9] [0-9]{0,14}
number ::= "-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
letter ::= [^"\\\x00-\x1F\x7F]
block ::= char{1000}
"""
"""The rules of any JSON text (RFC 8259); halves of a character are not written with \\u."""
_BLOCK: Final = 1000


@lru_cache(maxsize=8)  # a schema usually comes back with the next question
def schema_grammar(text: str) -> str:
    """Return the GBNF of a JSON schema. Raises GrammarInvalid with what cannot be held."""
    if len(text) > MAX_LENGTH:
        raise invalid(f"It is longer than {MAX_LENGTH} characters.")
    try:
        schema = json.loads(text, parse_constant=_no_number)
        json.dumps(schema, ensure_ascii=False).encode()  # no halves of characters
    except (ValueError, RecursionError) as error:
        raise invalid("It is not JSON.") from error
    if not isinstance(schema, dict | bool):
        raise invalid("A schema is an object.")
    _require_shallow(schema)
    grammar = _Writer(schema).grammar()
    try:
        rules = parse(grammar)
    except NotGbnf as error:
        raise _too_large() from error
    if not _can_end(rules):
        raise invalid("No answer could ever end: something in it requires itself.")
    try:
        require_grammar(grammar)
    except GrammarInvalid as error:
        raise invalid(
            "It leaves so many ways to go on at once that llama.cpp could not follow them all, "
            "or a part of it refers to nothing but itself."
        ) from error
    return grammar


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _too_large() -> GrammarInvalid:
    return invalid("It asks for so much that the grammar of it is too large.")


def _require_shallow(schema: object) -> None:
    level = [schema]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for whole in level
            if isinstance(whole, dict | list)
            for part in (whole.values() if isinstance(whole, dict) else whole)
        ]
        if not level:
            return
    raise invalid(f"More than {MAX_DEPTH} objects are within each other.")


def _can_end(grammar: Grammar) -> bool:
    """Tell whether each rule has a text, so that an answer that follows it comes to its end."""
    # A rule has one if it can be empty once its characters are left out.
    rules: list[Rule] = [
        [tuple(it for it in sequence if isinstance(it, int)) for sequence in rule]
        for rule in grammar.rules
    ]
    return len(can_be_empty(rules)) == len(rules)


class _Writer:
    """Writes the rules of one schema, each of its parts once."""

    def __init__(self, schema: Schema) -> None:
        self._document = schema
        self._rules: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._waiting: deque[tuple[str, Schema, str]] = deque()
        self._merges = 0
        self._written = 0

    def grammar(self) -> str:
        root = self._rule_of(self._document, "#")
        while self._waiting:
            name, schema, at = self._waiting.popleft()
            self._rules[name] = self._body(schema, at)
        rules = "\n".join(f"{name} ::= {body}" for name, body in self._rules.items())
        return f"{ROOT} ::= {root}\n{_BASE}{rules}\n"

    def _rule_of(self, schema: object, at: str) -> str:
        """Return the name of a schema's rule, which is written later."""
        checked = self._checked(schema, at)
        if checked is True:
            return "value"
        key = json.dumps(checked)
        if key not in self._names:
            self._written += len(key)
            if self._written > MAX_WRITTEN:
                raise _too_large()
            self._names[key] = self._reserve()
            self._waiting.append((self._names[key], checked, at))
        return self._names[key]

    def _new_rule(self, body: str) -> str:
        key = f"rule {body}"
        if key not in self._names:
            name = self._names[key] = self._reserve()
            self._rules[name] = body
        return self._names[key]

    def _reserve(self) -> str:
        name = f"s{len(self._names)}"
        if len(self._names) >= MAX_RULES:
            raise _too_large()
        return name

    def _checked(self, schema: object, at: str) -> Schema:
        """Return what a schema asks for, without annotations; True if that is nothing."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise invalid(f"At {at} there is no schema.")
        for keyword in schema:
            if keyword in NOT_HELD:
                raise invalid(f"At {at}, “{keyword}” cannot be held while an answer is written.")
        return {key: value for key, value in schema.items() if key in HELD} or True

    def _body(self, schema: Schema, at: str) -> str:
        if isinstance(schema, bool):
            if schema:
                return "value"
            raise invalid(f"Nothing can stand at {at}: the schema forbids it.")
        if set(schema) == {"$ref"}:
            return self._rule_of(*self._target(schema["$ref"], at))
        merged = self._merged(schema, at)
        for keyword in ("anyOf", "oneOf"):
            if keyword in merged:
                rest = {key: value for key, value in merged.items() if key != keyword}
                return self._choice(keyword, merged[keyword], rest, at)
        if "enum" in merged:
            return self._values(merged, at)
        return self._typed(merged, at)

    def _typed(self, schema: Mapping[str, Any], at: str) -> str:
        allowed = kinds(schema, at)
        if not allowed:
            raise invalid(f"Nothing can stand at {at}: no type is left for it.")
        if len(allowed) > 1:
            parts = (
                {key: schema[key] for key in schema if key in KEYWORDS.get(family(kind), ())}
                | {"type": kind}
                for kind in allowed
            )
            return " | ".join(self._rule_of(part, at) for part in parts)
        kind = allowed[0]
        if family(kind) == "number":
            return self._number(schema, at, whole=kind == "integer")
        if kind in {"object", "array", "string"}:
            write = {"object": self._object, "array": self._array, "string": self._string}[kind]
            return write(schema, at)
        return '"true" | "false"' if kind == "boolean" else '"null"'

    def _target(self, reference: object, at: str) -> tuple[object, str]:
        """Return what a reference means, and its place (RFC 6901)."""
        if not isinstance(reference, str) or (reference != "#" and reference[:2] != "#/"):
            raise invalid(f"At {at}, “$ref” means something outside the schema.")
        found: Any = self._document
        for part in unquote(reference).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                raise invalid(f"At {at}, “$ref” means {reference}, and there is no such part.")
        return found, reference

    def _merged(self, schema: Schema, at: str, depth: int = 0) -> dict[str, Any]:
        """Return a schema with its references and all that holds together in one."""
        if depth > MAX_DEPTH:
            raise invalid(f"At {at}, schemas that hold together refer to each other in a circle.")
        if isinstance(schema, bool):
            if schema:
                return {}
            raise invalid(f"Nothing can stand at {at}: the schema forbids it.")
        self._merges += 1
        if self._merges > MAX_MERGES:
            raise invalid("It asks for too much at once: too many of its schemas hold together.")
        own = {key: value for key, value in schema.items() if key not in {"$ref", "allOf", "const"}}
        if "const" in schema:
            own = together(own, {"enum": [schema["const"]]}, at)
        parts: list[tuple[object, str]] = []
        if "$ref" in schema:
            parts.append(self._target(schema["$ref"], at))
        parts += [(part, at) for part in listed(schema, "allOf", at)]
        for part, place in parts:
            own = together(own, self._merged(self._checked(part, place), place, depth + 1), at)
        return own

    def _choice(self, keyword: str, options: object, rest: dict[str, Any], at: str) -> str:
        if not isinstance(options, list) or not options:
            raise invalid(f"At {at}, “{keyword}” is no list of schemas.")
        places = [f"{at}/{keyword}/{number}" for number in range(len(options))]
        found = [self._checked(*each) for each in zip(options, places, strict=True)]
        possible: list[tuple[Schema, str]] = [
            (o, p) for o, p in zip(found, places, strict=True) if o is not False
        ]
        if not possible:
            raise invalid(f"Nothing can stand at {at}: the schema forbids it.")
        if rest:
            possible = [(both([rest, option]), place) for option, place in possible]
        if keyword == "oneOf":
            possible = self._told_apart(possible)
        return " | ".join(self._rule_of(option, place) for option, place in possible)

    def _told_apart(self, options: Sequence[tuple[Schema, str]]) -> list[tuple[Schema, str]]:
        """Return alternatives of which no text can follow two, as “oneOf” demands."""
        if len(options) == 1:
            return list(options)
        parts = [self._merged(option, at) for option, at in options]
        needed: list[set[str]] = [set() for _ in parts]
        for one, other in combinations(range(len(parts)), 2):
            keys = self._difference(parts[one], parts[other], options[one][1])
            if keys is None:
                raise invalid(
                    f"At {options[one][1].rsplit('/', 2)[0]}, an answer could follow two of "
                    "“oneOf”; “anyOf” allows that."
                )
            needed[one] |= keys
            needed[other] |= keys
        return [
            ({"allOf": [option, {"required": sorted(keys)}]} if keys else option, at)
            for (option, at), keys in zip(options, needed, strict=True)
        ]

    def _difference(
        self, one: Mapping[str, Any], other: Mapping[str, Any], at: str
    ) -> set[str] | None:
        """Return the properties that tell two schemas apart; none where their types do.

        None if nothing does.
        """
        if "enum" in one and "enum" in other:
            return None if spelt(one["enum"]) & spelt(other["enum"]) else set()
        first, second = allowed_kinds(one, at), allowed_kinds(other, at)
        if first is not None and second is not None and not first & second:
            return set()
        if not is_object(one, at) or not is_object(other, at):
            return None
        return self._telling_names(one, other, at)

    def _telling_names(
        self, one: Mapping[str, Any], other: Mapping[str, Any], at: str
    ) -> set[str] | None:
        """Return the properties that tell two kinds of objects apart; see `_difference`."""
        ours, theirs = (mapping(part, "properties", at) for part in (one, other))
        for key in ours:
            if key in theirs:
                mine, yours = self._constants(ours[key], at), self._constants(theirs[key], at)
                if mine is not None and yours is not None and not mine & yours:
                    return {key}
        if any(is_open(part) or {"anyOf", "oneOf"} & set(part) for part in (one, other)):
            return None
        mine, yours = (set(listed(part, "required", at)) for part in (one, other))
        return set() if mine - yours - set(theirs) and yours - mine - set(ours) else None

    def _constants(self, schema: object, at: str) -> set[str] | None:
        found = self._merged(self._checked(schema, at), at)
        return spelt(found["enum"]) if isinstance(found.get("enum"), list) else None

    def _values(self, schema: Mapping[str, Any], at: str) -> str:
        values = schema["enum"]
        if not isinstance(values, list) or not values:
            raise invalid(f"At {at}, “enum” is no list of values.")
        for keyword in schema:
            if keyword not in {"enum", "type"}:
                raise invalid(f"At {at}, “{keyword}” cannot be held beside “enum” or “const”.")
        allowed = set(kinds(schema, at))
        fitting = [value for value in values if not allowed.isdisjoint(kinds_of(value))]
        if not fitting:
            raise invalid(f"Nothing can stand at {at}: no value has its type.")
        return " | ".join(dict.fromkeys(_written(value) for value in fitting))

    # -- strings ---------------------------------------------------------------------------------

    def _string(self, schema: Mapping[str, Any], at: str) -> str:
        least = count(schema, "minLength", at) or 0
        most = count(schema, "maxLength", at)
        require_order(least, most, "minLength", "maxLength", at)
        pattern, form = schema.get("pattern"), schema.get("format")
        form = form if form in _FORMATS else None
        if pattern is None and form is None:
            return rf'"\"" {self._characters(least, most, at)} "\""'
        if pattern is not None and form is not None:
            raise invalid(f"At {at}, “pattern” and “format” cannot be held together.")
        text = pattern if form is None else f"^(?:{_FORMATS[form]})$"
        if not isinstance(text, str):
            raise invalid(f"At {at}, “pattern” is no text.")
        try:
            node = within(parse_pattern(text), least, most)
            low, high = lengths(node)
            if low > MAX_CHARACTERS or (high is not None and high < low):
                raise NotAPattern("asks for a text that is too long")
            return rf'"\"" {write_pattern(node, self._new_rule)} "\""'
        except NotAPattern as error:
            subject = "format" if pattern is None else "pattern"
            raise invalid(f"At {at}, the {subject} “{short(form or text)}” {error}.") from error

    def _characters(self, least: int, most: int | None, at: str) -> str:
        """Write so many characters, in blocks: no grammar may count so far one by one."""
        if least > MAX_CHARACTERS:
            raise invalid(f"At {at}, a text would have more than {MAX_CHARACTERS} characters.")
        if most is None:
            return f"{self._so_many(least)} char*".strip()
        most = min(most, MAX_CHARACTERS)
        if most < _BLOCK:
            return f"char{{{least},{most}}}" if most else ""
        blocks, rest = divmod(most - least, _BLOCK)
        name = self._new_rule(f"char{{0,{rest}}}" if rest else '""')
        for _ in range(blocks):
            name = self._new_rule(f"block {name} | char{{0,{_BLOCK - 1}}}")
        return f"{self._so_many(least)} {name}".strip()

    def _so_many(self, count: int) -> str:
        blocks, rest = divmod(count, _BLOCK)
        return " ".join(
            f"{name}{{{times}}}" for name, times in (("block", blocks), ("char", rest)) if times
        )

    # -- numbers ---------------------------------------------------------------------------------

    def _number(self, schema: Mapping[str, Any], at: str, *, whole: bool) -> str:
        low, low_open = bound(schema, "minimum", "exclusiveMinimum", at, max)
        high, high_open = bound(schema, "maximum", "exclusiveMaximum", at, min)
        step = decimal(schema, "multipleOf", at)
        if whole or (step is not None and step == int(step)):
            first = None if low is None else next_integer(low, is_open=low_open)
            last = None if high is None else -next_integer(-high, is_open=high_open)
            require_order(first, last, "minimum", "maximum", at)
            if step is not None and step != 1:
                return self._multiples(step, first, last, at)
            return "integer" if first is None and last is None else write_integers(first, last)
        if step is not None:
            raise invalid(f"At {at}, “multipleOf” can be held for whole numbers only.")
        if low is None and high is None:
            return "number"
        if low is not None and high is not None and (
            low > high or (low == high and (low_open or high_open))
        ):  # fmt: skip
            raise invalid(f"Nothing can stand at {at}: no number is between its bounds.")
        if (low is not None and low >= LARGEST) or (high is not None and high <= -LARGEST):
            raise invalid(f"At {at}, the bounds of a number are beyond {LARGEST}.")
        return write_numbers(low, high, low_open=low_open, high_open=high_open)

    def _multiples(self, step: Decimal, low: int | None, high: int | None, at: str) -> str:
        if step != int(step):
            raise invalid(f"At {at}, “multipleOf” can be held for whole numbers only.")
        size = int(step)
        if low is not None and high is not None:
            found = range(-(-low // size) * size, high + 1, size)
            if not found:
                raise invalid(f"Nothing can stand at {at}: no such number is between its bounds.")
            if len(found) <= MAX_REPETITIONS:
                return " | ".join(f'"{number}"' for number in found)
        if high is not None or low not in {None, 0, 1} or size > 200:
            raise invalid(f"At {at}, “multipleOf” cannot be held together with these bounds.")
        return self._divisible(size, negative=low is None, zero=low != 1)

    def _divisible(self, size: int, *, negative: bool, zero: bool) -> str:
        """Write the numbers that `size` divides: a rule for each remainder of the digits so far."""
        states = [self._reserve_state(size, rest) for rest in range(size)]
        for rest, name in enumerate(states):
            goes = [f'"{digit}" {states[(10 * rest + digit) % size]}' for digit in range(10)]
            self._rules[name] = " | ".join(goes if rest else [*goes, '""'])
        first = " | ".join(f'"{digit}" {states[digit % size]}' for digit in range(1, 10))
        sign = '"-"? ' if negative else ""
        return f"{sign}({first})" + (' | "0"' if zero else "")

    def _reserve_state(self, size: int, rest: int) -> str:
        key = f"state {size} {rest}"
        if key not in self._names:
            self._names[key] = self._reserve()
        return self._names[key]

    # -- arrays ----------------------------------------------------------------------------------

    def _array(self, schema: Mapping[str, Any], at: str) -> str:
        items, first = schema.get("items", True), schema.get("prefixItems", [])
        if isinstance(items, list):
            items, first = schema.get("additionalItems", True), items
        if not isinstance(first, list):
            raise invalid(f"At {at}, “prefixItems” is no list of schemas.")
        least = count(schema, "minItems", at) or 0
        most = count(schema, "maxItems", at)
        if first and "items" not in schema and least <= len(first):
            most = len(first) if most is None else min(most, len(first))
        if items is False:
            most = len(first) if most is None else min(most, len(first))
        require_order(least, most, "minItems", "maxItems", at)
        if schema.get("uniqueItems") and (most is None or most > 1):
            raise invalid(
                f"At {at}, “uniqueItems” cannot be held: an answer could name something twice."
            )
        if least > MAX_REPETITIONS:
            raise invalid(f"At {at}, an array would have more than {MAX_REPETITIONS} items.")
        fixed = [
            self._rule_of(item, f"{at}/prefixItems/{number}")
            for number, item in enumerate(first[: most if most is not None else len(first)])
        ]
        if most is not None and most <= len(fixed):
            return self._listing(fixed, "", empty=not fixed)
        item = self._rule_of(items, f"{at}/items")
        following = self._new_rule(f'"," ws {item}')
        begins = fixed or [item]
        fewest = max(least - len(begins), 0)
        top = "" if most is None else max(fewest, min(most, MAX_REPETITIONS) - len(begins))
        more = f"{following}{{{fewest},{top}}}" if top != 0 else ""
        return self._listing(begins, more, empty=not fixed and not least)

    def _listing(self, items: Sequence[str], more: str, *, empty: bool) -> str:
        """Write an array of these items and more. empty: it may have none, too."""
        inner = f"""{' "," ws '.join(items)} {more} ws""" if items else ""
        if empty:
            inner = f"({inner})?" if inner else ""
        return f'"[" ws {inner} "]"'

    # -- objects ---------------------------------------------------------------------------------

    def _object(self, schema: Mapping[str, Any], at: str) -> str:
        properties = mapping(schema, "properties", at)
        required = listed(schema, "required", at)
        if not all(isinstance(name, str) for name in required):
            raise invalid(f"At {at}, “required” is no list of names.")
        others, key = self._others(schema, at)
        pairs: list[tuple[str, bool]] = []
        for name in dict.fromkeys((*properties, *required)):
            if len(name) > MAX_NAME:
                raise invalid(f"At {at}, a name is longer than {MAX_NAME} characters.")
            value = properties.get(name, schema.get("additionalProperties", True))
            place = f"{at}/properties/{short(name)}"
            if self._checked(value, place) is False:
                if name in required:
                    raise invalid(f"At {at}, “{short(name)}” is required and not allowed.")
                continue
            rule = self._rule_of(value, place)
            pair = f'{literal(json.dumps(name, ensure_ascii=False))} ":" ws {rule}'
            pairs.append((self._new_rule(pair), name in required))
        other = None
        if others is not None and self._checked(others, at) is not False:
            value_rule = self._rule_of(others, f"{at}/additionalProperties")
            key = key or (self._other_key((*properties, *required)) if pairs else "string")
            other = self._new_rule(f'{key} ":" ws {value_rule}')
        least = count(schema, "minProperties", at) or 0
        most = count(schema, "maxProperties", at)
        require_order(least, most, "minProperties", "maxProperties", at)
        needed = sum(must for _, must in pairs)
        if most is not None and (len(pairs) > most or (other is not None and pairs)):
            raise invalid(f"At {at}, “maxProperties” cannot be held beside “properties”.")
        if least > max(needed, 1):
            raise invalid(f"At {at}, more than one property cannot be demanded without its name.")
        return self._members(pairs, other, most, at, some=least > needed)

    def _others(self, schema: Mapping[str, Any], at: str) -> tuple[Any, str | None]:
        """Return the schema of what “properties” does not name, and a rule of its keys, or None."""
        names, patterns = schema.get("propertyNames"), mapping(schema, "patternProperties", at)
        bare = is_bare(schema)
        others = schema.get("additionalProperties", True if bare else None)
        if names is None and not patterns:
            return others, None
        if not bare or len(patterns) > 1 or (names is not None and patterns):
            keyword = "patternProperties" if patterns else "propertyNames"
            raise invalid(f"At {at}, “{keyword}” can be held alone only.")
        if patterns:
            ((pattern, value),) = patterns.items()
            return value, self._rule_of({"type": "string", "pattern": pattern}, at)
        checked = self._checked(names, f"{at}/propertyNames")
        if checked is False:
            return None, None
        rest = {} if checked is True else checked
        return others, self._rule_of({"allOf": [rest, {"type": "string"}]}, f"{at}/propertyNames")

    def _members(
        self, pairs: Sequence[tuple[str, bool]], other: str | None, most: int | None, at: str,
        *, some: bool,
    ) -> str:  # fmt: skip
        """Write an object of these pairs in their order, each with whether it has to be there.

        some: there has to be one, whichever.
        """
        if most == 0 or (not pairs and other is None):
            if some:
                raise invalid(f"Nothing can stand at {at}: it has no property to have.")
            return '"{" ws "}"'
        # Behind a pair what follows has a comma; before all of them it has none.
        behind, begins = "", []
        if other is not None:
            limit = "" if most is None else min(most, MAX_REPETITIONS) - 1
            if limit != 0:
                behind = f"""{self._new_rule(f'"," ws {other}')}{{0,{limit}}}"""
            begins = [f"{other} {behind}"]
        must = False
        for pair, needed in reversed(pairs):
            name = self._new_rule(behind) if behind else ""
            begin = f"{pair} {name}".strip()
            begins = [begin] if needed else [begin, *begins]
            must = must or needed
            comma = self._new_rule(f'"," ws {pair}')
            behind = f"{comma if needed else comma + '?'} {name}".strip()
        members = f"({' | '.join(begins)}) ws"
        return f'"{{" ws {members if must or some else f"({members})?"} "}}"'

    def _other_key(self, names: Sequence[str]) -> str:
        """Write the keys that are none of these names; they are written without a backslash."""
        tree: dict[str, Any] = {}
        for name in names:
            if all(char >= " " and char not in '"\\\x7f' for char in name):
                node = tree
                for char in name:
                    node = node.setdefault(char, {})
                node[""] = {}
        return self._new_rule(rf'"\"" {self._unlike(tree, start=True)}')

    def _unlike(self, tree: Mapping[str, Any], *, start: bool = False) -> str:
        letters = sorted(char for char in tree if char)
        others = "".join(f"\\U{ord(char):08X}" for char in letters)
        options = [rf'[^"\\\x00-\x1F\x7F{others}] letter* "\""']
        options += [f"{literal(char)} {self._unlike(tree[char])}" for char in letters]
        if not start and "" not in tree:
            options.append(r'"\""')
        return self._new_rule(" | ".join(options))


def _written(value: object) -> str:
    try:
        return literal(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        raise invalid("A number in it is too large.") from error
