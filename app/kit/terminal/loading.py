"""Imports the library named on the command line, in a child process that this import can end."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    import_module(sys.argv[1])
