"""Reads the keywords of a JSON schema, and puts schemas together that hold at once: pure.

Every function raises GrammarInvalid for what cannot be held or makes no sense. at: the place in the
document, for its sentence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from engines.errors import GrammarInvalid

MAX_CHOICES: Final = 64
"""Ways in which the alternatives of schemas that hold together may be combined."""
_FARTHEST: Final = 10**30

Schema = Mapping[str, Any] | bool

TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")

KEYWORDS: Final = {
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties",
               "propertyNames", "patternProperties"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "additionalItems"},
    "string": {"minLength", "maxLength", "pattern", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}  # fmt: skip
"""What asks for something of one type; that type is meant where a schema names none."""
_ANY_TYPE: Final = {"type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf"}
HELD: Final = _ANY_TYPE.union(*KEYWORDS.values())
NOT_HELD: Final = {
    "not", "if", "dependentRequired", "dependentSchemas", "dependencies", "contains",
    "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef",
}  # fmt: skip


def invalid(why: str) -> GrammarInvalid:
    return GrammarInvalid(
        "The JSON schema cannot be used.", why, "Correct the schema, or ask without it."
    )


def allowed_kinds(schema: Mapping[str, Any], at: str) -> set[str] | None:
    """Return the types of all that follows a schema, integers as numbers; None if it may be any."""
    if "enum" in schema:
        return {family(kinds_of(value)[0]) for value in schema["enum"]}
    return {family(kind) for kind in kinds(schema, at)} if "type" in schema else None


def is_object(schema: Mapping[str, Any], at: str) -> bool:
    """Tell whether every answer by a schema is an object."""
    choice = not {"anyOf", "oneOf"}.isdisjoint(schema)
    return (
        "enum" not in schema
        and kinds(schema, at) == ["object"]
        and ("type" in schema or not choice)
    )


def together(one: Mapping[str, Any], other: Mapping[str, Any], at: str) -> dict[str, Any]:
    """Return a schema for what follows both."""
    found = {**other, **one}
    if not _OF_OBJECTS.isdisjoint(one) and not _OF_OBJECTS.isdisjoint(other):
        found |= _properties_together(one, other, at)
    for keyword in one:
        if keyword not in other or one[keyword] == other[keyword] or keyword in _OF_OBJECTS:
            continue
        if keyword not in _TOGETHER:
            raise invalid(f"At {at}, two “{keyword}” cannot be held together.")
        found[keyword] = _TOGETHER[keyword](one, other, keyword, at)
    return found


def _common_types(one: Mapping[str, Any], other: Mapping[str, Any], _: str, at: str) -> list[str]:
    ours, theirs = (
        {*kinds(part, at), *(["integer"] if "number" in kinds(part, at) else [])}
        for part in (one, other)
    )
    return [kind for kind in TYPES if kind in ours & theirs]


def _common_values(one: Mapping[str, Any], other: Mapping[str, Any], _: str, at: str) -> list[Any]:
    known = spelt(listed(other, "enum", at))
    found = [value for value in listed(one, "enum", at) if spelt([value]) <= known]
    if not found:
        raise invalid(f"Nothing can stand at {at}: no value is in both lists.")
    return found


def _all_names(one: Mapping[str, Any], other: Mapping[str, Any], key: str, at: str) -> list[Any]:
    return list(dict.fromkeys((*listed(one, key, at), *listed(other, key, at))))


def _both_choices(one: Mapping[str, Any], other: Mapping[str, Any], key: str, at: str) -> list[Any]:
    ours, theirs = listed(one, key, at), listed(other, key, at)
    if len(ours) * len(theirs) > MAX_CHOICES:
        raise invalid(f"At {at}, too many alternatives hold together.")
    return [both([mine, yours]) for mine in ours for yours in theirs]


def _both_parts(one: Mapping[str, Any], other: Mapping[str, Any], key: str, _: str) -> Any:
    return both([one[key], other[key]])


def _more(one: Mapping[str, Any], other: Mapping[str, Any], key: str, at: str) -> int:
    return max(count(one, key, at) or 0, count(other, key, at) or 0)


def _fewer(one: Mapping[str, Any], other: Mapping[str, Any], key: str, at: str) -> int:
    return min(count(one, key, at) or 0, count(other, key, at) or 0)


def _higher(one: Mapping[str, Any], other: Mapping[str, Any], key: str, at: str) -> Any:
    return one[key] if _number(one[key], key, at) > _number(other[key], key, at) else other[key]


def _lower(one: Mapping[str, Any], other: Mapping[str, Any], key: str, at: str) -> Any:
    return one[key] if _number(one[key], key, at) < _number(other[key], key, at) else other[key]


_OF_OBJECTS: Final = {"properties", "additionalProperties"}
_TOGETHER: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any], str, str], Any]]] = {
    "type": _common_types,
    "enum": _common_values,
    "required": _all_names,
    "anyOf": _both_choices,
    **dict.fromkeys(("items", "propertyNames"), _both_parts),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), _more),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), _fewer),
    **dict.fromkeys(("minimum", "exclusiveMinimum"), _higher),
    **dict.fromkeys(("maximum", "exclusiveMaximum"), _lower),
    "uniqueItems": lambda *_: True,
}
"""How a keyword of two schemas is one for both."""


def family(kind: str) -> str:
    return "number" if kind == "integer" else kind


def kinds(schema: Mapping[str, Any], at: str) -> list[str]:
    """Return the types that a schema allows; by what it asks for, where it names none."""
    if "type" not in schema:
        meant = [kind for kind, keywords in KEYWORDS.items() if not keywords.isdisjoint(schema)]
        return meant or [kind for kind in TYPES if kind != "integer"]
    named = schema["type"]
    kinds = named if isinstance(named, list) else [named]
    for kind in kinds:
        if kind not in TYPES:
            raise invalid(f"At {at}, “{short(str(kind))}” is no type.")
    return [kind for kind in dict.fromkeys(kinds) if kind != "integer" or "number" not in kinds]


def kinds_of(value: object) -> tuple[str, ...]:
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int | float):
        return ("integer", "number") if value == int(value) else ("number",)
    if isinstance(value, str):
        return ("string",)
    return ("array",) if isinstance(value, list) else ("object",)


def spelt(values: Sequence[object]) -> set[str]:
    """Return values so that equal ones are equal: 1 and 1.0 are, 1 and true are not."""
    return {
        json.dumps(int(v) if isinstance(v, float) and v == int(v) else v, sort_keys=True)
        for v in values
    }


def is_bare(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema of objects names no property, which leaves them all free."""
    return not schema.get("properties") and not schema.get("required")


def is_open(schema: Mapping[str, Any]) -> bool:
    """Tell whether answers by a schema may have properties that it does not name."""
    return schema.get("additionalProperties", is_bare(schema)) is not False


def _properties_together(
    one: Mapping[str, Any], other: Mapping[str, Any], at: str
) -> dict[str, Any]:
    """Return “properties” and “additionalProperties” for what follows both schemas."""
    parts = (one, other)
    named = [mapping(part, "properties", at) for part in parts]
    found: dict[str, Any] = {}
    properties = {
        name: both(
            [
                its.get(name, part.get("additionalProperties", True))
                for part, its in zip(parts, named, strict=True)
            ]
        )
        for name in dict.fromkeys((*named[0], *named[1]))
    }
    if properties:
        found["properties"] = properties
    others = [part["additionalProperties"] for part in parts if "additionalProperties" in part]
    if others:
        found["additionalProperties"] = both(others)
    return found


def both(schemas: Sequence[Any]) -> Any:
    """Return a schema for what follows all of these."""
    left = [schema for schema in schemas if schema is not True]
    if any(schema is False for schema in left):
        return False
    return {"allOf": left} if len(left) > 1 else left[0] if left else True


def mapping(schema: Mapping[str, Any], keyword: str, at: str) -> Mapping[str, Any]:
    found = schema.get(keyword, {})
    if not isinstance(found, dict):
        raise invalid(f"At {at}, “{keyword}” is no object.")
    return found


def listed(schema: Mapping[str, Any], keyword: str, at: str) -> list[Any]:
    found = schema.get(keyword, [])
    if not isinstance(found, list):
        raise invalid(f"At {at}, “{keyword}” is no list.")
    return found


def count(schema: Mapping[str, Any], keyword: str, at: str) -> int | None:
    found = schema.get(keyword)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or found < 0:
        raise invalid(f"At {at}, “{keyword}” is no number of things.")
    if not math.isfinite(found) or found != int(found):
        raise invalid(f"At {at}, “{keyword}” is no number of things.")
    return int(found)


def decimal(schema: Mapping[str, Any], keyword: str, at: str) -> Decimal | None:
    """Return the number that a keyword has; None without it."""
    return _number(schema[keyword], keyword, at) if keyword in schema else None


def _number(value: object, keyword: str, at: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _FARTHEST:
        raise invalid(f"At {at}, “{keyword}” is no number, or one beyond 10³⁰.")
    if keyword == "multipleOf" and value <= 0:
        raise invalid(f"At {at}, “multipleOf” is not above 0.")
    return Decimal(repr(value))


def bound(
    schema: Mapping[str, Any], closed: str, is_open: str, at: str,
    tighter: Callable[[Decimal, Decimal], Decimal],
) -> tuple[Decimal | None, bool]:  # fmt: skip
    """Return a bound of a number, and whether it is none of them itself."""
    with_it = decimal(schema, closed, at)
    without = decimal(schema, is_open, at)
    if with_it is None or without is None:
        return (without, True) if without is not None else (with_it, False)
    return (without, True) if tighter(with_it, without) == without else (with_it, False)


def next_integer(low: Decimal, *, is_open: bool) -> int:
    """Return the first integer from `low` on, or behind it."""
    found = math.ceil(low)
    return found + 1 if is_open and found == low else found


def require_order(least: int | None, most: int | None, first: str, last: str, at: str) -> None:
    if least is not None and most is not None and least > most:
        raise invalid(f"Nothing can stand at {at}: “{first}” is above “{last}”.")


def short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
