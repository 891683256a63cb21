"""The files of sent messages, as chips, and a note on how much of them the model was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.chats.files.pages.chip import FileChip
from app.chats.files.pages.words import (
    collections_sentence,
    coverage_sentence,
    description,
    drawing_of,
)
from app.documents.values.documents import share_of_attachment
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.answers.values.answers import Grounded
    from app.chats.files.pages.thumbnails import Thumbnails
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.transcript.pages.message_view import MessageView
    from app.chats.transcript.pages.transcript import Transcript
    from app.documents.values.documents import Attachment, FileShare


class SentFiles(QObject):
    """The files of sent messages, added to each message when its view is created.

    Args:
        transcript: Shows the messages.
        thumbnails: Puts pictures on the chips.
        generation: Writes the answers.
        ask_without: Asks a question again without the file with this hash.
        parent: The parent object.

    Signals:
        file_opened(sha256): The user wants to see a file.
    """

    file_opened = Signal(str)

    def __init__(
        self,
        transcript: Transcript,
        thumbnails: Thumbnails,
        generation: Generation,
        ask_without: Callable[[StoredMessage, str], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._thumbnails = thumbnails
        self._ask_without = ask_without
        transcript.showing.connect(self._show)
        generation.grounded.connect(self._grounded)
        generation.ended.connect(self._ended)

    def _show(self, view: MessageView) -> None:
        message = view.message
        if message.attachments:
            view.show_part("files", self._row(message), above=True)
        if message.sources:
            files = self._attached()
            source_names = {source.document: source.name for source in message.sources}
            shares = [
                share_of_attachment(files[sha256], message.sources)
                for sha256 in source_names
                if sha256 in files
            ]
            self._show_note(
                view, shares, [name for sha256, name in source_names.items() if sha256 not in files]
            )

    def _row(self, message: StoredMessage) -> FlowRow:
        row = FlowRow(trailing=True)
        row.setObjectName("sentFiles")
        row.setAccessibleName(self.tr("Files of this message"))
        for file in message.attachments:
            row.add(self._chip(message, file))
        return row

    def _chip(self, message: StoredMessage, file: Attachment) -> FileChip:
        chip = FileChip(
            drawing_of(file.kind, file.name),
            file.name,
            description(file),
            opens=self.tr("Enter opens it."),
            removes=self.tr("Ask again without {name}").format(name=file.name),
            object_name="openSentFile",
        )
        chip.opened.connect(lambda: self.file_opened.emit(file.sha256))
        chip.removed.connect(lambda: self._ask_without(message, file.sha256))
        # Without its only file, an empty question would be left.
        chip.show_removal(bool(message.text) or len(message.attachments) > 1)
        self._thumbnails.put(chip, file)
        return chip

    def _grounded(self, answer_id: str, grounded: Grounded) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            attached = {file.name for file in self._attached().values()}
            shares = [share for share in grounded.shares if share.name in attached]
            collected = [share.name for share in grounded.shares if share.name not in attached]
            self._show_note(view, shares, collected)

    def _ended(self, answer: StoredMessage) -> None:
        """Show the files again, as the answer's view can have been filled again."""
        view = self._transcript.view_of(answer.id)
        if view is not None:
            self._show(view)

    def _attached(self) -> dict[str, Attachment]:
        """Return the files of all messages, by their hashes."""
        return {
            attachment.sha256: attachment
            for sent in self._transcript.messages
            for attachment in sent.attachments
        }

    def _show_note(
        self, view: MessageView, shares: Iterable[FileShare], collected: Sequence[str]
    ) -> None:
        """Show which files the model was given only in part.

        Args:
            view: The answer.
            shares: The files attached to messages.
            collected: The names of the files that belong to collections.
        """
        lines = [coverage_sentence(share) for share in shares if not share.complete]
        if collected:
            lines.append(collections_sentence(collected))
        note = Label("\n".join(lines), "small", name="toldFiles", wrap=True) if lines else None
        view.show_part("toldFiles", note, above=True)
