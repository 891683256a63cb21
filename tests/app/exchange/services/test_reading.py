"""Reading files, folders and archives of other programs, whole and damaged."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.chats.history.values.conversation import path_to
from app.exchange.services import documents
from app.exchange.services.reading import read_files
from app.exchange.values.found import FileFound
from app.exchange.values.recognise import DAMAGED
from app.exchange.values.report import report_text, reports
from app.exchange.values.thread import TOOLS
from engines.cancel import CancelToken
from tests.support.foreign_chats import (
    chatgpt_chat,
    gpt4all_chat,
    lm_studio_chat,
    open_webui_chat,
    write_jan,
    write_ollama,
)


def read(*paths: Path) -> list[FileFound]:
    return list(read_files(paths, CancelToken()))


def titles(found: FileFound) -> list[str]:
    return sorted(chat.chat.title for chat in found.chats)


def zipped(path: Path, **members: bytes | str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return path


def test_an_export_of_chatgpt_is_read_in_its_archive(tmp_path: Path) -> None:
    chats = json.dumps([chatgpt_chat("a", "One"), chatgpt_chat("b", "Two")])
    path = zipped(
        tmp_path / "export.bin", conversations__json=chats, user__json="{}", cat__png=b"\x89PNG"
    )
    (found,) = read(path)
    assert (titles(found), found.not_read) == (["One", "Two"], ())


def test_a_name_in_an_archive_leads_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "in" / "export.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil.json", json.dumps([chatgpt_chat()]))
        archive.writestr("/evil.json", json.dumps([chatgpt_chat("b", "Two")]))
    (found,) = read(path)
    assert titles(found) == ["Bread", "Two"]
    assert [it.name for it in tmp_path.rglob("*")] == ["in", "export.zip"]


def test_a_bomb_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_BYTES", 1_000_000)
    good = json.dumps([chatgpt_chat()])
    path = zipped(tmp_path / "bomb.zip", good__json=good, bomb__json="[" + " " * 50_000_000)
    (found,) = read(path)
    assert titles(found) == ["Bread"]
    assert [(it.what, "larger" in it.why) for it in found.not_read] == [("bomb.json", True)]


def test_an_archive_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    many = json.dumps([chatgpt_chat(str(number), f"Chat {number}") for number in range(200)])
    path = zipped(tmp_path / "export.zip", first__json="{}", conversations__json=many)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (found,) = read(path)
    assert 10 < len(found.chats) < 200
    assert any("breaks off" in it.why for it in found.not_read)
    path.write_bytes(b"PK\x03\x04 and nothing more")
    assert [it.chats for it in read(path)] == [()]


def test_jan_is_read_old_and_new_whole_and_in_parts(tmp_path: Path) -> None:
    old, new = write_jan(tmp_path, new=False), write_jan(tmp_path, new=True)
    (found,) = read(tmp_path)
    assert titles(found) == ["New Jan", "Old Jan"]
    for chat in found.chats:
        question, answer = chat.messages
        assert (question.text, answer.text) == ("A riddle?", "A hint.")
        assert (question.created, answer.created) == (1_700_000_001, 1_700_000_002)
        assert chat.chat.settings == {"system_prompt": "Be brief."}
        assert answer.reasoning == ("Let me see." if chat.chat.title == "New Jan" else "")
    (alone,) = read(new / "thread.json")
    (other,) = read(new / "messages.jsonl")
    ids = [found.chats[0].chat.id for found in (alone, other)]
    assert ids[0] == ids[1]
    with (old / "messages.jsonl").open("a") as file:
        file.write('{"thread_id": "jan_17000')
    (found,) = read(old)
    assert [len(it.messages) for it in found.chats] == [2]
    (damage,) = found.not_read
    assert damage.partly
    assert "Old Jan" in damage.what
    assert damage.why == "1 message is damaged or missing."


def test_numbered_files_of_a_newer_export_of_chatgpt_are_one_export(tmp_path: Path) -> None:
    first, second = json.dumps([chatgpt_chat("a", "One")]), json.dumps([chatgpt_chat("b", "Two")])
    wrapped = json.dumps({"conversations": [chatgpt_chat("c", "Three")]})
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (
            ("conversations-000.json", first),
            ("conversations-001.json", second),
            ("conversations-002.json", wrapped),
            ("user.json", '{"id": "user-1", "email": "a@b.org"}'),
            ("user_settings.json", '[{"theme": "dark"}]'),
            ("export_manifest.json", '{"files": [{"path": "user.json", "size": 12}]}'),
            ("message_feedback.json", '[{"id": "m", "conversation_id": "a", "rating": "good"}]'),
            ("shared_conversations.json", '[{"id": "s", "conversation_id": "a", "title": "One"}]'),
            ("group_chats.json", '{"chats": []}'),
            ("shopping.json", "[]"),
            ("sora.json", "{}"),
            ("chat.html", "<html>" + first),
        ):
            archive.writestr(name, text)
    (found,) = read(path)
    assert (titles(found), found.not_read) == (["One", "Three", "Two"], ())


def jan_messages(folder: Path, *messages: dict[str, object]) -> Path:
    thread = write_jan(folder, new=True)
    texts = [
        json.dumps(
            {
                "thread_id": thread.name,
                "content": [{"type": "text", "text": {"value": it["id"], "annotations": []}}],
                "created_at": 1_700_000_000 + place,
                **it,
            }
        )
        for place, it in enumerate(messages)
    ]
    (thread / "messages.jsonl").write_text("\n".join(texts))
    return thread


def test_versions_of_messages_in_jan_are_kept_and_the_chosen_one_shown(tmp_path: Path) -> None:
    thread = jan_messages(
        tmp_path,
        {"id": "q", "role": "user", "metadata": {"parentId": None, "activeChildId": "a1"}},
        {"id": "a1", "role": "assistant", "metadata": {"parentId": "q"}},
        {"id": "a2", "role": "assistant", "metadata": {"parentId": "q"}},
        {"id": "q2", "role": "user", "metadata": {"parentId": "a1"}},
        {"id": "lost", "role": "assistant", "metadata": {"parentId": None}},
    )
    (found,) = read(thread)
    (chat,) = found.chats
    shown = path_to(chat.messages, chat.chat.leaf_id)
    assert [it.text for it in shown] == ["q", "a1", "q2", "lost"]
    assert len(chat.messages) == 5


def test_a_message_of_jan_with_a_large_picture_or_a_damaged_first_line(tmp_path: Path) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 300_000}}
    call = {"type": "tool_call", "tool_call_id": "c", "tool_name": "look"}
    files = {"inline_file_contents": [{"name": "a.txt", "content": "x"}]}
    thread = jan_messages(
        tmp_path,
        {"id": "q", "role": "user", "content": [picture], "metadata": files},
        {"id": "a", "role": "assistant", "content": [call, {"type": "text", "text": "So."}]},
    )
    (found,) = read(thread / "messages.jsonl")
    (chat,) = found.chats
    assert [it.text for it in chat.messages] == [
        "*A file was here: a.txt.*\n\n*A picture was here.*", "So.",
    ]  # fmt: skip
    assert chat.left_out == {TOOLS: 1}
    path = thread / "messages.jsonl"
    path.write_text('{"thread_id": "01J\n' + path.read_text())
    (found,) = read(path)
    assert [len(it.messages) for it in found.chats] == [2]
    assert found.chats[0].left_out == {TOOLS: 1}
    (damage,) = found.not_read
    assert damage.partly
    assert damage.why.startswith("1 message is damaged or missing.")


def test_a_database_of_another_program_is_borne(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE chats (id)")
        db.execute("CREATE TABLE messages (id, chat_id, role, content)")
        db.execute("INSERT INTO chats VALUES ('c')")
        db.execute("INSERT INTO messages VALUES (1, 'c', 'user', 'Hello.')")
        db.commit()
    (found,) = read(path)
    assert [it.messages[0].text for it in found.chats] == ["Hello."]


def test_what_is_damaged_in_a_database_costs_only_itself(tmp_path: Path) -> None:
    path = write_ollama(tmp_path / "db.sqlite")
    insert = "INSERT INTO messages (chat_id, role, content) VALUES ('0199', 'user', "
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO chats VALUES ('0199', 'Torn', '2025-08-01 10:00:00', NULL)")
        db.execute(insert + "CAST(x'ff61' AS TEXT))")
        db.commit()
        (found,) = read(path)
        assert titles(found) == ["Tides", "Torn"]
        assert [it.messages[0].text for it in found.chats if it.chat.title == "Torn"] == ["\ufffda"]
        db.executemany(insert + "?)", [("x" * 3000,)] * 100)
        db.commit()
    path.write_bytes(path.read_bytes()[:-200_000])
    (found,) = read(path)
    assert titles(found) == ["Tides"]
    assert [it.why for it in found.not_read] == [
        "The database cannot be read: database disk image is malformed."
    ]


def test_an_archive_that_lies_of_itself_is_borne(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "export.zip", chats__json=json.dumps([chatgpt_chat()])).read_bytes()
    listed = whole.rindex(b"PK\x01\x02")
    for place, value in ((6, 0xFF), (8, 0x08), (46, 0xFF), (10, 99)):
        data = bytearray(whole)
        data[listed + place] = value
        if place == 8:
            data[listed + 9], data[listed + 46] = 0x08, 0xFF
        (tmp_path / "export.zip").write_bytes(data)
        (found,) = read(tmp_path / "export.zip")
        assert found.chats or found.not_read


def test_ollama_is_read_in_its_place_and_in_an_archive(tmp_path: Path) -> None:
    path = write_ollama(tmp_path / "db.sqlite")
    before = path.read_bytes()
    packed = zipped(tmp_path / "ollama.zip", db__sqlite=before)
    for found in read(path, packed):
        (chat,) = found.chats
        question, answer = chat.messages
        assert question.text == "*A file was here: sea.txt.*\n\nWhat is a tide?"
        assert (answer.text, answer.reasoning, answer.reasoning_s) == (
            "The sea, moved.", "The moon.", 3.0,
        )  # fmt: skip
        assert chat.chat.created == 1754035200.5
        assert (chat.chat.title, answer.parent_id) == ("Tides", question.id)
    assert path.read_bytes() == before
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE chats (id)")
    (other,) = read(tmp_path / "other.db")
    assert "not one of the Ollama app" in other.not_read[0].why
    path.write_bytes(before[:6000])
    (torn,) = read(path)
    assert torn.not_read


def test_a_folder_with_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(lm_studio_chat()))
    (tmp_path / "b.chat").write_bytes(gpt4all_chat())
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "d.json").write_text("\ufeff" + json.dumps([open_webui_chat()]))
    (tmp_path / "c" / "notes.txt").write_text("nothing")
    (tmp_path / "c" / "broken.chat").write_bytes(gpt4all_chat()[:40])
    (tmp_path / "c" / "loop").symlink_to(tmp_path)
    (tmp_path / "c" / "e.json").write_text(json.dumps([{"mapping": {}, "title": "Gone"}]))
    (tmp_path / "c" / "f.json").write_text("{no JSON")
    (found,) = read(tmp_path)
    assert titles(found) == ["A cat", "Fish soup", "Numbers"]
    assert [(it.what, it.why) for it in found.not_read] == [
        ("c/broken.chat", "The file ends too early."),
        ("c/e.json: “Gone”", "It has no messages."),
        ("c/f.json", DAMAGED),
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_a_pipe_is_not_waited_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dead").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a.json").write_text(json.dumps([chatgpt_chat()]))
    folder, pipe = read(tmp_path, tmp_path / "pipe")
    assert (titles(folder), folder.not_read) == (["Bread"], ())
    assert [it.why for it in pipe.not_read] == ["It is neither a file nor a folder."]
    assert not documents.looks_like_chats(tmp_path / "pipe")


def test_a_report_says_what_was_read_and_what_not(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    empty = {**chatgpt_chat("e", "Empty"), "mapping": {"x": {"message": None}}}
    good.write_text(json.dumps([chatgpt_chat(), empty]))
    bad.write_text("no export")
    files = read(good, bad, tmp_path / "gone.json")
    assert report_text(reports(files, {}), done=True) == (
        "good.json\nImported: 1 chat with 4 messages from ChatGPT.\nLeft out, because "
        "Hearth does not support it: calls and results of tools (2).\nNot read: 1.\n  "
        "“Empty”: It has no messages.\n\nbad.json\nNot read: 1.\n  bad.json: It contains "
        "no chats that Hearth can read.\n\ngone.json\nNot read: 1.\n  gone.json: The "
        "system says: No such file or directory."
    )
    chat_id = files[0].chats[0].chat.id
    assert "Already here: 1 chat." in report_text(reports(files, {chat_id: False}), done=False)
    assert "Restored from the trash: 1 chat." in report_text(
        reports(files, {chat_id: True}), done=False
    )


def test_a_cancelled_look_reads_no_further(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    assert list(read_files([tmp_path], cancel)) == []


def with_holes() -> dict[str, bytes]:
    """Return chats of LM Studio with the gaps that a crash leaves, by file name."""
    third = {"versions": [{"type": "singleStep", "role": "user", "content": "And a dog?"}]}
    chats: dict[str, dict[str, Any]] = {}
    for name in (
        "whole", "null message", "no versions", "empty versions", "null version", "null content",
        "no role", "null step", "no text", "null messages", "no messages", "empty messages",
        "only holes", "no choice",
    ):  # fmt: skip
        chat = lm_studio_chat() | {"name": name, "createdAt": 1_700_000_000_000 + len(chats)}
        chat["messages"].append({**third, "currentlySelected": 0})
        chats[name] = chat
    first = {name: chat["messages"][0] for name, chat in chats.items()}
    second = {name: chat["messages"][1] for name, chat in chats.items()}
    chats["null message"]["messages"][1] = None
    del first["no versions"]["versions"]
    second["empty versions"]["versions"] = []
    second["null version"]["versions"][0] = None
    first["null content"]["versions"][0]["content"] = None
    del first["no role"]["versions"][0]["role"]
    second["null step"]["versions"][0]["steps"][1] = None
    first["no text"]["versions"][0]["content"][1]["text"] = None
    chats["null messages"]["messages"] = None
    del chats["no messages"]["messages"]
    chats["empty messages"]["messages"] = []
    chats["only holes"]["messages"] = [None, {}, "?"]
    del second["no choice"]["currentlySelected"]
    files = {name: json.dumps(chat).encode() for name, chat in chats.items()}
    whole = files["whole"].replace(b"1700000000000", b"1700000000999")
    files |= {
        "cut": whole[:-40], "beginning lost": whole[40:], "empty": b"", "zeros": b"\0" * 900,
        "nothing": b"{}", "null": b"null", "list": b"[]", "text": b"no chat",
    }  # fmt: skip
    return {f"{name}.conversation.json": data for name, data in files.items()}


def test_each_chat_with_holes_is_read_or_named(tmp_path: Path) -> None:
    files = with_holes()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (found,) = read(tmp_path)
    named = {
        name: [it for it in found.not_read if it.what.startswith(name)] for name in files
    }  # grouped by file
    silent = {name.partition(".")[0] for name, lines in named.items() if not lines}
    assert silent == {"whole", "no choice"}
    assert titles(found) == [
        "empty versions", "no choice", "no role", "no text", "no versions", "null content",
        "null message", "null step", "null version", "whole",
    ]  # fmt: skip
    for chat in found.chats:
        for line in named[f"{chat.chat.title}.conversation.json"]:
            assert (line.why, line.partly) == ("1 message is damaged or missing.", True)
        shown = [it.text for it in path_to(chat.messages, chat.chat.leaf_id)]
        assert "And a dog?" in shown[-1], "what follows a hole is shown"
    assert {it.why for it in found.not_read if not it.partly} == {
        DAMAGED,
        "It has no messages.",
        "Its list of messages is missing or damaged.",
        "It contains no chats that Hearth can read.",
        "It is empty.",
        "It is damaged: it begins with zeros.",
    }
    said = report_text(reports([found], {}), done=True)
    assert all(name in said for name in files if name.partition(".")[0] not in silent)
    packed = zipped(tmp_path / "all.zip", **{it.replace(".", "__"): x for it, x in files.items()})
    (again,) = read(packed)
    assert set(again.not_read) == set(found.not_read)


def test_a_hole_in_a_tree_of_chatgpt_does_not_part_it(tmp_path: Path) -> None:
    chat = chatgpt_chat("a", "One")
    whole = json.dumps([chat])
    (tmp_path / "conversations.json").write_text(whole)
    ((before,), none) = (found := read(tmp_path)[0]).chats, found.not_read
    assert none == ()
    shown = [it.id for it in path_to(before.messages, before.chat.leaf_id)]
    nodes = [it for it in chat["mapping"].values() if (it.get("message") or {}).get("author")]
    gone = next(it["id"] for it in nodes if it["message"]["author"]["role"] == "user")
    for hole in (None, {}, {"id": gone, "parent": None, "message": {}}, "missing"):
        chat = chatgpt_chat("a", "One")
        if hole == "missing":
            del chat["mapping"][gone]
        else:
            chat["mapping"][gone] = hole
        (tmp_path / "conversations.json").write_text(json.dumps([chat]))
        (found,) = read(tmp_path)
        (line,) = found.not_read
        assert (line.what, line.partly) == ("conversations.json: “One”", True), hole
        assert "damaged or missing" in line.why
        assert len(shown) > 1


def test_a_hole_in_other_formats_is_named(tmp_path: Path) -> None:
    web = open_webui_chat()
    messages = web["chat"]["history"]["messages"]
    del messages[next(it for it, value in messages.items() if value.get("parentId"))]
    (tmp_path / "chat-export-1.json").write_text(json.dumps([web]))
    database = write_ollama(tmp_path / "db.sqlite")
    with closing(sqlite3.connect(database)) as db:
        db.execute("INSERT INTO messages (chat_id, role, content) VALUES ('gone', 'user', 'x')")
        db.commit()
    jan = write_jan(tmp_path, new=True)
    (jan / "thread.json").write_text("")
    lone = write_jan(tmp_path / "lone", new=True)
    (lone / "messages.jsonl").unlink()
    (found,) = read(tmp_path)
    lines = {it.what: it.why for it in found.not_read}
    told_of = " ".join(f"{what}: {why}" for what, why in lines.items())
    assert "chat-export-1.json" in told_of
    assert lines["db.sqlite"] == "1 of its messages belong to no chat."
    assert any("thread.json, which has the title, is missing" in why for why in lines.values())
    assert "Its messages.jsonl is missing or empty." in lines.values()


def test_what_is_no_chat_is_passed_over_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.conversation.json").write_text(json.dumps(lm_studio_chat()))
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    (tmp_path / "inner.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "link.json").symlink_to(tmp_path / "a.conversation.json")
    (found,) = read(tmp_path)
    assert [it.what for it in found.not_read] == ["link.json", "other.json"]
    said = report_text(reports([found], {}), done=True)
    assert "Passed over: photo.png. It contains no chats that Hearth can read." in said
    assert "Passed over: inner.zip. It is an archive; import it by itself." in said
