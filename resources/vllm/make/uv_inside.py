"""Names uv's wheels for WSL2: `python resources/vllm/make/uv_inside.py WHEEL…`.

They are those of the version in installers/lock/app.txt, for manylinux on x86_64 and aarch64, as
`pip download --no-deps --only-binary :all: --platform …` brings them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "uv.json"


def main(wheels: list[Path]) -> None:
    rows = [
        f"  {json.dumps(it.name)}: "
        f"{json.dumps([it.stat().st_size, hashlib.sha256(it.read_bytes()).hexdigest()])}"
        for it in sorted(wheels)
    ]
    OUT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main([Path(it) for it in sys.argv[1:]])
