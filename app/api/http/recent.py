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

MOST_BYTES: Final = 64 * 1024 * 1024
"""Maximum bytes of responses, their input including pictures, and items, as JSON."""
_OVERHEAD: Final = 512
"""Extra bytes that each entry takes."""
_LONGEST_SHOWN: Final = 60
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
        text: The item or the response.
        input_text: A response's own input as JSON; "" for an item.
    """

    text: str
    input_text: str

    @property
    def size(self) -> int:
        return len(self.text) + len(self.input_text) + _OVERHEAD


class RecentResponses:
    """All that is remembered; the least recently used is dropped first. Safe from any thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._bytes = 0

    def of(self, client: str) -> ClientResponses:
        """Return the memory of one client."""
        return ClientResponses(self, client)

    def store(self, client: str, id_: str, entry: _Entry) -> None:
        """Keep an entry, unless it is larger than the limit by itself."""
        if entry.size > self._most_bytes:
            return
        with self._lock:
            self._drop((client, id_))
            self._entries[client, id_] = entry
            self._bytes += entry.size
            while self._bytes > self._most_bytes:
                self._drop(next(iter(self._entries)))

    def find(self, client: str, id_: str) -> _Entry | None:
        """Return an entry and mark it as recently used; None if it is not stored."""
        with self._lock:
            entry = self._entries.get((client, id_))
            if entry is not None:
                self._entries.move_to_end((client, id_))
            return entry

    def forget(self, client: str, id_: str) -> None:
        """Remove an entry, if it is stored."""
        with self._lock:
            self._drop((client, id_))

    def _drop(self, key: tuple[str, str]) -> None:
        entry = self._entries.pop(key, None)
        self._bytes -= entry.size if entry is not None else 0


class ClientResponses:
    """The memory of one client, which sees nothing of another client's."""

    def __init__(self, responses: RecentResponses, client: str) -> None:
        self._responses = responses
        self._client = client

    def store_item(self, item: Mapping[str, Any]) -> None:
        """Keep an item of an answer that can still be going on."""
        self._responses.store(self._client, item["id"], _Entry(json.dumps(item), ""))

    def store_response(self, response: Mapping[str, Any], input_text: str) -> None:
        """Keep a response that has ended.

        Args:
            input_text: The response's own input, as JSON of items with ids.
        """
        self._responses.store(
            self._client, response["id"], _Entry(json.dumps(response), input_text)
        )

    def item(self, id_: str) -> Item | None:
        """Return an item of an answer, or None if it is not remembered."""
        entry = self._responses.find(self._client, id_)
        return None if entry is None or entry.input_text else _parse(entry.text)

    def response(self, id_: str) -> Item:
        """Return a response. Raises ResponseNotFound."""
        return _parse(self._response(id_).text)

    def forget(self, id_: str) -> None:
        """Forget a response and its items. Raises ResponseNotFound."""
        for item in self.response(id_)["output"]:
            self._responses.forget(self._client, item["id"])
        self._responses.forget(self._client, id_)

    def conversation(self, id_: str) -> list[Item]:
        """Return the items from the start of a conversation to the end of a response.

        Raises:
            PreviousResponseNotFound: The response, or one that it continues, is not remembered.
        """
        items, missing_id = self._items_until(id_)
        if missing_id:
            at = (
                "" if missing_id == id_ else f", which goes on from “{missing_id[:_LONGEST_SHOWN]}”"
            )
            raise PreviousResponseNotFound(
                f"Previous response with id “{id_[:_LONGEST_SHOWN]}”{at} not found.",
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
        items = self._items_until(_parse(entry.text)["previous_response_id"])[0] + json.loads(
            entry.input_text
        )
        if fields.order == "desc":
            items.reverse()
        start = 0
        if fields.after is not None:
            # A client can give several items the same id; the page begins after the last of them.
            ids = [item["id"] for item in items]
            start = max(
                (at + 1 for at, item_id in enumerate(ids) if item_id == fields.after), default=-1
            )
            if start < 0:
                raise BadRequest(
                    f"There is no item “{fields.after[:_LONGEST_SHOWN]}”.",
                    "A page begins after an item of the list.",
                    "Name the last item of the previous page, or leave it out.",
                    "after",
                )
        page = items[start : start + fields.limit]
        return {
            "object": "list",
            "data": page,
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": start + fields.limit < len(items),
        }

    def _response(self, id_: str) -> _Entry:
        entry = self._responses.find(self._client, id_)
        if entry is None or not entry.input_text:
            raise ResponseNotFound(
                f"Response with id “{id_[:_LONGEST_SHOWN]}” not found.",
                _MEMORY,
                "Save a response yourself if you need it for longer.",
            )
        return entry

    def _items_until(self, id_: str | None) -> tuple[list[Item], str]:
        """Return the items up to the end of a response, and the first id not found, or ""."""
        parts: list[list[Item]] = []
        while id_:
            entry = self._responses.find(self._client, id_)
            if entry is None or not entry.input_text:
                break
            response = _parse(entry.text)
            parts.append([*json.loads(entry.input_text), *response["output"]])
            id_ = response["previous_response_id"]
        return [item for part in reversed(parts) for item in part], id_ or ""


def _parse(text: str) -> Item:
    item: Item = json.loads(text)
    return item
