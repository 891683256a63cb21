"""A command of Windows as one inside WSL2."""

from __future__ import annotations

from engines.vllm.provision.wsl import inside


def test_words_pass_through_no_shell() -> None:
    assert inside("Ubuntu 24.04", ["ls", "a b", "$HOME"]) == [
        "wsl.exe", "--distribution", "Ubuntu 24.04", "--exec", "ls", "a b", "$HOME",
    ]  # fmt: skip
