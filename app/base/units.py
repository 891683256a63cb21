"""Units of settings and texts."""

from __future__ import annotations

from typing import Final

MB: Final = 1_000_000
"""The bytes of a megabyte, as disks and networks count."""
