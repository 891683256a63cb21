"""Peculiarities of ChatGPT's exports: messages between model and tools, marks, instructions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.chats.history.values.conversation import path_to
from app.exchange.values import chatgpt
from app.exchange.values.chatgpt import readable
from app.exchange.values.found import ReadyChat
from app.exchange.values.thread import TOOLS, convert
from tests.support.foreign_chats import chatgpt_chat, chatgpt_node

MARK = "\ue200cite\ue202turn0search1\ue202turn0search3\ue201"


def chat_of(*nodes: dict[str, Any], **more: Any) -> ReadyChat:
    """Return a chat of a question and these nodes, each following the one before."""
    names = ["q", *(node["id"] for node in nodes)]
    for above, node in zip(names, nodes, strict=False):
        node["parent"] = above
    question = chatgpt_node("q", None, "user", ["Well?"])
    mapping = {node["id"]: node for node in (question, *nodes)}
    value = {**chatgpt_chat(), "mapping": mapping, "current_node": names[-1], **more}
    return convert(chatgpt.read(value))


def answer(name: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return chatgpt_node(name, None, "assistant", list(parts), **more)


def said(chat: ReadyChat) -> list[tuple[str, str]]:
    return [(it.role, it.text) for it in path_to(chat.messages, chat.chat.leaf_id)]


@pytest.mark.parametrize(
    "recipient", ["browser", "web.run", "bio", "dalle.text2im", "t2uay3k.sj1i"]
)
def test_what_the_model_says_to_a_tool_is_no_answer(recipient: str) -> None:
    call = answer("call", '{"prompt": "a cat"}', recipient=recipient)
    result = chatgpt_node("result", None, "tool", ["42 pages"])
    chat = chat_of(call, result, answer("a", "Yes."))
    assert said(chat) == [("user", "Well?"), ("assistant", "Yes.")]
    assert chat.left_out == {TOOLS: 2}


def test_what_a_tool_drew_and_the_code_that_ran_are_shown() -> None:
    code = answer(
        "code",
        recipient="python",
        content={"content_type": "code", "language": "python", "text": "plot()"},
    )
    ran = chatgpt_node(
        "ran", None, "tool", [],
        content={"content_type": "execution_output", "text": "<Figure>"},
        metadata={"aggregate_result": {"messages": [{"message_type": "image"}, {}]}},
    )  # fmt: skip
    pictures: list[Any] = [{"content_type": "image_asset_pointer"}] * 2
    drawn = chatgpt_node("drawn", None, "tool", ["Made by a tool.", *pictures])
    chat = chat_of(code, ran, drawn)
    assert said(chat)[1:] == [
        ("assistant", "```python\nplot()\n```" + 3 * "\n\n*A picture was here.*"),
    ]


@pytest.mark.parametrize(
    ("kind", "told"), [("code/html", "```html\n<p>\n```"), ("document", "<p>")]
)
def test_a_document_on_the_canvas_is_kept(kind: str, told: str) -> None:
    text = json.dumps({"name": "x", "type": kind, "content": "<p>"})
    for made in (
        answer("c", text, recipient="canmore.create_textdoc"),
        answer(
            "c",
            recipient="canmore.create_textdoc",
            content={"content_type": "code", "language": "json", "text": text},
        ),
    ):
        assert said(chat_of(made))[1:] == [("assistant", told)]


@pytest.mark.parametrize("role", ["user", "system"])
@pytest.mark.parametrize("hidden", [True, False])
def test_what_the_user_told_chatgpt_to_keep_in_mind_is_the_system_prompt(
    role: str, hidden: bool
) -> None:
    about = {"about_user_message": "I bake.", "about_model_message": "Be brief."}
    node = chatgpt_node(
        "told", None, role, [],
        content={
            "content_type": "user_editable_context",
            "user_profile": "The user provided …```I bake.```",
            "user_instructions": "",
        },
        metadata={
            "is_user_system_message": True,
            "is_visually_hidden_from_conversation": hidden,
            "user_context_message_data": about,
        },
        create_time=None,
    )  # fmt: skip
    chat = chat_of(node, answer("a", "Yes."))
    assert said(chat) == [("user", "Well?"), ("assistant", "Yes.")]
    assert chat.chat.settings == {"system_prompt": "I bake.\n\nBe brief."}


def test_roles_that_nobody_knows_do_not_become_the_system_prompt() -> None:
    chat = chat_of(chatgpt_node("f", None, "function", ["secret"]), answer("a", "Yes."))
    assert (chat.chat.settings, chat.left_out) == ({}, {TOOLS: 1})


def test_how_long_was_thought_comes_from_the_recap() -> None:
    thoughts = answer("t", content={"content_type": "thoughts", "thoughts": [{"content": "Rye?"}]})
    search = answer("s", "{}", recipient="web")
    recap = answer(
        "r",
        content={"content_type": "reasoning_recap", "content": "Thought for 7s"},
        metadata={"finished_duration_sec": 7},
    )
    chat = chat_of(thoughts, search, recap, answer("a", "Rye."))
    (_, message) = chat.messages
    assert (message.text, message.reasoning, message.reasoning_s) == ("Rye.", "Rye?", 7.0)
    alone = chat_of(recap)
    assert [it.text for it in alone.messages] == ["Well?"]


def test_files_and_voice_are_told_of_once() -> None:
    asked = chatgpt_node(
        "u", None, "user", [{"content_type": "image_asset_pointer"}, "Look."],
        metadata={
            "attachments": [
                {"name": "a.pdf", "mime_type": "application/pdf"},
                {"name": "b.png", "mime_type": "image/png"},
                {"name": "c.jpg"},
                5,
            ]
        },
    )  # fmt: skip
    spoken = answer(
        "v",
        {"content_type": "audio_transcription", "text": "Hello."},
        {"content_type": "audio_asset_pointer"},
    )
    unheard = answer("w", {"content_type": "real_time_user_audio_video_asset_pointer"})
    chat = chat_of(asked, spoken, unheard)
    assert said(chat) == [
        ("user", "Well?\n\n*A file was here: a.pdf.*\n\n*A picture was here.*\n\nLook."),
        ("assistant", "Hello.\n\n*A recording was here.*"),
    ]


@pytest.mark.parametrize(
    ("text", "metadata", "shown"),
    [
        (f"Rye. {MARK} So.", {}, "Rye. So."),
        (
            f"Rye. {MARK} So.",
            {"content_references": [{"matched_text": MARK, "alt": "([Rye](https://rye.org))"}]},
            "Rye. ([Rye](https://rye.org)) So.",
        ),
        (f"Rye.{MARK}", {"content_references": [{"matched_text": MARK, "alt": None}, 5]}, "Rye."),
        ('In \ue200entity\ue202["city","Rome","Italy"]\ue201.', {}, "In Rome."),
        ("In \ue200entity\ue202Rome\ue201.", {}, "In Rome."),
        ('In \ue200entity\ue202["city"\ue201.', {}, "In."),
        ("\ue200url\ue202here\ue202https://a.org\ue201", {}, "[here](https://a.org)"),
        ("\ue203Rye\ue204 is【4:0†bread.pdf】 good【11†source】.", {}, "Rye is good."),
        ("Broken off \ue200cite\ue202turn", {}, "Broken off citeturn"),
        ("【1】 and \ue0b0 stay.", {}, "【1】 and \ue0b0 stay."),
    ],
)
def test_marks_of_sources_are_made_readable(
    text: str, metadata: dict[str, Any], shown: str
) -> None:
    assert readable(text, metadata) == shown


def test_marks_in_a_question_are_the_users_own() -> None:
    node = chatgpt_node("u", None, "user", ["What is \ue201【11†source】?"])
    assert said(chat_of(node))[0][1].endswith("What is \ue201【11†source】?")


def test_pins_and_models_and_wrapped_lists_of_newer_exports() -> None:
    nodes = [answer("a", "Yes.", metadata={"finish_details": {"type": "interrupted"}})]
    chat = chat_of(*nodes, default_model_slug=None, model_slug="gpt-5", pinned_time=1.76e9)
    (_, message) = chat.messages
    assert chat.chat.pinned
    assert message.state == "stopped"
    assert message.facts is not None
    assert message.facts.model == "gpt-5"
