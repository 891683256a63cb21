"""The models of GPT4All, which Hearth only reads: GGUF files in one folder.

Sources: its mysettings.cpp (`modelPath` in GPT4All.ini, otherwise its data folder) and
modellist.cpp ("incomplete-" before the names of files that are still downloading).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from app.base.home import expand_home
from app.models.library.services.places.files import groups_below
from app.models.library.services.places.scan import Scan
from engines.regular import read_regular_text
from engines.sentences import N_


def scan_gpt4all(folders: Iterable[Path], settings: Path | None) -> Scan:
    """Find GPT4All's models.

    Args:
        folders: The folders to search.
        settings: GPT4All's settings file, which can name another folder.
    """
    scan = Scan()
    places = dict.fromkeys(folders)
    if settings is not None and (chosen := _model_path(settings, scan)) is not None:
        places[chosen] = None
    for folder in places:
        for group in groups_below(folder, scan):
            scan.models.append(group.as_found_model("gpt4all", f"gpt4all:{group.files[0]}"))
    return scan


def _model_path(settings: Path, scan: Scan) -> Path | None:
    scan.watch(settings)
    if not settings.exists():
        return None
    import configparser

    reader = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        reader.read_string(read_regular_text(settings))
    except (OSError, ValueError, configparser.Error):
        scan.notes.append(N_("{path} was skipped: it is damaged.", path=settings))
        return None
    # Qt writes values that have no group into [General], and can quote them.
    named = reader.get("General", "modelPath", fallback="").strip('" ')
    return expand_home(named) if named else None
