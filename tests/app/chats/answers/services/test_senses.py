"""Explanations for models that take no pictures or sounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.answers.services.senses import require_senses
from app.documents.values.documents import AttachedFile
from app.models.library.values.entry import ModelEntry
from app.settings.values.fields import Settings
from engines.errors import MediaUnsupported
from tests.support.attached import attached_picture, attached_sound


@pytest.mark.parametrize(
    ("file", "setting"),
    [
        (attached_picture("photo.jpg", b"a photo"), "vllm_pictures"),
        (attached_sound("song.mp3", b"a song"), "vllm_sounds"),
    ],
)
def test_what_lets_a_model_in_vllm_see_or_hear_is_named(file: AttachedFile, setting: str) -> None:
    entry = ModelEntry("a", "Made", Path("a"), engine="vllm")
    with pytest.raises(MediaUnsupported) as caught:
        require_senses([file.attachment], frozenset(), entry)
    action = caught.value.action
    assert action is not None
    assert (action.kind, action.value) == ("open_settings", setting)
    assert setting in (caught.value.terminal or "")
    assert getattr(Settings(), setting) is False
    kind = file.attachment.kind.medium
    assert kind is not None
    require_senses([file.attachment], frozenset({kind}), entry)
