"""The environment in use: switched in one step, kept, restored, tidied."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from engines.vllm.provision.home import EngineHome, Installed
from engines.vllm.provision.lock import Lock, LockedFile


@pytest.fixture
def home(tmp_path: Path) -> EngineHome:
    return EngineHome(tmp_path / "vllm")


def lock(version: str) -> Lock:
    return Lock("cpu", version, "vllm", ((3, 11),), 1, f"vllm=={version}\n", ())


def made(home: EngineHome, version: str) -> Installed:
    part = home.part_of(lock(version))
    (part / "bin").mkdir(parents=True)
    return home.finish(lock(version))


def test_nothing_is_there_at_first(home: EngineHome) -> None:
    assert home.current() is None
    assert home.previous() is None
    assert home.installed() == ()
    assert home.roll_back() is None
    assert not home.half_made
    home.tidy()
    home.remove()
    assert not home.root.exists()


def test_an_environment_is_used_by_its_own_interpreter(home: EngineHome) -> None:
    found = made(home, "1.0")
    assert home.installed() == (found,)
    assert home.current() is None
    home.switch(found)
    assert home.current() == found
    assert found.runs[0] == str(found.folder / "bin" / "python")
    assert found.runs[-1] == "serve"
    assert (found.version, found.profile) == ("1.0", "cpu")


def test_what_leaves_while_it_is_counted_does_not_count(
    home: EngineHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation moves and removes files while the window asks for its progress."""
    home.work.mkdir(parents=True)
    (home.work / "here").write_bytes(b"1234567")
    monkeypatch.setattr(os, "walk", lambda _: [(str(home.work), [], ["here", "gone"])])
    assert home.work_bytes == 7


def test_the_one_before_stays_and_older_ones_go(home: EngineHome) -> None:
    first = made(home, "1.0")
    home.switch(first)
    second = made(home, "2.0")
    home.switch(second)
    assert (home.current(), home.previous()) == (second, first)
    third = made(home, "3.0")
    home.switch(third)
    assert home.installed() == (second, third)


def test_going_back_and_forth(home: EngineHome) -> None:
    first = made(home, "1.0")
    home.switch(first)
    second = made(home, "2.0")
    home.switch(second)
    assert home.roll_back() == first
    assert (home.current(), home.previous()) == (first, second)
    assert home.roll_back() == second


def test_the_same_one_again_is_not_its_own_predecessor(home: EngineHome) -> None:
    first = made(home, "1.0")
    home.switch(first)
    home.switch(first)
    assert home.previous() is None


def test_half_made_ones_are_not_seen_and_go(home: EngineHome) -> None:
    first = made(home, "1.0")
    home.switch(first)
    home.part_of(lock("2.0")).mkdir(parents=True)
    (home.versions / "3.0-cpu-00000000").mkdir()
    assert home.installed() == (first,)
    assert home.half_made
    home.tidy()
    assert [it.name for it in home.versions.iterdir()] == [first.folder.name]


@pytest.mark.parametrize("text", ["", "\n", "gone-cpu-1\n", "../vllm\n", "..\n", "/\n"])
def test_a_current_that_names_nothing_is_none(home: EngineHome, text: str) -> None:
    home.switch(made(home, "1.0"))
    (home.root / "current").write_text(text)
    assert home.current() is None


def test_an_environment_that_lost_its_facts_is_none(home: EngineHome) -> None:
    found = made(home, "1.0")
    home.switch(found)
    (found.folder / "hearth.json").write_text("{")
    assert home.current() is None


def test_an_environment_says_which_lock_made_it(home: EngineHome) -> None:
    """So the next version has the same kind of lock, with or without Ray."""
    with_ray = replace(lock("1.0"), name="cuda-ray")
    home.part_of(with_ray).mkdir(parents=True)
    home.switch(home.finish(with_ray))
    now = home.current()
    assert now is not None
    assert now.lock == "cuda-ray"


def test_an_environment_says_whether_it_can_decode_sounds(home: EngineHome) -> None:
    file = LockedFile("soundfile-1-py3-none-any.whl", "soundfile", 1, "0" * 64)
    for version, files in (("1.0", ()), ("2.0", (file,))):
        wanted = replace(lock(version), files=files)
        home.part_of(wanted).mkdir(parents=True)
        home.switch(home.finish(wanted))
        now = home.current()
        assert now is not None
        assert now.hears == bool(files)


def test_removed_it_is_gone_whatever_was_left(home: EngineHome) -> None:
    home.switch(made(home, "1.0"))
    home.work.mkdir()
    (home.work / "a.whl").write_bytes(b"12345")
    assert home.work_bytes == 5
    kernels = home.worker / "caches" / "flashinfer"
    kernels.mkdir(parents=True)
    (kernels / "a.so").write_bytes(b"1234567")
    assert home.kept_bytes >= 7, "what workers compile is a part of what it takes"
    home.remove()
    assert not home.worker.exists()
    assert home.current() is None
    assert home.work_bytes == 0
    assert list(home.versions.iterdir()) == []
