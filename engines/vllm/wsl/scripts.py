"""Two scripts for the shell of a distribution.

They contain no quotes, because wsl.exe treats those by its own rules; an empty IFS makes them
unnecessary.
"""

from __future__ import annotations

from typing import Final

NO_DRIVES: Final = 96
NO_PYTHON: Final = 97
"""Exit codes of `START` if it cannot see its file, or finds no Python to run it."""

START: Final = (
    f"set -f; IFS=; pack=$(wslpath -u $1) || exit {NO_DRIVES}; role=$2; shift 2; "
    "for it do command -v $it >/dev/null && exec $it -I $pack $role; done; "
    f"exit {NO_PYTHON}"
)
"""Arguments: the file that `pack` makes, as Windows names it; a role; the Pythons to try."""

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
"""Arguments: a Windows folder, and the Pythons to look for. `system_info` reads the output."""
