"""`hearth docs`: manages and searches collections of files and folders."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.base.errors import CollectionUnknown
from app.base.language import translated
from app.documents.collections.services.knowledge import existing_paths
from app.documents.collections.values import (
    CollectionState,
    DocumentCollection,
    FoundPassage,
    IndexedFile,
    IndexProgress,
    PathTrouble,
)
from app.documents.values.documents import Document, location_words
from app.kit.terminal.arguments import positive
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.interrupt import interruptible
from app.kit.terminal.output import Output, size, table
from engines.cancel import CancelToken
from engines.sentences import N_, joined, listed

if TYPE_CHECKING:
    from app.documents.citations.values import Citation
    from app.wiring.app import App

_DOING = {
    "looking": N_("Looking for files"),
    "reading": N_("Reading files"),
    "vectors": N_("Making vectors"),
}
_LOOK_S = 0.5


def _add(app: App, args: argparse.Namespace, out: Output) -> int:
    """Add paths and index the collection; without paths, continue unfinished indexing."""
    paths = existing_paths(args.paths)
    collection = app.knowledge.add(_named_or_made(app, args).id, paths)
    if args.background:
        out.note(N_("They are read while the window is open, or by `hearth docs add`."))
    else:
        _index(app, collection, out)
    _note_state(app, collection, out)
    return 0


def _named_or_made(app: App, args: argparse.Namespace) -> DocumentCollection:
    """Find the collection, or create it if there is something to add."""
    try:
        return app.knowledge.find(args.what)
    except CollectionUnknown:
        if not args.paths:
            raise
        return app.knowledge.create(args.what)


def _index(app: App, collection: DocumentCollection, out: Output) -> None:
    """Index a collection, or wait for another Hearth that does. Raises KeyboardInterrupt."""

    def work(cancel: CancelToken) -> Iterator[IndexProgress]:
        while app.knowledge.is_locked_elsewhere(collection.id) and not cancel.wait(_LOOK_S):
            state = app.knowledge.state(collection.id)
            done = state.files - state.waiting
            yield IndexProgress(collection, "reading", done, state.files)
        yield from app.knowledge.work(cancel, only=collection.id)

    began = 0.0
    try:
        for progress in interruptible(work):
            if time.monotonic() - began > 0.1 or progress.done == progress.total:
                began = time.monotonic()
                line = N_(
                    "{doing}: {done} of {total}  {file}",
                    doing=_DOING[progress.doing],
                    done=f"{progress.done:,}",
                    total=f"{progress.total:,}",
                    file=progress.file,
                )
                out.rewrite(translated(line)[:100])
    finally:
        out.rewrite("")


def _note_state(app: App, collection: DocumentCollection, out: Output) -> None:
    state = app.knowledge.state(collection.id)
    files = app.knowledge.files(collection.id)
    unreadable = [file for file in files if file.state == "unreadable"]
    for file in files:
        if file.state == "unreadable":
            out.note(
                N_("{name} cannot be read. {why} {do}", name=file.name, why=file.why, do=file.do)
            )
        elif file.state not in {"read", "waiting"}:
            out.note(N_("{name}: {state}.", name=file.name, state=_state_words(file)))
    for trouble in state.troubles:
        out.note(_trouble(trouble))
    if not state.model and (why := app.knowledge.embedder().why):
        out.note(N_("Only words are searched. {why}", why=why))
    out.value(
        {**_state(state), "unreadable_files": [_file(file) for file in unreadable]},
        lambda: _summary(state),
    )


def _list(app: App, _args: argparse.Namespace, out: Output) -> int:
    states = [app.knowledge.state(collection.id) for collection in app.knowledge.collections()]
    rows = [(state.collection.name, _summary(state)) for state in states]
    out.value(
        [_state(state) for state in states],
        lambda: (
            table(rows) or N_("No collections yet; `hearth docs add COLLECTION PATH` makes one.")
        ),
    )
    return 0


def _show(app: App, args: argparse.Namespace, out: Output) -> int:
    state = app.knowledge.state(args.what)
    files = app.knowledge.files(state.collection.id)

    def human() -> str:
        head = N_("{name}: {summary}", name=state.collection.name, summary=_summary(state))
        lines = (head, *map(str, state.collection.paths), *map(_trouble, state.troubles))
        rows = table([(file.name, size(file.size), _state_words(file)) for file in files])
        return joined("\n\n", (joined("\n", lines), rows or N_("There are no files in it yet.")))

    out.value({**_state(state), "files": [_file(file) for file in files]}, human)
    return 0


def _trouble(trouble: PathTrouble) -> str:
    return N_("{path}: {why}", path=trouble.path, why=trouble.why)


def _search(app: App, args: argparse.Namespace, out: Output) -> int:
    """Search the index; a note says if some files are not in it yet."""
    collection = app.knowledge.find(args.what)
    question = " ".join(args.words)

    def work(cancel: CancelToken) -> Iterator[list[FoundPassage]]:
        yield app.knowledge.search([collection.id], question, args.limit, cancel)

    (found,) = interruptible(work)
    state = app.knowledge.state(collection.id)
    if state.waiting or state.looked is None:
        out.note(
            N_(
                "Not all files have been read yet. `hearth docs add {name}` continues.",
                name=collection.name,
            )
        )
    _note_unread(state, out)
    out.value(
        [passage_value(passage) for passage in found],
        lambda: joined("\n\n", map(_passage_text, found)) or N_("Nothing was found."),
    )
    return 0


def _passage_text(passage: FoundPassage) -> str:
    by = listed(_BY[way] for way in passage.by)
    place = location_words(passage.place)
    head = N_("{file}, {place} ({by})", file=passage.file, place=place, by=by)
    return N_("{head}\n{text}", head=head, text=passage.text.strip())


def _check(app: App, args: argparse.Namespace, out: Output) -> int:
    """Print where a quote is, word for word, or that it is not there."""
    collection = app.knowledge.find(args.what)
    found = app.knowledge.check([collection.id], args.quote)
    documents = app.knowledge.documents(passage.document for passage in found)
    places = [
        _place(passage, documents[passage.document])
        for passage in found
        if passage.document in documents
    ]
    _note_unread(app.knowledge.state(collection.id), out)
    nowhere = {"found": False, "file": None, "page": None, "start": None, "end": None}
    value = {**places[0], "also": places[1:]} if places else nowhere
    out.value(
        value,
        lambda: (
            joined("\n", map(_quoted, found)) or N_("The collection does not contain these words.")
        ),
    )
    return 0


def _quoted(citation: Citation) -> str:
    places = listed(location_words(span.place) for span in citation.spans)
    return N_("{name}, {places}", name=citation.name, places=places)


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    """Remove a collection, or some of its paths; the files themselves stay."""
    collection = app.knowledge.find(args.what)
    if not args.paths:
        app.knowledge.remove(collection.id)
        out.value(
            {"removed": collection.id},
            lambda: N_("Removed “{name}”. Its files were not changed.", name=collection.name),
        )
        return 0
    for path in args.paths:
        collection = app.knowledge.remove_path(collection.id, path)
    _index(app, collection, out)
    _note_state(app, collection, out)
    return 0


def _pause(app: App, args: argparse.Namespace, out: Output, *, paused: bool) -> int:
    """Pause or resume the background reading of a collection."""
    collection = app.knowledge.pause(args.what, paused=paused)
    template = N_("“{name}” is paused.") if collection.paused else N_("“{name}” goes on.")
    out.value(
        {"id": collection.id, "paused": collection.paused},
        lambda: N_(template, name=collection.name),
    )
    return 0


def passage_value(passage: FoundPassage) -> dict[str, Any]:
    """Return a passage as a JSON value; start and end are positions in the file's whole text."""
    return {
        "file": passage.file,
        "page": passage.place.page,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
        "score": passage.score,
        "by": passage.by,
        "path": passage.path,
        "document": passage.document,
        "collection": passage.collection,
    }


def _place(found: Citation, document: Document) -> dict[str, Any]:
    """Return a quote's place as a JSON value; start and end are positions in the whole text."""
    first, last = found.spans[0], found.spans[-1]
    return {
        "found": True,
        "file": found.name,
        "page": first.place.page,
        "start": document.start_of(first.place.number) + first.start,
        "end": document.start_of(last.place.number) + last.end,
        "document": found.document,
    }


def _state(state: CollectionState) -> dict[str, Any]:
    value = asdict(state)
    return {**value.pop("collection"), **value, "not_all_read": state.not_all_read}


def _file(file: IndexedFile) -> dict[str, Any]:
    return {name: value for name, value in asdict(file).items() if value not in {"", ()}}


def _summary(state: CollectionState) -> str:
    """Summarise the state of an index in one line."""
    parts = [N_("{count} files", count=f"{state.files:,}")]
    parts += [N_("{waiting} not read yet", waiting=f"{state.waiting:,}")] if state.waiting else []
    parts += not_read(state)
    parts += (
        [N_("{left_out} of other kinds left out", left_out=f"{state.left_out:,}")]
        if state.left_out
        else []
    )
    parts.append(N_("{count} passages", count=f"{state.passages:,}"))
    if state.model:
        parts.append(
            N_(
                "{with_vectors} with vectors of {next_model}",
                with_vectors=f"{state.with_vectors:,}",
                next_model=state.next_model or state.model,
            )
        )
    parts.append(size(state.index_bytes))
    parts += [N_("paused")] if state.collection.paused else []
    return joined(", ", parts)


def not_read(state: CollectionState) -> list[str]:
    """List how many files are not fully read, by reason."""
    found = {
        N_("{count} unreadable"): state.unreadable,
        N_("{count} scans without text"): state.scans,
        N_("{count} with pages without text"): state.partly_read,
        N_("{count} without text"): state.empty,
    }
    return [N_(template, count=f"{count:,}") for template, count in found.items() if count]


def _note_unread(state: CollectionState, out: Output) -> None:
    """Note that words can be missing because some files could not be read."""
    if notes := not_read(state):
        out.note(N_("Some files were not read completely: {words}.", words=joined(", ", notes)))


_BY = {"text": N_("text"), "vector": N_("vector")}
_STATES = {
    "read": N_("read"),
    "waiting": N_("waiting"),
    "unreadable": N_("unreadable"),
    "partly_read": N_("read in part: some pages are pictures"),
    "scan": N_("not read: a scan without text"),
    "empty": N_("no text in it"),
}


def _state_words(file: IndexedFile) -> str:
    """Describe how far a file was read."""
    state = _STATES[file.state]
    if file.why:
        return joined(". ", (state, file.why))
    unread = listed(map(N_, file.unread))
    return joined("; ", (state, unread and N_("{unread} not read", unread=unread)))


_COLLECTION = Argument(
    "what", N_("the collection's name"), metavar="COLLECTION", offers="collections"
)

COMMAND = Command(
    "docs",
    "manage and search collections of files, in which answers can be grounded",
    verbs=(
        Command(
            "add",
            "add files and folders to a collection, and read them",
            _add,
            (
                _COLLECTION,
                Argument(
                    "paths",
                    "a file, or a folder with everything in it; without any, continue reading",
                    type=Path,
                    nargs="*",
                    metavar="PATH",
                ),
                Argument(
                    "--background",
                    "do not wait: the next Hearth that is open reads them",
                    action="store_true",
                ),
            ),
        ),
        Command("list", "list all collections", _list),
        Command("show", "show a collection with its files", _show, (_COLLECTION,)),
        Command(
            "search",
            "find passages by words and by meaning",
            _search,
            (
                _COLLECTION,
                Argument("words", "words, or a question", nargs="+", metavar="WORDS"),
                Argument(
                    "--limit",
                    "at most N passages; by default 10",
                    type=positive,
                    default=10,
                    metavar="N",
                ),
            ),
        ),
        Command(
            "check",
            "check whether a collection contains a quote, word for word",
            _check,
            (_COLLECTION, Argument("--quote", "the quote", required=True, metavar="TEXT")),
        ),
        Command(
            "rm",
            "remove a collection, or paths from it; the files stay where they are",
            _remove,
            (
                _COLLECTION,
                Argument("paths", "remove only these paths", type=Path, nargs="*", metavar="PATH"),
            ),
            aliases=("remove",),
        ),
        Command(
            "pause",
            "stop reading a collection in the background",
            partial(_pause, paused=True),
            (_COLLECTION,),
        ),
        Command(
            "resume",
            "continue reading a collection in the background",
            partial(_pause, paused=False),
            (_COLLECTION,),
        ),
    ),
)
