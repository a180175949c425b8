"""Folders of pictures from elsewhere: nothing outside them is read, nothing blocks, and what is wrong is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from boxpresso.data.coco import read_dataset
from boxpresso.data.errors import DataError
from boxpresso.data.folders import read_coco, read_voc, read_wider, read_yolo
from boxpresso.recipes import folders

COCO = {
    "images": [{"id": 1, "file_name": "a.png", "width": 9, "height": 12}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 5, 7]}],
    "categories": [{"id": 3, "name": "cat"}],
}
BOX = "<object><name>cat</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>6</xmax><ymax>9</ymax></bndbox></object>"


def picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.zeros((12, 9, 3), np.uint8)).save(path)
    return path


def coco(root: Path, **changes: object) -> Path:
    picture(root / "train/a.png")
    path = root / "annotations/instances_train.json"
    path.parent.mkdir()
    path.write_text(json.dumps({**COCO, **changes}))
    return path


def voc(root: Path, annotation: str = f"<annotation>{BOX}</annotation>", split: str = "a\n") -> Path:
    picture(root / "JPEGImages/a.png")
    for name, text in (("Annotations/a.xml", annotation), ("ImageSets/Main/trainval.txt", split)):
        path = root / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return root


def test_a_name_that_no_file_can_have_is_named(tmp_path):
    long, rest = "a" * 5000, {"annotations": []}
    scene, good = read_voc(voc(tmp_path / "voc", split=f"{long}\na\n"), "trainval", ["cat"])
    assert "there is no picture" in scene.wrong
    assert not good.wrong
    coco(tmp_path / "coco", images=[{**COCO["images"][0], "file_name": long}], **rest)
    ((scene,), _) = read_coco(tmp_path / "coco", "train")
    assert "there is no picture" in scene.wrong
    path = tmp_path / "wider_face_split" / "wider_face_train_bbx_gt.txt"
    path.parent.mkdir()
    path.write_text(f"{long}\n0\n")
    ((scene,), _) = read_wider(path)
    assert "there is no picture" in scene.wrong


@pytest.mark.parametrize("name", ["../secret.png", "/{0}/secret.png", "train/../../secret.png"])
def test_names_of_coco_stay_in_the_folder(name, tmp_path):
    picture(tmp_path / "secret.png")
    root = tmp_path / "data"
    coco(root, images=[{**COCO["images"][0], "file_name": name.format(tmp_path)}])
    (scene,), _ = read_coco(root, "train")
    assert "leads out of the folder" in scene.wrong or "there is no picture" in scene.wrong  # below it there is none
    (scene,), _ = read_coco(root, "train", root / "train")
    assert "leads out of the folder" in scene.wrong


def test_a_name_that_comes_back_is_good(tmp_path):
    coco(tmp_path, images=[{**COCO["images"][0], "file_name": "../train/a.png"}])
    (scene,), _ = read_coco(tmp_path, "train")
    assert not scene.wrong


def test_names_of_voc_stay_in_the_folder(tmp_path):
    picture(tmp_path / "secret.png")
    root = voc(tmp_path / "data", split="../../secret\na\n")
    (tmp_path / "secret.xml").write_text(f"<annotation>{BOX}</annotation>")
    outside, good = read_voc(root, "trainval", ["cat"])
    assert "leads out of the folder" in outside.wrong
    assert not good.wrong


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": [{"id": 1, "file_name": "a.png", "width": "wide"}]}, "not a COCO file of instances: ValueError"),
        ({"images": [{"id": 1, "file_name": "a.png", "width": 1e999}]}, "not a COCO file of instances: OverflowError"),
        ({"images": ["a.png"]}, "not a COCO file of instances: AttributeError"),
        ({"annotations": [7]}, "not a COCO file of instances: AttributeError"),
        ({"categories": [{"id": 1}]}, "not a COCO file of instances: KeyError"),
        ({"categories": [{"id": [1], "name": "x"}]}, "not a COCO file of instances: TypeError"),
    ],
)
def test_a_wrong_table_is_named(changes, message, tmp_path):
    coco(tmp_path, **changes)
    for read in (lambda: read_coco(tmp_path, "train"), lambda: folders.read(tmp_path, "coco")):
        with pytest.raises(DataError, match=message):
            read()


@pytest.mark.parametrize(
    ("bbox", "more"),
    [
        ([1, 2, 3], {}),
        ([1, 2, None, 4], {}),
        ("box", {}),
        ([1, 2, float("nan"), 4], {}),
        ([1, 2, 3, 4], {"area": "large"}),
    ],
)
def test_wrong_boxes_never_reach_the_evaluation(bbox, more, tmp_path):
    path = coco(tmp_path, annotations=[{**COCO["annotations"][0], "bbox": bbox, **more}])
    with pytest.raises(DataError, match="not a COCO file of instances"):
        read_dataset(path, [0], {1: 1})


def test_a_crowd_of_any_number_is_a_crowd(tmp_path):
    path = coco(tmp_path, annotations=[{**COCO["annotations"][0], "iscrowd": 2**40}])
    assert read_dataset(path, [0], {1: 1})["annotations"][0]["iscrowd"] == 1


def test_deep_json_is_refused(tmp_path):
    coco(tmp_path).write_text("[" * 200_000)
    with pytest.raises(DataError, match="RecursionError"):
        read_coco(tmp_path, "train")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_does_not_block(tmp_path):
    root = voc(tmp_path)
    (root / "Annotations/a.xml").unlink()
    os.mkfifo(root / "Annotations/a.xml")
    (scene,) = read_voc(root, "trainval", ["cat"])
    assert "it is a pipe, not a regular file" in scene.wrong
    assert folders.voc_classes(root / "Annotations") == set()


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("<?xml version='1.0' encoding='no-such'?><a/>", "is not XML"),
        (
            f"<annotation><size><width>1e999</width><height>1</height></size>{BOX}</annotation>",
            "is not a finite number",
        ),
        ("<a>" * 100_000, "is not XML"),
    ],
)
def test_wrong_annotations_are_named(annotation, message, tmp_path):
    (scene,) = read_voc(voc(tmp_path, annotation), "trainval", ["cat"])
    assert message in scene.wrong


def test_entities_do_not_multiply(tmp_path):
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 20}">' for i in range(1, 9))
    text = (
        f'<!DOCTYPE a [<!ENTITY e0 "xxxxxxxxxx">{entities}]><annotation><object><name>&e8;</name></object></annotation>'
    )
    (scene,) = read_voc(voc(tmp_path, text), "trainval", ["cat"])
    assert "is not XML" in scene.wrong


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"inf 0.5 0.5 0.4 0.6", "class inf is none"),
        (b"nan 0.5 0.5 0.4 0.6", "class nan is none"),
        (b"\xff\xfe 1", "not a text"),
    ],
)
def test_wrong_lines_of_yolo_are_named(line, message, tmp_path):
    picture(tmp_path / "images/a.png")
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels/a.txt").write_bytes(line)
    (scene,), _ = read_yolo(tmp_path)
    assert message in scene.wrong


def test_a_split_that_is_no_text_is_refused(tmp_path):
    root = voc(tmp_path)
    (root / "ImageSets/Main/trainval.txt").write_bytes(b"\xff\xfea")
    with pytest.raises(DataError, match=r"is not a text in UTF-8.*; splits there: trainval"):
        read_voc(root, "trainval")
