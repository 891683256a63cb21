"""Reading files as the app does, in a process that is not this one."""

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
    """Read one file after the other in one process: to start one takes longer than most files."""
    first = tmp_path_factory.mktemp("first") / "a.txt"
    first.write_text("Now the process has started.")
    with closing(DocumentReader().many()) as reader:
        reader.read(first, CancelToken())
        yield lambda path: reader.read(path, CancelToken())
