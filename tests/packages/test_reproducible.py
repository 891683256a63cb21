"""Two builds of one commit have the same contents, in another folder, at another time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from installers import build
from tests.packages.comparing import copy_of_the_tree, differences

MAY_DIFFER: dict[str, str] = {}
"""Files of the bundle that may differ between two builds, by their names, with the reason."""


def test_what_differs_between_two_folders_is_named(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        (folder / "within").mkdir(parents=True)
        (folder / "within" / "same").write_text("same", encoding="utf-8")
        (folder / "link").symlink_to("within/same")
        for path in (folder, *folder.rglob("*")):
            os.utime(path, (0, 0), follow_symlinks=False)
    assert differences(one, other) == []
    (other / "within" / "same").chmod(0o700)
    (one / "link").unlink()
    (one / "link").symlink_to("elsewhere")
    (one / "alone").write_text("", encoding="utf-8")
    names = [it.partition(":")[0] for it in differences(one, other)]
    assert names == ["alone", "link", "within/same"]


@pytest.mark.packages
@pytest.mark.timeout(1500)
@pytest.mark.skipif(sys.platform != "linux", reason="a .deb is built")
def test_a_bundle_and_its_deb_are_the_same_when_they_are_built_again_elsewhere(
    tmp_path: Path,
) -> None:
    """The first build is the one that the other tests of packages use."""
    if "HEARTH_PACKAGES" not in os.environ:
        pytest.skip("HEARTH_PACKAGES names no packages; `python3 run.py test --packages` does")
    if not build.BUNDLE.is_dir():
        pytest.skip("the packages were not built here")
    wheel = build.llama_wheel(None)
    tree = copy_of_the_tree(build.ROOT, tmp_path / "a tree elsewhere")
    for numpy in build.WORK.glob("numpy-*/"):  # like llama.cpp, it takes long to compile
        shutil.copytree(numpy, tree / numpy.relative_to(build.ROOT))
    again = [sys.executable, str(tree / "installers" / "build.py"), "deb", "--llama", str(wheel)]
    # Times, languages and hashes of names differ from those of the first build.
    changed = {"TZ": "Pacific/Apia", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    made_at = {"SOURCE_DATE_EPOCH": str(build.epoch())}
    subprocess.run(again, check=True, env={**os.environ, **changed, **made_at}, umask=0o077)
    second = tree / build.BUNDLE.relative_to(build.ROOT)
    found = differences(build.BUNDLE, second)
    assert [it for it in found if it.partition(":")[0] not in MAY_DIFFER] == []
    (deb,) = (tree / "installers" / "dist").glob("*.deb")
    assert MAY_DIFFER or deb.read_bytes() == (build.DIST / deb.name).read_bytes()
