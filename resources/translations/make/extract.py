"""Collects every text of Hearth that a user can read, by reading the source.

The window marks its texts with `tr` and `translate`, the layers below with `N_`.
Settings, suggested assistants, the catalogue of models and the words of two types are data; their
texts are read from there.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args, get_origin

from app.assistants.values.suggested_assistants import SUGGESTED
from app.models.discover.values.placing import Device
from app.net.values.connections import Purpose
from app.settings.values.declared import SECTIONS
from app.settings.values.fields import display_text, fields

ROOT = Path(__file__).resolve().parents[3]

_MARKS = ("tr", "_tr", "translate", "N_")
_PLACE = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")
_WORD = re.compile(r"[^\W\d_]")


@cache
def texts() -> Mapping[str, list[str]]:
    """Return every text with the files that contain it, in the order of the files."""
    found: dict[str, list[str]] = {}
    for text, place in (*_marked(), *_choices(), *_settings(), *_suggested(), *_model_list()):
        places = found.setdefault(text, [])
        if place not in places:
            places.append(place)
    return found


def placeholders(text: str) -> tuple[str, ...]:
    """Return the sorted names of the values in a text."""
    return tuple(sorted(set(_PLACE.findall(text))))


def marked_in(tree: ast.AST) -> Iterator[str]:
    """Return the texts that are marked in a syntax tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in _MARKS:
            yield from _texts_of(node)


def called(call: ast.Call) -> str:
    """Return the last name of the function that is called; "" if it has none."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _marked() -> Iterator[tuple[str, str]]:
    for folder in ("app", "engines"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            for text in marked_in(ast.parse(path.read_text(encoding="utf-8"))):
                yield text, place


def _texts_of(call: ast.Call) -> Iterator[str]:
    """Return the literal texts of a mark; a context comes before them if there is one."""
    name = called(call)
    has_context = name == "translate" or (name == "_tr" and len(call.args) > 1)
    if len(call.args) <= has_context:
        return
    for node in ast.walk(call.args[int(has_context)]):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        # Without words of its own, a sentence only puts others together.
        if name != "N_" or "{" not in node.value or _WORD.search(_PLACE.sub("", node.value)):
            yield node.value


def _choices() -> Iterator[tuple[str, str]]:
    for word in get_args(Purpose):
        yield word, "app/net/values/connections.py"
    for word in get_args(Device):
        yield word, "app/models/discover/values/placing.py"


def _settings() -> Iterator[tuple[str, str]]:
    place = "app/settings/values/fields.py"
    for section in SECTIONS:
        yield section, place
    for field in fields().values():
        for text in (
            field.title,
            field.description,
            field.keywords,
            field.lowest_label,
            field.unit,
        ):
            if text:
                yield text, place
        if get_origin(field.annotation) is Literal:
            for word in get_args(field.annotation):
                if display_text(str(word)) != str(word):
                    yield display_text(str(word)), place


def _suggested() -> Iterator[tuple[str, str]]:
    for draft in SUGGESTED:
        for text in (draft.name, draft.system_prompt, draft.greeting):
            if text:
                yield text, "app/assistants/values/suggested_assistants.py"


def _model_list() -> Iterator[tuple[str, str]]:
    """Return the sentences about models in Hearth's own list of them."""
    place = "resources/catalogue.json"
    waiting = [json.loads((ROOT / place).read_text(encoding="utf-8"))["families"]]
    for value in waiting:
        if isinstance(value, dict):
            waiting += value.values()
            for name in ("good_at", "why", "note"):
                if isinstance(value.get(name), str):
                    yield value[name], place
        elif isinstance(value, list):
            waiting += value
