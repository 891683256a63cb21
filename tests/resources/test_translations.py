"""Every text of Hearth has its German, and the shipped catalogue is that of the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from app.base.language import translated
from app.base.shipped import TRANSLATIONS
from engines.sentences import N_
from resources.translations.make.extract import ROOT, called, marked_in, placeholders, texts
from resources.translations.make.update import compiled, read, translations
from tests.support.sources import nodes_of, tree_of

UPDATE = "run: python -m resources.translations.make.update"
SOURCE = TRANSLATIONS / "hearth_de.po"


@pytest.fixture(scope="module")
def german() -> dict[str, str]:
    return translations(read(SOURCE))


@pytest.fixture(scope="module")
def english() -> list[str]:
    return list(texts())


def test_every_text_has_its_german(english: list[str], german: dict[str, str]) -> None:
    missing = [text for text in english if not german.get(text)]
    assert missing == [], UPDATE


def test_the_catalogue_has_no_text_that_is_gone(english: list[str], german: dict[str, str]) -> None:
    assert sorted(set(german) - set(english)) == [], UPDATE


def test_the_values_of_a_text_are_those_of_its_german(german: dict[str, str]) -> None:
    other = [text for text, words in german.items() if placeholders(text) != placeholders(words)]
    assert other == []


def test_blanks_at_the_ends_are_kept(german: dict[str, str]) -> None:
    def ends(text: str) -> tuple[bool, bool]:
        return text[:1].isspace(), text[-1:].isspace()

    assert [text for text, words in german.items() if ends(text) != ends(words)] == []


def test_quotation_marks_and_dashes_are_german(german: dict[str, str]) -> None:
    for words in german.values():
        for quoted in re.findall(r"“[^”]*”", words):
            pytest.fail(f"English quotation marks: {quoted} in {words}")
        assert words.count("„") == words.count("“"), words
        assert " - " not in words.replace("+ oder - ", ""), words


def test_the_compiled_catalogue_is_that_of_the_source() -> None:
    assert SOURCE.with_suffix(".mo").read_bytes() == compiled(read(SOURCE)), UPDATE


@pytest.mark.parametrize(
    "text",
    [
        "New chat",
        "Temperature",
        "“{name}” could not be loaded.",
        "It says: {error}.",
        "Explain simply",
        "look at a model",
    ],
)
def test_texts_of_every_kind_are_found(text: str, english: list[str]) -> None:
    """They belong to the window, a setting, two errors, an assistant and a connection."""
    assert text in english


def test_a_value_that_is_not_given_is_found() -> None:
    with pytest.raises(KeyError):
        N_("“{name}” could not be loaded.", model="a")


def trees(*folders: str) -> list[tuple[Path, ast.Module]]:
    return [
        (path, tree_of(path))
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


def test_each_mark_names_the_values_that_it_is_given() -> None:
    """`N_("… {name} …", name=…)`: no value is missing, none is left over.

    A mark without values can be a template, if its file fills in templates: `N_(template, name=…)`.
    """
    wrong = []
    for path, tree in trees("app", "engines"):
        marks = [
            (node.args[0], {it.arg for it in node.keywords}, node.lineno)
            for node in nodes_of(tree)
            if isinstance(node, ast.Call) and called(node) == "N_" and node.args
        ]
        fills_in = any(given and not isinstance(first, ast.Constant) for first, given, _ in marks)
        for first, given, line in marks:
            if isinstance(first, ast.Constant) and (given or not fills_in):
                text = str(first.value)
                if given != set(placeholders(text)):
                    wrong.append(f"{path.relative_to(ROOT)}:{line}: {text}")
    assert wrong == []


def pieces(tree: ast.AST) -> list[int]:
    """Return the lines where a marked sentence is put together with other text."""
    found: list[int] = []
    for node in nodes_of(tree):
        if not isinstance(node, ast.expr):
            continue
        parts: list[ast.expr] = []
        if isinstance(node, ast.JoinedStr):
            parts = [it.value for it in node.values if isinstance(it, ast.FormattedValue)]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and called(node) in ("format", "join"):
            made = (ast.GeneratorExp, ast.ListComp)
            parts = [it.elt if isinstance(it, made) else it for it in node.args]
            if isinstance(node.func, ast.Attribute):
                parts.append(node.func.value)
            parts = [
                it for part in parts for it in (part.elts if isinstance(part, ast.List) else [part])
            ]
        found += [
            node.lineno for part in parts if isinstance(part, ast.Call) and called(part) == "N_"
        ]
    return found


def test_no_sentence_is_put_together_from_pieces() -> None:
    """A piece loses its template; `N_` and `joined` keep it."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path, tree in trees("app", "engines")
        for line in pieces(tree)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "code", ['f"{a} {N_("b")}"', 'N_("a") + b', '" ".join([N_("a"), b])', 'N_("a").format(b)']
)
def test_pieces_are_found(code: str) -> None:
    assert pieces(ast.parse(code.replace('"b"', "'b'")))


def errors() -> frozenset[str]:
    """Return the names of all errors that a user can meet."""
    names = {"UserError"}
    bases: dict[str, set[str]] = {}
    for _, tree in trees("app", "engines"):
        for node in nodes_of(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {it.id for it in node.bases if isinstance(it, ast.Name)}
    while more := {name for name, of in bases.items() if of & names} - names:
        names |= more
    return frozenset(names)


def is_for_programs(path: Path) -> bool:
    """Return whether a file's errors are the API's answers, which stay English."""
    return path.is_relative_to(ROOT / "app/api/http")


def test_each_sentence_of_an_error_is_marked() -> None:
    known = errors()
    assert {"EngineError", "SettingsInvalid"} <= known
    bare = [
        f"{path.relative_to(ROOT)}:{argument.lineno}"
        for path, tree in trees("app", "engines")
        for node in nodes_of(tree)
        if isinstance(node, ast.Call) and called(node) in known and not is_for_programs(path)
        for argument in node.args
        if isinstance(argument, ast.JoinedStr)
        or (isinstance(argument, ast.Constant) and " " in str(argument.value))
    ]
    assert bare == []


def test_only_literal_texts_are_marked() -> None:
    """The tool reads the source, and cannot know a text that is computed."""
    assert list(marked_in(ast.parse('N_("a {b}", b=c); self.tr("d" if e else "f")'))) == [
        "a {b}",
        "d",
        "f",
    ]


def test_without_a_catalogue_texts_stay_english() -> None:
    assert translated(N_("{name} is empty.", name="a.md")) == "a.md is empty."
