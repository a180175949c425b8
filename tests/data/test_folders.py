"""VOC, COCO and YOLO folders, their conversion, the mean, RoIData and WindowData."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn import annotated_lmdb, coco_folder, datum_lmdb, picture, voc_folder
from harness import Rig
from PIL import Image, ImageOps

from boxpresso import LayerError
from boxpresso.data.convert import Options, convert, mean_of, stored, write_mean
from boxpresso.data.errors import BrokenRecord, DataError
from boxpresso.data.folders import in_list, read_coco, read_images, read_voc, read_yolo, yolo_scene
from boxpresso.data.image import read_annotated
from boxpresso.data.picture import decode_annotated, encode, resize
from boxpresso.data.records import boxes_of, open_records, parse, picture_of, write_records
from boxpresso.data.windows import cut_window, read_windows
from boxpresso.proto import AnnotatedDatum, BoxpressoWarning, Datum, LabelMap, parse_text
from boxpresso.proto.binary import read_mean

lmdb = pytest.importorskip("lmdb")

OBJECTS = {
    "a": [("cat", 0, (5, 3, 20, 18)), ("dog", 1, (1, 1, 40, 30)), ("cat", 0, (21, 11, 30, 20))],
    "b": [],
    "c": [("dog", 0, (11, 6, 40, 30))],
}


def voc(tmp_path, objects=OBJECTS):
    return voc_folder(tmp_path / "VOC2007", objects)


# Reading


def test_voc(tmp_path):
    scenes = read_voc(voc(tmp_path), "train", ["cat", "dog"])
    assert [s.path.stem for s in scenes] == ["a", "b", "c"]
    first = scenes[0]
    assert (first.width, first.height, first.labels, first.difficult) == (40, 30, [1, 2, 1], [False, True, False])
    np.testing.assert_array_equal(first.corners, [[4, 2, 20, 18], [0, 0, 40, 30], [20, 10, 30, 20]])
    boxes = first.boxes()
    assert boxes[:, 1].tolist() == [0, 0, 1]  # the second cat
    np.testing.assert_allclose(boxes[0, 2:6], [0.1, 2 / 30, 0.5, 0.6])
    assert len(read_voc(tmp_path / "VOC2007", "", ["cat", "dog"])) == 3


def test_names_in_lists_of_voc(tmp_path):
    """Names with blanks and numbers, with endings in capitals, with an ending in the list, and behind Windows' mark of a text."""
    for folder in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("a.JPG", "my cat -1.jpg", "my cat 1.Png", "b.jpg"):
        Image.new("RGB", (8, 8)).save(tmp_path / "JPEGImages" / name)
        (tmp_path / f"Annotations/{Path(name).stem}.xml").write_text("<annotation/>")
    (tmp_path / "ImageSets/Main/train.txt").write_bytes(
        b"\xef\xbb\xbfa\r\nmy cat -1\r\nmy cat 1\r\nJPEGImages/b.jpg\r\n"
    )
    (tmp_path / "ImageSets/Main/cat_train.txt").write_text("a  1\nb -1\nmy cat 1  0\nmy cat -1 -1\n")
    scenes = read_voc(tmp_path, "train")
    assert [scene.path.name for scene in scenes] == ["a.JPG", "my cat -1.jpg", "my cat 1.Png", "b.jpg"]
    assert not any(scene.wrong for scene in scenes)
    assert [scene.path.name for scene in read_voc(tmp_path, "cat_train")] == ["a.JPG", "my cat 1.Png"]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_annotations_are_of_pictures_as_they_are_shown(orientation, tmp_path):
    """YOLO gives parts of the picture that a program for labelling showed, turned by EXIF; VOC says which size it was."""
    pixels = np.random.default_rng(orientation).integers(0, 255, (6, 10, 3), np.uint8)
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(tmp_path / "a.png", exif=exif)
    with Image.open(tmp_path / "a.png") as opened:
        shown = np.asarray(ImageOps.exif_transpose(opened))[..., ::-1]
    height, width = shown.shape[:2]
    (tmp_path / "a.txt").write_text("0 0.5 0.25 0.5 0.5\n")
    scene = yolo_scene(tmp_path / "a.png", tmp_path / "a.txt", ["cat"])
    assert scene.corners.tolist() == [[width / 4, 0, width * 3 / 4, height / 2]]
    for expect in (None, (scene.width, scene.height)):
        datum = stored(scene.path, Options(encoded=False), expect)
        np.testing.assert_array_equal(picture_of(datum, None, ""), shown)
        datum = stored(scene.path, Options(), expect)
        assert (datum.width, datum.height) == (width, height)
        assert (datum.data == scene.path.read_bytes()) == (orientation == 1)
    if orientation > 4:  # an annotation of the pixels as they are stored
        np.testing.assert_array_equal(decode_annotated(scene.path, True, (10, 6))[0], pixels[..., ::-1])
        np.testing.assert_array_equal(read_annotated(scene.path, (10, 6)), pixels)
    with pytest.raises(BrokenRecord, match=f"is {width}x{height}, its annotation says 7x7"):
        stored(scene.path, Options(), (7, 7))
    with pytest.raises(DataError, match="its annotation is of 7x7"):
        read_annotated(scene.path, (7, 7))


def test_lists_with_pictures_of_one_name(tmp_path):
    """The folders of a listed path decide; a name alone means all pictures of it."""
    paths = [tmp_path / place for place in ("train/1.jpg", "val/1.jpg", "val/2.jpg", "val/v.10.jpg")]
    for lines, chosen in {
        "photos/val/1.jpg": [1], "1": [0, 1], f"{paths[0]}\n2.png": [0, 2], "old\\val\\1.jpg\nv.10": [1, 3], "3": [],
    }.items():  # fmt: skip
        (tmp_path / "list.txt").write_text(lines)
        assert in_list(tmp_path / "list.txt", paths) == chosen


def test_hidden_files_and_long_names(tmp_path):
    """macOS's and Jupyter's own files are neither classes nor pictures; of a path that no key can hold the end is the name."""
    deep = "/".join(["d" * 120] * 5)
    for place in ("cat/1.png", ".checkpoints/1.png", "dog/.c/1.png", f"dog/{deep}/2.png", "cat/._1.png"):
        path = tmp_path / "pictures" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(np.zeros((2, 2, 3), np.uint8), "PNG"))
    report = convert("images", tmp_path / "pictures", tmp_path / "lmdb")
    assert (report.pictures, report.labels, report.skipped) == (2, {0: "cat", 1: "dog"}, [])
    keys = [key.decode() for key in (open_records(str(tmp_path / "lmdb")).file.key(i) for i in range(2))]
    assert keys[0] == "00000000_cat/1.png"
    assert (len(keys[1]), keys[1][:10], keys[1][-6:]) == (511, "00000001_d", "/2.png")
    assert [scene.path.name for scene in read_yolo(tmp_path / "pictures/cat", "")[0]] == ["1.png"]
    for folder in ("JPEGImages", "Annotations"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "._a.xml").write_bytes(b"\0\5")
    (tmp_path / "Annotations/a.xml").write_text("<annotation><object><name> </name></object></annotation>")
    (tmp_path / "JPEGImages/a.png").write_bytes(encode(np.zeros((2, 2, 3), np.uint8), "PNG"))
    (scene,) = read_voc(tmp_path)
    assert scene.wrong.endswith("a.xml: an object has no class")


def test_voc_that_is_wrong(tmp_path):
    root = voc(tmp_path, {
        **OBJECTS, "d": [("cow", 0, (1, 1, 9, 9))], "e": [("cat", 0, (9, 9, 8, 8)), ("cat", 0, ("nan", 1, 5, 20))], "f": [("cat", 0, (50, 1, 90, 9))],
        "g": [], "h": [], "i": [],
    })  # fmt: skip
    (root / "Annotations/g.xml").unlink()
    (root / "Annotations/h.xml").write_text("<annotation><object>")
    (root / "JPEGImages/i.jpg").unlink()
    wrong = [s.wrong for s in read_voc(root, "train", ["cat", "dog"])]
    for seen, message in zip(
        wrong,
        [
            "",
            "",
            "",
            "'cow'",
            "has no area",
            "lies outside the picture of 40x30",
            "g.xml",
            "h.xml is not XML",
            "no picture",
        ],
    ):
        assert message in seen
        assert bool(message) == bool(seen)
    with pytest.raises(DataError, match="splits there: train"):
        read_voc(root, "val")
    with pytest.raises(DataError, match="there is no folder /nowhere"):
        read_voc("/nowhere")


def test_corners_in_another_order_are_the_same_box_and_told(tmp_path):
    """The other objects of the picture are kept: without them they would be learned as background."""
    root = voc(tmp_path, {"a": [("cat", 0, (20, 18, 5, 3)), ("cat", 0, (1, 30, 40, 1)), ("cat", 0, (5, 5, 5, 9))]})
    [scene] = read_voc(root, "train", ["cat"])
    np.testing.assert_array_equal(scene.corners, [[4, 2, 20, 18], [0, 0, 40, 30], [4, 4, 5, 9]])
    assert [line.partition("a.xml: ")[2] for line in scene.swapped] == [
        f"the corners of the box {box} are in another order" for box in ([20.0, 18.0, 5.0, 3.0], [1.0, 30.0, 40.0, 1.0])
    ]
    scene.check()
    with pytest.raises(BrokenRecord, match="in another order"):
        scene.check(strict=True)


def test_boxes_beyond_the_picture_are_clipped_and_told(tmp_path):
    root = voc(tmp_path, {"a": [("cat", 0, (30, 1, 44, 9)), ("cat", 0, (1, 1, 41, 30)), ("cat", 0, (5, 5, 5, 9))]})
    [scene] = read_voc(root, "train", ["cat"])
    np.testing.assert_array_equal(scene.corners, [[29, 0, 40, 9], [0, 0, 40, 30], [4, 4, 5, 9]])
    assert [line.partition("the box ")[2] for line in scene.clipped] == [
        "[29.0, 0.0, 44.0, 9.0] leaves the picture of 40x30"
    ]  # a pixel too many is usual, and not told
    assert [line.partition("] ")[2] for line in scene.thin] == ["is at most one pixel wide or high"]
    scene.check()
    with pytest.raises(BrokenRecord, match="leaves the picture"):
        scene.check(strict=True)
    report = convert("voc", root, tmp_path / "lmdb", split="train", classes=["cat"])
    assert (report.pictures, report.boxes, len(report.clipped)) == (1, 3, 1)
    with pytest.raises(DataError, match="leaves the picture"):
        convert("voc", root, tmp_path / "strict", split="train", classes=["cat"], options=Options(refuse=True))


def test_coco(tmp_path):
    scenes, names = read_coco(coco_folder(tmp_path))
    assert names == {1: "dog", 2: "cat"}  # in the order of ids
    assert scenes[0].labels == [2, 1]
    assert scenes[0].difficult == [False, True]
    np.testing.assert_array_equal(scenes[0].corners, [[4, 3, 14, 9], [0, 0, 40, 30]])
    assert scenes[1].labels == []  # a box without width is none
    assert "2.png" in scenes[2].wrong
    assert len(read_coco(tmp_path / "annotations/instances_val.json")[0]) == 3
    with pytest.raises(DataError, match=r"instances_train\.json; name the split"):
        read_coco(tmp_path, "train")
    (tmp_path / "annotations/instances_val.json").write_text("{}")
    with pytest.raises(DataError, match="is not a COCO file of instances"):
        read_coco(tmp_path)


def yolo(tmp_path):
    for folder in ("images", "labels"):
        (tmp_path / folder).mkdir()
    for i in range(3):
        (tmp_path / "images" / f"{i}.png").write_bytes(encode(picture(i, 30, 40), "PNG"))
    (tmp_path / "labels" / "0.txt").write_text("1 0.5 0.5 0.5 0.2\n0 0.1 0.1 0.2 0.2\n\n")
    (tmp_path / "labels" / "2.txt").write_text("7 0.5 0.5 0.5 0.2\n")
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    return tmp_path


def test_yolo(tmp_path):
    scenes, names = read_yolo(yolo(tmp_path))
    assert names == {1: "cat", 2: "dog"}
    assert scenes[0].labels == [2, 1]
    np.testing.assert_allclose(scenes[0].corners, [[10, 12, 30, 18], [0, 0, 8, 6]], atol=1e-9)
    assert scenes[1].labels == []
    assert "line 1: class 7 is none of the 2" in scenes[2].wrong
    labels = tmp_path / "labels" / "2.txt"
    labels.write_text("1 0.1 0.2 0.6 0.2 0.3 0.9\n0 0.5 0.5 0.5 0.2 0.75\n")  # a polygon; a box with a score
    polygon = read_yolo(tmp_path)[0][2]
    np.testing.assert_allclose(polygon.corners, [[4, 6, 24, 27], [10, 12, 30, 18]], atol=1e-9)
    labels.write_text("1 0.1 0.2 0.6\n")
    assert "line 1: it must be `class x y width height`" in read_yolo(tmp_path)[0][2].wrong


# Conversion


def test_convert_voc(tmp_path):
    root = voc(tmp_path, {**OBJECTS, "d": [("cow", 0, (1, 1, 9, 9))]})
    done = []
    report = convert(
        "voc", root, tmp_path / "db", split="train", classes=["cat", "dog"], tell=lambda n, all: done.append(n)
    )
    assert (report.pictures, report.boxes, done) == (3, 4, [1, 2, 3, 4])
    assert len(report.skipped) == 1
    assert "d.xml: the class 'cow'" in report.skipped[0]
    records = open_records(str(tmp_path / "db"))
    assert records.file.key(0) == b"00000000_a.jpg"
    record = parse(AnnotatedDatum(), records[0], "")
    assert record.datum.data == (root / "JPEGImages/a.jpg").read_bytes()  # not encoded again
    assert (record.datum.width, record.datum.height, record.datum.channels) == (40, 30, 3)
    boxes = boxes_of(record)
    assert boxes[:, 0].tolist() == [1, 1, 2]
    np.testing.assert_allclose(boxes[2, 2:], [0, 0, 1, 1, 1])
    labels = parse_text((tmp_path / "db_labelmap.prototxt").read_text(), LabelMap())
    assert [(i.label, i.display_name) for i in labels.item] == [(0, "background"), (1, "cat"), (2, "dog")]
    rig = Rig(f'type: "AnnotatedData" data_param {{ source: "{tmp_path.as_posix()}/db" batch_size: 3 }}', [], tops=2)
    assert rig.forward()[1].shape == (1, 1, 4, 8)
    with pytest.raises(DataError, match="cow"):
        convert("voc", root, tmp_path / "db2", split="train", classes=["cat", "dog"], options=Options(refuse=True))
    assert not list(tmp_path.glob("db2*"))
    with pytest.raises(DataError, match="db exists already"):
        convert("voc", root, tmp_path / "db")


def test_convert_resized_shuffled_and_plain(tmp_path):
    root = coco_folder(tmp_path / "coco")
    convert("coco", root, tmp_path / "db", options=Options(size=(20, 10), encoded=False, shuffle=1, color=False))
    records = open_records(str(tmp_path / "db"))
    datum = parse(AnnotatedDatum(), records[0], "").datum
    assert not datum.encoded
    assert picture_of(datum, None, "").shape == (10, 20, 1)
    convert("yolo", yolo(tmp_path), tmp_path / "yolo", options=Options(size=(20, 10)))
    assert picture_of(parse(AnnotatedDatum(), open_records(str(tmp_path / "yolo"))[0], "").datum, None, "").shape == (
        10,
        20,
        3,
    )


def test_convert_images(tmp_path):
    for kind in ("dog", "cat"):
        (tmp_path / "set" / kind).mkdir(parents=True)
        for i in range(2):
            (tmp_path / "set" / kind / f"{i}.png").write_bytes(encode(picture(i), "PNG"))
    (tmp_path / "set" / "dog" / "0.png").write_bytes(b"broken")
    report = convert("images", tmp_path / "set", tmp_path / "db")
    assert report.pictures == 3
    assert "dog/0.png is not an image" in report.skipped[0]
    records = open_records(str(tmp_path / "db"))
    assert [parse(Datum(), records[i], "").label for i in range(3)] == [0, 0, 1]
    assert read_images(tmp_path / "set")[1] == {0: "cat", 1: "dog"}
    with pytest.raises(DataError, match="not 'word'"):
        convert("word", tmp_path, tmp_path / "x")


@pytest.mark.parametrize("make", [datum_lmdb, annotated_lmdb])
def test_mean(tmp_path, make):
    mean = mean_of(str(make(tmp_path / "db", 5)))
    wanted = np.mean([picture(i).transpose(2, 0, 1) for i in range(5)], axis=0)
    np.testing.assert_allclose(mean, wanted)
    for name in ("mean.binaryproto", "mean.npy"):
        write_mean(tmp_path / name, mean)
        np.testing.assert_allclose(read_mean(tmp_path / name), wanted, rtol=1e-6)
    rig = Rig(
        f'type: "{"Data" if make is datum_lmdb else "AnnotatedData"}" data_param {{ source: "{tmp_path.as_posix()}/db" batch_size: 5 }} '
        f'transform_param {{ mean_file: "{tmp_path.as_posix()}/mean.binaryproto" }}', [], tops=2,
    )  # fmt: skip
    np.testing.assert_allclose(rig.forward()[0].mean(0), 0, atol=1e-4)


def test_a_mean_needs_one_size(tmp_path):
    from boxpresso.data.records import make_datum

    write_records(
        tmp_path / "db", [(k, make_datum(picture(0, h, 8)).SerializeToString()) for k, h in (("a", 8), ("b", 9))]
    )
    with pytest.raises(DataError, match=r"record 1 \(b\) of .* is 8x9 with 3 channels, the first one 8x8"):
        mean_of(str(tmp_path / "db"))


# RoIData


def roi(source, phase="TRAIN", more="", seed=0) -> Rig:
    text = (
        f"""type: "RoIData" python_param {{ param_str: "{{'source': '{source}', 'split': 'train', 'classes': ['cat', 'dog'], """
        f"""'scales': [60], 'max_size': 100, 'means': [10, 20, 30] {more}}}" }}"""
    )
    return Rig(text, [], tops=3, phase=phase, seed=seed)


def enlarged(image, factor):
    """As py-faster-rcnn does with OpenCV: in floating point, each pixel at its place divided by the factor."""
    for axis in (0, 1):
        size = image.shape[axis]
        at = (np.arange(round(size * factor)) + 0.5) / factor - 0.5
        image = np.apply_along_axis(lambda line: np.interp(at, np.arange(len(line)), line), axis, image)  # noqa: B023
    return image


def test_roi_data_is_resized_by_the_factor_alone(tmp_path):
    """40 * 2 / 3 is 26.7: neither a ratio of 27 / 40, nor values that are rounded; a flipped picture is flipped before."""
    rig = roi(voc(tmp_path, {"a": [("cat", 0, (5, 3, 20, 18))]}), more=", 'means': [0, 0, 0], 'scales': [20]")
    made = sorted((rig.forward()[0][0] for _ in range(2)), key=lambda values: float(values[0, 0, 0]))
    own = picture(0, 30, 40)
    wanted = sorted(
        (enlarged(each, 2 / 3).transpose(2, 0, 1) for each in (own, own[:, ::-1])), key=lambda v: v[0, 0, 0]
    )
    np.testing.assert_allclose(made, wanted, atol=1e-3)


def test_roi_data_in_test(tmp_path):
    root = voc(tmp_path)
    rig = roi(root, "TEST")
    assert [t.shape for t in rig.top] == [(1, 3, 60, 100), (1, 3), (1, 5)]
    image, info, boxes = rig.forward()
    assert image.shape == (1, 3, 60, 80)
    wanted = enlarged(picture(0, 30, 40), 2).transpose(2, 0, 1) - np.array([10, 20, 30.0])[:, None, None]
    np.testing.assert_allclose(image[0], wanted, atol=1e-3)
    np.testing.assert_allclose(info, [[60, 80, 2]])
    np.testing.assert_allclose(
        boxes, [[8, 4, 38, 34, 1], [40, 20, 58, 38, 1]]
    )  # (x - 1) * 2; the difficult dog is left out
    assert rig.forward()[2].shape == (0, 5)
    limited = roi(root, "TEST", ", 'max_size': 60")
    image, info, _ = limited.forward()
    assert image.shape == (1, 3, 45, 60)
    np.testing.assert_allclose(info, [[45, 60, 1.5]])


def test_roi_data_in_train_flips_each_once(tmp_path):
    rig = roi(voc(tmp_path), seed=3)
    seen = []
    for _ in range(8):  # two rounds of two pictures with objects, twice each
        image, _, boxes = rig.forward()
        seen.append((boxes.tobytes(), image.tobytes()))
    assert len(set(seen[:4])) == 4
    assert set(seen[:4]) == set(seen[4:])
    left_edges = {np.frombuffer(boxes, np.float32)[0] for boxes, _ in seen}
    assert left_edges == {8, 40, 20, 0}  # 8 to 38 becomes 78 - 38 to 78 - 8, and 20 to 78 becomes 0 to 58
    plain = roi(voc(tmp_path / "again"), more=", 'flipped': False")
    assert len({plain.forward()[2].tobytes() for _ in range(4)}) == 2


def test_flipped_boxes_are_on_flipped_pixels(tmp_path):
    root = voc(tmp_path, {"a": [("cat", 0, (5, 3, 20, 18))]})
    canvas = np.zeros((30, 40, 3), np.uint8)
    canvas[2:18, 4:20] = 255
    (root / "JPEGImages/a.jpg").write_bytes(encode(canvas, "PNG"))
    rig = roi(root, more=", 'means': [0, 0, 0]")
    starts = set()
    for _ in range(2):
        image, _, boxes = rig.forward()
        ys, xs = np.nonzero(image[0, 0] > 127)
        starts.add(xs.min())
        np.testing.assert_allclose(boxes[0, :4], [xs.min(), ys.min(), xs.max() - 1, ys.max() - 1])  # scaled by 2
    assert starts == {8, 40}


def test_roi_data_from_coco_and_errors(tmp_path):
    rig = Rig(
        f"""type: "RoIData" python_param {{ param_str: "{{'source': '{coco_folder(tmp_path)}', 'scales': [30]}}" }}""", [], tops=3,
        phase="TRAIN",
    )  # fmt: skip
    with pytest.warns(BoxpressoWarning, match=r"no picture .*2\.png"):
        batches = [rig.forward() for _ in range(4)]
    assert {b[2][0, 4] for b in batches} == {2}
    with pytest.raises(LayerError, match="there is no folder /nowhere"):
        roi("/nowhere").forward()
    with pytest.raises(LayerError, match="give 'source'"):
        Rig('type: "RoIData"', [], tops=3)
    with pytest.raises(LayerError, match=r"no picture of .* has an object to learn"):
        roi(voc(tmp_path / "empty", {"a": []})).forward()


def test_roi_data_as_old_nets_name_it(tmp_path):
    from boxpresso import Net
    from boxpresso.proto import parse_net

    root = voc(tmp_path)
    text = f"""layer {{ name: "in" type: "Python" top: "data" top: "im_info" top: "gt_boxes" python_param {{
      module: "roi_data_layer.layer" layer: "RoIDataLayer"
      param_str: "{{'num_classes': %d, 'source': '{root}', 'classes': ['cat', 'dog'], 'scales': 30}}" }} }}"""
    net = Net(parse_net(text % 3), phase="TRAIN", device="cpu", seed=0)
    out = net.forward()
    assert out["data"].shape == (1, 3, 30, 40)
    assert out["gt_boxes"].shape[1] == 5
    with pytest.raises(LayerError, match="has the label 2, but num_classes is 2"):
        Net(parse_net(text % 2), phase="TRAIN", device="cpu").forward()
    text = f"""type: "RoIData" roi_data_param {{ source: "{root.as_posix()}" train_scale: 15 use_flipped: false pixel_mean: 0 pixel_mean: 0 pixel_mean: 0 }}
      python_param {{ param_str: "classes: [cat, dog]" }}"""
    assert Rig(text, [], tops=3).forward()[0].shape == (1, 3, 15, 20)


# WindowData


def window_file(tmp_path):
    text = ""
    for i in range(2):
        (tmp_path / f"{i}.png").write_bytes(encode(picture(i, 30, 40), "PNG"))
        text += f"# {i}\n{i}.png\n3\n30\n40\n3\n{5 + i} 0.9 4 3 19 18\n1 0.3 0 0 9 9\n2 0.55 20 10 39 29\n"
    (tmp_path / "windows.txt").write_text(text)
    return tmp_path / "windows.txt"


def window(source, more="", transform="", high=0.6, **options) -> Rig:
    text = (
        f'type: "WindowData" window_data_param {{ source: "{source.as_posix()}" root_folder: "{source.parent.as_posix()}/" batch_size: 8 fg_threshold: {high} '
        f"bg_threshold: 0.5 fg_fraction: 0.25 {more} }} transform_param {{ crop_size: 16 {transform} }}"
    )
    return Rig(text, [], tops=2, phase="TRAIN", **options)


def test_window_data(tmp_path, device):
    rig = window(window_file(tmp_path), transform="mean_value: 1 mean_value: 2 mean_value: 3 scale: 0.5", device=device)
    classes = set()
    means = np.array([1, 2, 3.0])[:, None, None]
    objects = {5 + i: (picture(i, 30, 40)[3:19, 4:20].transpose(2, 0, 1) - means) / 2 for i in range(2)}
    rest = [(resize(picture(i, 30, 40)[0:10, 0:10], 16, 16).transpose(2, 0, 1) - means) / 2 for i in range(2)]
    for _ in range(6):
        crops, labels = rig.forward()
        assert crops.shape == (8, 3, 16, 16)
        assert labels[:6].tolist() == [0] * 6
        classes.update(labels[6:].tolist())
        for crop, label in zip(crops[6:], labels[6:]):
            np.testing.assert_allclose(crop, objects[int(label)])  # a window of 16x16 is not resized
        for crop in crops[:6]:
            assert any(np.allclose(crop, r) for r in rest)
    assert classes == {5, 6}


def test_windows_with_context():
    canvas = np.arange(900, dtype=np.float32).reshape(30, 30, 1) % 251
    canvas = canvas.astype(np.uint8)
    crop, y, x = cut_window(canvas, (10, 8, 17, 15), 16, 4, False, False)  # half of the crop is the window
    assert (y, x) == (0, 0)
    np.testing.assert_array_equal(crop, resize(canvas[4:21, 6:23], 16, 16))
    crop, y, x = cut_window(canvas, (0, 0, 7, 7), 16, 4, False, False)  # a quarter of it is outside
    assert crop.shape[:2] == (12, 12)
    assert (y, x) == (4, 4)
    _, _, flipped = cut_window(canvas, (0, 0, 7, 7), 16, 4, False, True)
    assert flipped == 0
    crop, y, x = cut_window(canvas, (10, 5, 13, 16), 16, 0, True, False)  # a square of 12 around 4 x 12
    assert crop.shape[:2] == (16, 16)
    np.testing.assert_array_equal(crop, resize(canvas[5:18, 6:19], 16, 16))


def test_halves_of_a_window_are_rounded_as_in_float32():
    """17.5 - 10.5 * 8 / 7 is 5.5, to be rounded up, and in float32 a little less: Caffe's crop begins at 5."""
    canvas = np.arange(1600, dtype=np.int64).reshape(40, 40, 1) * 7 % 251
    canvas = canvas.astype(np.uint8)
    crop, y, x = cut_window(canvas, (7, 7, 27, 27), 64, 4, False, False)
    assert (y, x) == (0, 0)
    np.testing.assert_array_equal(crop, resize(canvas[5:31, 5:31], 64, 64))


def test_an_object_is_no_background(tmp_path):
    """fg_threshold below bg_threshold: what overlaps by 0.3 is an object alone, and there is no background."""
    with pytest.raises(LayerError, match="has no window that counts as background"):
        window(window_file(tmp_path), high=0.2).forward()


def test_window_errors(tmp_path):
    source = window_file(tmp_path)
    windows = read_windows(str(source))
    assert windows.rows.shape == (6, 7)
    with pytest.raises(LayerError, match="has no window that counts as object"):
        window(source, high=0.95).forward()
    with pytest.raises(LayerError, match="crop_mode must be warp or square"):
        window(source, 'crop_mode: "round"')
    with pytest.raises(LayerError, match="leaves nothing of the crop"):
        window(source, "context_pad: 8")
    source.write_text(source.read_text().replace("1 0.3 0 0 9 9", "1 0.3 0 0"))
    with pytest.raises(LayerError, match=r"line 8: it must be `class overlap"):
        window(source).forward()
    window_file(tmp_path)
    for i in range(2):
        (tmp_path / f"{i}.png").unlink()
    with pytest.raises(LayerError, match=r"there is no picture .*[01]\.png"):
        window(source).forward()
