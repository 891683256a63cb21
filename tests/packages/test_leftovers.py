"""The differences of a folder before and after."""

from __future__ import annotations

from pathlib import Path

from tests.packages.leftovers import compare, listed, naming


def test_each_way_of_leaving_something_behind_is_seen(tmp_path: Path) -> None:
    (tmp_path / "var" / "log").mkdir(parents=True)
    for name in ("kept", "taken", "opened"):
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("kept")
    before = listed(tmp_path)
    assert not compare(before, listed(tmp_path))

    (tmp_path / "taken").unlink()
    (tmp_path / "opened").chmod(0o666)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("taken")
    (tmp_path / "empty").mkdir()
    (tmp_path / "var" / "log" / "messages").write_text("written by the system")
    found = compare(before, listed(tmp_path))
    assert found.added == ("/empty",)
    assert found.gone == ("/taken",)
    assert found.changed == ("/link", "/opened")


def test_a_folder_can_be_left_out_and_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "home" / "friend").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "home").symlink_to(tmp_path / "home")
    assert set(listed(tmp_path, ("/home/friend",))) == {"/home", "/etc", "/etc/home"}


def test_a_list_that_still_names_a_package_is_found(tmp_path: Path) -> None:
    (tmp_path / "usr" / "share").mkdir(parents=True)
    (tmp_path / "usr" / "share" / "types").write_text("gguf=hearth.desktop")
    (tmp_path / "usr" / "share" / "others").write_text("gguf=other.desktop")
    assert naming(tmp_path, "hearth", ("/usr/share",)) == ["/usr/share/types"]
