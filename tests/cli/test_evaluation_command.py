"""`boxpresso test` of detections: on VOC folders, COCO files and a net's own data."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from drawn import voc_folder
from PIL import Image
from test_evaluation import FOUND, SOLVER, TRUTH, errors_are_lines  # noqa: F401
from tiny_ssd import TINY, picture, tiny_net, write_tiny

from boxpresso import Net
from boxpresso.__main__ import main

CELLS = {"a": (0, 0), "b": (1, 2), "c": (3, 3)}  # row and column of tiny_ssd's only cell that is blue


@pytest.fixture
def folder(tmp_path):
    """A VOC folder for tiny_ssd: in a and b what it finds is there, in c it is elsewhere, d has a difficult one."""
    box = lambda row, column: (8 * column + 1, 8 * row + 1, 8 * column + 8, 8 * row + 8)  # noqa: E731
    objects = {name: [("thing", 0, box(*cell))] for name, cell in CELLS.items()}
    objects["c"] = [("thing", 0, box(0, 0))]
    objects["d"] = [("thing", 1, box(2, 2))]
    root = voc_folder(tmp_path / "VOC", objects)
    for name, cell in {**CELLS, "d": (2, 2)}.items():
        Image.fromarray(picture(1, cell)).save(root / "JPEGImages" / f"{name}.jpg", "PNG")
        path = root / "Annotations" / f"{name}.xml"
        path.write_text(path.read_text().replace("<width>40", "<width>32").replace("<height>30", "<height>32"))
    (tmp_path / "labels.txt").write_text("background\nthing\n")
    return root


def run(folder, capsys, *words):
    files = write_tiny(folder.parent)
    status = main(["test", *files, "--device", "cpu", "--labels", str(folder.parent / "labels.txt"), *words])
    return status, capsys.readouterr()


def test_on_a_voc_folder(folder, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    status, out = run(folder, capsys, "--voc", str(folder), "--set", "train")
    lines = out.out.splitlines()
    assert status == 0
    assert lines[1].split()[:4] == ["thing", "3", "3", "2"]  # equal scores: a, b right, c wrong
    assert float(lines[1].split()[-1]) == pytest.approx(2 / 3, abs=1e-4)
    assert lines[3].split()[0] == "mean"
    assert "4 pictures" in lines
    rules = {line.split()[0]: line.split()[1] for line in lines if "overlap" in line}
    assert rules["VOC"] == "0.6667"
    assert rules["plain"] == "0.6875"  # with the difficult one, found after c: (1 + 1 + 3 / 4) / 4
    assert lines[-1] == f"curves in {tmp_path / 'tiny.caffemodel'}.curves.png"
    assert (tmp_path / "tiny.caffemodel.curves.png").stat().st_size > 5_000
    status, out = run(
        folder, capsys, "--voc", str(folder), "--json", "--method", "11point", "--curves", str(tmp_path / "here.png")
    )
    made = json.loads(out.out)
    assert made["classes"] == [
        dict(label=1, name="thing", truths=3, found=3, right=2, skipped=1, ap=pytest.approx(7 / 11, abs=1e-6))
    ]
    assert (made["pictures"], made["skipped"], made["curves"]) == (4, [], str(tmp_path / "here.png"))


def test_detections_are_saved_for_other_programs(folder, tmp_path, capsys):
    """VOC's files as its development kit reads them, and COCO's results with the ids of the annotations, by pycocotools."""
    words = ("--no-curves", "--save-detections", str(tmp_path / "det"))
    assert run(folder, capsys, "--voc", str(folder), *words)[0] == 0
    assert [path.name for path in (tmp_path / "det").iterdir()] == ["comp4_det_test_thing.txt"]
    rows = [line.split() for line in (tmp_path / "det" / "comp4_det_test_thing.txt").read_text().splitlines()]
    row, column = CELLS["b"]
    assert [name for name, *_ in rows] == ["a", "b", "c", "d"]
    np.testing.assert_allclose(
        [float(value) for value in rows[1][2:]], [8 * column + 1, 8 * row + 1, 8 * column + 8, 8 * row + 8], atol=0.11
    )
    coco = pytest.importorskip("pycocotools.coco")
    images = [{"id": 70 + i, "file_name": f"{name}.jpg", "width": 32, "height": 32} for i, name in enumerate("dcba")]
    boxes = [{"id": i, "image_id": 73, "category_id": 9, "bbox": [0, 0, 8, 8], "area": 64} for i in (1,)]
    path = tmp_path / "instances.json"
    path.write_text(json.dumps({"images": images, "annotations": boxes, "categories": [{"id": 9, "name": "thing"}]}))
    words = ("--no-curves", "--save-detections", str(tmp_path / "results.json"))
    assert run(folder, capsys, "--coco", str(folder / "JPEGImages"), str(path), *words)[0] == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert {(row["image_id"], row["category_id"]) for row in results} == {(70, 9), (71, 9), (72, 9), (73, 9)}
    assert len(coco.COCO(str(path)).loadRes(str(tmp_path / "results.json")).anns) == 4
    status, out = run(folder, capsys, "--save-detections", "x")
    assert (status, "give them by --voc, --coco or --data" in out.err) == (1, True)


def test_faults_are_saved_as_a_list(folder, tmp_path, capsys):
    """An annotation that lies elsewhere than what is seen: the detection comes first, then the object."""
    path = tmp_path / "faults.csv"
    assert run(folder, capsys, "--voc", str(folder), "--no-curves", "--save-faults", str(path))[0] == 0
    wrong, missed = list(csv.DictReader(path.read_text().splitlines()))
    row, column = CELLS["c"]
    assert (wrong["fault"], wrong["why"], wrong["class"]) == ("wrong", "nothing there", "thing")
    assert Path(wrong["picture"]).name == Path(missed["picture"]).name == "c.jpg"
    assert 0.5 < float(wrong["score"]) <= 1
    corners = [float(wrong[side]) for side in ("xmin", "ymin", "xmax", "ymax")]
    np.testing.assert_allclose(corners, [8 * column, 8 * row, 8 * column + 8, 8 * row + 8], atol=1.1)
    assert (missed["fault"], missed["why"], missed["score"], missed["near_class"]) == ("missed", "nothing near", "", "")
    assert [float(missed[side]) for side in ("xmin", "ymin", "xmax", "ymax")] == [0, 0, 8, 8]
    status, out = run(folder, capsys, "--save-faults", "x")
    assert (status, "--save-faults is of pictures" in out.err) == (1, True)


def test_pictures_that_were_trained_on(folder, tmp_path, capsys, monkeypatch):
    """The lists that `boxpresso new` writes: which pictures were learned, and a --set of others."""
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    files = write_tiny(tmp_path / "mine")
    words = ("--device", "cpu", "--labels", "labels.txt", "--no-curves", "--voc", "VOC")
    Path("mine/train.txt").write_text("VOC/JPEGImages/a.jpg\nVOC/JPEGImages/c.jpg\n")
    Path("mine/test.txt").write_text("VOC/JPEGImages/b.jpg\nVOC\\JPEGImages\\d.jpg\n")
    assert main(["test", *files, *words]) == 0
    out = capsys.readouterr()
    assert "2 of the 4 pictures were trained on" in out.err
    assert "the average precision is too good; test on others with --set" in out.err
    assert main(["test", *files, *words, "--set", "mine/test.txt", "--json"]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    assert (json.loads(out.out)["pictures"], json.loads(out.out)["mean"]) == (2, 1)


def test_broken_pictures_and_annotations_are_named(folder, capsys):
    (folder / "JPEGImages/a.jpg").write_bytes(b"no picture")
    (folder / "Annotations/b.xml").write_text("<annotation>")
    Image.fromarray(picture(2)).save(folder / "JPEGImages/d.jpg", "PNG")
    words = ("--voc", str(folder), "--no-curves")
    status, out = run(folder, capsys, *words)
    assert status == 0
    assert "1 pictures; 3 skipped" in out.out
    for message in ("a.jpg is not an image", "b.xml is not XML", "d.jpg is 64x64, its annotation is of 32x32"):
        assert f"{message}" in out.err
    assert out.err.count("skipped:") == 3
    status, out = run(folder, capsys, *words, "--strict")
    assert status == 1
    assert "error: " in out.err
    assert "a.jpg is not an image" in out.err
    (folder / "JPEGImages/c.jpg").unlink()
    status, out = run(folder, capsys, *words)
    assert status == 1
    assert "none of the 4 pictures" in out.err


def test_on_a_coco_file(folder, tmp_path, capsys):
    pytest.importorskip("pycocotools")
    things = [("a", (0, 0), 0), ("b", (1, 2), 0), ("c", (0, 0), 0), ("d", (2, 2), 1)]
    tables = {
        "images": [
            {"id": 90 - i, "file_name": f"{name}.jpg", "width": 32, "height": 32}
            for i, (name, _, _) in enumerate(things)
        ],
        "categories": [{"id": 18, "name": "thing"}],
        "annotations": [
            {"image_id": 90 - i, "category_id": 18, "bbox": [8 * x, 8 * y, 8, 8], "iscrowd": crowd, "area": 50}
            for i, (_, (y, x), crowd) in enumerate(things)
        ],
    }
    path = tmp_path / "things.json"
    path.write_text(json.dumps(tables))
    words = ("--coco", str(folder / "JPEGImages"), str(path), "--no-curves")
    status, out = run(folder, capsys, *words, "--json")
    made = json.loads(out.out)
    assert status == 0
    assert made["classes"][0]["ap"] == pytest.approx(2 / 3, abs=1e-6)
    assert made["classes"][0]["coco_ap"] == pytest.approx(67 / 101, abs=1e-6)  # recalls to 0.66
    assert made["coco"]["AP small"] == made["coco"]["AP"]
    assert made["coco"]["AP large"] is None
    (folder / "JPEGImages/a.jpg").unlink()
    status, out = run(folder, capsys, *words)
    assert "3 pictures; 1 skipped" in out.out
    assert out.out.splitlines()[1].split() == ["thing", "2", "2", "1", "0.5000", "0.5000", "0.5050"]
    (tmp_path / "labels.txt").write_text("background\nother\n")
    status, out = run(folder, capsys, *words)
    assert status == 1
    assert "does not name the classes thing" in out.err


def test_on_its_own_data(tmp_path, capsys):
    """HDF5 keeps two batches, of which the second has no detections; in Caffe's words."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        none = np.full((10, 7), -1.0)
        none[:, 0] = 0
        file["found"] = np.array([FOUND, none], np.float32)[:, None]
        file["truth"] = np.array([TRUTH, np.full((12, 8), -1)], np.float32)[:, None]
    (tmp_path / "list.txt").write_text(str(tmp_path / "rows.h5"))
    data = f'layer {{ name: "in" type: "HDF5Data" top: "found" top: "truth" hdf5_data_param {{ source: "{tmp_path / "list.txt"}" batch_size: 1 }} }}'
    judge = SOLVER[SOLVER.index('layer { name: "judge"') : SOLVER.rindex("}")]
    (tmp_path / "test.prototxt").write_text(data + judge)
    (tmp_path / "labels.txt").write_text("background\ncat\ndog\ncow\n")
    Net(tmp_path / "test.prototxt", device="cpu").save(tmp_path / "none.caffemodel")
    files = [
        "-model",
        str(tmp_path / "test.prototxt"),
        "-weights",
        str(tmp_path / "none.caffemodel"),
        "-iterations",
        "2",
    ]
    words = ["--labels", str(tmp_path / "labels.txt"), "--no-curves"]
    assert main(["test", *files, *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["cat", "10", "7", "7", "0.7000", "0.7000"],
        ["dog", "2", "3", "2", "1.0000", "0.6667"],
        ["cow", "0", "0", "0", "-", "-"],
    ]
    assert main(["test", *files, *words, "--json", "--method", "Integral"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["output"] == "detection_eval"
    assert made["mean"] == pytest.approx((0.7 + 7 / 12) / 2, abs=1e-6)


def test_wrong_use(folder, tmp_path, capsys):
    status, out = run(folder, capsys, "--voc", "x", "--coco", "x", "y")
    assert status == 1
    assert "exclude each other" in out.err
    status, out = run(folder, capsys, "--voc", str(folder / "Annotations"))
    assert (status, "has no folder JPEGImages" in out.err, "--data reads folders of other forms" in out.err) == (
        1,
        True,
        True,
    )
    model, weights = write_tiny(tmp_path)
    assert main(["test", model]) == 2
    assert "give the weights" in capsys.readouterr().err
    assert main(["test", model, weights, "--model", model]) == 2
    assert "name only once the model" in capsys.readouterr().err
    assert main(["test", model, weights, "--voc", str(folder)]) == 1
    assert "the net has 2 classes with the background, the annotations are of 20" in capsys.readouterr().err
    assert main(["test", model, weights, "--json"]) == 1
    assert "has 0 such outputs" in capsys.readouterr().err
    headless = tmp_path / "headless.prototxt"
    headless.write_text(TINY[: TINY.index('layer { name: "found"')])
    tiny_net().save(weights)
    assert main(["test", str(headless), weights, "--voc", str(folder)]) == 1
    assert "leave out --voc" in capsys.readouterr().err
