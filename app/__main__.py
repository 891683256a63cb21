"""Start Hearth: the window, or one command of the terminal."""

from __future__ import annotations

import sys


def main() -> int:
    """Run Hearth; returns the exit status. A Ctrl-C may come while modules are loaded, too."""
    try:
        from app.cli.main import main as carry_out
    except KeyboardInterrupt:
        return 130
    return carry_out()


if __name__ == "__main__":
    sys.exit(main())
