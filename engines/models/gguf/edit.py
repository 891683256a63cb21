"""The editing of a GGUF file's metadata: its name, chat template and context length.

Example::

    edit = prepare(Path("model.gguf"), Metadata(name="My model"))
    with open_regular(edit.source) as source:
        target.write(edit.head)
        source.seek(edit.data)
        shutil.copyfileobj(source, target)

Every other value, the list of tensors and their bytes stay as they are. Only the start of the bytes
may move; tensor offsets count from that start. If a model has several files, edit the first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.errors import MetadataRefused
from engines.models.gguf.header import read_file
from engines.models.gguf.reader import ARCHITECTURE, MAGIC, padded
from engines.regular import open_regular
from engines.sentences import N_

LONGEST_NAME: Final = 200
LARGEST_TEMPLATE: Final = 1 << 20
"""The longest template in bytes. Those of the largest model families have some 30,000."""
CONTEXTS: Final = range(128, (1 << 26) + 1)
"""The allowed contexts in tokens. The largest models were trained for 10 million."""

_COUNTS: Final = struct.Struct("<QQ")
_VERSION_SIZE: Final = 4


@dataclass(frozen=True)
class Metadata:
    """Changes to metadata; None keeps a value.

    Attributes:
        name: The model's name.
        template: The chat template, in Jinja.
        context: Tokens that the model was trained for.

    Raises:
        MetadataRefused: A value is of no use to llama.cpp or to people.
    """

    name: str | None = None
    template: str | None = None
    context: int | None = None

    def __post_init__(self) -> None:
        if self.name is not None and (why := _why_bad_name(self.name)):
            raise _refused(N_("The model’s name was not changed."), why)
        if self.template is not None and (why := _why_bad_template(self.template)):
            raise _refused(N_("The model’s chat template was not changed."), why)
        if self.context is not None and self.context not in CONTEXTS:
            raise _refused(
                N_("The model’s context length was not changed."),
                N_(
                    "{context} is not between {least} and {most} tokens.",
                    context=f"{self.context:,}",
                    least=f"{CONTEXTS[0]:,}",
                    most=f"{CONTEXTS[-1]:,}",
                ),
            )

    def __bool__(self) -> bool:
        return (self.name, self.template, self.context) != (None, None, None)


@dataclass(frozen=True)
class Edit:
    """A planned new file: `head`, followed by the bytes of `source` from byte `data` on.

    Attributes:
        size_bytes: Size of the new file.
    """

    source: Path
    head: bytes
    data: int
    size_bytes: int


def prepare(source: Path, changes: Metadata) -> Edit:
    """Build the head of the new file. No weights are read.

    Raises:
        ModelNotFound: There is no such file.
        ModelUnreadable: The system does not allow reading it.
        NotAModel: It is not a GGUF file.
        ModelDamaged: Its header is invalid.
    """
    from gguf import GGUFValueType, Keys

    gguf, size = read_file(source)
    with open_regular(source) as file:
        old_head = file.read(min(gguf.data, size))
    replacements: dict[str, bytes] = {}
    if changes.name is not None:
        replacements[Keys.General.NAME] = _string(changes.name)
    if changes.template is not None:
        replacements[Keys.Tokenizer.CHAT_TEMPLATE] = _string(changes.template)
    if changes.context is not None:
        key = Keys.LLM.CONTEXT_LENGTH.format(arch=gguf.values.get(ARCHITECTURE))
        replacements[key] = struct.pack("<II", GGUFValueType.UINT32, changes.context)
    parts = [
        _text(key) + replacements.pop(key) if key in replacements else old_head[start:end]
        for key, (start, end) in gguf.value_spans.items()
    ]
    parts += [_text(key) + value for key, value in replacements.items()]
    counts_at = len(MAGIC) + _VERSION_SIZE
    counts = _COUNTS.pack(len(gguf.tensors), len(parts))
    head = b"".join([old_head[:counts_at], counts, *parts, old_head[slice(*gguf.tensor_list_span)]])
    head = head.ljust(padded(len(head), gguf.alignment), b"\0")
    return Edit(source, head, len(old_head), len(head) + size - len(old_head))


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _string(text: str) -> bytes:
    from gguf import GGUFValueType

    return struct.pack("<I", GGUFValueType.STRING) + _text(text)


def _why_bad_name(name: str) -> str:
    if not name.strip():
        return N_("The new value is empty.")
    if len(name) > LONGEST_NAME:
        return N_("The new value is longer than {most} characters.", most=LONGEST_NAME)
    if not name.isprintable():
        return N_("The new value contains invalid characters.")
    return ""


def _why_bad_template(template: str) -> str:
    if not template.strip():
        return N_("The new value is empty.")
    if "\0" in template or any("\ud800" <= letter <= "\udfff" for letter in template):
        return N_("The new value contains invalid characters.")
    size = len(template.encode())
    if size > LARGEST_TEMPLATE:
        return N_(
            "The new value has {size} bytes; at most {most} are allowed.",
            size=f"{size:,}",
            most=f"{LARGEST_TEMPLATE:,}",
        )
    return ""


def _refused(headline: str, why: str) -> MetadataRefused:
    return MetadataRefused(headline, why, N_("Give another value; nothing was written."))
