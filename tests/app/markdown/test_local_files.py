"""Local files named in a text, and the conditions for showing them."""

from __future__ import annotations

import pytest

from app.markdown.blocks import Paragraph
from app.markdown.local_files import is_named, local_path, pictures_in
from app.markdown.parser import Parser


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/home/me/a.png", "/home/me/a.png"),
        ("~/a.png", "~/a.png"),
        ("file:///home/me/a%20b.png", "/home/me/a b.png"),
        ("file://localhost/a.png", "/a.png"),
        ("file:///C:/a.png", "C:/a.png"),
        ("C:/a.png", "C:/a.png"),
        ("C:\\a.png", "C:\\a.png"),
        ("a.png", ""),
        ("https://example.com/a.png", ""),
        ("//server/share/a.png", ""),
        ("\\\\server\\share\\a.png", ""),
        ("file://server/share/a.png", ""),
        ("data:image/png;base64,AA", ""),
        ("javascript:x", ""),
        ("", ""),
    ],
)
def test_only_a_full_path_on_this_computer_is_local(address: str, path: str) -> None:
    assert local_path(address) == path


@pytest.mark.parametrize(
    "text",
    [
        "see /home/me/a b.png.",
        "file:///home/me/a%20b.png",
        "“/home/me/a b.png”",
        "/home/me/a b.png",
    ],
)
def test_a_path_that_is_written_out_is_named(text: str) -> None:
    assert is_named("/home/me/a b.png", ["hello", text])


@pytest.mark.parametrize(
    "text",
    ["/home/me/a.png", "/other/home/me/a b.png", "/home/me/a b.png.gpg", "/home/me/a b.png/x", ""],
)
def test_another_path_is_not(text: str) -> None:
    assert not is_named("/home/me/a b.png", [text])


def test_a_windows_path_is_named_either_way() -> None:
    assert is_named("C:/Users/me/a.png", ["C:\\Users\\me\\a.png"])


def test_pictures_are_found_in_what_somebody_writes() -> None:
    text = "Look at /tmp/a.png, file:///tmp/b%20c.jpg and C:\\d.webp; not https://x.example/e.png"
    assert pictures_in(text) == ("/tmp/a.png", "/tmp/b c.jpg", "C:\\d.webp")
    assert pictures_in("/tmp/a.png /tmp/a.png") == ("/tmp/a.png",)
    assert pictures_in("//server/share/a.png /etc/passwd /tmp/a.svg") == ()


def test_a_picture_of_an_answer_may_name_a_file() -> None:
    (block,) = Parser().parse("![cat](file:///tmp/cat%20a.png) ![dog](/tmp/dog.png)")
    assert isinstance(block, Paragraph)
    assert [(it.text, it.picture) for it in block.spans if it.picture] == [
        ("cat", "/tmp/cat a.png"),
        ("dog", "/tmp/dog.png"),
    ]
    assert not any(span.href for span in block.spans)
