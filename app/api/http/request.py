"""What a client asks for, in Hearth's own words, whichever protocol it speaks."""

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
"""How hard to reason, as clients call it and as the setting does; "" is not at all."""


class BadRequest(AppError):
    """A request that cannot be understood. field: the part of it that is wrong, "" for none."""

    code = "bad_request"

    def __init__(self, what: str, why: str, do: str, field: str = "") -> None:
        super().__init__(what, why, do)
        self.field = field


@dataclass(frozen=True)
class ApiRequest:
    """An answer that is asked for. model: as the client calls it.

    settings: those of one answer, by their names; what is not there is as the model's own settings
    and the app's say. shaped: what else stands in the request to the engine, with its messages or
    its raw prompt; `seed`, `grammar` and the settings are not taken from there. count: how many
    answers. notes: what of the request is done otherwise, a sentence each.
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
        """Refuse an answer that must not end, and has to end by its form. Raises BadRequest."""
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
        """Return what `Answers.prepare` is told; model: the id of the one that answers."""
        return AnswerOptions(
            {**self.settings, "model": model},
            seed=self.seed,
            stop=self.shaped.stop,
            grammar=self.grammar,
            thinking_budget=self.thinking_budget,
        )

    def onto(self, prepared: ChatRequest) -> ChatRequest:
        """Put this request's messages, tools and rules on one with all settings resolved."""
        its = self.shaped
        # A client that gives no limit has asked for none. Its 0 is no token; in the settings, which
        # `prepared` comes from, it is no limit.
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
            # A client is told that its conversation is too long; it leaves out what it chooses.
            overflow="stop",
            max_tokens=limit,
        )


def thinking_settings(effort: str | None, asked: bool | None = None) -> dict[str, object]:
    """Return the settings for an effort, as clients call it. asked: whether to reason at all.

    Raises BadRequest for an effort that there is not.
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
    """Return the name of the one tool that has to be called. Raises BadRequest."""
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
    """Read the plain words that protocols share. Raises BadRequest."""
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
    """Return a call's arguments as JSON text; some clients send the value that it stands for."""
    if given is None:
        return ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def joined(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Put what stands in the system's name first, and neighbours of one role into one message.

    Chat templates want one system message at the beginning and turns that alternate. What a client
    says to the system in the middle of a conversation would change the beginning of the prompt if
    it went there, and all of it would be read again: there it is the user's, marked as what it is.
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
        # Results of tools belong to one call each, and so does what was asked for.
        apart = message.role == "tool" or bool(message.calls)
        return (id(message),) if apart else message.role

    return tuple(_one(list(run)) for _, run in groupby(turns, kind))


def require_some(messages: Sequence[Message], field: str) -> None:
    """Refuse a request without a message to answer. Raises BadRequest."""
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
    """Return a message's pictures and sounds where its text comes behind so many characters."""
    return tuple(replace(it, at=it.at + by) for it in message.media)
