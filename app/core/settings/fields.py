"""Every setting of Hearth: one field each, from which form, terminal and file follow.

To add a setting, add a field with a title, a description and its section; nothing else. Those of
the engines are in `engines.py`.
A renamed setting is listed in RENAMED with its old name, so that old files keep working.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_type_hints

from app.core.engines.names import PROPER_NAMES
from app.core.errors import NoSuchSetting, SettingsInvalid
from app.core.settings.declared import Section, setting
from app.core.settings.engines import EngineSettings

if TYPE_CHECKING:
    from app.core.settings.field import SettingField
    from engines.types import KvType, Sampling

RENAMED: dict[str, str] = {}


@dataclass(frozen=True)
class Settings(EngineSettings):
    """The values of all settings; immutable: a change makes a new one."""

    language: Literal["system", "english", "deutsch"] = setting(
        "system", "Appearance", "Language", "Of the window. A change holds from the next start."
    )
    theme: Literal["system", "light", "dark"] = setting(
        "system", "Appearance", "Theme", "Light, dark, or as the system says."
    )
    contrast: Literal["system", "usual", "high"] = setting(
        "system", "Appearance", "Contrast", "High makes all text and all edges stand out."
    )
    zoom: int = setting(
        100,
        "Appearance",
        "Zoom",
        "Of everything in the window, in percent. Ctrl and + or - change it, too.",
        ge=60,
        le=200,
    )
    motion: Literal["system", "full", "reduced"] = setting(
        "system", "Appearance", "Motion", "Reduced: nothing moves, fades or blinks."
    )
    text_size: int = setting(
        14, "Appearance", "Text size", "Size of messages, in pixels.", ge=10, le=32
    )
    code_lines: Literal["wrap", "scroll"] = setting(
        "wrap",
        "Appearance",
        "Long lines of code",
        "Wrap: they go on in the next line. Scroll: they stay in one, and the message scrolls.",
    )
    announce: bool = setting(
        True,
        "Appearance",
        "Tell screen readers of answers",
        "Sentence by sentence as they are written, and when one is done, stopped or has failed.",
    )
    send_with: Literal["enter", "ctrl+enter"] = setting(
        "enter", "Appearance", "Send with", "The key that sends a message; the other makes a line."
    )
    notify: bool = setting(
        False,
        "Desktop",
        "Say when an answer is done",
        "A notification of the system, for an answer that took a while, when you look elsewhere.",
    )
    notify_text: bool = setting(
        False,
        "Desktop",
        "Show its first words",
        "Else the notification has neither the answer nor the chat’s title in it.",
    )
    tray: bool = setting(
        False,
        "Desktop",
        "Icon in the tray",
        "With it, a question can be asked while the window is closed.",
    )
    close_to_tray: bool = setting(
        False,
        "Desktop",
        "Closing keeps Hearth in the tray",
        "Else closing the window quits. Quit in the menu of the icon always quits.",
    )
    quick_ask_keys: str = setting(
        "",
        "Desktop",
        "Quick ask from anywhere",
        "Keys that open the small window from any program, such as Ctrl+Alt+H; empty is none.",
    )
    menu_bar: bool = setting(
        False,
        "Desktop",
        "Menu bar",
        "All commands in menus over the window. On macOS they are at the top of the screen.",
    )
    shortcuts: dict[str, str] = setting(  # noqa: RUF009 - made anew for each
        {},
        "Desktop",
        "Shortcuts",
        "The commands whose keys you changed, with their keys; the list of shortcuts edits them.",
        in_form=False,
    )
    system_prompt: str = setting(
        "",
        "Assistant",
        "System prompt",
        "Who the assistant is and how it should answer; sent ahead of every chat.",
        multiline=True,
    )
    temperature: float = setting(
        0.7,
        "Answers",
        "Temperature",
        "0 is always the likeliest word; higher is more varied.",
        ge=0.0,
        le=5.0,
    )
    top_k: int = setting(
        40, "Answers", "Top-k", "Draw from the k likeliest tokens; 0 is off.", ge=0, le=1000
    )
    top_p: float = setting(
        0.95,
        "Answers",
        "Top-p",
        "Draw from the likeliest tokens that make up this share; 1 is off.",
        gt=0.0,
        le=1.0,
    )
    min_p: float = setting(
        0.05,
        "Answers",
        "Min-p",
        "Leave out tokens below this share of the likeliest one; 0 is off.",
        ge=0.0,
        le=1.0,
    )
    repeat_penalty: float = setting(
        1.0,
        "Answers",
        "Repeat penalty",
        "Above 1, words that were just used become less likely.",
        ge=1.0,
        le=2.0,
    )
    max_tokens: int = setting(
        0,
        "Answers",
        "Longest answer",
        "In tokens; 0 lets the model end by itself.",
        ge=0,
        le=1_000_000,
    )
    thinking: Literal["model", "on", "off"] = setting(
        "model",
        "Answers",
        "Think first",
        "Whether a model that can be asked to reasons before it answers; otherwise as it does by "
        "itself. Each chat can differ.",
    )
    effort: Literal["model", "minimal", "low", "medium", "high", "max"] = setting(
        "model",
        "Answers",
        "Thinking effort",
        "How hard a model reasons that knows such levels; otherwise as it does by itself.",
    )
    thinking_budget: int = setting(
        0,
        "Answers",
        "Longest thinking",
        "Tokens after which the reasoning is ended and the answer begins; 0 sets no limit.",
        ge=0,
        le=1_000_000,
    )
    overflow: Literal["leave_out", "compact", "stop"] = setting(
        "leave_out",
        "Answers",
        "When a chat outgrows the context",
        "Leave out its oldest messages, have the model sum them up, or stop and say so. Each chat "
        "can differ.",
    )
    model: str = setting("starter", "Model", "Model", "The model that new answers come from.")
    context: int = setting(
        0,
        "Model",
        "Context",
        "How many tokens of a chat the model sees; 0 chooses what fits this computer.",
        ge=0,
        le=10_000_000,
    )
    gpu_layers: int = setting(
        -1,
        "Model",
        "Layers on the graphics card",
        "-1 chooses what fits; 0 keeps the model on the processor.",
        ge=-1,
        le=10_000,
    )
    model_folders: str = setting(
        "",
        "Model",
        "Further folders with models",
        "One folder a line; Hearth lists the models in them and changes nothing there.",
        multiline=True,
    )
    adding: Literal["ask", "link", "copy"] = setting(
        "ask",
        "Model",
        "Adding a model file",
        "Link uses the file where it lies; copy keeps another in Hearth’s folder.",
    )
    threads: int = setting(
        0, "Model", "Processor threads", "0 chooses what suits this computer.", ge=0, le=1024
    )
    kv_type: KvType = setting(  # noqa: RUF009 - a type of another module
        "f16",
        "Model",
        "KV cache",
        "q8_0 halves the memory that a long context takes, at almost no loss.",
    )
    mtp: Literal["off", "auto", "on"] = setting(
        "auto",
        "Speed",
        "Multi-token prediction",
        "How the MTP switch of a new chat stands. Auto guesses words ahead where that is faster "
        "here, and leaves it where it is not; the answers are the same.",
    )
    kv_memory: int = setting(
        512,
        "Speed",
        "Chats kept ready in memory",
        "In MB. A chat that is kept ready goes on at once when you come back to it; 0 keeps "
        "only the one in use.",
        ge=0,
        le=1_000_000,
    )
    kv_disk: int = setting(
        2048,
        "Speed",
        "Chats kept ready on disk",
        "In MB, for after a restart; the oldest go first, and each goes with its chat. 0 keeps "
        "nothing on disk. A change holds from the next start.",
        ge=0,
        le=10_000_000,
    )
    download_limit: float = setting(
        0.0,
        "Downloads",
        "Speed limit",
        "In MB/s, of all downloads together; 0 is none.",
        ge=0.0,
        le=100_000.0,
    )
    download_parallel: int = setting(
        2, "Downloads", "Files at once", "How many files are downloaded at once.", ge=1, le=4
    )
    offline: bool = setting(
        False,
        "Privacy",
        "Stay offline",
        "No connection leaves this computer, whatever is clicked.",
        if_lost=True,
    )
    snapshots: int = setting(
        7,
        "Privacy",
        "Daily copies of your chats",
        "How many are kept in the data folder, one a day. A chat that was deleted for good is in "
        "them until they go; 0 makes none.",
        ge=0,
        le=366,
        if_lost=366,
    )
    auto_titles: bool = setting(
        True,
        "Answers",
        "Titles by the model",
        "A new chat gets its title from the model, once that has answered and is idle. A title of "
        "yours is never changed.",
    )

    @property
    def sampling(self) -> Sampling:
        from engines.types import Sampling

        return Sampling(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            repeat_penalty=self.repeat_penalty,
        )

    def changed(self, name: str, value: object) -> Settings:
        """Return these settings with one changed. Text is read as the field's type.

        Raises NoSuchSetting, or SettingsInvalid with the reason.
        """
        if name not in fields():
            raise NoSuchSetting(
                f"There is no setting named “{name}”.",
                "Hearth does not know that name.",
                "`hearth settings list` shows all of them.",
            )
        if isinstance(value, str) and not _is_utf8(value):
            raise SettingsInvalid(
                f"The value for {name} is not text.",
                "Some of its bytes are not UTF-8, which the settings are kept in.",
                "Set the terminal to UTF-8, and type or paste the value again.",
            )
        try:
            return replace(self, **{name: fields()[name].read(value)})
        except ValueError as error:
            raise SettingsInvalid(
                f"“{value}” cannot be the value of {name}.",
                f"{error}.",
                fields()[name].description or "Choose another value.",
            ) from None

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Understood:
        """Read settings from values, with defaults for the rest; faults are told, not raised."""
        read, unknown, faults = {}, {}, []
        for name, value in values.items():
            if name not in fields():
                unknown[name] = value
                continue
            try:
                read[name] = fields()[name].read(value)
            except ValueError as error:
                read[name] = fields()[name].without_value
                faults.append(f"{name}: {error}")
        return Understood(cls(**read), unknown, tuple(faults))

    @classmethod
    def lost(cls) -> Settings:
        """Return the settings that apply where what was set cannot be known."""
        return cls(**{name: field.without_value for name, field in fields().items()})

    def values(self) -> dict[str, object]:
        """Return the value of every setting, by name."""
        return {name: getattr(self, name) for name in fields()}

    def changes(self) -> dict[str, object]:
        """Return the values that differ from the default, by name."""
        return {
            name: value for name, value in self.values().items() if value != fields()[name].default
        }


class Understood(NamedTuple):
    """Settings read from values that may be foreign or wrong.

    unknown: by names that this version does not have. faults: half a sentence each.
    """

    settings: Settings
    unknown: Mapping[str, object] = {}
    faults: tuple[str, ...] = ()


@cache
def fields() -> Mapping[str, SettingField]:
    """Describe every setting, by name, in the order in which they are shown."""
    from app.core.settings.field import SettingField
    from engines.types import KvType

    types, usual = get_type_hints(Settings, localns={"KvType": KvType}), Settings()
    return {
        known.name: SettingField(types[known.name], getattr(usual, known.name), **known.metadata)
        for known in dataclass_fields(Settings)
    }


def section_of(field: SettingField) -> Section:
    return cast(Section, field.section)


def is_multiline(field: SettingField) -> bool:
    return field.multiline


def shown(word: str) -> str:
    """Return a setting's word as the form writes it: “Leave out”."""
    if word in PROPER_NAMES:
        return PROPER_NAMES[word]
    words = word.replace("_", " ")
    if not words.replace(" ", "").replace("+", "").isalpha():
        return word
    return "+".join(part[:1].upper() + part[1:] for part in words.split("+"))


def limits_of(field: SettingField) -> tuple[float | None, float | None]:
    """Return the smallest and the largest value allowed, where there is one."""
    return (field.ge if field.ge is not None else field.gt), field.le


def _is_utf8(value: str) -> bool:
    """Tell whether a text has no half characters, which stand for bytes that Python cannot read."""
    return not any("\ud800" <= character <= "\udfff" for character in value)
