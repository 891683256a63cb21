"""A property whose value is made once, when it is first read, whichever thread reads it."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    once = cached_property  # which is how it is to be typed
else:

    class once(cached_property):  # noqa: N801 - read as `property` is
        """A `cached_property` that makes one value even when two threads read it at once."""

        _making = RLock()

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            with self._making:
                return super().__get__(instance, owner)
