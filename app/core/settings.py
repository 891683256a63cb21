"""Every setting of Hearth: one field each, from which form, terminal and file follow.

To add a setting, add a field with a title, a description and its section; nothing else.
A renamed setting is listed in RENAMED with its old name, so that old files keep working.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from app.core.errors import NoSuchSetting, SettingsInvalid
from engines.types import KvType, Sampling

Section = Literal["Appearance", "Assistant", "Answers", "Model", "Speed", "Downloads", "Privacy"]
SECTIONS: tuple[Section, ...] = (
    "Appearance",
    "Assistant",
    "Answers",
    "Model",
    "Speed",
    "Downloads",
    "Privacy",
)

RENAMED: dict[str, str] = {}


def _field(
    default: Any,
    section: Section,
    title: str,
    description: str,
    *,
    multiline: bool = False,
    **limits: Any,
) -> Any:
    return Field(
        default,
        title=title,
        description=description,
        json_schema_extra={"section": section, "multiline": multiline},
        **limits,
    )


class Settings(BaseModel):
    """The values of all settings; immutable: a change makes a new one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    theme: Literal["system", "light", "dark"] = _field(
        "system", "Appearance", "Theme", "Light, dark, or as the system says."
    )
    text_size: int = _field(
        14, "Appearance", "Text size", "Size of messages, in pixels.", ge=10, le=32
    )
    send_with: Literal["enter", "ctrl+enter"] = _field(
        "enter", "Appearance", "Send with", "The key that sends a message; the other makes a line."
    )
    system_prompt: str = _field(
        "",
        "Assistant",
        "System prompt",
        "Who the assistant is and how it should answer; sent ahead of every chat.",
        multiline=True,
    )
    temperature: float = _field(
        0.7,
        "Answers",
        "Temperature",
        "0 is always the likeliest word; higher is more varied.",
        ge=0.0,
        le=5.0,
    )
    top_k: int = _field(
        40, "Answers", "Top-k", "Draw from the k likeliest tokens; 0 is off.", ge=0, le=1000
    )
    top_p: float = _field(
        0.95,
        "Answers",
        "Top-p",
        "Draw from the likeliest tokens that make up this share; 1 is off.",
        gt=0.0,
        le=1.0,
    )
    min_p: float = _field(
        0.05,
        "Answers",
        "Min-p",
        "Leave out tokens below this share of the likeliest one; 0 is off.",
        ge=0.0,
        le=1.0,
    )
    repeat_penalty: float = _field(
        1.0,
        "Answers",
        "Repeat penalty",
        "Above 1, words that were just used become less likely.",
        ge=1.0,
        le=2.0,
    )
    max_tokens: int = _field(
        0,
        "Answers",
        "Longest answer",
        "In tokens; 0 lets the model end by itself.",
        ge=0,
        le=1_000_000,
    )
    model: str = _field("starter", "Model", "Model", "The model that new answers come from.")
    context: int = _field(
        0,
        "Model",
        "Context",
        "How many tokens of a chat the model sees; 0 chooses what fits this computer.",
        ge=0,
        le=10_000_000,
    )
    gpu_layers: int = _field(
        -1,
        "Model",
        "Layers on the graphics card",
        "-1 chooses what fits; 0 keeps the model on the processor.",
        ge=-1,
        le=10_000,
    )
    model_folders: str = _field(
        "",
        "Model",
        "Further folders with models",
        "One folder a line; Hearth lists the models in them and changes nothing there.",
        multiline=True,
    )
    adding: Literal["ask", "link", "copy"] = _field(
        "ask",
        "Model",
        "Adding a model file",
        "Link uses the file where it lies; copy keeps another in Hearth’s folder.",
    )
    threads: int = _field(
        0, "Model", "Processor threads", "0 chooses what suits this computer.", ge=0, le=1024
    )
    kv_type: KvType = _field(
        "f16",
        "Model",
        "KV cache",
        "q8_0 halves the memory that a long context takes, at almost no loss.",
    )
    mtp: Literal["off", "auto", "on"] = _field(
        "auto",
        "Speed",
        "Multi-token prediction",
        "How the MTP switch of a new chat stands. Auto guesses words ahead where that is faster "
        "here, and leaves it where it is not; the answers are the same.",
    )
    kv_memory: int = _field(
        512,
        "Speed",
        "Chats kept ready in memory",
        "In MB. A chat that is kept ready goes on at once when you come back to it; 0 keeps "
        "only the one in use.",
        ge=0,
        le=1_000_000,
    )
    kv_disk: int = _field(
        2048,
        "Speed",
        "Chats kept ready on disk",
        "In MB, for after a restart; the oldest go first, and each goes with its chat. 0 keeps "
        "nothing on disk. A change holds from the next start.",
        ge=0,
        le=10_000_000,
    )
    download_limit: float = _field(
        0.0,
        "Downloads",
        "Speed limit",
        "In MB/s, of all downloads together; 0 is none.",
        ge=0.0,
        le=100_000.0,
    )
    download_parallel: int = _field(
        2, "Downloads", "Files at once", "How many files are downloaded at once.", ge=1, le=4
    )
    offline: bool = _field(
        False,
        "Privacy",
        "Stay offline",
        "No connection leaves this computer, whatever is clicked.",
    )

    @property
    def sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            repeat_penalty=self.repeat_penalty,
        )

    def changed(self, name: str, value: object) -> Settings:
        """These settings with one changed. Text is read as the field's type.

        Raises NoSuchSetting, or SettingsInvalid with the reason.
        """
        if name not in fields():
            raise NoSuchSetting(
                f"There is no setting named “{name}”.",
                "Hearth does not know that name.",
                "`hearth settings list` shows all of them.",
            )
        if isinstance(value, str) and not _is_text(value):
            raise SettingsInvalid(
                f"The value for {name} is not text.",
                "Some of its bytes are not UTF-8, which the settings are kept in.",
                "Set the terminal to UTF-8, and type or paste the value again.",
            )
        try:
            return Settings.model_validate({**self.model_dump(), name: value})
        except ValidationError as error:
            first = error.errors()[0]
            raise SettingsInvalid(
                f"“{value}” cannot be the value of {name}.",
                f"{first['msg']}.",
                fields()[name].description or "Choose another value.",
            ) from None


def fields() -> dict[str, FieldInfo]:
    """All settings by name, in the order in which they are shown."""
    return Settings.model_fields


def section_of(field: FieldInfo) -> Section:
    return cast(Section, _extra(field)["section"])


def is_multiline(field: FieldInfo) -> bool:
    return bool(_extra(field)["multiline"])


def limits_of(field: FieldInfo) -> tuple[float | None, float | None]:
    """The smallest and the largest value allowed, where there is one."""
    low: float | None = None
    high: float | None = None
    for limit in field.metadata:
        low = getattr(limit, "ge", getattr(limit, "gt", low))
        high = getattr(limit, "le", getattr(limit, "lt", high))
    return low, high


def _is_text(value: str) -> bool:
    """Not so where Python stands half characters in for bytes that it could not read."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _extra(field: FieldInfo) -> dict[str, Any]:
    return cast(dict[str, Any], field.json_schema_extra)
