"""The reasons why a document cannot be read, as its reader reports them to the app."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """The reasons why a file cannot be read."""

    MISSING = "missing"
    NO_FILE = "no_file"  # a folder, a pipe or a device
    CHANGED = "changed"  # while it was read
    LOCKED = "locked"  # needs a password
    OLD_OFFICE = "old_office"  # .doc, .xls and .ppt
    PICTURE = "picture"  # of a kind that is not read
    SOUND = "sound"  # of a kind that is not read
    MODEL = "model"  # a GGUF or safetensors file
    UNKNOWN = "unknown"
    ENCODING = "encoding"  # a text whose encoding cannot be detected
    MESSAGE_FILE = "message_file"  # .msg, as Outlook writes it
    DAMAGED = "damaged"
    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"  # more text than `Limits.characters`
    PIXELS = "pixels"
    LASTS = "lasts"  # a sound that is too long
    UNPACKS = "unpacks"  # too large when unpacked
    NO_MEMORY = "no_memory"
    NO_TIME = "no_time"
    CRASHED = "crashed"


class Unreadable(Exception):
    """A file that a reader gives up on."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.value)
