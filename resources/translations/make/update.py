"""Brings the catalogues of translations up to date with the source: the .po and the .mo files.

Run from the repository root:

    python -m resources.translations.make.update             lists the texts without a translation
    python -m resources.translations.make.update WORDS.json  takes translations from a mapping of
                                                             texts to translations first
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from app.base.shipped import TRANSLATIONS
from resources.translations.make.extract import texts

LANGUAGE = "de"
_WIDTH = 100


def main(words: Mapping[str, str]) -> int:
    """Write both files; print the texts without a translation and return their number."""
    source = TRANSLATIONS / f"hearth_{LANGUAGE}.po"
    before = read(source)
    known = {**translations(before), **words}
    catalogue = Catalog(
        locale=LANGUAGE,
        project="Hearth",
        header_comment="# German translation of Hearth.",
        creation_date=before.creation_date,
        revision_date=before.revision_date,
        last_translator="Hearth",
        fuzzy=False,
    )
    for text, places in texts().items():
        catalogue.add(text, known.get(text, ""), [(place, 0) for place in places])
    with source.open("wb") as file:
        write_po(file, catalogue, width=_WIDTH, include_lineno=False)
    source.with_suffix(".mo").write_bytes(compiled(catalogue))
    missing = [text for text in texts() if not known.get(text)]
    for text in missing:
        print(json.dumps(text, ensure_ascii=False))
    return len(missing)


def read(source: Path) -> Catalog:
    """Read a .po file; a language without one gets an empty catalogue."""
    if not source.exists():
        return Catalog(locale=LANGUAGE)
    with source.open("rb") as file:
        return read_po(file)


def translations(catalogue: Catalog) -> dict[str, str]:
    """Return the finished translations by their texts."""
    return {
        str(message.id): str(message.string)
        for message in catalogue
        if message.id and message.string
    }


def compiled(catalogue: Catalog) -> bytes:
    """Return the content of the .mo file."""
    file = BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")) if sys.argv[1:] else {}
    sys.exit(1 if main(given) else 0)
