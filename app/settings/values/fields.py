"""Every setting of Hearth as one field; the form, the command line and the file use these.

To add a setting, add a field with a title, a description and its section; nothing else. The fields
of the engines are in `engines.py`, those of the server in `server.py`. A renamed setting is listed
in RENAMED with its old name, so that old files keep working.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast, get_type_hints

from app.base.engine_names import PROPER_NAMES
from app.base.errors import NoSuchSetting, SettingsInvalid
from app.settings.values.declared import Section, setting
from app.settings.values.engines import EngineSettings
from app.settings.values.server import ServerSettings
from engines.sentences import N_

if TYPE_CHECKING:
    from app.settings.values.field import SettingField
    from engines.types import KvType, Sampling

RENAMED: dict[str, str] = {}
_DISPLAY_TEXTS: Final = {"compact": "Summarise", "link": N_("Use in place"), "usual": "Normal"}
"""Values that the form shows in other words than the stored ones."""


@dataclass(frozen=True)
class Settings(EngineSettings, ServerSettings):
    """The values of all settings. Immutable: a change returns a new object."""

    language: Literal["system", "english", "deutsch"] = setting(
        "system",
        "Appearance",
        "Language",
        "Takes effect after a restart.",
        keywords="sprache english deutsch german translation",
        common=True,
    )
    theme: Literal["system", "light", "dark"] = setting(
        "system",
        "Appearance",
        "Theme",
        "Light, dark, or like the system.",
        keywords="dark mode light colour color appearance night",
        common=True,
    )
    contrast: Literal["system", "usual", "high"] = setting(
        "system",
        "Appearance",
        "Contrast",
        "High makes text and edges stand out.",
        keywords="accessibility visibility borders",
    )
    zoom: int = setting(
        100,
        "Appearance",
        "Zoom",
        "For the whole window. Ctrl and + or - also change it.",
        keywords="scale size bigger larger smaller",
        unit="%",
        ge=60,
        le=200,
        common=True,
    )
    motion: Literal["system", "full", "reduced"] = setting(
        "system",
        "Appearance",
        "Motion",
        "Reduced turns off movement, fading and blinking.",
        keywords="animation accessibility",
    )
    text_size: int = setting(
        14,
        "Appearance",
        "Text size",
        "For messages.",
        keywords="font size bigger larger letters",
        unit="px",
        ge=10,
        le=32,
        common=True,
    )
    code_lines: Literal["wrap", "scroll"] = setting(
        "wrap",
        "Appearance",
        "Long lines of code",
        "Wrap them, or scroll sideways to see their end.",
        keywords="code wrap scroll overflow",
    )
    announce: bool = setting(
        True,
        "Appearance",
        "Let screen readers read answers",
        "Sentence by sentence, and when an answer is done, was stopped or has failed.",
        keywords="accessibility voice orca nvda",
    )
    send_with: Literal["enter", "ctrl+enter"] = setting(
        "enter",
        "Appearance",
        "Send with",
        "The other key starts a new line.",
        keywords="enter return key ctrl line break",
        common=True,
    )
    notify: bool = setting(
        False,
        "Desktop",
        "Notify when an answer is done",
        "After a longer answer, when you are in another window.",
        keywords="notification alert",
        common=True,
    )
    notify_text: bool = setting(
        False,
        "Desktop",
        "Show its first words",
        "Otherwise the notification contains neither the answer nor the chat’s title.",
        keywords="notification preview privacy",
    )
    tray: bool = setting(
        False,
        "Desktop",
        "Icon in the tray",
        "Ask a question from it while the window is closed.",
        keywords="background icon taskbar",
        common=True,
    )
    close_to_tray: bool = setting(
        False,
        "Desktop",
        "Keep running in the tray",
        "When the window is closed. Quit in the icon’s menu always quits.",
        keywords="background close quit minimise",
        common=True,
    )
    quick_ask_keys: str = setting(
        "",
        "Desktop",
        "Quick ask from anywhere",
        "Keys that open the small window from any program, such as Ctrl+Alt+H.",
        keywords="hotkey global shortcut keyboard",
        common=True,
    )
    menu_bar: bool = setting(
        False,
        "Desktop",
        "Menu bar",
        "All commands in menus above the window. On macOS they are at the top of the screen.",
        keywords="menus commands",
    )
    shortcuts: dict[str, str] = setting(  # noqa: RUF009 - a new dict for each object
        {},
        "Desktop",
        "Shortcuts",
        "Shortcuts that you have changed. Edit them in the list of shortcuts.",
        in_form=False,
    )
    system_prompt: str = setting(
        "",
        "Assistant",
        "System prompt",
        "Who the assistant is and how it answers. Sent with every chat.",
        keywords="instructions persona custom role",
        multiline=True,
        common=True,
    )
    temperature: float = setting(
        0.7,
        "Answers",
        "Temperature",
        "0 always takes the likeliest word; higher is more varied.",
        keywords="creativity randomness sampling",
        ge=0.0,
        le=5.0,
        common=True,
    )
    top_k: int = setting(
        40,
        "Answers",
        "Top-k",
        "Draws from this many of the likeliest tokens.",
        keywords="sampling",
        lowest_label="Off",
        ge=0,
        le=1000,
    )
    top_p: float = setting(
        0.95,
        "Answers",
        "Top-p",
        "Draws from the likeliest tokens that make up this share; 1 is off.",
        keywords="sampling nucleus",
        ge=0.0,
        le=1.0,
    )
    min_p: float = setting(
        0.05,
        "Answers",
        "Min-p",
        "Leaves out tokens below this share of the likeliest one.",
        keywords="sampling",
        lowest_label="Off",
        ge=0.0,
        le=1.0,
    )
    repeat_penalty: float = setting(
        1.0,
        "Answers",
        "Repeat penalty",
        "Makes words that were just used less likely; 1 is off.",
        keywords="repetition sampling",
        gt=0.0,
        le=10.0,
    )
    max_tokens: int = setting(
        0,
        "Answers",
        "Longest answer",
        "Ends an answer after this many tokens.",
        keywords="length limit maximum tokens",
        unit="tokens",
        lowest_label="No limit",
        ge=0,
        le=1000000,
    )
    thinking: Literal["model", "on", "off"] = setting(
        "model",
        "Answers",
        "Think first",
        "For models that can be asked to reason before they answer. Can differ per chat.",
        keywords="reasoning",
        common=True,
    )
    effort: Literal["model", "minimal", "low", "medium", "high", "max"] = setting(
        "model",
        "Answers",
        "Thinking effort",
        "How hard a model reasons, if it has such levels.",
        keywords="reasoning",
    )
    thinking_budget: int = setting(
        0,
        "Answers",
        "Longest thinking",
        "Ends the thinking after this many tokens and begins the answer.",
        keywords="reasoning limit budget",
        unit="tokens",
        lowest_label="No limit",
        ge=0,
        le=1000000,
    )
    stop_repetition: bool = setting(
        True,
        "Answers",
        "End answers that repeat themselves",
        "Stops when the same words come again and again. You can continue such an answer.",
        keywords="loop endless circles repeat",
    )
    overflow: Literal["leave_out", "compact", "stop"] = setting(
        "leave_out",
        "Answers",
        "When a chat outgrows the context",
        "Leave out its oldest messages, summarise them, or send nothing. Can differ per chat.",
        keywords="full compact summary long",
    )
    model: str = setting(
        "starter",
        "Model",
        "Model",
        "The model that answers new chats.",
        keywords="llm default",
        common=True,
    )
    context: int = setting(
        0,
        "Model",
        "Context",
        "How much of a chat the model sees.",
        keywords="memory window length tokens",
        unit="tokens",
        lowest_label="Automatic",
        ge=0,
        le=10000000,
        common=True,
    )
    gpu_layers: int = setting(
        -1,
        "Model",
        "Layers on the graphics card",
        "0 keeps the model on the processor.",
        keywords="gpu vram offload cuda",
        lowest_label="Automatic",
        ge=-1,
        le=10000,
    )
    model_folders: str = setting(
        "",
        "Model",
        "More folders with models",
        "One per line. Hearth lists the models in them and changes nothing there.",
        keywords="path directory gguf",
        multiline=True,
        common=True,
    )
    adding: Literal["ask", "link", "copy"] = setting(
        "ask",
        "Model",
        "Adding a model file",
        "Use it where it is, or copy it into Hearth’s folder.",
        keywords="import gguf file",
    )
    threads: int = setting(
        0,
        "Model",
        "Processor threads",
        "How many threads a model uses.",
        keywords="cpu cores",
        lowest_label="Automatic",
        ge=0,
        le=1024,
    )
    kv_type: KvType = setting(  # noqa: RUF009 - a type of another module
        "f16",
        "Model",
        "KV cache",
        "q8_0 halves the memory of a long context, at almost no loss.",
        keywords="quantisation memory q8 f16",
    )
    mtp: Literal["off", "auto", "on"] = setting(
        "auto",
        "Speed",
        "Multi-token prediction",
        "For new chats. Auto guesses words ahead where that is faster; the answers are the same.",
        keywords="mtp speculative decoding draft faster speed",
        common=True,
    )
    draft_model: str = setting(
        "",
        "Speed",
        "Draft model",
        "A smaller model with the same vocabulary that guesses ahead. Empty uses the one made for "
        "the model.",
        in_form=False,
    )
    embedding_model: str = setting(
        "",
        "Answers",
        "Embedding model",
        "Finds passages in your files by their meaning. Empty uses the best one on this computer, "
        "off uses none.",
        keywords="vectors knowledge collections documents semantic search",
        in_form=False,
    )
    kv_memory: int = setting(
        512,
        "Speed",
        "Chats kept ready in memory",
        "These chats continue at once when you come back to them.",
        keywords="cache ram kv",
        unit="MB",
        lowest_label="Only the one in use",
        ge=0,
        le=1000000,
    )
    kv_disk: int = setting(
        2048,
        "Speed",
        "Chats kept ready on disk",
        "These chats continue at once after a restart. Takes effect after a restart.",
        keywords="cache kv storage",
        unit="MB",
        lowest_label="None",
        ge=0,
        le=10000000,
    )
    download_limit: float = setting(
        0.0,
        "Downloads",
        "Speed limit",
        "For all downloads together.",
        keywords="bandwidth throttle",
        unit="MB/s",
        lowest_label="No limit",
        ge=0.0,
        le=100000.0,
        common=True,
    )
    download_parallel: int = setting(
        2,
        "Downloads",
        "Files at once",
        "Files that are downloaded at the same time.",
        keywords="parallel simultaneous",
        ge=1,
        le=4,
    )
    offline: bool = setting(
        False,
        "Privacy",
        "Stay offline",
        "Nothing connects to other computers, whatever you click.",
        keywords="internet network connection airplane",
        safe_value=True,
        common=True,
    )
    traces_endpoint: str = setting(
        "",
        "Privacy",
        "Send traces to",
        "Address of an OpenTelemetry collector, such as http://127.0.0.1:4318. It gets figures and "
        "the model’s name for each answer, never text. Empty sends nothing.",
        keywords="opentelemetry otlp telemetry monitoring spans",
    )
    snapshots: int = setting(
        7,
        "Privacy",
        "Daily copies of your chats",
        "In the data folder, one a day. Deleted chats stay in older copies until they expire.",
        keywords="backup restore",
        lowest_label="None",
        ge=0,
        le=366,
        safe_value=366,
        common=True,
    )
    auto_titles: bool = setting(
        True,
        "Answers",
        "Titles by the model",
        "Names a new chat after its first answer. Your own titles are never changed.",
        keywords="name rename",
        common=True,
    )

    @property
    def sampling(self) -> Sampling:
        """The values for the sampler."""
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

        Raises:
            NoSuchSetting: There is no setting with this name.
            SettingsInvalid: The value is not allowed; the error gives the reason.
        """
        if name not in fields():
            raise NoSuchSetting(
                N_("There is no setting named “{name}”.", name=name),
                N_("Hearth does not know that name."),
                N_("Choose one of the settings that Hearth has."),
                terminal=N_("`hearth settings list` shows all of them."),
            )
        if isinstance(value, str) and not _is_utf8(value):
            raise SettingsInvalid(
                N_("The value for {name} is not text.", name=name),
                N_("Some of its bytes are not UTF-8, and the settings are stored in UTF-8."),
                N_("Set the terminal to UTF-8, and type or paste the value again."),
            )
        try:
            return replace(self, **{name: fields()[name].read(value)})
        except ValueError as error:
            raise SettingsInvalid(
                N_("“{value}” cannot be the value of {name}.", value=value, name=name),
                N_("{reason}.", reason=error.args[0]),
                fields()[name].description or N_("Choose another value."),
            ) from None

    @classmethod
    def from_values(cls, values: Mapping[str, object]) -> ParsedSettings:
        """Read settings from values, with defaults for the rest; faults are not raised."""
        parsed, unknown, faults = {}, {}, []
        for name, value in values.items():
            if name not in fields():
                unknown[name] = value
                continue
            try:
                parsed[name] = fields()[name].read(value)
            except ValueError as error:
                parsed[name] = fields()[name].fallback
                faults.append(N_("{name}: {reason}", name=name, reason=error.args[0]))
        return ParsedSettings(cls(**parsed), unknown, tuple(faults))

    @classmethod
    def safe(cls) -> Settings:
        """Return the defaults, or safe values, for a settings file that cannot be read at all."""
        return cls(**{name: field.fallback for name, field in fields().items()})

    def values(self) -> dict[str, object]:
        """Return the value of every setting, by name."""
        return {name: getattr(self, name) for name in fields()}

    def changes(self) -> dict[str, object]:
        """Return the values that differ from the default, by name."""
        return {
            name: value for name, value in self.values().items() if value != fields()[name].default
        }


class ParsedSettings(NamedTuple):
    """Settings read from values that can be unknown or invalid.

    Attributes:
        unknown: Values under names that this version does not have.
        faults: The names of the invalid values, each with the reason.
    """

    settings: Settings
    unknown: Mapping[str, object] = {}
    faults: tuple[str, ...] = ()


@cache
def fields() -> Mapping[str, SettingField]:
    """Return every setting, by name, in the order in which they are shown."""
    from app.settings.values.field import SettingField
    from engines.types import KvType

    types, defaults = get_type_hints(Settings, localns={"KvType": KvType}), Settings()
    return {
        field.name: SettingField(types[field.name], getattr(defaults, field.name), **field.metadata)
        for field in dataclass_fields(Settings)
    }


def section_of(field: SettingField) -> Section:
    """Return the section of the form that a setting belongs to."""
    return cast(Section, field.section)


def is_multiline(field: SettingField) -> bool:
    """Return whether a setting is a text of several lines."""
    return field.multiline


def display_text(word: str) -> str:
    """Return a setting's value as the form shows it, such as “Leave out”."""
    if word in _DISPLAY_TEXTS:
        return _DISPLAY_TEXTS[word]
    if word in PROPER_NAMES:
        return PROPER_NAMES[word]
    words = word.replace("_", " ")
    if not words.replace(" ", "").replace("+", "").isalpha():
        return word
    return "+".join(part[:1].upper() + part[1:] for part in words.split("+"))


def limits_of(field: SettingField) -> tuple[float | None, float | None]:
    """Return the smallest and the largest allowed value; None for no limit."""
    return (field.ge if field.ge is not None else field.gt), field.le


def _is_utf8(value: str) -> bool:
    """Return whether a text has no lone surrogates, which Python uses for undecodable bytes."""
    return not any("\ud800" <= character <= "\udfff" for character in value)
