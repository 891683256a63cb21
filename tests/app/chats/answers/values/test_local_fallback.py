"""Text leaves this computer only for a model that somebody chose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.answers.values.local_fallback import local_fallback
from app.models.library.values.entry import STARTER, ModelEntry

GUIDE = ModelEntry(STARTER, "Starter guide", Path("guide.gguf"), builtin=True)
OWN = ModelEntry("own", "Own", Path("own.gguf"), last_used=20.0)
OLD = ModelEntry("old", "Old", Path("old"), engine="vllm", last_used=10.0)
FAR = ModelEntry("team:x", "x on team", Path("x"), engine="remote", server="s1", last_used=30.0)
NEAR = replace(FAR, id="near:x", name="x on near", server="s2")
ALL = [GUIDE, OWN, OLD, FAR, NEAR]


def fallback(called: str, entries: list[ModelEntry] = ALL) -> str:
    return local_fallback(called, entries, lambda server: server == "s1")


@pytest.mark.parametrize("called", ["own", "Own", "old", STARTER, "near:x", "gone", "gone:x"])
def test_a_usual_model_that_keeps_the_text_here_answers(called: str) -> None:
    assert fallback(called) == called


@pytest.mark.parametrize("called", [FAR.id, FAR.name])
def test_in_place_of_a_servers_the_last_one_of_this_computer_answers(called: str) -> None:
    assert fallback(called) == OWN.id
    assert fallback(called, [GUIDE, OLD, FAR]) == OLD.id
    assert fallback(called, [GUIDE, replace(OWN, drafts=True), FAR]) == STARTER
    assert fallback(called, [GUIDE, replace(OWN, last_used=None), FAR]) == STARTER
