"""Any JSON from a Hub becomes a repository, or an error in three parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.base.errors import HubUnreadable
from app.models.hub.client import Hub
from app.models.hub.values.hub import Query, Repository
from app.net import Gate
from tests.app.net.conftest import Reply, Server, served

LFS = {"sha256": "a" * 64, "oid": "a" * 64, "size": 1, "pointerSize": 130}
FILE = {"rfilename": "a-Q4_0.gguf", "path": "a-Q4_0.gguf", "type": "file", "oid": "b", "size": 1}
RIGHT = {
    "id": "ada/Small", "sha": "c" * 40, "gated": "auto", "downloads": 5, "likes": 1,
    "lastModified": "2026-11-16T00:27:02.000Z", "tags": ["license:other"], "private": False,
    "cardData": {"license": "other", "license_name": "lfm1.0", "tags": ["a"]},
    "gguf": {"total": 4, "architecture": "llama", "context_length": 5},
    "siblings": [{**FILE, "lfs": LFS}], "safetensors": {"parameters": {}, "total": 1},
    "transformersInfo": {"auto_model": "a"}, "self": None, "last_modified": None,
}  # fmt: skip
NAMES = st.sampled_from(["self", "id", "type", "lfs", "size", "license", "results", "a"])
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["0001-01-01T00:00:00", "9999-12-31T23:59:59", 10**400, -(10**30)]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


class Replies(dict[str, Reply | Callable[[], Reply]]):
    """Replies by path: the value of the first key that the address contains."""

    def __init__(self, values: dict[str, object]) -> None:
        self._values = values

    def get(self, path: str, _: object = None) -> Reply:
        value = next(value for part, value in self._values.items() if part in path)
        return Reply(json.dumps(value).encode(), headers={"Content-Type": "application/json"})


@pytest.fixture(scope="module")
def asked() -> Iterator[tuple[Server, Hub]]:
    gate = Gate(lambda _: None, lambda: True)
    with served(Server()) as server:
        yield server, Hub(gate, lambda: None)
    gate.close()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changed=st.dictionaries(st.sampled_from(sorted(RIGHT)), ODD, min_size=1, max_size=3),
    file=st.dictionaries(st.sampled_from(sorted({*FILE, "lfs"})), ODD, max_size=2),
)
def test_odd_json_is_an_error_in_words(
    asked: tuple[Server, Hub],
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, object],
    file: dict[str, object],
) -> None:
    server, hub = asked
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    files = [{**FILE, "lfs": LFS, **file}]
    told = {**RIGHT, "siblings": files, **changed}
    body = {name: value for name, value in told.items() if value is not None}

    server.replies = Replies({"?filter=": [body], "/tree/": files, "": body})
    for ask in (lambda: hub.repository("ada/Small"), lambda: hub.search(Query())):
        with suppress(HubUnreadable):
            assert isinstance(ask(), Repository | list)
