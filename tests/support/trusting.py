"""A probe for models that a test made itself: it starts no process to try them."""

from __future__ import annotations

from engines.cancel import CancelToken
from engines.llamacpp.probe import Probe
from engines.types import LlamaPlan


class TrustingProbe(Probe):
    """A probe that trusts every file as if it came with Hearth, and renders templates here."""

    def require_safe(self, plan: LlamaPlan, cancel: CancelToken) -> None:
        """Allow every plan."""

    def trusts(self, plan: LlamaPlan) -> bool:
        return True
