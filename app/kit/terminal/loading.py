"""A process that imports the library named on its command line, as the import may crash it."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    import_module(sys.argv[1])
