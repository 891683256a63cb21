"""Links that begin with “hearth:”, valid and refused."""

from __future__ import annotations

import pytest

from app.base.errors import LinkInvalid
from app.models.hub.values.names import HubName
from app.window.values.links import is_link, linked_model, path_of


@pytest.mark.parametrize("link", ["hearth:", "hearth:/", "hearth://", "HEARTH:", "Hearth://"])
def test_the_bare_link_names_the_window(link: str) -> None:
    assert is_link(link)
    assert linked_model(link) is None


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("hearth://model/ada/Tiny-GGUF", HubName("ada/Tiny-GGUF")),
        ("hearth://model/ada/Tiny-GGUF/", HubName("ada/Tiny-GGUF")),
        ("HEARTH://model/a/b.c_d", HubName("a/b.c_d")),
        ("hearth://model/ada/Tiny-GGUF:Q4_K_M", HubName("ada/Tiny-GGUF", "Q4_K_M")),
    ],
)
def test_a_link_names_a_model(link: str, name: HubName) -> None:
    assert linked_model(link) == name


@pytest.mark.parametrize(
    "link",
    [
        "hearth:model/ada/tiny",
        "hearth://ask/What is it?",
        "hearth://model",
        "hearth://model/",
        "hearth://model/ada",
        "hearth://model/ada/tiny/file.gguf",
        "hearth://model/ada/tiny?get=1",
        "hearth://model/ada/tiny#x",
        "hearth://model/ada/tiny:",
        "hearth://model/ada/%2e%2e",
        "hearth://model/../tiny",
        "hearth://model/ada/..",
        "hearth://model/ada/a--b",
        "hearth://model/ada/tiny.git",
        "hearth://user@model/ada/tiny",
        "hearth://model:80/ada/tiny",
        "hearth://model/ada/tiny\n",
        "hearth://model/ada/tiny --data-dir /",
        "hearth://model/https://huggingface.co/ada/tiny",
        "hearth://model/äda/tiny",
        "hearth:///etc/passwd",
        "hearth:--data-dir=/tmp",
        f"hearth://model/ada/{'x' * 300}",
        "hearth://\x1b[31m",
        "",
        "https://huggingface.co/ada/tiny",
    ],
)
def test_anything_else_is_refused_with_a_sentence(link: str) -> None:
    with pytest.raises(LinkInvalid) as refused:
        linked_model(link)
    assert refused.value.why
    assert "hearth://model/OWNER/NAME" in refused.value.do
    assert refused.value.what.isprintable()
    assert len(refused.value.what) < 120


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("/a b/c.gguf", "/a b/c.gguf"),
        ("file:///a%20b/%C3%BC.gguf", "/a b/ü.gguf"),
        ("FILE://localhost/a.txt", "/a.txt"),
        ("file://elsewhere/a.txt", "file://elsewhere/a.txt"),
        ("files.txt", "files.txt"),
    ],
)
def test_a_file_may_be_named_by_its_address(word: str, path: str) -> None:
    assert path_of(word) == path
    assert not is_link(word)
