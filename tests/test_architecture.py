"""The rules of the design that import-linter and ruff cannot express."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path for folder in ("app", "engines", "tests") for path in (ROOT / folder).rglob("*.py")
)
SHIPPED = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "tests"]
MAX_LINES = 400
MAX_METHODS = 25
NETWORK = {
    "aiohttp", "asyncio", "ftplib", "http", "httpx", "huggingface_hub", "requests", "smtplib",
    "socket", "socketserver", "ssl", "urllib.request", "urllib3", "websockets", "xmlrpc",
}  # fmt: skip
HEAVY = {"gguf", "llama_cpp", "numpy", "pynvml"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.AST) -> Iterator[str]:
    """The full names that are imported anywhere in a tree: `a.b.c` for `from a.b import c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_at_start(tree: ast.Module) -> Iterator[str]:
    """The names that are imported as soon as the module is."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Try | ast.With):
            yield from imports(node)


def is_within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def files_under(*folders: str) -> list[Path]:
    return [path for path in SHIPPED if name_of(path).startswith(folders)]


def test_there_is_something_to_check() -> None:
    assert len(SHIPPED) > 10


@pytest.mark.parametrize("path", [*SOURCES, ROOT / "run.py"], ids=name_of)
def test_a_file_is_short_and_says_what_it_is(path: Path) -> None:
    docstring = ast.get_docstring(tree_of(path))
    assert docstring, f"{name_of(path)} has no docstring"
    assert docstring.splitlines()[0].endswith((".", ":")), "the first line is a sentence"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_classes_are_small(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            assert len(methods) <= MAX_METHODS, node.name


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_nothing_can_open_a_connection(path: Path) -> None:
    found = {name for name in imports(tree_of(path)) if is_within(name, NETWORK)}
    assert not found


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_of_qt_network_only_local_sockets_are_used(path: Path) -> None:
    found = {name for name in imports(tree_of(path)) if name.startswith("PySide6.QtNetwork")}
    assert found <= {"PySide6.QtNetwork.QLocalServer", "PySide6.QtNetwork.QLocalSocket"}


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_heavy_libraries_are_imported_where_they_are_used(path: Path) -> None:
    found = {name for name in imports_at_start(tree_of(path)) if is_within(name, HEAVY)}
    assert not found


@pytest.mark.parametrize("path", files_under("app/services/"), ids=name_of)
def test_services_use_qt_core_only(path: Path) -> None:
    found = {name for name in imports(tree_of(path)) if is_within(name, {"PySide6"})}
    assert all(is_within(name, {"PySide6.QtCore"}) for name in found)


@pytest.mark.parametrize("path", files_under("app/ui/"), ids=name_of)
def test_widgets_see_services_values_and_errors_only(path: Path) -> None:
    found = {name for name in imports(tree_of(path)) if is_within(name, {"app", "engines"})}
    seen = {"app.ui", "app.services", "app.core", "app.markdown", "engines.types", "engines.errors"}
    assert {name for name in found if not is_within(name, seen)} == set()


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_sql_is_in_the_store_only(path: Path) -> None:
    if not name_of(path).startswith("app/store/"):
        assert not {name for name in imports(tree_of(path)) if is_within(name, {"sqlite3"})}


@pytest.mark.parametrize("path", files_under("app/"), ids=name_of)
def test_threads_start_in_two_places(path: Path) -> None:
    starters = {"Thread", "ThreadPoolExecutor", "QThread", "QThreadPool", "Timer"}
    named = {node.attr for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)}
    named |= {name.rsplit(".", 1)[-1] for name in imports(tree_of(path))}
    if name_of(path) not in {"app/services/tasks.py", "app/cli/interrupt.py"}:
        assert not named & starters


def test_the_terminal_works_where_qt_cannot_be_loaded() -> None:
    without_qt = "import sys; sys.modules['PySide6'] = None\n"
    command = "from app.__main__ import main; sys.argv[1:] = ['hardware', '--json']; main()"
    result = subprocess.run(
        [sys.executable, "-c", without_qt + command], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["cpu"]
