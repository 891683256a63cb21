"""Recommending models for this computer, with stored or new data of the Hub."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.base.errors import AppError, CatalogueInvalid, Offline, RepositoryUnknown
from app.models.discover.services.recommending import Recommending
from app.models.hub.client import Hub
from app.models.hub.values.hub import RepoFile, Repository, Variant
from app.net.values.connections import Purpose
from engines.cancel import CancelToken
from engines.hardware import Hardware
from tests.support.machines import with_card
from tests.support.paths import ROOT

SHIPPED = ROOT / "resources" / "catalogue.json"
TWELVE = "google/gemma-4-12B-it-qat-q4_0-gguf"
MACHINE = with_card(12, 360, ())


@dataclass
class Asked(Hub):
    """A Hub on which every repository has one Q4_0 of seven billion bytes."""

    fails: dict[str, AppError] = field(default_factory=dict)
    repos: list[str] = field(default_factory=list)

    def repository(
        self, repo: str, revision: str = "main", purpose: Purpose = "look at a model"
    ) -> Repository:
        self.repos.append(repo)
        if error := self.fails.get(repo):
            raise error
        file = RepoFile("model-q4_0.gguf", 7_000_000_007, "a" * 64)
        variant = Variant("QAT-Q4_0", (file,))
        return Repository(repo, revision="c" * 40, files=(file,), variants=(variant,))


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Recommending]:
    """Return a function that makes the service, with a stored bandwidth of the computer."""

    def make(
        hub: Asked, hardware: Callable[[], Hardware] = lambda: MACHINE.hardware
    ) -> Recommending:
        page = {"times": 3, "memory": 45e9, "cards": {"Card": 36e10}}
        identity = (
            "Processor; 8 of 16 cores, 16 threads; "
            f"{MACHINE.hardware.memory.total_bytes}; {MACHINE.hardware.gpus[0].name}"
        )
        (tmp_path / "bandwidth.json").write_text(json.dumps({"computer": identity, **page}))
        return Recommending(
            SHIPPED, tmp_path, lambda: tmp_path / "not" / "yet", hardware, lambda: hub
        )

    return make


def test_nothing_happens_before_it_is_asked(made: Callable[..., Recommending]) -> None:
    def never() -> Hardware:
        raise AssertionError("the computer was looked at")

    made(Asked(), never)


def test_it_works_without_a_connection(made: Callable[..., Recommending]) -> None:
    hub = Asked()
    found = made(hub).recommend()
    assert found.default
    assert found.default.name == "Gemma 4 12B"
    assert found.default.about
    assert hub.repos == []


def test_what_the_hub_tells_is_kept(made: Callable[..., Recommending], tmp_path: Path) -> None:
    shares: list[float] = []
    done = made(Asked()).refresh(CancelToken(), shares.append)
    assert TWELVE in done.described
    assert done.missing == ()
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    kept = json.loads((tmp_path / "catalogue-sizes.json").read_text(encoding="utf-8"))
    assert kept["repositories"][TWELVE]["revision"] == "c" * 40
    assert kept["repositories"][TWELVE]["files"][0]["sha256"] == "a" * 64
    default = made(Asked()).recommend().default
    assert default
    assert default.parts.weights == 7_000_000_007
    assert not default.about


def test_a_repository_that_has_gone_does_not_stop_the_others(
    made: Callable[..., Recommending],
) -> None:
    gone = RepositoryUnknown("There is no such repository.", "It may have moved.", "Look.")
    hub = Asked({TWELVE: gone})
    done = made(hub).refresh(CancelToken())
    assert done.missing == ((TWELVE, "There is no such repository. It may have moved."),)
    assert len(done.described) == len(hub.repos) - 1


def test_without_a_connection_one_question_is_enough_and_what_was_known_stays(
    made: Callable[..., Recommending],
) -> None:
    first = made(Asked()).refresh(CancelToken())
    offline = Offline("Hearth is offline.", "The switch is on.", "Turn it off.")
    hub = Asked(dict.fromkeys(first.described, offline))
    done = made(hub).refresh(CancelToken())
    assert len(hub.repos) == 1
    assert {repo for repo, _ in done.missing} == set(first.described)
    assert done.missing[-1][1] == "Hearth is offline. The switch is on."
    default = made(Asked()).recommend().default
    assert default
    assert default.parts.weights == 7_000_000_007


def test_it_can_be_stopped(made: Callable[..., Recommending]) -> None:
    cancel = CancelToken()
    hub = Asked()
    done = made(hub).refresh(cancel, lambda share: cancel.cancel() if share > 0 else None)
    assert len(hub.repos) == len(done.described) == 1
    assert done.missing


def test_damaged_notes_count_as_none(made: Callable[..., Recommending], tmp_path: Path) -> None:
    (tmp_path / "catalogue-sizes.json").write_text("{")
    default = made(Asked()).recommend().default
    assert default
    assert default.about


def test_ones_own_file_is_read(made: Callable[..., Recommending], tmp_path: Path) -> None:
    own = tmp_path / "catalogue.json"
    own.write_text('{"version": 1, "hide": ["gemma-4-12b"]}', encoding="utf-8")
    default = made(Asked()).recommend().default
    assert default
    assert default.name == "Gemma 4 E4B"
    own.write_text('{"version": 2}', encoding="utf-8")
    with pytest.raises(CatalogueInvalid, match=str(own)):
        made(Asked()).recommend()
    own.write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogueInvalid, match="cannot be read as text"):
        made(Asked()).catalogue()


def test_models_are_new_until_they_were_seen(
    made: Callable[..., Recommending], tmp_path: Path
) -> None:
    """At the first look nothing is new: everything would be, and that says nothing."""
    shipped = made(Asked())
    assert shipped.unseen_models() == frozenset()
    shipped.mark_seen([id_ for id_ in shipped.catalogue().sizes if id_ != "glm-4.7-flash"])
    later = made(Asked())
    assert later.unseen_models() == {"glm-4.7-flash"}
    later.mark_seen(["glm-4.7-flash"])
    assert made(Asked()).unseen_models() == frozenset()
    (tmp_path / "catalogue-seen.json").write_text("[")
    assert made(Asked()).unseen_models() == frozenset()
