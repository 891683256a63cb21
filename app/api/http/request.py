"""A client's request in Hearth's own terms, whichever protocol it came by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from app.base.errors import AppError
from app.chats.answers.values.answers import AnswerOptions
from engines.types import ChatRequest, Medium, Message, Tool, ToolChoice

EFFORTS: Final[Mapping[str, str]] = {
    "none": "",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "max",
    "max": "max",
}
"""The reasoning efforts by clients' names, and the setting's values; "" is no reasoning."""


class BadRequest(AppError):
    """A request that cannot be understood.

    Attributes:
        field: The field that is wrong; "" for none.
    """

    code = "bad_request"

    def __init__(self, what: str, why: str, do: str, field: str = "") -> None:
        super().__init__(what, why, do)
        self.field = field


@dataclass(frozen=True)
class ApiRequest:
    """A request for answers.

    Attributes:
        model: The model's name, as the client calls it.
        shaped: The rest of the request to the engine, with its messages or its raw prompt. Its own
            `seed`, `grammar` and settings are not used.
        settings: Settings of this answer by name; the model's settings and the app's fill in the
            rest.
        count: The number of answers.
        notes: What is done differently from the request, one sentence each.
    """

    model: str
    shaped: ChatRequest
    settings: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    grammar: str | None = None
    thinking_budget: int | None = None
    count: int = 1
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse to keep an answer from ending if its format says where it ends.

        Raises BadRequest.
        """
        its = self.shaped
        field = "ignore_eos" if its.sampling.ignore_end else "min_tokens"
        calls = bool(its.tools) and its.tool_choice != "none"
        endless = its.sampling.ignore_end or its.sampling.min_tokens
        if endless and (its.sampling.guided or self.grammar or calls):
            raise BadRequest(
                f"“{field}” cannot be used here.",
                "A call, a schema or a grammar says where the answer ends.",
                "Leave one of the two out.",
                field,
            )

    def options(self, model: str) -> AnswerOptions:
        """Return the options for `Answers.prepare`.

        Args:
            model: The id of the model that answers.
        """
        return AnswerOptions(
            {**self.settings, "model": model},
            seed=self.seed,
            stop=self.shaped.stop,
            grammar=self.grammar,
            thinking_budget=self.thinking_budget,
        )

    def onto(self, prepared: ChatRequest) -> ChatRequest:
        """Copy this request's messages, tools and rules into one whose settings are resolved."""
        its = self.shaped
        # A client that sends no limit wants none. Its 0 means no token, but in the settings, where
        # `prepared` comes from, 0 means no limit.
        limit = prepared.max_tokens if "max_tokens" in self.settings else None
        if self.settings.get("max_tokens") == 0:
            limit = 0
        sampling = replace(
            prepared.sampling,
            schema=its.sampling.schema,
            presence_penalty=its.sampling.presence_penalty,
            frequency_penalty=its.sampling.frequency_penalty,
            logit_bias=its.sampling.logit_bias,
            logprobs=its.sampling.logprobs,
            repeat_last_n=its.sampling.repeat_last_n,
            ignore_end=its.sampling.ignore_end,
            min_tokens=its.sampling.min_tokens,
            stop_tokens=its.sampling.stop_tokens,
        )
        return replace(
            prepared,
            messages=its.messages,
            prompt=its.prompt,
            suffix=its.suffix,
            echo=its.echo,
            sampling=sampling,
            tools=its.tools,
            tool_choice=its.tool_choice,
            only_tool=its.only_tool,
            parallel_tools=its.parallel_tools,
            # The client is told that its conversation is too long, and chooses what to leave out.
            overflow="stop",
            max_tokens=limit,
        )


def thinking_settings(effort: str | None, asked: bool | None = None) -> dict[str, object]:
    """Return the settings for a reasoning effort.

    Args:
        effort: The effort, as clients call it.
        asked: Whether to reason at all; None if the client does not say.

    Raises:
        BadRequest: There is no such effort.
    """
    if effort is not None and effort not in EFFORTS:
        raise BadRequest(
            f"“{effort}” is no effort.",
            "There are: " + ", ".join(EFFORTS) + ".",
            "Ask for one of them, or for none.",
        )
    wanted = {"none": False}.get(effort or "", asked)
    settings: dict[str, object] = {}
    if wanted is not None:
        settings["thinking"] = "on" if wanted else "off"
    if effort is not None and EFFORTS[effort]:
        settings["effort"] = EFFORTS[effort]
    return settings


def chosen_tool(name: str, tools: Iterable[Tool]) -> str:
    """Return the name of the tool that has to be called. Raises BadRequest if it is missing."""
    if name not in {tool.name for tool in tools}:
        raise BadRequest(
            f"There is no tool “{name}” to choose.",
            "The request’s own tools do not name it.",
            "Give the tool, or choose another.",
            "tool_choice",
        )
    return name


def allowed_of(names: Iterable[str], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the tools that a choice is restricted to. Raises BadRequest."""
    allowed = {chosen_tool(name, tools) for name in names}
    return tuple(it for it in tools if it.name in allowed)


def tool_choice_of(wanted: str) -> ToolChoice:
    """Read a `tool_choice` word that the protocols share. Raises BadRequest."""
    words: Mapping[str, ToolChoice] = {
        "auto": "auto", "none": "none", "required": "required", "any": "required",
    }  # fmt: skip
    if wanted not in words:
        raise BadRequest(
            f"“{wanted}” is no way to choose a tool.",
            "There are: auto, none, required, and a tool by its name.",
            "Ask for one of them.",
            "tool_choice",
        )
    return words[wanted]


def arguments_text(given: object) -> str:
    """Return a call's arguments as JSON text; some clients send the parsed value instead."""
    if given is None:
        return ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Put leading system messages first, and merge neighbours of the same role into one message.

    Chat templates expect one system message at the beginning, and then turns that alternate. Moving
    a later system message to the beginning would change the start of the prompt, and all of it
    would have to be read again. So a later one becomes a user message that is marked as a system
    reminder.
    """
    turns: list[Message] = []
    leading = True
    for message in messages:
        leading = leading and message.role == "system"
        if message.role == "system" and not leading:
            begin = "<system-reminder>\n"
            text = f"{begin}{message.text}\n</system-reminder>"
            media = _moved(message, len(begin))
            turns.append(replace(message, role="user", text=text, media=media))
        else:
            turns.append(message)

    def kind(message: Message) -> object:
        # A tool result belongs to one call, and a message with calls stays on its own too.
        apart = message.role == "tool" or bool(message.calls)
        return (id(message),) if apart else message.role

    return tuple(_one(list(run)) for _, run in groupby(turns, kind))


def require_some(messages: Sequence[Message], field: str) -> None:
    """Refuse a request that has no message to answer. Raises BadRequest."""
    if not messages:
        raise BadRequest(
            "There is nothing to answer.",
            f"“{field}” has no message that a model could read.",
            "Send one.",
            field,
        )


def _one(run: list[Message]) -> Message:
    text, media = "", list[Medium]()
    for message in run:
        if text and (message.text or message.media):
            text += "\n\n"
        media += _moved(message, len(text))
        text += message.text
    reasoning = "\n\n".join(message.reasoning for message in run if message.reasoning)
    return replace(run[0], text=text, reasoning=reasoning, media=tuple(media))


def _moved(message: Message, by: int) -> tuple[Medium, ...]:
    """Return a message's media for its text shifted by this many characters."""
    return tuple(replace(it, at=it.at + by) for it in message.media)
