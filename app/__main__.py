"""Start Hearth: the window, or one command of the terminal."""

from __future__ import annotations

import sys


def main() -> int:
    """Returns the exit status. Loading takes a moment in which there may be a Ctrl-C, too."""
    try:
        from app.cli.main import main as carry_out
    except KeyboardInterrupt:
        return 130
    return carry_out()


if __name__ == "__main__":
    sys.exit(main())
