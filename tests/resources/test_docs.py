"""The documents name only things that exist: commands, options, files, links, other documents."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from app.cli.parser import build_parser
from app.help.services.guides import CONTENTS, Guides, anchor
from installers.native import backends

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "resources" / "docs"
README = ROOT / "README.md"
CHANGELOG = ROOT / "CHANGELOG.md"
GUIDES = sorted(path for path in DOCS.glob("*.md") if path.name != CONTENTS)
DOCUMENTS = [README, CHANGELOG, DOCS / CONTENTS, *GUIDES]
ANSWERS = sorted((ROOT / "resources/starter/make/intents").glob("*.toml"))

_FENCE = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_STORY = re.compile(r"^## Story: (.+?)\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"(?:app|engines|tests|resources|installers)/[\w./*-]*")
_CALL = re.compile(
    r"(?:^|\| )(?P<name>(?:\.venv/bin/)?hearth|python3 run\.py)(?=\s|$)(?P<words>.*)"
)
"""At the beginning of a line, or after another command that it reads from."""
_PYTEST = {"--cov"}
"""Options after `run.py test` that are pytest's."""
_MADE = {"engines/llamacpp/packs", "installers/dist"}
"""Examples of arguments, and folders for data and built files, which need not exist.
"""


def text_of(path: Path) -> str:
    """Return the text of a document; for a file of the guide's intents, its answers."""
    text = path.read_text(encoding="utf-8")
    if path in ANSWERS:
        return "\n\n".join(intent["answer"] for intent in tomllib.loads(text)["intent"])
    return text


def code_in(text: str) -> Iterator[str]:
    """Yield spans of code, and the lines of its blocks without their comments."""
    for block in _FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield line.split("  #")[0].split(" # ")[0].strip()
    for span in _SPAN.findall(_FENCE.sub("", text)):
        yield " ".join(span.split()).replace("\\|", "|")


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the words of each command line of Hearth's, without the ways to call it."""
    for code in code_in(text):
        found = _CALL.search(re.sub(r'"[^"]*"', "TEXT", code))
        if found and found["name"].endswith("hearth"):
            yield found["words"].split()
        elif found:
            yield from of_run(found["words"].split())


def of_run(words: list[str]) -> Iterator[list[str]]:
    if words[:1] == ["--backend"]:
        assert words[1] in {"auto", *backends.NAMES}, words
        words = words[2:]
    if words[:1] == ["--wheel"]:
        words = words[2:]
    if words[:1] == ["test"]:
        options = {word for word in words if word.startswith("--")}
        assert options <= {"--all", "--vllm", "--real", "--packages", *_PYTEST}, words
    else:
        yield words


def below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands or verbs that a parser knows."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


@cache
def parser() -> argparse.ArgumentParser:
    return build_parser()


def every(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for made in below(parser).values():
        yield from every(made)


def wrong(words: list[str]) -> str:
    """Return the part of a command line that does not exist; "" if all of it does."""
    at = [parser()]
    rest = list(words)
    while rest and not rest[0].startswith("-"):
        known = below(at[0])
        if not known:
            break
        named = rest.pop(0).split("|")
        unknown = [name for name in named if name not in known]
        if unknown:
            return f"no {unknown[0]}"
        at = [known[name] for name in named]
    for name, value in pairwise([*rest, ""]):
        if name.startswith("--"):
            found = [
                action for one in at for action in one._actions if name in action.option_strings
            ]
            if not found:
                return f"no {name}"
            choices = found[0].choices
            if isinstance(choices, list | tuple) and set(value.split("|")) - set(choices):
                return f"{name} does not take {value}"
    return ""


@pytest.mark.parametrize("document", [*DOCUMENTS, *ANSWERS], ids=lambda path: path.stem)
def test_every_command_that_a_document_names_exists(document: Path) -> None:
    found = {" ".join(words): wrong(words) for words in commands_in(text_of(document))}
    assert {words: why for words, why in found.items() if why} == {}


@pytest.mark.parametrize("document", [*DOCUMENTS, *ANSWERS], ids=lambda path: path.stem)
def test_every_option_that_a_document_names_exists(document: Path) -> None:
    known = {name for one in every(parser()) for it in one._actions for name in it.option_strings}
    named = {code.split()[0] for code in _SPAN.findall(_FENCE.sub("", text_of(document)))}
    options = {name for name in named if name.startswith("--")}
    assert options - known == set()


def test_the_documents_name_most_commands() -> None:
    """Otherwise the two tests above could pass without checking anything."""
    named = {words[0] for path in DOCUMENTS for words in commands_in(text_of(path)) if words}
    assert set(below(parser())) - named == set()


@pytest.mark.parametrize(
    "line",
    ["models add FILE", "help --nonsense", "ask TEXT --mtp maybe", "engines list|upgrade vllm"],
)
def test_a_command_that_does_not_exist_is_found(line: str) -> None:
    assert wrong(line.split())
    assert list(commands_in(f"`hearth {line}`")) == [line.split()]
    assert list(commands_in(f"```\n.venv/bin/hearth {line}  # so\n```\n")) == [line.split()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_every_link_leads_somewhere(document: Path) -> None:
    lost = []
    for address in _LINK.findall(text_of(document)):
        if re.match(r"[a-z]+:", address):
            continue
        name, _, wanted = address.partition("#")
        page = (document.parent / name).resolve()
        headings = (
            re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE) if page.suffix == ".md" else []
        )
        if not name or not page.exists() or (wanted and wanted not in map(anchor, headings)):
            lost.append(address)
    assert lost == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_every_file_that_a_document_names_exists(document: Path) -> None:
    spans = _SPAN.findall(text_of(document))
    named = {path for span in spans for path in _PATH.findall(span)} - _MADE
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_readme_can_be_read_in_some_minutes() -> None:
    assert 120 <= len(text_of(README).splitlines()) <= 160


def test_the_changelog_is_short() -> None:
    assert len(text_of(CHANGELOG).splitlines()) <= 40


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_begins_with_its_title_and_is_listed_by_it(guide: Path) -> None:
    listed = {it.topic: it.title for it in Guides(DOCS).all}
    assert text_of(guide).splitlines()[0] == f"# {listed[guide.stem]}"


def test_the_readme_lists_every_guide() -> None:
    linked = set(_LINK.findall(text_of(README)))
    assert {f"resources/docs/{path.name}" for path in GUIDES} <= linked


def test_each_story_is_a_list_of_files_that_is_easy_to_keep() -> None:
    """It has one file a line, each named once; the test above checks that it exists."""
    stories = re.findall(
        r"^## Story: (.+?)\n(.*?)(?=^## )",
        text_of(DOCS / "developing.md"),
        re.MULTILINE | re.DOTALL,
    )
    assert len(stories) == 3
    for title, story in stories:
        steps = re.findall(r"^\d+\. (.*)$", story, re.MULTILINE)
        files = [re.fullmatch(r"`([^`]+\.py)`: .+", step) for step in steps]
        assert all(files), title
        names = [found[1] for found in files if found]
        assert len(names) == len(set(names)) > 5, title
