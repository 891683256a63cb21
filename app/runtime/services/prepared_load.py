"""A model to load into an engine, as each loader prepares it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from engines.cancel import CancelToken
    from engines.memory.load_options import LoadOptions
    from engines.types import LoadedModel


Plan_co = TypeVar("Plan_co", covariant=True)


class PreparedLoad(ABC, Generic[Plan_co]):
    """A model to load into an engine; its files have been checked."""

    @abstractmethod
    def plan(self, load_options: LoadOptions, cancel: CancelToken) -> Plan_co:
        """Plan for the memory that is free now.

        Raises:
            NotEnoughMemory: The model does not fit; the error has the numbers.
            EngineError: The model cannot be planned.
            Cancelled: `cancel` was called.
        """

    def learn(self, _loaded: LoadedModel) -> None:
        """Record how much memory the load really took, for the next time."""
        return
