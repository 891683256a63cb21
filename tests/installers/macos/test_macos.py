"""The app for macOS: its declarations to the system, its permissions, and its signature."""

from __future__ import annotations

import os
import plistlib
import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app import APP_ID
from app.window.values.links import SCHEME
from installers.macos import oldest
from installers.macos.packages import add_documents
from tests.support.paths import ROOT

FOLDER = ROOT / "installers" / "macos"
INFO: dict[str, Any] = plistlib.loads((FOLDER / "Info.plist").read_bytes())
BUILD_VERSION, VERSION_MIN = 0x32, 0x24


def code(*commands: tuple[int, int, int]) -> bytes:
    """Make the head of a library for macOS.

    Args:
        commands: The number of each command, and the two numbers of its version.
    """
    body = b""
    for command, major, minor in commands:
        version = major << 16 | minor << 8
        if command == BUILD_VERSION:
            body += struct.pack("<6I", command, 24, 1, version, version, 0)
        else:
            body += struct.pack("<4I", command, 16, version, version)
    head = struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, 6, len(commands), len(body), 0, 0)
    return head + body


def universal(*parts: bytes) -> bytes:
    """Make a library for several processors."""
    at = 8 + 20 * len(parts)
    head, body = struct.pack(">II", 0xCAFEBABE, len(parts)), b""
    for part in parts:
        head += struct.pack(">5I", 7, 3, at + len(body), len(part), 0)
        body += part
    return head + body


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Make an app with a program, a library and other files."""
    app = tmp_path / "Hearth.app"
    (app / "Contents" / "MacOS").mkdir(parents=True)
    (app / "Contents" / "Frameworks" / "deep").mkdir(parents=True)
    (app / "Contents" / "Info.plist").write_bytes(plistlib.dumps(INFO))
    (app / "Contents" / "MacOS" / "hearth").write_bytes(code((BUILD_VERSION, 11, 0)))
    inner = app / "Contents" / "Frameworks" / "deep" / "libllama.dylib"
    inner.write_bytes(universal(code((VERSION_MIN, 10, 13)), code((BUILD_VERSION, 13, 3))))
    (inner.parent / "empty").touch()
    (inner.parent / "Java.class").write_bytes(bytes.fromhex("cafebabe0000003d") + bytes(60))
    (app / "Contents" / "Frameworks" / "link.dylib").symlink_to(inner)
    return app


def test_the_system_is_told_of_models_links_and_the_microphone() -> None:
    (opened,), (imported,) = INFO["CFBundleDocumentTypes"], INFO["UTImportedTypeDeclarations"]
    assert opened["LSItemContentTypes"] == [imported["UTTypeIdentifier"]]
    assert imported["UTTypeTagSpecification"]["public.filename-extension"] == ["gguf"]
    assert opened["LSHandlerRank"] == "Alternate", "other programs stay the usual one"
    (link,) = INFO["CFBundleURLTypes"]
    assert link["CFBundleURLName"] == APP_ID
    assert link["CFBundleURLSchemes"] == [SCHEME.removesuffix(":")]
    assert "model that can hear" in INFO["NSMicrophoneUsageDescription"]
    assert INFO["LSBackgroundOnly"] is False, "or it would have no window"


def test_the_app_is_spoken_in_the_languages_that_hearth_has() -> None:
    made = {
        it.stem.removeprefix("hearth_") for it in (ROOT / "resources/translations").glob("*.mo")
    }
    assert set(INFO["CFBundleLocalizations"]) == made | {"en"}


def test_the_app_may_hear_and_nothing_else() -> None:
    text = (FOLDER / "entitlements.plist").read_bytes()
    assert plistlib.loads(text) == {"com.apple.security.device.audio-input": True}
    assert b"<!--" not in text, "macOS' own reader refuses some comments"


def test_each_script_is_one_that_bash_can_read() -> None:
    for script in FOLDER.glob("*.sh"):
        subprocess.run(["bash", "-n", str(script)], check=True)


def test_code_is_found_from_the_inside_outwards(
    app: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert oldest.main(["--list", str(app)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(app / "Contents/Frameworks/deep/libllama.dylib"),
        str(app / "Contents/MacOS/hearth"),
    ]


def test_an_app_is_refused_that_holds_what_needs_a_newer_macos(
    app: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert oldest.main([str(app)]) == 0
    newer = app / "Contents" / "Frameworks" / "numpy.so"
    newer.write_bytes(universal(code((BUILD_VERSION, 11, 0)), code((BUILD_VERSION, 26, 1))))
    assert oldest.main([str(app)]) == 1
    said = capsys.readouterr().err
    assert f"{newer} needs macOS 26.1" in said
    assert "Info.plist" in said


def test_the_bill_of_materials_and_licences_go_into_the_app(app: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "hearth"
    licence = Path("resources/licences/packed/numpy.txt")
    (bundle / "_internal" / licence).parent.mkdir(parents=True)
    (bundle / "_internal" / licence).touch()
    (bundle / "hearth").touch()
    (bundle / "sbom.cdx.json").write_text("{}", encoding="utf-8")
    inside = app / "Contents" / "Resources"
    inside.mkdir()
    add_documents(bundle, app)
    found = [it.relative_to(inside) for it in inside.rglob("*") if it.is_file()]
    assert sorted(found) == [licence, Path("sbom.cdx.json")]


TOOL = """#!/bin/sh
echo "{name} $*" >> "$TRACE"
{does}
"""
ACCEPTED = 'case "$*" in *submit*) echo answer ;; esac'


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Make stand-ins for the tools of a Mac, which note their calls."""
    folder = tmp_path / "tools"
    folder.mkdir()
    does = {
        "codesign": "",
        "ditto": '[ "$1" = -c ] || cp -R "$1" "$2"',
        "hdiutil": 'for last; do :; done; echo image > "$last"',
        "spctl": "",
        "plutil": "echo ${STATUS:-Accepted}",
        "xcrun": ACCEPTED,
    }
    for name, action in does.items():
        tool = folder / name
        tool.write_text(TOOL.format(name=name, does=action), encoding="utf-8")
        tool.chmod(0o755)
    return folder


def make_dmg(app: Path, tools: Path, **variables: str) -> tuple[int, list[str]]:
    """Run the script with the stand-ins; return its exit code, and the calls in order."""
    trace = tools / "trace"
    trace.write_text("", encoding="utf-8")
    ended = subprocess.run(
        ["bash", str(FOLDER / "make_dmg.sh"), str(app), str(app.parent / "hearth.dmg")],
        env={
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "TRACE": str(trace),
            **variables,
        },
        capture_output=True,
        check=False,
    )
    return ended.returncode, trace.read_text(encoding="utf-8").splitlines()


def signed(calls: list[str]) -> list[str]:
    return [it.rsplit("/", 1)[-1] for it in calls if it.startswith("codesign --force")]


def test_what_is_inside_is_signed_before_what_holds_it(app: Path, tools: Path) -> None:
    framework = app / "Contents" / "Frameworks" / "Python.framework" / "Versions" / "3"
    framework.mkdir(parents=True)
    (framework / "Python").write_bytes(code((BUILD_VERSION, 11, 0)))
    status, calls = make_dmg(app, tools)
    assert status == 0
    assert signed(calls) == ["libllama.dylib", "Python.framework", "hearth", "Hearth.app"]
    assert all("--sign -" in it for it in calls if it.startswith("codesign --force"))
    entitled = [it for it in calls if "--entitlements" in it]
    assert signed(entitled) == ["hearth", "Hearth.app"]
    assert not [it for it in calls if "notarytool" in it]
    assert (app.parent / "hearth.dmg").exists()


def test_a_release_is_notarised_as_an_app_and_as_an_image(app: Path, tools: Path) -> None:
    secret = {"HEARTH_IDENTITY": "Developer ID Application: A (B)", "HEARTH_NOTARY_PROFILE": "own"}
    status, calls = make_dmg(app, tools, **secret)
    assert status == 0
    assert all("--options runtime" in it for it in calls if "--sign" in it and ".dmg" not in it)
    done = [re.sub(r"/\S*/", "", it) for it in calls if re.search("notarytool|stapler|hdiutil", it)]
    assert [" ".join(it.split()[:4]) for it in done] == [
        "xcrun notarytool submit app.zip",
        "xcrun stapler staple Hearth.app",
        "hdiutil create -volname Hearth",
        "xcrun notarytool submit hearth.dmg",
        "xcrun stapler staple hearth.dmg",
    ]


def test_there_is_no_image_of_what_apple_refuses(app: Path, tools: Path) -> None:
    secret = {"HEARTH_IDENTITY": "Developer ID Application: A (B)", "HEARTH_NOTARY_PROFILE": "own"}
    status, calls = make_dmg(app, tools, STATUS="Invalid", **secret)
    assert status != 0
    assert [it for it in calls if it.startswith("xcrun notarytool log")]
    assert not (app.parent / "hearth.dmg").exists()
