"""The details of one model: its file's description, and the result of checking its bytes."""

from __future__ import annotations

from dataclasses import dataclass

from app.models.library.values.entry import ModelEntry
from engines.models.format import FileDetails


@dataclass(frozen=True)
class TemplateAbilities:
    """The abilities of a model's chat template.

    Attributes:
        present: Whether the file has a chat template; otherwise ChatML is used.
        system_prompt: Whether a system prompt has its own place; otherwise it goes into the first
            question.
        thinking: Whether the model marks its reasoning, apart from the answer.
        trouble: Why the template cannot be used; empty if it can.
    """

    present: bool
    system_prompt: bool = False
    thinking: bool = False
    trouble: str = ""


@dataclass(frozen=True)
class ModelDetails:
    """A model on the list, with the details of its files."""

    entry: ModelEntry
    file: FileDetails
    template: TemplateAbilities


@dataclass(frozen=True)
class CheckedModel:
    """The result of a check.

    Attributes:
        compared: Whether there was a checksum to compare with; if not, the new one is stored for
            the next check.
    """

    entry: ModelEntry
    sha256: str
    compared: bool
