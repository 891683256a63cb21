"""Keyrings for processes that a test starts, chosen by PYTHON_KEYRING_BACKEND."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

RING_FILE = "HEARTH_TESTS_RING"
"""The variable that names the file of a `FileRing`."""


class FileRing(KeyringBackend):
    """A keyring in a file, which the next process finds again."""

    priority = 5.0
    viable = False

    def get_password(self, service: str, username: str) -> str | None:
        held: dict[str, str] = self._held()
        return held.get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        held = self._held() | {f"{service}/{username}": password}
        self._file.write_text(json.dumps(held), encoding="utf-8")

    @property
    def _file(self) -> Path:
        return Path(os.environ[RING_FILE])

    def _held(self) -> dict[str, str]:
        if not self._file.exists():
            return {}
        held: dict[str, str] = json.loads(self._file.read_text(encoding="utf-8"))
        return held


class LockedRing(KeyringBackend):
    """A keyring that stays locked, as in a session without a desktop."""

    priority = 5.0
    viable = False

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked(f"{service}/{username}")
