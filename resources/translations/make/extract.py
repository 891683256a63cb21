"""Finds every text of Hearth that a user may read, by reading the source: a text is a template.

The window marks its own with `tr` or `translate`. The layers under it have no Qt: of them, what is
said is every text of several words that is not for the log, the database, a model or a programmer.
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
from app.settings.values.declared import SECTIONS
from app.settings.values.fields import fields, shown

ROOT = Path(__file__).resolve().parents[3]

_MARKS = ("tr", "_tr", "translate")
_OURS = ("ValueError", "RuntimeError", "TypeError", "KeyError", "AssertionError", "OSError")
"""Errors that no user meets, other than in `_MET`."""
_MET = ("app/settings/values/field.py",)
_TO_CODE = ("TypeVar", "Thread", "_known", "cast", "compile", "execute", "print")
"""What is called with code, patterns and names; only the terminal reads what is printed."""
_UNSAID = (
    "app/__init__.py", "app/activity/services", "app/activity/values", "app/api/http",
    "app/assistants/values/suggested_assistants.py", "app/base/migrations.py",
    "app/base/reports.py", "app/chats/context/values/summary.py",
    "app/chats/history/store/chat_lists.py", "app/chats/history/values/titles.py",
    "app/chats/search/presenters.py", "app/chats/search/store/search_terms.py",
    "app/chats/search/values/snippets.py", "app/cli", "app/documents/reading/cell_formats.py",
    "app/documents/reading/child.py", "app/documents/reading/email.py",
    "app/documents/reading/formulas.py", "app/documents/reading/html.py",
    "app/documents/reading/numerals.py", "app/documents/reading/rtf.py",
    "app/documents/reading/slides.py", "app/documents/reading/word.py",
    "app/documents/reading/workbook.py", "app/documents/store/passages.py",
    "app/documents/values/documents.py", "app/exchange/services/documents.py",
    "app/exchange/values/chat_page.py", "app/exchange/values/export.py",
    "app/exchange/values/wording.py", "app/kit/look", "app/kit/notify.py", "app/kit/terminal",
    "app/kit/text", "app/kit/widgets", "app/markdown",
    "app/models/discover/values/recommend.py", "app/models/downloads/services/pulling.py",
    "app/models/library/services/places/places.py", "app/net/values/connections.py",
    "app/runtime/services/memory.py", "app/runtime/services/request_log.py",
    "app/runtime/values/request_records.py", "app/search/common.py",
    "app/settings/values/fields.py", "engines/dialect/formats.py", "engines/dialect/switch.py",
    "engines/hardware/cpu.py", "engines/llamacpp/cache.py", "engines/llamacpp/gbnf.py",
    "engines/llamacpp/ggml.py", "engines/llamacpp/probing/child.py", "engines/llamacpp/resume",
    "engines/llamacpp/sizing/account.py", "engines/llamacpp/trial_child.py",
    "engines/vllm/wsl/inside.py", "engines/vllm/wsl/pack.py", "engines/vllm/wsl/scripts.py",
    "engines/vllm/wsl/system_info.py", "engines/models/embedding.py",
)  # fmt: skip
"""Files and folders without a word for the window, or which are read in another way here."""
_FLOORS = ("values", "store", "services", "presenters", "pages", "commands")
_FLOORS_UNSAID = ("commands", "pages")
"""The terminal's words stay English, and pages mark theirs for translation."""
_SOUGHT = (
    "INSTALLATION", "TRIALS", "_GENERAL", "_MARKS", "_READY", "_SOURCES", "_SPDX", "_TOO_LONG",
)  # fmt: skip
"""Constants with names of queues, or with what is looked for in the words of other programs: of a
row, what is first."""
_CODE = re.compile(
    r"%[sd]|^Signature|^tuple\[|std::|\| None$|\\|\(\?:|<\w|\[\^|\{%|<!"
    r"|::=|brace-|A-Za-z_|\" space|\" (=|:)|^You can use tools\.|^\{\"|<\||\| string \||\"true\" "
    r"|^USING |^ORDER |^exiting due|^failed to|^Traceback"
    r"|\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|CASE|WHERE|LIMIT|JOIN|NULL)\b"
)
"""What marks text as the database's, the log's, a pattern, a grammar or a chat template's."""
_SHORT = ("Compiling", "Portability", "{0}: {1} %", ", about {0} s")
"""What is said in less than two words, of the engines."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_ANNOUNCED = re.compile(r"[A-Z]\w+: \{0\}")
_PLACE = re.compile(r"\{\d\}")


@cache
def texts() -> Mapping[str, list[str]]:
    """Every template, with the files that it is in, in the order of the files."""
    found: dict[str, list[str]] = {}
    for text, place in (*_window(), *_settings(), *_suggested(), *_catalogue(), *_said()):
        places = found.setdefault(text, [])
        if place not in places:
            places.append(place)
    return found


def templates() -> list[str]:
    """Those with values in them that the window has to recognise: they come from below it."""
    return sorted({text for text, _ in _said() if _PLACE.search(text)})


def placeholders(text: str) -> tuple[str, ...]:
    return tuple(sorted(set(_PLACE.findall(text))))


def _window() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in _MARKS:
                for text in _marked(node):
                    yield text, _place(path)


def _marked(call: ast.Call) -> Iterator[str]:
    """The literal texts in the place of the text; a context, where there is one, stands before."""
    within = _name(call.func) == "translate" or (
        len(call.args) > 1 and isinstance(call.func, ast.Name)
    )
    if len(call.args) <= within:
        return
    for node in ast.walk(call.args[int(within)]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _settings() -> Iterator[tuple[str, str]]:
    place = "app/settings/values/fields.py"
    for section in SECTIONS:
        yield section, place
    for field in fields().values():
        yield field.title, place
        yield field.description, place
        if field.lowest:
            yield field.lowest, place
        if get_origin(field.annotation) is Literal:
            for word in get_args(field.annotation):
                if shown(str(word)) != str(word):
                    yield shown(str(word)), place


def _suggested() -> Iterator[tuple[str, str]]:
    for draft in SUGGESTED:
        for text in (draft.name, draft.system_prompt, draft.greeting):
            if text:
                yield text, "app/assistants/values/suggested_assistants.py"


def _catalogue() -> Iterator[tuple[str, str]]:
    """What Hearth's own list of models says of them in sentences."""
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


@cache
def _said() -> list[tuple[str, str]]:
    return [
        (text, place)
        for folder in ("app", "engines")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not (place := _place(path)).startswith(_UNSAID) and _floor(path) not in _FLOORS_UNSAID
        for text in _sentences(ast.parse(path.read_text(encoding="utf-8")), met=place in _MET)
    ]


def _floor(path: Path) -> str:
    """Return the floor of its subject that a file lies on; "" for a room without floors."""
    return next((part for part in (*path.parts, path.stem) if part in _FLOORS), "")


def _sentences(tree: ast.AST, *, met: bool) -> Iterator[str]:
    unsaid = {id(node) for node in _sought(tree)}
    for node in ast.walk(tree):
        if id(node) in unsaid or _is_for_us(node, met=met):
            unsaid.update(id(child) for child in ast.walk(node))
        elif isinstance(node, ast.JoinedStr | ast.Constant):
            unsaid.update(id(child) for child in ast.iter_child_nodes(node))
            yield from filter(_is_said, (template(node), *_inner(node)))


def _sought(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if _name(target) in _SOUGHT:
                rows = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                yield from (it.elts[0] if isinstance(it, ast.Tuple) else it for it in rows)


def _inner(node: ast.AST) -> Iterator[str]:
    """Words within the placeholders of a text, such as “{'one' if … else 'two'}”."""
    if isinstance(node, ast.JoinedStr):
        for child in ast.walk(node):
            if isinstance(child, ast.FormattedValue):
                for part in ast.walk(child.value):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value


def _is_said(text: str) -> bool:
    """Of several words, or of one and what it announces; and no code."""
    if text in _SHORT:
        return True
    own = _PLACE.sub("", text)
    several = " " in own.strip() and len(_WORD.findall(own)) > 1
    return (several or bool(_ANNOUNCED.fullmatch(text))) and not _CODE.search(text)


def _is_for_us(node: ast.AST, *, met: bool) -> bool:
    """Text that the window never shows: docstrings, the log, types, errors that are bugs, and what
    an error says in the terminal alone."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assert | ast.AnnAssign) and not getattr(node, "value", None):
        return True
    if isinstance(node, ast.keyword):
        return node.arg == "terminal"
    if isinstance(node, ast.AnnAssign) and _name(node.target).endswith("IN_TERMINAL"):
        return True
    if isinstance(node, ast.Call):
        name = _name(node.func)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        logs = isinstance(owner, ast.Name) and owner.id in {"_log", "log"}
        return logs or (name in _OURS and not met) or name in _TO_CODE
    return False


def template(node: ast.AST) -> str:
    """The text of a literal with {0}, {1} for what is put in; "" if it is none."""
    if isinstance(node, ast.Constant):
        return _numbered(node.value) if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts, count = [], 0
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            parts.append(f"{{{count}}}")
            count += 1
    return "".join(parts)


def _numbered(text: str) -> str:
    """{name} and {} as {0}, {1}; those that are numbers already stay."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[1].isdigit():
            return found[0]
        names.append(found[1])
        return f"{{{len(names) - 1}}}"

    return re.sub(r"(?<!\{)\{(\w*)(?::[^}]*)?\}(?!\})", number, text)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
