"""`hearth chat`: a conversation in the terminal, stored like one in the window."""

from __future__ import annotations

import argparse
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, TextIO, cast

from app.assistants.values.assistants import NewChat
from app.base.language import translated
from app.chats.answers.values.answers import AnswerEvent, AnswerOptions, Ready
from app.chats.commands.ask import answer_built_in, on_engine
from app.chats.commands.printing import loading, note_local_only, print_answer
from app.chats.history.values.conversation import StoredMessage
from app.kit.terminal import streams
from app.kit.terminal.arguments import ADAPTER, ANYWAY, ENGINE, MODEL, MODES, REASONING
from app.kit.terminal.command import Command
from app.kit.terminal.interrupt import interruptible
from app.kit.terminal.output import Output, table
from app.models.library.services.mtp_advice import mtp_of_files
from app.models.library.values.entry import STARTER
from app.runtime.services.choice import NAMES
from app.settings.values.fields import Settings
from app.settings.values.models import effective
from engines.cancel import CancelToken
from engines.errors import EngineUnavailable, UserError
from engines.sentences import N_
from engines.text import on_one_line
from engines.types import EngineName, MtpMode, takes_restart

if TYPE_CHECKING:
    from app.wiring.app import App

GUIDE_NOTE = N_(
    "This is the tiny built-in guide: it knows Hearth and a little small talk. "
    "For a real model: hearth models import FILE, then /model NAME."
)


_SILENCE_S = 2.0


class _Leave(Exception):
    """The user typed /quit."""


@dataclass
class Conversation:
    """A chat in the terminal, stored with its first question."""

    app: App
    out: Output
    model: str | None = None
    chat_id: str | None = None
    mtp: MtpMode | None = None
    options: AnswerOptions = field(default_factory=AnswerOptions)
    commands: dict[str, tuple[str, Callable[[str], None]]] = field(init=False)
    _reported_notes: set[str] = field(default_factory=set)
    _ready: Ready | None = None
    _answered: dict[EngineName, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.commands = {
            "/help": (N_("show these commands"), self._help),
            "/new": (N_("begin a new chat"), self._new),
            "/again": (N_("answer the last question again"), self._answer_again),
            "/continue": (N_("continue an answer that was stopped or cut off"), self._continue),
            "/model": (N_("NAME: choose a model; without a name, list all"), self._model),
            "/engine": (
                N_("llamacpp, vllm or remote: run the same model on this engine"),
                self._engine,
            ),
            "/mtp": (N_("auto, on or off for this chat; alone, show the present state"), self._mtp),
            "/think": (N_("on or off: reasoning, for a model that can do both"), self._think),
            "/chats": (N_("list the chats; /open ID continues one"), self._chats),
            "/open": (N_("ID: continue a chat"), self._open_chat),
            "/quit": (N_("end the chat; Ctrl-D does the same"), self._quit),
        }

    def say(self, line: str) -> None:
        """Handle one typed line: a command or a question. Raises _Leave and UserError."""
        line = line.strip()
        if not line:
            return
        word, *rest = line.split(maxsplit=1)
        if word in self.commands:
            self.commands[word][1]("".join(rest))
        elif word.startswith("/") and "/" not in word[1:]:
            self.out.note(N_("There is no command {word}. /help shows all of them.", word=word))
        else:
            mtp = self.mtp or self._settings().mtp
            begins = None if self.chat_id else self._begins()
            question, answer = self.app.chats.ask(self.chat_id, line, mtp, begins)
            self.chat_id = question.chat_id
            self._write(answer)

    def _begins(self) -> NewChat:
        """Return the settings of a new chat, with the model that it will keep."""
        usual = self.app.settings.read()
        model = self.app.library.find(self.model).id if self.model else usual.model
        return self.app.preparing.with_model(NewChat(model, usual=self.model is None), usual)

    def _write(self, answer: StoredMessage) -> None:
        settings = self.app.settings.read()
        if self.model is None:
            note_local_only(self.app, answer.chat_id, settings, self.out, "/model")

        def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
            options = self.options.changed(model=self.model)
            for event in self.app.answers.write(
                answer, settings, options, loading(self.app, self.out), cancel
            ):
                if isinstance(event, Ready):
                    self._ready = event
                    self._answered[event.entry.engine] = event.entry.id
                yield event

        think = cast("str | None", self.options.settings.get("thinking"))
        print_answer(self.app, interruptible(work), self.out, think, self._reported_notes)

    def _last_answer(self) -> StoredMessage | None:
        path = self.app.chats.path(self.chat_id) if self.chat_id else ()
        if path and path[-1].role == "assistant":
            return path[-1]
        self.out.note(N_("There is no answer yet."))
        return None

    def _help(self, _: str) -> None:
        for word, (text, _command) in self.commands.items():
            self.out.line(f"  {word:<10} {translated(text)}")
        self.out.line(N_("  Ctrl-C     stop an answer, and keep what is written"))

    def _new(self, _: str) -> None:
        self.chat_id = self.mtp = None

    def _answer_again(self, _: str) -> None:
        if (last := self._last_answer()) is not None:
            self._write(self.app.chats.answer_again(last.chat_id, last.id))

    def _continue(self, _: str) -> None:
        if (last := self._last_answer()) is not None:
            self._write(self.app.chats.reopen(last))

    def _model(self, name: str) -> None:
        if name:
            self.model = self.app.library.find(name).id
            return
        chosen = self.model or self.app.settings.read().model
        rows = [
            ("*" if entry.id == chosen else " ", entry.id, entry.name)
            for entry in self.app.library.entries()
        ]
        self.out.line(table(rows))

    def _engine(self, name: str) -> None:
        """Switch to the same model on another engine; chat, branches and settings stay."""
        entry = self.app.library.find(self.model or self._stored() or self._settings().model)
        if name and name not in NAMES:
            self.out.note(
                N_("The engine can be {names}; not {name}.", names=", ".join(NAMES), name=name)
            )
            return
        if not name:
            self.out.line(
                N_("{name} is answered by {names}.", name=entry.name, names=NAMES[entry.engine])
            )
            return
        try:
            other = self.app.choice.entry_for(entry, name)
        except EngineUnavailable:
            if name not in self._answered:
                raise
            # The same model is not known there, but another model of that engine has answered here.
            other = self.app.library.find(self._answered[name])
        self.model = other.id
        self.out.line(N_("{name} answers, by {names}.", name=other.name, names=NAMES[other.engine]))

    def _stored(self) -> str | None:
        """Return the model of the open chat."""
        if self.chat_id is None:
            return None
        return self.app.preparing.model_of(self.chat_id, self.app.settings.read())

    def _mtp(self, mode: str) -> None:
        if mode in MODES:
            self._note_restart(cast(MtpMode, mode))
            self.mtp = cast(MtpMode, mode)
            if self.chat_id is not None:
                self.app.chats.set_mtp(self.chat_id, self.mtp)
        elif mode:
            self.out.note(N_("MTP can be {modes}; not {mode}.", modes=", ".join(MODES), mode=mode))
            return
        stands = self.mtp or self._settings().mtp
        self.out.line(N_("MTP is set to {mode} for this chat.", mode=stands))
        if stands != "off":
            self.out.line(self._mtp_line(stands, self.model or self.app.settings.read().model))

    def _note_restart(self, mode: MtpMode) -> None:
        loaded = self._ready.loaded if self._ready else None
        before = self.mtp or self._settings().mtp
        if loaded is not None and takes_restart(loaded.mtp_switch, before, mode):
            self.out.line(
                N_(
                    "The next answer waits for a restart; the last one took {restart_s} s.",
                    restart_s=f"{loaded.restart_s:.0f}",
                )
            )

    def _think(self, switch: str) -> None:
        if switch not in {"on", "off"}:
            self.out.note(N_("Thinking can be on or off."))
            return
        self.options = self.options.changed(thinking=switch)
        self.out.line(
            N_(
                "Thinking is {switch} from now on, for models that can switch it.",
                switch=switch,
            )
        )

    def _settings(self) -> Settings:
        """Read the settings that apply to the model in use."""
        settings = self.app.settings.read()
        return effective(settings, self.app.library.own(self.model or settings.model))

    def _mtp_line(self, mode: MtpMode, model: str) -> str:
        """Return what MTP did for the last answer, or what the model's files say about MTP."""
        path = self.app.chats.path(self.chat_id) if self.chat_id else ()
        facts = path[-1].facts if path else None
        if facts is not None and facts.mtp is not None and facts.mtp.mode == mode:
            return facts.mtp.reason
        library = self.app.library
        return mtp_of_files(library, library.find(model), self.app.advise)

    def _chats(self, _: str) -> None:
        for chat in self.app.chats.chats():
            mark = "*" if chat.id == self.chat_id else " "
            self.out.line(f"{mark} {chat.id[:8]}  {on_one_line(chat.title)}")

    def _open_chat(self, chat_id: str) -> None:
        chat = self.app.chats.chat(chat_id)
        self.chat_id, self.mtp = chat.id, chat.mtp
        for message in self.app.chats.path(self.chat_id):
            line = f"> {message.text}" if message.role == "user" else f"{message.text}\n"
            self.out.piece(f"{line}\n")

    def _quit(self, _: str) -> None:
        raise _Leave


def chat_or_answer_once(app: App, _: argparse.Namespace, out: Output) -> int:
    """Run `hearth` without a display: chat, or answer one built-in question if nobody types.

    A script can start Hearth with a standard input that is open but stays silent.
    """
    if not sys.stdin.isatty() and _is_silent(sys.stdin):
        return answer_built_in(app, out)
    return chat(app, AnswerOptions(), out, proves=True)


def _is_silent(stream: TextIO) -> bool:
    """Return whether the stream stays silent for a moment; False on Windows, which cannot tell."""
    if sys.platform == "win32":
        return False
    return not select.select([stream], [], [], _SILENCE_S)[0]


def chat_as_asked(app: App, args: argparse.Namespace, out: Output) -> int:
    """Run the command and return the exit status."""
    options = AnswerOptions(
        {
            "model": on_engine(app, args.model, args.engine, args.model),
            "thinking": args.think,
            "effort": args.effort,
            "adapter": args.adapter,
        },
        anyway=args.anyway,
        thinking_budget=args.think_budget,
    )
    return chat(app, options, out)


def chat(app: App, options: AnswerOptions, out: Output, *, proves: bool = False) -> int:
    """Read questions and commands until the end, and return the exit status.

    Piped input is answered line by line as it arrives. An error is printed, the next line is
    answered, and the status is 1.

    Args:
        proves: Answer one built-in question if standard input ends at once.
    """
    conversation = Conversation(app, out, options.model, options=options)
    if options.model is not None:
        app.library.find(options.model)
    if sys.stdin.isatty():
        return _by_hand(conversation)
    lines: Iterator[str] = (line.strip() for line in streams.lines() if line.strip())
    if proves:
        first = next(lines, None)
        if first is None:
            return answer_built_in(app, out)
        lines = chain([first], lines)
    status, has_asked = 0, False
    for line in lines:
        has_asked = True
        out.note(f"> {line}")
        try:
            conversation.say(line)
        except _Leave:
            break
        except streams.NoOutput:
            raise
        except UserError as error:
            out.error(error)
            status = 1
    if not has_asked:
        out.note(N_("Standard input ended before anything was asked."))
    return status


def _by_hand(conversation: Conversation) -> int:
    read_line = _line_reader([*conversation.commands])
    if (conversation.model or conversation.app.settings.read().model) == STARTER:
        conversation.out.note(GUIDE_NOTE)
    conversation.out.note(N_("/help lists the commands, Ctrl-D ends the chat."))
    while True:
        try:
            conversation.say(read_line())
        except (EOFError, _Leave):
            conversation.out.line("")
            return 0
        except KeyboardInterrupt:
            conversation.out.line("")
        except streams.NoOutput:
            raise
        except UserError as error:
            conversation.out.error(error)


def _line_reader(commands: Sequence[str]) -> Callable[[], str]:
    """Return a function that reads a typed line.

    It offers a history and completes commands, and takes pasted lines as one. Without a terminal as
    output, nothing can be edited.
    """
    if not sys.stdout.isatty():
        return _plain_line
    # Imported here, as no other command needs it.
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter

    completer = WordCompleter(commands, sentence=True)
    session: PromptSession[str] = PromptSession(
        "> ", completer=completer, complete_while_typing=False
    )
    # While a line is edited, Ctrl-C is a key; otherwise the usual handler keeps the signal.
    return lambda: session.prompt(handle_sigint=False)


def _plain_line() -> str:
    streams.say("> ", end="")
    return input("")


COMMAND = Command(
    "chat",
    "chat in the terminal; /help lists the commands there",
    chat_as_asked,
    (MODEL, ENGINE, ANYWAY, ADAPTER, *REASONING),
)
