"""The slowdown of Hearth by a long history: at the start, opening a chat, and searching.

    python tests/bench/history.py [--messages 1000000] [--rounds 15] [--dir FOLDER]

It makes two histories in a temporary folder, one of 1,000 messages and one of --messages, in chats
of 20 messages with made words in the frequencies of a language, with some Japanese and some code.
Then it measures both in turn, in one run: the start of the store (open, repair, empty the trash,
open the search index, read the sidebar's first rows), opening a chat, and a page far down the list;
and in the large one a set of searches. A history that was made in --dir is reused. It exits with 1
if the median search takes more than 100 ms, or if the start or opening a chat takes more than 1.5
times as long as with 1,000 messages and more than 10 ms longer.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.base.db import Database
from app.chats.history.services import empty_trash
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore
from app.chats.history.values.chat import Chat
from app.chats.history.values.places import ARCHIVE, CHATS, PINNED, TRASH
from app.chats.search.store.search import Search
from app.chats.search.store.search_index import SearchIndex

SMALL = 1_000
A_CHAT = 20
SEARCH_BAR_S = 0.1
SLOWER_BAR = 1.5
NOISE_S = 0.01
MONTH_DAYS = 30
BEGAN = 1_600_000_000.0
PAGE = 60

_JAPANESE = "東京タワーの近くで美味しいラーメン屋を探しています。予算は千円くらいです。"
_CODE = "def getUserName(user_id: int) -> str:\n    return find_user(user_id).name\n"


class Words:
    """A made language of 60,000 words, whose frequencies follow their ranks (Zipf)."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        pieces = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]
        self.words = list(
            dict.fromkeys(
                "".join(self._random.choices(pieces, k=self._random.randint(1, 4)))
                for _ in range(70_000)
            )
        )
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.words))))

    def text(self, number: int, length: int) -> str:
        words = self._random.choices(self.words, cum_weights=self._weights, k=length)
        text = f"{' '.join(words)} n{number}"
        if number % 50 == 0:
            return f"{text}\n{_JAPANESE}"
        return f"{text}\n{_CODE}" if number % 50 == 1 else text


class History:
    """Chats with this many messages in a folder, and their search index."""

    def __init__(self, folder: Path, messages: int, words: Words) -> None:
        self._folder = folder
        self.path = folder / "chats.db"
        self.index = folder / "search.db"
        if not self.path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            began = time.perf_counter()
            self._write(messages, words)
            written = time.perf_counter()
            print(f"{messages:>9,} messages written in {written - began:.0f} s", end="", flush=True)
            self._read()
            took = time.perf_counter() - written
            sizes = [file.stat().st_size / 2**20 for file in (self.path, self.index)]
            print(f", indexed in {took:.0f} s; {sizes[0]:.0f} MiB and {sizes[1]:.0f} MiB of index")

    def start(self) -> None:
        """Do the work between the start of Hearth and its list of chats."""
        database = Database(self.path)
        chats = ChatStore(database)
        chats.mark_interrupted()
        empty_trash(chats, lambda _: None, MONTH_DAYS)
        index = SearchIndex(self.index, database)
        lists = ChatLists(database)
        FolderStore(database).folders()
        for place in (PINNED, CHATS, ARCHIVE, TRASH):
            lists.page(place, 0, PAGE)
            lists.count(place)
        index.close()
        database.close()

    def _write(self, messages: int, words: Words) -> None:
        database = Database(self.path)
        with database.write() as db:
            for first in range(0, messages, A_CHAT):
                chat = f"{first:032x}"
                ids = [f"{first + step:032x}" for step in range(A_CHAT)]
                when = BEGAN + first
                db.execute(
                    "INSERT INTO chats (id, title, created, updated, leaf_id)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (chat, words.text(first + 2, 4), when, when, ids[-1]),
                )
                db.executemany(
                    "INSERT INTO messages (id, chat_id, parent_id, role, text, state, created)"
                    " VALUES (?, ?, ?, ?, ?, 'complete', ?)",
                    [
                        (
                            ids[step],
                            chat,
                            ids[step - 1] if step else None,
                            "assistant" if step % 2 else "user",
                            words.text(first + step, 90 if step % 2 else 20),
                            when + step,
                        )
                        for step in range(A_CHAT)
                    ],
                )
        database.close()

    def _read(self) -> None:
        database = Database(self.path)
        index = SearchIndex(self.index, database)
        while index.step():
            pass
        index.close()
        database.close()


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--messages", type=int, default=1_000_000, metavar="N")
    asked.add_argument("--rounds", type=int, default=15, metavar="N")
    asked.add_argument("--dir", type=Path, metavar="FOLDER", help="make the histories here")
    args = asked.parse_args()
    with tempfile.TemporaryDirectory(dir=args.dir and args.dir.parent) as temporary:
        folder = args.dir or Path(temporary)
        words = Words()
        small = History(folder / "small", SMALL, words)
        large = History(folder / f"of-{args.messages}", args.messages, words)
        fast = compare(small, large, args.rounds)
        quick = searches(large, words.words, args.rounds)
    return 0 if fast and quick else 1


def compare(small: History, large: History, rounds: int) -> bool:
    """Print the times of both histories; return False if the large one misses the bar."""
    fast = True
    print(f"{'median of ' + str(rounds):<22}{'1,000':>12}{'large':>12}{'ratio':>8}")
    for name, times in timed(small, large, rounds):
        before, after = median(times[0]), median(times[1])
        judged = name != "a page far down"
        if judged and after > before * SLOWER_BAR and after > before + NOISE_S:
            fast = False
        print(f"{name:<22}{before * 1e3:>9.1f} ms{after * 1e3:>9.1f} ms{after / before:>8.2f}")
    return fast


def timed(
    small: History, large: History, rounds: int
) -> Iterator[tuple[str, tuple[list[float], list[float]]]]:
    """Yield the seconds of each round with the small and the large history."""
    yield "start of the store", in_turn((small.start, large.start), rounds)
    databases = [Database(history.path) for history in (small, large)]
    counts = [ChatLists(database).count(CHATS) for database in databases]
    openings: list[Callable[[], object]] = []
    pages: list[Callable[[], object]] = []
    for database, count in zip(databases, counts, strict=True):
        store, lists = ChatStore(database), ChatLists(database)
        chosen = iter(lists.page(CHATS, count // 2, 2 * rounds))
        openings.append(partial(open_next, store, chosen))
        pages.append(partial(lists.page, CHATS, count - PAGE // 2, PAGE))
    yield "opening a chat", in_turn((openings[0], openings[1]), min(rounds, min(counts) // 2 - 1))
    yield "a page far down", in_turn((pages[0], pages[1]), rounds)
    for database in databases:
        database.close()


def open_next(store: ChatStore, chosen: Iterator[Chat]) -> None:
    store.path(next(chosen).id)


def in_turn(
    does: tuple[Callable[[], object], Callable[[], object]], rounds: int
) -> tuple[list[float], list[float]]:
    times: tuple[list[float], list[float]] = ([], [])
    for once in does:
        once()
    for _ in range(rounds):
        for once, kept in zip(does, times, strict=True):
            began = time.perf_counter()
            once()
            kept.append(time.perf_counter() - began)
    return times


def searches(history: History, words: list[str], rounds: int) -> bool:
    """Print the time of each kind of search; return False if the median misses the bar."""
    kinds = {
        "a word, very common": words[0],
        "a word, common": words[200],
        "a word, rare": words[40_000],
        "a word, unique": "n123457",
        "none such": "qqqqqqq",
        "two letters": words[0][:2],
        "the beginning of words": words[40][:3],
        "four letters": words[5_000][:4],
        "two words": f"{words[30]} {words[3_000]}",
        "two common words": f"{words[1]} {words[2]}",
        "two rare words": f"{words[20_000]} {words[30_000]}",
        "five words": " ".join(words[100:105]),
        "a phrase": f'"{words[0]} {words[1]}"',
        "a phrase, not there": f'"{words[0]} {words[60]} {words[1]} {words[61]}"',
        "Japanese": "美味しいラーメン",
        "one kanji": "東",
        "a name in code": "getUserName",
        "a part of one": "find_us",
        "inside of words": words[30_000][2:],
        "inside of a name": "serna",
    }
    database = Database(history.path)
    index = SearchIndex(history.index, database)
    search = Search(index, database)
    every = []
    print(f"{'search':<26}{'hits':>6}{'median':>12}{'worst':>12}")
    for name, typed in kinds.items():
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            hits = search.find(typed, 50)
            times.append(time.perf_counter() - began)
        every += times
        print(f"{name:<26}{len(hits):>6}{median(times) * 1e3:>9.1f} ms{max(times) * 1e3:>9.1f} ms")
    print(f"{'all':<32}{median(every) * 1e3:>9.1f} ms{max(every) * 1e3:>9.1f} ms")
    index.close()
    database.close()
    return median(every) <= SEARCH_BAR_S


if __name__ == "__main__":
    raise SystemExit(main())
