"""Editing a model's name, template and context, in a copy and in the file itself."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import gguf
import pytest

from app.base.errors import DiskFull, ModelDiffers, ModelNotOurs, ModelNotRead
from app.base.shipped import STARTER
from app.models.library.services.editing import MetadataEditor, sample_prompt
from app.models.library.services.places import copying
from app.models.library.values.entry import ModelEntry
from engines.cancel import CancelToken
from engines.errors import Cancelled, MetadataRefused, TemplateFailed
from engines.llamacpp.engine import LlamaCppEngine
from engines.models.gguf.edit import Metadata
from engines.models.gguf.header import read_header
from engines.private import UNFINISHED
from engines.types import LlamaPlan
from tests.app.models.library.services.places.conftest import Here
from tests.app.models.library.services.places.layouts import (
    put_in_jan,
    put_in_ollama,
    put_on_hub,
    some_parts,
)
from tests.engines.asking import ask

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "<|turn>{{ message.role }}\n{{ message.content }}<turn|>\n{% endfor %}<|turn>model\n"
)
CHANGES = Metadata("A name of mine", TEMPLATE, 512)


def silent(_: float) -> None:
    """Ignore the progress."""


class Editor(MetadataEditor):
    """A metadata editor.

    Attributes:
        unloaded: The models it asked to unload, in order.
    """

    def __init__(self, here: Here) -> None:
        self.unloaded: list[ModelEntry] = []
        super().__init__(here.library, here.store.hashes, here.collection, self.unloaded.append)

    def changed(self, called: str, changes: Metadata = CHANGES) -> ModelEntry:
        return self.change(called, changes, silent, CancelToken())

    def copied(self, called: str, changes: Metadata = CHANGES, name: str = "Mine") -> ModelEntry:
        return self.save_copy(called, changes, name, silent, CancelToken())


@pytest.fixture
def editor(here: Here) -> Editor:
    return Editor(here)


@pytest.fixture
def model(here: Here, tmp_path: Path) -> ModelEntry:
    """Add a copy of the starter as a model of the user's."""
    path = tmp_path / "mine" / "model.gguf"
    path.parent.mkdir()
    shutil.copy(STARTER, path)
    return here.library.add(path)


def weights(path: Path) -> list[tuple[str, str]]:
    return [
        (it.name, hashlib.sha256(it.data.tobytes()).hexdigest())
        for it in gguf.GGUFReader(path).tensors
    ]


def files(folder: Path) -> list[str]:
    return sorted(str(it.relative_to(folder)) for it in folder.rglob("*") if it.is_file())


class TestReading:
    def test_what_the_file_says(self, editor: Editor, model: ModelEntry) -> None:
        found = editor.read(model.id)
        header = read_header(STARTER)
        assert (found.name, found.template) == (header.name, header.chat_template)
        assert (found.context, found.why_not) == (header.context_max, "")
        assert found.size_bytes == found.copy_bytes == STARTER.stat().st_size

    def test_the_guide_is_left_alone(self, editor: Editor) -> None:
        for called in ("starter", str(STARTER)):
            with pytest.raises(ModelNotOurs):
                editor.read(called)


class TestInPlace:
    def test_the_file_is_another_and_everything_sees_it(
        self,
        here: Here,
        editor: Editor,
        model: ModelEntry,
    ) -> None:
        model.path.chmod(0o640)
        before = here.library.header(model)
        facts = here.library.facts(model)
        entry = editor.changed(model.id)
        assert (entry.id, entry.path) == (model.id, model.path)
        for library in (here.library, here.again().library):
            assert library.header(entry).chat_template == TEMPLATE != before.chat_template
            assert library.facts(entry).context_max == 512 != facts.context_max
        assert weights(model.path) == weights(STARTER)
        assert model.path.stat().st_mode & 0o777 == 0o640
        assert editor.unloaded == [model]
        assert files(model.path.parent) == ["model.gguf"]
        assert here.care.verify(model.id, silent, CancelToken()).compared, "its new hash is known"

    def test_what_is_not_changed_stays(self, editor: Editor, model: ModelEntry) -> None:
        before = editor.read(model.id)
        editor.changed(model.id, Metadata(context=1024))
        after = editor.read(model.id)
        assert (after.name, after.template) == (before.name, before.template)
        assert after.context == 1024

    def test_of_a_model_in_parts_the_first_is_written(
        self,
        here: Here,
        editor: Editor,
        tmp_path: Path,
    ) -> None:
        first, second = some_parts(tmp_path / "parts")
        entry = here.library.add(first)
        untouched = second.read_bytes(), second.stat().st_mtime_ns
        editor.changed(entry.id)
        assert editor.read(entry.id).template == TEMPLATE
        assert (second.read_bytes(), second.stat().st_mtime_ns) == untouched
        assert read_header(first).parts == 2

    def test_what_a_killed_process_left_goes(self, editor: Editor, model: ModelEntry) -> None:
        for name, age_s in (("old", 7200), ("new", 60)):
            left = model.path.with_name(f".model.gguf.{name}{UNFINISHED}")
            left.touch()
            os.utime(left, (time.time() - age_s,) * 2)
        editor.changed(model.id)
        assert files(model.path.parent) == [f".model.gguf.new{UNFINISHED}", "model.gguf"]

    def test_another_name_of_the_same_bytes_keeps_them(
        self, editor: Editor, model: ModelEntry, tmp_path: Path
    ) -> None:
        os.link(model.path, tmp_path / "other.gguf")
        editor.changed(model.id)
        assert (tmp_path / "other.gguf").read_bytes() == STARTER.read_bytes()


class TestNotOurs:
    """Models of which only a copy may be edited."""

    def refused(self, editor: Editor, entry: ModelEntry) -> None:
        before = entry.path.read_bytes()
        assert editor.read(entry.id).why_not
        with pytest.raises(ModelNotOurs) as error:
            editor.changed(entry.id)
        assert "copy" in error.value.do
        assert entry.path.read_bytes() == before
        copy = editor.copied(entry.id)
        assert editor.read(copy.id).template == TEMPLATE
        assert entry.path.read_bytes() == before

    def test_a_blob_of_the_hubs_cache(self, here: Here, editor: Editor) -> None:
        put_on_hub(here.hub, "anna/m", "m.gguf", STARTER)
        (entry,) = [it for it in here.library.entries() if it.source == "hub"]
        self.refused(editor, entry)

    def test_another_programs(self, here: Here, editor: Editor) -> None:
        put_in_ollama(here.ollama, "registry.ollama.ai/library/m/latest", STARTER)
        put_in_jan(here.jan / "data", "m", STARTER)
        entries = [it for it in here.library.entries() if it.source in ("ollama", "jan")]
        assert len({it.path for it in entries}) >= 1
        for entry in entries:
            self.refused(editor, entry)

    def test_a_link_to_what_lies_elsewhere(
        self,
        here: Here,
        editor: Editor,
        tmp_path: Path,
    ) -> None:
        (tmp_path / "elsewhere.gguf").write_bytes(STARTER.read_bytes())
        link = tmp_path / "link.gguf"
        link.symlink_to(tmp_path / "elsewhere.gguf")
        self.refused(editor, here.library.add(link))


class TestCopies:
    def test_a_copy_is_a_model_of_its_own(
        self,
        here: Here,
        editor: Editor,
        model: ModelEntry,
    ) -> None:
        entry = editor.copied(model.id, name="Mine: with / a template")
        assert entry.path == here.own / "Mine- with - a template" / "Mine- with - a template.gguf"
        assert entry.id != model.id
        assert entry.id in here.ids()
        assert editor.read(entry.id).template == TEMPLATE
        assert weights(entry.path) == weights(STARTER)
        assert model.path.read_bytes() == STARTER.read_bytes()
        assert here.care.verify(entry.id, silent, CancelToken()).compared
        assert editor.copied(model.id, name="Mine: with / a template").id != entry.id
        assert editor.unloaded == []

    def test_all_parts_are_copied(
        self,
        here: Here,
        editor: Editor,
        tmp_path: Path,
    ) -> None:
        first, second = some_parts(tmp_path / "parts")
        shares: list[float] = []
        entry = editor.save_copy(
            here.library.add(first).id, CHANGES, "two", shares.append, CancelToken()
        )
        assert [it.name for it in entry.files] == [
            "two-00001-of-00002.gguf", "two-00002-of-00002.gguf",
        ]  # fmt: skip
        assert entry.files[1].read_bytes() == second.read_bytes()
        assert editor.read(entry.id).template == TEMPLATE
        assert shares[-1] == 1.0

    @pytest.mark.parametrize("name", ["", "  ", "..", "///", "a\0b", "n" * 201, "😀" * 80])
    def test_a_copy_needs_a_name(self, editor: Editor, model: ModelEntry, name: str) -> None:
        with pytest.raises(MetadataRefused):
            editor.copied(model.id, name=name)


class TestNothingIsLeftBehind:
    """Failures while the new file is written; the old one stays whole."""

    def both(self, here: Here, editor: Editor, model: ModelEntry, error: type[Exception]) -> None:
        with pytest.raises(error):
            editor.changed(model.id)
        with pytest.raises(error):
            editor.copied(model.id)
        assert files(model.path.parent) == ["model.gguf"]
        assert list(here.own.iterdir()) == []
        assert here.ids() == [model.id]

    def test_cancelled(
        self,
        here: Here,
        editor: Editor,
        model: ModelEntry,
    ) -> None:
        cancel = CancelToken()
        with pytest.raises(Cancelled):
            editor.change(model.id, CHANGES, lambda _: cancel.cancel(), cancel)
        cancel = CancelToken()
        with pytest.raises(Cancelled):
            editor.save_copy(model.id, CHANGES, "Mine", lambda _: cancel.cancel(), cancel)
        assert files(model.path.parent) == ["model.gguf"]
        assert list(here.own.iterdir()) == []
        assert model.path.read_bytes() == STARTER.read_bytes()

    def test_without_room(
        self,
        here: Here,
        editor: Editor,
        model: ModelEntry,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=300 << 20))
        monkeypatch.setattr(copying, "SPARE", 300 << 20)
        self.both(here, editor, model, DiskFull)
        assert model.path.read_bytes() == STARTER.read_bytes()

    def test_a_disk_that_fills_up_while_writing(
        self,
        here: Here,
        editor: Editor,
        model: ModelEntry,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        self.both(here, editor, model, DiskFull)
        assert model.path.read_bytes() == STARTER.read_bytes()

    def test_a_file_that_is_being_written(
        self,
        here: Here,
        editor: Editor,
        model: ModelEntry,
    ) -> None:
        def touch(_: float) -> None:
            os.utime(model.path)

        with pytest.raises(ModelDiffers):
            editor.change(model.id, CHANGES, touch, CancelToken())
        assert files(model.path.parent) == ["model.gguf"]
        assert model.path.read_bytes() == STARTER.read_bytes()

    def test_an_engine_that_cannot_be_unloaded(
        self,
        here: Here,
        model: ModelEntry,
    ) -> None:
        def stuck(_: ModelEntry) -> None:
            raise ModelNotRead("It is in use.", "Somebody else reads it.", "Wait.")

        editor = MetadataEditor(here.library, here.store.hashes, here.collection, stuck)
        with pytest.raises(ModelNotRead):
            editor.change(model.id, CHANGES, silent, CancelToken())
        assert files(model.path.parent) == ["model.gguf"]
        assert model.path.read_bytes() == STARTER.read_bytes()


def test_llama_cpp_loads_the_edited_file_and_uses_its_template(
    editor: Editor, model: ModelEntry
) -> None:
    """The engine has the old file open when the new one replaces it."""
    engine, cancel = LlamaCppEngine(), CancelToken()
    plan = LlamaPlan(model.path, context=512, threads=1, batch_threads=1)
    try:
        engine.load(plan, lambda _: None, cancel)
        editor.changed(model.id, Metadata(template=TEMPLATE.replace("role }}", "role }} SAYS")))
        before = engine.measure(ask("Hello"), cancel).total
        engine.load(plan, lambda _: None, cancel)
        assert engine.measure(ask("Hello"), cancel).total > before
    finally:
        engine.close()


def test_a_template_is_tried_on_a_short_chat() -> None:
    prompt = sample_prompt(TEMPLATE, CancelToken())
    assert prompt.startswith("<s><|turn>user\nHello<turn|>")
    assert prompt.endswith("<|turn>model")
    for broken in ("{% for %}", "{{ raise_exception('no') }}", "always the same"):
        with pytest.raises(TemplateFailed):
            sample_prompt(broken, CancelToken())
    with pytest.raises(MetadataRefused):
        sample_prompt("x" * (10 << 20), CancelToken())


def test_trying_a_template_without_an_end_can_be_stopped() -> None:
    cancel = CancelToken()
    threading.Timer(0.5, cancel.cancel).start()
    long = "{% for i in range(99999) %}"
    with pytest.raises((Cancelled, TemplateFailed)):
        sample_prompt(f"{TEMPLATE}{long * 3}{'{% endfor %}' * 3}", cancel)
