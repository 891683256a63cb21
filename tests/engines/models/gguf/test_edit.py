"""Changing a file's name, template and context: on real files, read back by llama.cpp's package."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import gguf
import numpy as np
import pytest

from engines.errors import MetadataRefused, ModelDamaged, NotAModel
from engines.models.gguf.edit import CONTEXTS, LARGEST_TEMPLATE, LONGEST_NAME, Metadata, prepare
from engines.models.gguf.header import read_file, read_header
from tests.engines.gguf_files import LLAMA, llama_tensors, write_gguf
from tests.faults.gguf_parts import Value, put_together, take_apart
from tests.support.made_gguf import STARTER

CHANGES = Metadata("A name of mine", "{{ messages[0].content }}", 512)


def rewritten(source: Path, target: Path, changes: Metadata) -> Path:
    edit = prepare(source, changes)
    target.write_bytes(edit.head + source.read_bytes()[edit.data :])
    assert target.stat().st_size == edit.size_bytes
    return target


def tensors(path: Path) -> dict[str, tuple[str, str]]:
    """Return the type and hash of each tensor, as the package reads them."""
    return {
        it.name: (it.tensor_type.name, hashlib.sha256(it.data.tobytes()).hexdigest())
        for it in gguf.GGUFReader(path).tensors
    }


def fields(path: Path) -> dict[str, bytes]:
    """Return each value of a file as its bytes."""
    return {
        name: b"".join(part.tobytes() for part in it.parts)
        for name, it in gguf.GGUFReader(path).fields.items()
        if not name.startswith("GGUF.")
    }


def test_what_was_changed_is_read_back_and_nothing_else_is_another(tmp_path: Path) -> None:
    path = rewritten(STARTER, tmp_path / "m.gguf", CHANGES)
    header = read_header(path)
    assert (header.name, header.chat_template) == (CHANGES.name, CHANGES.template)
    assert header.context_max == CHANGES.context
    assert tensors(path) == tensors(STARTER)
    before, after = fields(STARTER), fields(path)
    assert list(before) == list(after), "in the same order"
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {
        gguf.Keys.General.NAME, gguf.Keys.Tokenizer.CHAT_TEMPLATE, "gemma4.context_length",
    }  # fmt: skip


def test_what_was_not_there_is_added(tmp_path: Path) -> None:
    source = write_gguf(tmp_path / "a.gguf", "llama", LLAMA, llama_tensors(LLAMA))
    assert read_header(source).chat_template is None
    path = rewritten(source, tmp_path / "b.gguf", Metadata(template="{{ messages }}"))
    assert read_header(path).chat_template == "{{ messages }}"
    assert read_header(path).name == read_header(source).name
    assert tensors(path) == tensors(source)


def test_no_change_makes_the_same_file(tmp_path: Path) -> None:
    path = rewritten(STARTER, tmp_path / "m.gguf", Metadata())
    assert path.read_bytes() == STARTER.read_bytes()
    assert not Metadata()


@pytest.mark.parametrize("alignment", [8, 32, 256])
def test_the_alignment_is_kept(tmp_path: Path, alignment: int) -> None:
    source = tmp_path / "a.gguf"
    writer = gguf.GGUFWriter(source, "llama")
    writer.add_custom_alignment(alignment)
    writer.add_tensor("one", np.arange(7, dtype=np.float32))
    writer.add_tensor("two", np.arange(9, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for length in range(1, 40):
        path = rewritten(source, tmp_path / "b.gguf", Metadata(name="n" * length))
        assert read_file(path)[0].data % alignment == 0
        assert read_file(path)[0].values[gguf.Keys.General.NAME] == "n" * length
        assert tensors(path) == tensors(source)


def test_a_value_that_nobody_knows_is_kept_byte_for_byte(tmp_path: Path) -> None:
    parts = take_apart(STARTER.read_bytes())
    stranger = Value(b"of.a.stranger", 8, struct.pack("<Q", 4) + b"\xff\0\xfe ")
    parts.values.insert(3, stranger)
    source = tmp_path / "a.gguf"
    source.write_bytes(put_together(parts))
    path = rewritten(source, tmp_path / "b.gguf", CHANGES)
    assert take_apart(path.read_bytes()).values[3] == stranger
    assert tensors(path) == tensors(STARTER)


def test_a_file_of_version_2_stays_one(tmp_path: Path) -> None:
    source = tmp_path / "a.gguf"
    data = bytearray(STARTER.read_bytes())
    data[4:8] = struct.pack("<I", 2)
    source.write_bytes(data)
    path = rewritten(source, tmp_path / "b.gguf", CHANGES)
    assert path.read_bytes()[4:8] == data[4:8]
    assert read_header(path).name == CHANGES.name


@pytest.mark.parametrize(
    "values",
    [
        {"name": ""},
        {"name": " "},
        {"name": "two\nlines"},
        {"name": "n" * (LONGEST_NAME + 1)},
        {"name": "nothing\0ends it"},
        {"template": " \n"},
        {"template": "{{ a }}\0{{ b }}"},
        {"template": "lone \ud800"},
        {"template": "x" * (LARGEST_TEMPLATE + 1)},
        {"template": "é" * (LARGEST_TEMPLATE // 2 + 1)},
        {"context": 0},
        {"context": -1},
        {"context": CONTEXTS[0] - 1},
        {"context": CONTEXTS[-1] + 1},
        {"context": 1 << 40},
    ],
)
def test_what_makes_no_sense_is_refused(values: dict[str, str | int]) -> None:
    with pytest.raises(MetadataRefused) as error:
        Metadata(**values)  # type: ignore[arg-type]
    assert error.value.code == "metadata"
    assert all((error.value.what, error.value.why, error.value.do))


def test_a_file_that_cannot_be_read_is_not_written_anew(tmp_path: Path) -> None:
    text = tmp_path / "text.gguf"
    text.write_text("no model")
    with pytest.raises(NotAModel):
        prepare(text, CHANGES)
    short = tmp_path / "short.gguf"
    short.write_bytes(STARTER.read_bytes()[:-100])
    with pytest.raises(ModelDamaged):
        prepare(short, CHANGES)
