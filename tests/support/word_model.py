"""A language model of a few words for made servers: pure, and the same every time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

WORDS = tuple(
    "hearth keeps a warm chat on your own computer and answers in plain words é ü 😀 日本 "
    "fire house room light evening calm story tea kettle wood stone".split()
)


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text: each is a word with the space after it."""
    return re.findall(r"\S+\s*|\s+", text)


def prompt_of(body: Mapping[str, Any]) -> str:
    """Return the prompt that a chat template would write."""
    *before, last = body["messages"]
    text = "".join(f"<{it['role']}> {it['content']} <end>\n" for it in before)
    if body.get("continue_final_message"):
        question = f"<assistant> {last['content']}"
    else:
        question = f"<{last['role']}> {last['content']} <end>\n<assistant> "
    tools = "".join(f"<tool> {it['function']['name']}\n" for it in body.get("tools", ()))
    thinking = body.get("chat_template_kwargs", {}).get("enable_thinking")
    return tools + ("<think> \n" if thinking else "") + text + question


def words_after(prompt: str, seed: int) -> Iterator[str]:
    """Yield the tokens of an answer, about forty and at least one. Seed 0 is greedy."""
    text = prompt
    while True:
        number = int.from_bytes(hashlib.sha256(f"{seed}|{text}".encode()).digest()[:8], "big")
        if number % 41 == 0 and text != prompt:
            return
        word = WORDS[number // 41 % len(WORDS)] + " "
        text += word
        yield word


def answer_to(body: Mapping[str, Any], context: int) -> tuple[int, list[str], str]:
    """Return the number of tokens in the prompt, the tokens of the answer, and why it ends."""
    prompt = prompt_of(body)
    length = len(tokens_of(prompt))
    seed = body.get("seed", 0) + 1 if body.get("temperature", 1.0) > 0 else 0
    room = context - length
    most = min(body.get("max_tokens") or room, room)
    said: list[str] = []
    for word in words_after(prompt, seed):
        if len(said) == most:
            return length, said, "length"
        said.append(word)
        if any(stop in "".join(said) for stop in body.get("stop", ())):
            return length, _cut(said, body["stop"]), "stop"
    return length, said, "stop"


def _cut(said: Sequence[str], stops: Sequence[str]) -> list[str]:
    """Cut the text before the stop string, as servers do."""
    text = "".join(said)
    end = min(at for stop in stops if (at := text.find(stop)) >= 0)
    return tokens_of(text[:end])
