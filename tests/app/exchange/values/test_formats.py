"""Converting each program's chats: words, branches, times, titles and system prompts."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from app.chats.history.values.conversation import StoredMessage, path_to
from app.exchange.values import gpt4all
from app.exchange.values.found import Broken, NotRead, ReadyChat
from app.exchange.values.json_values import as_time
from app.exchange.values.recognise import DAMAGED, TORN, chats_in
from app.exchange.values.thread import TOOLS, convert
from tests.support.foreign_chats import (
    BEGUN,
    chatgpt_chat,
    chatgpt_node,
    gpt4all_chat,
    lm_studio_chat,
    open_webui_chat,
)

CAT = "*A picture was here: 17-cat.png.*"


def read(value: object) -> tuple[str, list[ReadyChat], list[NotRead]]:
    source, found = chats_in(value if isinstance(value, str) else json.dumps(value))
    items = list(found)
    return (
        source,
        [it for it in items if isinstance(it, ReadyChat)],
        [it for it in items if isinstance(it, NotRead)],
    )


def one(value: object) -> ReadyChat:
    _, (chat,), not_read = read(value)
    assert not_read == []
    return chat


def shown(chat: ReadyChat) -> list[tuple[str, str]]:
    return [(it.role, it.text) for it in path_to(chat.messages, chat.chat.leaf_id)]


def by_text(chat: ReadyChat, text: str) -> StoredMessage:
    return next(it for it in chat.messages if text in it.text)


def test_chatgpt_keeps_branches_times_and_reasoning() -> None:
    chat = one([chatgpt_chat()])
    assert (chat.source, chat.chat.title, chat.folder) == (
        "ChatGPT", "Bread", "Imported from ChatGPT",
    )  # fmt: skip
    assert (chat.chat.created, chat.chat.updated) == (BEGUN + 0.25, BEGUN + 60.5)
    assert shown(chat) == [
        ("user", "How is bread made?"),
        ("assistant", "Flour, water, salt."),
    ]
    answer = by_text(chat, "Flour, water")
    assert answer.reasoning == "Baking\n\nFlour and water."
    assert answer.facts is not None
    assert (answer.facts.model, answer.facts.engine) == ("gpt-4o", "ChatGPT")
    assert by_text(chat, "How is").created == BEGUN + 1.5
    other = by_text(chat, "What bread")
    assert other.text == "*A picture was here.*\n\nWhat bread is this?"
    assert other.parent_id is None
    assert by_text(chat, "Rye.").parent_id == other.id
    assert chat.left_out == {TOOLS: 2}


def test_answers_that_fork_in_the_middle_stay_two_answers() -> None:
    value = chatgpt_chat()
    for name, text in (("x", "Or buy it."), ("y", "Or not.")):
        value["mapping"][name] = chatgpt_node(name, "a1", "assistant", [text])
    chat = one([value])
    question = by_text(chat, "How is")
    answers = [it.text for it in chat.messages if it.parent_id == question.id]
    assert [it.rpartition("\n\n")[2] for it in answers] == ["Or buy it.", "Or not."]
    assert all("Flour, water, salt." in it for it in answers)


def test_lm_studio_keeps_versions_and_the_system_prompt() -> None:
    chat = one(lm_studio_chat())
    assert shown(chat) == [("user", f"{CAT}\n\nWhat is this?"), ("assistant", "A cat.")]
    lynx = by_text(chat, "lynx")
    assert lynx.parent_id == by_text(chat, "What is").id
    assert by_text(chat, "A cat.").reasoning == "Whiskers."
    assert chat.chat.settings == {"system_prompt": "Answer like a sailor."}
    assert chat.chat.created == pytest.approx(BEGUN + 0.123)


def test_open_webui_keeps_forks_ratings_and_reasoning() -> None:
    chat = one([open_webui_chat()])
    assert shown(chat) == [("user", "Is 2 less than 3?"), ("assistant", "Yes.")]
    yes, no = by_text(chat, "Yes."), by_text(chat, "No.")
    assert (yes.reasoning, yes.reasoning_s) == ("2 < 3\nso yes", 5.0)
    assert (no.parent_id, no.rating) == (yes.parent_id, -1)
    assert chat.chat.settings == {"system_prompt": "Be exact."}
    assert (chat.chat.archived, chat.chat.updated) == (BEGUN + 90, BEGUN + 90)


@pytest.mark.parametrize("version", range(13))
def test_gpt4all_is_read_in_every_version(version: int) -> None:
    data = gpt4all_chat(version)
    assert gpt4all.is_chat(data)
    chat = convert(gpt4all.read(data))
    question, answer = chat.messages
    file = "*A file was here: menu.xlsx.*\n\n" if version >= 10 else ""
    assert (question.role, question.text) == ("user", f"{file}How is fish soup made?")
    assert (answer.role, answer.text, answer.state) == ("assistant", "Slowly.", "stopped")
    assert answer.rating == 1
    assert answer.facts is not None
    assert answer.facts.model == "mistral-7b"
    assert (chat.chat.title, chat.chat.created) == ("Fish soup", BEGUN)
    if version >= 12:
        assert (answer.reasoning, answer.reasoning_s) == ("Is it fresh?", 2.5)


def test_gpt4all_that_breaks_off_is_kept_as_far_as_it_goes() -> None:
    data = gpt4all_chat()
    chat = convert(gpt4all.read(data[:-60]))
    assert [it.text for it in chat.messages] == [
        "*A file was here: menu.xlsx.*\n\nHow is fish soup made?"
    ]
    assert chat.damage == ("It breaks off; the messages before that were read.",)
    for end in range(16, len(data), 7):
        try:
            gpt4all.read(data[:end])
        except Broken:
            continue
    with pytest.raises(Broken, match="version 99"):
        gpt4all.read(data[:4] + (99).to_bytes(4, "big") + data[8:])
    with pytest.raises(Broken):
        gpt4all.read(data.replace(b"\0\0\0\2\0\0\0\x10", b"\x7f\xff\xff\xff\0\0\0\x10"))


def test_older_exports_of_open_webui_have_the_history_bare() -> None:
    value = {"id": "old", **open_webui_chat()["chat"]}
    chat = one([value])
    assert shown(chat) == [("user", "Is 2 less than 3?"), ("assistant", "Yes.")]
    assert chat.chat.title == "Numbers"


def test_open_webui_unfolds_what_stands_in_its_answers() -> None:
    value = open_webui_chat()
    folded = (
        '<details type="reasoning" done="true" duration="2">\n<summary>Thought</summary>\n'
        "&gt; Hm.\n</details>\n"
        '<details type="tool_calls" done="true" name="sum" result="&quot;5&quot;">\n'
        "<summary>Tool Executed</summary>\n</details>\n"
        '<details type="code_interpreter" done="true" output="5">\n<summary>Analyzed</summary>\n'
        "```python\n2 + 3\n```\n</details>\nFive.\n\n"
        '```html\n<details type="tool_calls">\nquoted</details>\n```'
    )
    value["chat"]["history"]["messages"]["m2"]["content"] = folded
    chat = one([value])
    (answer,) = (it for it in chat.messages if "Five." in it.text)
    assert answer.text == (
        "```python\n2 + 3\n```\n\nFive.\n\n"
        '```html\n<details type="tool_calls">\nquoted</details>\n```'
    )
    assert (answer.reasoning, answer.reasoning_s) == ("Hm.", 2.0)
    assert chat.left_out == {TOOLS: 1}
    for torn in ('<details type="reasoning" ', '<details type="reasoning">'):
        value["chat"]["history"]["messages"]["m2"]["content"] = torn * 200_000
        assert "Yes." not in [it.text for it in one([value]).messages]


def test_newer_answers_of_open_webui_have_their_reasoning_in_items() -> None:
    value = open_webui_chat()
    items = [
        {"type": "reasoning", "duration": 3, "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "c", "name": "sum"},
        {"type": "function_call_output", "call_id": "c", "output": "5"},
        {"type": "message", "content": [{"type": "output_text", "text": "Five."}]},
    ]
    for content in ("Five.", ""):
        value["chat"]["history"]["messages"]["m2"] |= {"content": content, "output": items}
        chat = one([value])
        answer = by_text(chat, "Five.")
        assert (answer.text, answer.reasoning, answer.reasoning_s) == ("Five.", "Hm.", 3.0)
        assert chat.left_out == {TOOLS: 1}


def test_lm_studio_names_the_model_of_a_message_and_counts_tools() -> None:
    value = lm_studio_chat()
    version = value["messages"][1]["versions"][0]
    version["senderInfo"] = {"senderName": "gemma-3"}
    for step in version["steps"]:
        step.pop("genInfo", None)
    call = {"type": "toolCallRequest", "name": "look", "parameters": {}}
    version["steps"].insert(0, {"type": "contentBlock", "content": [call]})
    chat = one(value)
    answer = by_text(chat, "A cat.")
    assert answer.facts is not None
    assert answer.facts.model == "gemma-3"
    assert chat.left_out == {TOOLS: 1}


def test_chats_without_any_id_are_not_taken_for_one_another() -> None:
    values = []
    for text in ("Rye?", "Oats?"):
        value = open_webui_chat()
        del value["id"]
        history = value["chat"]["history"]
        history["messages"] = {"": {**history["messages"]["m1"], "content": text}}
        values.append(value)
    _, chats, _ = read(values)
    assert len({it.chat.id for it in chats}) == 2


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has one zone for all programs")
def test_a_date_without_a_zone_is_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as zone:
        zone.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        assert as_time("2025-08-01 10:00:00") == 1754042400
    time.tzset()
    assert as_time("2025-08-01 10:00:00") == as_time("2025-08-01T12:00:00+02:00")
    assert as_time("2025-08-01 10:00:00.123456789+00:00") == pytest.approx(1754042400.123456)


def test_a_broken_chat_stops_no_other() -> None:
    empty = {**chatgpt_chat("e", "Empty"), "mapping": {}, "current_node": ""}
    values: list[Any] = [chatgpt_chat("a"), empty, "no chat", None, chatgpt_chat("b")]
    source, chats, not_read = read(values)
    assert (source, len(chats)) == ("ChatGPT", 2)
    assert [it.what for it in not_read] == ["“Empty”", "Chat 3", "Chat 4"]
    assert len({chat.chat.id for chat in chats}) == 2


def test_a_list_that_breaks_off_yields_what_is_whole() -> None:
    whole = json.dumps([chatgpt_chat(str(number)) for number in range(3)], indent=1)
    _, chats, not_read = read(whole[:-40])
    assert (len(chats), [it.why for it in not_read]) == (2, [TORN])
    assert read(whole[:40]) == ("", [], [NotRead("The file", DAMAGED)])


@pytest.mark.parametrize(
    "change",
    [
        {"mapping": {"a": {"message": 5, "parent": "a"}, "b": [], "c": {"parent": ["c"]}}},
        {"create_time": 10**400},
        {"create_time": float("nan"), "update_time": "yesterday", "title": ["x"]},
        {"current_node": {"a": 1}},
        {"title": "\ud800 half\0"},
        {"conversation_id": "x" * 10_000},
    ],
)
def test_hostile_values_are_borne(change: dict[str, Any]) -> None:
    _, chats, not_read = read([{**chatgpt_chat(), **change}])
    assert len(chats) + len(not_read) == 1
    for chat in chats:
        chat.chat.title.encode()
        assert 0 < chat.chat.created < 5e9


def test_a_circle_and_a_deep_nest_come_to_an_end() -> None:
    value = chatgpt_chat()
    value["mapping"]["q1"]["parent"] = "a1"
    assert "How is bread made?" in [it.text for it in one([value]).messages]
    assert read("[" * 100_000)[1] == []
    assert read('{"a":' * 100_000)[1] == []
    assert read("[" + "9" * 2_000_000 + "]")[1] == []


def test_what_is_not_known_is_no_chat() -> None:
    values: list[object] = [{}, [], [1], {"messages": []}, [{"role": "user"}], '"text"', 5]
    for value in values:
        assert read(value) == ("", [], [])
