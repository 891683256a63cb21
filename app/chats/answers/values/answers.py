"""The values that an answer is asked for with, and that are told while it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, cast

from app.assistants.values.assistants import NewChat
from app.chats.answers.values.asked import Asked
from app.chats.context.values.summary import Summary
from app.chats.history.values.conversation import StoredMessage
from app.documents.values.documents import FileShare, PromptSource
from app.models.library.values.entry import ModelEntry
from app.settings.values.resolved import NO_LAYERS, SettingLayers
from engines.memory.load_options import LoadOptions
from engines.types import Event, LoadedModel, MtpMode


@dataclass(frozen=True)
class AnswerOptions:
    """The options of one answer alone.

    settings: by their names; what is not there, or None, is as the chat, its assistant, its model
    and the settings say. thinking_budget: tokens of reasoning; here 0 is none at all. anyway: load
    the model even if it does not seem to fit. begins: what a chat that begins with the question
    has of its own. under: what an assistant has set, for an answer that belongs to no chat.
    collections: ids of those in which the answer is grounded; None is those of its chat.
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
        """The model that is asked, by its id or name; None leaves it to the others."""
        return cast("str | None", self.settings.get("model"))

    @property
    def mtp(self) -> MtpMode | None:
        """The mode of MTP that is asked for; None leaves it to the others."""
        return cast("MtpMode | None", self.settings.get("mtp"))

    def changed(self, **values: Any) -> AnswerOptions:
        """Replace what is named: other fields than `settings`, and all else among the settings."""
        own = {it.name for it in fields(self)} & values.keys()
        settings = {name: value for name, value in values.items() if name not in own}
        return replace(
            self,
            settings={**self.settings, **settings},
            **{name: values[name] for name in own},
        )


@dataclass(frozen=True)
class Ready:
    """The model of an answer is loaded; comes before all that the engine says.

    called: the model as it was asked for, which may answer from its files for another engine.
    engine: by its own name. load_options: how it was to be loaded. why: this engine answers, a
    sentence where Hearth chose it.
    """

    entry: ModelEntry
    loaded: LoadedModel
    called: str
    engine: str
    load_options: LoadOptions
    why: str = ""


@dataclass(frozen=True)
class Compaction:
    """News of making room. messages: how many are summed up; why: of a failure, in a sentence."""

    state: Literal["begun", "done", "failed"]
    messages: int
    summary: Summary | None = None
    why: str = ""


@dataclass(frozen=True)
class Grounded:
    """What of the attached files stands in the prompt. shares: how much, of each that was not
    told before."""

    sources: tuple[PromptSource, ...]
    shares: tuple[FileShare, ...] = ()


@dataclass(frozen=True)
class Ended:
    """The last event of a stored answer: the message as it was saved.

    unsaved: the message as it has yet to be saved, where that failed; `message` says why, then.
    """

    message: StoredMessage
    unsaved: StoredMessage | None = None


AnswerEvent = Event | Ready | Asked | Grounded | Compaction | Ended
