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


_STRING_PATTERN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z|\\\Z)', re.DOTALL)
"""A string, or an unfinished one at the end of the body, so that no part is scanned twice."""
_BRACKET_PATTERN: Final = re.compile(rb"[\[\]{}]")
_HALF_STARTS: Final = (b"\\u", b"\xed", b"\x00")
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
        return {name: item for name, item in value.items() if item is not None}


F = TypeVar("F", bound=Fields)


def read_json(body: bytes) -> dict[str, Any]:
    """Parse a request's body. Raises BadRequest."""
    if _depth(body) > MAX_DEPTH:
        raise BadRequest(
            "The request is nested too deeply.",
            f"At most {MAX_DEPTH} arrays and objects may lie inside one another.",
            "Send it with fewer levels.",
        )
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            "The request is not JSON.", f"It cannot be read: {error}.", "Send a JSON object."
        ) from error
    if not isinstance(value, dict):
        raise BadRequest(
            "The request is not a JSON object.", "It is another JSON value.", "Send one."
        )
    # A client that cuts a text by UTF-16 units, as JavaScript does, can leave half a character.
    repaired: dict[str, Any] = (
        _repaired(value) if any(half in body for half in _HALF_STARTS) else value
    )
    return repaired


def _repaired(value: Any) -> Any:
    """Replace lone surrogates, which cannot be encoded, with U+FFFD."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_repaired(item) for item in value]
    if isinstance(value, dict):
        return {whole(name): _repaired(item) for name, item in value.items()}
    return value


def check(kind: type[F], value: object, parent: str = "") -> F:
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
        path = ".".join(str(part) for part in (parent, *first["loc"]) if part != "")
        raise BadRequest(
            f"“{path}” cannot be used." if path else "The request cannot be used.",
            f"{first['msg'].removeprefix('Value error, ').rstrip('.')}.",
            "Correct it and send the request again.",
            path,
        ) from error


def object_of(value: object, path: str) -> Mapping[str, Any]:
    """Return a part of a request as an object. Raises BadRequest if it is not one."""
    if not isinstance(value, Mapping):
        raise _wrong_type(path, "an object")
    return value


def objects_of(value: object, path: str) -> list[Mapping[str, Any]]:
    """Return a part of a request as a list of objects. Raises BadRequest if it is not one."""
    if not isinstance(value, list | tuple):
        raise _wrong_type(path, "a list")
    return [object_of(item, f"{path}.{number}") for number, item in enumerate(value)]


def type_of(value: object, path: str, default: str = "") -> str:
    """Return an object's `type`, or `otherwise` if it has none. Raises BadRequest."""
    kind = object_of(value, path).get("type")
    if kind is None:
        return default
    if not isinstance(kind, str):
        raise _wrong_type(f"{path}.type", "a text")
    return kind


def _wrong_type(path: str, expected: str) -> BadRequest:
    return BadRequest(
        f"“{path}” cannot be used.",
        f"It has to be {expected}, but is something else.",
        "Correct it and send the request again.",
        path,
    )


def _depth(body: bytes) -> int:
    """Count the nesting depth of a JSON text without parsing it.

    Python's parser has no limit of its own except the stack.
    """
    depth = deepest = 0
    for bracket in _BRACKET_PATTERN.findall(_STRING_PATTERN.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
