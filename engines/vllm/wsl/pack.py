"""The part of Hearth that runs inside WSL2, packed into one file for the Python there.

It needs only the standard library. The file is named after a hash of its content, so a file that is
in use is never overwritten.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

from engines.private import replacing

_ROOT: Final = Path(__file__).parents[3]
_WHOLE: Final = ("engines/vllm/patches", "engines/vllm/provision")
_FILES: Final = (
    "engines/__init__.py",
    "engines/cancel.py",
    "engines/errors.py",
    "engines/locks.py",
    "engines/redaction.py",
    "engines/sentences.py",
    "engines/text.py",
    "engines/private.py",
    "engines/vllm/__init__.py",
    "engines/vllm/clients.py",
    "engines/vllm/guardian.py",
    "engines/vllm/leftovers.py",
    "engines/vllm/marks.py",
    "engines/vllm/processes.py",
    "engines/vllm/scratch.py",
    "engines/vllm/wsl/__init__.py",
    "engines/vllm/wsl/inside.py",
)
_MAIN: Final = "from engines.vllm.wsl.inside import main\n\nraise SystemExit(main())\n"


def packed(folder: Path) -> Path:
    """Pack the helper program into a file in a folder, and return its path. Raises OSError."""
    data = _data()
    file = folder / f"hearth-{hashlib.sha256(data).hexdigest()[:16]}.pyz"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(file) as unfinished:
            unfinished.write_bytes(data)
    return file


@cache
def _data() -> bytes:
    contents = {"__main__.py": _MAIN.encode()}
    for name in (*_FILES, *(module for folder in _WHOLE for module in _modules(folder))):
        contents[name] = (_ROOT / name).read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in sorted(contents.items()):
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def _modules(folder: str) -> list[str]:
    return [f"{folder}/{path.name}" for path in sorted((_ROOT / folder).glob("*.py"))]
