"""Importing this, before PySide6, imports it without three costs of every start.

PySide6 carries sources of its own and compiles them anew each time it is imported, a fifth of what
its import computes: what comes of it is kept. One of them, which writes type stubs, nothing else
of PySide6 uses; it brings a parser of command lines and two large patterns, and is left out.

It also puts something onto `import` for `from __feature__ import`: it then looks at the source of
every module that is imported after it, whether it mentions PySide6, and keeps that source in
memory. Hearth uses no `__feature__`; the looking took two thirds of the computing of its imports
and more than ten megabytes. It is taken off.
"""

from __future__ import annotations

import builtins
from importlib.util import cache_from_source
from pathlib import Path

from app.kept_code import KeptCode

_STUBS = "shibokensupport/signature/lib/pyi_generator.py"

with KeptCode(Path(cache_from_source(__file__)).with_suffix(".kept"), unused={_STUBS}):
    import PySide6.QtCore  # noqa: F401 - its sources, and what it puts onto `import`

builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
