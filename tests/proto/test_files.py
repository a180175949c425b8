"""Files that are written whole or not at all."""

from __future__ import annotations

import os

import pytest

from boxpresso import ModelError
from boxpresso.proto.files import replacing, write_text


def fail_in_the_middle(path, error):
    with replacing(path, "the report ") as part:
        part.write_text("half")
        raise error


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    for error, said in (
        (
            OSError(28, "No space left on device"),
            r"cannot write the report .*a\.txt: No space left on device; what was",
        ),
        (RuntimeError("unable to flush (file write failed)"), r"a\.txt: unable to flush; what was there before"),
        (KeyboardInterrupt("by hand"), "by hand"),
    ):
        with pytest.raises((ModelError, KeyboardInterrupt), match=said):
            fail_in_the_middle(path, error)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_it_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    order = []
    monkeypatch.setattr(os, "fsync", lambda fd: order.append("fsync"))
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda *paths: (order.append("replace"), replace(*paths)))
    write_text(tmp_path / "new" / "a.txt", "text")
    folder = ["fsync"] if os.name == "posix" else []  # Windows opens none
    assert order == ["fsync", "replace", *folder]
    order.clear()
    with replacing(tmp_path / "b.txt", lasting=False) as part:
        part.write_text("text")
    assert order == ["replace"]


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name != "posix", reason="links and devices are POSIX's")
def test_a_link_stays_one_and_a_device_is_not_replaced(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    (tmp_path / "link").symlink_to("a.txt")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.txt").read_text() == "new"
    with pytest.raises(ModelError, match="cannot write /dev/null: it is a device, not a regular file"):
        write_text("/dev/null", "text")
    with pytest.raises(ModelError, match=r"cannot write .*: it is a folder, not a regular file"):
        write_text(tmp_path, "text")
