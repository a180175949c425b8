"""The lists of WIDER FACE: read, converted, and as a data set of RoIData and of `boxpresso new`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn import picture
from harness import Rig

from boxpresso.data.convert import convert
from boxpresso.data.errors import DataError
from boxpresso.data.folders import read_wider
from boxpresso.data.picture import encode
from boxpresso.data.records import boxes_of, open_records, parse
from boxpresso.proto import AnnotatedDatum
from boxpresso.recipes import folders

FACES = {  # x, y, width, height, blur, expression, illumination, invalid, occlusion, pose
    "0--Parade/a 1.jpg": ["2 3 10 12 0 0 0 0 0 0", "20 4 8 8 2 0 0 1 0 0"],
    "1--Riot/b.jpg": [],
    "1--Riot/c.jpg": ["30 20 30 30 0 0 0 0 0 0", "5 5 0 9 0 0 0 0 0 0", "1 2 3 4"],
}


def folder(root: Path, splits: tuple[str, ...] = ("train", "val")) -> Path:
    (root / "wider_face_split").mkdir(parents=True)
    for split in splits:
        text = ""
        for i, (name, faces) in enumerate(FACES.items()):
            path = root / f"WIDER_{split}" / "images" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encode(picture(i, 30, 40), "PNG"))
            text += "\n".join([name, str(len(faces)), *(faces or ["0 0 0 0 0 0 0 0 0 0"])]) + " \n"
        (root / "wider_face_split" / f"wider_face_{split}_bbx_gt.txt").write_text(text)
    return root


def test_scenes(tmp_path):
    root = folder(tmp_path / "wider")
    scenes, names = read_wider(root, "train")
    assert names == {1: "face"}
    assert [scene.path.name for scene in scenes] == ["a 1.jpg", "b.jpg", "c.jpg"]
    assert [scene.wrong for scene in scenes] == ["", "", ""]
    assert [(s.width, s.height, s.labels, s.difficult) for s in scenes] == [
        (40, 30, [1, 1], [False, True]), (40, 30, [], []), (40, 30, [1, 1], [False, False]),
    ]  # fmt: skip
    np.testing.assert_array_equal(scenes[0].corners, [[2, 3, 12, 15], [20, 4, 28, 12]])
    np.testing.assert_array_equal(scenes[2].corners, [[30, 20, 40, 30], [1, 2, 4, 6]])  # cut; one has no width
    assert len(read_wider(root)[0]) == 6
    alone = read_wider(root / "wider_face_split" / "wider_face_val_bbx_gt.txt")[0]
    assert [scene.path.parts[-4] for scene in alone] == ["WIDER_val"] * 3


def test_what_is_wrong_is_named(tmp_path):
    root = folder(tmp_path / "wider", ("train",))
    path = root / "wider_face_split" / "wider_face_train_bbx_gt.txt"
    with pytest.raises(DataError, match=r"no wider_face_val_bbx_gt\.txt.*splits there: train"):
        read_wider(root, "val")
    with pytest.raises(DataError, match="there is no folder"):
        read_wider(root / "none")
    (root / "WIDER_train" / "images" / "1--Riot" / "b.jpg").write_bytes(b"nothing")
    (root / "WIDER_train" / "images" / "1--Riot" / "c.jpg").unlink()
    wrong = [scene.wrong for scene in read_wider(root, "train")[0]]
    assert wrong[0] == ""
    assert "b.jpg" in wrong[1]
    assert wrong[2].startswith("there is no picture")
    (root / "secret.png").write_bytes(encode(picture(0, 9, 9), "PNG"))
    path.write_text("../../secret.png\n0\n")
    (scene,) = read_wider(root, "train")[0]
    assert "leads out of the folder" in scene.wrong
    for text, match in [
        ("a.jpg\n1\n", "a.jpg has 1 faces, and the list ends after 0"), ("a.jpg\n2 3 4\n", "line 2: the number of faces of the picture"),
        ("a.jpg\n1\n1 2 x 3\n", "line 3: it must be `x y width height"), ("a.jpg", "line 2: the number"), ("\n", "is empty"),
    ]:  # fmt: skip
        path.write_text(text)
        with pytest.raises(DataError, match=match):
            read_wider(root, "train")


def test_converted(tmp_path):
    pytest.importorskip("lmdb")
    report = convert("wider", folder(tmp_path / "wider"), tmp_path / "db", split="train")
    assert (report.pictures, report.boxes, report.skipped, report.labels) == (3, 4, [], {1: "face"})
    record = parse(AnnotatedDatum(), open_records(str(tmp_path / "db"))[0], "first")
    np.testing.assert_allclose(boxes_of(record)[:, 2:6], [[2 / 40, 0.1, 0.3, 0.5], [0.5, 4 / 30, 0.7, 0.4]], rtol=1e-6)


def test_roi_data_reads_it(tmp_path):
    root = folder(tmp_path / "wider")
    param = f"{{'source': '{root}', 'split': 'train', 'scales': [30], 'max_size': 100, 'means': [0, 0, 0], 'num_classes': 2}}"
    rig = Rig(f'type: "RoIData" python_param {{ param_str: "{param}" }}', [], tops=3, phase="TEST")
    data, info, boxes = rig.forward()
    np.testing.assert_array_equal(data[0], picture(0, 30, 40).transpose(2, 0, 1))
    assert info.tolist() == [[30, 40, 1]]
    assert boxes.tolist() == [[2, 3, 11, 14, 1]]  # the last pixel is inside; the invalid one is left out


def test_new_recognises_it(tmp_path):
    root = folder(tmp_path / "wider")
    assert folders.recognise(root) == "wider"
    pictures = folders.read(root, "wider")
    split = folders.choose(pictures, None, 1)
    assert split.origin == "its own split: train and val"
    assert [len(split.train), len(split.test)] == [3, 3]
    assert folders.settle(pictures, split, []) == ["face"]
