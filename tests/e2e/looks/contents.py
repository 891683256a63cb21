"""The contents of a well-used Hearth: chats of all kinds, models, assistants, prompts and more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from app.assistants.values.assistants import Assistant
from app.assistants.values.prompts import SavedPrompt
from app.chats.history.store.folders import new_folder
from app.chats.history.values.conversation import AnswerFacts, Failure, StoredMessage
from app.models.downloads.values.downloads import DownloadRequest
from app.models.hub.values.hub import SearchResult
from app.net.values.connections import LoggedConnection
from app.servers.values import ServerProfile
from app.wiring.app import App
from engines.cancel import CancelToken
from engines.types import MtpReport
from tests.engines.gguf_files import LLAMA, llama_tensors, write_gguf
from tests.support.made_documents import pdf
from tests.support.scripted_hub import GB, ScriptedHub, repository

HOUR: Final = 3600.0

_INVOICE: Final = "An invoice for electricity in the second quarter, to be paid within 14 days."
TERM: Final = "Term and notice"
LEASE_TEXT: Final = (
    "The lease ends on 31 March 2027. The tenant may end it earlier with three months’ notice in "
    "writing, to be sent to the landlord’s address as given in section 2."
)

RICH: Final = """\
Yes: keep a running total and the count, and divide at the end. One pass is enough.

### In Python

```python
def mean(values: Iterable[float]) -> float:
    total, count = 0.0, 0
    for value in values:
        total += value  # one number at a time
        count += 1
    return total / count if count else float("nan")
```

| Method | Passes | Memory | Exact to |
|:--|--:|--:|:--|
| Plain sum | 1 | 16 B | about 10 digits |
| Pairwise sum | 1 | 64 B | about 14 digits |
| `math.fsum` | 1 | 200 B | the last bit |

The mean is $\\bar{x} = \\frac{1}{n}\\sum_{i=1}^{n} x_i$, and its error grows with $n$.

- [x] Works on a generator
- [ ] Weights are *not* taken into account

> For money, count in whole cents: **no rounding** at all.

See [the documentation](https://docs.example.org/statistics) for the rest."""

TITLES: Final = (
    "Mean of a stream of numbers",
    "Bread that rises overnight",
    "A letter to the landlord",
    "Why is the sky dark at night?",
    "Names for a small bookshop",
    "Two weeks along the Danube by bicycle, with a tent",
    "Packing list",
    "Rust or Go for a command line tool?",
    "Explain the doppler effect",
    "Toast for a wedding",
    "SQL: the newest row of each group",
    "Exercises for a stiff neck",
    "Plan for the vegetable bed",
    "Regular expression for dates",
    "Summary of the meeting on Monday",
    "Which lens for portraits?",
)

REPORT: Final = "Annual report of the municipal bakery, second edition.pdf"
NOTES: Final = "notes.md"
PHOTO: Final = "oven.png"
FILES_ASKED: Final = "What changed since the report of last year, and what does it cost?"
PASTED: Final = "\n".join(f"Item {number}: bread" for number in range(60))
"""Text that is attached to a message."""

COLLECTION: Final = "Household papers"
OTHER_COLLECTION: Final = "Manuals of all the machines in the second hall, with their supplements"
SCAN: Final = "scan of the receipt for the repair of the heating.pdf"
FOLDER: Final = "A folder of papers, number"

LEASE: Final = "lease.pdf"
LEASE_PAGES: Final = (
    (
        "Lease of a flat",
        "The rent is 840 euros, due on the third working day of each month.",
        "The deposit is two months\u2019 rent, on an account of its own.",
    ),
    (
        "Repairs",
        "The landlord mends what is worn out, within two weeks of being told in writing.",
        "Small repairs up to 90 euros each are the tenant\u2019s.",
        "Nobody enters the flat without notice of three days.",
    ),
)
CITED: Final = """\
Repairs are for the most part not yours:

- “The landlord mends what is worn out, within two weeks of being told in writing” (lease.pdf, \
page 2).
- You pay only “small repairs up to 120 euros each” (page 2).
- For both, “The deposit is two months’ rent” (page 2) may be used.

So write to the landlord, and keep a copy of the letter."""

ASSISTANTS: Final = (
    Assistant(
        "look-1",
        "Proof-reader",
        "You correct spelling and grammar, and say briefly why. You leave the voice alone.",
        "Paste a text, and I will go through it with you.",
        settings={"temperature": 0.2},
    ),
    Assistant("look-2", "Cook", "You suggest dishes from what is in the house.", "What is there?"),
    Assistant(
        "look-3",
        "Patient teacher of mathematics for the upper school",
        "You never give the answer away. You ask the question that leads to the next step.",
    ),
)

PROMPTS: Final = (
    SavedPrompt("look-1", "Shorter", "Say this in half as many words:\n\n{{selection}}"),
    SavedPrompt("look-2", "Translate", "Translate into {{language}}:\n\n{{clipboard}}"),
    SavedPrompt("look-3", "Minutes", "Make minutes of {{date}} out of these notes:\n\n{{notes}}"),
)

_FACTS: Final = AnswerFacts(
    model="Qwen3-8B-Q4_K_M",
    engine="llama.cpp",
    prompt_tokens=412,
    cached_tokens=386,
    completion_tokens=268,
    context=8192,
    ttft_s=0.31,
    decode_tok_s=41.7,
    seed=20260711,
    finish_reason="stop",
    mtp=MtpReport("auto", True, "It guesses ahead.", "embedded", 2, 180, 141, 1.6, 2.1),
    why="One user at a time: llama.cpp is as fast or faster, and is ready in seconds.",
)
_TEMPLATE: Final = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
REASONING: Final = (
    "The user wants a mean in one pass.\nA running total is simplest; Welford's way is only "
    "needed for the variance.\nMention exactness."
)


def fill(hearth: App, data: Path) -> None:
    """Write everything into the stores, before there is a window."""
    _models(hearth, data)
    for assistant in ASSISTANTS:
        hearth.assistants.save(assistant)
    hearth.prompts.save(PROMPTS)
    _chats(hearth, data)
    _connections(hearth)
    _downloads(hearth)
    _collections(hearth, data)
    for name, address in (("team", "https://ai.example.org:8000"), ("near", "127.0.0.1:11434")):
        hearth.servers.save(ServerProfile("", name, address), None)


def rich_chat(hearth: App) -> str:
    """Return the id of the chat that contains everything."""
    return next(chat.id for chat in hearth.chats.chats() if chat.title == TITLES[0])


def cited_chat(hearth: App) -> str:
    """Return the id of the chat about a file."""
    return next(chat.id for chat in hearth.chats.chats() if chat.title == TITLES[2])


def scripted_hub() -> ScriptedHub:
    hub = ScriptedHub()
    hub.found = [
        SearchResult(
            f"ada/Model-{size}B-Instruct-GGUF",
            licence="apache-2.0",
            downloads=1_200_000 // size,
            likes=900 // size,
            updated=time.time() - size * 40 * HOUR,
            parameters=size * 10**9,
        )
        for size in (4, 8, 12, 27)
    ] + [SearchResult("bea/Closed-12B-GGUF", gate="auto", downloads=98, parameters=12 * 10**9)]
    hub.repositories |= {it.id: repository(it.id, it.gate) for it in hub.found}
    return hub


def _models(hearth: App, data: Path) -> None:
    for name in ("Qwen3-8B-Q4_K_M", "a-model-with-quite-a-long-file-name-Instruct-Q6_K_L"):
        path = write_gguf(
            data / f"{name}.gguf", "llama", LLAMA, llama_tensors(LLAMA),
            {"tokenizer.chat_template": _TEMPLATE},
        )  # fmt: skip
        entry = hearth.library.add(path)
        if name.startswith("Qwen"):
            hearth.settings.write(replace(hearth.settings.read(), model=entry.id))


def _chats(hearth: App, data: Path) -> None:
    now = time.time()
    ids = [_chat(hearth, title) for title in reversed(TITLES)][::-1]
    _make_rich(hearth, ids[0])
    _make_failed(hearth, ids[3])
    _make_circles(hearth, ids[6])
    _make_cited(hearth, ids[2], data)
    travel, home = new_folder("Travel"), new_folder("Kitchen and garden")
    hearth.folders.add(travel)
    hearth.folders.add(home)
    hearth.chat_lists.move(ids[5:7], travel.id)
    hearth.chat_lists.move([ids[1], ids[12]], home.id)
    hearth.chat_lists.set_pinned([ids[2], ids[7]], True)
    hearth.chat_lists.set_archived(ids[13:15], True)
    hearth.chats.delete(*ids[15:])
    with hearth.database.write() as db:
        for at, chat_id in enumerate(ids):
            db.execute("UPDATE chats SET updated = ? WHERE id = ?", (now - HOUR * at * at, chat_id))


def _chat(hearth: App, title: str) -> str:
    question, answer = hearth.chats.ask(None, title)
    _end(hearth, answer, f"About “{title}”: there is more than one way, and each has its price.")
    return question.chat_id


def _end(hearth: App, answer: StoredMessage, text: str, **changes: object) -> None:
    ended = replace(answer, text=text, state="complete", facts=_FACTS)
    hearth.chats.save_answer(replace(ended, **changes))  # type: ignore[arg-type]


def _make_rich(hearth: App, chat_id: str) -> None:
    """Add reasoning, branches, a rating, a pinned question, and all kinds of blocks."""
    question, answer = hearth.chats.ask(chat_id, "Can the mean be had without keeping the numbers?")
    _end(hearth, answer, "Yes, with a running total.")
    again = hearth.chats.answer_again(chat_id, answer.id)
    _end(hearth, again, RICH, reasoning=REASONING, reasoning_s=12.4)
    with hearth.database.write() as db:
        db.execute("UPDATE messages SET pinned = 1 WHERE id = ?", (question.id,))
        db.execute("UPDATE messages SET rating = 1 WHERE id = ?", (again.id,))


def _make_failed(hearth: App, chat_id: str) -> None:
    failure = Failure(
        "out_of_memory",
        "The model does not fit into memory any more.",
        "Another program has taken 9 GB since it was loaded.",
        "Close that program, or choose a smaller context in the settings.",
    )
    _, answer = hearth.chats.ask(chat_id, "And on the Moon?")
    _end(hearth, answer, "On the Moon the", state="failed", failure=failure)


def _make_circles(hearth: App, chat_id: str) -> None:
    _, answer = hearth.chats.ask(chat_id, "Something to wear when it rains?")
    facts = replace(_FACTS, finish_reason="repetition")
    _end(hearth, answer, "- A rain jacket\n" * 8, state="stopped", facts=facts)


def _make_cited(hearth: App, chat_id: str, data: Path) -> None:
    """Add an answer about a file, with quotes that are there, elsewhere, and nowhere."""
    path = pdf(data / LEASE, LEASE_PAGES)
    file = hearth.documents.read(path, CancelToken())
    hearth.documents.save_copies([(path, file)])
    _, answer = hearth.chats.ask(chat_id, "What does the lease say of repairs?", files=[file])
    _end(hearth, answer, CITED)


def _connections(hearth: App) -> None:
    first = LoggedConnection(
        time.time() - 3 * HOUR, 0.4, "huggingface.co", 443, "search for models", "GET", 0, 4096,
        "200",
    )  # fmt: skip
    file = replace(first, purpose="download a model", host="cdn.example.org", received=5 * GB)
    for one in (first, file, replace(first, result="refused", received=0)):
        hearth.ledger.add(one)


def _collections(hearth: App, data: Path) -> None:
    """Add a collection that is read, with one unreadable file, and one that is not begun."""
    folder = data / COLLECTION
    folder.mkdir()
    for number in range(1, 13):
        (folder / f"invoice-{number:02}.txt").write_text(f"{_INVOICE} Number {number}.\n" * 12)
    (folder / "lease.md").write_text(f"# {TERM}\n\n{LEASE_TEXT}")
    (folder / SCAN).write_bytes(b"%PDF-1.7\nx")
    knowledge = hearth.knowledge
    knowledge.add(knowledge.create(COLLECTION).id, [folder])
    for _ in knowledge.work(CancelToken()):
        pass
    knowledge.create(OTHER_COLLECTION)


def _downloads(hearth: App) -> None:
    for name in ("ada/Model-8B-Instruct-GGUF", "ada/Model-12B-Instruct-GGUF"):
        hearth.downloads.add(_wanted(name))


def _wanted(name: str) -> DownloadRequest:
    chosen = repository(name).variants[1]
    files: Sequence[object] = chosen.files
    return DownloadRequest(name, "c" * 40, tuple(files), f"{name.split('/')[1]} {chosen.label}")  # type: ignore[arg-type]
