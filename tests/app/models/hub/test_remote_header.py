"""Reading a model's header by HTTP range before a download."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import AppError, DataFolderReadOnly, HubUnreadable, NoConnection
from app.base.shipped import STARTER
from app.models.hub.client import Hub
from app.models.hub.remote_header import FIRST, MOST, fetch_headers, forget_headers
from app.models.hub.values.hub import RepoFile, Variant
from engines.errors import ModelDamaged, NotAModel
from engines.models.checkpoint import read_checkpoint
from engines.models.gguf.header import read_header
from tests.engines.checkpoint_files import QWEN3, write_checkpoint
from tests.engines.gguf_files import LLAMA, llama_tensors, write_gguf
from tests.hub import faults
from tests.hub.contents import Bytes, Joined, Made
from tests.hub.faults import Fault
from tests.hub.testhub import Cdn, TestHub

Client = Callable[[str | None], Hub]
REPO = "ada/Starter-GGUF"


def test_the_starters_header_by_range(hub: TestHub, client: Client, tmp_path: Path) -> None:
    hub.add(REPO, {"starter-Q8_0.gguf": STARTER})
    ask = client(None)
    repository = ask.repository(REPO)
    path = ask.headers(repository, repository.variants[0], tmp_path)
    assert path.stat().st_size == STARTER.stat().st_size
    assert replace(read_header(path), name="") == replace(read_header(STARTER), name="")
    assert path.is_relative_to(tmp_path)
    assert repository.revision in path.parts
    ranges = [request.range for request in hub.requests if "/resolve/" in request.path]
    assert ranges == [f"bytes=0-{FIRST - 1}"], "its header is shorter than the first step"
    assert path.stat().st_blocks * 512 <= FIRST + 65536, "no room is taken for what is not there"

    count = len(hub.requests)
    assert ask.headers(repository, repository.variants[0], tmp_path) == path
    assert len(hub.requests) == count, "it is asked for once"


def test_through_a_redirect_to_another_server(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with TestHub(cdn=Cdn()) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.add(REPO, {"starter-Q8_0.gguf": STARTER}, gated="auto")
        hub.token("hf_secret", access={REPO})
        ask = client("hf_secret")
        repository = ask.repository(REPO)
        path = ask.headers(repository, repository.variants[0], tmp_path)
        assert read_header(path).architecture == read_header(STARTER).architecture
        assert [request.token for request in hub.cdn_requests] == [None]
        assert hub.requests[-1].token == "hf_secret"


def test_all_parts_of_a_split_model(hub: TestHub, client: Client, tmp_path: Path) -> None:
    tensors = llama_tensors(LLAMA)
    names = sorted(tensors)
    made = {}
    for number, part in enumerate((names[:20], names[20:])):
        name = f"m-Q8_0-0000{number + 1}-of-00002.gguf"
        facts = {"split.no": number, "split.count": 2, "split.tensors.count": len(names)}
        shapes = {it: tensors[it] for it in part}
        made[f"Q8_0/{name}"] = write_gguf(tmp_path / name, "llama", LLAMA, shapes, facts)
    hub.add("ada/Split-GGUF", made)
    ask = client(None)
    repository = ask.repository("ada/Split-GGUF")
    assert len(repository.variants) == 1
    path = ask.headers(repository, repository.variants[0], tmp_path / "headers")
    header = read_header(path)
    assert header == read_header(tmp_path / "m-Q8_0-00001-of-00002.gguf")
    assert header.parts == 2


def test_a_header_longer_than_the_first_step(hub: TestHub, client: Client, tmp_path: Path) -> None:
    long = {"padding.text": "x" * (3 * FIRST)}
    whole = write_gguf(tmp_path / "long.gguf", "llama", LLAMA, llama_tensors(LLAMA), long)
    hub.add("ada/Long-GGUF", {"long-F16.gguf": whole})
    ask = client(None)
    repository = ask.repository("ada/Long-GGUF")
    path = ask.headers(repository, repository.variants[0], tmp_path / "headers")
    assert replace(read_header(path), name="") == replace(read_header(whole), name="")
    ranges = [request.range for request in hub.requests if "/resolve/" in request.path]
    assert ranges[:2] == [f"bytes=0-{FIRST - 1}", f"bytes={FIRST}-{2 * FIRST - 1}"]
    assert len(ranges) == 3


def test_a_header_that_never_ends_is_given_up(tmp_path: Path) -> None:
    # one value: a list of 2^24 numbers of 8 bytes
    start = struct.pack("<4sIQQQ1sIIQ", b"GGUF", 3, 0, 1, 1, b"a", 9, 12, 1 << 24)
    read: list[int] = []

    def reading(file: RepoFile, at: int, length: int) -> bytes:
        read.append(length)
        return start[at:].ljust(length, b"\0")

    with pytest.raises(ModelDamaged, match="header"):
        fetch_headers(reading, [RepoFile("a.gguf", 10 * MOST)], tmp_path)
    assert sum(read) == MOST
    assert not [it for it in tmp_path.rglob("*") if it.is_file()]


WRONG: list[tuple[Fault, type[AppError]]] = [
    (faults.NoRange(path="*.gguf"), HubUnreadable),
    (faults.WrongContentRange(path="*.gguf", off=100), HubUnreadable),
    (faults.Multipart(path="*.gguf"), HubUnreadable),
    (faults.CaptivePortal(path="*.gguf"), HubUnreadable),
    (faults.RangeRefused(path="*.gguf"), HubUnreadable),
    (faults.ShortFile(path="*.gguf", missing=3_000_000), HubUnreadable),
    (faults.Drop(path="*.gguf", after=1000), NoConnection),
]


@pytest.mark.parametrize(("fault", "error"), WRONG, ids=[type(it[0]).__name__ for it in WRONG])
def test_a_server_that_cannot_send_parts_is_told(
    hub: TestHub, client: Client, tmp_path: Path, fault: Fault, error: type[AppError]
) -> None:
    hub.add(REPO, {"starter-Q8_0.gguf": STARTER})
    ask = client(None)
    repository = ask.repository(REPO)
    hub.fault(fault)
    with pytest.raises(error):
        ask.headers(repository, repository.variants[0], tmp_path)
    assert not [it for it in tmp_path.rglob("*") if it.is_file()]
    hub.clear_faults()
    assert ask.headers(repository, repository.variants[0], tmp_path).is_file()


def test_a_file_that_is_no_model(hub: TestHub, client: Client, tmp_path: Path) -> None:
    start = Bytes(STARTER.read_bytes()[:60])
    hub.add(
        "ada/Odd-GGUF",
        {
            "html-Q4_0.gguf": b"<html>not found</html>",
            "noise-Q8_0.gguf": Joined((start, Made(2_000_000))),
        },
    )
    ask = client(None)
    repository = ask.repository("ada/Odd-GGUF")
    html, noise = repository.variants
    with pytest.raises(NotAModel, match="html"):
        ask.headers(repository, html, tmp_path)
    with pytest.raises(ModelDamaged, match="noise"):
        ask.headers(repository, noise, tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="of file modes")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "headers").write_text("a file, not a folder")
    with pytest.raises(DataFolderReadOnly):
        fetch_headers(
            lambda file, at, length: STARTER.read_bytes()[at : at + length],
            [RepoFile("starter.gguf", STARTER.stat().st_size)],
            tmp_path / "headers",
        )


def test_headers_that_were_fetched_long_ago_go(tmp_path: Path) -> None:
    day = 24 * 3600.0
    old, new = tmp_path / "ada--model" / "1111", tmp_path / "ada--model" / "2222"
    alone = tmp_path / "eve--model" / "3333"
    for commit in (old, new, alone):
        commit.mkdir(parents=True)
        (commit / "model.gguf").write_bytes(b"GGUF")
    for commit in (old, alone):
        os.utime(commit, (time.time() - 40 * day,) * 2)

    forget_headers(tmp_path, 30 * day)

    assert [it.name for it in tmp_path.glob("*/*")] == ["2222"]
    assert [it.name for it in tmp_path.iterdir()] == ["ada--model"]
    forget_headers(tmp_path / "none", day)


def test_a_checkpoint_is_described_by_its_beginnings(
    hub: TestHub, client: Client, tmp_path: Path
) -> None:
    tensors = {f"model.layers.{it}.some.weight": [8, 4] for it in range(12_000)}
    large = write_checkpoint(tmp_path / "large", QWEN3, tensors, size=5_000_000)
    names = ("config.json", "model.safetensors")
    hub.add("ada/Large", {it: large / it for it in names})
    ask = client(None)
    repository = ask.repository("ada/Large")
    folder = ask.headers(repository, Variant("", repository.files), tmp_path / "headers").parent
    found, here = read_checkpoint(folder), read_checkpoint(large)
    assert (found.parameters, found.kv, found.weight_bytes) == (
        here.parameters,
        here.kv,
        here.weight_bytes,
    )
    hub.add("ada/Wrong", {"config.json": b"{}", "model.safetensors": b"\xff" * 100})
    wrong = ask.repository("ada/Wrong")
    with pytest.raises(ModelDamaged, match="safetensors"):
        ask.headers(wrong, Variant("", wrong.files), tmp_path / "headers")
