"""Fixtures for several subjects: a database, services, the terminal and the window."""

from __future__ import annotations

from tests.support.databases import chats, database  # noqa: F401
from tests.support.services import services  # noqa: F401
from tests.support.terminal import engine, hearth  # noqa: F401
from tests.support.window import first_screen, german, hold, no_flashes, ui  # noqa: F401
