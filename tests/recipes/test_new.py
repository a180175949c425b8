"""boxpresso new: folders of pictures in three formats, what is written of them, weights that fit, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageDraw
from places import ROOT

from boxpresso import Net, Solver
from boxpresso.__main__ import main
from boxpresso.data.convert import parse
from boxpresso.data.errors import DataError
from boxpresso.data.records import boxes_of, open_records
from boxpresso.labels import read_labels
from boxpresso.net.weights import LayerWeights, Weights, read_weights
from boxpresso.proto import AnnotatedDatum, ModelError, parse_net, read_net, read_solver
from boxpresso.recipes import folders, pretrained, project, regions, schedule, ssd, yolo_names
from boxpresso.recipes.project import reasons

sys.path.insert(0, str(ROOT))

from examples.own_pictures.draw import draw

pytest.importorskip("lmdb", reason="records are LMDBs")

NAMES = ["box", "circle", "triangle"]
SMALL = ("--backbone", "small", "--size", "64", "--batch", "8")

DRAWN = ("voc", "coco", "yolo")  # the formats that examples/own_pictures draws


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    """Errors are lines, and paths are relative to a new folder."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """{format: a folder with the same 16 pictures}."""
    root = tmp_path_factory.mktemp("drawn")
    return {format: draw(root / format, format, 16, workers=0) for format in DRAWN}


@pytest.fixture
def voc(drawn, tmp_path):
    """A copy of the VOC folder, to change."""
    return Path(shutil.copytree(drawn["voc"], tmp_path / "own"))


def new(capsys, *words: object) -> tuple[int, str, str]:
    status = main(["new", "ssd", *map(str, words)])
    out, err = capsys.readouterr()
    shown = out.replace("train --solver", "\n").replace(
        tempfile.gettempdir() + "/pytest-of-", ""
    )  # as long as it happens to be
    assert max(map(len, shown.splitlines()), default=0) <= 80
    return status, " ".join(out.split()), err


def records(path: Path) -> dict[str, np.ndarray]:
    """{name of a picture: its boxes, in the order of their corners}."""
    opened = open_records(str(path))
    rows = {}
    for i in range(len(opened)):
        boxes = boxes_of(parse(AnnotatedDatum(), opened[i], ""))
        rows[opened.file.key(i).decode().partition("_")[2]] = boxes[np.lexsort(boxes.T)]
    return rows


# What is written


@pytest.mark.later(but=1)
@pytest.mark.parametrize("format", DRAWN)
def test_the_folder_trains_and_detects(format, drawn, capsys, tmp_path):
    words = ("--data", drawn[format], "--out", "mine", "--iterations", 20, "--test-share", "0.25", "--batch", 4)
    status, out, err = new(capsys, *SMALL, *words)
    assert (status, err) == (0, "")
    assert f"{format}, drawn by seed 1: 4 of 16 pictures to test on" in out
    assert "boxpresso train --solver mine/solver.prototxt" in out
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]  # nothing is left beside it
    assert read_labels("mine/labelmap.prototxt") == {0: "background", 1: "box", 2: "circle", 3: "triangle"}
    assert Path("mine/labels.txt").read_text().split() == NAMES
    lists = [Path(f"mine/{kind}.txt").read_text().splitlines() for kind in ("train", "test")]
    assert [len(lines) for lines in lists] == [12, 4]
    assert all(Path(path).is_file() for lines in lists for path in lines)

    solver = Solver("mine/solver.prototxt", log=lambda line: None)
    losses: list[float] = []
    solver.add_callback(on_gradients=lambda: losses.append(solver.net.loss()))
    solver.step(20)
    assert np.isfinite(losses).all()
    assert np.mean(losses[-6:]) < 0.8 * np.mean(losses[:3])
    assert solver.test_nets[0].blobs["data"].shape[0] * solver.param.test_iter[0] == 4
    assert 0 <= solver.test()[0]["detection_eval"] <= 1

    solver.net.save("mine/w.caffemodel")
    report = Net("mine/deploy.prototxt", "mine/w.caffemodel").copied[0]
    assert not report.missing
    assert not report.unused
    picture = next(path for path in sorted(drawn[format].rglob("*.jpg")))
    words = ["detect", "mine/deploy.prototxt", "mine/w.caffemodel", str(picture), "--no-drawing", "--json"]
    assert main([*words, "--labels", "mine/labelmap.prototxt", "--threshold", "0.02"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert {row["name"] if "name" in row else row["label"] for row in result["detections"]} <= set(NAMES)


def test_three_formats_give_the_same_records(drawn, capsys):
    seen = []
    for format, folder in drawn.items():
        assert new(capsys, *SMALL, "--data", folder, "--out", format)[0] == 0
        seen.append({**records(Path(format, "train_lmdb")), **records(Path(format, "test_lmdb"))})
    assert len(seen[0]) == 16
    for other in seen[1:]:
        assert other.keys() == seen[0].keys()
        for name, boxes in seen[0].items():
            np.testing.assert_allclose(other[name], boxes, atol=1e-4)


@pytest.mark.later(but=1)
@pytest.mark.parametrize("backbone", ["small", "mobilenet", "resnet18", "vgg"])
def test_the_prototxts_are_read_strictly_and_say_what_they_are(backbone, drawn, capsys):
    assert new(capsys, "--backbone", backbone, "--data", drawn["voc"], "--out", "my data")[0] == 0
    task = ssd.Task(
        "voc", 4, ("my data/train_lmdb", "my data/test_lmdb"), "my data/labelmap.prototxt",
        (read_net("my data/train.prototxt").layer[0].data_param.batch_size, 2), "_new", records=True,
        **project.ARCHITECTURES["ssd"].backbones[backbone].task,
    )  # fmt: skip
    for kind in ("train", "test", "deploy"):
        text = Path(f"my data/{kind}.prototxt").read_text()
        assert "# What each feature map predicts" in text
        chosen = project.ARCHITECTURES["ssd"].backbones[backbone]
        assert parse_net(text, strict=True) == parse_net(str(chosen.net(kind, chosen.size, task=task)))
    assert "# lower it where memory is short" in Path("my data/train.prototxt").read_text()
    param = read_solver("my data/solver.prototxt")
    assert (param.eval_type, param.test_iter[0], param.max_iter % param.test_interval) == ("detection", 1, 0)
    script = Path("my data/train.sh").read_text()
    assert 'cd "$(dirname "$0")/.."' in script
    assert "--solver 'my data/solver.prototxt'" in script
    assert "--solver 'my data/solver.prototxt'" in Path("my data/README.md").read_text()
    nets = (
        [Net(f"my data/{kind}.prototxt", phase=kind.upper()) for kind in ("train", "test")]
        if backbone == "small"
        else []
    )
    assert [net.blobs["data"].shape for net in nets] == [(14, 3, 128, 128), (2, 3, 128, 128)][: len(nets)]


def test_names_from_the_folder_of_data_and_a_large_picture(voc, capsys):
    """The default name of the folder; a picture far larger than the input is stored smaller."""
    path = voc / "JPEGImages" / "000000.jpg"
    Image.open(path).resize((1024, 512)).save(path)
    text = voc / "Annotations" / "000000.xml"
    text.write_text(text.read_text().replace("<width>256", "<width>1024").replace("<height>256", "<height>512"))
    assert new(capsys, *SMALL, "--data", "own")[0] == 0
    every = [open_records(f"own_ssd_small/{kind}_lmdb") for kind in ("train", "test")]
    datums = [parse(AnnotatedDatum(), opened[i], "").datum for opened in every for i in range(len(opened))]
    assert sorted({(datum.width, datum.height) for datum in datums}) == [(128, 128), (256, 128)]


# Weights


def weights_of(net: Net, drop: str = "") -> Weights:
    """Random weights for a net, as a file of them."""
    rng = np.random.default_rng(3)
    layers = [(name, blobs) for name, blobs in net.params.items() if not drop or drop not in name]
    rows = [
        LayerWeights(name, None, [rng.normal(size=b.shape).astype(np.float32) for b in blobs]) for name, blobs in layers
    ]
    return Weights("public.caffemodel", "public", rows)


@pytest.mark.later(but=1)
@pytest.mark.parametrize("folded", [False, True], ids=["BatchNorm", "folded"])
def test_mobilenet_weights_fit_by_name(folded, drawn, capsys, monkeypatch):
    """Both published forms: with BatchNorm, and with it folded into the convolutions."""
    weights = weights_of(Net(ssd.mobile("deploy", 96, task=ssd.Task(classes=21, folded=folded)).to_proto()))
    monkeypatch.setattr(project, "read_weights", lambda path: weights)
    words = ("--data", drawn["voc"], "--out", "m", "--size", 96, "--weights", "public.caffemodel", "--batch", 2)
    status, out, _ = new(capsys, *words)
    assert status == 0
    assert f"weights: {41 if folded else 111} layers copied of public.caffemodel" in out
    assert "fresh, by the classes: conv11_mbox_conf_new" in out
    assert "unused of the file: conv11_mbox_conf," in out
    assert read_solver("m/solver.prototxt").base_lr == pytest.approx(0.0005)
    start = read_weights("m/start.caffemodel")
    assert not [name for name in start if "conf" in name]
    solver = Solver("m/solver.prototxt", log=lambda line: None)
    assert not solver.net.copied[0].unused
    assert set(solver.net.copied[0].missing) == {f"{h.feature}_mbox_conf_new" for h in ssd.MOBILENET_300}
    for name in ("conv0", "conv5/dw", "conv13", "conv17_2", "conv11_mbox_loc"):
        for blob, wanted in zip(solver.net.params[name], weights[name].blobs):
            np.testing.assert_array_equal(blob.data, wanted)
    assert np.asarray(solver.net.params["conv11_mbox_conf_new"][0].data).std() > 0  # its filler's


def test_resnet18_weights_fit_by_name():
    """The layers of HolmesShuan's ResNet-18 for ImageNet have these names and shapes."""
    rows = {"conv1": (64, 3, 7, 7), "bn_conv1": (64,), "scale_conv1": (64,)}
    before = 64
    for stage, channels in ((2, 64), (3, 128), (4, 256), (5, 512)):
        for block in "ab":
            name, bottom = f"{stage}{block}", before if block == "a" else channels
            shapes = {"2a": (channels, bottom, 3, 3), "2b": (channels, channels, 3, 3)}
            shapes |= {"1": (channels, bottom, 1, 1)} if block == "a" else {}
            for branch, shape in shapes.items():
                rows |= {f"res{name}_branch{branch}": shape}
                rows |= dict.fromkeys((f"bn{name}_branch{branch}", f"scale{name}_branch{branch}"), shape[:1])
        before = channels
    for net in (
        ssd.resnet("deploy", 96, task=ssd.Task(classes=3)),
        regions.faster_rcnn("deploy", 96, trunk=regions.RESNET),
    ):
        params = Net(net.to_proto()).params
        trunk = {name: params[name][0].shape for name in params if name in rows}
        assert not [name for name in params if name.startswith("res") and "mbox" not in name and name not in rows]
        last = "5" if "res5a_branch1" in trunk else "4"
        assert trunk == {name: shape for name, shape in rows.items() if last == "5" or "5" not in name}


def test_vgg_weights_fit_by_name():
    """The layers of VGG_ILSVRC_16_layers_fc_reduced have these names and shapes."""
    net = Net(ssd.vgg("deploy", 257, task=ssd.Task(classes=3, fresh="_new")).to_proto())
    channels = {1: (64, 2), 2: (128, 2), 3: (256, 3), 4: (512, 3), 5: (512, 3)}
    rows, before = [], 3
    for block, (count, layers) in channels.items():
        for i in range(1, layers + 1):
            rows.append(LayerWeights(f"conv{block}_{i}", None, [np.zeros((count, before, 3, 3)), np.zeros(count)]))
            before = count
    rows.append(LayerWeights("fc6", None, [np.ones((1024, 512, 3, 3)), np.zeros(1024)]))
    rows.append(LayerWeights("fc7", None, [np.ones((1024, 1024, 1, 1)), np.zeros(1024)]))
    rows.append(LayerWeights("fc8", None, [np.ones((1000, 1024)), np.zeros(1000)]))
    rows.append(LayerWeights("conv6_1", None, [np.ones((7, 7, 1, 1)), np.zeros(7)]))
    fit = pretrained.fit(Weights("fc_reduced", "", rows), net, lambda name: name.endswith("_new"))
    assert fit.copied == [row.name for row in rows[:-2]]
    assert fit.unused == ["fc8"]
    assert "conv6_1" in fit.misfits
    assert "(7, 7, 1, 1)" in fit.misfits["conv6_1"]
    assert {"conv6_1", "conv6_2", "conv4_3_norm_mbox_conf_new"} <= set(fit.fresh)


def test_weights_of_another_net(drawn, capsys, tmp_path):
    net = Net(ssd.small("deploy", 64).to_proto())
    with pytest.raises(ModelError, match=r"other fits no layer of the net: it has x \.\., the net .* --backbone"):
        pretrained.fit(Weights("other", "", [LayerWeights("x", None, [np.zeros(2)])]), net, lambda name: False)
    (tmp_path / "no.caffemodel").write_bytes(b"PNG")
    status, _, err = new(capsys, *SMALL, "--data", drawn["voc"], "--out", "m", "--weights", "no.caffemodel")
    assert (status, Path("m").exists()) == (1, False)
    assert "no.caffemodel" in err


# Splits and classes


def pictures(names: dict[str, list[str]]) -> folders.Pictures:
    """Splits of pictures that are one class each, by the names of the splits."""
    made = {
        split: [folders.Picture(folders.Scene(Path(f"{split}{i}.jpg"), 9, 9), [kind]) for i, kind in enumerate(kinds)]
        for split, kinds in names.items()
    }
    return folders.Pictures("voc", made)


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        (["train", "val", "trainval", "test"], "trainval and test"),
        (["train", "val", "trainval"], "train and val"),
        (["train", "test"], "train and test"),
        (["train", "valid", "test"], "train and valid"),
        (["train2017", "val2017"], "train2017 and val2017"),
        (["Training", "Validation", "Testing"], "Training and Validation"),
        (["trainval", "val"], "drawn by seed 1: 2 of 16"),
        (["", "val"], "drawn by seed 1: 2 of 16"),
    ],
)
def test_the_split_of_the_folder(there, wanted):
    dataset = pictures({split: list("aabbaabb") for split in there})
    assert folders.choose(dataset, None, 1).origin.startswith(("its own split: " + wanted, wanted))


def test_a_drawn_split_keeps_rare_classes():
    dataset = pictures({"": ["rare"] + ["often"] * 30 + ["two"] * 2})
    for seed in range(8):
        split = folders.choose(dataset, None, seed)
        names = [picture.classes[0] for picture in split.train]
        assert "rare" in names
        assert [picture.classes[0] for picture in split.test].count("two") == 1
        assert len(names) + len(split.test) == 33
        again = folders.choose(dataset, None, seed)
        assert [p.scene.path for p in again.test] == [p.scene.path for p in split.test]
    named = folders.choose(pictures({"a": ["x"] * 4, "b": ["x"] * 3}), None, 1, "a", "b")
    assert (len(named.train), len(named.test)) == (4, 3)
    with pytest.raises(DataError, match="no split 'c'; there: a"):
        folders.choose(pictures({"a": ["x"] * 4}), None, 1, "c")
    with pytest.raises(DataError, match="the folder has 1 picture; it takes one to learn from"):
        folders.choose(pictures({"": ["x"]}), None, 1)


def test_yolo_as_ultralytics_and_roboflow_have_it(drawn, capsys, tmp_path):
    for nested in (False, True):
        root = tmp_path / f"y{nested}"
        for split, numbers in (("train", range(12)), ("valid", range(12, 16))):
            for kind, end in (("images", "jpg"), ("labels", "txt")):
                to = root / split / kind if nested else root / kind / split
                to.mkdir(parents=True)
                for i in numbers:
                    shutil.copy(drawn["yolo"] / kind / f"{i:06d}.{end}", to)
        inline = "names: ['circle', 'box', triangle]\n"
        (root / "data.yaml").write_text(
            "nc: 3\n" + (inline if nested else "names:\n  0: circle # a\n  1: box\n  2: triangle\n")
        )
        status, out, _ = new(capsys, *SMALL, "--data", root, "--out", f"o{nested}")
        assert status == 0
        assert "yolo, its own split: train and valid" in out
    assert records(Path("oTrue/test_lmdb")).keys() == records(Path("oFalse/test_lmdb")).keys()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("names: {0: cat, 1: dog}", ["cat", "dog"]),
        ("names: {\n  1: 'big dog', # the other\n  0: cat,\n}\nnc: 2", ["cat", "big dog"]),
        ('{"names": 1}', []),
        ("names:\n  1: dog\n  0: cat\nnc: 2", ["cat", "dog"]),
        ("names:\n  0: cat\n  2: dog", ["cat", "", "dog"]),
        ("names: ['a, b', \"it's\"] # two", ["a, b", "it's"]),
        ("names: [cat, # one\n  'it''s']", ["cat", "it's"]),
        ("\ufeffnames: [cat, a:b]", ["cat", "a:b"]),
        ("'names':\r\n- 'cat'\r\n- \"dog # 2\"\r\n- bird # 3\r\nnc: 3", ["cat", "dog # 2", "bird"]),
        ("names: cat", []),
    ],
)
def test_names_in_yaml(text, names, tmp_path):
    (tmp_path / "args.yaml").write_text("epochs: 3\n")
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8", newline="")
    assert yolo_names.yaml_names(folders.Files(tmp_path)) == names


def test_yolo_names_pose_and_places(tmp_path):
    """Marks of Windows, key points behind boxes, Images/ and Labels/ below a folder called images, and lists that differ."""
    root = tmp_path / "images" / "own"
    for split in ("train", "val"):
        for folder in ("Images", "Labels"):
            (root / folder / split).mkdir(parents=True)
        Image.new("RGB", (40, 20)).save(root / "Images" / split / "1.jpg")
        text = "\ufeff0 0.5 0.5 0.2 0.2 0.1 0.9 2 0.9 0.1 2\r\n2 0.5 0.5 0.5 0.5\r\n"
        (root / "Labels" / split / "1.txt").write_text(text, encoding="utf-8", newline="")
    (root / "data.yaml").write_text("kpt_shape: [2, 3]\nnames:\n  0: cat\n  2: dog\n")
    read = folders.read(root, folders.recognise(root))
    for split in ("train", "val"):
        (picture,) = read.splits[split]
        assert (picture.scene.wrong, picture.classes) == ("", ["cat", "dog"])
        np.testing.assert_allclose(picture.scene.corners, [[16, 8, 24, 12], [10, 5, 30, 15]])
    (root / "Labels/val/1.txt").write_text("1 0.5 0.5 0.2 0.2\n")
    (picture,) = folders.read(root, "yolo").splits["val"]
    assert "line 1: class 1, counted from 0, has no name" in picture.scene.wrong
    for split, text in {"train": "cat\n\ndog\nbird\n", "val": "\ufeffcat\r\n"}.items():
        (root / "Labels" / split / "classes.txt").write_text(text, encoding="utf-8")
    assert folders.read(root, "yolo").listed == ["cat", "", "dog", "bird"]
    (root / "Labels/val/classes.txt").write_text("dog\ncat\n")
    with pytest.raises(
        DataError, match=r"class 0, counted from 0, is 'dog' in .*val/classes\.txt and 'cat' in .*train"
    ):
        folders.read(root, "yolo")


def test_yolo_without_names_takes_those_of_the_list(drawn, capsys, tmp_path):
    root = Path(shutil.copytree(drawn["yolo"], tmp_path / "y"))
    (root / "classes.txt").unlink()
    assert "the labels have class 2, counted from 0" in new(capsys, *SMALL, "--data", root)[2]
    Path("labels.txt").write_text("circle\nbox\n")
    assert "--classes names 2: name all" in new(capsys, *SMALL, "--data", root, "--classes", "labels.txt")[2]
    Path("labels.txt").write_text("circle\nbox\ntriangle\n")
    status, _, _ = new(capsys, *SMALL, "--data", root, "--classes", "labels.txt", "--out", "m")
    assert status == 0
    assert read_labels("m/labelmap.prototxt")[1] == "circle"  # the order of the list


def test_coco_with_two_files_and_crowds(drawn, capsys, tmp_path):
    root = tmp_path / "c"
    tables = json.loads((drawn["coco"] / "annotations/instances_all.json").read_text())
    (root / "annotations").mkdir(parents=True)
    tables["annotations"][0]["iscrowd"] = 1
    for split, images in (("train2017", tables["images"][:12]), ("val2017", tables["images"][12:])):
        (root / split).mkdir()
        for image in images:
            shutil.copy(drawn["coco"] / "images" / image["file_name"], root / split)
        ids = {image["id"] for image in images}
        own = {**tables, "images": images, "annotations": [a for a in tables["annotations"] if a["image_id"] in ids]}
        (root / "annotations" / f"instances_{split}.json").write_text(json.dumps(own))
    (root / "annotations" / "captions_val2017.json").write_text('{"images": [], "annotations": []}')
    status, out, _ = new(capsys, *SMALL, "--data", root, "--out", "m")
    assert status == 0
    assert "coco, its own split: train2017 and val2017" in out
    assert "1 objects to learn from are difficult, or crowds" in out
    assert sum(int(boxes[:, 6].sum()) for boxes in records(Path("m/train_lmdb")).values()) == 1


def test_a_class_that_only_the_test_has_is_left_out():
    dataset = pictures({"train": ["cat", "dog"], "test": ["cat", "cow"]})
    for picture in (p for split in dataset.splits.values() for p in split):
        picture.scene.corners, picture.scene.difficult = np.array([[1.0, 1, 5, 5]]), [False]
    split = folders.choose(dataset, None, 1)
    assert folders.settle(dataset, split, []) == ["cat", "dog"]
    assert split.dropped == ["cow"]
    assert [picture.scene.labels for picture in (*split.train, *split.test)] == [[1], [2], [1], []]
    dataset = pictures({"train": [], "test": ["cow"]})
    split = folders.Split(dataset.splits["train"], dataset.splits["test"], "")
    with pytest.raises(DataError, match="no picture to learn from has an object: choose"):
        folders.settle(dataset, split, [])


def test_classes(voc, capsys):
    Path("labels.txt").write_text("circle\nboxx\n")
    status, _, err = new(capsys, *SMALL, "--data", "own", "--classes", "labels.txt")
    assert status == 1
    assert "labels.txt does not have 2 of the classes of the pictures: 'box' (" in err
    assert "; did you mean 'boxx'?" in err
    words = (*SMALL, "--data", "own", "--classes", "labels.txt", "--leave-out-others", "--out", "m")
    status, _, err = new(capsys, *words)
    assert status == 1
    assert "no picture to learn from has an object of 'boxx'; did you mean 'box'?" in err
    Path("labels.txt").write_text("circle\ncircle\n")
    assert "labels.txt has 'circle' twice" in new(capsys, *words)[2]
    Path("labels.txt").write_text("triangle\ncircle\n")
    status, out, err = new(capsys, *words)
    assert (status, err) == (0, "")
    assert "have no object and are left out" in out or len(records(Path("m/train_lmdb"))) > 8
    assert read_labels("m/labelmap.prototxt") == {0: "background", 1: "triangle", 2: "circle"}
    every = np.concatenate([*records(Path("m/train_lmdb")).values(), *records(Path("m/test_lmdb")).values()])
    assert set(every[:, 0]) == {1, 2}


# What is refused


def test_pictures_that_cannot_be_used_are_counted_or_refused(voc, capsys):
    (voc / "JPEGImages" / "000001.jpg").write_bytes(b"no picture")
    text = voc / "Annotations" / "000002.xml"
    text.write_text(text.read_text().replace("<xmax>", "<xmax>9"))
    difficult = voc / "Annotations" / "000003.xml"
    difficult.write_text(difficult.read_text().replace("<difficult>0", "<difficult>1"))
    status, out, err = new(capsys, *SMALL, "--data", "own", "--out", "m")
    assert status == 0
    assert "1 pictures were skipped" in out
    assert "own/JPEGImages/000001.jpg is not an image that Pillow can read" in err
    assert "clipped: own/Annotations/000002.xml: the box" in err
    assert "leaves the picture of 256x256" in err
    assert "1 boxes reached beyond" in out or "2 boxes reached beyond" in out
    assert {name[:6] for name in {**records(Path("m/train_lmdb")), **records(Path("m/test_lmdb"))}} >= {
        "000000",
        "000003",
    }
    assert "difficult, or crowds" in out or not records(Path("m/train_lmdb")).keys() & {"000003.jpg"}
    status, _, err = new(capsys, *SMALL, "--data", "own", "--out", "s", "--strict")
    assert (status, Path("s").exists()) == (1, False)
    assert not list(Path().glob("s.*"))


def test_a_class_called_background_is_refused(tmp_path):
    for name in ("a", "b"):
        Image.new("RGB", (8, 8)).save(tmp_path / f"{name}.png")
    row = "png,{},1,1,5,5\n"
    head = "filename,class,xmin,ymin,xmax,ymax\n"
    (tmp_path / "a.csv").write_text(
        head + "".join(f"{n}.{row.format(c)}" for n in "ab" for c in ("Background", "zebra"))
    )
    read = folders.read(tmp_path, "csv")
    split = folders.choose(read, 0.5, 1)
    with pytest.raises(DataError, match="a class is called 'Background', which is what a net calls"):
        folders.settle(read, split, [])
    assert folders.settle(read, split, ["zebra"], "names", leave_out=True) == ["zebra"]


def test_two_spellings_of_a_class_are_asked_about(voc, capsys):
    text = voc / "Annotations" / "000002.xml"
    name = text.read_text().partition("<name>")[2].partition("</name>")[0]
    text.write_text(text.read_text().replace(f"<name>{name}", f"<name>{name.upper()} ", 1))
    status, _, err = new(capsys, *SMALL, "--data", "own", "--out", "m")
    assert status == 1
    assert f"{name!r}" in err
    assert f"{name.upper()!r} (1): did you mean one class?" in err
    Path("names").write_text("".join(f"{name}\n" for name in [*NAMES, name.upper()]))
    err = new(capsys, *SMALL, "--data", "own", "--out", "m", "--classes", "names")[2]
    assert "did you mean" not in err


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        ((0.1, 0.1, 0.15, 0.15), "small"), ((0, 0, 1, 0.95), "large"), ((0, 0, 0.8, 0.1), "long"),
        ((0.55, 0.55, 0.85, 0.85), "place"),
    ],
)  # fmt: skip
def test_why_an_object_overlaps_no_prior(box, reason):
    priors = np.array([[0.0, 0.0, 0.3, 0.3], [0.4, 0.4, 0.6, 0.6]])
    assert reasons(np.array([box]), priors) == {reason: 1}


@pytest.mark.parametrize(
    ("size", "count", "maps"), [(64, 8, (8, 4, 4, 2)), (128, 8, (16, 8, 8, 4)), (160, 12, (20, 10, 10, 5))]
)
def test_larger_inputs_of_the_small_net_get_more_convolutions(size, count, maps):
    net = Net(ssd.small("deploy", size).to_proto(), device="cpu")
    names = [layer.name for layer in net.param.layer]
    assert [name for name in names if re.fullmatch(r"conv\d+", name)] == [f"conv{i}" for i in range(1, count + 1)]
    heads = [name.removesuffix("_mbox_loc") for name in names if name.endswith("_mbox_loc") and name != "mbox_loc"]
    assert tuple(net.blobs[head].shape[2] for head in heads) == maps


def test_smaller_objects_get_smaller_priors(voc, capsys):
    def sizes() -> list[tuple[float, float]]:
        status, out, _ = new(capsys, "--backbone", "small", "--data", "own", "--out", "m", "--force")
        assert status == 0
        shares.append(float(re.search(r"priors: ([\d.]+)% of the objects", out)[1]))
        net = read_net("m/train.prototxt")
        (first,) = (layer for layer in net.layer if layer.name == "conv5_mbox_priorbox")
        values = {layer.name: layer.convolution_param.num_output for layer in net.layer}
        assert values["conv5_mbox_loc"] == 4 * 4 * len(first.prior_box_param.min_size)
        return list(zip(first.prior_box_param.min_size, first.prior_box_param.max_size))

    shares: list[float] = []
    assert sizes() == [(18, 34)]
    for path in Path("own/Annotations").iterdir():
        tree = ElementTree.parse(path)
        side = int(tree.findtext("size/width")) // 12
        for box in tree.iter("bndbox"):
            for axis in "xy":
                box.find(f"{axis}max").text = str(int(float(box.findtext(f"{axis}min"))) + side)
        tree.write(path)
    assert sizes() == [(18, 34), (9, 18)]
    assert shares[1] > 40  # none overlaps a prior of 18, and half of them lie between the places


def test_folders_that_are_none(voc, capsys, tmp_path):
    def error(*words: object) -> str:
        status, out, err = new(capsys, *SMALL, *words)
        assert (status, out) == (1, "")
        return err

    assert "there is no folder nowhere; it must hold pictures" in error("--data", "nowhere")
    Path("empty").mkdir()
    assert "the folder empty is empty; it must hold" in error("--data", "empty")
    Path("empty/notes.txt").write_text("")
    assert "empty is none of the known formats. It holds 1 .txt; what is looked for" in error("--data", "empty")
    assert "; the folder Annotations beside it may hold its annotations: give --data own" in error(
        "--data", "own/JPEGImages"
    )
    Path("empty/a.xml").write_text("")
    assert "empty is none of the known formats: a.xml is not XML. It holds" in error("--data", "empty")
    Path("empty/boxes.csv").write_text("filename,label\n")
    assert "boxes.csv has no column left and no top and no right and no bottom. It" in error("--data", "empty")
    (voc / "JPEGImages/000000.txt").write_text("0 0.5 0.5 0.5 0.5")
    assert "own could be voc or yolo: say which with --format" in error("--data", "own")
    assert new(capsys, *SMALL, "--data", "own", "--format", "voc")[0] == 0
    for path in (voc / "Annotations").glob("*.xml"):
        path.write_text("<annotation><object>")
    assert "has an object; 16 more cannot be used, the first: " in error(
        "--data", "own", "--format", "voc", "--out", "z"
    )
    assert "too small for vgg: give 257 or more" in error("--data", "own", "--backbone", "vgg", "--size", 100)


def test_a_folder_that_exists(voc, capsys, monkeypatch):
    words = (*SMALL, "--data", "own", "--out", "m")
    Path("m").mkdir()
    assert "m exists already; name another with --out, or replace it with --force" in new(capsys, *words)[2]
    assert "m was not written by `boxpresso new`" in new(capsys, *words, "--force")[2]
    Path("m").rmdir()
    assert new(capsys, *words)[0] == 0
    before = Path("m/solver.prototxt").stat().st_ino
    with monkeypatch.context() as patch:  # a failure on the way leaves all as it was

        def fail(*args: Any, **kwargs: Any) -> None:
            raise OSError(28, "No space left on device")

        patch.setattr(project.texts, "readme", fail)
        status, _, err = new(capsys, *words, "--force")
        assert status == 1
        assert "cannot write m: No space left on device" in err
    assert Path("m/solver.prototxt").stat().st_ino == before
    assert sorted(p.name for p in Path().iterdir()) == ["m", "own"]
    assert new(capsys, *words, "--force")[0] == 0
    assert Path("m/solver.prototxt").stat().st_ino != before
    Path("m/snapshots/small_iter_9.caffemodel").write_text("weeks of work")
    assert "the folder of before, with its snapshots, is now m.1" in new(capsys, *words, "--force")[1]
    assert Path("m.1/snapshots/small_iter_9.caffemodel").read_text() == "weeks of work"
    assert sorted(p.name for p in Path().iterdir()) == ["m", "m.1", "own"]


@pytest.mark.parametrize(
    ("kind", "backbone"), [(kind, name) for kind, rules in schedule.RULES.items() for name in rules]
)
@pytest.mark.parametrize("pretrained", [False, True])
def test_schedules_are_sensible(kind, backbone, pretrained):
    rule = schedule.RULES[kind][backbone]
    for train in (1, 7, 40, 300, 5000, 100000):
        for test in (1, 13, 60, 4952):
            plan = schedule.plan(kind, backbone, train, test, pretrained)
            assert plan.test_batch * plan.test_iter == test
            assert 1 <= plan.batch * plan.iter_size <= train
            assert max(plan.batch, plan.test_batch) <= (rule.at_once or 16)
            most = max(rule.most, plan.test_interval)
            assert rule.fewest <= plan.iterations <= most * 1.1
            assert (plan.test_interval + 50) * plan.batch >= test
            assert plan.iterations % plan.test_interval == plan.test_interval % plan.display == 0
            assert plan.snapshot % plan.test_interval == 0
    few = schedule.plan(kind, backbone, 40, 4, pretrained, iterations=5, batch=3, rate=0.5)
    assert (few.iterations, few.batch * few.iter_size, few.rate, few.iterations % few.test_interval) == (5, 3, 0.5, 0)
    assert schedule.plan(kind, backbone, 40, 4, pretrained, iterations=350).test_interval in (25, 35, 50)
    prime = schedule.plan(
        kind, backbone, 40, 4, pretrained, iterations=10007
    )  # it had one test and one snapshot, at its end
    assert (prime.iterations, prime.test_interval, prime.snapshot) == (10007, 500, 2000)


def large_shapes(root: Path, count: int) -> None:
    """A YOLO folder of pictures that are learned fast: one or two red discs and blue squares, a third to a half of a side."""
    for name in ("images", "labels"):
        (root / name).mkdir(parents=True)
    (root / "classes.txt").write_text("disc\nsquare\n")
    for number in range(count):
        rng = np.random.default_rng([7, number])
        image = Image.fromarray(rng.integers(90, 150, (96, 96, 3)).astype(np.uint8))
        lines = []
        for half in range(int(rng.integers(1, 3))):  # one in each half
            label, side = int(rng.integers(2)), int(rng.integers(30, 46))
            x, y = 48 * half + int(rng.integers(0, 48 - side + 1)), int(rng.integers(0, 96 - side + 1))
            pen = ImageDraw.Draw(image)
            shape = pen.ellipse if label == 0 else pen.rectangle
            shape((x, y, x + side - 1, y + side - 1), fill=((230, 60, 40), (40, 70, 230))[label])
            lines.append(f"{label} {(x + side / 2) / 96} {(y + side / 2) / 96} {side / 96} {side / 96}\n")
        image.save(root / "images" / f"{number:03d}.png")
        (root / "labels" / f"{number:03d}.txt").write_text("".join(lines))


@pytest.mark.slow
def test_the_small_net_learns(tmp_path, capsys):
    """From a folder of pictures to a detector; docs/train_your_own.md reaches 0.96 on harder ones."""
    large_shapes(tmp_path / "shapes", 120)
    words = ("--backbone", "small", "--size", 64, "--data", "shapes", "--out", "m", "--iterations", 120)
    assert new(capsys, *words, "--test-share", 0.2)[0] == 0
    solver = Solver("m/solver.prototxt", log=lambda line: None)
    solver.solve()
    assert solver.test()[0]["detection_eval"] > 0.8
