"""`hearth chats` in the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.base.folder import DataFolder
from app.cli.main import main
from app.wiring.app import App, open_app
from engines.cancel import CancelToken


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["chats", *words]) == 0
    return capsys.readouterr().out


def value(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(said(capsys, *words, "--json"))


def with_core(change: Callable[[App], object]) -> Any:
    app = open_app(DataFolder.default())
    try:
        return change(app)
    finally:
        app.close()


def answered(app: App, question: str, text: str) -> str:
    _, answer = app.chats.ask(None, question)
    app.chats.save_answer(replace(answer, text=text, state="complete"))
    return answer.chat_id


@pytest.fixture
def ids() -> list[str]:
    def write(app: App) -> list[str]:
        return [answered(app, it, f"about {it}, a needle") for it in ("apples", "pears")]

    return list(with_core(write))


def test_search_says_where_the_words_stand(
    ids: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = value(capsys, "search", "apple", "--limit", "5")
    assert [chat["id"] for chat in found] == [ids[0]]
    title, message = found[0]["hits"]
    assert (title["message_id"], title["snippet"]) == (None, "apples")
    assert message["snippet"] == "about apples, a needle"
    assert message["marks"] == [[6, 11]]
    assert "about pears, a needle" in said(capsys, "search", "needle", "pear")
    assert value(capsys, "search", "wolf") == []
    assert value(capsys, "search", 'NEAR("') == []


def test_a_chat_is_put_away_and_back(ids: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def listed(place: str) -> list[str]:
        return [chat["title"] for chat in value(capsys, "list", "--place", place)]

    assert value(capsys, "archive", ids[0][:8]) == {"archived": ids[0]}
    assert (listed("archive"), listed("all")) == (["apples"], ["pears", "apples"])
    assert "out of the archive" in said(capsys, "unarchive", ids[0])
    assert value(capsys, "rm", ids[0]) == {"removed": ids[0]}
    assert (listed("archive"), listed("trash"), listed("all")) == ([], ["apples"], ["pears"])
    assert value(capsys, "undelete", ids[0][:8]) == {"undeleted": ids[0]}
    assert (listed("trash"), listed("all")) == ([], ["pears", "apples"])
    assert main(["chats", "undelete", ids[0], "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "chat_not_found"


def test_a_daily_copy_is_put_back(
    ids: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert value(capsys, "restore", "list") == []
    now = datetime(2026, 3, 1, tzinfo=UTC)
    path = with_core(lambda app: app.snapshots.take(now, 7, CancelToken()))
    with_core(lambda app: app.chats.ask(None, "later"))
    (listed,) = value(capsys, "restore", "list")
    assert listed["path"] == str(path)
    kept = value(capsys, "restore", path.name)["kept"]
    assert [chat["title"] for chat in value(capsys, "list")] == ["pears", "apples"]
    assert [chat["title"] for chat in value(capsys, "search", "needle")] == ["pears", "apples"]
    assert Path(kept).name in said(capsys, "restore", "list")
    said(capsys, "restore", kept)
    assert len(value(capsys, "list")) == 3
    assert main(["chats", "restore", str(tmp_path / "nothing.db"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "snapshot"
