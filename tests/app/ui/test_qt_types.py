"""What is made before a second thread can ask for it is all that Hearth names."""

from __future__ import annotations

from app.ui.qt_types import NAMES
from tests.test_architecture import SHIPPED, imports, tree_of


def test_every_name_of_pyside_is_there_and_no_other() -> None:
    told = {f"{module}.{name}" for module, names in NAMES.items() for name in names.split()}
    named = {name for path in SHIPPED for name in imports(tree_of(path))}
    # `app.plain_imports` imports PySide itself, before there is a second thread.
    assert told == {name for name in named if name.startswith("PySide6")} - {"PySide6.QtCore"}
