"""The bodies of requests: JSON read within limits, and its values checked in words that help."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from app.api.http.request import BadRequest
from engines.dialect.values import whole

MAX_DEPTH: Final = 64
"""Arrays and objects inside one another; a schema of a tool has some ten."""


_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z|\\\Z)', re.DOTALL)
"""A string, or what is left of a body that ends in one: so no part of it is looked at twice."""
_BRACKET: Final = re.compile(rb"[\[\]{}]")
_HALVES: Final = (b"\\u", b"\xed", b"\x00")
"""How half a character may begin: spelled out, in UTF-8, or in an encoding with NULs."""


class Fields(BaseModel):
    """A part of a request. What is not named is left alone: clients send much for other servers."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        """Leave out what is null: many clients send each field that they know, set or not."""
        if not isinstance(value, dict):
            return value
        return {name: it for name, it in value.items() if it is not None}


F = TypeVar("F", bound=Fields)


def read_json(body: bytes) -> dict[str, Any]:
    """Read a request's body. Raises BadRequest."""
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
    # A client that cuts a text by UTF-16, as JavaScript does, may leave half a character.
    repaired: dict[str, Any] = _repaired(value) if any(it in body for it in _HALVES) else value
    return repaired


def _repaired(value: Any) -> Any:
    """Put U+FFFD in the place of halves of characters, which nothing can encode."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_repaired(it) for it in value]
    if isinstance(value, dict):
        return {whole(name): _repaired(it) for name, it in value.items()}
    return value


def check(kind: type[F], value: object, within: str = "") -> F:
    """Check a part of a request, or all of it.

    Args:
        within: The field whose value this is; "" for a whole request.

    Raises:
        BadRequest: With the first field that is wrong.
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
    """Return a part of a request that has to be an object. Raises BadRequest."""
    if not isinstance(value, Mapping):
        raise _other(where, "an object")
    return value


def objects_of(value: object, where: str) -> list[Mapping[str, Any]]:
    """Return a part of a request that has to be a list of objects. Raises BadRequest."""
    if not isinstance(value, list | tuple):
        raise _other(where, "a list")
    return [object_of(it, f"{where}.{number}") for number, it in enumerate(value)]


def type_of(value: object, where: str, otherwise: str = "") -> str:
    """Return the type that an object names, or else this one. Raises BadRequest."""
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
    """Count how deep arrays and objects lie inside one another, without reading them.

    Python's reader has no limit of its own but the stack.
    """
    depth = deepest = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
