"""huggingface_hub on the gate's client, without anything it would send or read by itself."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2


def lend(client: httpx2.Client) -> None:
    """Make every request of huggingface_hub in this process go through this client.

    Off are its telemetry, its look-up of agent harnesses, its Xet transfers (which have
    connections of their own), tokens that it finds by itself, its progress bars and its warnings.
    """
    import huggingface_hub
    from huggingface_hub import constants
    from huggingface_hub.utils.tqdm import disable_progress_bars

    constants.HF_HUB_DISABLE_TELEMETRY = True
    constants.HF_HUB_DISABLE_XET = True
    constants.HF_HUB_DISABLE_IMPLICIT_TOKEN = True
    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    huggingface_hub.set_client_factory(lambda: client)
