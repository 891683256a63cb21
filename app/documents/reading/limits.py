"""What reading one document may take."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits for one file; more is refused with a sentence that says which it was.

    file_bytes: the file's own length.
    unpacked_bytes: what is unpacked of a DOCX, XLSX, PPTX or EPUB, which are ZIP archives.
    characters: the text that comes out; ten million are about 4,000 printed pages.
    seconds: the time until the last word is there.
    memory_bytes: what the process that reads may have in memory.
    pixels: of a picture as it lies in its file; the largest photos of telephones have 200 million.
    sound_bytes, sound_seconds: of a sound, which is kept as it is.

    These refuse nothing; what is larger is made smaller, or left out:
    picture_pixels: of a picture for the engines. llama.cpp makes 4,096 tokens of a picture at most,
    of 32 by 32 pixels each where a token has most of them.
    picture_bytes: of a picture for the engines; it lies in the database, and in each copy of that.
    page_pixels: of a page without text; this is A4 with 150 dots an inch.
    pages: the first of them that are kept as pictures.
    view_pixels: of a page that is looked at; who looks closer sees the same larger.
    """

    file_bytes: int = 1 << 30
    unpacked_bytes: int = 512 << 20
    characters: int = 10_000_000
    seconds: float = 120.0
    memory_bytes: int = 1 << 30
    pixels: int = 200_000_000
    sound_bytes: int = 64 << 20
    sound_seconds: float = 3600.0
    picture_pixels: int = 4096 * 32 * 32
    picture_bytes: int = 3 << 20
    page_pixels: int = 1240 * 1754
    pages: int = 20
    view_pixels: int = 8_000_000

    @property
    def out_bytes(self) -> int:
        """The most that the process may write.

        A character takes at most 12 bytes of JSON; of three bytes of a picture or sound, Base64
        makes four.
        """
        media = max(self.sound_bytes, self.picture_bytes * (self.pages + 1)) * 4 // 3
        return self.characters * 12 + media + (1 << 20)


def limit_memory(most: int) -> None:
    """Let an allocation fail that takes this process beyond `most` bytes; on Linux."""
    if sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
