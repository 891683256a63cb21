"""Copies of the installed llama-cpp-python that do not work, as upgrades and full disks leave them.

::

    monkeypatch.setenv("PYTHONPATH", unfit_llama(tmp_path, "absent"))    # for child processes
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.support.paths import ROOT

_HIDDEN: Final = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
def hiding(name, path=None, target=None):
    return None if name == "llama_cpp" else find(name, path, target)
PathFinder.find_spec = hiding
"""
"""Code that Python runs as it starts: the package is there, but no `import` finds it."""


def unfit_llama(folder: Path, how: str) -> str:
    """Return a path for Python's modules with the package changed in one of the ways of `UNFIT`."""
    if how == "absent":
        (folder / "sitecustomize.py").write_text(_HIDDEN)
    else:
        found = find_spec("llama_cpp")
        assert found is not None
        assert found.origin is not None
        unneeded = shutil.ignore_patterns("__pycache__", "include", "server", "cmake")
        there = shutil.copytree(Path(found.origin).parent, folder / "llama_cpp", ignore=unneeded)
        UNFIT[how](there)
    return os.pathsep.join((str(folder), str(ROOT)))


def _put(old: bytes, new: bytes, path: Path) -> None:
    data = path.read_bytes()
    assert data.count(old) == 1, f"{old!r} is not in {path.name} once"
    path.write_bytes(data.replace(old, new))


def _asks_for_more(package: Path) -> None:
    """Add a binding for a function that the library lacks, as older and newer bindings have."""
    with (package / "llama_cpp.py").open("a") as bindings:
        bindings.write(
            "\n@ctypes_function('llama_of_tomorrow', [], None)\ndef of_tomorrow(): ...\n"
        )


def _other_bindings(package: Path) -> None:
    _put(b"0.3.36", b"0.4.0", package / "__init__.py")


def _broken_bindings(package: Path) -> None:
    with (package / "llama_types.py").open("a") as bindings:
        bindings.write("\nthere_is_no_such_name\n")


def _no_library(package: Path) -> None:
    shutil.rmtree(package / "lib")


def _without_a_function(package: Path) -> None:
    _put(b"\0llama_free_model\0", b"\0llama_free_modem\0", package / "lib" / "libllama.so")


def _without_a_private_function(package: Path) -> None:
    name = b"\0_Z26llama_set_embeddings_nextnP13llama_contextbb\0"
    _put(name, name.replace(b"nextn", b"nextm"), package / "lib" / "libllama.so")


def _other_library(package: Path) -> None:
    _put(b"0.5.0-dev", b"1.0.0-dev", package / "lib" / "libllama.so")


def _without_a_dependency(package: Path) -> None:
    (package / "lib" / "libggml-base.so").unlink()


def _cut_off(package: Path) -> None:
    os.truncate(package / "lib" / "libllama.so", 1 << 20)


def _nothing(package: Path) -> None:
    pass


UNFIT: Final[Mapping[str, Callable[[Path], None]]] = {
    "absent": _nothing,
    "asks for more": _asks_for_more,
    "other bindings": _other_bindings,
    "broken bindings": _broken_bindings,
    "no library": _no_library,
} | (
    {
        "without a function": _without_a_function,
        "without a private function": _without_a_private_function,
        "other library": _other_library,
        "without a dependency": _without_a_dependency,
        "cut off": _cut_off,
    }
    if sys.platform == "linux"
    else {}
)
"""The last ones change compiled code; other systems would reject it for its signature alone."""
