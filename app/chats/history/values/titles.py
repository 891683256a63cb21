"""The request for a chat's title, and the reading of a title from the model's answer."""

from __future__ import annotations

import re

from engines.types import ChatRequest, Message, MtpMode, Sampling

_TASK = (
    "Give this conversation a title of two to six words, in the language it is written in. "
    "Reply with the title alone.\n\n"
    "User: {question}\n\nAssistant: {answer}"
)
_READ = 600
"""How many characters of the question, and of the answer, the title is made from."""

_MOST_TOKENS = 32
_LONGEST = 60
_MOST_WORDS = 9

_NAMES = "title|titel|titre|título|titolo|标题|タイトル"
_LABEL = re.compile(rf"^(?:{_NAMES})\s*[:\uff1a]\s*", re.IGNORECASE)
_DECORATION = " \t\"'`*_#>-“”„\u2018\u2019«»「」『』《》"
_BAD = re.compile(r"[<>{}|\\\x00-\x1f]|https?:|<\|")


def title_request(question: str, answer: str, mtp: MtpMode) -> ChatRequest:
    """Build the request for a title; it belongs to no chat, so no chat's state is changed.

    Args:
        mtp: The mode of the previous answer; another mode would rebuild the model's context.
    """
    text = _TASK.format(question=_beginning(question), answer=_beginning(answer))
    return ChatRequest(
        messages=(Message("user", text),),
        sampling=Sampling(temperature=0.0),
        max_tokens=_MOST_TOKENS,
        mtp=mtp,
        thinking=False,
        thinking_budget=0,
    )


def title_in(text: str, finished: bool) -> str | None:
    """Read the title from a model's answer; return None if it contains none.

    Args:
        finished: Whether the model ended by itself, as opposed to being cut off.
    """
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if not lines or not (finished or len(lines) > 1):
        return None
    title = _LABEL.sub("", lines[0].strip(_DECORATION)).strip(_DECORATION).rstrip(".。:,;")
    words = title.split()
    if not any(character.isalnum() for character in title) or _BAD.search(title):
        return None
    return " ".join(words) if len(title) <= _LONGEST and len(words) <= _MOST_WORDS else None


def _beginning(text: str) -> str:
    return " ".join(text[:_READ].split())
