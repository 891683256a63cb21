"""The names and addresses by which people refer to a model on the Hub."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.base.errors import HubNameInvalid
from app.models.hub.values.names import HubName, hub_name, is_hub_name, is_repo, is_safe_path

GOOD = {
    "owner/name": HubName("owner/name"),
    " ada/Small-1.5B_it-GGUF ": HubName("ada/Small-1.5B_it-GGUF"),
    "owner/name:Q4_K_M": HubName("owner/name", "Q4_K_M"),
    "hf.co/owner/name:UD-Q4_K_XL": HubName("owner/name", "UD-Q4_K_XL"),
    "owner/name/file.gguf": HubName("owner/name", None, "file.gguf"),
    "owner/name/BF16/a-00001-of-00002.gguf": HubName(
        "owner/name", None, "BF16/a-00001-of-00002.gguf"
    ),
    "https://huggingface.co/owner/name": HubName("owner/name"),
    "HTTPS://huggingface.co/owner/name/": HubName("owner/name"),
    "huggingface.co/owner/name/tree/main": HubName("owner/name", None, None, "main"),
    "https://huggingface.co/owner/name/tree/main/BF16": HubName("owner/name", None, None, "main"),
    "https://huggingface.co/owner/name/blob/v1/a/b.gguf": HubName(
        "owner/name", None, "a/b.gguf", "v1"
    ),
    "https://huggingface.co/owner/name/resolve/main/b%20c.gguf?download=true": HubName(
        "owner/name", None, "b c.gguf", "main"
    ),
    "https://huggingface.co/owner/name?show_file_info=b.gguf": HubName(
        "owner/name", None, "b.gguf"
    ),
    "https://huggingface.co/owner/name/discussions/3": HubName("owner/name"),
}


@pytest.mark.parametrize(("text", "name"), GOOD.items())
def test_what_is_understood(text: str, name: HubName) -> None:
    assert hub_name(text) == name
    assert is_hub_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "owner/",
        "/name",
        "owner/name:",
        "owner/name:Q4 K",
        "owner/name:../x",
        "owner/name/file.bin",
        "owner/name/../../etc/passwd.gguf",
        "owner/name/a\\b.gguf",
        "owner/na--me",
        "owner/na..me",
        "own er/name",
        "-owner/name",
        "owner/name.",
        f"owner/{'x' * 100}",
        "https://example.com/owner/name",
        "https://huggingface.co.example.com/owner/name",
        "https://huggingface.co@example.com/owner/name",
        "https://huggingface.co/owner",
        "https://huggingface.co/datasets/owner/name",
        "https://huggingface.co/owner/name/blob/main/..%2F..%2Fx.gguf",
        "ftp://huggingface.co/owner/name",
    ],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(HubNameInvalid) as caught:
        hub_name(text)
    assert "owner/name" in caught.value.do


def test_a_mirror_is_the_hub_where_it_is_named() -> None:
    text = "http://127.0.0.1:4000/owner/name"
    with pytest.raises(HubNameInvalid):
        hub_name(text)
    assert hub_name(text, ["127.0.0.1:4000"]) == HubName("owner/name")


@pytest.mark.parametrize(
    "text", ["./owner/name", "~/a/b", "/tmp/x.gguf", "starter", "a\\b", "C:/models/x.gguf"]
)
def test_paths_and_ids_are_no_names_of_the_hub(text: str) -> None:
    assert not is_hub_name(text)


def test_a_wrong_address_is_told_by_its_own_error() -> None:
    assert is_hub_name("https://example.com/owner/name")


@pytest.mark.parametrize(
    "path",
    ["a.gguf", "Q4/a-00001-of-00002.gguf", "ünï code/模型.gguf", "a+b (1).gguf", ".gitignore"],
)
def test_safe_paths(path: str) -> None:
    assert is_safe_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "", "/a", "../a", "a/../b", "a//b", "a/./b", "a\\b", "C:a", "a\0b", "a\nb", "a/",
        "con.gguf", "a/NUL", "a./b", "a /b", "x" * 300, "\u202egpj.gguf",
    ],
)  # fmt: skip
def test_paths_that_lead_astray(path: str) -> None:
    assert not is_safe_path(path)


@given(st.text(max_size=60))
def test_no_text_is_a_repository_that_leads_out_of_a_folder(text: str) -> None:
    try:
        name = hub_name(text)
    except HubNameInvalid:
        return
    assert is_repo(name.repo)
    assert name.repo.count("/") == 1
    assert ".." not in name.repo
    assert name.file is None or is_safe_path(name.file)
