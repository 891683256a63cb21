"""Units in which settings and words count."""

from __future__ import annotations

from typing import Final

MB: Final = 1_000_000
"""Bytes in a megabyte, as disks and networks count."""
