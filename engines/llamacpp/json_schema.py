"""Prepares JSON schemas for llguidance, so that all allowed texts follow the schema. Pure.

llguidance supports much of JSON Schema, and refuses the rest without naming a place. So a schema is
read here first: each keyword is enforced, or reported with its path. An object's properties come in
the order of the schema, and others only if `additionalProperties` is there and allows them. A
missing type is inferred from the keywords. Source: JSON Schema, draft 2020-12, with the different
names of drafts 4 to 7 and OpenAPI 3.0 ("definitions", "items" as a list, "nullable").
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NoReturn
from urllib.parse import unquote

from engines.errors import GrammarInvalid
from engines.sentences import N_

MAX_LENGTH: Final = 200_000
"""The most characters in a schema."""
MAX_DEPTH: Final = 100
"""The most nested lists and objects in a schema."""
_MOST_PARTS: Final = 20_000
"""The most schemas in a schema; a referenced one counts again if it must be written twice."""
_MOST_DEFINITIONS: Final = 1000

Schema = dict[str, Any]

_TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

_OF_TYPE: Final[Mapping[str, tuple[str, ...]]] = {
    "object": (
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames",
        "minProperties", "maxProperties", "unevaluatedProperties",
    ),
    "array": (
        "items", "prefixItems", "minItems", "maxItems", "unevaluatedItems", "uniqueItems",
        "contains",
    ),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}  # fmt: skip
"""The keywords that apply only to values of one type."""

_UNENFORCED: Final = (
    "not", "if", "dependentRequired", "dependentSchemas", "dependencies", "contains",
    "$dynamicRef", "$recursiveRef",
)  # fmt: skip
"""Keywords that no grammar of reasonable size can enforce."""

_COUNTS: Final = (
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
)  # fmt: skip
_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_PARTS: Final = ("allOf", "anyOf", "oneOf", "$ref")

_UNENFORCED_FORMATS: Final = (
    "idn-email", "idn-hostname", "uri-reference", "iri", "iri-reference", "uri-template",
    "json-pointer", "relative-json-pointer", "regex",
)  # fmt: skip
"""Formats of JSON Schema that have no pattern here; unknown names mean no restriction."""

_DAYS = (
    r"(0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8])"
)
_LEAP = r"([1-9]\d(0[48]|[2468][048]|[13579][26])|([2468][048]|1[26]|[3579][26])00)-02-29"
_DATE = rf"([1-9]\d{{3}}-({_DAYS})|{_LEAP})"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_BYTE = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_WORD = r"[A-Za-z0-9_+-]{1,30}"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,20}[A-Za-z0-9])?"

_FORMATS: Final = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": (
        r"P((\d{1,4}Y(\d{1,4}M(\d{1,4}D)?)?|\d{1,4}M(\d{1,4}D)?|\d{1,4}D)"
        r"(T(\d{1,4}H(\d{1,4}M(\d{1,4}S)?)?|\d{1,4}M(\d{1,4}S)?|\d{1,4}S))?"
        r"|T(\d{1,4}H(\d{1,4}M(\d{1,4}S)?)?|\d{1,4}M(\d{1,4}S)?|\d{1,4}S)|\d{1,4}W)"
    ),
    "uuid": r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    "ipv4": rf"{_BYTE}(\.{_BYTE}){{3}}",
    "ipv6": r"([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}",
    "hostname": rf"{_LABEL}(\.{_LABEL}){{0,5}}",
    "email": rf"{_WORD}(\.{_WORD}){{0,3}}@{_LABEL}(\.{_LABEL}){{1,4}}",
    "uri": (
        r"https?://[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?){0,5}"
        r"(:[1-9]\d{0,3})?(/[A-Za-z0-9._~-]{0,60}){0,20}"
    ),
}
"""Patterns for whole strings of a format, by RFC 3339, RFC 4122 and others.

Some allowed values are left out, such as years before 1000.
"""


_LARGEST_WHOLE: Final = 10**15 - 1
"""The bound for integers without a bound of their own."""
_NEXT: Final = 1e-9
_BOUNDS: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
_LARGEST_DIVISOR: Final = 1000
"""A grammar needs a state for each remainder, so larger divisors are not enforced."""


@dataclass(frozen=True)
class PreparedSchema:
    """A schema in the form that llguidance accepts.

    Attributes:
        schema: The schema; `$ref` in it refers to its `$defs`.
        places: Each schema within it, with its path in the original schema.
        unenforced: The keywords that were left out, each after its path.
    """

    schema: Schema
    places: tuple[tuple[str, Schema], ...]
    unenforced: tuple[str, ...] = ()


def prepare(schema: str) -> PreparedSchema:
    """Prepare a schema, given as JSON, that must be enforced completely. Raises GrammarInvalid."""
    if len(schema) > MAX_LENGTH:
        raise refused("#", N_("it is longer than {max_length} characters", max_length=MAX_LENGTH))
    try:
        read = json.loads(schema, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise refused("#", N_("it is not JSON, or it is nested too deeply")) from error
    return _prepare(read, strict=True)


def prepare_arguments(schema: Mapping[str, Any]) -> PreparedSchema:
    """Prepare the schema of a tool, without the keywords that cannot be enforced.

    Raises:
        GrammarInvalid: It is not a schema.
    """
    return _prepare(dict(schema), strict=False)


def refused(path: str, why: str) -> GrammarInvalid:
    """Return the error for a schema that cannot be enforced.

    Args:
        path: The part of the schema, as "#" with a JSON pointer.
        why: The reason, as a sentence without a full stop.
    """
    return GrammarInvalid(
        N_("The schema of the answer cannot be used."),
        N_("{path}: {why}.", path=path, why=why),
        N_("Change the schema, or ask without it."),
    )


def _prepare(read: Any, *, strict: bool) -> PreparedSchema:
    try:
        _require_depth(read)
        # This fails on half a surrogate pair and on infinite numbers, which JSON does not allow.
        length = len(json.dumps(read, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise refused("#", N_("it is not JSON, or it is nested too deeply")) from error
    if length > 4 * MAX_LENGTH:
        raise refused("#", N_("it is longer than {max_length} characters", max_length=MAX_LENGTH))
    return _Preparer(read, strict=strict).prepared()


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _require_depth(schema: Any) -> None:
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
    raise refused("#", N_("it is nested more than {max_depth} levels deep", max_depth=MAX_DEPTH))


class _Preparer:
    """Prepares one schema.

    A part is a schema that applies together with others to the same value: a member of `allOf`, or
    a schema beside such a keyword. A part does not restrict properties that it does not name.
    """

    def __init__(self, root: Any, *, strict: bool) -> None:
        self._root = root
        self._strict = strict
        self._unenforced: list[str] = []
        self._places: list[tuple[str, Schema]] = []
        self._definitions: dict[str, Any] = {}
        self._names: dict[tuple[str, bool], str] = {}
        self._waiting: list[tuple[str, Any, str, bool]] = []
        self._copied: set[str] = set()
        self._count = 0
        self._visited = 0

    def prepared(self) -> PreparedSchema:
        """Return the schema in the form that llguidance accepts."""
        schema = self._schema(self._root, "#", part=False)
        while self._waiting:
            name, target, path, part = self._waiting.pop()
            self._definitions[name] = self._schema(target, path, part=part)
        if isinstance(schema, bool):
            if not schema:
                raise refused("#", N_("no value matches it"))
            schema = {}
        whole = {**schema, "$defs": self._definitions} if self._definitions else schema
        _require_end(schema, self._definitions)
        return PreparedSchema(whole, tuple(self._places), tuple(dict.fromkeys(self._unenforced)))

    def _schema(self, value: Any, path: str, *, part: bool) -> Schema | bool:
        if isinstance(value, bool):
            return value
        if not isinstance(value, dict):
            raise refused(
                path,
                N_("a schema has to be an object, and this is {quoted}", quoted=_quoted(value)),
            )
        self._count += 1
        if self._count > _MOST_PARTS:
            raise refused(
                path, N_("there are more than {most_parts} schemas in it", most_parts=_MOST_PARTS)
            )
        for key in _UNENFORCED:
            if key in value:
                self._leave_out(path, key)
        schema = _modern(value)
        self._type(schema, path, part=part)
        enforced: Schema = {key: schema[key] for key in ("type", "enum", "const") if key in schema}
        if "enum" in enforced:
            _list(enforced["enum"], path, "enum")
        self._numbers(schema, enforced, path)
        self._counts(schema, enforced, path)
        self._string(schema, enforced, path)
        self._array(schema, enforced, path)
        self._object(schema, enforced, path, part=part)
        self._parts(schema, enforced, path, part=part)
        self._places.append((path, enforced))
        return enforced

    def _leave_out(
        self, path: str, key: str, why: str = N_("cannot be enforced by a grammar")
    ) -> None:
        """Leave out a keyword. Raises GrammarInvalid if the whole schema must be enforced."""
        if self._strict:
            raise refused(path, N_("{key} {why}", key=key, why=why))
        self._unenforced.append(f"{path}: {key}")

    def _type(self, schema: Schema, path: str, *, part: bool) -> None:
        """Check the types of a schema, and infer them if it has none."""
        if "type" in schema:
            names = _type_names(schema["type"], path)
            if schema.get("nullable") is True:
                names.append("null")
            schema["type"] = names if len(names) > 1 else names[0]
            return
        if part or any(key in schema for key in (*_PARTS, "enum", "const")):
            return
        kinds = [kind for kind, keys in _OF_TYPE.items() if any(key in schema for key in keys)]
        if kinds:
            schema["type"] = kinds if len(kinds) > 1 else kinds[0]

    def _numbers(self, schema: Schema, enforced: Schema, path: str) -> None:
        for key in _NUMBERS:
            value = schema.get(key)
            if value is None:
                continue
            if not isinstance(value, int | float):
                raise refused(path, N_("{key} has to be a number", key=key))
            enforced[key] = value
        _bound(enforced)
        divisor = enforced.get("multipleOf")
        if divisor is not None and (isinstance(divisor, bool) or divisor <= 0):
            raise refused(path, N_("multipleOf has to be above zero"))
        if divisor is not None and _digits(divisor) > _LARGEST_DIVISOR:
            del enforced["multipleOf"]
            self._leave_out(
                path, "multipleOf", N_("{divisor} cannot be enforced by a grammar", divisor=divisor)
            )

    def _counts(self, schema: Schema, enforced: Schema, path: str) -> None:
        for key in _COUNTS:
            value = schema.get(key)
            if value is None:
                continue
            if not isinstance(value, int | float) or value < 0 or value != int(value):
                raise refused(path, N_("{key} has to be a whole number", key=key))
            enforced[key] = int(value)

    def _string(self, schema: Schema, enforced: Schema, path: str) -> None:
        pattern, form = schema.get("pattern"), schema.get("format")
        if pattern is not None:
            if not isinstance(pattern, str):
                raise refused(path, N_("pattern has to be a text"))
            try:
                enforced["pattern"] = _pattern(pattern)
            except _NoPattern as error:
                self._leave_out(path, "pattern", str(error))
        if form in _UNENFORCED_FORMATS:
            self._leave_out(
                path, "format", N_("“{format}” cannot be enforced by a grammar", format=form)
            )
        elif isinstance(form, str) and form in _FORMATS:
            whole = f"^(?:{_pattern(_FORMATS[form])})$"
            if "pattern" in enforced:
                enforced["allOf"] = [{"pattern": whole}]
            else:
                enforced["pattern"] = whole

    def _array(self, schema: Schema, enforced: Schema, path: str) -> None:
        if schema.get("uniqueItems") is True and enforced.get("maxItems", 2) > 1:
            self._leave_out(path, "uniqueItems")
        rest = schema.get("items", schema.get("unevaluatedItems"))
        if "prefixItems" in schema:
            items = _list(schema["prefixItems"], path, "prefixItems")
            enforced["prefixItems"] = [
                self._schema(item, f"{path}/prefixItems/{at}", part=False)
                for at, item in enumerate(items)
            ]
            if rest is None and enforced.get("minItems", 0) <= len(items):
                rest = False
        if rest is not None:
            enforced["items"] = self._schema(rest, f"{path}/items", part=False)

    def _object(self, schema: Schema, enforced: Schema, path: str, *, part: bool) -> None:
        required = _list(schema.get("required", []), path, "required")
        if not all(isinstance(name, str) for name in required):
            raise refused(path, N_("required has to be a list of names"))
        if required:
            enforced["required"] = required
        named = _mapping(schema.get("properties", {}), path, "properties")
        if "properties" in schema:
            enforced["properties"] = {
                name: self._schema(value, f"{path}/properties/{_escaped(name)}", part=False)
                for name, value in named.items()
            }
        for pattern, value in _mapping(
            schema.get("patternProperties", {}), path, "patternProperties"
        ).items():
            where = f"{path}/patternProperties/{_escaped(pattern)}"
            patterns = enforced.setdefault("patternProperties", {})
            try:
                patterns[_pattern(pattern)] = self._schema(value, where, part=False)
            except _NoPattern as error:
                self._leave_out(where, "pattern", str(error))
                patterns[""] = True
        self._additional(schema, enforced, path, part=part)
        least = enforced.get("minProperties", 0)
        if least > (len(required) or 1):
            # A grammar cannot exclude that a name appears twice.
            del enforced["minProperties"]
            self._leave_out(path, "minProperties")
        elif least <= len(required):
            enforced.pop("minProperties", None)

    def _additional(self, schema: Schema, enforced: Schema, path: str, *, part: bool) -> None:
        """Decide which properties an object can have in addition to the named ones."""
        additional = schema.get("additionalProperties")
        if additional is None and "unevaluatedProperties" in schema:
            if any(key in schema for key in _PARTS):
                self._leave_out(path, "unevaluatedProperties")
            else:
                additional = schema["unevaluatedProperties"]
        if additional is None and "patternProperties" in enforced:
            additional = False
        names = schema.get("propertyNames")
        if names is not None:
            pattern = self._names_pattern(names, f"{path}/propertyNames")
            if pattern is None or "properties" in enforced or "patternProperties" in enforced:
                self._leave_out(path, "propertyNames")
            elif additional is not False:
                value = self._schema(
                    True if additional is None else additional,
                    f"{path}/additionalProperties",
                    part=False,
                )
                enforced["patternProperties"], additional = {pattern: value}, False
        if additional is None and "properties" in enforced and not part and self._is_closed(schema):
            for name in enforced.get("required", ()):
                enforced["properties"].setdefault(name, True)
            additional = False
        if additional is not None:
            enforced["additionalProperties"] = self._schema(
                additional, f"{path}/additionalProperties", part=False
            )

    def _names_pattern(self, names: Any, path: str) -> str | None:
        """Return the pattern for names that follow a schema; None if no plain pattern exists."""
        schema = names
        if isinstance(names, dict) and set(names) == {"$ref"}:
            schema = self._target(names["$ref"], path)[0]
        if not isinstance(schema, dict):
            return None
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(values, list) and all(isinstance(item, str) for item in values):
            return f"^(?:{'|'.join(map(_as_pattern, values))})$"
        if isinstance(pattern := schema.get("pattern"), str) and not (
            {"format", "minLength", "maxLength", *_PARTS} & schema.keys()
        ):
            with suppress(_NoPattern):
                return _pattern(pattern)
        return None

    def _is_closed(self, schema: Schema) -> bool:
        """Return whether a schema names all of an object's properties itself."""
        if "$ref" in schema or "allOf" in schema:
            return False
        named = schema["properties"].keys()
        options = [option for key in ("anyOf", "oneOf") for option in _items_of(schema.get(key))]
        return all(
            isinstance(option, dict)
            and not any(key in option for key in _PARTS)
            and set(option.get("properties", ())) <= set(named)
            for option in options
            if not isinstance(option, bool)
        )

    def _parts(self, schema: Schema, enforced: Schema, path: str, *, part: bool) -> None:
        restricting = {key for key in schema if key in _RESTRICTING}
        together = part or len(restricting) > 1
        parts = [*enforced.pop("allOf", [])]
        if "allOf" in schema:
            members = _list(schema["allOf"], path, "allOf")
            is_single = len(members) == 1 and not together
            parts += [
                self._schema(member, f"{path}/allOf/{at}", part=not is_single)
                for at, member in enumerate(members)
            ]
        if parts:
            enforced["allOf"] = parts
        for key in ("anyOf", "oneOf"):
            if key in schema:
                options = _list(schema[key], path, key)
                tag = schema.get("discriminator")
                if isinstance(tag, dict) and isinstance(tag.get("propertyName"), str):
                    enforced.setdefault("type", "object")
                    enforced["required"] = [*enforced.get("required", []), tag["propertyName"]]
                enforced[key] = [
                    self._option(option, f"{path}/{key}/{at}", part=together)
                    for at, option in enumerate(options)
                ]
        if "$ref" in schema:
            enforced["$ref"] = self._reference(schema["$ref"], path, part=together)
        several = together or len(_items_of(schema.get("allOf"))) > 1
        if several and not part and ("allOf" in schema or "$ref" in schema):
            self._close(schema, enforced, path)

    def _option(self, option: Any, path: str, *, part: bool) -> Schema | bool:
        """Prepare an alternative; a referenced one is copied, so that it can be compared."""
        if not isinstance(option, dict) or set(option) & _RESTRICTING != {"$ref"}:
            return self._schema(option, path, part=part)
        target, where = self._target(option["$ref"], path)
        if where in self._copied:
            return self._schema(option, path, part=part)
        self._copied.add(where)
        try:
            return self._option(target, where, part=part)
        finally:
            self._copied.discard(where)

    def _close(self, schema: Schema, enforced: Schema, path: str) -> None:
        """Exclude properties that no part of an object names."""
        names = self._all_names(schema, path, 0)
        if names:
            allowed = dict.fromkeys(names, True)
            closing = {"properties": allowed, "additionalProperties": False}
            enforced["allOf"] = [*enforced.get("allOf", []), closing]

    def _all_names(self, schema: Any, path: str, depth: int) -> list[str] | None:
        """List the properties that a schema and its parts name; None if others are possible."""
        if isinstance(schema, bool):
            return []
        self._visited += 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH or self._visited > _MOST_PARTS:
            return None
        open_ = (
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
            "propertyNames",
            "anyOf",
            "oneOf",
        )
        if any(key in schema for key in open_):
            return None
        names = [*_mapping(schema.get("properties", {}), path, "properties")]
        names += [name for name in _items_of(schema.get("required")) if isinstance(name, str)]
        parts = list(_items_of(schema.get("allOf")))
        if "$ref" in schema:
            parts.append(self._target(schema["$ref"], path)[0])
        for part in parts:
            more = self._all_names(part, path, depth + 1)
            if more is None:
                return None
            names += more
        return list(dict.fromkeys(names))

    def _reference(self, reference: Any, path: str, *, part: bool) -> str:
        """Return the reference to a definition, which is prepared later."""
        target, where = self._target(reference, path)
        key = (where, part)
        if key not in self._names:
            if len(self._names) >= _MOST_DEFINITIONS:
                raise refused(
                    path,
                    N_(
                        "it refers to more than {most_definitions} schemas",
                        most_definitions=_MOST_DEFINITIONS,
                    ),
                )
            name = self._names[key] = str(len(self._names))
            self._definitions[name] = True
            self._waiting.append((name, target, where, part))
        return f"#/$defs/{self._names[key]}"

    def _target(self, reference: Any, path: str) -> tuple[Any, str]:
        """Return the schema that a reference refers to, and its path. Raises GrammarInvalid."""
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise refused(
                path, N_("$ref {quoted} leads out of the schema", quoted=_quoted(reference))
            )
        at: Any = self._root
        for step in unquote(reference).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict) and name in at:
                at = at[name]
            elif isinstance(at, list) and name.isdecimal() and int(name) < len(at):
                at = at[int(name)]
            else:
                raise refused(path, N_("$ref {quoted} leads nowhere", quoted=_quoted(reference)))
        return at, unquote(reference)


_RESTRICTING: Final = frozenset({*_PARTS, "type", "enum", "const"}.union(*_OF_TYPE.values()))
"""The keywords that restrict values; the others are annotations."""


def _modern(original: Schema) -> Schema:
    """Return a schema with the names of older drafts replaced by those of draft 2020-12."""
    schema = dict(original)
    more = schema.pop("additionalItems", None)
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if more is not None:
            schema["items"] = more
    for bound, key in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(key), bool):
            excluded = schema.pop(key)
            if excluded and bound in schema:
                schema[key] = schema.pop(bound)
    return schema


def _bound(enforced: Schema) -> None:
    """Add bounds to integers without them, and adjust bounds that llguidance mistakes."""
    low, high = (next((keyword for keyword in keys if keyword in enforced), "") for keys in _BOUNDS)
    if enforced.get("type") == "integer":
        # Without a bound, a weak model can write digits forever.
        if not low:
            enforced["minimum"] = -_LARGEST_WHOLE
        if not high:
            enforced["maximum"] = _LARGEST_WHOLE
    elif low and high and enforced[high] - enforced[low] < 1:
        # llguidance accepts an excluded integer if all allowed numbers have the same digits before
        # the decimal point.
        if low == "exclusiveMinimum" and enforced[low] == int(enforced[low]):
            enforced[low] += _NEXT
        if high == "exclusiveMaximum" and enforced[high] == int(enforced[high]):
            enforced[high] -= _NEXT


def _require_end(schema: Schema, definitions: Mapping[str, Any]) -> None:
    """Raise GrammarInvalid if the schema needs itself wherever it could end."""
    ending: set[str] = set()
    grown = True
    while grown:
        found = {
            name
            for name, definition in definitions.items()
            if name not in ending and _ends(definition, ending)
        }
        ending |= found
        grown = bool(found)
    if not _ends(schema, ending):
        raise refused(
            "#", N_("it never ends: a part of it requires itself, or no value matches a part")
        )


def _ends(schema: Any, ending: set[str]) -> bool:
    """Return whether a value can follow the schema.

    Args:
        schema: The schema.
        ending: The names of the definitions that a value can follow.
    """
    if isinstance(schema, bool):
        return schema
    parts = [*schema.get("allOf", [])]
    types = schema.get("type", "object")
    if types == "object" or types == "array":  # noqa: PLR1714  it may be a list
        named = schema.get("properties", {})
        parts += [named.get(name, True) for name in schema.get("required", ())]
        least = schema.get("minItems", 0)
        first = schema.get("prefixItems", [])[:least]
        parts += first if len(first) == least else [*first, schema.get("items", True)]
    return (
        ("$ref" not in schema or schema["$ref"].rpartition("/")[2] in ending)
        and all(_ends(part, ending) for part in parts)
        and all(
            any(_ends(part, ending) for part in schema[key])
            for key in ("anyOf", "oneOf")
            if key in schema
        )
    )


def _type_names(value: Any, path: str) -> list[str]:
    names = [value] if isinstance(value, str) else _list(value, path, "type")
    if not names or any(name not in _TYPES for name in names):
        raise refused(
            path, N_("type has to be one of {types}, or some of them", types=", ".join(_TYPES))
        )
    # "number" includes "integer".
    return [name for name in dict.fromkeys(names) if name != "integer" or "number" not in names]


def _digits(divisor: float) -> int:
    """Return a number without its decimal point, such as 25 for 0.25."""
    from decimal import Decimal

    digits = Decimal(str(divisor)).normalize().as_tuple()
    exponent = digits.exponent if isinstance(digits.exponent, int) else 0
    whole = int("".join(map(str, digits.digits)))
    return whole * 10 ** min(exponent, 9) if exponent > 0 else whole


_CONTROLS: Final = r"\x00-\x07\x0B\x0E-\x1F\x7F"
"""Control characters that no set may contain: otherwise llguidance also accepts escaped quotes."""

_LETTERS: Final[Mapping[str, Mapping[str, str]]] = {
    "": {
        "s": r"[\t\n\x0C\r\x20]",
        "S": rf"[^\s{_CONTROLS}\x{{FEFF}}]",
        "D": rf"[^\p{{Nd}}{_CONTROLS}]",
        "W": rf"[^\p{{L}}\p{{M}}\p{{N}}\p{{Pc}}{_CONTROLS}]",
        "0": r"\x00",
    },
    "[": {"s": r"\t\n\x0C\r\x20", "b": r"\x08", "0": r"\x00"},
    "[^": {
        "s": r"\s\x{FEFF}",
        "d": r"\p{Nd}",
        "w": r"\p{L}\p{M}\p{N}\p{Pc}",
        "b": r"\x08",
        "0": r"\x00",
    },
}
"""The meaning of a letter after a backslash, where readers of patterns differ.

It is given outside of sets and within them, in a form that all readers understand alike.
"""

_WIDE: Final = "DSWPpB"
"""Letters that can mean control characters in a set, or have no meaning here elsewhere."""

_FROM_CONTROL: Final = re.compile(r"(\\x[01][0-9A-Fa-f]|\\u00[01][0-9A-Fa-f]|\\[tnvfr])-(?!\])")


class _NoPattern(Exception):
    """A pattern that cannot be enforced. The message continues after the keyword's name."""


def _pattern(pattern: str) -> str:
    """Return an ECMA-262 regular expression in llguidance's syntax. Raises _NoPattern."""
    written, within, at = [], "", 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "\\" and at < len(pattern):
            letter = pattern[at]
            at += 1
            if (within or letter in "PB") and letter in _WIDE:
                raise _NoPattern(f"cannot be enforced with “\\{letter}” in it")
            written.append(_LETTERS[within].get(letter, f"\\{letter}"))
        elif not within and char == "[":
            within = "[^" if pattern.startswith("^", at) else "["
            end = _end_of_set(pattern, at)
            # In a range, a control character at the beginning is replaced by characters that are
            # allowed.
            inner = _FROM_CONTROL.sub(r"\\t\\n\\r\\x20-", pattern[at:end])
            pattern = pattern[:at] + inner + pattern[end:]
            written.append(within + (_CONTROLS if within == "[^" else ""))
            at += len(within) - 1
        elif within and char == "]":
            within = ""
            written.append(char)
        elif within and (char in "[&~" or (char == "-" and pattern.startswith("-", at))):
            written.append(f"\\{char}")  # some have a meaning in sets there, but none here
        elif not within and char == ".":
            written.append(rf"[^\n\r{_CONTROLS}\x{{2028}}\x{{2029}}]")
        else:
            written.append(char)
    return "".join(written)


def _end_of_set(pattern: str, at: int) -> int:
    """Return the index of the bracket that ends the set around an index."""
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at


def _as_pattern(text: str) -> str:
    return "".join(
        char if char.isalnum() or char in "_ " else f"\\x{{{ord(char):X}}}" for char in text
    )


def _items_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _list(value: Any, path: str, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise refused(path, N_("{key} has to be a list", key=key))
    return value


def _mapping(value: Any, path: str, key: str) -> Schema:
    if not isinstance(value, dict):
        raise refused(path, N_("{key} has to be an object", key=key))
    return value


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _quoted(part: Any) -> str:
    text = json.dumps(part, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:100]}…"
