"""What is known of one model: what its file says of itself, and whether its bytes are right."""

from __future__ import annotations

from dataclasses import dataclass

from app.models.library.values.entry import ModelEntry
from engines.models.format import FileDetails


@dataclass(frozen=True)
class TemplateAbilities:
    """The abilities of a model's chat template.

    present: the file brings a chat template; otherwise ChatML stands in.

    system_prompt: whether a system prompt has a place of its own; else it goes into the first
    question. thinking: whether the model writes its reasoning apart. trouble: why the template
    cannot be used, empty if it can.
    """

    present: bool
    system_prompt: bool = False
    thinking: bool = False
    trouble: str = ""


@dataclass(frozen=True)
class ModelDetails:
    """A model of the list, with its files' details."""

    entry: ModelEntry
    file: FileDetails
    template: TemplateAbilities


@dataclass(frozen=True)
class Checked:
    """The outcome of a check. compared: whether there was something to compare with.

    Where there was not, what the file hashes to is remembered for the next time.
    """

    entry: ModelEntry
    sha256: str
    compared: bool
