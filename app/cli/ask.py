"""`hearth ask`: one question, one answer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from app.cli.interrupt import interruptible
from app.cli.output import Output
from app.core.errors import FileNotText
from app.services.answers import AnswerEvent, AnswerOptions, Ended
from app.wiring import Core
from engines.cancel import CancelToken
from engines.errors import EngineUnavailable, UserError
from engines.registry import statuses
from engines.types import Done, Message, ReasoningDelta, TextDelta

BUILT_IN_QUESTION = "What is Hearth?"


class _AnswerFailed(UserError):
    """An answer that was saved as failed, in the words in which it was saved."""

    def __init__(self, code: str, what: str, why: str, do: str) -> None:
        super().__init__(what, why, do)
        self.code = code


def ask(core: Core, args: argparse.Namespace, out: Output) -> int:
    """Carry out the command; returns the exit status."""
    if args.engine != "llamacpp":
        refuse_engine(args.engine)
    settings = core.settings.read()
    text = sys.stdin.read() if args.text == "-" else args.text
    text = with_files(text, args.file)
    options = AnswerOptions(
        model=args.model,
        temperature=args.temperature,
        top_p=args.top_p,
        seed=args.seed,
        context=args.context,
        max_tokens=args.max_tokens,
        stop=tuple(args.stop),
        mtp=args.mtp,
        system_prompt=args.system,
    )

    def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
        if args.chat is None:
            system = settings.system_prompt if args.system is None else args.system
            question = Message("user", text)
            messages = (Message("system", system.strip()), question) if system else (question,)
            return core.answers.once(messages, settings, options, out.progress, cancel)
        _, answer = core.chats.ask(core.chats.chat(args.chat).id, text)
        return core.answers.write(answer, settings, options, out.progress, cancel)

    return print_answer(core, interruptible(work), out)


def answer_built_in(core: Core, out: Output) -> int:
    """One question to the starter model: "does it work?" has an answer anywhere."""
    out.note(f"> {BUILT_IN_QUESTION}")
    settings = core.settings.read().changed("model", "starter")

    def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
        messages = (Message("user", BUILT_IN_QUESTION),)
        return core.answers.once(messages, settings, AnswerOptions(), out.progress, cancel)

    return print_answer(core, interruptible(work), out)


def print_answer(core: Core, events: Generator[AnswerEvent, None, None], out: Output) -> int:
    """Print an answer as it comes, or as one JSON value at its end.

    Raises the answer's error after what was answered has been printed.
    """
    text: list[str] = []
    reasoning: list[str] = []
    done: Done | None = None
    try:
        with closing(events):
            for event in events:
                if isinstance(event, TextDelta):
                    text.append(event.text)
                    out.piece(event.text)
                elif isinstance(event, ReasoningDelta):
                    reasoning.append(event.text)
                elif isinstance(event, Done):
                    done = event
                elif isinstance(event, Ended) and event.message.failure is not None:
                    raise _AnswerFailed(**asdict(event.message.failure))
    finally:
        if text:
            out.piece("\n")
        if done is not None:
            _conclude(core, "".join(text), "".join(reasoning), done, out)
    return 0


def _conclude(core: Core, text: str, reasoning: str, done: Done, out: Output) -> None:
    """The JSON value of an answer, or the notes that belong to it."""
    if out.as_json:
        entry = core.runtime.entry
        value = {
            "text": text,
            "reasoning": reasoning or None,
            "finish_reason": done.finish_reason,
            "model": entry.id if entry else None,
            "engine": core.runtime.engine_name,
            "mtp": asdict(done.mtp),
            "usage": asdict(done.usage),
            "timing": asdict(done.timing),
            "seed": done.seed,
        }
        out.value(value, str)
    if done.usage.left_out:
        out.note(f"The oldest {done.usage.left_out} messages did not fit and were left out.")
    if done.mtp.mode == "on" and not done.mtp.active:
        out.note(f"MTP is off: {done.mtp.reason}")


def with_files(text: str, files: list[Path]) -> str:
    """The question with the content of text files behind it. Raises FileNotText."""
    parts = [text]
    for path in files:
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise FileNotText(
                f"{path} cannot be sent along.",
                f"The system says: {reason}."
                if isinstance(error, OSError)
                else f"Sorry, {reason}.",
                "Choose a plain text file that exists.",
            ) from error
        parts.append(f"{path.name}:\n```\n{content.rstrip()}\n```")
    return "\n\n".join(parts)


def refuse_engine(name: str) -> None:
    """Raises EngineUnavailable with the registry's reason."""
    reason = next((status.why_not for status in statuses() if status.name == name), None)
    raise EngineUnavailable(
        f"The engine {name} cannot run here.",
        reason or "This Hearth does not have it.",
        "Leave out --engine to use llama.cpp.",
    )
