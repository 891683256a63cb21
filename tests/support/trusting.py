"""For models that a test has made itself: no other process is started to try them."""

from __future__ import annotations

from engines.cancel import CancelToken
from engines.llamacpp.probe import Probe
from engines.types import LlamaPlan


class TrustingProbe(Probe):
    """Takes every file for one that came with Hearth; templates are rendered in this process."""

    def require_safe(self, plan: LlamaPlan, cancel: CancelToken) -> None:
        """Let every plan be loaded."""

    def trusts(self, plan: LlamaPlan) -> bool:
        return True
