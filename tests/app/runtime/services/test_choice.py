"""Choosing the engine for an answer, and offering the same model on another one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.activity.services.measuring.speeds import MeasuredSpeeds, speed_of
from app.activity.values.bench_results import BenchResult, KindResult, ModeResult
from app.base.db import Database
from app.base.shipped import CATALOGUE, STARTER_DRAFTER
from app.base.shipped import STARTER as GUIDE
from app.models.discover.services.recommending import Recommending
from app.models.discover.values.counterparts import Card
from app.models.library.services.library import Library
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import STARTER, STARTER_CHECKPOINT, ModelEntry
from app.runtime.services.advising import EngineAdvisor, Installable
from app.runtime.services.choice import EngineChoice
from app.runtime.values.advice import MeasuredSpeed
from app.settings.store import SettingsFile
from app.settings.values.fields import Settings
from engines.errors import EngineUnavailable
from tests.engines.checkpoint_files import DRAFTER, GEMMA_31B, TARGET, write_checkpoint
from tests.engines.gguf_files import write_llama

ADA = Card("RTX 4090", 8.9, 25_700_000_000)


@dataclass
class Desk:
    root: Path
    here: Installable = "installed"
    why_not: str = ""
    cards: tuple[Card, ...] = (ADA,)
    measured: list[MeasuredSpeed] = field(default_factory=list)
    loaded: ModelEntry | None = None
    most: int = 100_000

    def __post_init__(self) -> None:
        self.store = ModelStore(Database(self.root / "chats.db"))
        guide = ModelEntry(
            STARTER_CHECKPOINT, "Guide", TARGET, builtin=True, drafter=DRAFTER, engine="vllm"
        )
        self.library = Library(self.store, GUIDE, STARTER_DRAFTER, None, lambda: [guide])
        self.settings = SettingsFile(self.root / "settings.json")
        self.recommending = recommending(self.root)
        vllm: Any = SimpleNamespace(
            installable=lambda: (self.here, self.why_not),
            cards=lambda: self.cards,
            fits=lambda _entry, settings: settings.context <= self.most,
        )
        servers: Any = SimpleNamespace(list=tuple)
        speeds: Any = SimpleNamespace(all=lambda: tuple(self.measured))
        runtime: Any = SimpleNamespace(loaded_model=lambda _engine: self.loaded)
        self.advisor = EngineAdvisor("linux", vllm, servers, speeds)
        self.choice = EngineChoice(
            self.library, self.recommending, self.settings, vllm, self.advisor, runtime
        )

    def model(self, name: str) -> ModelEntry:
        return self.library.add(write_llama(self.root / f"{name}.gguf"))


def recommending(folder: Path) -> Recommending:
    """Return a service that recommends from Hearth's catalogue and the user's in this folder."""

    def never() -> Any:
        raise AssertionError

    return Recommending(CATALOGUE, folder, lambda: folder, never, never)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_counterpart_that_is_here(desk: Desk) -> None:
    guide = desk.library.starter
    pair = desk.choice.entry_for(guide, "vllm")
    assert (pair.id, pair.drafter) == (STARTER_CHECKPOINT, DRAFTER)
    assert desk.choice.entry_for(pair, "llamacpp").id == STARTER
    assert desk.choice.entry_for(guide, "llamacpp") is guide


def test_without_vllm_its_reason_is_given(desk: Desk) -> None:
    desk.here, desk.why_not = "possible", "It is not installed."
    with pytest.raises(EngineUnavailable) as caught:
        desk.choice.entry_for(desk.library.starter, "vllm")
    assert caught.value.why == "It is not installed."
    assert "hearth engines install vllm" in caught.value.terminal
    with pytest.raises(EngineUnavailable):
        desk.choice.use("vllm")
    assert desk.settings.read().engine == "auto"


def test_what_a_download_would_cost(desk: Desk) -> None:
    with pytest.raises(EngineUnavailable) as caught:
        desk.choice.entry_for(desk.model("gemma-4-12B-it-Q4_0"), "vllm")
    assert "About 15.0 GB have to be downloaded." in caught.value.why
    assert "hearth models pull RedHatAI/gemma-4-12B-it-FP8-Dynamic" in caught.value.terminal


def test_what_does_not_suit_the_card_or_is_not_known(desk: Desk) -> None:
    desk.cards = (Card("Small", 8.9, 6_000_000_000),)
    with pytest.raises(EngineUnavailable) as caught:
        desk.choice.entry_for(desk.model("gemma-4-31B-it-Q4_0"), "vllm")
    assert "Small has 6" in caught.value.why
    with pytest.raises(EngineUnavailable) as caught:
        desk.choice.entry_for(desk.model("mine"), "vllm")
    assert "knows none" in caught.value.why
    with pytest.raises(EngineUnavailable) as caught:
        desk.choice.entry_for(desk.library.starter, "remote")
    assert "hearth servers list" in caught.value.terminal


def test_the_setting_chooses_for_what_is_here_twice(desk: Desk) -> None:
    guide, mine = desk.library.starter, desk.model("mine")
    assert desk.choice.preferred(guide.id, Settings()) == guide.id
    changed = desk.choice.use("vllm")
    assert changed.engine == "vllm"
    assert desk.settings.read() == changed
    assert desk.choice.preferred(guide.id, changed) == STARTER_CHECKPOINT
    assert desk.choice.preferred(mine.id, changed) == mine.id
    assert desk.choice.preferred("gone", changed) == "gone"
    desk.here = "possible"
    assert desk.choice.preferred(guide.id, changed) == guide.id


def test_auto_goes_by_what_was_measured_here(desk: Desk) -> None:
    desk.measured += [
        MeasuredSpeed("llamacpp", STARTER, 1, 10.0), MeasuredSpeed("vllm", STARTER, 1, 20.0),
    ]  # fmt: skip
    assert desk.choice.preferred(STARTER, Settings()) == STARTER_CHECKPOINT


def test_auto_goes_by_chats_at_once_the_context_and_what_is_loaded(desk: Desk) -> None:
    def answered(answers: int = 1, context: int = 0) -> str:
        return desk.choice.preferred(STARTER, Settings(context=context), answers)

    assert (answered(), answered(2)) == (STARTER, STARTER)
    assert answered(3) == STARTER_CHECKPOINT
    assert answered(context=65_536) == STARTER_CHECKPOINT
    desk.loaded = desk.library.find(STARTER_CHECKPOINT)
    assert answered() == STARTER_CHECKPOINT
    desk.cards = ()
    assert answered(8, 65_536) == STARTER


def test_vllm_is_not_chosen_for_what_its_card_cannot_hold(desk: Desk) -> None:
    long = Settings(context=131_072)
    assert desk.choice.preferred(STARTER, long) == STARTER
    assert "more graphics memory" in desk.choice.why(desk.library.starter, long)
    desk.loaded = desk.library.find(STARTER_CHECKPOINT)
    assert desk.choice.preferred(STARTER, long) == STARTER, "it is loaded with a shorter context"


def test_the_rule_says_why_and_is_silent_where_somebody_has_chosen(desk: Desk) -> None:
    guide = desk.library.starter
    checkpoint = desk.library.find(STARTER_CHECKPOINT)
    assert "One user at a time" in desk.choice.why(guide, Settings())
    assert desk.choice.why(checkpoint, Settings()) == "", "somebody has chosen it"
    assert "3 chats at once" in desk.choice.why(checkpoint, Settings(), 3)
    assert desk.choice.why(guide, Settings(), 3) == ""
    assert desk.choice.why(guide, replace(Settings(), engine="llamacpp")) == ""
    assert desk.choice.why(desk.model("mine"), Settings()) == "", "there is only one"
    desk.here = "possible"
    assert desk.choice.why(guide, Settings()) == ""


def test_auto_leaves_a_checkpoint_that_was_chosen(desk: Desk) -> None:
    assert desk.advisor.advise().engine == "llamacpp"
    assert desk.choice.preferred(STARTER_CHECKPOINT, Settings()) == STARTER_CHECKPOINT
    assert desk.choice.preferred(STARTER_CHECKPOINT, desk.choice.use("llamacpp")) == STARTER


def test_what_somebody_made_of_a_model_is_not_exchanged_for_it(desk: Desk) -> None:
    theirs = desk.model("gemma-4-12B-it-heretic-Q4_0")
    found = desk.library.add(write_checkpoint(desk.root / "gemma-4-12B-it", GEMMA_31B))
    changed = desk.choice.use("vllm")
    assert desk.choice.entry_for(theirs, "vllm").id == found.id, "on wish it is"
    assert desk.choice.preferred(theirs.id, changed) == theirs.id


def test_a_catalogue_that_cannot_be_read_stops_no_answer(desk: Desk) -> None:
    (desk.root / "catalogue.json").write_text("{", encoding="utf-8")
    guide = desk.library.starter
    assert desk.choice.preferred(guide.id, desk.choice.use("vllm")) == guide.id
    assert desk.recommending.advised_depth(guide) is None


def test_names_and_depths(desk: Desk) -> None:
    twelve = desk.model("gemma-4-12B-it-Q4_0")
    assert desk.choice.model_name(twelve) == "Gemma 4 12B"
    assert desk.choice.model_name(desk.choice.entry_for(desk.library.starter, "vllm")) == STARTER
    assert desk.recommending.advised_depth(twelve) == 4


def test_measured_speeds_are_kept(tmp_path: Path) -> None:
    off = ModeResult("off", 10, 10.0, None, None, False, "none", 0, 0, 0, "", True)
    modes = (off, replace(off, mode="on", decode_tok_s=14.0))
    result = BenchResult(
        "m", "vllm", "GPU", 512, "", 1, 1, (KindResult("chat", 100.0, modes),), runs_on="vllm"
    )
    book = MeasuredSpeeds(tmp_path / "speeds.json")
    assert book.all() == ()
    book.store(speed_of(result, "Gemma"))
    book.store(MeasuredSpeed("llamacpp", "Gemma", 1, 5.0))
    book.store(MeasuredSpeed("llamacpp", "Gemma", 1, 6.0))
    assert set(MeasuredSpeeds(tmp_path / "speeds.json").all()) == {
        MeasuredSpeed("vllm", "Gemma", 1, 14.0),
        MeasuredSpeed("llamacpp", "Gemma", 1, 6.0),
    }
    (tmp_path / "speeds.json").write_text("{", encoding="utf-8")
    assert book.all() == ()
