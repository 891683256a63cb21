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
    "aiohttp", "asyncio", "ftplib", "hf_xet", "http", "httpcore2", "httpx", "httpx2",
    "huggingface_hub", "imaplib", "poplib", "requests", "smtplib", "socket", "socketserver", "ssl",
    "telnetlib", "truststore", "urllib.request", "urllib3", "webbrowser", "websockets", "xmlrpc",
}  # fmt: skip
LENT = {"httpx2", "huggingface_hub"}
"""What app/hub may use: it gets its client from the gate, and makes none."""
BORROWERS = {"app/packages", "engines/openai", "engines/remote", "engines/vllm"}
"""They are lent a client of httpx2 as well."""
PLAIN_VALUES = {"Client", "Headers", "Request", "Response", "Timeout", "URL"}
HEAVY = {
    "app.net.client", "app.net.counted", "app.net.lent", "app.net.sockets", "app.net.tls", "gguf",
    "httpcore2", "httpx2", "huggingface_hub", "keyring", "llama_cpp", "numpy", "pynvml",
    "send2trash", "truststore",
}  # fmt: skip


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


def connecting(tree: ast.AST, package: str) -> set[str]:
    """What of a tree's imports could open a connection without the gate."""
    if package == "app/net":
        return set()
    allowed = LENT if package == "app/hub" else {"httpx2"} if package in BORROWERS else set()
    return {
        name for name in imports(tree) if is_within(name, NETWORK) and not is_within(name, allowed)
    }


def package_of(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parts[:2])


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_only_the_gate_can_open_a_connection(path: Path) -> None:
    assert not connecting(tree_of(path), package_of(path))


def bypassing(tree: ast.AST) -> set[str]:
    """The uses of httpx2 that are more than its errors and values: those make connections."""
    import httpx2

    uses = {
        node.attr: node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "httpx2"
    }
    made = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    found = {name for name in imports(tree) if name.startswith("httpx2.")}
    for name in uses:
        thing = getattr(httpx2, name)
        is_error = isinstance(thing, type) and issubclass(thing, Exception)
        if not is_error and (name not in PLAIN_VALUES or (name == "Client" and name in made)):
            found.add(name)
    return found


@pytest.mark.parametrize("path", files_under("app/hub/", *BORROWERS), ids=name_of)
def test_who_is_lent_a_client_makes_none_of_its_own(path: Path) -> None:
    assert not bypassing(tree_of(path))
    own = {"set_client_factory", "set_async_client_factory", "get_async_session"}
    assert not {name for name in imports(tree_of(path)) if name.rsplit(".", 1)[-1] in own}


@pytest.mark.parametrize(
    ("source", "package"),
    [
        ("import socket", "app/hub"),
        ("import httpx2", "app/services"),
        ("def f():\n    from urllib import request", "app/store"),
        ("from http.client import HTTPConnection", "engines/llamacpp"),
        ("from huggingface_hub import HfApi", "app/ui"),
    ],
)
def test_the_rule_of_connections_sees_an_offender(source: str, package: str) -> None:
    assert connecting(ast.parse(source), package)
    assert not connecting(ast.parse(source), "app/net")


@pytest.mark.parametrize(
    "source",
    [
        "import httpx2\nhttpx2.get('http://x')",
        "import httpx2\nhttpx2.Client()",
        "import httpx2\nhttpx2.HTTPTransport()",
        "from httpx2 import Client",
    ],
)
def test_the_rule_of_clients_sees_an_offender(source: str) -> None:
    assert bypassing(ast.parse(source))
    assert not bypassing(ast.parse("import httpx2\nfaults = (httpx2.ReadError,)"))


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_only_the_store_of_secrets_uses_the_keyring(path: Path) -> None:
    if name_of(path) != "app/store/secrets.py":
        assert not {name for name in imports(tree_of(path)) if is_within(name, {"keyring"})}


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_of_qt_network_only_local_sockets_are_used(path: Path) -> None:
    found = {name for name in imports(tree_of(path)) if name.startswith("PySide6.QtNetwork")}
    assert found <= {"PySide6.QtNetwork.QLocalServer", "PySide6.QtNetwork.QLocalSocket"}


@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_heavy_libraries_are_imported_where_they_are_used(path: Path) -> None:
    """Some modules of the gate subclass what they load, and so count as heavy themselves."""
    own = name_of(path).removesuffix(".py").replace("/", ".")
    heavy = HEAVY if own not in HEAVY else set()
    found = {name for name in imports_at_start(tree_of(path)) if is_within(name, heavy)}
    assert not found


@pytest.mark.parametrize("words", [["--version"], ["connections"], ["settings", "list"]])
def test_commands_without_a_connection_load_no_client(words: list[str], data_dir: Path) -> None:
    """Half a second at each start, for nothing."""
    command = (
        "import sys\nfrom app.cli.main import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit:\n    pass\n"
        "print(*sorted(set(sys.modules) & {'httpx2', 'huggingface_hub', 'keyring', 'ssl'}), "
        "file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.strip() == ""


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
def test_threads_start_in_four_places(path: Path) -> None:
    starters = {"Thread", "ThreadPoolExecutor", "QThread", "QThreadPool", "Timer"}
    named = {node.attr for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)}
    named |= {name.rsplit(".", 1)[-1] for name in imports(tree_of(path))}
    if name_of(path) not in {
        "app/services/tasks.py",
        "app/cli/interrupt.py",
        "app/services/downloads.py",
        "app/services/bench_many.py",
    }:
        assert not named & starters


def test_the_terminal_works_where_qt_cannot_be_loaded() -> None:
    without_qt = "import sys; sys.modules['PySide6'] = None\n"
    command = "from app.__main__ import main; sys.argv[1:] = ['hardware', '--json']; main()"
    result = subprocess.run(
        [sys.executable, "-c", without_qt + command], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["cpu"]
