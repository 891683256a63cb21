"""A client's request in Hearth's own terms, the same for all protocols."""

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
        engine_request: The rest of the request to the engine, with its messages or its raw prompt.
            Its own `seed`, `grammar` and settings are not used.
        settings: Settings of this answer by name; the model's settings and the app's fill in the
            rest.
        count: The number of answers.
        notes: What is done differently from the request, one sentence each.
    """

    model: str
    engine_request: ChatRequest
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
        request = self.engine_request
        field = "ignore_eos" if request.sampling.ignore_end else "min_tokens"
        calls = bool(request.tools) and request.tool_choice != "none"
        endless = request.sampling.ignore_end or request.sampling.min_tokens
        if endless and (request.sampling.guided or self.grammar or calls):
            raise BadRequest(
                f"“{field}” cannot be used here.",
                "A tool call, a schema or a grammar determines where the answer ends.",
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
            stop=self.engine_request.stop,
            grammar=self.grammar,
            thinking_budget=self.thinking_budget,
        )

    def apply_to(self, prepared: ChatRequest) -> ChatRequest:
        """Copy this request's messages, tools and rules into one whose settings are resolved."""
        request = self.engine_request
        # A client that sends no limit wants none. Its 0 means no token, but in the settings, where
        # `prepared` comes from, 0 means no limit.
        limit = prepared.max_tokens if "max_tokens" in self.settings else None
        if self.settings.get("max_tokens") == 0:
            limit = 0
        sampling = replace(
            prepared.sampling,
            schema=request.sampling.schema,
            presence_penalty=request.sampling.presence_penalty,
            frequency_penalty=request.sampling.frequency_penalty,
            logit_bias=request.sampling.logit_bias,
            logprobs=request.sampling.logprobs,
            repeat_last_n=request.sampling.repeat_last_n,
            ignore_end=request.sampling.ignore_end,
            min_tokens=request.sampling.min_tokens,
            stop_tokens=request.sampling.stop_tokens,
        )
        return replace(
            prepared,
            messages=request.messages,
            prompt=request.prompt,
            suffix=request.suffix,
            echo=request.echo,
            sampling=sampling,
            tools=request.tools,
            tool_choice=request.tool_choice,
            only_tool=request.only_tool,
            parallel_tools=request.parallel_tools,
            # The client is told that its conversation is too long, and chooses what to leave out.
            overflow="stop",
            max_tokens=limit,
        )


def thinking_settings(effort: str | None, is_enabled: bool | None = None) -> dict[str, object]:
    """Return the settings for a reasoning effort.

    Args:
        effort: The effort, as clients call it.
        asked: Whether to reason at all; None if the client does not say.

    Raises:
        BadRequest: There is no such effort.
    """
    if effort is not None and effort not in EFFORTS:
        raise BadRequest(
            f"“{effort}” is not a reasoning effort.",
            "The efforts are: " + ", ".join(EFFORTS) + ".",
            "Send one of them, or leave it out.",
        )
    thinks = {"none": False}.get(effort or "", is_enabled)
    settings: dict[str, object] = {}
    if thinks is not None:
        settings["thinking"] = "on" if thinks else "off"
    if effort is not None and EFFORTS[effort]:
        settings["effort"] = EFFORTS[effort]
    return settings


def require_tool(name: str, tools: Iterable[Tool]) -> str:
    """Return the name of the tool that has to be called. Raises BadRequest if it is missing."""
    if name not in {tool.name for tool in tools}:
        raise BadRequest(
            f"There is no tool “{name}” to choose.",
            "The tools of the request do not include it.",
            "Send the tool, or choose another one.",
            "tool_choice",
        )
    return name


def allowed_tools(names: Iterable[str], tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the tools that a choice is restricted to. Raises BadRequest."""
    allowed = {require_tool(name, tools) for name in names}
    return tuple(tool for tool in tools if tool.name in allowed)


def parse_tool_choice(choice: str) -> ToolChoice:
    """Read a `tool_choice` word that the protocols share. Raises BadRequest."""
    choices: Mapping[str, ToolChoice] = {
        "auto": "auto", "none": "none", "required": "required", "any": "required",
    }  # fmt: skip
    if choice not in choices:
        raise BadRequest(
            f"“{choice}” is not a way to choose a tool.",
            "The ways are: auto, none, required, and a tool by its name.",
            "Send one of them.",
            "tool_choice",
        )
    return choices[choice]


def arguments_text(arguments: object) -> str:
    """Return a call's arguments as JSON text; some clients send the parsed value instead."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def merge_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
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
            prefix = "<system-reminder>\n"
            text = f"{prefix}{message.text}\n</system-reminder>"
            media = _shifted_media(message, len(prefix))
            turns.append(replace(message, role="user", text=text, media=media))
        else:
            turns.append(message)

    def kind(message: Message) -> object:
        # A tool result belongs to one call, and a message with calls stays on its own too.
        apart = message.role == "tool" or bool(message.calls)
        return (id(message),) if apart else message.role

    return tuple(_merge(list(run)) for _, run in groupby(turns, kind))


def require_messages(messages: Sequence[Message], field: str) -> None:
    """Refuse a request that has no message to answer. Raises BadRequest."""
    if not messages:
        raise BadRequest(
            "There is nothing to answer.",
            f"“{field}” has no message that a model could read.",
            "Send one.",
            field,
        )


def _merge(run: list[Message]) -> Message:
    text, media = "", list[Medium]()
    for message in run:
        if text and (message.text or message.media):
            text += "\n\n"
        media += _shifted_media(message, len(text))
        text += message.text
    reasoning = "\n\n".join(message.reasoning for message in run if message.reasoning)
    return replace(run[0], text=text, reasoning=reasoning, media=tuple(media))


def _shifted_media(message: Message, by: int) -> tuple[Medium, ...]:
    """Return a message's media for its text shifted by this many characters."""
    return tuple(replace(medium, at=medium.at + by) for medium in message.media)
