"""The user's package indexes: read from the settings of uv and pip, never written.

Hearth names no index of its own. uv says itself what it would use, with its own standard where
nothing is set; pip's settings lie in files and variables (pip's guide, “Configuration”).
"""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.base.errors import EngineNotMade
from engines.helper.parent import quiet_flags

_UV = ("pip", "compile", "-", "--emit-index-url", "--emit-find-links", "--offline", "--no-header")
_UV_S = 60.0
_SECRET = re.compile(r"//[^/\s]*@")
"""The name and password in an address."""
_SECTIONS = ("global", "install")
_KEYS = ("index-url", "extra-index-url", "find-links", "no-index")


@dataclass(frozen=True)
class Indexes:
    """The places where packages are looked for.

    indexes: addresses that projects are looked up at. links: folders, or pages of links.
    """

    indexes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def indexes_here(uv: str) -> Indexes:
    """Return the indexes that the user has set. uv: the program. Raises EngineNotMade."""
    environment = dict(os.environ)
    plain = {name: value for name, value in environment.items() if not name.startswith("UV_")}
    says = _asked(uv, environment)
    standard = _asked(uv, plain, "--no-config")
    return combined(_emitted(says), _emitted(standard), pip_settings(environment))


def combined(uv: Indexes, standard: Indexes, pip: Mapping[str, str]) -> Indexes:
    """Combine the places of uv and pip; the standard index counts only where none is named.

    A hash decides what a file is, so the order of places decides nothing.

    uv: what it would use. standard: what it uses where nothing is set. pip: its settings.
    """
    own = [it for it in uv.indexes if it not in standard.indexes]
    main = pip.get("index-url", "").split()
    no_index = pip.get("no-index", "").strip().lower() in {"1", "true", "yes", "on"}
    pips = [] if no_index else [*main, *pip.get("extra-index-url", "").split()]
    usual = uv.indexes if not (main or no_index) else tuple(own)
    return Indexes(
        tuple(dict.fromkeys([*usual, *own, *pips])),
        tuple(dict.fromkeys([*uv.links, *pip.get("find-links", "").split()])),
    )


def pip_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Read pip's settings that say where packages are; variables win."""
    found: dict[str, str] = {}
    for file in _pip_files(environment):
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue  # pip itself tells its user of a file that it cannot read
        for section in _SECTIONS:
            for key in _KEYS:
                value = parser.get(section, key, fallback=None)
                if value is not None:
                    found[key] = value
    for key in _KEYS:
        value = environment.get(f"PIP_{key.upper().replace('-', '_')}")
        if value:
            found[key] = value
    return found


def _pip_files(environment: Mapping[str, str]) -> Iterator[Path]:
    """List pip's files in its order: the system's, the user's, the environment's, the named one."""
    named = environment.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return
    name = "pip.ini" if sys.platform == "win32" else "pip.conf"
    home = Path(environment.get("HOME", str(Path.home())))
    if sys.platform == "win32":
        yield Path(environment.get("PROGRAMDATA", "C:/ProgramData")) / "pip" / name
        yield home / "pip" / name
        yield Path(environment.get("APPDATA", str(home))) / "pip" / name
    elif sys.platform == "darwin":
        yield Path("/Library/Application Support/pip") / name
        yield home / ".pip" / name
        yield home / "Library" / "Application Support" / "pip" / name
        yield home / ".config" / "pip" / name
    else:
        for folder in environment.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":"):
            yield Path(folder) / "pip" / name
        yield Path("/etc") / name
        yield home / ".pip" / name
        yield Path(environment.get("XDG_CONFIG_HOME", str(home / ".config"))) / "pip" / name
    yield Path(sys.prefix) / name
    if named:
        yield Path(named)


def _asked(uv: str, environment: Mapping[str, str], *words: str) -> str:
    """Have uv lock nothing and print its indexes. Raises EngineNotMade if its settings fail."""
    try:
        result = subprocess.run(
            [uv, *_UV, "--quiet", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=dict(environment),
            cwd=Path.home().anchor,
            timeout=_UV_S,
            creationflags=quiet_flags(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _unusable(f"it said nothing for {_UV_S:.0f} seconds") from error
    if result.returncode:
        said = next((it for it in result.stderr.splitlines() if it.strip()), "nothing")
        raise _unusable(_SECRET.sub("//…@", said.strip().rstrip(".")))
    return result.stdout


def _unusable(said: str) -> EngineNotMade:
    return EngineNotMade(
        "The package indexes of this computer are not known.",
        f"uv cannot use its settings: {said}.",
        "Correct them: they are in uv.toml and in variables that begin with UV_.",
    )


def _emitted(text: str) -> Indexes:
    rows = [line.partition(" ") for line in text.splitlines()]
    indexes = (value for name, _, value in rows if name in {"--index-url", "--extra-index-url"})
    return Indexes(tuple(indexes), tuple(it for name, _, it in rows if name == "--find-links"))
