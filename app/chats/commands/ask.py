"""`hearth ask`: one question, one answer."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.assistants.commands import layers_of
from app.base.errors import SettingsInvalid
from app.chats.answers.values.answers import AnswerEvent, AnswerOptions
from app.chats.commands.printing import loading, note_local_only, print_answer
from app.documents.collections.commands import not_read
from app.documents.collections.values import CollectionState
from app.documents.values.documents import AttachedFile, PromptSource, left_out
from app.kit.terminal.arguments import (
    ADAPTER,
    ANYWAY,
    ENGINE,
    MODEL,
    MODES,
    REASONING,
    USUAL,
    count,
    whole,
)
from app.kit.terminal.command import Argument, Command, WrongUsage
from app.kit.terminal.interrupt import interruptible
from app.kit.terminal.output import Output
from app.kit.terminal.streams import read, read_file
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.sentences import N_, joined
from engines.types import MAX_DEPTH, EngineName, Message

if TYPE_CHECKING:
    from app.wiring.app import App

BUILT_IN_QUESTION = "What is Hearth?"


def ask(app: App, args: argparse.Namespace, out: Output) -> int:
    """Run the command and return the exit status."""
    if args.depth is not None and args.mtp == "off":
        raise WrongUsage(
            N_("--depth and --mtp off contradict each other."),
            N_("A depth is how many tokens MTP guesses ahead, and off means none."),
            N_("Leave out one of the two."),
        )
    if args.assistant is not None and args.chat is not None:
        raise WrongUsage(
            N_("--assistant and --chat cannot be given together."),
            N_("A chat has the assistant that it began with."),
            N_("Leave out one of the two."),
        )
    settings = app.settings.read()
    text = _standard_input() if args.text == "-" else args.text
    files = read_files(app, args.file, out)
    options = AnswerOptions(
        {
            "model": on_engine(app, args.model or _of_chat(app, args), args.engine, args.model),
            "temperature": args.temperature,
            "top_p": args.top_p,
            "context": args.context,
            "max_tokens": args.max_tokens,
            "mtp": "on" if args.depth is not None and args.mtp is None else args.mtp,
            "system_prompt": args.system,
            "thinking": args.think,
            "effort": args.effort,
            "adapter": args.adapter,
        },
        seed=args.seed,
        stop=tuple(args.stop),
        grammar=read_file(args.grammar) if args.grammar else None,
        depth=args.depth,
        thinking_budget=args.think_budget,
        anyway=args.anyway,
        under=layers_of(app, args.assistant),
        collections=tuple(app.knowledge.find(collection).id for collection in args.docs) or None,
    )

    def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
        if args.chat is None:
            system = app.preparing.prepare(settings, options).settings.system_prompt
            question = Message("user", text)
            messages = (Message("system", system.strip()), question) if system else (question,)
            return app.answers.once(messages, settings, options, loading(app, out), cancel, files)
        _, answer = app.chats.ask(app.chats.chat(args.chat).id, text, files=files)
        app.documents.save_copies(zip(args.file, files, strict=True))
        if options.model is None:
            note_local_only(app, answer.chat_id, settings, out, "--model")
        return app.answers.write(answer, settings, options, loading(app, out), cancel)

    def files_of(sources: Sequence[PromptSource]) -> Sequence[AttachedFile]:
        if args.chat is None:
            return app.grounding.files_of(sources, files)
        return app.grounding.files(app.chats.path(app.chats.chat(args.chat).id))

    grounds = _collections(app, args, options)
    for state in grounds:
        if unread := not_read(state):
            words = joined(", ", unread)
            out.note(N_("{name}: {words}.", name=state.collection.name, words=words))
    return print_answer(
        app, interruptible(work), out, args.think, files=files_of, collections=grounds
    )


def _collections(
    app: App, args: argparse.Namespace, options: AnswerOptions
) -> list[CollectionState]:
    """Return the state of the collections that ground the answer."""
    if args.chat is None:
        chosen = options.collections or ()
    else:
        chosen = app.preparing.collections_of(options, app.chats.chat(args.chat).id)
    existing = {collection.id for collection in app.knowledge.collections()}
    return [app.knowledge.state(collection) for collection in chosen if collection in existing]


def answer_built_in(app: App, out: Output) -> int:
    """Ask the starter model one built-in question, so that anyone can see that Hearth works."""
    out.note(f"> {BUILT_IN_QUESTION}")
    settings = app.settings.read().changed("model", "starter")

    def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
        messages = (Message("user", BUILT_IN_QUESTION),)
        return app.answers.once(messages, settings, AnswerOptions(), loading(app, out), cancel)

    return print_answer(app, interruptible(work), out)


def _standard_input() -> str:
    text = read()
    if not text.strip():
        raise WrongUsage(
            N_("There is no question on standard input."),
            N_("The TEXT was -, and nothing came from there."),
            N_("Give the question as TEXT, or pipe it in."),
        )
    return text


def read_files(app: App, paths: Sequence[Path], out: Output) -> list[AttachedFile]:
    """Read the files that go with a question.

    Raises:
        DocumentNotRead: A file cannot be read.
        Cancelled: The user pressed Ctrl+C.
    """
    files: list[AttachedFile] = []

    def work(cancel: CancelToken) -> Iterator[AttachedFile]:
        for path in paths:
            yield app.documents.read(path, cancel)

    for file in interruptible(work):
        files.append(file)
        for note in left_out(file.name, file.document):
            out.note(note)
    return files


def on_engine(
    app: App, model: str | None, engine: EngineName | None, otherwise: str | None = None
) -> str | None:
    """Return the id of a model on an engine, or `otherwise` if no engine was requested.

    Args:
        model: None means the model of the settings.

    Raises:
        EngineUnavailable: The error says what the engine would need.
    """
    if engine is None:
        return otherwise
    entry = app.library.find(model or app.settings.read().model)
    return app.choice.entry_for(entry, engine).id


def _of_chat(app: App, args: argparse.Namespace) -> str | None:
    """Return the model of the chat to continue, or None if the settings decide."""
    if args.chat is None or args.engine is None:
        return None
    chat = app.chats.chat(args.chat)
    return app.preparing.model_of(chat.id, app.settings.read())


def _depth(text: str) -> int:
    number = whole(text)
    if not 1 <= number <= MAX_DEPTH:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {MAX_DEPTH}")
    return number


def _temperature(text: str) -> float:
    return _as_setting("temperature", text)


def _top_p(text: str) -> float:
    return _as_setting("top_p", text)


def _as_setting(name: str, text: str) -> float:
    """Return a number within the bounds of the setting of that name."""
    try:
        return float(getattr(Settings().changed(name, text), name))
    except SettingsInvalid as error:
        raise argparse.ArgumentTypeError(f"{text}: {error.why.rstrip('.')}") from None


COMMAND = Command(
    "ask",
    "ask one question and print the answer",
    ask,
    (
        Argument("text", "the question; - reads it from standard input", metavar="TEXT"),
        MODEL,
        ENGINE,
        Argument(
            "--mtp",
            "multi-token prediction (MTP): auto guesses tokens ahead where that is faster, on "
            f"always, off never; {USUAL}",
            choices=MODES,
        ),
        Argument(
            "--depth",
            f"how many tokens to guess ahead, 1 to {MAX_DEPTH}; turns MTP on unless --mtp auto is "
            "given; by default Hearth decides",
            type=_depth,
            metavar="N",
        ),
        Argument("--system", f"the system prompt; {USUAL}", metavar="S"),
        Argument(
            "--assistant",
            "ask this assistant; only without --chat",
            metavar="NAME",
            offers="assistants",
        ),
        Argument(
            "--max-tokens",
            f"the longest answer, in tokens; 0 sets no limit; {USUAL}",
            type=count,
            metavar="N",
        ),
        Argument(
            "--temperature",
            f"0 to 5; 0 always takes the most likely token; {USUAL}, at first 0.7",
            type=_temperature,
            metavar="T",
        ),
        Argument(
            "--top-p",
            "draw from the most likely tokens that together have this probability, above 0 and up "
            f"to 1; 1 draws from all; {USUAL}, at first 0.95",
            type=_top_p,
            metavar="P",
        ),
        Argument(
            "--seed",
            "a number that makes the answer repeatable; by default another one each time",
            type=count,
            metavar="N",
        ),
        Argument(
            "--context",
            f"how many tokens the model sees at once; 0 chooses what fits this computer; {USUAL}",
            type=count,
            metavar="N",
        ),
        Argument(
            "--stop",
            "end the answer before this text; can be given several times; by default none",
            action="append",
            default=[],
            metavar="S",
        ),
        Argument(
            "--file",
            "ask about this file: text, PDF, DOCX, XLSX, PPTX, RTF, EPUB, HTML, e-mail, a picture, "
            "or a sound as WAV, MP3 or FLAC; can be given several times",
            action="append",
            default=[],
            type=Path,
            metavar="PATH",
        ),
        Argument(
            "--image",
            "ask about this picture, if the model sees; can be given several times",
            action="append",
            dest="file",
            type=Path,
            metavar="PATH",
        ),
        Argument(
            "--docs",
            "ground the answer in this collection; can be given several times; otherwise in the "
            "collections of the chat",
            action="append",
            default=[],
            metavar="COLLECTION",
            offers="collections",
        ),
        Argument(
            "--grammar", "make the answer follow this GBNF grammar", type=Path, metavar="FILE"
        ),
        ANYWAY,
        ADAPTER,
        *REASONING,
        Argument("--chat", "continue this chat and save it", metavar="ID"),
    ),
)
