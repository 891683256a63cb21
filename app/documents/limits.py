"""What reading one document may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits for one file; more is refused with a sentence that says which it was.

    file_bytes: the file's own length.
    unpacked_bytes: what is unpacked of a DOCX, XLSX, PPTX or EPUB, which are ZIP archives.
    characters: the text that comes out; ten million are about 4,000 printed pages.
    seconds: the time until the last word is there.
    memory_bytes: what the process that reads may have in memory.
    """

    file_bytes: int = 1 << 30
    unpacked_bytes: int = 512 << 20
    characters: int = 10_000_000
    seconds: float = 120.0
    memory_bytes: int = 1 << 30

    @property
    def out_bytes(self) -> int:
        """The most that the process may write; a character takes at most 12 bytes of JSON."""
        return self.characters * 12 + (1 << 20)
