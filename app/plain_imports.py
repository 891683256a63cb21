"""Importing this takes off `import` what PySide6 has put onto it for `from __feature__ import`.

PySide6 looks at the source of every module that is imported after it, whether it mentions PySide6,
and keeps that source in memory. Hearth uses no `__feature__`; the looking took two thirds of the
computing of its imports and more than ten megabytes.
"""

from __future__ import annotations

import builtins

import PySide6.QtCore  # noqa: F401 - what it has put there

builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
