"""What a chat would take of a context, before its model is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.core.chats.answers import AnswerOptions
from app.core.models.entry import ModelEntry
from app.core.settings.fields import Settings
from app.services.answers.answers import Answers
from app.services.answers.chat_layers import ChatLayers
from app.services.answers.compacting import Compacting
from app.services.answers.counting import Counting
from app.services.answers.grounding import Grounding
from app.services.engines.runtime import Runtime
from app.services.engines.vllm_loader import VllmLoader
from app.services.models.library import Library
from app.store.assistants import AssistantStore
from app.store.chat_settings import ChatSettingsStore
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.documents import DocumentStore
from app.store.models import ModelStore
from app.store.summaries import SummaryStore
from app.wiring.shipped import STARTER, STARTER_DRAFTER
from engines.hardware import Hardware, Memory
from tests.engines.checkpoint_files import QWEN3, write_checkpoint
from tests.support.houses import ScriptedWorker
from tests.support.machines import CPU, GIB, card

SHAPE: dict[str, Any] = {**QWEN3, "num_hidden_layers": 36, "num_key_value_heads": 8}


@pytest.fixture
def counting(tmp_path: Path) -> Iterator[Counting]:
    """Of a computer with a card of 24 GB, and a checkpoint that was trained for 40,960 tokens."""
    folder = write_checkpoint(tmp_path / "q", SHAPE, size=9_000_000_000)
    entry = ModelEntry("q", "Qwen", folder, source="builtin", engine="vllm")
    database = Database(tmp_path / "chats.db")
    library = Library(ModelStore(database), STARTER, STARTER_DRAFTER, None, lambda: [entry])
    hardware = Hardware("Linux", CPU, Memory(32 * GIB, 16 * GIB), (card("RTX", 24, 23),))
    runtime = Runtime({"vllm": VllmLoader(ScriptedWorker, lambda: "cuda", lambda: hardware)})
    store, summaries = ChatStore(database), SummaryStore(database)
    layers = ChatLayers(ChatSettingsStore(database), AssistantStore(database))
    answers = Answers(
        store, library, runtime, layers, Compacting(summaries), Grounding(DocumentStore(database))
    )
    yield Counting(store, summaries, answers, runtime)
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
