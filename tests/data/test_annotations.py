"""Annotations as programs for labelling write them, told by what is in them: each writer here makes the same pictures of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from boxpresso.data.annotations import Files, kinds_in, rotated, studio_path
from boxpresso.data.convert import Options, stored
from boxpresso.data.errors import BrokenRecord, DataError
from boxpresso.recipes import folders

# name: (width, height, objects), objects of whole pixels: class, xmin, ymin, xmax, ymax
TRUTH: dict[str, tuple[int, int, list[tuple[str, int, int, int, int]]]] = {
    "one": (40, 30, [("cat", 4, 2, 20, 18), ("big dog", 0, 0, 40, 30)]),
    "two": (64, 20, [("cat", 10, 5, 30, 15)]),
    "three": (30, 50, [("big dog", 1, 2, 21, 42)]),
}


def pictures(folder: Path, ending: str = ".png") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, (width, height, _) in TRUTH.items():
        Image.new("RGB", (width, height), "gray").save(folder / f"{name}{ending}")


def voc_xml(name: str, picture: str) -> str:
    width, height, objects = TRUTH[name]
    things = "".join(
        f"<object><name>{label}</name><bndbox><xmin>{a + 1}</xmin><ymin>{b + 1}</ymin><xmax>{c}</xmax><ymax>{d}</ymax></bndbox>"
        "</object>"
        for label, a, b, c, d in objects
    )
    size = f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
    return f"<annotation><folder>x</folder><filename>{picture}</filename>{size}{things}</annotation>"


def voc_elsewhere(root: Path) -> None:
    pictures(root / "images")
    (root / "annotations").mkdir()
    for name in TRUTH:  # two names that the pictures do not have any more
        (root / f"annotations/{name}.xml").write_text(voc_xml(name, "IMG_1.jpg" if name == "one" else f"{name}.png"))


def voc_beside(root: Path) -> None:
    pictures(root)
    for name in TRUTH:
        (root / f"{name}.xml").write_text(voc_xml(name, f"C:\\photos\\{name}.png"))


def coco_of(paths: dict[str, str]) -> dict[str, Any]:
    labels = ["cat", "big dog"]
    return {
        "images": [
            {"id": i, "file_name": paths[name], "width": TRUTH[name][0], "height": TRUTH[name][1]}
            for i, name in enumerate(TRUTH)
        ],
        "categories": [{"id": 7 * i + 1, "name": label} for i, label in enumerate(labels)],
        "annotations": [
            {"id": 10 * i + j, "image_id": i, "category_id": 7 * labels.index(label) + 1, "bbox": [a, b, c - a, d - b]}
            for i, name in enumerate(TRUTH)
            for j, (label, a, b, c, d) in enumerate(TRUTH[name][2])
        ],
    }


def coco_elsewhere(root: Path) -> None:
    pictures(root / "photos/2019")
    tables = coco_of({name: f"/home/somebody/photos/2019/{name}.png" for name in TRUTH})
    (root / "result.json").write_text(json.dumps(tables))


def yolo_lines(name: str) -> str:
    width, height, objects = TRUTH[name]
    return "".join(
        f"{int(label == 'cat')} {(a + c) / 2 / width} {(b + d) / 2 / height} {(c - a) / width} {(d - b) / height}\n"
        for label, a, b, c, d in objects
    )


def yolo_elsewhere(root: Path) -> None:
    pictures(root / "photos", ".jpg")
    (root / "labels").mkdir()
    (root / "labels/classes.txt").write_text("big dog\ncat\n")
    for name in TRUTH:
        (root / f"labels/{name}.txt").write_text(yolo_lines(name))


CSV = "filename,width,height,class,xmin,ymin,xmax,ymax"  # of TensorFlow's tutorials


def csv_named(root: Path) -> None:
    pictures(root / "images")
    rows = [
        f"{n}.png,{w},{h},{o[0]},{','.join(map(str, o[1:]))}" for n, (w, h, objects) in TRUTH.items() for o in objects
    ]
    (root / "boxes.csv").write_text("\n".join([CSV, *rows]) + "\n")


def csv_without_names(root: Path) -> None:
    pictures(root / "images")
    rows = [
        f"images/{n}.png,{','.join(map(str, o[1:]))},{o[0]}" for n, (_, _, objects) in TRUTH.items() for o in objects
    ]
    (root / "annotations.csv").write_text("\n".join(rows))


def csv_in_parts(root: Path) -> None:
    """As Open Images has them: names without an ending, semicolons of a spreadsheet."""
    pictures(root)
    rows = [
        f"{n};human;{label};1;{a / w};{c / w};{b / h};{d / h}"
        for n, (w, h, objects) in TRUTH.items()
        for label, a, b, c, d in objects
    ]
    (root / "t.csv").write_text("\n".join(["\ufeffImageID;Source;LabelName;Confidence;XMin;XMax;YMin;YMax", *rows]))


def csv_of_sizes(root: Path) -> None:
    pictures(root)
    rows = [f"{n}.png,{o[0]},{o[1]},{o[2]},{o[3] - o[1]},{o[4] - o[2]}" for n, t in TRUTH.items() for o in t[2]]
    (root / "t.csv").write_text("\n".join(["image_path,label,x,y,width,height", *rows]))


def labelme(root: Path) -> None:
    pictures(root)
    for name, (_, _, objects) in TRUTH.items():
        shapes: list[dict[str, Any]] = [{"label": "eye", "points": [[3, 3]], "shape_type": "point"}]
        for i, (label, a, b, c, d) in enumerate(objects):
            kind = "polygon" if i else "rectangle"
            points = [[a, b], [c, (b + d) / 2], [a, d]] if i else [[c, d], [a, b]]  # drawn from the lower right corner
            shapes.append({"label": label, "points": points, "shape_type": kind, "flags": {}})
        value = {
            "version": "5.0.1",
            "flags": {},
            "shapes": shapes,
            "imagePath": f"..\\raw\\{name}.png",
            "imageData": None,
        }
        (root / f"{name}.json").write_text(json.dumps(value))


def cvat(root: Path) -> None:
    pictures(root / "images")
    text = "<annotations><version>1.1</version><meta/>"
    for i, (name, (width, height, objects)) in enumerate(TRUTH.items()):
        text += (
            f'<image id="{i}" name="{name}.png" width="{width}" height="{height}"><points label="eye" points="1,2"/>'
        )
        for j, (label, a, b, c, d) in enumerate(objects):
            if j:
                text += f'<polygon label="{label}" points="{a:.2f},{b:.2f};{c:.2f},{b:.2f};{c:.2f},{d:.2f}"/>'
            else:
                text += f'<box label="{label}" occluded="0" xtl="{a}" ytl="{b}" xbr="{c}" ybr="{d}" z_order="0"><attribute/></box>'
        text += "</image>"
    (root / "annotations.xml").write_text(text + "</annotations>")


def studio(root: Path) -> None:
    pictures(root / "pictures")
    tasks = []
    for i, (name, (w, h, objects)) in enumerate(TRUTH.items()):
        result = [
            {
                "type": "rectanglelabels",
                "original_width": w,
                "original_height": h,
                "value": {
                    "x": 100 * a / w, "y": 100 * b / h, "width": 100 * (c - a) / w, "height": 100 * (d - b) / h, "rotation": 0,
                    "rectanglelabels": [label],
                },
            }
            for label, a, b, c, d in objects
        ]  # fmt: skip
        cancelled = {"was_cancelled": True, "result": []}
        tasks.append({
            "id": i, "data": {"image": f"/data/upload/3/0a1b2c3d-{name}.png"}, "annotations": [{"result": result}, cancelled],
        })  # fmt: skip
    (root / "project-3-at-2024.json").write_text(json.dumps(tasks))


def studio_min(root: Path) -> None:
    studio(root)
    path = root / "project-3-at-2024.json"
    tasks = json.loads(path.read_text())
    entries = [
        {"image": f"/data/local-files/?d=photos/{Path(t['data']['image']).name[9:]}", "id": t["id"], "annotator": 1, "label": [
            {"original_width": r["original_width"], "original_height": r["original_height"], **r["value"]}
            for r in t["annotations"][0]["result"]
        ]}
        for t in tasks
    ]  # fmt: skip
    path.write_text(json.dumps(entries))


WRITERS: list[tuple[str, Callable[[Path], None]]] = [
    ("voc", voc_elsewhere), ("voc", voc_beside), ("coco", coco_elsewhere), ("yolo", yolo_elsewhere), ("csv", csv_named),
    ("csv", csv_without_names), ("csv", csv_in_parts), ("csv", csv_of_sizes), ("labelme", labelme), ("cvat", cvat),
    ("labelstudio", studio), ("labelstudio", studio_min),
]  # fmt: skip


@pytest.mark.parametrize(("format", "write"), WRITERS, ids=[write.__name__ for _, write in WRITERS])
def test_a_folder_is_told_by_its_files(format, write, tmp_path):
    write(tmp_path)
    Image.new("RGB", (9, 9)).save(next(tmp_path.rglob("one.*")).with_name("unseen.png"))
    assert folders.recognise(tmp_path) == format
    read = folders.read(tmp_path, format)
    assert list(read.splits) == [""]
    seen = {picture.scene.path.stem: picture for picture in read.splits[""] if picture.scene.path.stem != "unseen"}
    assert seen.keys() == TRUTH.keys()
    for name, (width, height, objects) in TRUTH.items():
        scene = seen[name].scene
        assert (scene.wrong, scene.width, scene.height) == ("", width, height)
        assert seen[name].classes == [label for label, *_ in objects]
        np.testing.assert_allclose(
            scene.corners, [corners for _, *corners in objects], atol=1e-6 if format != "cvat" else 0.01
        )
        assert len(scene.labels) == len(scene.difficult) == len(objects)
    assert [path.name for path in read.without] == ([] if format == "yolo" else ["unseen.png"])


def test_splits_by_the_names_of_folders(tmp_path):
    """Roboflow's folders of VOC and LabelMe, with equal names of pictures in two splits."""
    for split in ("train", "valid"):
        labelme(tmp_path / split)
    read = folders.read(tmp_path, folders.recognise(tmp_path))
    assert {split: len(rows) for split, rows in read.splits.items()} == {"train": 3, "valid": 3}
    for split, rows in read.splits.items():
        assert {picture.scene.path.parent.name for picture in rows} == {split}


def test_splits_of_a_column(tmp_path):
    csv_named(tmp_path)
    path = tmp_path / "boxes.csv"
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join([f"{lines[0]},split", *(f"{line},{'test' if 'two' in line else 'train'}" for line in lines[1:])])
    )
    read = folders.read(tmp_path, "csv")
    assert {split: len(rows) for split, rows in read.splits.items()} == {"train": 2, "test": 1}


def test_one_file_is_given(tmp_path):
    csv_named(tmp_path)
    voc_elsewhere(tmp_path)
    assert folders.recognise(tmp_path) == "voc"  # a table beside other annotations is made from these
    assert folders.recognise(tmp_path / "boxes.csv") == "csv"
    assert sum(map(len, folders.read(tmp_path / "boxes.csv", "csv").splits.values())) == 3
    (tmp_path / "t.csv").write_text("filename,class,xmin\n")
    with pytest.raises(DataError, match=r"no column top and no right(?s:.*)what is looked for"):
        folders.recognise(tmp_path / "t.csv")


def test_corners_of_a_table_in_another_order(tmp_path):
    csv_named(tmp_path)
    path = tmp_path / "boxes.csv"
    before = [picture.scene for rows in folders.read(tmp_path, "csv").splits.values() for picture in rows]
    text = path.read_text()
    assert "10,5,30,15" in text
    path.write_text(text.replace("10,5,30,15", "30,5,10,15"))
    after = [picture.scene for rows in folders.read(tmp_path, "csv").splits.values() for picture in rows]
    for one, two in zip(before, after):
        np.testing.assert_array_equal(one.corners, two.corners)
    (line,) = [line for scene in after for line in scene.swapped]
    assert line.endswith(": the corners of the box [30.0, 5.0, 10.0, 15.0] are in another order")
    assert not any(scene.swapped for scene in before)


def wrong(root: Path, format: str) -> list[str]:
    read = folders.read(root, format)
    return [picture.scene.wrong for rows in read.splits.values() for picture in rows if picture.scene.wrong]


def test_what_is_broken_has_its_name_and_line(tmp_path):
    csv_named(tmp_path)
    path = tmp_path / "boxes.csv"
    text = path.read_text()
    for line, message in {
        "two.png,64,20,cat,ten,5,30,15": "boxes.csv, line 5: the corners of a box must be finite numbers",
        "two.png,64,20,cat,30,5,30,15": "boxes.csv, line 5: the box [30.0, 5.0, 30.0, 15.0] has no area",
        "two.png,64,20,,3,5,10,15": "boxes.csv, line 4: an object has no class",
        "nine.png,64,20,cat,3,5,10,15": "there is no picture 'nine.png' in",
        "../../etc/a.png,64,20,cat,3,5,10,15": "there is no picture 'etc/a.png' in",
    }.items():
        path.write_text(
            text.replace("big dog,1,2,21,42", f"big dog,1,2,21,42\n{line}").replace(
                "cat,10,5,30,15\n", f"cat,10,5,30,15\n{line}\n", 1
            )
        )
        (problem,) = wrong(tmp_path, "csv")[:1]
        assert message in problem


def test_broken_files_and_the_others_are_read(tmp_path):
    labelme(tmp_path)
    (tmp_path / "two.json").write_text('{"shapes": [')
    (tmp_path / "three.json").write_text(
        json.dumps({"imagePath": "three.png", "shapes": [{"label": "a", "points": [[1, "x"], [2, 3]]}]})
    )
    first, second = wrong(tmp_path, "labelme")
    assert "three.json: the corners of a box must be finite numbers" in first
    assert "two.json is not a file of LabelMe: JSONDecodeError" in second
    cvat(tmp_path / "c")
    path = tmp_path / "c/annotations.xml"
    path.write_text(path.read_text().replace('xtl="10"', 'xtl="ten"'))
    (only,) = wrong(tmp_path / "c", "cvat")
    assert "annotations.xml, image 'two.png': the corners of a box must be finite numbers" in only
    path.write_text("<annotations><track/></annotations>")
    with pytest.raises(DataError, match="tracks of a video: export it from CVAT as 'CVAT for images'"):
        folders.read(tmp_path / "c", "cvat")
    studio(tmp_path / "s")
    path = next((tmp_path / "s").glob("*.json"))
    tasks = json.loads(path.read_text())
    tasks[1]["data"] = {"text": "a tale"}
    tasks[2]["annotations"][0]["result"][0]["value"].pop("x")
    path.write_text(json.dumps(tasks))
    first, second = wrong(tmp_path / "s", "labelstudio")
    assert "names no picture: 2 words of 6 letters" in first
    assert "task 3 is none of Label Studio: KeyError 'x'" in second


def test_pictures_of_one_name(tmp_path):
    """The end of a path decides between pictures of one name; where it does not, the annotation is wrong."""
    for folder in ("a/x", "b/x", "b/y"):
        pictures(tmp_path / folder)
    files = Files(tmp_path)
    note = tmp_path / "note.json"
    assert files.picture("photos/y/one.png", note) == tmp_path / "b/y/one.png"
    assert files.picture("C:\\b\\x\\one.png", note) == tmp_path / "b/x/one.png"
    assert files.picture("one.png", note, split="y") == tmp_path / "b/y/one.png"
    assert files.picture("../../one", tmp_path / "a/x/one.xml") == tmp_path / "a/x/one.png"
    for name in ("x/one.png", "one.png"):
        with pytest.raises(DataError, match="could be"):
            files.picture(name, note)
    for name in ("four.png", "", "../..", "one.png\0", "a" * 5000):
        with pytest.raises(DataError, match=r"there is no picture|the name of a picture is empty"):
            files.picture(name, note)


@pytest.mark.parametrize("kind", ["voc", "labelme"])
def test_pictures_of_one_name_in_two_trees_of_folders(kind, tmp_path):
    """images/val/one.png is of annotations/val/one.xml, as the folders say that both have in common."""
    for split in ("train", "val"):
        pictures(tmp_path / "images" / split)
        (tmp_path / "annotations" / split).mkdir(parents=True)
        for name, (_, _, objects) in TRUTH.items():
            place = tmp_path / "annotations" / split / name
            if kind == "voc":
                place.with_suffix(".xml").write_text(voc_xml(name, f"{name}.png"))
                continue
            shapes = [{"label": o[0], "points": [o[1:3], o[3:]], "shape_type": "rectangle"} for o in objects]
            tables = {"imagePath": f"{name}.png", "shapes": shapes}
            place.with_suffix(".json").write_text(json.dumps(tables))
    read = folders.read(tmp_path, folders.recognise(tmp_path))
    for split in ("train", "val"):
        paths = [picture.scene.path for picture in read.splits[split]]
        assert paths == [tmp_path / "images" / split / f"{name}.png" for name in sorted(TRUTH)]
    assert not [p.scene.wrong for each in read.splits.values() for p in each if p.scene.wrong]


def test_accents_as_one_sign_and_as_two(tmp_path):
    """macOS writes an accent as a sign of its own into the names of files."""
    Image.new("RGB", (4, 4)).save(tmp_path / "ca\u0301t.png")
    assert Files(tmp_path).picture("c\u00e1t.jpg", tmp_path / "a.csv") == tmp_path / "ca\u0301t.png"


def test_tables_of_one_picture_and_the_splits_that_they_are_called(tmp_path):
    """A table a class, and train_labels.csv beside a table of all: each picture comes once, with each object once."""
    pictures(tmp_path)
    head = "filename,width,height,class,xmin,ymin,xmax,ymax\n"
    (tmp_path / "cat.csv").write_text(head + "one.png,40,30,cat,4,2,20,18\ntwo.png,64,20,cat,10,5,30,15\n")
    (tmp_path / "dog.csv").write_text(head + "one.png,40,30,big dog,0,0,40,30\none.png,40,30,cat,4,2,20,18\n")
    read = folders.read(tmp_path, "csv")
    one, two = read.splits[""]
    assert (one.classes, two.classes) == (["cat", "big dog"], ["cat"])
    assert one.scene.corners.tolist() == [[4, 2, 20, 18], [0, 0, 40, 30]]
    assert [len(scene.labels) for scene in (one.scene, two.scene)] == [2, 1]
    (tmp_path / "train_labels.csv").write_text(head + "one.png,40,30,cat,4,2,20,18\n")
    (tmp_path / "test_labels.csv").write_text(head + "two.png,64,20,cat,10,5,30,15\n")
    split = folders.choose(folders.read(tmp_path, "csv"), None, 1)
    assert split.origin == "its own split: train and test"
    assert [p.scene.path.name for p in (*split.train, *split.test)] == ["one.png", "two.png"]


@pytest.mark.parametrize(
    "places", ["{}_annotations.json", "coco-{}.json", "{}/labels.json", "{}/_annotations.coco.json"]
)
def test_splits_by_the_names_of_coco_files(places, tmp_path):
    for split in ("train", "valid"):
        pictures(tmp_path / split)
        (tmp_path / places.format(split)).write_text(json.dumps(coco_of({name: f"{name}.png" for name in TRUTH})))
    (tmp_path / "image_info_test.json").write_text('{"images": [], "categories": []}')  # as COCO's own of test
    split = folders.choose(folders.read(tmp_path, folders.recognise(tmp_path)), None, 1)
    assert {p.scene.path.parent.name for p in split.train} == {"train"}
    assert {p.scene.path.parent.name for p in split.test} == {"valid"}


def test_pictures_of_another_size_than_their_annotations_say(tmp_path):
    """A picture that was made smaller since is told from one that fits, in all formats that give its size."""
    pictures(tmp_path)
    box = {"label": "cat", "points": [[1, 2], [9, 9]], "shape_type": "rectangle"}
    one = {"imagePath": "one.png", "imageWidth": 80, "imageHeight": 60, "shapes": [box]}
    (tmp_path / "one.json").write_text(json.dumps(one))
    head = "filename,width,height,class,xmin,ymin,xmax,ymax\n"
    (tmp_path / "a.csv").write_text(head + "one.png,80,60,cat,1,2,9,9\ntwo.png,8,7,cat,1,2,9,9\n")  # the box's size
    (tmp_path / "a.xml").write_text(
        '<annotations><image name="one.png" width="80" height="60"><box label="cat" xtl="1" ytl="2" xbr="9" ybr="9"/></image>'
        "</annotations>"
    )
    for format in ("labelme", "csv", "cvat"):
        scenes = [picture.scene for picture in folders.read(tmp_path, format).splits[""]]
        with pytest.raises(BrokenRecord, match=r"one\.png is 40x30, its annotation says 80x60"):
            stored(scenes[0].path, Options(), (scenes[0].width, scenes[0].height))
        assert [(scene.width, scene.height) for scene in scenes[1:]] == [(64, 20)] * (format == "csv")


def test_parts_of_the_picture_that_reach_beyond_it(tmp_path):
    """A right edge of 1.0000001 does not make pixels of all the table's corners."""
    pictures(tmp_path)
    rows = "one.png,cat,0.5,0.5,1.0000001,1\ntwo.png,cat,0.25,0,0.5,0.5\n"
    (tmp_path / "a.csv").write_text("filename,class,xmin,ymin,xmax,ymax\n" + rows)
    corners = [picture.scene.corners.tolist() for picture in folders.read(tmp_path, "csv").splits[""]]
    assert corners == [[[20, 15, 40, 30]], [[16, 0, 32, 10]]]


def test_links_to_folders_and_tables_of_other_things(tmp_path):
    """Pictures that lie elsewhere, a link to the folder itself, and a table with a field longer than the csv module reads."""
    pictures(tmp_path / "disk")
    (tmp_path / "own/labels").mkdir(parents=True)
    (tmp_path / "own/labels/one.txt").write_text("0 0.5 0.5 0.5 0.5\n")
    (tmp_path / "own/classes.txt").write_text("cat\n")
    (tmp_path / "own/masks.csv").write_text("id,pixels\none," + "1 " * 70_000)
    (tmp_path / "own/images").symlink_to(tmp_path / "disk")
    (tmp_path / "own/images2").symlink_to(tmp_path / "disk")
    (tmp_path / "own/again").symlink_to(tmp_path / "own")
    read = folders.read(tmp_path / "own", folders.recognise(tmp_path / "own"))
    paths = [tmp_path / "own/images" / f"{name}.png" for name in ("one", "three", "two")]
    assert [picture.scene.path for picture in read.splits[""]] == Files(tmp_path / "own").pictures == paths


def test_pictures_of_one_id_in_coco(tmp_path):
    pictures(tmp_path)
    tables = coco_of({name: f"{name}.png" for name in TRUTH})
    tables["images"][1]["id"] = 0
    (tmp_path / "a.json").write_text(json.dumps(tables))
    wrongs = [picture.scene.wrong for picture in folders.read(tmp_path, "coco").splits[""]]
    assert "picture 'one.png': 2 pictures have the id 0" in wrongs[0]
    assert wrongs[1]
    assert not wrongs[2]


def test_cuboids_of_cvat_and_points_that_are_no_pairs(tmp_path):
    pictures(tmp_path)
    front, back = {"l": 5, "r": 15, "t": 6, "b": 16}, {"l": 18, "r": 25, "t": 4, "b": 14}
    corners = " ".join(
        f'{axis}{row}{side}{face}="{at[side if axis == "x" else row]}"'
        for face, at in ((1, front), (2, back)) for row in "tb" for side in "lr" for axis in "xy"
    )  # fmt: skip
    (tmp_path / "a.xml").write_text(
        f'<annotations><image name="one.png"><cuboid label="cat" {corners}/></image>'
        '<image name="two.png"><polygon label="cat" points="1,2;3,4;5"/></image></annotations>'
    )
    one, two = folders.read(tmp_path, "cvat").splits[""]
    assert one.scene.corners.tolist() == [[5, 4, 25, 16]]
    assert "image 'two.png': a polygon has 5 numbers" in two.scene.wrong


def test_hidden_files_and_other_tables_say_nothing(tmp_path):
    pictures(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/a.json").write_text(json.dumps(coco_of({name: name for name in TRUTH})))
    (tmp_path / "prices.csv").write_text("a,b\n1,2\n")
    (tmp_path / "package.json").write_text('{"name": "x", "images": 1}')
    (tmp_path / "notes.xml").write_text("<notes/>")
    (tmp_path / "requirements.txt").write_text("numpy\n")
    assert not kinds_in(Files(tmp_path))
    with pytest.raises(DataError, match=r"none of the known formats(?s:.*)It holds 3 \.png"):
        folders.recognise(tmp_path)


def test_turned_boxes():
    """A quarter turn clockwise of 4 x 2 around its middle is 2 x 4 there; around its corner it lies below and left of it."""
    np.testing.assert_allclose(np.ptp(rotated(0, 0, 4, 2, 90, (2, 1)), 0), [2, 4])
    points = rotated(10, 10, 4, 2, 90, (10, 10))
    np.testing.assert_allclose([points.min(0), points.max(0)], [[8, 10], [10, 14]], atol=1e-9)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/data/upload/1/x%20y.png", "data/upload/1/x y.png"),
        ("http://host:8080/data/a.png?t=1", "data/a.png"),
        ("/data/local-files/?d=a/b.png", "a/b.png"),
        ("a.png", "a.png"),
    ],
)
def test_names_of_label_studio(text, path):
    assert studio_path(text) == path
