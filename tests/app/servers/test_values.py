"""Addresses and names of servers."""

from __future__ import annotations

import pytest

from app.servers.values import ServerProfile, origin_of, short_name


@pytest.mark.parametrize(
    ("model", "short"),
    [
        ("/srv/models/gemma-3-12b-it-Q4_K_M.gguf", "gemma-3-12b-it-Q4_K_M"),
        (r"C:\models\qwen.GGUF", "qwen"),
        ("./models/qwen.gguf", "qwen"),
        ("gemma.gguf", "gemma"),
        ("google/gemma-3-12b-it", "google/gemma-3-12b-it"),
        ("llama3.2:1b", "llama3.2:1b"),
        ("/models/checkpoint/", "checkpoint"),
        ("/", "/"),
        (".gguf", ".gguf"),
    ],
)
def test_a_models_file_is_called_by_its_last_part(model: str, short: str) -> None:
    assert short_name(model) == short


def test_a_place_is_scheme_host_and_port() -> None:
    assert origin_of("https://Box.example/v2") == origin_of("https://box.example:443")
    others = {"http://box", "https://box", "http://box:8080", "http://box2", "http://[::1]"}
    assert len({origin_of(it) for it in others}) == len(others)


def test_a_key_is_kept_for_one_place() -> None:
    here, there = (ServerProfile("id", "team", it) for it in ("http://a", "http://b"))
    assert here.secret != there.secret
