"""Makes Linux packages from a bundle: .deb, .rpm, .tar.xz for a single user, and others.

The same bundle always gives the same package: names are sorted, everything belongs to root, and the
only time in it is that of the commit.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from installers.build_error import BuildError
from installers.linux import libraries
from installers.linux.tree import ID, ROOT, fill_in, gzipped, make_share, write

_DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}

_JUMPS = [{"id": lzma.FILTER_X86}] if platform.machine() == "x86_64" else []
_FILTERS = [*_JUMPS, {"id": lzma.FILTER_LZMA2, "preset": 9}]
"""The first filter makes jumps in x86 code compress better."""


def make_tar(bundle: Path, into: Path, version: str, seconds: int) -> Path:
    """Make an archive of a folder with `install.sh`, which does not need root."""
    name = _name(version)
    tree = _empty_folder(bundle, "tar")
    top = tree / name
    shutil.copytree(bundle, top / "program", symlinks=True)
    make_share(top / "share", bundle, python_of(bundle), version, seconds)
    write(top / "install.sh", fill_in("install.sh", {}))
    (top / "install.sh").chmod(0o755)
    shutil.copyfile(ROOT / "LICENSE", top / "LICENSE")
    package = into / f"{name}.tar.xz"
    with (
        lzma.open(package, "wb", filters=_FILTERS) as packed_file,
        tarfile.open(fileobj=packed_file, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in [top, *sorted(top.rglob("*"))]:
            archive.add(
                path,
                path.relative_to(tree).as_posix(),
                recursive=False,
                filter=lambda entry: _owned_by_root(entry, seconds),
            )
    return package


def make_deb(bundle: Path, into: Path, version: str, seconds: int) -> Path:
    """Make a package for Debian and Ubuntu, without scripts: the system's triggers suffice."""
    tree = _system_tree(bundle, "deb", version, seconds)
    doc = tree / "usr/share/doc/hearth"
    write(doc / "copyright", fill_in("copyright", {}))
    changes = (ROOT / "CHANGELOG.md").read_bytes()
    write(doc / "changelog.gz", gzipped(changes))
    # Debian looks for these in a folder of its own.
    zsh = tree / "usr/share/zsh"
    (zsh / "site-functions").rename(zsh / "vendor-completions")
    architecture = _DEBIAN[platform.machine()]
    control = fill_in(
        "control",
        {
            "@VERSION@": version,
            "@ARCHITECTURE@": architecture,
            "@KILOBYTES@": str(_kilobytes(tree)),
            "@DEPENDS@": ", ".join(libraries.debian_packages(libraries.needed(bundle))),
        },
    )
    write(tree / "DEBIAN/control", control)
    _normalise(tree, seconds)
    package = into / f"hearth_{version}_{architecture}.deb"
    words = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z9", "--threads-max=1", "--build"]
    _run([*words, str(tree), str(package)], seconds)
    return package


def make_rpm(bundle: Path, into: Path, version: str, seconds: int) -> Path:
    """Make a package for Fedora, openSUSE and similar systems."""
    tree = _system_tree(bundle, "rpm", version, seconds)
    shutil.copyfile(ROOT / "LICENSE", _created(tree / "usr/share/licenses/hearth") / "LICENSE")
    _normalise(tree, seconds)
    required = sorted(libraries.needed(bundle).keys() & libraries.PACKAGES.keys())
    machine = platform.machine()
    spec = fill_in(
        "hearth.rpm.spec",
        {
            "@VERSION@": version,
            "@ARCHITECTURE@": machine,
            "@TREE@": str(tree),
            "@REQUIRES@": "\n".join(f"Requires: {library}()(64bit)" for library in required),
            "@FILES@": "\n".join(_file_list(tree)),
        },
    )
    top = _empty_folder(bundle, "rpmbuild")
    write(top / "hearth.spec", spec)
    _run(
        ["rpmbuild", "-bb", "--quiet", "--target", machine, "--define", f"_topdir {top}",
         str(top / "hearth.spec")],
        seconds,
    )  # fmt: skip
    (built,) = top.rglob("*.rpm")
    return Path(shutil.move(built, into / built.name))


def make_appimage(bundle: Path, into: Path, version: str, seconds: int) -> Path:
    """Make an AppImage, a single executable file. Raises BuildError without appimagetool."""
    tree = _system_tree(bundle, "Hearth.AppDir", version, seconds)
    write(tree / "AppRun", fill_in("AppRun", {}))
    (tree / "AppRun").chmod(0o755)
    shutil.copyfile(tree / f"usr/share/applications/{ID}.desktop", tree / f"{ID}.desktop")
    shutil.copyfile(tree / f"usr/share/icons/hicolor/256x256/apps/{ID}.png", tree / f"{ID}.png")
    (tree / ".DirIcon").symlink_to(f"{ID}.png")
    _normalise(tree, seconds)
    tool = shutil.which("appimagetool")
    if tool is None:
        raise BuildError(
            f"appimagetool is missing, which makes an AppImage of a folder. It lies in {tree}."
        )
    package = into / f"hearth-{version}-{platform.machine()}.AppImage"
    _run([tool, "--no-appstream", str(tree), str(package)], seconds)
    return package


def make_flatpak(_: Path, into: Path, version: str, __: int) -> Path:
    """Write the manifest for flatpak-builder, which packs the archive beside it.

    Raises BuildError without that archive.
    """
    archive = into / f"{_name(version)}.tar.xz"
    if not archive.is_file():
        raise BuildError("There is no archive to pack yet: build the target `tar` first.")
    with archive.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    manifest = into / f"{ID}.yaml"
    write(manifest, fill_in(manifest.name, {"@ARCHIVE@": archive.name, "@SHA256@": sha256}))
    return manifest


PACKAGES: Mapping[str, Callable[[Path, Path, str, int], Path]] = {
    "tar": make_tar,
    "deb": make_deb,
    "rpm": make_rpm,
    "appimage": make_appimage,
    "flatpak": make_flatpak,
}
"""The packages that can be made from a bundle, by the name of the target."""


def python_of(bundle: Path) -> Path:
    """Return the Python of the environment in which a bundle was made."""
    return bundle.parents[1] / "environment" / "bin" / "python"


def _name(version: str) -> str:
    return f"hearth-{version}-linux-{platform.machine()}"


def _system_tree(bundle: Path, name: str, version: str, seconds: int) -> Path:
    """Create the tree of files that a system package installs."""
    tree = _empty_folder(bundle, name)
    shutil.copytree(bundle, tree / "usr/lib/hearth", symlinks=True)
    _created(tree / "usr/bin").joinpath("hearth").symlink_to("../lib/hearth/hearth")
    make_share(tree / "usr/share", bundle, python_of(bundle), version, seconds)
    return tree


def _empty_folder(bundle: Path, name: str) -> Path:
    folder = bundle.parents[1] / name
    shutil.rmtree(folder, ignore_errors=True)
    return _created(folder)


def _created(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _normalise(tree: Path, seconds: int) -> None:
    """Give all files the same time, and modes that do not depend on the builder."""
    for path in [tree, *tree.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
        elif not path.is_symlink():
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (seconds, seconds), follow_symlinks=False)


def _owned_by_root(entry: tarfile.TarInfo, seconds: int) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = seconds
    if not entry.issym():
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def _kilobytes(tree: Path) -> int:
    """Return the disk space of the files in kilobytes, as Debian counts it."""
    sizes = (
        file.lstat().st_size for file in tree.rglob("*") if file.is_file() or file.is_symlink()
    )
    return sum(-(-size // 1024) for size in sizes)


def _file_list(tree: Path) -> Iterator[str]:
    """Yield the files of an .rpm, and the folders that belong only to Hearth."""
    for path in sorted(tree.rglob("*")):
        name = f"/{path.relative_to(tree).as_posix()}"
        if path.is_dir() and not path.is_symlink():
            if name.startswith(("/usr/lib/hearth", "/usr/share/licenses/hearth")):
                yield f'%dir "{name}"'
        else:
            yield f'"{name}"'


def _run(command: list[str], seconds: int) -> None:
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(seconds)}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
