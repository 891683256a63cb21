"""Loads the library that it is told to, in a process of its own, which that may end."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    import_module(sys.argv[1])
