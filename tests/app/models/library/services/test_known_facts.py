"""Remembering facts read from files, across runs, until the files change."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.models.library.store import known_headers
from app.models.library.store.known_headers import KnownHeaders
from engines.errors import ModelDamaged
from engines.models.gguf import headers as headers_module
from engines.models.gguf.header import read_header
from engines.models.gguf.headers import Headers
from tests.app.models.library.services.places.layouts import some_parts
from tests.engines.gguf_files import write_assistant, write_gemma4, write_llama
from tests.support.made_fed import write_dflash, write_eagle
from tests.support.services import Services


@pytest.fixture
def known(services: Services) -> KnownHeaders:
    return services.models.headers


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows with the files whose whole header is read from now on."""
    names: list[str] = []

    def noted(path: Path) -> object:
        names.append(path.name)
        return read_header(path)

    monkeypatch.setattr(headers_module, "read_header", noted)
    return names


def run(known: KnownHeaders, path: Path) -> None:
    """List a model as one run of Hearth does."""
    headers = Headers(known)
    expected = replace(read_header(path), tensors=(), chat_template=None)
    assert headers.facts(path) == headers.facts(path) == expected
    headers.keep()


def test_facts_outlive_the_run(known: KnownHeaders, reads: list[str], tmp_path: Path) -> None:
    writers = (write_llama, write_gemma4, write_eagle, write_dflash)
    for path in (write(tmp_path / f"{write.__name__}.gguf") for write in writers):
        run(known, path)
        run(known, path)
        assert reads == [path.name]
        assert Headers(known).read(path).tensors, "the whole header is read where it is needed"
        reads.clear()


def test_a_changed_file_is_read_again(
    known: KnownHeaders, reads: list[str], tmp_path: Path
) -> None:
    path = write_llama(tmp_path / "m.gguf")
    run(known, path)
    os.utime(path, ns=(1, 1))
    run(known, path)
    assert len(reads) == 2


@pytest.mark.parametrize("column", ["header", "reader"])
def test_what_is_damaged_or_of_another_hearth_is_read_again(
    services: Services, known: KnownHeaders, reads: list[str], tmp_path: Path, column: str
) -> None:
    path = write_llama(tmp_path / "m.gguf")
    run(known, path)
    with services.database.write() as db:
        db.execute(f"UPDATE headers SET {column} = '[' || {column}")
    run(known, path)
    run(known, path)
    assert len(reads) == 2


def test_a_model_of_several_files_is_not_remembered(known: KnownHeaders, tmp_path: Path) -> None:
    first, second = some_parts(tmp_path)
    run(known, first)
    second.unlink()
    with pytest.raises(ModelDamaged):
        Headers(known).facts(first)


def test_only_so_many_are_kept(
    known: KnownHeaders, reads: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_headers, "MOST_HEADERS", 2)
    paths = [write_llama(tmp_path / f"{name}.gguf") for name in "abc"]
    for path in (*paths, *reversed(paths)):
        run(known, path)
    assert reads == ["a.gguf", "b.gguf", "c.gguf", "a.gguf"]


def test_drafters_are_found_by_what_is_remembered(
    services: Services, reads: list[str], tmp_path: Path
) -> None:
    write_assistant(tmp_path / "helper.gguf")
    entry = services.library.add(write_gemma4(tmp_path / "g.gguf"))
    assert services.library.drafter_for(entry) == tmp_path / "helper.gguf"
    services.library.keep_facts()
    reads.clear()
    again = services.again()
    assert again.drafter_for(entry) == tmp_path / "helper.gguf"
    assert reads == []
