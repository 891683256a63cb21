"""What a request is made for: a purpose, and the one place that its Authorization may go to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from app.core.network.connections import Purpose

Origin = tuple[str, str, int | None]
"""Scheme, host and port."""


@dataclass
class Scope:
    """One block of `Gate.for_purpose`.

    home: where the first Authorization header of the block went.
    """

    purpose: Purpose
    home: Origin | None = None

    def may_authorize(self, origin: Origin) -> bool:
        """Whether an Authorization header may go there; the first place is remembered."""
        if self.home is None:
            self.home = origin
        return self.home == origin


_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)


@contextmanager
def within(scope: Scope) -> Iterator[None]:
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def current() -> Scope:
    """The scope of this thread's request. Raises RuntimeError outside of one: a bug."""
    scope = _scope.get()
    if scope is None:
        raise RuntimeError("a request without a purpose; wrap it in Gate.for_purpose")
    return scope
