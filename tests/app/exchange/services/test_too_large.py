"""Files made to fill the memory: oversized parts are refused, and good chats are still read."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.exchange.services import documents, reading
from app.exchange.services.reading import read_files
from app.exchange.values import json_values
from app.exchange.values.found import FileFound
from engines.cancel import CancelToken
from tests.support.foreign_chats import chatgpt_chat, write_jan
from tests.support.suite import sampled

MOST_MB = 900
GOOD = json.dumps(chatgpt_chat("a", "Good"))
# Not `ru_maxrss`: it counts the memory that pytest's process used before the program began.
MEASURE = """
import sys
from pathlib import Path
from app.exchange.services.reading import read_files
from engines.cancel import CancelToken
for file in read_files([Path(sys.argv[1])], CancelToken()):
    print(len(file.chats), len(file.not_read))
print(int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024)
"""


def packed(path: Path, pieces: Iterator[bytes], name: str = "conversations.json") -> Path:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w", force_zip64=True) as member,
    ):
        for piece in pieces:
            member.write(piece)
    return path


def again(first: str, piece: str, mb: int, last: str = "") -> Iterator[bytes]:
    block = (piece * (1 + (1 << 20) // len(piece))).encode()
    yield first.encode()
    for _ in range(mb):
        yield block
    yield last.encode()


# Read as a whole, many objects or lists would take half as much again as MOST_MB, or more.
ATTACKS: dict[str, Callable[[], Iterator[bytes]]] = {
    "more than a gigabyte in a string": lambda: again('["', "a", 1400),
    "objects without anything": lambda: again("[", "{},", 70, "{}]"),
    "a chat and objects": lambda: again(f"[{GOOD}", ",{}", 70, "]"),
    "lists within a chat": lambda: again(f'[{GOOD}, {{"mapping": [', "[],", 70, "[]]}]"),
    "numbers within a chat": lambda: again('[{"mapping": [', "1,", 120, "1]}]"),
    "one object": lambda: again('{"mapping": {"a": [', "{},", 70, "{}]}}"),
    "one object that ends too early": lambda: again('{"mapping": {"a": [', "{},", 70),
    "depth": lambda: again("", "[", 10),
    "names": lambda: again('{"thread": {', '"a": {"b": [{}]},', 120),
}


@pytest.mark.skipif(sys.platform != "linux", reason="its memory is read from /proc")
@pytest.mark.parametrize("attack", sampled(ATTACKS, ["a chat and objects", "one object", "depth"]))
def test_an_archive_that_would_fill_the_memory_does_not(tmp_path: Path, attack: str) -> None:
    path = packed(tmp_path / "export.zip", ATTACKS[attack]())
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    counts, peak = done.stdout.splitlines()
    assert int(counts.split()[1]) > 0
    assert int(peak) < MOST_MB


def read(path: Path) -> FileFound:
    (found,) = read_files([path], CancelToken())
    return found


def test_a_large_list_is_read_chat_by_chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole list would be too much; only the chat that is too large by itself is left out."""
    monkeypatch.setattr(json_values, "MOST_WEIGHT", 2 * json_values.weight(GOOD))
    chats = [chatgpt_chat(f"c{at}", f"Chat {at}") for at in range(30)]
    chats[7]["mapping"]["odd"] = {"children": [[]] * 9000}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(chats), encoding="utf-8")
    found = read(path)
    assert len(found.chats) == 29
    assert [it.why for it in found.not_read] == ["Importing it would take too much memory."]


def test_a_large_list_that_breaks_off_is_read_as_far_as_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_values, "MOST_WEIGHT", 2 * json_values.weight(GOOD))
    text = json.dumps([chatgpt_chat(f"c{at}", '[{\\"') for at in range(30)])
    path = tmp_path / "conversations.json"
    path.write_text(text[:-2000], encoding="utf-8")
    found = read(path)
    assert 25 <= len(found.chats) < 30
    assert "ends too early" in found.not_read[-1].why


def test_what_is_found_is_kept_up_to_what_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_IN_MEMORY", 100_000)
    chats = [chatgpt_chat(f"c{at}", "Chat") for at in range(100)]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(chats), encoding="utf-8")
    found = read(path)
    assert 0 < len(found.chats) < 100
    assert "too large for the memory" in found.not_read[-1].why


def test_threads_of_jan_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_IN_MEMORY", 6_000)
    write_jan(tmp_path / "jan", new=True)
    assert "too large for the memory" in read(tmp_path / "jan").not_read[-1].why


@pytest.mark.parametrize("claimed", [10, 1 << 31])
def test_a_size_that_is_a_lie_is_no_matter(tmp_path: Path, claimed: int) -> None:
    path = packed(tmp_path / "export.zip", iter([f"[{GOOD}]".encode()]))
    data = bytearray(path.read_bytes())
    central = data.rfind(b"PK\x01\x02")
    data[central + 24 : central + 28] = claimed.to_bytes(4, "little")
    path.write_bytes(data)
    found = read(path)
    assert not found.chats
    assert found.not_read


def test_all_of_an_archive_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_OF_ARCHIVE", 3 * len(GOOD))
    with zipfile.ZipFile(tmp_path / "many.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for at in range(10):
            archive.writestr(f"{at}.json", f"[{json.dumps(chatgpt_chat(f'c{at}', 'Chat'))}]")
    found = read(tmp_path / "many.zip")
    assert 0 < len(found.chats) <= 3
    assert all("larger" in it.why for it in found.not_read)
