"""The client of huggingface_hub: it goes through the gate, and every failure ends its call."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import closing

import httpx2

from app.net.client import plain_client
from app.net.scope import current
from app.net.user_errors import as_user_error
from engines.redaction import redact

MOST = 32 << 20
"""The longest answer, in bytes, that is held in memory.

File listings are the longest answers, at a few hundred kB.
"""

_ANSWERS = 50
"""The most answers for one block of `Gate.for_purpose`; each page of a listing is one."""


class HubRefused(Exception):
    """A status that is not a success."""

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.headers = headers


class HubTooLong(Exception):
    """An answer of more than `MOST` bytes."""


class HubEndless(Exception):
    """A listing with too many pages."""


def use_gate() -> None:
    """Make every request of huggingface_hub in this process go through the gate.

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
    huggingface_hub.set_client_factory(
        lambda: plain_client(_WholeAnswers(), follow_redirects=False)
    )


class _WholeAnswers(httpx2.BaseTransport):
    """A transport that brings whole answers through the gate of the current scope.

    After an error of httpx2, and after a status such as 429, huggingface_hub sleeps and sends the
    request again: up to five times, and for as long as the server says. So each failure leaves
    here as an exception of another kind, which it passes on at once.
    """

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, follow its redirects, and read the answer.

        Raises:
            HubRefused: The status is not a success.
            HubTooLong: The answer is too long.
            HubEndless: It would be one page too many.
            AppError: The gate or the network refused.
        """
        scope = current()
        if scope.client is None:
            raise RuntimeError("huggingface_hub was used outside of Gate.for_purpose")
        scope.answers += 1
        if scope.answers > _ANSWERS:
            raise HubEndless
        client = scope.client
        # The library asks for no timeouts, and names itself and the version of Python.
        request.extensions["timeout"] = client.timeout.as_dict()
        request.headers["User-Agent"] = client.headers["User-Agent"]
        try:
            with closing(client.send(request, stream=True)) as response:
                return _read(response, part="Range" in request.headers)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise as_user_error(error, request.url.host) from error


def _read(response: httpx2.Response, *, part: bool) -> httpx2.Response:
    """Read an answer.

    Args:
        part: Whether part of a file was requested. A whole file that comes instead is not read,
            and the content of the part stays as it is.
    """
    if response.status_code not in (200, 206):
        raise HubRefused(response.status_code, response.headers)
    body = bytearray()
    for piece in response.iter_bytes() if not part or response.status_code == 206 else ():
        body += piece
        if len(body) > MOST:
            raise HubTooLong
    headers = response.headers.copy()
    for name in ("Content-Encoding", "Content-Length", "Transfer-Encoding"):
        headers.pop(name, None)
    # latin-1 keeps every byte: secrets and the text that replaces them are ASCII.
    content = bytes(body) if part else redact(body.decode("latin-1")).encode("latin-1")
    return httpx2.Response(response.status_code, headers=headers, content=content)
