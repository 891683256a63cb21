"""Files that are dropped onto the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.chats.dropped import MOST_BYTES, kind_of, read_text
from app.core.errors import FileNotText


def test_the_ending_tells() -> None:
    assert kind_of(Path("A.GGUF")) == "model"
    assert kind_of(Path("a.JPG")) == "picture"
    assert kind_of(Path("notes.md")) == kind_of(Path("README")) == "other"


def test_a_text_is_fenced_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\n")
    assert read_text(path) == "a.py:\n```py\nx = 1\n```\n\n"


def test_a_fence_in_it_does_not_end_it(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("```\ncode\n```\n")
    assert read_text(path).splitlines()[1] == "````md"
    assert read_text(path).splitlines()[-2] == "````"


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    files = {"pdf": b"%PDF\xff\xfe", "nul": b"a\0b", "long": b"x" * (MOST_BYTES + 1)}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    for name in (*files, "missing", "."):
        with pytest.raises(FileNotText) as refused:
            read_text(tmp_path / name)
        assert all((refused.value.what, refused.value.why, refused.value.do))
