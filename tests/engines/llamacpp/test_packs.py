"""Packs: which ones are loaded, and which are refused with a sentence."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from ctypes.util import find_library
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.llamacpp import native
from engines.llamacpp.packs import LibraryVersion, Packs, packs_in
from tests.support.paths import ROOT
from tests.support.portable import WHEEL, unpack_wheel

OURS = LibraryVersion(native.BINDINGS_VERSION, native.LIBRARY_VERSION.decode(), native.SOURCE)
MODULE = "libggml-vulkan.so"


def pack(folder: Path, content: bytes = b"compiled", **differs: Any) -> Path:
    """Make a pack as installers/native/build.py does, with other content in its module."""
    place = folder / "vulkan"
    place.mkdir(parents=True)
    (place / MODULE).write_bytes(content)
    says = {
        "module": MODULE,
        "sha256": hashlib.sha256(content).hexdigest(),
        "llama_cpp_python": OURS.bindings,
        "llama_cpp": OURS.version,
        "source": OURS.source,
        "system": sys.platform,
        "machine": platform.machine().lower(),
    }
    (place / "pack.json").write_text(json.dumps(says | differs))
    return place


def test_the_source_is_the_one_that_is_pinned() -> None:
    lock = (ROOT / "installers" / "lock" / "native.txt").read_text(encoding="utf-8")
    assert f"llama-cpp-python=={native.BINDINGS_VERSION} " in lock
    assert f"sha256:{native.SOURCE}\n" in lock


def test_where_there_is_no_pack_there_is_none(tmp_path: Path) -> None:
    assert packs_in(tmp_path / "nowhere", OURS) == Packs()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    assert packs_in(tmp_path, OURS) == Packs()


def test_one_for_this_library_is_found(tmp_path: Path) -> None:
    module = pack(tmp_path) / MODULE
    assert packs_in(tmp_path, OURS) == Packs((module,))


@pytest.mark.parametrize(
    ("differs", "why"),
    [
        ({"llama_cpp_python": "0.3.35"}, "of llama-cpp-python 0.3.35, and Hearth has 0.5.0-dev of"),
        ({"llama_cpp": "1.0.0"}, "it is for llama.cpp 1.0.0 of"),
        ({"source": "12"}, "is built from another source"),
        ({"machine": "riscv64"}, "riscv64, and this is "),
        ({"system": "plan9"}, "it is for plan9 "),
        ({"sha256": "12"}, f"{MODULE} is damaged"),
        ({"sha256": None}, f"{MODULE} is damaged"),
        ({"module": "libggml-cuda.so"}, "libggml-cuda.so cannot be read: No such file"),
        ({"module": f"../vulkan/{MODULE}"}, "is not a module for graphics cards"),
        ({"module": "pack.json"}, "“pack.json” is not a module for graphics cards"),
        ({"module": "libggml-cpu.so"}, "is not a module for graphics cards"),
    ],
)
def test_another_is_refused_with_what_why_and_what_to_do(
    differs: dict[str, Any], why: str, tmp_path: Path
) -> None:
    place = pack(tmp_path, **differs)
    (refused,) = packs_in(tmp_path, OURS).refused
    assert refused.startswith(f"The pack in {place} is not used: ")
    assert why in refused
    assert refused.endswith(". Put the pack of this version of Hearth there, or delete the folder.")
    assert not packs_in(tmp_path, OURS).modules


@pytest.mark.parametrize("manifest", ["", "{}", "[]", '{"module": 1}', "\x00"])
def test_a_manifest_that_says_nothing_is_refused(manifest: str, tmp_path: Path) -> None:
    (pack(tmp_path) / "pack.json").write_text(manifest)
    (refused,) = packs_in(tmp_path, OURS).refused
    assert "its pack.json cannot be read" in refused


def test_a_module_that_changes_is_looked_at_again(tmp_path: Path) -> None:
    module = pack(tmp_path) / MODULE
    assert packs_in(tmp_path, OURS).modules
    module.write_bytes(b"another")
    assert not packs_in(tmp_path, OURS).modules
    assert packs_in(tmp_path, replace(OURS, source="12")).refused


LOAD = """
import sys
from pathlib import Path
from engines.llamacpp.native import load_native
from engines.llamacpp.packs import use_packs
use_packs(Path(sys.argv[1]))
native = load_native()
assert not native.complete
native.load_cards()
maps = Path("/proc/self/maps").read_text()
print({line.split(maxsplit=5)[5] for line in maps.splitlines() if "ggml-vulkan" in line})
"""


@pytest.mark.skipif(WHEEL is None, reason="no wheel: python3 installers/native/build.py")
@pytest.mark.skipif(sys.platform != "linux", reason="looks at what Linux has mapped")
@pytest.mark.skipif(find_library("vulkan") is None, reason="no Vulkan loader: libvulkan1")
@pytest.mark.parametrize("also_beside", [False, True])
def test_a_real_module_is_loaded_into_the_library_it_was_made_for(
    also_beside: bool, tmp_path: Path
) -> None:
    """The library is that of the portable wheel, whose own Vulkan module it overrides."""
    unpacked = unpack_wheel(tmp_path / "wheel")
    beside = unpacked / "llama_cpp" / "lib" / MODULE
    packs = tmp_path / "packs"
    place = pack(packs, beside.read_bytes())
    if not also_beside:
        beside.unlink()
    child = subprocess.run(
        [sys.executable, "-c", LOAD, str(packs)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(unpacked), str(ROOT)))},
        cwd=unpacked,
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stderr
    assert child.stdout == f"{ {str(place / MODULE)} }\n"
