"""Data layers of segmentation nets: FCN's five, against what its Python layers do, written again in numpy."""

from __future__ import annotations

import random
import types
from pathlib import Path

import numpy as np
import pytest
from mat_files import write_mat
from PIL import Image

from boxpresso import LayerError, Net
from boxpresso.data.errors import BrokenRecord
from boxpresso.data.mat import read_mat
from boxpresso.layers.core.python import PythonLayer
from boxpresso.proto import parse_net
from boxpresso.proto.limits import LIMITS

SIFT = "spatial_envelope_256x256_static_8outdoorcategories"
NAMES = ["2007_000032", "2008 a", "2009_3"]
SIZES = [(9, 12), (14, 8), (6, 6)]  # height and width: each picture has its own
MEAN = (104.00699, 116.66877, 122.67892)


def rgb(index: int) -> np.ndarray:
    return np.random.default_rng(index).integers(0, 256, (*SIZES[index], 3)).astype(np.uint8)


def classes(index: int, most: int = 21) -> np.ndarray:
    return np.random.default_rng(50 + index).integers(0, most, SIZES[index]).astype(np.uint8)


def saved(path: Path, pixels: np.ndarray, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


def listed(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{name}\n" for name in NAMES))


def stored(path: Path) -> np.ndarray:
    """What a JPEG decodes to, which is not what was saved."""
    return np.asarray(Image.open(path)).astype(np.float64)


def voc(root: Path) -> Path:
    palette = np.random.default_rng(1).integers(0, 256, 768).astype(np.uint8)
    for i, name in enumerate(NAMES):
        saved(root / "JPEGImages" / f"{name}.jpg", rgb(i))
        label = Image.fromarray(classes(i))
        label.putpalette(palette.tobytes())  # indices, whose colours mean nothing
        (root / "SegmentationClass").mkdir(exist_ok=True)
        label.save(root / "SegmentationClass" / f"{name}.png")
    for split in ("train", "seg11valid"):
        listed(root / "ImageSets" / "Segmentation" / f"{split}.txt")
    return root


def built(layer: str, module: str, count: int, device: str = "cpu", **settings) -> Net:
    names = "".join(f'top: "top{i}" ' for i in range(count))
    text = f'layer {{ name: "data" type: "Python" {names} python_param {{ module: "{module}" layer: "{layer}" param_str: "{settings}" }} }}'
    return Net(parse_net(text), device=device, phase="TRAIN")


def passes(net: Net, count: int) -> list[list[np.ndarray]]:
    """The tops of some forward passes."""
    rounds = []
    for _ in range(count):
        net.forward()
        rounds.append([np.array(blob.data) for blob in net.blobs.values()])
    return rounds


def test_voc_pictures_come_in_order_and_change_the_size(tmp_path, device):
    root = voc(tmp_path)
    net = built("VOCSegDataLayer", "voc_layers", 2, device, voc_dir=str(root), split="seg11valid", mean=MEAN)
    assert net.blobs["top0"].shape == (1, 3, 9, 12)  # known before the first pass
    for step, (data, label) in enumerate(passes(net, 5)):
        i = step % 3
        pixels = stored(root / "JPEGImages" / f"{NAMES[i]}.jpg")[..., ::-1]
        np.testing.assert_array_equal(data[0], (pixels - np.array(MEAN)).transpose(2, 0, 1).astype(np.float32))
        np.testing.assert_array_equal(label[0, 0], classes(i))


@pytest.mark.parametrize("workers", [0, "threads"])
def test_voc_pictures_are_drawn_as_python_draws_them(tmp_path, workers):
    root = voc(tmp_path)
    net = built("VOCSegDataLayer", "voc_layers", 2, voc_dir=str(root), split="train", mean=MEAN, seed=1337)
    net.layers[0].workers = workers
    tool = random.Random(1337)
    wanted = [tool.randint(0, 2) for _ in range(12)]
    assert [classes(i).shape for i in wanted] == [label.shape[2:] for _, label in passes(net, 12)]
    settings = {"voc_dir": str(root), "split": "train", "mean": [1, 2, 3], "randomize": False}
    assert [SIZES[0], SIZES[1]] == [
        label.shape[2:] for _, label in passes(built("VOCSegDataLayer", "voc_layers", 2, **settings), 2)
    ]


def test_sbdd(tmp_path):
    for i, name in enumerate(NAMES):
        saved(tmp_path / "img" / f"{name}.jpg", rgb(i))
        struct = {"Boundaries": "none", "Segmentation": classes(i), "CategoriesPresent": np.ones((2, 1))}
        write_mat(tmp_path / "cls" / f"{name}.mat", compress=i == 1, order="<>"[i % 2], other="text", GTcls=struct)
    listed(tmp_path / "val.txt")
    net = built("SBDDSegDataLayer", "voc_layers", 2, sbdd_dir=str(tmp_path), split="val", mean=MEAN)
    for i, (data, label) in enumerate(passes(net, 3)):
        pixels = stored(tmp_path / "img" / f"{NAMES[i]}.jpg")[..., ::-1]
        np.testing.assert_array_equal(data[0], (pixels - np.array(MEAN)).transpose(2, 0, 1).astype(np.float32))
        np.testing.assert_array_equal(label[0, 0], classes(i))


def test_pascal_context(tmp_path):
    everything = ["accordion", "table", "bed clothes", "cloth", "aeroplane", "cat"]
    task = ["aeroplane", "diningtable", "bedcloth", "clothes"]
    context = tmp_path / "context"
    for i, name in enumerate(NAMES):
        saved(tmp_path / "VOC2010" / "JPEGImages" / f"{name}.jpg", rgb(i))
        write_mat(context / "trainval" / f"{name}.mat", LabelMap=classes(i, 9).astype("u2"))
    (context / "labels.txt").write_text("".join(f"{i}: {name}\n" for i, name in enumerate(everything, 1)))
    (context / "59_labels.txt").write_text("".join(f"{i}: {name}\n" for i, name in enumerate(task, 1)))
    listed(tmp_path / "VOC2010" / "ImageSets" / "Main" / "val.txt")
    settings = {"voc_dir": str(tmp_path), "context_dir": str(context), "split": "val"}
    net = built("PASCALContextSegDataLayer", "pascalcontext_layers", 2, **settings)
    table = {5: 1, 2: 2, 3: 3, 4: 4}  # aeroplane, table, bedclothes, cloth by their place in labels.txt
    for i, (data, label) in enumerate(passes(net, 3)):
        pixels = stored(tmp_path / "VOC2010" / "JPEGImages" / f"{NAMES[i]}.jpg")[..., ::-1].astype(np.float32)
        mean = np.array([104.007, 116.669, 122.679], np.float32)
        np.testing.assert_array_equal(data[0], (pixels - mean).transpose(2, 0, 1))
        np.testing.assert_array_equal(label[0, 0], np.vectorize(lambda v: table.get(v, 0))(classes(i, 9)))
    (context / "59_labels.txt").write_text("1: dog\n")
    with pytest.raises(LayerError, match=r"59_labels.txt has the class 'dog', which is not in labels.txt"):
        built("PASCALContextSegDataLayer", "pascalcontext_layers", 2, **settings)


def test_nyud_and_its_tops(tmp_path):
    depths = [np.random.default_rng(i).integers(300, 9000, SIZES[i]).astype(np.uint16) for i in range(3)]
    for i, name in enumerate(NAMES):
        saved(tmp_path / "data" / "images" / f"img_{name}.png", rgb(i))
        saved(tmp_path / "data" / "hha" / f"img_{name}.png", rgb(i)[::-1])
        saved(tmp_path / "data" / "depth" / f"img_{name}.png", depths[i])
        write_mat(tmp_path / "segmentation" / f"img_{name}.mat", segmentation=classes(i, 41).astype("f8"))
    listed(tmp_path / "test.txt")
    settings = {"nyud_dir": str(tmp_path), "split": "test"}
    net = built("NYUDSegDataLayer", "nyud_layers", 4, tops=["color", "depth", "hha", "label"], **settings)
    for i, (color, depth, hha, label) in enumerate(passes(net, 2)):
        pixels = rgb(i)[..., ::-1].astype(np.float32) - np.array([116.190, 97.203, 92.318], np.float32)
        np.testing.assert_array_equal(color[0], pixels.transpose(2, 0, 1))
        np.testing.assert_allclose(depth[0, 0], np.log(depths[i].astype(np.float64)) - 7.844, rtol=1e-5, atol=1e-6)
        pixels = rgb(i)[::-1].astype(np.float32) - np.array([132.431, 94.076, 118.477], np.float32)
        np.testing.assert_array_equal(hha[0], pixels.transpose(2, 0, 1))
        np.testing.assert_array_equal(
            label[0, 0], [[255 if v == 0 else v - 1 for v in row] for row in classes(i, 41).tolist()]
        )
    with pytest.raises(LayerError, match="tops names 1 tops, the layer has 2"):
        built("NYUDSegDataLayer", "nyud_layers", 2, tops=["color"], **settings)
    with pytest.raises(LayerError, match="tops has 'colour', it may have color, depth, hha, label"):
        built("NYUDSegDataLayer", "nyud_layers", 1, tops=["colour"], **settings)
    depths[0][2, 3] = 0
    saved(tmp_path / "data" / "depth" / f"img_{NAMES[0]}.png", depths[0])
    with pytest.raises(LayerError, match=r"2007_000032.png has the depth 0"):
        built("NYUDSegDataLayer", "nyud_layers", 1, tops=["depth"], **settings)


def test_sift_flow(tmp_path):
    geometry = [np.random.default_rng(i).integers(-1, 4, SIZES[i]).astype("i1") for i in range(3)]
    for i, name in enumerate(NAMES):
        saved(tmp_path / "Images" / SIFT / f"{name}.jpg", rgb(i))
        write_mat(tmp_path / "SemanticLabels" / SIFT / f"{name}.mat", S=classes(i, 34), names="a")
        write_mat(tmp_path / "GeoLabels" / SIFT / f"{name}.mat", S=geometry[i])
    listed(tmp_path / "test.txt")
    net = built("SIFTFlowSegDataLayer", "siftflow_layers", 3, siftflow_dir=str(tmp_path), split="test")
    for i, (data, label, surface) in enumerate(passes(net, 3)):
        pixels = stored(tmp_path / "Images" / SIFT / f"{NAMES[i]}.jpg")[..., ::-1].astype(np.float32)
        mean = np.array([114.578, 115.294, 108.353], np.float32)
        np.testing.assert_array_equal(data[0], (pixels - mean).transpose(2, 0, 1))
        np.testing.assert_array_equal(label[0, 0], classes(i, 34) - np.uint8(1))  # 0 wraps to 255
        np.testing.assert_array_equal(surface[0, 0], np.where(geometry[i] < 1, 255, geometry[i].astype(int) - 1))


def test_wrong_files_are_named(tmp_path):
    root = voc(tmp_path)
    settings = {"voc_dir": str(root), "split": "seg11valid", "mean": MEAN}

    def wrong(match: str, step: int = 0, **changes) -> None:
        with pytest.raises(LayerError, match=match) as caught:
            passes(built("VOCSegDataLayer", "voc_layers", 2, **{**settings, **changes}), step + 1)
        assert "'data'" in str(caught.value)  # the layer's name

    wrong("cannot read the list '.*/none.txt'", split="none")
    wrong("give 'mean' in param_str", mean=None)
    wrong("mean must be three numbers", mean=[1, 2])
    saved(root / "SegmentationClass" / f"{NAMES[1]}.png", classes(2))
    wrong("2008 a: its labels is 6x6, its picture is 8x14", 1)
    saved(root / "SegmentationClass" / f"{NAMES[1]}.png", rgb(1))
    wrong("2008 a.png must hold one number for each pixel", 1)
    (root / "SegmentationClass" / f"{NAMES[1]}.png").unlink()
    wrong("there is no picture .*2008 a.png", 1)
    (root / "JPEGImages" / f"{NAMES[0]}.jpg").write_bytes(b"\xff\xd8 not a picture")
    wrong("2007_000032.jpg", 0)
    (root / "ImageSets" / "Segmentation" / "empty.txt").write_text("\n")
    wrong("is empty", split="empty")


def test_matlab_files(tmp_path, monkeypatch):
    values = np.arange(12, dtype="i2").reshape(3, 4) - 5
    for order in "<>":
        path = write_mat(
            tmp_path / "a.mat", compress=order == ">", order=order, x="text", S=values, T={"in": {"er": values}}
        )
        np.testing.assert_array_equal(read_mat(path, "S"), values)
        np.testing.assert_array_equal(read_mat(path, "T", "in", "er"), values)
    for names, match in [
        (("none",), "it has no variable 'none'; it has x, S, T"), (("x",), "'x' holds no numbers"), (("S", "a"), "no struct"),
        (("T", "out"), "no field 'out'; it has in"), (("T", "in"), "'T.in' holds no numbers"),
    ]:  # fmt: skip
        with pytest.raises(BrokenRecord, match=match):
            read_mat(path, *names)
    whole = path.read_bytes()
    for text, match in [
        (b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM", "version 7.3"), (b"nothing", "not a MATLAB file"),
        (whole[:-9], "it is broken|ends inside|no variable"), (whole[:150] + b"\0\1\2\3" + whole[154:], "broken|ends|no variable"),
    ]:  # fmt: skip
        path.write_bytes(text)
        with pytest.raises(BrokenRecord, match=match):
            read_mat(path, "T", "in", "er")
    monkeypatch.setattr(LIMITS, "expansion_bytes", 1 << 20)
    write_mat(tmp_path / "big.mat", compress=True, S=np.zeros((1 << 12, 1 << 11), "u1"))  # 8 MB of 8 KB
    with pytest.raises(BrokenRecord, match="raise the limit 'expansion_factor'"):
        read_mat(tmp_path / "big.mat", "S")


def test_a_layer_of_the_user_may_load_in_reshape_as_fcns_do(device):
    """Caffe calls reshape before each forward, so that FCN's layers give each picture its own size there."""

    class Growing(PythonLayer):
        size = 1

        def reshape(self, bottom, top):
            top[0].reshape(1, 1, self.size, 2)

        def forward(self, bottom, top):
            top[0].data[...] = self.size
            self.size += 1

    module = types.ModuleType("growing")
    module.Growing = Growing
    net = Net(
        parse_net("""layer { name: "data" type: "Python" top: "data" python_param { module: "growing" layer: "Growing" } }
        layer { name: "sum" type: "Reduction" bottom: "data" top: "sum" }"""),
        device=device,
        python_layers=[module],
    )
    assert [float(net.forward()["sum"]) for _ in range(4)] == [2.0, 8.0, 18.0, 32.0]
    assert net.blobs["data"].shape == (1, 1, 4, 2)
