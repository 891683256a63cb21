"""Finding and downloading models: the requests that are made, and the handling of errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import HubUnreadable, KeyringBroken, NoConnection
from app.base.secret import SecretStatus
from app.base.secrets import Secrets
from app.base.shipped import CATALOGUE
from app.base.tokens import Tokens
from app.kit.tasks.tasks import Tasks
from app.models.discover.presenters.discover import Discover
from app.models.discover.services.projectors import Projectors
from app.models.discover.values.catalogue import load_catalogue
from app.models.discover.values.offers import CompanionFile, Offer, OpenedRepository
from app.models.downloads.values.downloads import Download
from app.models.hub.values.hub import Query
from app.models.library.values.entry import ModelEntry
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from engines.hardware import Cpu, Gpu, Hardware, Memory
from tests.support.outcomes import outcome
from tests.support.scripted_hub import (
    GATED,
    GB,
    SMALL,
    ScriptedFitting,
    ScriptedHub,
    ScriptedQueue,
    repository,
)

CARD = Gpu("Card", "nvidia", "CUDA", 12 * GB, 10 * GB, integrated=False, driver="", usable=True)
COMPUTER = Hardware("Test", Cpu("Test CPU", 4, 8, 8, 4, 4), Memory(16 * GB, 6 * GB), (CARD,))
OFFER = Offer("default", "Small 7B", "It fits.", SMALL.id, "Q4_K_M", (), 5 * GB, tokens_per_s=10.0)


@dataclass
class Parts:
    discover: Discover
    hub: ScriptedHub
    queue: ScriptedQueue
    tokens: Tokens
    qtbot: QtBot


@pytest.fixture
def parts(qtbot: QtBot, tmp_path: Path) -> Iterator[Parts]:
    hub, queue, tasks = ScriptedHub(), ScriptedQueue(), Tasks()
    tokens = Tokens(Secrets(), lambda _: "ada")
    discover = Discover(
        hub,
        queue,
        ScriptedFitting(9 * GB),
        tokens,
        SettingsService(SettingsFile(tmp_path / "settings.toml")),
        lambda: COMPUTER,
        lambda: "https://hub.example",
        tmp_path / "headers",
        Projectors(lambda: load_catalogue(CATALOGUE.read_text(encoding="utf-8")), lambda: hub),
        tasks,
    )
    yield Parts(discover, hub, queue, tokens, qtbot)
    hub.hold.set()
    tasks.close()


def opened(parts: Parts, repo: str = SMALL.id) -> OpenedRepository:
    page = outcome(parts.qtbot, lambda done, failed: parts.discover.open(repo, done, failed))
    assert isinstance(page, OpenedRepository)
    return page


def queued(parts: Parts, offer: Offer) -> list[str]:
    found = outcome(parts.qtbot, lambda done, failed: parts.discover.get_offer(offer, done, failed))
    assert isinstance(found, Download)
    return [file.path for it in parts.queue.items for file in it.wanted.files]


def searched(parts: Parts, query: Query, *, fits: bool) -> object:
    return outcome(
        parts.qtbot,
        lambda done, failed: parts.discover.search(query, fits=fits, done=done, failed=failed),
    )


def test_what_fits_counts_the_card_and_the_memory(parts: Parts) -> None:
    searched(parts, Query("small"), fits=True)
    assert parts.hub.queries[0].most_parameters == int(16e9 * 0.85 * 8 / 4.9)
    searched(parts, Query("small"), fits=False)
    assert parts.hub.queries[1].most_parameters is None


def test_a_page_has_its_address(parts: Parts) -> None:
    assert parts.discover.page(SMALL.id) == f"https://hub.example/{SMALL.id}"


def test_a_repository_has_its_card(parts: Parts) -> None:
    page = opened(parts)
    card = outcome(parts.qtbot, lambda done, failed: parts.discover.card(page, done, failed))
    assert card.startswith("# Small 7B")


def test_headers_are_read_of_all_that_comes_along(parts: Parts, tmp_path: Path) -> None:
    page = opened(parts)
    choice = next(it for it in page.choices if it.variant.label == "Q4_K_M")
    judged = outcome(
        parts.qtbot, lambda done, failed: parts.discover.judge(page, choice, done, failed)
    )
    assert judged.label == "Q4_K_M"
    assert sorted(path.name for path in (tmp_path / "headers").iterdir()) == [
        "mtp-small-7b-Q8_0.gguf",
        "small-7b-Q4_K_M.gguf",
    ]


def test_an_offer_brings_what_its_repository_has_of_it(parts: Parts) -> None:
    assert queued(parts, OFFER) == [
        "small-7b-Q4_K_M.gguf",
        "mtp-small-7b-Q8_0.gguf",
    ]


def test_an_offer_brings_its_projector_where_that_is_asked_for(parts: Parts) -> None:
    outcome(
        parts.qtbot,
        lambda done, failed: parts.discover.get_offer(OFFER, done, failed, projector=True),
    )
    (download,) = parts.queue.items
    assert [it.path for it in download.wanted.files][-1] == "mmproj-small-7b-F16.gguf"


def test_the_projector_of_a_model_that_is_here_is_got_alone(parts: Parts) -> None:
    entry = ModelEntry(
        "small", "Small", Path("small-7b-Q4_K_M.gguf"), repo=SMALL.id, file="small-7b-Q4_K_M.gguf"
    )
    outcome(parts.qtbot, lambda done, failed: parts.discover.get_projector(entry, done, failed))
    (download,) = parts.queue.items
    assert [it.path for it in download.wanted.files] == ["mmproj-small-7b-F16.gguf"]


def with_drafter(pattern: str) -> Offer:
    return Offer(
        "default", "Bare", "", "ada/Bare", "Q4_K_M", (), GB, 10.0,
        drafter=CompanionFile("bea/Drafters", pattern),
    )  # fmt: skip


def test_a_drafter_of_another_repository_comes_along(parts: Parts) -> None:
    parts.hub.repositories["ada/Bare"] = repository("ada/Bare", files=(("b-Q4_K_M.gguf", 1.0),))
    parts.hub.repositories["bea/Drafters"] = repository(
        "bea/Drafters", files=(("x/mtp-b.gguf", 0.1), ("other.gguf", 1.0))
    )
    assert queued(parts, with_drafter("mtp-b*.gguf")) == ["b-Q4_K_M.gguf", "x/mtp-b.gguf"]
    assert parts.queue.items[1].wanted.repo == "bea/Drafters"


def test_of_several_heads_beside_a_model_the_one_that_was_counted_comes(parts: Parts) -> None:
    files = (("b-Q8_0.gguf", 8.0), ("mtp-b-Q8_0.gguf", 2.0), ("mtp-b-Q4_0.gguf", 1.0))
    parts.hub.repositories["ada/Bare"] = repository("ada/Bare", files=files)
    offer = replace(with_drafter("mtp-b-Q4_0.gguf"), label="Q8_0")
    named = replace(offer, drafter=CompanionFile("ada/Bare", "mtp-b-Q4_0.gguf"))
    assert queued(parts, named) == ["b-Q8_0.gguf", "mtp-b-Q4_0.gguf"]


def test_a_drafter_that_is_gone_does_not_keep_the_model_away(parts: Parts) -> None:
    parts.hub.repositories["ada/Bare"] = repository("ada/Bare", files=(("b-Q4_K_M.gguf", 1.0),))
    parts.hub.repositories["bea/Drafters"] = repository("bea/Drafters", files=(("README.md", 0.0),))
    assert queued(parts, with_drafter("mtp-b*.gguf")) == ["b-Q4_K_M.gguf"]


def test_an_offer_that_is_gone_is_explained(parts: Parts) -> None:
    parts.hub.repositories[SMALL.id] = repository(files=(("s-Q8_0.gguf", 8.0),))
    error = outcome(parts.qtbot, lambda done, failed: parts.discover.get_offer(OFFER, done, failed))
    assert isinstance(error, HubUnreadable)
    assert parts.queue.items == []


def test_the_worlds_errors_come_as_they_are(parts: Parts) -> None:
    parts.hub.error = NoConnection("No network.", "The cable is out.", "Plug it in.")
    assert searched(parts, Query(), fits=False) is parts.hub.error


@pytest.mark.parametrize("present", [True, False])
def test_whether_there_is_a_token_is_looked_at_for_closed_ones_only(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, present: bool
) -> None:
    asked = []

    def status(service: str) -> SecretStatus:
        asked.append(service)
        return SecretStatus(present, "keyring" if present else "none")

    monkeypatch.setattr(parts.tokens, "status", status)
    assert opened(parts).has_token is False
    assert asked == []
    assert opened(parts, GATED.id).has_token is present


def test_a_keyring_that_is_locked_does_not_close_the_page(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(_: str) -> SecretStatus:
        raise KeyringBroken("It is locked.", "Nobody opened it.", "Open it.")

    monkeypatch.setattr(parts.tokens, "status", locked)
    assert opened(parts, GATED.id).has_token is False
