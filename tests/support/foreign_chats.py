"""Small exports of other programs, in the formats of those programs."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QDataStream, QIODevice

BEGUN = 1_700_000_000


def chatgpt_node(
    name: str, parent: str | None, role: str, parts: list[Any], **more: Any
) -> dict[str, Any]:
    content = more.pop("content", {"content_type": "text", "parts": parts})
    metadata = more.pop("metadata", {"model_slug": "gpt-4o"} if role == "assistant" else {})
    message = {
        "id": name,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": more.pop("create_time", BEGUN + len(name)),
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": metadata,
        "recipient": "all",
        **more,
    }
    return {"id": name, "message": message, "parent": parent, "children": []}


def chatgpt_chat(name: str = "gpt-1", title: str = "Bread") -> dict[str, Any]:
    """Return a question that was asked in two ways, with a picture, reasoning and a search.

    It has the fields of the `conversations.json` that ChatGPT sent its users in 2025.
    """
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["sys"]},
        chatgpt_node(
            "sys", "root", "system", [""], metadata={"is_visually_hidden_from_conversation": True}
        ),
        chatgpt_node("q1", "sys", "user", ["How is bread made?"], create_time=BEGUN + 1.5),
        chatgpt_node(
            "thought", "q1", "assistant", [],
            content={
                "content_type": "thoughts",
                "thoughts": [{"summary": "Baking", "content": "Flour and water."}],
            },
        ),
        chatgpt_node(
            "search", "thought", "assistant", [],
            content={"content_type": "code", "language": "unknown", "text": "search('bread')"},
            recipient="browser",
        ),
        chatgpt_node("found", "search", "tool", ["42 pages"]),
        chatgpt_node("a1", "found", "assistant", ["Flour, water, salt."]),
        chatgpt_node(
            "q2", "sys", "user", [],
            content={
                "content_type": "multimodal_text",
                "parts": [
                    {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
                    "What bread is this?",
                ],
            },
        ),
        chatgpt_node("a2", "q2", "assistant", ["Rye."]),
    ]  # fmt: skip
    return {
        "title": title,
        "create_time": BEGUN + 0.25,
        "update_time": BEGUN + 60.5,
        "mapping": {node["id"]: node for node in nodes},
        "current_node": "a1",
        "conversation_id": name,
        "default_model_slug": "gpt-4o",
        "is_archived": False,
    }


def lm_studio_chat() -> dict[str, Any]:
    """Return two versions of an answer with reasoning, the first of them selected.

    It has the fields of a `….conversation.json` of LM Studio 0.3.
    """

    def answer(thought: str, text: str) -> dict[str, Any]:
        def block(told: str, **style: Any) -> dict[str, Any]:
            return {
                "type": "contentBlock",
                "stepIdentifier": "1-2",
                "content": [{"type": "text", "text": told}],
                "genInfo": {"identifier": "qwen3-4b", "stats": {"stopReason": "eosFound"}},
                **style,
            }

        thinking = block(thought, style={"type": "thinking", "ended": True})
        steps = [thinking, block(text), {"type": "debugInfoBlock", "debugInfo": "x"}]
        return {"type": "multiStep", "role": "assistant", "steps": steps}

    question = {
        "type": "singleStep",
        "role": "user",
        "content": [
            {"type": "file", "fileIdentifier": "17-cat.png", "fileType": "image"},
            {"type": "text", "text": "What is this?"},
        ],
    }
    return {
        "name": "A cat",
        "pinned": False,
        "createdAt": BEGUN * 1000 + 123,
        "systemPrompt": "",
        "usePerChatPredictionConfig": True,
        "perChatPredictionConfig": {
            "fields": [{"key": "llm.prediction.systemPrompt", "value": "Answer like a sailor."}]
        },
        "lastUsedModel": {"identifier": "qwen3-4b"},
        "messages": [
            {"versions": [question], "currentlySelected": 0},
            {
                "versions": [answer("Whiskers.", "A cat."), answer("Ears.", "A lynx.")],
                "currentlySelected": 0,
            },
        ],
    }


def open_webui_chat() -> dict[str, Any]:
    """Return a fork, reasoning in the text and a rating, as “Export chats” writes them."""
    thought = (
        '<details type="reasoning" done="true" duration="5">\n'
        "<summary>Thought for 5 seconds</summary>\n&gt; 2 &lt; 3\n&gt; so yes\n</details>\nYes."
    )

    def message(name: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
        return {
            "id": name, "parentId": parent, "childrenIds": [], "role": role, "content": text,
            "timestamp": BEGUN + 5, **more,
        }  # fmt: skip

    messages = [
        message("m1", None, "user", "Is 2 less than 3?"),
        message("m2", "m1", "assistant", thought, model="llama3:8b", modelName="Llama 3"),
        message("m3", "m1", "assistant", "No.", model="phi:2", annotation={"rating": -1}),
    ]
    return {
        "id": "9c1e",
        "user_id": "u",
        "title": "Numbers",
        "chat": {
            "title": "Numbers",
            "models": ["llama3:8b"],
            "params": {"system": "Be exact."},
            "history": {"messages": {it["id"]: it for it in messages}, "currentId": "m2"},
            "messages": [],
            "timestamp": BEGUN * 1000,
        },
        "updated_at": BEGUN + 90,
        "created_at": BEGUN,
        "archived": True,
        "pinned": False,
    }


def write_jan(folder: Path, *, new: bool) -> Path:
    """Write a thread of Jan.

    Args:
        folder: The folder for the thread.
        new: True for version 0.6 and later, with times in seconds; False for 0.5, in milliseconds.
    """
    thread = folder / ("01J9ZK" if new else "jan_1700000000")
    thread.mkdir(parents=True)
    unit = 1 if new else 1000
    head: dict[str, Any] = {
        "id": thread.name,
        "object": "thread",
        "title": "New Jan" if new else "Old Jan",
        "assistants": [
            {
                "assistant_id": "jan",
                "assistant_name": "Jan",
                "model": {"id": "llama3.2-3b", "settings": {}, "parameters": {}},
                "instructions": "Be brief.",
            }
        ],
        "created": BEGUN * unit,
        "updated": (BEGUN + 7) * unit,
        "metadata": {},
    }

    def message(name: str, role: str, *content: dict[str, Any]) -> str:
        value = {
            "id": name,
            "object": "thread.message",
            "thread_id": thread.name,
            "role": role,
            "content": content,
            "status": "ready",
            "created_at": (BEGUN + len(name)) * unit,
            "completed_at": BEGUN * unit,
            "metadata": {},
        }
        return json.dumps(value)

    def text(told: str, kind: str = "text") -> dict[str, Any]:
        return {"type": kind, "text": {"value": told, "annotations": []}}

    answer = (text("A hint."),) if not new else (text("Let me see.", "reasoning"), text("A hint."))
    lines = [message("a", "user", text("A riddle?")), message("ab", "assistant", *answer)]
    (thread / "thread.json").write_text(json.dumps(head, indent=2), encoding="utf-8")
    (thread / "messages.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return thread


def gpt4all_chat(version: int = 12) -> bytes:
    """Write a chat with Qt itself, in the order of `Chat`, `ChatLLM` and `ChatItem::serialize`.

    They are in gpt4all-chat/src/{chat,chatllm,chatmodel,chatlistmodel}.cpp of nomic-ai/gpt4all.
    """
    data = QByteArray()
    out = QDataStream(data, QIODevice.OpenModeFlag.WriteOnly)
    out.setVersion(QDataStream.Version.Qt_6_2.value)
    if version:
        out.writeUInt32(0xF5D553CC)
        out.writeInt32(version)
    out.writeInt64(BEGUN)
    for text in ("ab12-cd34", "Fish soup", "", "mistral-7b"):
        out.writeQString(text)
    if version >= 3:
        out.writeQStringList(["my papers"])
    if version < 11:
        _write_state(out, version)
    out.writeInt32(2)
    _write_item(out, version, "Prompt: ", "How is fish soup made?")
    _write_item(out, version, "Response: ", "Slowly.")
    return bytes(data.data())


def _write_state(out: QDataStream, version: int) -> None:
    if version >= 6:
        out.writeBool(True)
    if version >= 2:
        out.writeInt32(1)
        out.writeInt32(0)
    out.writeQString("an answer")
    out.writeQString("a name")
    out.writeUInt32(17)
    if version < 4:
        out.writeUInt32(3)
    out.writeUInt32(5)
    if version >= 7:
        out.writeUInt32(2048)
    if version < 9:
        out.writeUInt64(2)
        out.writeRawData(b"\1" * 8)
    out.writeUInt64(3)
    out.writeRawData(b"\2" * 12)
    out << QByteArray(b"state of the model")


def _write_item(out: QDataStream, version: int, name: str, text: str) -> None:
    is_answer = name == "Response: "
    if version < 12:
        out.writeInt32(0)
    out.writeQString(name)
    out.writeQString(text)
    if version < 10:
        out.writeQString("a prompt")
    out.writeQString("")
    for flag in (False, is_answer, is_answer, False):
        out.writeBool(flag)
    if version >= 11 and is_answer:
        out.writeBool(False)
    _write_sources(out, version)
    if version >= 10:
        out.writeInt64(0 if is_answer else 1)
        if not is_answer:
            out << QByteArray(b"file:///home/menu.xlsx")
            out << QByteArray(b"PK")
    if version >= 12:
        out.writeInt64(1 if is_answer else 0)
        if is_answer:
            _write_thought(out)


def _write_sources(out: QDataStream, version: int) -> None:
    if version >= 8:
        out.writeInt64(1)
        for source in ("papers", "/home/a.txt", "a.txt", "A", "B", "2024", "Fish swim."):
            out.writeQString(source)
        for number in (1, 2, 3):
            out.writeInt32(number)
    elif version >= 3:
        out.writeQString("1. In a.txt.")
        out.writeQStringList(["Fish swim."])


def _write_thought(out: QDataStream) -> None:
    out.writeQString("Response: ")
    out.writeQString("")
    out.writeInt64(1)
    out.writeQString("Think: ")
    out.writeQString("<think>Is it fresh?</think>")
    out.writeInt32(2500)
    out.writeInt64(0)


def write_ollama(path: Path) -> Path:
    """Write a database like `app/store/database.go` of ollama/ollama: in WAL mode, not closed."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(
            """
            CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '',
                created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, browser_state TEXT);
            CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id TEXT NOT NULL,
                role TEXT NOT NULL, content TEXT NOT NULL DEFAULT '',
                thinking TEXT NOT NULL DEFAULT '', stream BOOLEAN NOT NULL DEFAULT 0,
                model_name TEXT, created_at TIMESTAMP, updated_at TIMESTAMP,
                thinking_time_start TIMESTAMP, thinking_time_end TIMESTAMP, tool_result TEXT);
            CREATE INDEX idx_messages_chat_id ON messages(chat_id);
            CREATE TABLE attachments (id INTEGER PRIMARY KEY AUTOINCREMENT,
                message_id INTEGER NOT NULL, filename TEXT NOT NULL, data BLOB NOT NULL);
            """
        )
        at = "2025-08-01 10:00:0{}.5+02:00"
        db.execute("INSERT INTO chats VALUES ('0198', 'Tides', ?, NULL)", (at.format(0),))
        insert = (
            "INSERT INTO messages (chat_id, role, content, thinking, model_name, created_at,"
            " thinking_time_start, thinking_time_end) VALUES ('0198', ?, ?, ?, ?, ?, ?, ?)"
        )
        db.execute(insert, ("user", "What is a tide?", "", None, at.format(1), None, None))
        db.execute("INSERT INTO attachments VALUES (1, 1, 'sea.txt', x'00')")
        db.execute(
            insert,
            (
                "assistant", "The sea, moved.", "The moon.", "gpt-oss:20b", at.format(2),
                at.format(2), at.format(5),
            ),
        )  # fmt: skip
        db.commit()
    return path
