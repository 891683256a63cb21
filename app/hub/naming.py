"""The name that Git has for a small file, which the Hub lists without a SHA-256."""

from __future__ import annotations

import json
from urllib.parse import quote

from app.core.errors import HubUnreadable
from app.hub.asking import Asking, ask
from app.hub.checksum import is_checksum
from app.net import Gate


def git_name(gate: Gate, repo: str, commit: str, path: str, token: str | None) -> str:
    """Its checksum, see `checksum.hasher`. Raises what `asking.ask` does."""
    asked = f"/api/models/{quote(repo)}/revision/{commit}"
    answer = ask(gate, Asking("download a model", asked, token, {"blobs": "true"}, repo))
    try:
        files = json.loads(answer.body)["siblings"]
        name = next(str(file["blobId"]) for file in files if file["rfilename"] == path)
    except (ValueError, LookupError, TypeError, StopIteration):
        name = ""
    if not is_checksum(name):
        raise HubUnreadable(
            f"{path} cannot be downloaded.",
            f"The Hub does not say what its bytes should hash to, in {repo}.",
            "Try again later, or choose a file of another repository.",
        )
    return name
