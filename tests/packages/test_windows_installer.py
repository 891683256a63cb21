"""The installer for Windows, made by NSIS from a small stand-in for the bundle, run under Wine."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from installers import icon_files
from installers.windows import packages

pytestmark = [
    pytest.mark.packages,
    pytest.mark.timeout(600),
    pytest.mark.skipif("HEARTH_PACKAGES" not in os.environ, reason="run.py test --packages"),
    pytest.mark.skipif(
        packages.makensis() is None, reason="NSIS is not installed: the package “nsis” has it"
    ),
    pytest.mark.skipif(
        shutil.which("wine") is None, reason="Wine is not installed: the package “wine64” has it"
    ),
]

STAND_IN = """
Unicode true
Target amd64-unicode
SilentInstall silent
RequestExecutionLevel user
OutFile "{out}"
Section
  Sleep {milliseconds}
SectionEnd
"""
"""A program that runs for a while, like Hearth; meanwhile Windows protects its file.
"""

OWN = r"Software\Microsoft\Windows\CurrentVersion\Uninstall\Hearth"
OK, RUNNING, NEWER, NOT_OURS, TOO_OLD = 0, 3, 4, 6, 7


@dataclass(frozen=True)
class Computer:
    """A Windows under Wine: its drive, and the installers to test on it."""

    root: Path
    setups: Path

    @property
    def drive(self) -> Path:
        return self.root / "drive_c"

    @property
    def own(self) -> Path:
        """The local application data of the signed-in user."""
        return next((self.drive / "users").glob("*/AppData/Local"))

    @property
    def program(self) -> Path:
        return self.own / "Programs" / "Hearth"

    @property
    def data(self) -> Path:
        return self.own / "hearth"

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a program of this Windows."""
        return subprocess.Popen(
            ["wine", *words],
            env={
                **os.environ,
                "WINEPREFIX": str(self.root),
                "WINEDEBUG": "-all",
                # Nothing that it would otherwise ask to download.
                "WINEDLLOVERRIDES": "mscoree,mshtml=",
                "DISPLAY": "",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, *words: str) -> int:
        """Run a program of this Windows to its end; return its exit code."""
        process = self.start(*words)
        process.communicate(timeout=300)
        return process.returncode

    def install(self, version: str, *words: str) -> int:
        return self.run(str(self.setups / f"{version}.exe"), "/S", *words)

    def remove(self, *words: str, folder: Path | None = None) -> int:
        """Run a copy of the uninstaller, as it would itself, but wait for it."""
        folder = folder or self.program
        copy = self.drive / "Uninstall.exe"
        shutil.copyfile(folder / "Uninstall.exe", copy)
        return self.run(self.named(copy), "/S", *words, *unquoted("_?=", self.named(folder)))

    def named(self, path: Path) -> str:
        """Return a path as this Windows names it."""
        return "C:\\" + str(path.relative_to(self.drive)).replace("/", "\\")

    def be(self, version: str) -> None:
        """Switch to this version of Windows."""
        assert self.run("winecfg", "-v", version) == 0

    def value(self, key: str, name: str = "", root: str = "HKCU") -> str | None:
        """Read a value of the registry; None if there is none."""
        asked = ["/v", name] if name else ["/ve"]
        process = self.start("reg", "query", f"{root}\\{key}", *asked)
        said = process.communicate(timeout=300)[0].decode(errors="replace")
        if process.returncode:
            return None
        lines = [line for line in said.splitlines() if line.startswith("    ")]
        return lines[0].split("    ", 3)[-1].strip() if lines else None

    def write(self, key: str, name: str, value: str) -> None:
        words = ["/v", name] if name else ["/ve"]
        assert self.run("reg", "add", f"HKCU\\{key}", *words, "/d", value, "/f") == 0


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """Make one Windows for all tests here, as this takes a while."""
    place = tmp_path_factory.mktemp("windows")
    computer = Computer(place / "wine", place)
    make_setups(place)
    computer.run("wineboot", "--init")
    computer.be("win10")
    yield computer
    stop(computer)


@pytest.fixture(autouse=True)
def clean(windows: Computer) -> Iterator[None]:
    """Remove Hearth after each test."""
    yield
    if (windows.program / "Uninstall.exe").exists():
        windows.remove()
    shutil.rmtree(windows.program, ignore_errors=True)
    shutil.rmtree(windows.data, ignore_errors=True)
    stop(windows)


def stop(computer: Computer) -> None:
    """End the processes that Wine keeps running."""
    environment = {**os.environ, "WINEPREFIX": str(computer.root)}
    for word in ("-k", "-w"):
        subprocess.run([shutil.which("wineserver") or "/usr/lib/wine/wineserver64", word],
                       env=environment, check=False, timeout=60)  # fmt: skip


def make_setups(place: Path) -> None:
    """Make installers of three versions; the third has another file instead of one of theirs."""
    icon = place / "hearth.ico"
    png = b"\x89PNG\r\n\x1a\n"
    icon.write_bytes(icon_files.ico({16: (png, bytes(16 * 16 * 4)), 32: (png, bytes(32 * 32 * 4))}))
    for version in ("0.1.0", "0.2.0", "0.10.0"):
        bundle = place / f"bundle-{version}"
        inner = bundle / "_internal" / "app"
        inner.mkdir(parents=True)
        (inner / "version.txt").write_text(version, encoding="ascii")
        (inner / f"only in {version}.txt").touch()
        extra = "NEWS.txt" if version == "0.10.0" else "OLD.txt"
        (bundle / extra).touch()
        program(bundle / "hearth.exe", 8_000)
        shutil.copyfile(bundle / "hearth.exe", bundle / "hearthw.exe")
        packages.write_installer(bundle, icon, place / f"{version}.exe", version)


def program(out: Path, milliseconds: int) -> None:
    script = out.with_suffix(".nsi")
    script.write_text(STAND_IN.format(out=out, milliseconds=milliseconds), encoding="utf-8")
    compiler = packages.makensis()
    assert compiler is not None
    subprocess.run([compiler, "-V1", str(script)], check=True)
    script.unlink()


def unquoted(option: str, folder: str) -> list[str]:
    """Return an NSIS option that takes the rest of the line, and does not allow quotes there."""
    return f"{option}{folder}".split(" ")


def names(folder: Path) -> list[str]:
    return sorted(it.relative_to(folder).as_posix() for it in folder.rglob("*") if it.is_file())


def shortcut(computer: Computer) -> Path:
    menu = "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Hearth.lnk"
    return computer.own.parents[1] / menu


def test_one_user_installs_it_without_a_question_or_an_administrator(windows: Computer) -> None:
    assert windows.install("0.1.0") == OK

    place = windows.named(windows.program)
    assert names(windows.program) == [
        "OLD.txt",
        "Uninstall.exe",
        "Uninstall.ini",
        "_internal/app/only in 0.1.0.txt",
        "_internal/app/version.txt",
        "hearth.exe",
        "hearthw.exe",
    ]
    assert shortcut(windows).is_file()
    assert windows.value(OWN, "DisplayVersion") == "0.1.0"
    assert windows.value(OWN, "InstallLocation") == place
    assert int(windows.value(OWN, "EstimatedSize") or "0", 16) > 100
    assert windows.value(OWN, "QuietUninstallString") == f'"{place}\\Uninstall.exe" /S'
    assert windows.value(OWN, root="HKLM") is None


def test_models_and_links_are_opened_with_it_and_no_other_program_loses_them(
    windows: Computer,
) -> None:
    classes = r"Software\Classes"
    windows.write(rf"{classes}\.gguf", "", "Other.model")
    windows.write(rf"{classes}\.gguf\OpenWithProgids", "Other.model", "")
    assert windows.install("0.1.0") == OK

    opened = f'"{windows.named(windows.program)}\\hearthw.exe" open "%1"'
    assert windows.value(rf"{classes}\.gguf") == "Other.model"
    assert windows.value(rf"{classes}\.gguf\OpenWithProgids", "Hearth.gguf") is not None
    assert windows.value(rf"{classes}\Hearth.gguf\shell\open\command") == opened
    assert windows.value(rf"{classes}\hearth", "URL Protocol") is not None
    assert windows.value(rf"{classes}\hearth\shell\open\command") == opened
    paths = r"Software\Microsoft\Windows\CurrentVersion\App Paths\hearth.exe"
    assert windows.value(paths) == f"{windows.named(windows.program)}\\hearthw.exe"
    capabilities = windows.value(r"Software\RegisteredApplications", "Hearth")
    assert capabilities == r"Software\Hearth\Capabilities"
    assert windows.value(rf"{capabilities}\URLAssociations", "hearth") == "hearth"

    windows.write(rf"{classes}\hearth\shell\open\command", "", "other.exe %1")
    assert windows.remove() == OK
    assert windows.value(rf"{classes}\.gguf") == "Other.model"
    assert windows.value(rf"{classes}\.gguf\OpenWithProgids", "Other.model") is not None
    assert windows.value(rf"{classes}\.gguf\OpenWithProgids", "Hearth.gguf") is None
    assert windows.value(rf"{classes}\hearth\shell\open\command") == "other.exe %1"
    assert windows.value(rf"{classes}\Hearth.gguf") is None
    assert windows.value(r"Software\RegisteredApplications", "Hearth") is None
    assert windows.value(paths) is None
    assert windows.run("reg", "delete", rf"HKCU\{classes}\hearth", "/f") == 0
    assert windows.run("reg", "delete", rf"HKCU\{classes}\.gguf", "/f") == 0


def test_a_newer_version_takes_the_place_of_an_older_one_with_the_chats_kept(
    windows: Computer,
) -> None:
    assert windows.install("0.2.0") == OK
    windows.data.mkdir()
    (windows.data / "chats.db").write_bytes(b"chats")
    (windows.program / "notes of the user.txt").touch()
    # 0.10 is newer than 0.2, although it sorts before it.
    assert windows.install("0.10.0") == OK

    assert names(windows.program) == [
        "NEWS.txt",
        "Uninstall.exe",
        "Uninstall.ini",
        "_internal/app/only in 0.10.0.txt",
        "_internal/app/version.txt",
        "hearth.exe",
        "hearthw.exe",
        "notes of the user.txt",
    ]
    assert windows.value(OWN, "DisplayVersion") == "0.10.0"
    assert (windows.data / "chats.db").read_bytes() == b"chats"


def test_an_older_version_takes_a_newer_ones_place_only_when_told_to(windows: Computer) -> None:
    assert windows.install("0.2.0") == OK
    assert windows.install("0.1.0") == NEWER
    assert windows.value(OWN, "DisplayVersion") == "0.2.0"
    assert windows.install("0.1.0", "/Downgrade") == OK
    assert windows.value(OWN, "DisplayVersion") == "0.1.0"


def test_nothing_is_touched_while_hearth_runs_and_a_short_while_is_waited(
    windows: Computer,
) -> None:
    assert windows.install("0.1.0") == OK
    place = windows.named(windows.program)
    program(windows.program / "hearth.exe", 30_000)
    hearth = windows.start(f"{place}\\hearth.exe")
    wait_until_running(windows, f"{place}\\hearth.exe")
    assert windows.install("0.2.0") == RUNNING
    assert windows.remove() == RUNNING
    assert (windows.program / "_internal/app/version.txt").read_text("ascii") == "0.1.0"
    assert windows.value(OWN, "DisplayVersion") == "0.1.0"

    hearth.kill()
    hearth.communicate()
    stop(windows)
    program(windows.program / "hearthw.exe", 6_000)
    hearth = windows.start(f"{place}\\hearthw.exe")  # ends before the installer gives up
    wait_until_running(windows, f"{place}\\hearthw.exe")
    assert windows.install("0.2.0") == OK
    hearth.communicate(timeout=60)
    assert windows.value(OWN, "DisplayVersion") == "0.2.0"


def wait_until_running(computer: Computer, program: str) -> None:
    """Wait until this Windows does not allow writing to the file of a program."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        asked = computer.start("cmd", "/c", f"(call ) >> {program}")
        if b"violation" in asked.communicate(timeout=60)[0]:
            return
    pytest.fail("the program does not run")


def test_it_goes_into_the_folder_that_is_named_and_moves_with_the_next_version(
    windows: Computer,
) -> None:
    first, second = windows.drive / "Tools" / "Hearth one", windows.drive / "Tools" / "two"
    assert windows.install("0.1.0", *unquoted("/D=", windows.named(first))) == OK
    assert (first / "hearthw.exe").is_file()
    assert not windows.program.exists()
    # The next version finds it, and a named folder moves it.
    assert windows.install("0.2.0") == OK
    assert (first / "_internal/app/version.txt").read_text("ascii") == "0.2.0"
    assert windows.install("0.10.0", *unquoted("/D=", windows.named(second))) == OK
    assert not first.exists()
    assert windows.value(OWN, "InstallLocation") == windows.named(second)
    assert windows.remove(folder=second) == OK
    assert not second.exists()


def test_a_folder_with_other_files_is_refused(windows: Computer) -> None:
    folder = windows.drive / "Photos"
    folder.mkdir()
    (folder / "summer.jpg").touch()
    assert windows.install("0.1.0", *unquoted("/D=", windows.named(folder))) == NOT_OURS
    assert names(folder) == ["summer.jpg"]
    assert windows.value(OWN, "DisplayVersion") is None


def test_what_a_killed_run_has_left_is_put_in_order_by_the_next(windows: Computer) -> None:
    assert windows.install("0.1.0") == OK
    # The state after the old version has been moved away, with half of the new one in place.
    old, new = windows.program / ".hearth-old", windows.program / ".hearth-new"
    old.mkdir()
    new.mkdir()
    for name in ("_internal", "hearth.exe", "hearthw.exe", "OLD.txt"):
        (windows.program / name).rename(old / name)
    (windows.program / "hearth.exe").write_bytes(b"new")
    (new / "hearthw.exe").write_bytes(b"new")
    (windows.program / ".hearth-new.ini").write_text(
        "[files]\n0=hearth.exe\n1=hearthw.exe\n", encoding="ascii"
    )
    assert windows.install("0.2.0") == OK
    assert (windows.program / "_internal/app/version.txt").read_text("ascii") == "0.2.0"
    assert [it for it in names(windows.program) if it.startswith(".")] == []


def test_a_windows_that_is_too_old_is_left_as_it_is(windows: Computer) -> None:
    windows.be("win81")
    assert windows.install("0.1.0") == TOO_OLD
    windows.be("win10")
    assert not windows.program.exists()


def test_removing_keeps_chats_and_models(windows: Computer) -> None:
    assert windows.install("0.1.0") == OK
    (windows.data / "models").mkdir(parents=True)
    (windows.data / "chats.db").touch()
    (windows.data / "models" / "a.gguf").touch()
    assert windows.remove() == OK
    assert not windows.program.exists()
    assert not shortcut(windows).exists()
    assert windows.value(OWN, "DisplayVersion") is None
    assert names(windows.data) == ["chats.db", "models/a.gguf"]


def test_purging_deletes_chats_and_models_too(windows: Computer) -> None:
    assert windows.install("0.1.0") == OK
    (windows.data / "models").mkdir(parents=True)
    (windows.data / "chats.db").touch()
    (windows.data / "models" / "a.gguf").touch()
    assert windows.remove("/PURGE") == OK
    assert not windows.data.exists()
    assert not windows.program.exists()


def test_a_folder_that_only_has_the_name_is_not_purged(windows: Computer) -> None:
    assert windows.install("0.1.0") == OK
    windows.data.mkdir()
    (windows.data / "bricks.txt").touch()
    assert windows.remove("/PURGE") == OK
    assert names(windows.data) == ["bricks.txt"]


def test_all_users_of_a_computer_get_it_from_one_place(windows: Computer) -> None:
    folder = windows.drive / "Program Files" / "Hearth"
    assert windows.install("0.1.0", "/AllUsers") == OK
    assert (folder / "hearthw.exe").is_file()
    assert windows.value(OWN, "DisplayVersion", root="HKLM") == "0.1.0"
    assert windows.value(OWN, "DisplayVersion") is None
    command = r"Software\Classes\hearth\shell\open\command"
    assert windows.value(command, root="HKLM") is not None
    common = windows.drive / "ProgramData/Microsoft/Windows/Start Menu/Programs/Hearth.lnk"
    assert common.is_file()
    assert not shortcut(windows).exists()

    # The chats of the user who removes it can be deleted with it; those of others stay.
    windows.data.mkdir()
    (windows.data / "chats.db").touch()
    assert windows.remove("/PURGE", folder=folder) == OK
    assert not folder.exists()
    assert not common.exists()
    assert not windows.data.exists()
    assert windows.value(command, root="HKLM") is None
