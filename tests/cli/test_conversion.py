"""`boxpresso convert` and `boxpresso mean`."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import coco_folder, datum_lmdb, picture, voc_folder

from boxpresso.__main__ import main
from boxpresso.data.records import open_records
from boxpresso.proto.binary import read_mean


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch):
    """Also where the tests run with BOXPRESSO_DEBUG, which lets errors through."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)


pytest.importorskip("lmdb")


def call(capsys, *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return status, out, err


def test_convert(tmp_path, capsys):
    root = voc_folder(tmp_path / "voc", {"a": [("cat", 0, (5, 3, 20, 18))], "b": [("cow", 0, (5, 3, 20, 18))]})
    (tmp_path / "names.txt").write_text("background\ncat\n")
    status, out, err = call(
        capsys,
        "convert",
        "voc",
        root,
        tmp_path / "db",
        "--split",
        "train",
        "--classes",
        tmp_path / "names.txt",
        "--size",
        "20x10",
    )
    assert status == 0
    assert "1 pictures, 1 boxes; 1 skipped" in out
    assert "warning: skipped: " in err
    assert "'cow' is none of the 1 classes" in err
    assert len(open_records(str(tmp_path / "db"))) == 1
    status, out, err = call(capsys, "convert", "voc", root, tmp_path / "db")
    assert status == 1
    assert "exists already" in err
    assert call(capsys, "convert", "voc", root, tmp_path / "x", "--classes", tmp_path / "names.txt", "--strict")[0] == 1
    assert not (tmp_path / "x").exists()
    assert (
        call(capsys, "convert", "coco", coco_folder(tmp_path / "coco"), tmp_path / "y", "--shuffle", "--raw", "--gray")[
            0
        ]
        == 0
    )
    assert call(capsys, "convert", "word", root, tmp_path / "z")[0] == 2


def test_what_cannot_be_written_or_drawn(tmp_path, capsys):
    root, blocked = coco_folder(tmp_path / "coco"), tmp_path / "file"
    blocked.write_text("x")
    status, _, err = call(capsys, "convert", "coco", root, blocked / "db")
    assert (status, "fault of Boxpresso" in err, f"cannot write the LMDB {blocked / 'db'}: " in err) == (1, False, True)
    for words in (
        ("convert", "coco", root, tmp_path / "db", "--shuffle", "-5"),
        ("new", "ssd", "--data", root, "--seed", "-5"),
    ):
        status, _, err = call(capsys, *words)
        assert (status, "'-5' is not a whole number from 0" in err) == (2, True)


def test_pictures_in_a_folder_of_each_class_have_no_splits(tmp_path, capsys):
    assert main(["convert", "images", str(tmp_path), str(tmp_path / "lmdb"), "--split", "val"]) == 1
    assert "has no splits, such as 'val'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--mean", "nan"), ("--mean", "1,inf,2"), ("--scale", "0"), ("--scale", "0/5")])
def test_pictures_of_which_nothing_would_be_left(words, capsys):
    status, _, err = call(capsys, "detect", "a.prototxt", "a.caffemodel", "a.png", *words)
    assert (status, "is not finite" in err or "leaves nothing of a picture" in err) == (2, True)


def test_mean(tmp_path, capsys):
    status, out, _ = call(capsys, "mean", datum_lmdb(tmp_path / "db", 4), tmp_path / "mean.binaryproto")
    assert status == 0
    wanted = np.mean([picture(i) for i in range(4)], axis=0)
    shown = [float(line.split()[1]) for line in out.splitlines() if line.startswith("mean_value:")]
    np.testing.assert_allclose(shown, wanted.mean((0, 1)), rtol=1e-4)
    np.testing.assert_allclose(read_mean(tmp_path / "mean.binaryproto"), wanted.transpose(2, 0, 1), rtol=1e-5)
    status, _, err = call(capsys, "mean", "/nowhere/db")
    assert status == 1
    assert "there is no LMDB at '/nowhere/db'" in err
