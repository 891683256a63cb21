"""The formats of models, and the rules for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import pytest

from engines.errors import EngineError, NotAChatModel, NotAModel
from engines.models.format import ListedModel, ModelFacts
from engines.models.formats import Formats
from engines.models.gguf.headers import File
from engines.types import EngineName
from tests.engines.checkpoint_files import DRAFTER, TARGET
from tests.engines.gguf_files import write_assistant, write_gemma4, write_llama


class Nothing:
    """A cache that remembers no header."""

    def get(self, file: File) -> str | None:
        return None

    def keep(self, headers: Mapping[File, str]) -> None:
        pass


@dataclass(frozen=True)
class Listed:
    """A model as a list contains it."""

    name: str
    path: Path
    engine: EngineName
    served: str = ""
    drafter: Path | None = None
    projector: Path | None = None
    builtin: bool = False
    context: int = 0


@pytest.fixture
def formats() -> Formats:
    return Formats(Nothing())


def test_each_engine_has_one(formats: Formats) -> None:
    assert sorted(it.engine for it in formats) == sorted(get_args(EngineName))
    assert len({it.kind for it in formats}) == len(get_args(EngineName))


def test_a_folder_is_a_checkpoint_and_a_file_gguf_also_where_it_has_gone(
    formats: Formats, tmp_path: Path
) -> None:
    assert formats.at(TARGET).engine == "vllm"
    assert formats.at(write_llama(tmp_path / "m.gguf")).engine == "llamacpp"
    assert formats.at(tmp_path / "gone.gguf").engine == "llamacpp"


def test_each_reads_its_own(formats: Formats, tmp_path: Path) -> None:
    file = Listed("m", write_llama(tmp_path / "m.gguf"), "llamacpp")
    folder = Listed("t", TARGET, "vllm")
    served = Listed("s", Path("big"), "remote", "big", context=4096)
    models: list[ListedModel] = [file, folder, served]
    for model in models:
        facts, details = formats.of(model).facts(model), formats.of(model).details(model)
        assert {name: getattr(details, name) for name in vars(facts)} == vars(facts)
    assert formats.of(file).facts(file).architecture == "llama"
    assert formats.of(folder).facts(folder).architecture == "Gemma4ForCausalLM"
    assert formats.of(served).facts(served) == ModelFacts(context_max=4096)
    assert formats.of(served).details(served).title == "big"


@pytest.mark.parametrize("engine", ["llamacpp", "vllm"])
def test_what_is_not_there_is_told(formats: Formats, tmp_path: Path, engine: EngineName) -> None:
    gone = Listed("g", tmp_path / "gone", engine)
    for read in (formats.of(gone).facts, formats.of(gone).details):
        with pytest.raises(EngineError, match="was not found"):
            read(gone)


def test_a_name_and_the_files_that_go_with_it(formats: Formats, tmp_path: Path) -> None:
    first = tmp_path / "big-00001-of-00002.gguf"
    gguf, checkpoint = formats.at(first), formats.at(TARGET)
    assert (gguf.name(tmp_path / "m.gguf"), checkpoint.name(TARGET)) == ("m", TARGET.name)
    assert [it.name for it in gguf.parts(first)] == [first.name, "big-00002-of-00002.gguf"]
    assert [it.suffix for it in checkpoint.parts(TARGET)] == [".safetensors"]
    assert set(checkpoint.parts(TARGET)) < set(checkpoint.files(TARGET))
    assert checkpoint.parts(tmp_path / "gone") == ()


def test_a_drafter_is_known_by_its_format_among_those_of_all(
    formats: Formats, tmp_path: Path
) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    target = write_gemma4(tmp_path / "g.gguf")
    drafter = write_assistant(elsewhere / "helper.gguf")
    file, folder = Listed("g", target, "llamacpp"), Listed("t", TARGET, "vllm")
    for found in ([DRAFTER, drafter], [drafter, DRAFTER]):
        assert formats.of(file).drafter_for(file, (), found) == drafter
        assert formats.of(folder).drafter_for(folder, (), found) == DRAFTER
    assert formats.of(file).targets(drafter, [file]) == [file]
    assert formats.of(folder).targets(DRAFTER, [folder]) == [folder]
    assert formats.of(file).require_addable(drafter, [file])
    assert not formats.of(file).require_addable(target, [])


def test_a_drafter_that_cannot_be_read_is_named(formats: Formats, tmp_path: Path) -> None:
    target = write_gemma4(tmp_path / "g.gguf")
    gone = tmp_path / "elsewhere" / "helper.gguf"
    model = Listed("g", target, "llamacpp")
    assert formats.of(model).drafter_for(model, [gone], ()) is None
    assert formats.of(model).lost_drafter(model, [DRAFTER, gone]) == gone
    other = Listed("m", write_llama(tmp_path / "m.gguf"), "llamacpp")
    assert formats.of(other).lost_drafter(other, [gone]) is None


def test_nothing_of_a_server_can_be_added_or_lies_here(formats: Formats) -> None:
    served = Listed("s", Path("big"), "remote", "big")
    its = formats.of(served)
    with pytest.raises(NotAModel, match="was not added"):
        its.require_addable(served.path, [])
    assert (its.parts(served.path), its.files(served.path)) == ((), ())
    assert its.drafter_for(served, [DRAFTER], [DRAFTER]) is None
    assert its.template(served) == ""


def test_a_drafter_chats_with_nobody(formats: Formats, tmp_path: Path) -> None:
    drafter = Listed("d", write_assistant(tmp_path / "d.gguf"), "llamacpp")
    with pytest.raises(NotAChatModel):
        formats.of(drafter).mtp_sentence(drafter, None, lambda _: "")
