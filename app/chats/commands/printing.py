"""Prints an answer: as it arrives, or as one JSON value at its end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from app.chats.answers.values.answers import AnswerEvent, Compaction, Ended, Grounded, Ready
from app.chats.answers.values.thinking import why_fixed
from app.chats.history.values.conversation import Failure
from app.documents.citations.values import Citation, CitationCheck
from app.documents.collections.values import CollectionState
from app.documents.values.documents import (
    AttachedFile,
    Document,
    FileShare,
    PromptSource,
    location_words,
)
from app.kit.terminal.output import Output
from app.models.library.values.entry import ModelEntry
from app.net.hosts import is_loopback
from app.settings.values.fields import Settings
from engines.base import Progress
from engines.errors import UserError
from engines.sentences import N_, listed
from engines.types import (
    Done,
    LoadedModel,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    WasReasoning,
)

if TYPE_CHECKING:
    from app.wiring.app import App


class AnswerFailed(UserError):
    """The error of an answer that was saved as failed, with the saved texts."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.what, failure.why, failure.do, terminal=failure.terminal)
        self.code = failure.code


@dataclass
class _Received:
    """The parts of an answer that have arrived so far.

    Attributes:
        think: See `print_answer`.
        notes: Sentences about its prompt.
        shows_progress: Whether the terminal shows a line that is cleared at the next event.
    """

    think: str | None = None
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    done: Done | None = None
    ready: Ready | None = None
    failure: AnswerFailed | None = None
    sources: tuple[PromptSource, ...] = ()
    citations: tuple[Citation, ...] = ()
    files: Sequence[AttachedFile] = ()
    collections: Sequence[CollectionState] = ()
    notes: list[str] = field(default_factory=list)
    shows_progress: bool = False

    def add(self, event: AnswerEvent, out: Output) -> None:
        self._show_progress(event, out)
        match event:
            case TextDelta(text):
                self.text.append(text)
                out.piece(text)
            case ReasoningDelta(text):
                if not self.reasoning:
                    out.note(N_("Thinking …"))
                self.reasoning.append(text)
            case WasReasoning():
                self.reasoning += self.text
                self.text.clear()
                out.piece("\n")
            case Ready(_, loaded):
                self.ready = event
                self._begin(loaded, out)
            case Grounded(sources, shares):
                self.sources = sources
                self._note(filter(None, map(_share_note, shares)), out)
            case Compaction():
                self._note(_making_room(event), out)
            case Done():
                self.done = event
            case Ended(message) if message.failure is not None:
                self.failure = AnswerFailed(message.failure)

    def _show_progress(self, event: AnswerEvent, out: Output) -> None:
        """Show how far the prompt is read, on a line that is cleared at the next event."""
        if isinstance(event, PromptProgress):
            count, total = f"{event.read_tokens:,}", f"{event.prompt_tokens:,}"
            out.rewrite(N_("Reading {count} of {total} tokens", count=count, total=total))
        elif self.shows_progress:
            out.rewrite("")
        self.shows_progress = isinstance(event, PromptProgress)

    def _note(self, notes: Iterable[str], out: Output) -> None:
        for note in notes:
            self.notes.append(note)
            out.note(note)

    def _begin(self, loaded: LoadedModel, out: Output) -> None:
        if self.think is not None and loaded.thinking != "switch":
            out.note(why_fixed(loaded.thinking))


def _making_room(event: Compaction) -> Iterator[str]:
    """Yield a sentence about making room in the context."""
    match event:
        case Compaction("begun", count):
            yield N_("Summarising the oldest {count} messages to make room.", count=count)
        case Compaction("failed", why=why):
            yield N_("The oldest messages could not be summarised. {why}", why=why)


def _share_note(share: FileShare) -> str:
    """Return how much of a file is in the prompt; "" if all of it is."""
    if share.unmatched:
        return N_(
            "{name}: nothing in it matches the question, so only its beginning is included.",
            name=share.name,
        )
    if share.complete:
        return ""
    if share.nothing and not share.unseen:
        return N_("{name}: left out, because nothing in it matches the question.", name=share.name)
    return N_("{name}: {share} are included.", name=share.name, share=share)


def loading(app: App, out: Output) -> Progress:
    """Return a callback that shows how far a model is loaded, and what its worker is doing."""
    return lambda share: out.progress(share, app.answers.doing("vllm"))


def print_answer(
    app: App,
    events: Generator[AnswerEvent, None, None],
    out: Output,
    think: str | None = None,
    reported: set[str] | None = None,
    files: Callable[[Sequence[PromptSource]], Sequence[AttachedFile]] = lambda _sources: (),
    collections: Sequence[CollectionState] = (),
) -> int:
    """Print an answer and return the exit status.

    The answer's error is raised after the answer has been printed. With JSON output, the one value
    holds both and nothing is raised.

    Args:
        think: Thinking as requested, on or off; a note is printed if that has no effect.
        reported: Notes on the engine that were printed before and are not repeated; new ones are
            added.
        files: Returns the files in the answer's prompt, given its sources; its quotes are checked
            against them.
        collections: The collections that ground the answer.
    """
    received = _Received(think)
    received.collections = collections
    try:
        with closing(events):
            for event in events:
                if isinstance(event, Ready) and event.entry.on_server:
                    _note_destination(app, event.entry, out)
                received.add(event, out)
    finally:
        if received.text:
            out.piece("\n")
        if received.done is not None:
            received.files = files(received.sources)
            if received.files:
                received.citations = _checked("".join(received.text), received.files)
            _conclude(received, received.done, out, set() if reported is None else reported)
    if received.failure is None:
        return 0
    if out.as_json and received.done is not None:
        return 1
    raise received.failure


def _checked(text: str, files: Sequence[AttachedFile]) -> tuple[Citation, ...]:
    """Check the quotes of an answer without its markup, as the window does."""
    from app.markdown.parser import Parser
    from app.markdown.reading import read_text

    return CitationCheck(files).check(read_text(Parser().parse(text)))


def _note_destination(app: App, entry: ModelEntry, out: Output) -> None:
    """Print a note that text leaves this computer, before it does."""
    profile = app.servers.find(entry.server)
    if not is_loopback(profile.host):
        out.note(
            N_(
                "Text leaves this computer: it goes to {name} ({host}).",
                name=profile.name,
                host=profile.host,
            )
        )


def note_local_only(app: App, chat_id: str, settings: Settings, out: Output, word: str) -> None:
    """Print a note if a chat is kept from a server.

    Args:
        word: The command that chooses a model.
    """
    server = app.preparing.withheld_model(chat_id, settings)
    if server is not None:
        out.note(
            N_(
                "This chat stays on this computer: nobody has chosen {server} for it. {word} "
                "{server} sends it there.",
                server=server,
                word=word,
            )
        )


def _conclude(received: _Received, done: Done, out: Output, reported: set[str]) -> None:
    """Print the JSON value of an answer, or the notes that belong to it."""
    value = _value(received, done)
    if received.failure is not None and out.as_json:
        out.error(received.failure, answer=value)
    elif out.as_json:
        out.value(value, str)
    if done.usage.left_out:
        out.note(
            N_(
                "The oldest {left_out} messages did not fit and were left out.",
                left_out=done.usage.left_out,
            )
        )
    _report_citations(received.citations, out)
    for differs in value["notes"]:
        if differs not in reported:
            out.note(differs)
    reported.update(value["notes"])
    if done.mtp.mode == "on" or done.mtp.active:
        out.note(done.mtp.reason)


def _report_citations(citations: Sequence[Citation], out: Output) -> None:
    """Print which quotes of an answer are not where it says they are."""
    found = sum(citation.verdict in {"found", "place_unchecked"} for citation in citations)
    if citations:
        out.note(
            N_(
                "{found} of {count} quotes were found in the files.",
                found=found,
                count=len(citations),
            )
        )
    for citation in citations:
        where = listed(location_words(span.place) for span in citation.spans)
        if citation.verdict == "elsewhere":
            out.note(
                N_(
                    "Not where the answer says, but in {name}, {where}: “{quote}”",
                    name=citation.name,
                    where=where,
                    quote=citation.quote,
                )
            )
        elif citation.verdict == "place_unchecked":
            out.note(
                N_(
                    "The words are in {name}, {where}, but the place that the answer names could "
                    "not be checked: “{quote}”",
                    name=citation.name,
                    where=where,
                    quote=citation.quote,
                )
            )
        elif citation.verdict == "not_found":
            out.note(N_("Not in the files: “{quote}”", quote=citation.quote))


def _value(received: _Received, done: Done) -> dict[str, Any]:
    ready = received.ready
    return {
        "text": "".join(received.text),
        "reasoning": "".join(received.reasoning) or None,
        # The protocols of other programs have no value for an answer that repeats itself.
        "finish_reason": "length" if done.finish_reason == "repetition" else done.finish_reason,
        "model": ready.entry.id if ready else None,
        "engine": ready.engine if ready else None,
        "mtp": asdict(done.mtp),
        "usage": asdict(done.usage),
        "timing": asdict(done.timing),
        "seed": done.seed,
        "notes": list(dict.fromkeys((*_of_engine(ready), *done.notes, *received.notes))),
        **_of_files(received),
    }


def _of_files(received: _Received) -> dict[str, Any]:
    """Return the JSON of an answer's files, collections, sources and quotes.

    Positions refer to a file's whole text, except in `spans`, which count within its pages; `at` is
    the position of a quote in the answer without its markup.
    """
    documents = {file.document.sha256: file.document for file in received.files}
    value: dict[str, Any] = {}
    if received.files:
        value["files"] = [asdict(file.attachment) for file in received.files]
    if received.collections:
        value["collections"] = [_collection(collection) for collection in received.collections]
    if received.sources:
        value["sources"] = [asdict(source) for source in received.sources]
        value["passages"] = [
            _passage(source, documents[source.document])
            for source in received.sources
            if source.document in documents
        ]
    if received.citations:
        value["citations"] = [
            _cited(citation, documents.get(citation.document)) for citation in received.citations
        ]
    return value


def _collection(state: CollectionState) -> dict[str, Any]:
    """Return the JSON of how far a collection is read."""
    counts = ("files", "waiting", "unreadable", "scans", "partly_read", "empty")
    return {"name": state.collection.name, **{count: getattr(state, count) for count in counts}}


def _passage(source: PromptSource, document: Document) -> dict[str, Any]:
    """Return the JSON of a part of a prompt; a whole file has no page."""
    if not source.place:
        return {"file": source.name, "page": None, "start": 0, "end": len(document.text)}
    before = document.start_of(source.place)
    start, end = before + source.start, before + source.end
    page = document.sections[source.place - 1].place.page
    text = document.text[start:end]
    return {"file": source.name, "page": page, "start": start, "end": end, "text": text}


def _cited(citation: Citation, document: Document | None) -> dict[str, Any]:
    """Return the JSON of a quote and of where its words are."""
    place: dict[str, Any] = {"page": None, "start": None, "end": None}
    if document is not None and citation.spans:
        first, last = citation.spans[0], citation.spans[-1]
        place = {
            "page": first.place.page,
            "start": document.start_of(first.place.number) + first.start,
            "end": document.start_of(last.place.number) + last.end,
        }
    return {
        "quote": citation.quote,
        "found": citation.verdict == "found",
        "verdict": citation.verdict,
        "file": citation.name or None,
        **place,
        "document": citation.document or None,
        "spans": [asdict(span) for span in citation.spans],
        "at": {"start": citation.start, "end": citation.end},
    }


def _of_engine(ready: Ready | None) -> tuple[str, ...]:
    """Return why this engine answers, and its notes on how it deviates from the plan."""
    if ready is None:
        return ()
    return (*((ready.why,) if ready.why else ()), *ready.loaded.notes)
