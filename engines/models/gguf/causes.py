"""The explanation, from its first bytes, of what a file is if it is not a GGUF model."""

from __future__ import annotations

from typing import Final

from engines.errors import NotAModel
from engines.sentences import N_

START_BYTES: Final = 4096
"""The number of bytes from the start of a file that `explain` needs."""

_CHOOSE: Final = N_("Choose a file whose name ends in .gguf.")
_OTHER: Final = N_(
    "Its name says GGUF, but its content is something else: download the model again, or choose "
    "another file."
)
_AGAIN: Final = N_("Download the model again; it is a file of several hundred megabytes or more.")
_CONVERTED: Final = N_("Look for a GGUF version of the same model: most models have one.")

_SIGNATURES: Final = (
    (
        b"version https://git-lfs",
        N_("It is a Git LFS pointer: a note of where the model is, not the model itself."),
        N_("Run 'git lfs pull' where the file came from, or download the model from its page."),
    ),
    (b"PK\x03\x04", N_("It is a ZIP archive or a PyTorch file."), _CONVERTED),
    (b"\x80\x02", N_("It is a PyTorch or pickle file."), _CONVERTED),
    (
        b"\x1f\x8b",
        N_("It is a compressed archive (gzip)."),
        N_("Unpack it and choose what is inside."),
    ),
    (
        b"7z\xbc\xaf",
        N_("It is a compressed archive (7z)."),
        N_("Unpack it and choose what is inside."),
    ),
    (b"Rar!", N_("It is a compressed archive (RAR)."), N_("Unpack it and choose what is inside.")),
    (
        b"\x28\xb5\x2f\xfd",
        N_("It is a compressed file (zstd)."),
        N_("Unpack it and choose the result."),
    ),
    (b"tjgg", N_("It is in a format that llama.cpp gave up in 2023."), _CONVERTED),
    (b"lmgg", N_("It is in a format that llama.cpp gave up in 2023."), _CONVERTED),
    (b"fmgg", N_("It is in a format that llama.cpp gave up in 2023."), _CONVERTED),
)


def explain(name: str, size: int, start: bytes) -> NotAModel:
    """Make the error for a file that is not a GGUF file.

    Args:
        name: Name of the file.
        size: Size of the file, in bytes.
        start: The first `START_BYTES` bytes of the file, or the whole file if it is shorter.
    """
    text = _as_text(start)
    why, advice = _by_signature(size, start) or (_binary(start) if text is None else _text(text))
    if advice == _CHOOSE and name.lower().endswith(".gguf"):
        advice = _OTHER
    return NotAModel(N_("“{name}” is not a model.", name=name), why, advice)


def _by_signature(size: int, start: bytes) -> tuple[str, str] | None:
    if not size:
        return N_("The file is empty."), _AGAIN
    for signature, why, advice in _SIGNATURES:
        if start.startswith(signature):
            return why, advice
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") < size:
        return N_("It is a safetensors file, which llama.cpp does not read."), _CONVERTED
    return None


def _binary(start: bytes) -> tuple[str, str]:
    if not start.strip(b"\0"):
        return (
            N_(
                "It begins with zeros only: its space was reserved, but the download never "
                "filled it."
            ),
            _AGAIN,
        )
    return N_("It does not begin with the letters GGUF, as every model for Hearth does."), _CHOOSE


def _text(text: str) -> tuple[str, str]:
    if text.lower().startswith(("<!doctype html", "<html", "<head", "<?xml", "<body")):
        return (
            N_(
                "It is a web page, most likely an error or sign-in page saved under a model's name."
            ),
            N_(
                "Open the model's page in a browser, sign in if it asks you to, and download again."
            ),
        )
    if text.startswith(("{", "[")):
        return N_("It is a text in JSON, perhaps a server's error message."), _AGAIN
    return N_("It is a text file."), _CHOOSE


def _as_text(start: bytes) -> str | None:
    """Return the bytes as text without leading blanks; None if they are not text.

    Up to three bytes at the end may be part of an incomplete character.
    """
    for cut in range(4):
        try:
            text = start[: len(start) - cut].decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
        readable = all(character.isprintable() or character in "\t\r\n\f" for character in text)
        return text.lstrip() if readable else None
    return None
