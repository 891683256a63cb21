"""Packages of Linux: their files, the desktop's view of them, and that two builds are equal."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from pathlib import Path

import pytest
import yaml

from app import APP_ID
from installers.build_error import BuildError
from installers.linux import libraries
from installers.linux.packages import make_appimage, make_deb, make_flatpak, make_rpm, make_tar
from installers.linux.tree import ID, SIZES
from tests.installers.linux.conftest import SECONDS, needs, said
from tests.support.paths import ROOT


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_window_and_the_packages_have_one_name() -> None:
    assert ID == APP_ID


def test_a_deb_needs_what_its_libraries_need(deb: Path) -> None:
    control = (deb / "DEBIAN" / "control").read_text(encoding="utf-8")
    assert "Version: 1.2.3\n" in control
    assert "Depends: libc6 (>= 2.34)\n" in control
    assert [it.name for it in (deb / "DEBIAN").iterdir()] == ["control"], "no script runs"
    assert (deb / "usr/bin/hearth").resolve() == deb / "usr/lib/hearth/hearth"
    for path in (it for it in deb.rglob("*") if it.is_file() and not it.is_symlink()):
        assert path.stat().st_mtime == SECONDS, path
        assert path.stat().st_mode & 0o777 in {0o755, 0o644}, path


def test_each_file_of_the_desktop_is_accepted_by_its_checker(deb: Path, tmp_path: Path) -> None:
    share = deb / "usr/share"
    said(needs("desktop-file-validate"), share / f"applications/{ID}.desktop")
    said(needs("appstreamcli"), "validate", "--no-net", share / f"metainfo/{ID}.metainfo.xml")
    mime = tmp_path / "mime"
    shutil.copytree(share / "mime", mime)
    said(needs("update-mime-database"), mime, XDG_DATA_DIRS=str(tmp_path))
    globs = (mime / "globs2").read_text(encoding="utf-8")
    assert "50:application/x-gguf:*.gguf" in globs
    assert b"application/x-gguf" in (mime / "magic").read_bytes()


def test_its_icons_have_the_sizes_of_their_folders(deb: Path) -> None:
    from PIL import Image

    hicolor = deb / "usr/share/icons/hicolor"
    for size in SIZES:
        with Image.open(hicolor / f"{size}x{size}/apps/{ID}.png") as picture:
            assert picture.size == (size, size)
            assert picture.convert("RGBA").getchannel("A").getextrema() == (0, 255)
    drawing = ROOT / "resources/icons/hearth.svg"
    assert sha256(hicolor / f"scalable/apps/{ID}.svg") == sha256(drawing)


def test_completions_and_the_manual_are_those_of_the_bundle(deb: Path) -> None:
    share = deb / "usr/share"
    assert "_hearth()" in (share / "bash-completion/completions/hearth").read_text()
    assert "#compdef hearth" in (share / "zsh/vendor-completions/_hearth").read_text()
    assert "complete -c hearth" in (share / "fish/vendor_completions.d/hearth.fish").read_text()
    page = said(needs("man"), "-l", share / "man/man1/hearth.1.gz", LC_ALL="C.UTF-8")
    assert "hearth models pull" in page


def test_two_builds_are_the_same(bundle: Path, tmp_path: Path) -> None:
    needs("dpkg-deb")
    needs("rpmbuild")
    made: list[list[str]] = []
    for name in ("one", "two"):
        into = tmp_path / name
        into.mkdir()
        (bundle / "hearth").touch()
        packages = [make(bundle, into, "1.2.3", SECONDS) for make in (make_deb, make_rpm, make_tar)]
        made.append([sha256(it) for it in packages])
    assert made[0] == made[1]


def test_an_rpm_names_libraries_not_packages_of_one_distribution(
    bundle: Path, tmp_path: Path
) -> None:
    needs("rpmbuild")
    made = make_rpm(bundle, tmp_path, "1.2.3", SECONDS)
    assert "libc.so.6()(64bit)" in said("rpm", "-qp", "--requires", made).split()
    files = said("rpm", "-qpl", made).split()
    assert "/usr/bin/hearth" in files
    assert "/usr/lib/hearth/_internal/libsmall.so" in files
    assert "/usr/bin" not in files, "that folder is the system's"
    assert not said("rpm", "-qp", "--scripts", made)


def test_an_appimage_has_a_folder_as_its_tool_wants_it(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(BuildError, match="appimagetool is missing"):
        make_appimage(bundle, tmp_path, "1.2.3", SECONDS)
    tree = tmp_path / "work" / "Hearth.AppDir"
    assert said(tree / "AppRun", "--version").startswith("hearth ")
    assert (tree / f"{ID}.desktop").is_file()
    assert (tree / ".DirIcon").resolve() == tree / f"{ID}.png"


def test_a_flatpak_is_told_which_archive_it_packs(bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="target `tar`"):
        make_flatpak(bundle, tmp_path, "1.2.3", SECONDS)
    archive = make_tar(bundle, tmp_path, "1.2.3", SECONDS)
    manifest = yaml.safe_load(make_flatpak(bundle, tmp_path, "1.2.3", SECONDS).read_text())
    assert manifest["id"] == ID
    (module,) = manifest["modules"]
    assert module["sources"] == [
        {"type": "archive", "path": archive.name, "sha256": sha256(archive)}
    ]
    with tarfile.open(archive) as packed:
        top = {it.partition("/")[2] for it in packed.getnames()}
    assert {"program/hearth", "share", "LICENSE", "install.sh"} <= top
    assert not any("filesystem" in it for it in manifest["finish-args"])


def test_a_library_that_no_package_has_is_told(bundle: Path) -> None:
    assert libraries.unexpected(bundle) == set()
    data = (bundle / "_internal/libsmall.so").read_bytes().replace(b"libc.so.6", b"libx.so.6")
    (bundle / "_internal/libsmall.so").write_bytes(data)
    assert libraries.unexpected(bundle) == {"libx.so.6"}


def test_pillow_takes_the_systems_libxcb(tmp_path: Path) -> None:
    inside = tmp_path / "_internal"
    for folder in ("PIL", "pillow.libs"):
        (inside / folder).mkdir(parents=True)
    kept = inside / "pillow.libs" / "libjpeg-6dc8d115.so.62.4.0"
    for name in (kept.name, "libxcb-9065bb12.so.1.1.0", "libXau-154567c4.so.6.0.0"):
        (kept.parent / name).touch()
    module = inside / "PIL" / "_imaging.cpython-311-x86_64-linux-gnu.so"
    module.write_bytes(b"\0libxcb-9065bb12.so.1.1.0\0libjpeg-6dc8d115.so.62.4.0\0")
    libraries.share_xcb(tmp_path)
    named = b"\0libxcb.so.1" + bytes(13) + b"\0libjpeg-6dc8d115.so.62.4.0\0"
    assert module.read_bytes() == named
    assert list(kept.parent.iterdir()) == [kept]
