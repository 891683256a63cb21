"""Request bodies: JSON read within limits, and values checked with helpful error messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from app.api.http.request import BadRequest
from engines.dialect.values import whole

MAX_DEPTH: Final = 64
"""Maximum nesting of arrays and objects; the schema of a tool has about ten levels."""


_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z|\\\Z)', re.DOTALL)
"""A string, or an unfinished one at the end of the body, so that no part is scanned twice."""
_BRACKET: Final = re.compile(rb"[\[\]{}]")
_HALVES: Final = (b"\\u", b"\xed", b"\x00")
"""How half of a surrogate pair can begin: escaped, in UTF-8, or in an encoding with NUL bytes."""


class Fields(BaseModel):
    """A part of a request. Unknown fields are ignored: clients send many for other servers."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        """Drop fields that are null: many clients send every field they know, set or not."""
        if not isinstance(value, dict):
            return value
        return {name: it for name, it in value.items() if it is not None}


F = TypeVar("F", bound=Fields)


def read_json(body: bytes) -> dict[str, Any]:
    """Parse a request's body. Raises BadRequest."""
    if _depth(body) > MAX_DEPTH:
        raise BadRequest(
            "The request is nested too deep.",
            f"At most {MAX_DEPTH} arrays and objects may lie inside one another.",
            "Send it flatter.",
        )
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            "The request is no JSON.", f"It cannot be read: {error}.", "Send a JSON object."
        ) from error
    if not isinstance(value, dict):
        raise BadRequest("The request is no JSON object.", "It is something else.", "Send one.")
    # A client that cuts a text by UTF-16 units, as JavaScript does, can leave half a character.
    repaired: dict[str, Any] = _repaired(value) if any(it in body for it in _HALVES) else value
    return repaired


def _repaired(value: Any) -> Any:
    """Replace lone surrogates, which cannot be encoded, with U+FFFD."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_repaired(it) for it in value]
    if isinstance(value, dict):
        return {whole(name): _repaired(it) for name, it in value.items()}
    return value


def check(kind: type[F], value: object, within: str = "") -> F:
    """Validate a request, or a part of one.

    Args:
        kind: The class to validate it with.
        value: The value.
        within: The field that has this value; "" for a whole request.

    Raises:
        BadRequest: The first field that is wrong.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in (within, *first["loc"]) if part != "")
        raise BadRequest(
            f"“{where}” cannot be used." if where else "The request cannot be used.",
            f"{first['msg'].removeprefix('Value error, ').rstrip('.')}.",
            "Correct it and send the request again.",
            where,
        ) from error


def object_of(value: object, where: str) -> Mapping[str, Any]:
    """Return a part of a request as an object. Raises BadRequest if it is not one."""
    if not isinstance(value, Mapping):
        raise _other(where, "an object")
    return value


def objects_of(value: object, where: str) -> list[Mapping[str, Any]]:
    """Return a part of a request as a list of objects. Raises BadRequest if it is not one."""
    if not isinstance(value, list | tuple):
        raise _other(where, "a list")
    return [object_of(it, f"{where}.{number}") for number, it in enumerate(value)]


def type_of(value: object, where: str, otherwise: str = "") -> str:
    """Return an object's `type`, or `otherwise` if it has none. Raises BadRequest."""
    named = object_of(value, where).get("type")
    if named is None:
        return otherwise
    if not isinstance(named, str):
        raise _other(f"{where}.type", "a text")
    return named


def _other(where: str, wanted: str) -> BadRequest:
    return BadRequest(
        f"“{where}” cannot be used.",
        f"It has to be {wanted}, and is something else.",
        "Correct it and send the request again.",
        where,
    )


def _depth(body: bytes) -> int:
    """Count the nesting depth of a JSON text without parsing it.

    Python's parser has no limit of its own except the stack.
    """
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
