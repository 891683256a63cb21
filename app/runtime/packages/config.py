"""The user's package indexes: read from the settings of uv and pip, never written.

Hearth has no index of its own. uv reports which indexes it would use, and its default ones if
nothing is set. pip's settings are in files and environment variables (pip's guide,
“Configuration”).
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
from engines.sentences import N_

_UV = ("pip", "compile", "-", "--emit-index-url", "--emit-find-links", "--offline", "--no-header")
_UV_S = 60.0
_SECRET = re.compile(r"//[^/\s]*@")
"""The user name and password in a URL."""
_SECTIONS = ("global", "install")
_KEYS = ("index-url", "extra-index-url", "find-links", "no-index")


@dataclass(frozen=True)
class Indexes:
    """The places to look for packages.

    Attributes:
        indexes: URLs of package indexes.
        links: Folders, or pages with links to files.
    """

    indexes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def configured_indexes(uv: str) -> Indexes:
    """Return the indexes that the user has configured. Raises EngineNotMade.

    Args:
        uv: The path of uv.
    """
    environment = dict(os.environ)
    plain = {name: value for name, value in environment.items() if not name.startswith("UV_")}
    used = _ask_uv(uv, environment)
    standard = _ask_uv(uv, plain, "--no-config")
    return combined(_emitted(used), _emitted(standard), pip_settings(environment))


def combined(uv: Indexes, standard: Indexes, pip: Mapping[str, str]) -> Indexes:
    """Combine the places of uv and pip; the default index is used only if no other is set.

    Files are identified by their hashes, so the order of the places does not matter.

    Args:
        uv: The places that uv would use.
        standard: The places that uv uses if nothing is set.
        pip: pip's settings.
    """
    own = [index for index in uv.indexes if index not in standard.indexes]
    main = pip.get("index-url", "").split()
    no_index = pip.get("no-index", "").strip().lower() in {"1", "true", "yes", "on"}
    pips = [] if no_index else [*main, *pip.get("extra-index-url", "").split()]
    usual = uv.indexes if not (main or no_index) else tuple(own)
    return Indexes(
        tuple(dict.fromkeys([*usual, *own, *pips])),
        tuple(dict.fromkeys([*uv.links, *pip.get("find-links", "").split()])),
    )


def pip_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Read pip's settings for indexes; environment variables override files."""
    settings: dict[str, str] = {}
    for file in _pip_files(environment):
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue  # pip itself reports a file that it cannot read
        for section in _SECTIONS:
            for key in _KEYS:
                value = parser.get(section, key, fallback=None)
                if value is not None:
                    settings[key] = value
    for key in _KEYS:
        value = environment.get(f"PIP_{key.upper().replace('-', '_')}")
        if value:
            settings[key] = value
    return settings


def _pip_files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield pip's files in its order: system, user, environment, and the named one."""
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


def _ask_uv(uv: str, environment: Mapping[str, str], *words: str) -> str:
    """Return uv's list of its indexes. Raises EngineNotMade if uv rejects its own settings."""
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
        raise _unusable(
            N_("it did not answer for {seconds} seconds", seconds=f"{_UV_S:.0f}")
        ) from error
    if result.returncode:
        message = next((line for line in result.stderr.splitlines() if line.strip()), "nothing")
        raise _unusable(_SECRET.sub("//…@", message.strip().rstrip(".")))
    return result.stdout


def _unusable(message: str) -> EngineNotMade:
    return EngineNotMade(
        N_("The package indexes of this computer are not known."),
        N_("uv cannot use its settings: {message}.", message=message),
        N_("Correct them: they are in uv.toml and in variables that begin with UV_."),
    )


def _emitted(text: str) -> Indexes:
    rows = [line.partition(" ") for line in text.splitlines()]
    indexes = (value for name, _, value in rows if name in {"--index-url", "--extra-index-url"})
    return Indexes(
        tuple(indexes), tuple(value for name, _, value in rows if name == "--find-links")
    )
