"""The microphone for the message of the open chat."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from app.chats.composer.pages.chat_files import ChatFiles
    from app.chats.composer.pages.composer import Composer
    from app.chats.composer.pages.recording_line import RecordingLine
    from app.chats.composer.presenters.recording import Recording
    from app.chats.presenters.open_chat import OpenChat
    from app.kit.notify import Notifier


class ChatRecording(QObject):
    """The microphone button, shown for models that accept sound.

    Each recording starts with a question to the user.
    """

    def __init__(
        self,
        recording: Recording,
        composer: Composer,
        files: ChatFiles,
        chat: OpenChat,
        notifier: Notifier,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._recording = recording
        self._composer = composer
        self._files = files
        self._chat = chat
        self._notifier = notifier
        self._model = ""
        self._line: RecordingLine | None = None
        composer.record.connect(self._ask)
        recording.can_hear.connect(self._show)
        recording.going.connect(self._show_time)
        recording.recorded.connect(self._attach)
        recording.failed.connect(notifier.error)
        chat.opened.connect(self._opened)
        chat.changed.connect(self.refresh)

    def refresh(self) -> None:
        """Check whether the chat's model accepts sound, after it or its projector changed."""
        self._model = self._chat.model
        self._recording.check_model(self._model)

    def _opened(self, is_other: bool) -> None:
        """Show another chat, and discard a recording for the one before."""
        if is_other:
            self._recording.discard()
        self.refresh()

    def _show(self, model: str, accepts_sound: bool) -> None:
        if model == self._model:
            self._composer.show_microphone(accepts_sound)

    def _ask(self) -> None:
        self._notifier.confirm(
            self.tr("Switch the microphone on?"),
            self.tr(
                "Hearth records until you stop it, 10 minutes at most. The sound is attached to"
                " your message, and stays where this chat is kept."
            ),
            ("record", self.tr("Record")),
            ("recordNot", self.tr("Cancel")),
            self._recording.begin,
        )

    def _show_time(self, seconds: float | None) -> None:
        if self._line is None and seconds is not None:
            from app.chats.composer.pages.recording_line import RecordingLine

            self._line = RecordingLine(self._composer)
            self._line.stopped.connect(self._recording.stop)
            self._line.dropped.connect(self._recording.discard)
            self._composer.above.addWidget(self._line)
        if self._line is not None:
            self._line.show_time(seconds)
        if seconds is None:
            self._composer.focus()

    def _attach(self, sound: bytes) -> None:
        self._files.add_made(self.tr("Recording"), partial(bytes, sound))
