"""The real window with a scripted Hub; downloads that are queued stay queued."""

from __future__ import annotations

import pytest

from app.models.downloads.services.queue import DownloadQueue
from app.models.hub import client
from tests.support.scripted_hub import GB, ScriptedFitting, ScriptedHub, repository
from tests.support.window import Ui

GEMMA = "google/gemma-4-E2B-it-qat-q4_0-gguf"
"""The repository of the model recommended for the computer of these tests."""
DRAFTERS = "unsloth/gemma-4-E2B-it-qat-GGUF"
"""The repository in which the catalogue lists that model's drafter."""


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> ScriptedHub:
    scripted = ScriptedHub()
    scripted.repositories[GEMMA] = repository(
        GEMMA, files=(("gemma-4-E2B_q4_0-it.gguf", 3.3), ("gemma-4-E2B-it-mmproj.gguf", 0.9))
    )
    scripted.repositories[DRAFTERS] = repository(
        DRAFTERS, files=(("mtp-gemma-4-E2B-it.gguf", 0.06), ("gemma-4-E2B-it-UD-Q4_K_XL.gguf", 3.2))
    )
    monkeypatch.setattr(client, "Hub", lambda *_: scripted)
    monkeypatch.setattr(DownloadQueue, "start", lambda *_: None)
    return scripted


@pytest.fixture
def fitting(ui: Ui) -> ScriptedFitting:
    """Replace the real fitting, for tests whose files are not models."""
    scripted = ScriptedFitting(9 * GB)
    ui.presenters.discover._fitting = scripted
    return scripted


@pytest.fixture
def discover(ui: Ui, fitting: ScriptedFitting) -> Ui:
    """Open the window at the Discover part of the models page."""
    ui.press("Ctrl+M")
    ui.click("modelsPart-discover")
    return ui
