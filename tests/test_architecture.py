"""The rules of the design that import-linter and ruff cannot express."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.sources import nodes_of, tree_of

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path for folder in ("app", "engines", "tests") for path in (ROOT / folder).rglob("*.py")
)
SHIPPED = [path for path in SOURCES if path.relative_to(ROOT).parts[0] != "tests"]
NETWORK = {
    "aiohttp", "asyncio", "ftplib", "hf_xet", "http", "httpcore2", "httpx", "httpx2",
    "huggingface_hub", "imaplib", "poplib", "requests", "smtplib", "socket", "socketserver", "ssl",
    "telnetlib", "truststore", "urllib.request", "urllib3", "uvicorn", "webbrowser", "websockets",
    "xmlrpc",
}  # fmt: skip
LENT = {"httpx2", "huggingface_hub"}
"""Modules that app/models/hub may use: it gets its client from the gate, and makes none."""
BORROWERS = {"app/runtime/packages", "engines/openai", "engines/remote", "engines/vllm"}
"""Rooms that get a client of httpx2 as well."""
SERVING = {"asyncio", "uvicorn"}
"""Modules that app/api/http may use.

It gets its listening socket from app/net, and its event loop opens none.
"""
LOCAL = ("engines/vllm/clients.py", "engines/vllm/shared.py")
"""Files that talk to other processes of this computer, at sockets in a private folder."""
LOCAL_USES = {
    "AF_UNIX", "SHUT_RDWR", "SOCK_STREAM", "SOL_SOCKET", "SO_PEERCRED", "socket", "socketpair",
}  # fmt: skip
PLAIN_VALUES = {"Client", "Headers", "Request", "Response", "Timeout", "URL"}
HEAVY = {
    "anyio", "app.net.client", "app.net.huggingface", "app.net.listening", "app.net.metered_stream",
    "app.net.server_client", "app.net.tls", "app.api.http",
    "engines.models.gguf.guards", "engines.models.gguf.hyperparameters", "gguf", "httpcore2",
    "httpx2", "huggingface_hub", "keyring", "llama_cpp", "numpy", "pynvml",
    "send2trash", "starlette", "truststore", "uvicorn",
}  # fmt: skip


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the full names of all imports in a tree: `a.b.c` for `from a.b import c`."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_at_start(tree: ast.Module) -> Iterator[str]:
    """Yield the names that are imported as soon as the module is."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Try | ast.With):
            yield from imports(node)


def is_within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def files_under(*folders: str) -> list[Path]:
    return [path for path in SHIPPED if name_of(path).startswith(folders)]


def offenders(
    paths: Iterable[Path], found: Callable[[Path], Iterable[str]]
) -> dict[str, list[str]]:
    """Return the findings of a rule, by file."""
    all_found = {name_of(path): sorted(found(path)) for path in paths}
    return {name: wrong for name, wrong in all_found.items() if wrong}


def named(path: Path, packages: set[str]) -> set[str]:
    """Return the imports of a file from these packages."""
    return {name for name in imports(tree_of(path)) if is_within(name, packages)}


def test_there_is_something_to_check() -> None:
    assert len(SHIPPED) > 10


def test_a_file_says_what_it_is() -> None:
    def found(path: Path) -> Iterator[str]:
        # Parsing all files would take ten seconds.
        text = path.read_text(encoding="utf-8")
        docstring = re.match(r'(?:#.*\n|\s)*r?"""(.+)', text)
        if not docstring:
            yield "no docstring"
        elif not docstring[1].removesuffix('"""').endswith((".", ":")):
            yield "the first line is no sentence"

    assert not offenders([*SOURCES, ROOT / "run.py"], found)


def test_no_class_name_has_two_meanings() -> None:
    places: dict[str, list[str]] = {}
    for path in SHIPPED:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    assert len(places) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_tests_mirror_the_source_by_folder() -> None:
    """A test lies in the folder of its subject, so that it is found from there."""
    tests = ROOT / "tests"
    found = [path for top in ("app", "engines") for path in (tests / top).rglob("test_*.py")]
    folders = {path.parent.relative_to(tests) for path in found}
    assert len(folders) > 40
    lost = {str(folder) for folder in folders if not any((ROOT / folder).glob("*.py"))}
    assert lost == set(), "tests lie in a folder that the source does not have"


def connecting(tree: ast.AST, package: str) -> set[str]:
    """Return the imports of a tree that could open a connection without the gate."""
    if package == "app/net":
        return set()
    allowed = LENT if package == "app/models/hub" else {"httpx2"} if package in BORROWERS else set()
    if package == "app/api/http":
        allowed = SERVING
    return {
        name for name in imports(tree) if is_within(name, NETWORK) and not is_within(name, allowed)
    }


def package_of(path: Path) -> str:
    """Return the room that the rules of connections know a file by."""
    name = name_of(path)
    rooms = ("app/models/hub", "app/api/http", *BORROWERS)
    return next((room for room in rooms if name.startswith(room)), "/".join(Path(name).parts[:2]))


def floor_of(path: Path) -> str:
    """Return the floor of a file within its subject; "" for a room without floors."""
    floors = {"values", "store", "services", "presenters", "pages", "commands"}
    return next((part for part in (*path.parts, path.stem) if part in floors), "")


def test_only_the_gate_can_open_a_connection() -> None:
    gated = [path for path in SHIPPED if name_of(path) not in LOCAL]
    assert not offenders(gated, lambda path: connecting(tree_of(path), package_of(path)))


def leaving(tree: ast.AST) -> set[str]:
    """Return the uses of sockets in a tree that could lead away from this computer."""
    named = [
        node
        for node in nodes_of(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "socket"
    ]
    made = [
        node
        for node in nodes_of(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "socket.socket"
    ]
    return {
        *({node.attr for node in named} - LOCAL_USES),
        *(ast.unparse(it) for it in made if not local(it)),
        *(name for name in imports(tree) if is_within(name, NETWORK) and name != "socket"),
    }


def local(made: ast.Call) -> bool:
    """Return whether a call makes a local socket, or one of an existing descriptor."""
    if made.args:
        return ast.unparse(made.args[0]) == "socket.AF_UNIX"
    return [it.arg for it in made.keywords] == ["fileno"]


def test_processes_here_talk_at_sockets_that_lead_nowhere_else() -> None:
    found = [path for path in SHIPPED if name_of(path) in LOCAL]
    assert len(found) == len(LOCAL)
    assert not offenders(found, lambda path: leaving(tree_of(path)))


@pytest.mark.parametrize(
    "source",
    [
        "import socket\nsocket.socket()",
        "import socket\nsocket.socket(socket.AF_INET)",
        "import socket\nsocket.create_connection(('a', 1))",
        "from socket import create_connection",
        "import http.client",
    ],
)
def test_what_leads_away_is_seen(source: str) -> None:
    assert leaving(ast.parse(source))


def bypassing(tree: ast.AST) -> set[str]:
    """Return the uses of httpx2 beyond its errors and values: those make connections."""
    import httpx2

    uses = {
        node.attr: node
        for node in nodes_of(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "httpx2"
    }
    made = {
        node.func.attr
        for node in nodes_of(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    found = {name for name in imports(tree) if name.startswith("httpx2.")}
    for name in uses:
        thing = getattr(httpx2, name)
        is_error = isinstance(thing, type) and issubclass(thing, Exception)
        if not is_error and (name not in PLAIN_VALUES or (name == "Client" and name in made)):
            found.add(name)
    return found


def test_who_is_lent_a_client_makes_none_of_its_own() -> None:
    own = {"set_client_factory", "set_async_client_factory", "get_async_session"}

    def found(path: Path) -> set[str]:
        makers = {name for name in imports(tree_of(path)) if name.rsplit(".", 1)[-1] in own}
        return makers | bypassing(tree_of(path))

    assert not offenders(files_under("app/models/hub/", *BORROWERS), found)


@pytest.mark.parametrize(
    ("source", "package"),
    [
        ("import socket", "app/models/hub"),
        ("import httpx2", "app/chats"),
        ("def f():\n    from urllib import request", "app/base"),
        ("from http.client import HTTPConnection", "engines/llamacpp"),
        ("from huggingface_hub import HfApi", "app/kit"),
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


def test_only_the_store_of_secrets_uses_the_keyring() -> None:
    found = offenders(SHIPPED, lambda path: named(path, {"keyring"}))
    assert found.keys() == {"app/base/secrets.py"}


def test_qt_network_is_not_used() -> None:
    """It takes three megabytes and can connect past the gate."""
    assert not offenders(SHIPPED, lambda path: named(path, {"PySide6.QtNetwork"}))


def test_no_item_of_a_layout_is_held() -> None:
    """Qt deletes items without telling PySide, and their objects then stand for other things.

    The window crashed. `takeAt` gives an item over, and is safe; a gap of `addSpacing` could be
    zoomed only through its item.
    """

    def found(path: Path) -> set[str]:
        called = {it.attr for it in nodes_of(tree_of(path)) if isinstance(it, ast.Attribute)}
        return called & {"itemAt", "itemAtPosition", "addSpacing", "insertSpacing"}

    assert not offenders(SHIPPED, found)


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    """Some modules subclass the library, or use it throughout: they are heavy themselves."""

    def found(path: Path) -> set[str]:
        own = name_of(path).removesuffix(".py").replace("/", ".")
        heavy = HEAVY if not is_within(own, HEAVY) else set()
        return {name for name in imports_at_start(tree_of(path)) if is_within(name, heavy)}

    assert not offenders(SHIPPED, found)


@pytest.mark.parametrize("words", [["--version"], ["connections"], ["settings", "list"]])
def test_commands_without_a_connection_load_no_client(words: list[str], data_dir: Path) -> None:
    """Otherwise each start would take half a second longer."""
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


def imported(tree: ast.AST, modules: set[str]) -> set[str]:
    """Return the modules that a tree imports, at its start, in functions, or only for types."""
    found = set()
    for name in imports(tree):
        while name and name not in modules:
            name = name.rpartition(".")[0]  # noqa: PLW2901 - the module that a name is of
        found.add(name)
    return found - {""}


def circle_in(graph: Mapping[str, set[str]]) -> list[str]:
    """Return modules that import each other in a circle; empty if there is no circle."""
    done: set[str] = set()

    def search(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        found = next(filter(None, (search(it, [*path, name]) for it in sorted(graph[name]))), [])
        done.add(name)
        return found

    return next(filter(None, (search(name, []) for name in graph)), [])


def test_no_module_imports_one_that_imports_it() -> None:
    """The circle may be long, or within a folder, and include imports for types and late ones."""
    paths = {module_of(path): path for path in SHIPPED}
    modules = set(paths)
    graph = {it: imported(tree_of(path), modules) - {it} for it, path in paths.items()}
    assert not circle_in(graph)


def test_the_rule_of_circles_sees_one() -> None:
    sources = {
        "a": "import b",
        "b": "if TYPE_CHECKING:\n    from c import C",
        "c": "def f():\n    from a import g",
        "d": "import a",
    }
    graph = {it: imported(ast.parse(source), set(sources)) for it, source in sources.items()}
    assert circle_in(graph) == ["a", "b", "c", "a"]
    graph["c"].clear()
    assert not circle_in(graph)


def test_presenters_use_qt_core_only() -> None:
    def found(path: Path) -> set[str]:
        return {
            name for name in named(path, {"PySide6"}) if not is_within(name, {"PySide6.QtCore"})
        }

    assert not offenders([it for it in SHIPPED if floor_of(it) == "presenters"], found)


def test_widgets_see_presenters_values_and_errors_only() -> None:
    """The rule covers a page's own imports; its arguments may be of types from anywhere."""
    engines = {f"engines.{name}" for name in ("errors", "sentences", "types")}
    rooms = {"app.kit", "app.markdown", "app.search", *engines} | {
        f"app.base.{name}"
        for name in "engine_names errors home ids language once secret units".split()
    }
    floors = {"values", "presenters", "pages"}

    def found(path: Path) -> set[str]:
        seen = named(path, {"app", "engines"})
        return {
            name for name in seen if not is_within(name, rooms) and not floors & {*name.split(".")}
        }

    widgets = [it for it in SHIPPED if floor_of(it) == "pages"]
    assert not offenders([*widgets, *files_under("app/kit/widgets/", "app/kit/text/")], found)


def test_sql_is_in_the_store_only() -> None:
    found = offenders(SHIPPED, lambda path: named(path, {"sqlite3"}))
    store = {
        "db", "index_file", "memory_database", "migrations", "recognition", "records", "snapshots",
    }  # fmt: skip
    base = {f"app/base/{name}.py" for name in store}
    assert all(floor_of(ROOT / name) == "store" or name in base for name in found), found


def test_threads_start_in_eight_places() -> None:
    """One of them is for connections that open: otherwise nobody could stop waiting for one."""
    starters = {
        "Thread", "ThreadPoolExecutor", "QThread", "QThreadPool", "Timer", "start_blocking_portal",
    }  # fmt: skip

    def found(path: Path) -> set[str]:
        nodes = nodes_of(tree_of(path))
        used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        return starters & (used | {name.rsplit(".", 1)[-1] for name in imports(tree_of(path))})

    assert offenders(files_under("app/"), found).keys() == {
        "app/kit/tasks/tasks.py",
        "app/net/opening.py",
        "app/api/http/running.py",
        "app/kit/terminal/interrupt.py",
        "app/api/http/server.py",
        "app/models/downloads/services/queue.py",
        "app/activity/services/measuring/bench_many.py",
        "app/activity/services/tracing.py",
    }


def test_the_terminal_works_where_qt_cannot_be_loaded() -> None:
    without_qt = "import sys; sys.modules['PySide6'] = None\n"
    command = "from app.__main__ import main; sys.argv[1:] = ['hardware', '--json']; main()"
    result = subprocess.run(
        [sys.executable, "-c", without_qt + command], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["cpu"]
