"""`hearth ask`: one question, one answer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from app.cli.assistants import layers_of
from app.cli.interrupt import interruptible
from app.cli.output import Output
from app.cli.parser import Usage
from app.cli.printing import loading, print_answer, tell_stay
from app.cli.streams import read
from app.core.errors import FileNotText
from app.services.answers.answers import AnswerEvent, AnswerOptions
from app.wiring import Core
from engines.cancel import CancelToken
from engines.types import EngineName, Message

BUILT_IN_QUESTION = "What is Hearth?"


def ask(core: Core, args: argparse.Namespace, out: Output) -> int:
    """Carry out the command; returns the exit status."""
    if args.depth is not None and args.mtp == "off":
        raise Usage(
            "--depth and --mtp off contradict each other.",
            "A depth is how many tokens MTP guesses ahead, and off means none.",
            "Leave out one of the two.",
        )
    if args.assistant is not None and args.chat is not None:
        raise Usage(
            "--assistant and --chat cannot be given together.",
            "A chat has the assistant that it began with.",
            "Leave out one of the two.",
        )
    settings = core.settings.read()
    text = _standard_input() if args.text == "-" else args.text
    text = with_files(text, args.file)
    options = AnswerOptions(
        model=on_engine(core, args.model or _of_chat(core, args), args.engine, args.model),
        temperature=args.temperature,
        top_p=args.top_p,
        seed=args.seed,
        context=args.context,
        max_tokens=args.max_tokens,
        stop=tuple(args.stop),
        mtp="on" if args.depth is not None and args.mtp is None else args.mtp,
        depth=args.depth,
        grammar=_read(args.grammar) if args.grammar else None,
        system_prompt=args.system,
        anyway=args.anyway,
        thinking=args.think,
        thinking_budget=args.think_budget,
        effort=args.effort,
        adapter=args.adapter,
        under=layers_of(core, args.assistant),
    )

    def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
        if args.chat is None:
            system = core.answers.system_prompt(settings, options)
            question = Message("user", text)
            messages = (Message("system", system.strip()), question) if system else (question,)
            return core.answers.once(messages, settings, options, loading(core, out), cancel)
        _, answer = core.chats.ask(core.chats.chat(args.chat).id, text)
        if options.model is None:
            tell_stay(core, answer.chat_id, settings, out, "--model")
        return core.answers.write(answer, settings, options, loading(core, out), cancel)

    return print_answer(core, interruptible(work), out, args.think)


def answer_built_in(core: Core, out: Output) -> int:
    """One question to the starter model: "does it work?" has an answer anywhere."""
    out.note(f"> {BUILT_IN_QUESTION}")
    settings = core.settings.read().changed("model", "starter")

    def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
        messages = (Message("user", BUILT_IN_QUESTION),)
        return core.answers.once(messages, settings, AnswerOptions(), loading(core, out), cancel)

    return print_answer(core, interruptible(work), out)


def _standard_input() -> str:
    text = read()
    if not text.strip():
        raise Usage(
            "There is no question on standard input.",
            "The TEXT was -, and nothing came from there.",
            "Give the question as TEXT, or pipe it in.",
        )
    return text


def with_files(text: str, files: list[Path]) -> str:
    """The question with the content of text files behind it. Raises FileNotText."""
    contents = [(path.name, _read(path).rstrip()) for path in files]
    return "\n\n".join([text, *(f"{name}:\n```\n{inside}\n```" for name, inside in contents)])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = "It is not UTF-8 text."
        if isinstance(error, OSError):
            why = f"The system says: {error.strerror}."
        raise FileNotText(
            f"{path} cannot be read as text.",
            why,
            "Choose a plain text file that exists.",
        ) from error


def on_engine(
    core: Core, model: str | None, engine: EngineName | None, otherwise: str | None = None
) -> str | None:
    """The id of a model as an engine runs it; `otherwise` where no engine is asked for.

    model: None is the one of the settings. Raises EngineUnavailable, with what it would take.
    """
    if engine is None:
        return otherwise
    entry = core.library.find(model or core.settings.read().model)
    return core.choice.on(entry, engine).id


def _of_chat(core: Core, args: argparse.Namespace) -> str | None:
    """The model of the chat that goes on; None leaves it to the settings."""
    if args.chat is None or args.engine is None:
        return None
    chat = core.chats.chat(args.chat)
    return core.answers.model_of(chat.id, core.settings.read(), AnswerOptions())
