"""The memory of recent responses, for clients that continue one or refer to its items by id.

Responses are kept in memory only, with one size limit for all clients together, and each is visible
only to the client that asked for it. A response is kept with its own input and the id of the
response that it continues. So a conversation is stored once, however long it grows, and two
responses can continue the same one.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from pydantic import Field

from app.api.http.fields import Fields
from app.api.http.request import BadRequest
from app.base.errors import AppError

REMEMBERED: Final = 64 * 1024 * 1024
"""Maximum bytes of responses, their input including pictures, and items, as JSON."""
_OVERHEAD: Final = 512
"""Extra bytes that each entry takes."""
_SHOWN: Final = 60
"""Maximum characters of an id in an error message."""

_MEMORY: Final = (
    "Hearth keeps the latest responses in memory only, each for the key that asked, until its "
    "server ends; and none with “store: false”, nor one that failed or was cancelled."
)

Item = dict[str, Any]
"""An item of a conversation, or a response, as the client sees it."""


class ResponseNotFound(AppError):
    """A response that is not in memory."""

    code = "response_not_found"


class PreviousResponseNotFound(BadRequest):
    """A response to continue from that is not in memory, or one before it that is not."""

    code = "previous_response_not_found"


class ListFields(Fields):
    """The query fields of a paged list."""

    limit: int = Field(20, ge=1, le=100)
    order: Literal["asc", "desc"] = "desc"
    after: str | None = None


class _Entry(NamedTuple):
    """An item or a response as JSON.

    Attributes:
        written: The item or the response.
        given: A response's own input as JSON; "" for an item.
    """

    written: str
    given: str

    @property
    def size(self) -> int:
        return len(self.written) + len(self.given) + _OVERHEAD


class RecentResponses:
    """All that is remembered; the least recently used is dropped first. Safe from any thread."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._held = 0

    def of(self, client: str) -> ClientResponses:
        """Return the memory of one client."""
        return ClientResponses(self, client)

    def keep(self, client: str, id_: str, entry: _Entry) -> None:
        """Keep an entry, unless it is larger than the limit by itself."""
        if entry.size > self._most:
            return
        with self._lock:
            self._drop((client, id_))
            self._entries[client, id_] = entry
            self._held += entry.size
            while self._held > self._most:
                self._drop(next(iter(self._entries)))

    def find(self, client: str, id_: str) -> _Entry | None:
        with self._lock:
            entry = self._entries.get((client, id_))
            if entry is not None:
                self._entries.move_to_end((client, id_))
            return entry

    def forget(self, client: str, id_: str) -> None:
        with self._lock:
            self._drop((client, id_))

    def _drop(self, key: tuple[str, str]) -> None:
        entry = self._entries.pop(key, None)
        self._held -= entry.size if entry is not None else 0


class ClientResponses:
    """The memory of one client, which sees nothing of another client's."""

    def __init__(self, all_: RecentResponses, client: str) -> None:
        self._all = all_
        self._client = client

    def keep_item(self, item: Mapping[str, Any]) -> None:
        """Keep an item of an answer that can still be going on."""
        self._all.keep(self._client, item["id"], _Entry(json.dumps(item), ""))

    def keep_response(self, response: Mapping[str, Any], given: str) -> None:
        """Keep a response that has ended.

        Args:
            given: The response's own input, as JSON of items with ids.
        """
        self._all.keep(self._client, response["id"], _Entry(json.dumps(response), given))

    def item(self, id_: str) -> Item | None:
        """Return an item of an answer, or None if it is not remembered."""
        entry = self._all.find(self._client, id_)
        return None if entry is None or entry.given else _read(entry.written)

    def response(self, id_: str) -> Item:
        """Return a response. Raises ResponseNotFound."""
        return _read(self._response(id_).written)

    def forget(self, id_: str) -> None:
        """Forget a response and its items. Raises ResponseNotFound."""
        for item in self.response(id_)["output"]:
            self._all.forget(self._client, item["id"])
        self._all.forget(self._client, id_)

    def conversation(self, id_: str) -> list[Item]:
        """Return the items from the start of a conversation to the end of a response.

        Raises:
            PreviousResponseNotFound: The response, or one that it continues, is not remembered.
        """
        items, missing = self._until(id_)
        if missing:
            at = "" if missing == id_ else f", which goes on from “{missing[:_SHOWN]}”"
            raise PreviousResponseNotFound(
                f"Previous response with id “{id_[:_SHOWN]}”{at} not found.",
                _MEMORY,
                "Send the whole conversation as “input”.",
                "previous_response_id",
            )
        return items

    def page(self, id_: str, fields: ListFields) -> Item:
        """List the input of a response: everything of the conversation that is still remembered.

        Raises ResponseNotFound and BadRequest.
        """
        entry = self._response(id_)
        items = self._until(_read(entry.written)["previous_response_id"])[0] + json.loads(
            entry.given
        )
        if fields.order == "desc":
            items.reverse()
        begin = 0
        if fields.after is not None:
            # A client can give several items the same id; the page begins after the last of them.
            ids = [item["id"] for item in items]
            begin = max((at + 1 for at, it in enumerate(ids) if it == fields.after), default=-1)
            if begin < 0:
                raise BadRequest(
                    f"There is no item “{fields.after[:_SHOWN]}”.",
                    "A page begins behind an item of the list.",
                    "Name the last one of the page before, or none.",
                    "after",
                )
        page = items[begin : begin + fields.limit]
        return {
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": begin + fields.limit < len(items),
        }

    def _response(self, id_: str) -> _Entry:
        entry = self._all.find(self._client, id_)
        if entry is None or not entry.given:
            raise ResponseNotFound(
                f"Response with id “{id_[:_SHOWN]}” not found.",
                _MEMORY,
                "Keep what a response says where you need it for longer.",
            )
        return entry

    def _until(self, id_: str | None) -> tuple[list[Item], str]:
        """Return the items up to the end of a response, and the first id not found, or ""."""
        parts: list[list[Item]] = []
        while id_:
            entry = self._all.find(self._client, id_)
            if entry is None or not entry.given:
                break
            response = _read(entry.written)
            parts.append([*json.loads(entry.given), *response["output"]])
            id_ = response["previous_response_id"]
        return [item for part in reversed(parts) for item in part], id_ or ""


def _read(written: str) -> Item:
    read: Item = json.loads(written)
    return read
