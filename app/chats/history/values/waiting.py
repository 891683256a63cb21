"""A message that waits to be sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.documents.values.documents import Attachment


@dataclass(frozen=True)
class Waiting:
    """A message of the user that is sent after the answer being written.

    Attributes:
        options: The options for its answer, as JSON.
        created: Seconds since 1970.
        after: The message to send it after, on whatever branch that message is.
        attachments: The files that go with it.
    """

    id: str
    chat_id: str
    text: str
    options: str
    created: float
    after: str | None
    attachments: tuple[Attachment, ...] = ()
