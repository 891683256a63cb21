"""Numbers as people read them."""

from __future__ import annotations

GB = 1_000_000_000


def size(count: int) -> str:
    """Bytes in the unit that fits: 940 MB, 7.3 GB, 16 GB."""
    if count < GB:
        return f"{count / 1_000_000:.0f} MB"
    amount = count / GB
    return f"{amount:.1f} GB" if amount < 10 else f"{amount:.0f} GB"
