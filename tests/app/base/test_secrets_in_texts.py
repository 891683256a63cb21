"""Keeping keys out of logs, reports and lookups when a host repeats them in an error."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from app.base.folder import DataFolder
from app.base.reports import describe, keep_log, log_file
from app.base.secret import Secret
from app.models.hub.client import Hub
from app.net import Gate
from tests.app.net.conftest import Reply, Server, gate, kept, offline, server

__all__ = ["gate", "kept", "offline", "server"]

TOKEN = "hf_0123456789abcdef"


def test_the_log_holds_no_secret(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path / "data")
    data_folder.prepare()
    Secret(TOKEN)
    with keep_log(data_folder):
        logging.getLogger("some").warning("The host said: %s", f"Bearer {TOKEN}")
        try:
            raise ValueError(TOKEN)
        except ValueError:
            logging.getLogger("some").exception("it failed")
    text = log_file(data_folder).read_text(encoding="utf-8")
    assert "Bearer [hidden]" in text
    assert TOKEN not in text


def test_a_report_holds_no_secret() -> None:
    Secret(TOKEN)
    text = describe(ValueError(f"no {TOKEN}"))
    assert "no [hidden]" in text
    assert TOKEN not in text


def test_what_the_hub_says_back_is_hidden(
    gate: Gate, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    body = json.dumps({"name": f"täglich 😀 {TOKEN}"}, ensure_ascii=False).encode()
    server.replies["/api/whoami-v2"] = Reply(body)
    Secret(TOKEN)
    assert Hub(gate, lambda: None).account_of(TOKEN) == "täglich 😀 [hidden]"
