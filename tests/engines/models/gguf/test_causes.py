"""The message about a file that is not a GGUF model."""

from __future__ import annotations

import pytest

from engines.models.gguf.causes import explain

CASES = {
    "empty": (b"", "empty"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 9\n", "Git LFS"),
    "html": (b"\n  <!DOCTYPE html>\n<html><body>401</body></html>", "web page"),
    "html with a mark": (b"\xef\xbb\xbf<html>", "web page"),
    "json": (b'{"error": "Repository not found"}', "JSON"),
    "text": ("Grüße\r\n\tan alle".encode(), "text file"),
    "text cut in a character": ("Grüße €".encode()[:-1], "text file"),
    "zip": (b"PK\x03\x04rest", "PyTorch"),
    "pickle": (b"\x80\x02}q", "pickle"),
    "gzip": (b"\x1f\x8b\x08", "gzip"),
    "old": (b"tjgg\x03\0\0\0", "gave up"),
    "safetensors": ((60).to_bytes(8, "little") + b'{"__metadata__"' + b" " * 60, "safetensors"),
    "zeros": (bytes(4096), "never filled"),
    "noise": (bytes(range(128, 256)), "letters GGUF"),
}


@pytest.mark.parametrize(("start", "expected"), CASES.values(), ids=CASES)
def test_names_the_likely_cause(start: bytes, expected: str) -> None:
    error = explain("model.gguf", len(start), start)
    assert expected in error.why
    assert error.what == "“model.gguf” is not a model."
    assert error.do.endswith(".")
