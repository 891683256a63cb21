"""The options an answer is requested with and the events reported while it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, cast

from app.assistants.values.assistants import NewChat
from app.chats.answers.values.answer_record import AnswerRecord
from app.chats.context.values.summary import Summary
from app.chats.history.values.conversation import StoredMessage
from app.documents.values.documents import FileShare, PromptSource
from app.models.library.values.entry import ModelEntry
from app.settings.values.resolved import NO_LAYERS, SettingLayers
from engines.memory.load_options import LoadOptions
from engines.types import Event, LoadedModel, MtpMode


@dataclass(frozen=True)
class AnswerOptions:
    """The options of a single answer.

    Attributes:
        settings: Settings by name. A missing setting or None falls back to the chat, its assistant,
            its model and the user's settings.
        thinking_budget: Tokens of reasoning; 0 means no reasoning at all.
        anyway: Load the model even if it does not seem to fit into memory.
        begins: The new chat's own settings, if the question begins a chat.
        under: The assistant's settings, for an answer that belongs to no chat.
        collections: Ids of the collections that ground the answer; None means those of its chat.
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    depth: int | None = None
    thinking_budget: int | None = None
    anyway: bool = False
    begins: NewChat | None = None
    under: SettingLayers = NO_LAYERS
    collections: tuple[str, ...] | None = None

    @property
    def model(self) -> str | None:
        """The requested model, by id or name; None if the other layers decide."""
        return cast("str | None", self.settings.get("model"))

    @property
    def mtp(self) -> MtpMode | None:
        """The requested MTP mode; None if the other layers decide."""
        return cast("MtpMode | None", self.settings.get("mtp"))

    def changed(self, **values: Any) -> AnswerOptions:
        """Return a copy with these values changed.

        A name that is a field of this class replaces that field; any other name goes into
        `settings`.
        """
        own = {field.name for field in fields(self)} & values.keys()
        settings = {name: value for name, value in values.items() if name not in own}
        return replace(
            self,
            settings={**self.settings, **settings},
            **{name: values[name] for name in own},
        )


@dataclass(frozen=True)
class Ready:
    """The event that the answer's model is loaded; comes before every event of the engine.

    Attributes:
        called: The model as it was requested; it can answer from its files for another engine.
        engine: The engine's own name.
        load_options: The requested load options.
        why: A sentence saying why this engine answers, if Hearth chose it.
    """

    entry: ModelEntry
    loaded: LoadedModel
    called: str
    engine: str
    load_options: LoadOptions
    why: str = ""


@dataclass(frozen=True)
class Compaction:
    """A step in summarising older turns to make room in the context.

    Attributes:
        messages: How many messages are summarised.
        why: A sentence with the reason for a failure.
    """

    state: Literal["begun", "done", "failed"]
    messages: int
    summary: Summary | None = None
    why: str = ""


@dataclass(frozen=True)
class Grounded:
    """The event that says which parts of files are in the prompt.

    Attributes:
        shares: For each file that was not in the prompt before, how much of it is in now.
    """

    sources: tuple[PromptSource, ...]
    shares: tuple[FileShare, ...] = ()


@dataclass(frozen=True)
class Ended:
    """The last event of a stored answer, with the message as it was saved.

    Attributes:
        unsaved: The message that still has to be saved, if saving failed; `message` then carries
            the reason.
    """

    message: StoredMessage
    unsaved: StoredMessage | None = None


AnswerEvent = Event | Ready | AnswerRecord | Grounded | Compaction | Ended
