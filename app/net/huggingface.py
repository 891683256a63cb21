"""The setup of huggingface_hub to use the gate's client, and to send or read nothing on its own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2


def lend(client: httpx2.Client) -> None:
    """Make every request of huggingface_hub in this process go through this client.

    This turns off its telemetry, its detection of agent programs, its Xet transfers (which use
    connections of their own), tokens that it finds itself, its progress bars and its warnings.
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
