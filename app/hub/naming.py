"""The name that Git has for a small file, which the Hub lists without a SHA-256."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from urllib.parse import quote

from app.core.errors import ConnectionTimedOut, HubBusy, HubUnreadable, NoConnection
from app.hub.asking import Asking, ask
from app.hub.checksum import is_checksum
from app.hub.retry import Patience
from app.hub.transfer import Retrying, Step
from app.hub.waiting import wait
from app.net import Gate
from engines.cancel import CancelToken
from engines.errors import Cancelled


def git_name(gate: Gate, repo: str, commit: str, path: str, token: str | None) -> str:
    """Its checksum, see `checksum.hasher`. Raises what `asking.ask` does."""
    asked = f"/api/models/{quote(repo)}/revision/{commit}"
    answer = ask(gate, Asking("download a model", asked, token, {"blobs": "true"}, repo))
    try:
        files = json.loads(answer.body)["siblings"]
        name = next(str(file["blobId"]) for file in files if file["rfilename"] == path)
    except (ValueError, LookupError, TypeError, StopIteration, RecursionError):
        name = ""
    if not is_checksum(name):
        raise HubUnreadable(
            f"{path} cannot be downloaded.",
            f"The Hub does not say what its bytes should hash to, in {repo}.",
            "Try again later, or choose a file of another repository.",
        )
    return name


def patiently(
    ask: Callable[[], str], patience: Patience, tell: Callable[[Step], None], cancel: CancelToken
) -> str:
    """Ask the Hub, again after what passes. Raises Cancelled, and what `ask` raises."""
    failures = 0
    while True:
        if cancel.cancelled:
            raise Cancelled
        try:
            return ask()
        except (HubBusy, NoConnection, ConnectionTimedOut) as error:
            failures += 1
            asked_s = error.retry_in_s if isinstance(error, HubBusy) else None
            share = random.random()  # noqa: S311 - it spreads clients, and keeps no secret
            seconds = patience.delay(failures, share, asked_s)
            if seconds is None:
                raise
            tell(Retrying(error, seconds))
        wait(seconds, cancel)
