"""Reading files in a process of its own, as the app does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.documents.reading.reader import DocumentReader
from app.documents.values.documents import Document
from engines.cancel import CancelToken

Read = Callable[[Path], Document]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    """Yield a function that reads files in one process, which takes long to start."""
    first = tmp_path_factory.mktemp("first") / "a.txt"
    first.write_text("Now the process has started.")
    with closing(DocumentReader().many()) as reader:
        reader.read(first, CancelToken())
        yield lambda path: reader.read(path, CancelToken())
