"""Packs: modules for graphics cards that are installed separately from the library, such as CUDA's.

::

    packs/
      cuda/
        pack.json           what it is made for, and the module's hash
        libggml-cuda.so

`installers/native/build.py --pack NAME` builds a pack. A module does not tell which version of
llama.cpp it belongs to, and a module of another version would corrupt memory. So its manifest must
name exactly ours.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from engines.llamacpp.devices_modules import card_of
from engines.sentences import N_

MANIFEST: Final = "pack.json"

_PLACE: Final = "HEARTH_LLAMACPP_PACKS"
"""The environment variable with the folder.

Helper processes, which load the library as well, inherit it from the process that starts them.
"""


@dataclass(frozen=True)
class LibraryVersion:
    """The library that packs are for.

    Attributes:
        bindings: The version of llama-cpp-python.
        version: The version of llama.cpp.
        source: The hash of the source package.
    """

    bindings: str
    version: str
    source: str


@dataclass(frozen=True)
class Packs:
    """The packs in a folder.

    Attributes:
        modules: The modules of the packs that can be loaded.
        refused: A sentence or two for each pack that cannot.
    """

    modules: tuple[Path, ...] = ()
    refused: tuple[str, ...] = ()


def use_packs(folder: Path) -> None:
    """Make this process, and the helpers it starts, use the packs in a folder."""
    os.environ[_PLACE] = str(folder)


def packs_for(library: LibraryVersion) -> Packs:
    """Find the packs in the folder given to `use_packs`; none if it was not called."""
    place = os.environ.get(_PLACE)
    return packs_in(Path(place), library) if place else Packs()


def packs_in(folder: Path, library: LibraryVersion) -> Packs:
    """Find the packs in a folder, and check that each is undamaged and for this library."""
    try:
        packs = sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    except OSError:
        return Packs()
    modules, refused = [], []
    for pack in packs:
        try:
            modules.append(_module(pack, library))
        except _Refused as error:
            refused.append(
                N_(
                    "The pack in {pack} is not used: {error} Put the pack of this version of "
                    "Hearth "
                    "there, or delete the folder.",
                    pack=pack,
                    error=error,
                )
            )
    return Packs(tuple(modules), tuple(refused))


class _Refused(Exception):
    """A pack that must not be loaded; the text is a sentence with the reason."""


def _module(pack: Path, library: LibraryVersion) -> Path:
    """Return the module of a pack. Raises _Refused."""
    try:
        manifest = json.loads((pack / MANIFEST).read_bytes())
        module, digest = pack / str(manifest["module"]), manifest["sha256"]
        target = LibraryVersion(
            manifest["llama_cpp_python"], manifest["llama_cpp"], manifest["source"]
        )
        computer = f"{manifest['system']} {manifest['machine']}"
    except (OSError, ValueError, TypeError, LookupError):
        raise _Refused(N_("its {manifest} cannot be read.", manifest=MANIFEST)) from None
    if target != library:
        raise _Refused(_differs(target, library))
    if computer != (this_computer := f"{sys.platform} {platform.machine().lower()}"):
        raise _Refused(
            N_("it is for {computer}, and this is {here}.", computer=computer, here=this_computer)
        )
    if module.parent != pack or card_of(module) is None:
        raise _Refused(N_("“{name}” is not a module for graphics cards.", name=module.name))
    try:
        known = module.stat()
        whole = _sha256(module, known.st_size, known.st_mtime_ns) == digest
    except OSError as error:
        raise _Refused(
            N_(
                "{name} cannot be read: {strerror}.",
                name=module.name,
                strerror=error.strerror or error,
            )
        ) from None
    if not whole:
        raise _Refused(N_("{name} is damaged.", name=module.name))
    return module


def _differs(target: LibraryVersion, library: LibraryVersion) -> str:
    if (target.bindings, target.version) == (library.bindings, library.version):
        return N_("its llama.cpp {version} is built from another source.", version=target.version)
    return N_(
        "it is for llama.cpp {version} of llama-cpp-python {bindings}, and Hearth has "
        "{library_version} of {library_bindings}.",
        version=target.version,
        bindings=target.bindings,
        library_version=library.version,
        library_bindings=library.bindings,
    )


@lru_cache
def _sha256(path: Path, _size: int, _changed_ns: int) -> str:
    """Return a file's hash, computed once per size and time: CUDA's module has some hundred MB."""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
