"""A property whose value is computed once, on first use, even if several threads read it."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    once = cached_property  # type checkers treat it as this
else:

    class once(cached_property):  # noqa: N801 - read as `property` is
        """A `cached_property` that makes one value even when two threads read it at once."""

        _making = RLock()

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            with self._making:
                return super().__get__(instance, owner)
