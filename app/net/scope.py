"""The purpose of a request, and the one origin that its Authorization header can be sent to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.net.values.connections import Purpose

if TYPE_CHECKING:
    import httpx2

Origin = tuple[str, str, int | None]
"""Scheme, host and port."""


@dataclass
class Scope:
    """A block of `Gate.for_purpose`.

    Attributes:
        home: The origin of the block's first request with an Authorization header.
        client: The client that sends the requests of huggingface_hub; None in other blocks.
        answers: How many answers huggingface_hub has requested.
    """

    purpose: Purpose
    home: Origin | None = None
    client: httpx2.Client | None = None
    answers: int = 0

    def may_authorize(self, origin: Origin) -> bool:
        """Return whether an Authorization header may go to this origin; remember the first one."""
        if self.home is None:
            self.home = origin
        return self.home == origin


_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)


@contextmanager
def within(scope: Scope) -> Iterator[None]:
    """Make this the scope of the thread's requests in the block."""
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def current() -> Scope:
    """Return the scope of this thread's request. Raises RuntimeError outside of one: a bug."""
    scope = _scope.get()
    if scope is None:
        raise RuntimeError("a request without a purpose; wrap it in Gate.for_purpose")
    return scope
