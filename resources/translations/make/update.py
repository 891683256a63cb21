"""Brings the translations up to date with the source: the .ts, the .qm and the list of templates.

Run from the repository root:

    python -m resources.translations.make.update            what has no translation is listed
    python -m resources.translations.make.update WORDS.json  a mapping of texts to translations
                                                             is put in first
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from resources.translations.make.extract import templates, texts

FOLDER = Path(__file__).resolve().parents[1]
LANGUAGE = "de"
CONTEXT = "Hearth"


def main(words: Mapping[str, str]) -> int:
    """The number of texts without a translation."""
    source = FOLDER / f"hearth_{LANGUAGE}.ts"
    known = {**read(source), **words}
    found = texts()
    _write(source, {text: known.get(text, "") for text in found}, found)
    listed = json.dumps(templates(), ensure_ascii=False, indent=0)
    (FOLDER / "templates.json").write_text(listed + "\n", encoding="utf-8")
    tool = Path(sys.executable).parent / "pyside6-lrelease"
    target = source.with_suffix(".qm")
    subprocess.run([tool, "-silent", "-nounfinished", source, "-qm", target], check=True)
    missing = [text for text in found if not known.get(text)]
    for text in missing:
        print(json.dumps(text, ensure_ascii=False))
    return len(missing)


def read(source: Path) -> dict[str, str]:
    """The finished translations of a .ts file by their texts."""
    if not source.exists():
        return {}
    found = {}
    for message in ET.parse(source).getroot().iter("message"):
        translation = message.find("translation")
        if translation is not None and translation.get("type") is None:
            found[message.findtext("source", "")] = translation.text or ""
    return found


def _write(target: Path, words: Mapping[str, str], places: Mapping[str, list[str]]) -> None:
    root = ET.Element("TS", version="2.1", language=LANGUAGE, sourcelanguage="en")
    context = ET.SubElement(root, "context")
    ET.SubElement(context, "name").text = CONTEXT
    for text, translation in words.items():
        message = ET.SubElement(context, "message")
        for place in places[text]:
            ET.SubElement(message, "location", filename=f"../../{place}")
        ET.SubElement(message, "source").text = text
        state = {} if translation else {"type": "unfinished"}
        ET.SubElement(message, "translation", state).text = translation
    ET.indent(root, "  ")
    body = ET.tostring(root, encoding="unicode")
    head = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'
    target.write_text(f"{head}{body}\n", encoding="utf-8")


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")) if sys.argv[1:] else {}
    sys.exit(1 if main(given) else 0)
