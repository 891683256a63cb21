"""A property that is made when it is first asked for, once, whichever thread asks."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    once = cached_property  # which is how it is to be typed
else:

    class once(cached_property):  # noqa: N801 - read as `property` is
        """As `cached_property`, of which two threads may make two since Python 3.12."""

        _making = RLock()

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            with self._making:
                return super().__get__(instance, owner)
