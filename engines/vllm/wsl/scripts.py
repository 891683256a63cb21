"""What is given to the shell of a distribution: two scripts.

There are no quotes in them, since wsl.exe has rules of its own for those; an empty IFS makes them
needless.
"""

from __future__ import annotations

from typing import Final

NO_DRIVES: Final = 96
NO_PYTHON: Final = 97
"""How `START` ends where it cannot see its file, or finds nothing to run it with."""

START: Final = (
    f"set -f; IFS=; pack=$(wslpath -u $1) || exit {NO_DRIVES}; role=$2; shift 2; "
    "for it do command -v $it >/dev/null && exec $it -I $pack $role; done; "
    f"exit {NO_PYTHON}"
)
"""Its words: what `pack` packs, as Windows names it; a role; the Pythons to try."""

_CARD: Final = "driver_version,compute_cap,memory.total,memory.free,name"
_ROWS: Final = "csv,noheader,nounits"
ASK: Final = "; ".join(
    (
        "set -f",
        "IFS=",
        "echo machine $(uname -m)",
        "echo libc $(getconf GNU_LIBC_VERSION)",
        "echo memory $(grep MemTotal: /proc/meminfo)",
        "echo disk $(df -Pk ~ | tail -n 1)",
        "echo folder $(wslpath -u $1)",
        "PATH=$PATH:/usr/lib/wsl/lib",
        "echo cuda $(nvidia-smi | grep -o CUDA.*Version:.[0-9.]*)",
        f"nvidia-smi --query-gpu={_CARD} --format={_ROWS} | while read -r it",
        "do echo card $it",
        "done",
        "for it in gcc cc clang; do echo compiler $(command -v $it); done",
        "shift",
        "for it do command -v $it >/dev/null && echo python $it; done",
        "for it do echo headers $(ls /usr/include/$it/Python.h); done",
        "echo over",
    )
)
"""Its words: a folder of Windows, and the Pythons to look for. The answer is for `system_info`."""
