"""A package index on this computer, with small made wheels, that can also answer wrongly."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from app.runtime.packages.links import JSON
from engines.vllm.provision.lock import Lock, LockedFile
from tests.hub.contents import Bytes
from tests.hub.messages import Reply, Request, json_reply, ranged
from tests.hub.server import Loopback

_MAIN = """
import importlib.metadata, pathlib, sys, time
import tiny_helper
hold = pathlib.Path({hold!r})
while {hold!r} and hold.exists():
    pathlib.Path({hold!r} + ".waits").touch()
    time.sleep(0.02)
{more}
if sys.argv[1:] == ["--version"]:
    print("a line before")
    print(importlib.metadata.version("vllm") + "+made")
if sys.argv[1:] == ["download-kernels"]:
    with pathlib.Path(sys.prefix, "kernels").open("a") as file:
        file.write("fetched\\n")
"""


@dataclass(frozen=True)
class Wheel:
    """A wheel as a file.

    Attributes:
        name: Its file name.
        data: Its content.
    """

    name: str
    data: bytes

    @property
    def project(self) -> str:
        return self.name.split("-", 1)[0].replace("_", "-")

    @property
    def version(self) -> str:
        return self.name.split("-")[1]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def wheel(distribution: str, version: str, files: dict[str, str], pad: int = 0) -> Wheel:
    """Make a wheel that uv can install.

    Args:
        distribution: The name of the distribution.
        version: Its version.
        files: The texts of its files by name.
        pad: Bytes to add, for a larger wheel.
    """
    info = f"{distribution}-{version}.dist-info"
    held = {name: text.encode() for name, text in files.items()}
    if pad:
        held[f"{distribution}/pad.bin"] = hashlib.shake_128(version.encode()).digest(pad)
    held[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {distribution.replace('_', '-')}\nVersion: {version}\n"
    ).encode()
    held[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: made\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in held.items()]
    held[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, data in held.items():
            packed.writestr(zipfile.ZipInfo(name), data)
    return Wheel(f"{distribution}-{version}-py3-none-any.whl", out.getvalue())


def made_vllm(
    version: str, more: str = "", hold: Path | None = None, distribution: str = "vllm"
) -> tuple[Wheel, ...]:
    """Make a vLLM that can print its version, and its dependency.

    Args:
        version: Its version.
        more: Code to run first.
        hold: A file for which it waits to be removed. It shows that it waits with a second file,
            whose name ends in “.waits”.
        distribution: The name of the distribution.
    """
    main = _MAIN.format(more=more, hold=str(hold or ""))
    files = {
        "vllm/__init__.py": "",
        "vllm/entrypoints/__init__.py": "",
        "vllm/entrypoints/cli/__init__.py": "",
        "vllm/entrypoints/cli/main.py": main,
    }
    helper = wheel("tiny_helper", "2.0", {"tiny_helper/__init__.py": ""}, pad=300_000)
    return wheel(distribution, version, files), helper


def lock_of(wheels: Sequence[Wheel], python: tuple[int, int], sized: bool = True) -> Lock:
    """Return a lock of these wheels; the first one is vLLM."""
    lines = [f"{it.project}=={it.version} \\\n    --hash=sha256:{it.sha256}" for it in wheels]
    files = (
        LockedFile(it.name, it.project, len(it.data) if sized else 0, it.sha256) for it in wheels
    )
    first = wheels[0]
    return Lock(
        "cpu", first.version, first.project, (python,), 1000, "\n".join(lines) + "\n", tuple(files)
    )


@dataclass
class PackageIndex:
    """A package index.

    Attributes:
        kind: The format of its pages.
        wheels: The wheels that it offers.
        wrong: Functions that change a reply, by the end of the request's path; each is used once.
        requests: The requests so far.
    """

    kind: Literal["json", "html"] = "json"
    wheels: list[Wheel] = field(default_factory=list)
    wrong: dict[str, list[Callable[[Reply], Reply]]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server = Loopback("hub", self._respond)
        self.server.start()

    @property
    def url(self) -> str:
        return f"{self.server.url}/simple"

    def close(self) -> None:
        self.server.released.set()
        self.server.stop()
        assert not self.server.errors

    def asked(self, end: str) -> list[Request]:
        return [it for it in self.requests if it.path.endswith(end) and it.method == "GET"]

    def _respond(self, request: Request) -> Reply:
        self.requests.append(request)
        reply = self._right(request)
        for end, replies in self.wrong.items():
            if request.path.endswith(end) and replies:
                return replies.pop(0)(reply)
        return reply

    def _right(self, request: Request) -> Reply:
        parts = request.path.strip("/").split("/")
        if parts[0] == "files":
            found = [it for it in self.wheels if it.name == parts[-1]]
            if found:
                headers = {"Content-Type": "binary/octet-stream", "ETag": f'"{found[0].sha256}"'}
                return ranged(request, Reply(headers=headers, body=Bytes(found[0].data)))
        wheels = [it for it in self.wheels if it.project == parts[-1]]
        if parts[0] != "simple" or not wheels:
            return replace(json_reply({}), status=404)
        return self._json(wheels) if self.kind == "json" else self._html(wheels)

    def _json(self, wheels: Sequence[Wheel]) -> Reply:
        files = [
            {"filename": it.name, "url": f"/files/{it.name}", "hashes": {"sha256": it.sha256}}
            for it in wheels
        ]
        value = {"meta": {"api-version": "1.0"}, "files": files}
        return Reply(headers={"Content-Type": JSON}, body=Bytes(json.dumps(value).encode()))

    def _html(self, wheels: Sequence[Wheel]) -> Reply:
        rows = [
            f'<a href="../../files/{html.escape(it.name)}#sha256={it.sha256}">{it.name}</a><br/>'
            for it in wheels
        ]
        page = f"<!DOCTYPE html><html><body>{''.join(rows)}</body></html>"
        return Reply(headers={"Content-Type": "text/html"}, body=Bytes(page.encode()))


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
