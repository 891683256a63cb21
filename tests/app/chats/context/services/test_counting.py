"""Counting a chat's share of the context before its model is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistants.store.assistants import AssistantStore
from app.base.db import Database
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.grounding import Grounding
from app.chats.answers.services.preparing import Preparing
from app.chats.answers.values.answers import AnswerOptions
from app.chats.context.services.counting import Counting
from app.chats.context.store import SummaryStore
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.drafts import DraftStore
from app.documents.store.documents import DocumentStore
from app.documents.values.documents import Attachment
from app.models.library.services.library import Library
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import ModelEntry
from app.runtime.services.runtime import Runtime
from app.runtime.services.vllm_loader import VllmLoader
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.hardware import Hardware, Memory
from tests.engines.checkpoint_files import QWEN3, write_checkpoint
from tests.support.attached import attached
from tests.support.houses import ScriptedWorker
from tests.support.machines import CPU, GIB, card
from tests.support.services import Services

SHAPE: dict[str, Any] = {**QWEN3, "num_hidden_layers": 36, "num_key_value_heads": 8}


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[Counting]:
    """Yield a Counting for a 24 GB card and a checkpoint that was trained for 40,960 tokens."""
    folder = write_checkpoint(tmp_path / "q", SHAPE, size=9_000_000_000)
    entry = ModelEntry("q", "Qwen", folder, source="builtin", engine="vllm")
    database = Database(tmp_path / "chats.db")
    library = Library(ModelStore(database), STARTER, STARTER_DRAFTER, None, lambda: [entry])
    hardware = Hardware("Linux", CPU, Memory(32 * GIB, 16 * GIB), (card("RTX", 24, 23),))
    runtime = Runtime({"vllm": VllmLoader(ScriptedWorker, lambda: "cuda", lambda: hardware)})
    store, summaries = ChatStore(database), SummaryStore(database)
    layers = ChatLayers(ChatSettingsStore(database), AssistantStore(database))
    grounding = Grounding(DocumentStore(database))
    yield Counting(store, summaries, Preparing(library, layers), grounding, runtime)
    database.close()


def test_a_model_that_is_not_loaded_is_counted_with_the_context_it_would_have(
    counting: Counting,
) -> None:
    def context(**settings: Any) -> int:
        return counting.use(
            None, "A long text.", Settings(model="q", **settings), AnswerOptions()
        ).context

    assert context() == 40_960, "as vLLM would be loaded on this card"
    assert context(context=4096) == 4096


PLAN = attached("plan.txt", "The oven takes 250 degrees. " * 20)
BOOK = attached("book.pdf", *(f"Page {n} tells of bread. " + "Bread. " * 300 for n in range(60)))


@pytest.fixture
def counts(services: Services) -> Counting:
    """Return a Counting with the scripted engine, a word a token, in a context of 2,000."""
    services.engine.context = 2000
    database, preparing = services.database, services.answers.preparing
    DraftStore(database).save_files(None, [PLAN.attachment], PLAN)
    DraftStore(database).save_files(None, [PLAN.attachment, BOOK.attachment], BOOK)
    grounding = Grounding(DocumentStore(database))
    summaries = SummaryStore(database)
    return Counting(services.chats, summaries, preparing, grounding, services.runtime)


def answer(services: Services, chat_id: str | None, text: str, *files: Attachment) -> str:
    _, begun = services.chats.ask(chat_id, text, attachments=files)
    for _ in services.answers.write(
        begun, Settings(), AnswerOptions(), lambda _: None, CancelToken()
    ):
        pass
    return begun.chat_id


def test_a_file_at_the_draft_counts_before_it_is_sent(counts: Counting) -> None:
    settings, options = Settings(), AnswerOptions()
    without = counts.use(None, "How hot?", settings, options)
    use = counts.use(None, "How hot?", settings, options, [PLAN.attachment])
    assert not use.exact
    found = use.file(PLAN.document.sha256)
    assert found is not None
    assert found.share.whole
    assert found.new
    assert found.tokens == found.whole == use.total - without.total > 100
    assert [(part.place, part.words, part.files) for part in use.parts] == [
        ("draft", "How hot?", found.tokens)
    ]


def test_of_a_long_file_so_many_places_are_in(services: Services, counts: Counting) -> None:
    chat_id = answer(services, None, "Hello")
    settings, options = Settings(), AnswerOptions()
    use = counts.use(chat_id, "Bread?", settings, options, [PLAN.attachment, BOOK.attachment])
    assert use.exact
    assert use.fits
    plan, book = (use.file(it.document.sha256) for it in (PLAN, BOOK))
    assert plan is not None
    assert book is not None
    assert plan.share.whole
    assert not book.share.whole
    assert 0 < book.share.places < book.share.of == 60
    words = sum(len(section.text.split()) for section in BOOK.document.sections)
    assert book.tokens < 2000
    assert book.whole == pytest.approx(words, rel=0.2)
    assert plan.tokens + book.tokens == pytest.approx(use.parts[-1].files, abs=1)


def test_a_file_that_was_sent_stays_in_and_pins_nothing_by_itself(
    services: Services, counts: Counting
) -> None:
    chat_id = answer(services, None, "How hot?", PLAN.attachment)
    use = counts.use(chat_id, "And now?", Settings(), AnswerOptions())
    found = use.file(PLAN.document.sha256)
    assert found is not None
    assert found.share.whole
    assert not found.new
    assert [part.words for part in use.parts] == ["How hot?", "Hello there", "And now?"]
    assert [part.files for part in use.parts] == [found.tokens, 0, 0]
    assert not any(part.pinned for part in use.parts)


def test_a_question_of_files_alone_is_counted(counts: Counting) -> None:
    use = counts.use(None, "", Settings(), AnswerOptions(), [PLAN.attachment])
    assert use.file(PLAN.document.sha256) is not None
    assert use.parts[-1].words == ""
