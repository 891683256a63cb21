"""A message that waits for its turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.documents.values.documents import Attachment


@dataclass(frozen=True)
class Waiting:
    """A message of the user's that is sent after the answer that is being written.

    options: how it is to be answered, as JSON. created: seconds since 1970. after: the message that
    it is to be sent after, on whichever branch that stands. attachments: the files that go with it.
    """

    id: str
    chat_id: str
    text: str
    options: str
    created: float
    after: str | None
    attachments: tuple[Attachment, ...] = ()
