"""boxpresso.dnn against cv2.dnn: numbers that OpenCV 4.14 computed stand here, recorded outputs of 4.12 in ../shared."""

from __future__ import annotations

import json
import platform
import warnings
from types import ModuleType

import numpy as np
import pytest
from PIL import Image
from places import ROOT
from shared import SHARED, cases, need, recorded

from boxpresso import BoxpressoError, ModelError, Net, dnn
from boxpresso.dnn import net as dnn_net
from boxpresso.proto import BoxpressoWarning, parse_net

MODELS = SHARED / "models"
REPORT = json.loads((MODELS / "opencv_ref/report.json").read_text()) if MODELS.exists() else {}
CASES = [(name, entry["files"][0]) for name, entry in REPORT.items() if entry["files"]]
SHAPES = ROOT / "examples" / "shapes"
IMAGE = np.array(
    [[[10, 20, 30], [200, 150, 100], [0, 255, 7]], [[5, 60, 250], [90, 80, 70], [33, 44, 55]]], np.uint8
)  # fmt: skip


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")


@pytest.mark.parametrize(("name", "file"), cases(CASES, "models/opencv_ref", 2), ids=lambda x: x.removesuffix(".npz"))
def test_recorded_outputs(name, file):
    entry, case = REPORT[name], recorded(MODELS / "opencv_ref" / file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        net = dnn.readNetFromCaffe(str(need(f"models/{entry['prototxt']}")), str(MODELS / entry["caffemodel"]))
    assert len(net.getLayerNames()) == entry.get("n_layers", len(net.getLayerNames()))
    for key in case:
        if key.startswith("in:"):
            net.setInput(case[key], key[3:] if key[3:] in net.inputs() else "")
    wanted = [key[4:] for key in case if key.startswith("out:")]
    assert set(wanted) <= set(net.getUnconnectedOutLayersNames()) | set(net.getLayerNames())
    outputs = net.forward(wanted)
    assert isinstance(outputs, tuple)
    for layer, output in zip(wanted, outputs):
        value = case[f"out:{layer}"]
        assert (output.shape, output.dtype) == (value.shape, value.dtype), layer
        worst = np.abs(output - value).max(initial=0)
        assert worst <= 1e-4 * max(np.abs(value).max(initial=0), 1e-6), f"{layer}: worst difference {worst}"
    np.testing.assert_array_equal(net.forward(wanted[0]), outputs[0])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [[[10, 200, 0], [5, 90, 33]], [[20, 150, 255], [60, 80, 44]], [[30, 100, 7], [250, 70, 55]]]),
        (
            {"size": (4, 3)},
            [
                [[10, 129, 125, 0], [8, 93, 97, 17], [5, 58, 68, 33]],
                [[20, 101, 189, 255], [40, 87, 128, 150], [60, 72, 66, 44]],
                [[30, 74, 65, 7], [140, 106, 65, 31], [250, 137, 64, 55]],
            ],
        ),
        (
            {"size": (2, 2), "mean": (1, 2, 3), "swapRB": True, "scalefactor": 0.5},
            [[[23.5, 14.5], [102, 29]], [[25.5, 113.5], [31.5, 25.5]], [[27.5, 23.5], [11.5, 22]]],
        ),
        (
            {"size": (3, 3), "crop": True},
            [
                [[10, 105, 167], [8, 76, 124], [5, 47, 80]],
                [[20, 85, 167], [40, 78, 121], [60, 70, 74]],
                [[30, 65, 84], [140, 113, 76], [250, 160, 67]],
            ],
        ),
    ],
    ids=["plain", "stretched", "swapped", "cropped"],
)
def test_blob_from_image(options, expected):
    blob = dnn.blobFromImage(IMAGE, **options)
    assert (blob.dtype, blob.flags.c_contiguous) == (np.float32, True)
    np.testing.assert_array_equal(blob[0], expected)
    np.testing.assert_array_equal(dnn.blobFromImages([IMAGE, IMAGE], **options), np.repeat(blob, 2, 0))


def test_blob_of_floats_and_bytes():
    expected = [
        [[57.5, 50], [41.875, 48.625], [26.25, 47.25]],
        [[52.5, 228.75], [58.75, 140.875], [65, 53]],
        [[47.5, 30.25], [126.25, 44.5], [205, 58.75]],
    ]
    np.testing.assert_allclose(dnn.blobFromImage(IMAGE.astype(np.float32), size=(2, 3))[0], expected, atol=1e-4)
    assert dnn.blobFromImage(IMAGE, ddepth=dnn.CV_8U).dtype == np.uint8
    assert dnn.blobFromImage(IMAGE[:, :, 0]).shape == (1, 1, 2, 3)
    np.testing.assert_array_equal(dnn.imagesFromBlob(dnn.blobFromImage(IMAGE))[0], IMAGE)
    assert [image.shape for image in dnn.imagesFromBlob(np.zeros((2, 3, 1, 4), np.float32))] == [(1, 4, 3)] * 2
    assert dnn.imagesFromBlob(np.zeros((1, 1, 1, 1), np.float32))[0].shape == (1, 1)


def test_letterbox_and_layout():
    params = dnn.Image2BlobParams(
        size=(4, 4), paddingmode=dnn.DNN_PMODE_LETTERBOX, borderValue=(9, 8, 7), datalayout=dnn.DNN_LAYOUT_NHWC
    )
    blob = dnn.blobFromImageWithParams(IMAGE, params)
    edge = [[9, 8, 7]] * 4
    assert blob[0].tolist() == [
        edge,
        [[10, 20, 30], [129, 101, 74], [125, 189, 65], [0, 255, 7]],
        [[5, 60, 250], [58, 73, 138], [69, 67, 64], [33, 44, 55]],
        edge,
    ]
    params = dnn.Image2BlobParams((2, 1, 1, 1), (4, 4), (1, 2, 3), True, paddingmode=2, borderValue=(9, 8, 7))
    blob = dnn.blobFromImageWithParams(IMAGE, params)
    assert blob[0, :, 0, 0].tolist() == [12, 6, 6]
    assert blob[0, :, 1, 0].tolist() == [58, 18, 7]
    # sides are products in float, 25 * 0.76 = 19 of 19 columns here; a border is rounded and kept within a byte
    image = (np.arange(45 * 25 * 3) % 251).astype(np.uint8).reshape(45, 25, 3)
    params = dnn.Image2BlobParams(size=(19, 39), paddingmode=2, borderValue=(114.7, 300, -5))
    blob = dnn.blobFromImageWithParams(image, params)[0]
    assert (blob[:, 0, 0].tolist(), blob[:, 2, 0].tolist()) == ([115, 255, 0], [12, 13, 15])
    assert (blob[:, 20, 18].tolist(), blob.sum()) == ([113, 114, 115], 270919)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dnn.blobFromImage(None), "None: was the file read"),
        (lambda: dnn.blobFromImage(np.zeros((2, 2, 5))), "1 to 4 channels"),
        (lambda: dnn.blobFromImages([]), "no images"),
        (lambda: dnn.blobFromImages([IMAGE, IMAGE[:, :, 0]]), r"\[1, 3\] channels"),
        (lambda: dnn.blobFromImage(IMAGE, ddepth=6), "ddepth must be"),
        (lambda: dnn.blobFromImage(IMAGE, mean=1, ddepth=dnn.CV_8U), "no mean or scale"),
        (lambda: dnn.blobFromImage(IMAGE, mean=(1,) * 5), "mean has at most 4"),
        (lambda: dnn.blobFromImage(IMAGE, size=(0, 5)), r"above 0, or \(0, 0\) for the image's own, got \(0, 5\)"),
        (lambda: dnn.blobFromImage(IMAGE, size=(-1, -1)), r"got \(-1, -1\)"),
        (
            lambda: dnn.blobFromImageWithParams(IMAGE, dnn.Image2BlobParams(size=(1, 9), paddingmode=2)),
            "3 x 2 pixels in a letterbox of 1 x 9 keeps no pixel",
        ),
        (lambda: dnn.imagesFromBlob(IMAGE), r"takes a blob \(N, C, H, W\)"),
        (lambda: dnn.NMSBoxes([[0, 0, 1]], [1], 0, 0), "boxes of 4 numbers"),
        (lambda: dnn.NMSBoxes([[0, 0, 1, 1]], [1, 2], 0, 0), "2 scores"),
        (lambda: dnn.NMSBoxesBatched([[0, 0, 1, 1]], [1], [1, 2], 0, 0), "class_ids"),
        (lambda: dnn.softNMSBoxes([[0, 0, 1, 1]], [1], 0, 0, method=3), "method must be"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(BoxpressoError, match=words):
        call()


BOXES = [
    [20, 24, 9, 13], [0, 24, 9, 24], [14, 15, 7, 22], [18, 8, 20, 21], [29, 1, 6, 12], [8, 11, 17, 14], [17, 12, 17, 18],
    [3, 1, 17, 5], [0, 1, 24, 15], [4, 29, 22, 9], [5, 19, 11, 22], [22, 7, 7, 5],
]  # fmt: skip
SCORES = [0.679, 0.87, 0.227, 0.895, 0.872, 0.019, 0.707, 0.001, 0.503, 0.437, 0.203, 0.325]


def test_suppression_is_opencvs():
    for arguments, expected in (
        ((0.1, 0.3), [3, 4, 1, 0, 8, 9, 11, 2, 10]),
        ((0.1, 0.6, 0.8), [3, 4, 1, 0, 8, 9, 11, 2, 10]),
        ((0.1, 0.3, 1, 5), [3, 4, 1, 0]),
        ((0.5, 0.3), [3, 4, 1, 0, 8]),
    ):
        indices = dnn.NMSBoxes(BOXES, SCORES, *arguments)
        assert indices.dtype == np.int32
        assert indices.tolist() == expected
    batched = dnn.NMSBoxesBatched(BOXES, SCORES, [0, 1] * 6, 0.1, 0.3)
    assert batched.tolist() == [3, 4, 1, 6, 0, 8, 9, 11, 2, 10]
    rotated = [((x, y), (w, h), 10 * i) for i, (x, y, w, h) in enumerate(BOXES)]
    assert dnn.NMSBoxesRotated(rotated, SCORES, 0.1, 0.3).tolist() == [3, 4, 1, 0, 8, 9, 2, 10]
    inside = [((0, 0), (20, 20), 45), ((0, 0), (4, 4), 10)]  # wholly in another: the overlap is 1 for OpenCV
    assert dnn.NMSBoxesRotated(inside, [0.9, 0.8], 0.1, 0.9).tolist() == [0]
    assert dnn.NMSBoxes([], [], 0.5, 0.4) == () == dnn.NMSBoxes(BOXES, SCORES, 0.99, 0.4)


@pytest.mark.parametrize(
    ("inner", "kept"),
    [
        ((0, 0, 2, 2, 0), [0]),  # wholly inside
        ((1, 0, 2, 2, 0), [0, 1]),  # on a side of the other, as boxes are that are clipped at the edge of a picture
        ((4, 0, 4, 4, 360), [0, 1]),  # beside it
        ((0, 0, 4, 4, 90), [0]),  # the same
        ((0, 0, 2, 0, 45), [0, 1]),  # without an area
    ],
)
def test_rotated_boxes_that_touch(inner, kept):
    """What 4.12 keeps of a box 4 x 4 and another."""
    x, y, width, height, angle = map(float, inner)
    boxes = [((0.0, 0.0), (4.0, 4.0), 0.0), ((x, y), (width, height), angle)]
    assert list(dnn.NMSBoxesRotated(boxes, [0.9, 0.8], 0.0, 0.0 if x == 4 else 0.3)) == kept


def test_an_adaptive_threshold():
    """After the first box the threshold is 0.9 * 0.5 = 0.45, which the second box's overlap of 0.5 exceeds."""
    boxes, scores = [[0, 0, 10, 10], [0, 0, 10, 5], [50, 50, 1, 1]], [0.9, 0.8, 0.7]
    assert dnn.NMSBoxes(boxes, scores, 0.1, 0.9).tolist() == [0, 1, 2]
    assert dnn.NMSBoxes(boxes, scores, 0.1, 0.9, 0.5).tolist() == [0, 2]


def test_soft_suppression_is_opencvs():
    scores, indices = dnn.softNMSBoxes(BOXES, SCORES, 0.2, 0.3, method=dnn.SOFT_NMSMETHOD_SOFTNMS_LINEAR)
    assert indices.tolist() == [3, 4, 1, 0, 8, 9, 11, 6, 2, 10]
    np.testing.assert_allclose(
        scores, [0.895, 0.872, 0.87, 0.679, 0.503, 0.437, 0.325, 0.283423, 0.227, 0.203], atol=1e-6
    )
    scores, indices = dnn.softNMSBoxes(BOXES, SCORES, 0.2, 0.3)
    assert indices.tolist() == [3, 1, 4, 0, 8, 9, 6, 11]
    np.testing.assert_allclose(
        scores, [0.895, 0.87, 0.864677, 0.667734, 0.498693, 0.397641, 0.328797, 0.321783], atol=1e-6
    )
    assert len(dnn.softNMSBoxes(BOXES, SCORES, 0.2, 0.3, top_k=3)[1]) == 3


NET = b"""name: "n" input: "x" input_shape { dim: 1 dim: 2 } input: "z" input_shape { dim: 1 dim: 2 }
layer { name: "twice" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }
layer { name: "positive" type: "ReLU" bottom: "y" top: "y" }
layer { name: "cut" type: "Slice" bottom: "y" top: "a" top: "b" slice_param { axis: 1 } }
layer { name: "more" type: "Power" bottom: "z" top: "w" power_param { shift: 1 } }"""


def small():
    net = dnn.readNetFromCaffe(NET)
    net.setInput(np.array([[-1, 3]], np.float32))
    net.setInput(np.array([[5, 6]], np.float32), "z")
    return net


def test_layers_by_name_and_number():
    net = small()
    assert not net.empty()
    assert net.getLayerNames() == ("twice", "positive", "cut", "more")
    assert (net.getLayerId("cut"), net.getLayerId("nothing")) == (3, -1)
    assert (net.getLayer(2).name, net.getLayer("cut").type) == ("positive", "Slice")
    assert net.getUnconnectedOutLayersNames() == ("cut", "more")
    assert net.getUnconnectedOutLayers().tolist() == [3, 4]
    assert net.getLayerTypes() == ("Power", "ReLU", "Slice", "__NetInputLayer__")
    assert (net.getLayersCount("Power"), net.getLayersCount("__NetInputLayer__")) == (2, 1)
    assert (net.getLayerId("_input"), net.getLayer(0).name, net.getLayer(0).type) == (0, "_input", "")
    assert [net.getLayer(0).outputNameToIndex(name) for name in (*net.net.inputs, "im_info", "")] == [0, 1, -1, -1]
    assert net.getLayer(2).outputNameToIndex("anything") == 0  # as OpenCV's layers say
    assert 'name: "positive"' in net.dump()
    assert dnn.Net().empty()


@pytest.mark.parametrize(
    ("shape", "mean", "expected"),
    [  # what 4.12 makes of 100
        ((1, 3, 1, 1), 5, [95, 100, 100]),
        ((1, 3, 1, 1), (2, 2), [98, 98, 100]),
        ((1, 4, 1, 1), (1, 2, 3), [99, 98, 97, 100]),
        ((1, 1, 1, 1), (1, 2, 3, 4), [99]),
        ((2,), (5,), [95, 95]),
    ],
)
def test_a_mean_is_a_scalar(shape, mean, expected):
    """Of four numbers, those that are missing are 0."""
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { %s } } } '
    text += 'layer { name: "p" type: "AbsVal" bottom: "x" top: "y" }'
    net = dnn.readNetFromCaffe((text % " ".join(f"dim: {n}" for n in shape)).encode())
    net.setInput(np.full(shape, 100, np.float32), "", 1.0, mean)
    assert net.forward().ravel().tolist() == expected
    with pytest.raises(BoxpressoError, match=r"a mean is of four channels at most, .* the blob 5 channels"):
        net.setInput(np.zeros((1, 5, 1, 1), np.float32), mean=mean)


def test_names_of_convolutions_and_splits():
    """As OpenCV 4.12 counts them: a Convolution by its tops, and a Split that the prototxt has."""
    one = "kernel_size: 1 num_output: 1 weight_filler { value: 2 }"
    net = dnn.readNetFromCaffe(
        f"""input: "x" input_shape {{ dim: 1 dim: 1 dim: 1 dim: 1 }}
        layer {{ name: "s" type: "Split" bottom: "x" top: "a" top: "b" }}
        layer {{ name: "c" type: "Convolution" bottom: "a" bottom: "b" top: "u" top: "v" convolution_param {{ {one} }} }}
        layer {{ name: "d" type: "ConvolutionDepthwise" bottom: "u" top: "w" convolution_param {{ {one} }} }}
        layer {{ name: "r" type: "Power" bottom: "u" top: "z" power_param {{ scale: 3 }} }}""".encode()
    )
    net._missing = []  # fillers are weights enough here
    for name in ("c", "d"):
        net.net.params[name][0].data[...] = 2
    assert net.getLayerNames() == ("s", "u", "v", "d", "r")
    assert net.getUnconnectedOutLayersNames() == ("v", "d", "r")
    assert (net.getLayerId("v"), net.getLayer(3).type, net.getLayersCount("Split")) == (3, "Convolution", 1)
    assert len(net.getPerfProfile()[1]) == 5
    net.setInput(np.full((1, 1, 1, 1), 5, np.float32))
    assert [float(y.ravel()[0]) for y in net.forward(["u", "v", "d", "r", "s"])] == [10, 10, 20, 30, 5]
    assert [len(tops) for tops in net.forwardAndRetrieve(["s", "v"])] == [2, 1]


def test_forward_in_every_form():
    net = small()
    assert net.forward().tolist() == [[6, 7]]  # the last layer
    assert net.forward("twice").tolist() == [[-2, 6]]  # as it is before a later layer works in place
    assert net.forward("cut").tolist() == [[0]]
    outputs = net.forward(["more", "twice", "positive"])
    assert [output.tolist() for output in outputs] == [[[6, 7]], [[-2, 6]], [[0, 6]]]
    assert [o.tolist() for o in net.forwardAndRetrieve(["cut"])[0]] == [[[0]], [[6]]]
    net.setInput(np.array([[1, 2], [3, 4]], np.float32), "x", 2, (1, 1))
    assert net.forward("twice").tolist() == [[0, 4], [8, 12]]
    net.setInput(np.array([[1, 2]], np.uint8), "x")
    assert net.forward("twice").tolist() == [[2, 4]]
    total, ticks = net.getPerfProfile()
    assert (type(total), ticks.shape, ticks.dtype) == (int, (4,), np.float64)
    assert total == pytest.approx(ticks.sum(), abs=4)


def test_what_a_net_refuses():
    net = small()
    for call, words in (
        (lambda: net.forward("twise"), "Requested layer \"twise\" not found; did you mean 'twice'"),
        (lambda: net.setInput(np.zeros((1, 2), np.float32), "q"), 'Requested blob "q" not found'),
        (lambda: net.setInput(np.zeros((1, 2), bool)), "array of numbers, such as float32 or uint8, got bool"),
        (lambda: net.getLayer(9), "no layer 9"),
        (lambda: net.setInputShape("q", (1,)), "not found"),
        (lambda: dnn.Net().forward(), "the net is empty"),
    ):
        with pytest.raises(BoxpressoError, match=words):
            call()
    with pytest.raises(TypeError, match="path or bytes"):
        dnn.readNetFromCaffe(3)
    with pytest.raises(ModelError, match=r"no\.prototxt"):
        dnn.readNetFromCaffe("no.prototxt")
    with pytest.raises(ModelError, match="not those of 'onnx'"):
        dnn.readNet("a.onnx", framework="onnx")


def test_files_buffers_and_missing_weights():
    proto, model = SHAPES / "deploy.prototxt", SHAPES / "shapes.caffemodel"
    assert dnn.readNet(str(model), str(proto), None).getLayerNames()  # as OpenCV's samples call it
    nets = [
        dnn.readNetFromCaffe(str(proto), str(model)),
        dnn.readNetFromCaffe(proto.read_bytes(), bytearray(model.read_bytes())),
        dnn.readNetFromCaffe(np.frombuffer(proto.read_bytes(), np.uint8), np.frombuffer(model.read_bytes(), np.uint8)),
        dnn.readNet(str(model), str(proto)),
        dnn.readNet(str(proto), str(model), "Caffe"),
    ]
    blob = np.random.default_rng(0).integers(0, 256, (2, 3, 128, 128)).astype(np.float32)
    first = None
    for net in nets:
        net.setInput(blob)
        output = net.forward()
        first = output if first is None else first
        np.testing.assert_array_equal(output, first)
    assert first.shape == (1, 1, 100, 7)  # keep_top_k of each image
    assert [b.shape for b in nets[0].getLayer("conv1").blobs] == [(16, 3, 3, 3)]
    empty = dnn.readNetFromCaffe(str(proto))
    empty.setInput(blob)
    with pytest.raises(ModelError, match=r"the layers conv1, .* have no weights"):
        empty.forward()
    for buffer, words in ((b"<html>", "HTML"), (model.read_bytes()[:5000], "incomplete"), (b"", "empty")):
        with pytest.raises(ModelError, match=words):
            dnn.readNetFromCaffe(proto.read_bytes(), buffer)


def test_parameters_are_read_and_set(tmp_path):
    """The shapes are OpenCV 4.12's."""
    text = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 4 dim: 9 dim: 8 } } }
        layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 6 kernel_h: 3 kernel_w: 2 group: 2 } }
        layer { name: "bn" type: "BatchNorm" bottom: "c" top: "bn" }
        layer { name: "r" type: "PReLU" bottom: "bn" top: "r" prelu_param { channel_shared: true } }
        layer { name: "f" type: "InnerProduct" bottom: "r" top: "f" inner_product_param { num_output: 5 } }
        layer { name: "d" type: "Deconvolution" bottom: "r" top: "d" convolution_param { num_output: 3 kernel_size: 4 } }"""
    made = Net(parse_net(text), device="cpu", seed=1)
    made.save(tmp_path / "w.caffemodel")
    net = dnn.readNetFromCaffe(text.encode(), (tmp_path / "w.caffemodel").read_bytes())
    shapes = {
        "c": [(6, 2, 3, 2), (6, 1)],
        "bn": [(6, 1), (6, 1), (1, 1)],
        "r": [(1, 1)],
        "f": [(5, 6 * 7 * 7), (1, 5)],
        "d": [(6, 3, 4, 4), (3, 1)],
    }
    for name, each in shapes.items():
        assert [net.getParam(name, i).shape for i in range(len(each))] == each
    np.testing.assert_array_equal(net.getParam(1), made.params["c"][0].data)
    x = np.random.default_rng(0).standard_normal((1, 4, 9, 8)).astype(np.float32)
    net.setInput(x)
    before = net.forward("f")
    net.getParam("f", 1)[...] = 7  # a copy
    net.setParam(4, 1, np.arange(5.0).reshape(5, 1))
    np.testing.assert_allclose(net.forward("f"), before + np.arange(5), rtol=1e-5, atol=1e-5)
    for call, words in {
        lambda: net.getParam("q"): "has no layer 'q'",
        lambda: net.getParam("r", 1): "'r' has 1 parameters, and none of number 1",
        lambda: net.setParam(
            "c", 1, np.zeros(5)
        ): r"parameter 1 of layer 'c' has the shape \(6,\), the array given \(5,\)",
    }.items():
        with pytest.raises(BoxpressoError, match=words):
            call()


def scene():
    return np.asarray(Image.open(SHAPES / "scene.png").convert("RGB"))[:, :, ::-1]


def test_detection_model():
    """Classes, scores and boxes are those of cv2.dnn_DetectionModel for the same files."""
    model = dnn.DetectionModel(str(SHAPES / "shapes.caffemodel"), str(SHAPES / "deploy.prototxt"))
    classes, scores, boxes = model.detect(scene(), 0.5)
    assert (classes.dtype, scores.dtype, boxes.dtype) == (np.int32, np.float32, np.int32)
    assert classes.tolist() == [2, 1, 1, 3, 3]
    np.testing.assert_allclose(scores, [0.9999511, 0.9980623, 0.9978236, 0.9977308, 0.9974509], atol=1e-5)
    assert boxes.tolist() == [
        [51, 228, 76, 85], [79, 136, 74, 74], [257, 67, 236, 255], [278, 328, 129, 126], [11, 10, 101, 80],
    ]  # fmt: skip
    assert len(model.detect(scene(), 0.01)[0]) == 7
    assert model.detect(scene(), 0.99999) == ((), (), ())
    rows = model.net.forward()[0, 0]
    assert (np.diff(rows[:7, 2]) <= 0).all()
    assert not rows[7:].any()
    assert model.setNmsAcrossClasses(True).getNmsAcrossClasses()
    same = dnn.DetectionModel(model.net)
    same.setInputParams(1.0, (128, 128))
    assert same.detect(scene(), 0.5, 0.4)[0].tolist() == [2, 1, 1, 3, 3]


def test_other_models():
    text = b'input: "x" input_shape { dim: 1 dim: 3 dim: 2 dim: 2 } layer { name: "sum" type: "Reduction" bottom: "x" top: "s" reduction_param { axis: 2 } }'
    model = dnn.ClassificationModel(dnn.readNetFromCaffe(text)).setInputMean((0, 0, 0)).setInputScale(0.5)
    image = np.zeros((2, 2, 3), np.uint8) + np.array([1, 9, 3], np.uint8)
    assert model.classify(image) == (1, 18.0)
    assert model.setInputSwapRB(True).setInputCrop(True).setInputSize((2, 2)).predict(image)[0].tolist() == [[6, 18, 2]]
    with pytest.raises(BoxpressoError, match='Unknown output layer type: "Reduction"'):
        dnn.DetectionModel(model.net).detect(image)
    with pytest.raises(BoxpressoError, match="size of the input is not known"):
        model.setInputSize(0, 0).predict(image)


def test_a_box_in_pixels_or_fractions():
    assert dnn.models.whole_box(np.array([0.1, 0.2, 0.5, 0.9], np.float32), 100, 50) == (10, 10, 41, 36)
    assert dnn.models.whole_box(np.array([10, 20, 50, 90], np.float32), 100, 50) == (10, 20, 41, 30)
    assert dnn.models.whole_box(np.array([-3, -3, 500, 500], np.float32), 100, 50) == (0, 0, 100, 50)


def test_backends_and_targets(monkeypatch):
    net = small()
    net.setPreferableBackend(dnn.DNN_BACKEND_OPENCV)
    net.setPreferableTarget(dnn.DNN_TARGET_CPU)
    net.enableFusion(False)
    net.enableWinograd(False)
    with pytest.warns(BoxpressoWarning, match="no OpenCL"):
        net.setPreferableTarget(dnn.DNN_TARGET_OPENCL)
    monkeypatch.setattr(dnn_net, "devices", lambda: ["cpu"])
    with pytest.warns(BoxpressoWarning, match="no GPU answers"):
        net.setPreferableTarget(dnn.DNN_TARGET_CUDA)
    with pytest.warns(BoxpressoWarning, match="no GPU answers"):
        net.setPreferableBackend(dnn.DNN_BACKEND_CUDA)
    assert net.forward().tolist() == [[6, 7]]
    seen = []
    monkeypatch.setattr(dnn_net, "devices", lambda: ["cpu", "cuda:0"])
    monkeypatch.setattr(net, "_build", lambda: seen.append(net._device))
    net.setPreferableTarget(dnn.DNN_TARGET_CUDA)
    net.setPreferableTarget(dnn.DNN_TARGET_CPU)
    assert seen == ["cuda", "cpu"]


def test_side_by_side_with_opencv():
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    rng = np.random.default_rng(0)
    for turn in range(30):
        height, width = rng.integers(5, 90, 2)
        image = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
        size = tuple(int(x) for x in rng.integers(4, 100, 2))
        options = {
            "scalefactor": 0.5,
            "size": size,
            "mean": (1.5, 2, 3),
            "swapRB": bool(turn % 2),
            "crop": turn % 3 == 0,
        }
        blob, theirs = (program.blobFromImage(image, **options) for program in (dnn, cv2.dnn))
        step = 0 if platform.machine() == "x86_64" else 0.5  # OpenCV's resizing on ARM rounds in another place
        np.testing.assert_allclose(blob, theirs, rtol=0, atol=step)
        boxes = np.hstack([rng.integers(0, 50, (30, 2)), rng.integers(1, 40, (30, 2))])
        scores = rng.random(30).astype(np.float32)
        eta, top_k = float(rng.choice([1, 0.8])), int(rng.choice([0, 9]))
        theirs = cv2.dnn.NMSBoxes(boxes.tolist(), scores.tolist(), 0.1, 0.6, eta, top_k)
        assert dnn.NMSBoxes(boxes, scores, 0.1, 0.6, eta, top_k).tolist() == list(theirs)


# Names, registered layers, boxes of blobs


class Window:
    """OpenCV's own example of a registered layer: the middle of input 0, as large as input 1."""

    def __init__(self, params, blobs):
        self.params, self.blobs = params, blobs
        MADE.append(self)

    def getMemoryShapes(self, inputs):
        (n, c, h, w), (_, _, height, width) = inputs
        self.y, self.x = (h - height) // 2, (w - width) // 2
        return [[n, c, height, width]]

    def forward(self, inputs):
        h, w = inputs[1].shape[2:]
        return [inputs[0][:, :, self.y : self.y + h, self.x : self.x + w]]


MADE: list[Window] = []
WINDOW = b"""input: "a" input_shape { dim: 1 dim: 2 dim: 5 dim: 5 } input: "b" input_shape { dim: 1 dim: 2 dim: 3 dim: 3 }
    layer { name: "cut" type: "%s" bottom: "a" bottom: "b" top: "cut" crop_param { axis: 2 offset: 1 offset: 1 } }
    layer { name: "twice" type: "Power" bottom: "cut" top: "twice" power_param { scale: 2 } }"""


@pytest.mark.parametrize("kind", ["CropCaffe", "Crop"])  # a type of one's own, and one that is replaced
def test_registered_layers(kind):
    a, b = np.arange(50, dtype=np.float32).reshape(1, 2, 5, 5), np.zeros((1, 2, 3, 3), np.float32)
    dnn.registerLayer(kind, Window)
    try:
        net = dnn.readNetFromCaffe(WINDOW % kind.encode())
        assert net.getLayer("cut").type == kind
        assert net.getLayersCount(kind) == 1
        net.setInput(a, "a")
        net.setInput(b, "b")
        np.testing.assert_array_equal(net.forward(), 2 * a[:, :, 1:4, 1:4])
        assert MADE[-1].params == {"axis": 2, "offset": [1, 1]}
        net.setInput(b[:, :, :1], "b")  # another shape
        assert net.forward().shape == (1, 2, 1, 3)
    finally:
        dnn.unregisterLayer(kind)
    np.testing.assert_array_equal(net.forward().shape, (1, 2, 1, 3))  # a net that is there keeps its class
    with pytest.raises(BoxpressoError, match="is registered"):
        dnn.unregisterLayer(kind)
    with pytest.raises(BoxpressoError, match="no method getMemoryShapes"):
        dnn.registerLayer("Odd", object)


def test_registered_layers_get_their_weights(tmp_path):
    text = """input: "x" input_shape { dim: 1 dim: 3 } layer { name: "y" type: "InnerProduct" bottom: "x" top: "y"
        inner_product_param { num_output: 2 weight_filler { type: "gaussian" } } }"""
    plain = Net(parse_net(text), device="cpu", seed=3)
    plain.save(tmp_path / "w.caffemodel")

    class Product(Window):
        def getMemoryShapes(self, inputs):
            return [[inputs[0][0], len(self.blobs[0])]]

        def forward(self, inputs):
            return [inputs[0] @ self.blobs[0].T + self.blobs[1]]

    dnn.registerLayer("InnerProduct", Product)
    try:
        net = dnn.readNetFromCaffe(text.encode(), str(tmp_path / "w.caffemodel"))
        x = np.array([[1, 2, 3]], np.float32)
        net.setInput(x)
        np.testing.assert_allclose(net.forward(), plain.forward(x=x)["y"], rtol=1e-5)
        assert [blob.shape for blob in net.getLayer("y").blobs] == [(2, 3), (2,)]
    finally:
        dnn.unregisterLayer("InnerProduct")


BOXES_OF_4_12 = {  # what OpenCV 4.12 makes of two boxes of a blob 300 x 300, for an image 640 x 480
    dnn.DNN_PMODE_NULL: [[21, 32, 64, 64], [2, 3, 6, 6]],
    dnn.DNN_PMODE_CROP_CENTER: [[96, 32, 48, 64], [81, 3, 4, 6]],
    dnn.DNN_PMODE_LETTERBOX: [[21, -36, 64, 85], [2, -74, 6, 8]],
}


@pytest.mark.parametrize("mode", list(BOXES_OF_4_12))
def test_boxes_of_a_blob(mode):
    params = dnn.Image2BlobParams(size=(300, 300), paddingmode=mode)
    got = params.blobRectsToImageRects([(10, 20, 30, 40), (1, 2, 3, 4)], (640, 480))
    assert got.dtype == np.int32
    assert got.tolist() == BOXES_OF_4_12[mode]
    one = params.blobRectToImageRect((10, 20, 30, 40), (640, 480))
    assert list(one) == BOXES_OF_4_12[mode][0]
    assert type(one[0]) is int
    cut = dnn.Image2BlobParams(size=(24, 8), paddingmode=dnn.DNN_PMODE_CROP_CENTER)
    got = cut.blobRectsToImageRects([(6, -18, -18, 12), (-13, 24, -12, -8)], (52, 18))
    assert got.tolist() == [[12, -38, -39, 26], [-28, 52, -26, -17]]  # places in double, of 4.12
    with pytest.raises(BoxpressoError, match="size of the blob"):
        dnn.Image2BlobParams().blobRectToImageRect((0, 0, 1, 1), (2, 2))


def test_scale_factors_are_scalars():
    params = dnn.Image2BlobParams()
    assert params.scalefactor == (1, 1, 1, 1)
    params.scalefactor = 2.0
    assert params.scalefactor == (2, 0, 0, 0)  # as in OpenCV
    params.scalefactor = (1, 2, 3, 4)
    params.scalefactor = (7, 8)
    assert params.scalefactor == (7, 8, 3, 4)  # what a sequence lacks stays
    image = np.full((2, 2, 3), 10, np.uint8)
    blob = dnn.blobFromImageWithParams(image, dnn.Image2BlobParams((1, 2, 3, 4)))
    assert blob[0, :, 0, 0].tolist() == [10, 20, 30]
    assert dnn.blobFromImage(image, 2.0)[0, :, 0, 0].tolist() == [20, 20, 20]


def test_targets():
    assert dnn.DNN_TARGET_CPU in dnn.getAvailableTargets(dnn.DNN_BACKEND_OPENCV)
    assert dnn.getAvailableTargets(dnn.DNN_BACKEND_VKCOM) == ()


def test_restoring():
    """With a module that is like OpenCV 5's: it has no readNetFromCaffe, and readers of its own."""
    from boxpresso.dnn.restoring import put_into

    theirs = ModuleType("cv2.dnn")
    theirs.readNet = lambda *args: ("theirs", args)
    theirs.readNetFromONNX = lambda name: ("theirs", name)
    cv2 = ModuleType("cv2")
    cv2.dnn = theirs
    for _ in range(2):  # a second time changes nothing
        put_into(cv2, dnn)
        assert cv2.dnn.readNetFromCaffe is dnn.readNetFromCaffe
        assert cv2.dnn_registerLayer is dnn.registerLayer
        assert cv2.dnn.readNetFromONNX("a.onnx") == ("theirs", "a.onnx")
        assert cv2.dnn.readNet("a.onnx")[0] == "theirs"
        with pytest.raises(BoxpressoError, match=r"missing\.prototxt"):
            cv2.dnn.readNet("missing.caffemodel", "missing.prototxt")
        text = b'input: "x" input_shape { dim: 1 dim: 2 } layer { name: "y" type: "Power" bottom: "x" top: "y" }'
        with pytest.raises(BoxpressoError, match="the buffer of the weights is empty"):
            cv2.dnn.readNet("caffe", bytearray(), bytearray(text))
        assert cv2.dnn.readNet("onnx", bytearray())[0] == "theirs"


def test_names_are_those_of_opencv():
    """Constants by value, and what OpenCV has that is not here: readers of other formats and models that need them."""
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    if not hasattr(cv2.dnn, "readNetFromCaffe"):
        pytest.skip("this OpenCV is of version 5")
    names = [name for name in dir(cv2.dnn) if not name.startswith("_")]
    values = {name: getattr(cv2.dnn, name) for name in names if isinstance(getattr(cv2.dnn, name), int)}
    assert {name: getattr(dnn, name, None) for name in values} == values
    missing = {name for name in names if not hasattr(dnn, name)}
    others = ("ONNX", "Tensorflow", "Torch", "Darknet", "TFLite", "ModelOptimizer", "Text", "Keypoints", "Segmentation")
    others += ("InferenceEngine", "Myriad", "HDDL")  # of OpenVINO, in builds with it
    assert {name for name in missing if not any(word in name for word in others)} <= {
        "DictValue", "Layer", "shrinkCaffeModel",
    }  # fmt: skip


def test_a_net_of_layers_that_are_added():
    net = dnn.Net()
    params = {"kernel_w": 3, "kernel_h": 3, "stride_w": 3, "stride_h": 3, "pool": "ave"}
    assert net.addLayerToPrev("pool", "Pooling", dnn.CV_32F, params) == 1
    with pytest.raises(BoxpressoError, match="waits for setInput"):
        net.forward()
    x = np.random.default_rng(0).standard_normal((1, 2, 9, 12)).astype(np.float32)
    net.setInput(x)
    wanted = x.reshape(1, 2, 3, 3, 4, 3).mean((3, 5))
    np.testing.assert_allclose(net.forward(), wanted, rtol=1e-5, atol=1e-6)
    assert net.addLayerToPrev("less", "Power", dnn.CV_32F, {"scale": -1}) == 2
    net.setInput(x)
    np.testing.assert_allclose(net.forward(), -wanted, rtol=1e-5, atol=1e-6)
    for name, kind, dtype, fields, message in (
        ("pool", "ReLU", dnn.CV_32F, {}, "has a layer 'pool' already"),
        ("x", "ReLU", dnn.CV_8U, {}, "compute in CV_32F"),
        ("x", "Relux", dnn.CV_32F, {}, "unknown type"),
        ("x", "Pooling", dnn.CV_32F, {"kernel": 3}, "has no field 'kernel'"),
    ):
        with pytest.raises(BoxpressoError, match=message):
            net.addLayerToPrev(name, kind, dtype, fields)


SURGERY = b"""input: "x" input_shape { dim: 1 dim: 2 dim: 3 dim: 3 }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 2 kernel_size: 1 } }
layer { name: "r" type: "Scale" bottom: "c" top: "r" scale_param { bias_term: false } }
layer { name: "end" type: "Silence" bottom: "r" }"""


def test_weights_that_a_script_sets():
    """As scripts that colour pictures do: blobs of a layer as a whole, whose second, the bias, may be left out."""
    net = dnn.readNetFromCaffe(SURGERY)  # without a .caffemodel
    x = np.arange(18, dtype=np.float32).reshape(1, 2, 3, 3)
    w, s = np.float32([[1, 2], [3, 4]]), np.float32([[2, -1]])
    net.setInput(x)
    with pytest.raises(BoxpressoError, match="no weights"):
        net.forward()
    net.getLayer(net.getLayerId("c")).blobs = [w.reshape(2, 2, 1, 1)]
    net.getLayer("r").blobs = [s]
    wanted = np.einsum("oc,ncij->noij", w, x) * s[0, :, None, None]
    assert np.allclose(net.forward(), wanted)
    net.setParam("c", 1, [10, 20])  # after a pass, too
    assert net.getParam("c", 1).tolist() == [[10], [20]]
    assert np.allclose(net.forward(), wanted + np.float32([20, -20])[:, None, None])
    layer = net.getLayer("c")
    layer.blobs = [w.reshape(2, 2, 1, 1)]
    assert [blob.tolist() for blob in layer.blobs] == [w.reshape(2, 2, 1, 1).tolist(), [0, 0]]
    assert np.allclose(net.forward(), wanted)


def test_weights_that_do_not_fit():
    net = dnn.readNetFromCaffe(SURGERY)
    with pytest.raises(BoxpressoError, match=r"blob 0 of the layer 'c' has the shape \(2, 2, 1, 1\), got \(3,\)"):
        net.getLayer("c").blobs = [np.zeros(3)]
    with pytest.raises(BoxpressoError, match="'r' has 1 blobs, got 2"):
        net.getLayer("r").blobs = [np.zeros(2), np.zeros(2)]
    with pytest.raises(BoxpressoError, match="has no weights"):
        net.getLayer(0).blobs = []
    with pytest.raises(BoxpressoError, match="'c' has 2 parameters, and none of number 2"):
        net.setParam("c", 2, 0)


def test_weights_that_were_refused_are_not_set_when_the_net_is_built_anew():
    """A class that is registered after the net was read builds it anew, with the weights as they were given."""
    net = dnn.readNetFromCaffe(SURGERY)
    array = np.eye(2, dtype=np.float32)
    net.getLayer("c").blobs = [array]
    array[:] = 7  # of the script, from now on
    with pytest.raises(BoxpressoError, match="blob 0"):
        net.getLayer("c").blobs = [np.zeros(3)]

    class Doubled:
        def __init__(self, params, blobs):
            pass

        def getMemoryShapes(self, inputs):
            return inputs

        def forward(self, inputs):
            return [2 * inputs[0]]

    dnn.registerLayer("Scale", Doubled)
    try:
        x = np.arange(18, dtype=np.float32).reshape(1, 2, 3, 3)
        net.setInput(x)
        assert np.array_equal(net.forward(), 2 * x)
    finally:
        dnn.unregisterLayer("Scale")


def test_a_silence_gives_what_it_reads():
    """As in OpenCV; the net that colours pictures ends with one."""
    net = dnn.readNetFromCaffe(SURGERY)
    x = np.arange(18, dtype=np.float32).reshape(1, 2, 3, 3)
    net.getLayer("c").blobs = [np.eye(2)]
    net.setParam("r", 0, [3, 3])
    net.setInput(x)
    assert net.getUnconnectedOutLayersNames() == ("end",)
    assert np.allclose(net.forward(), 3 * x)
    both = net.forward(["c", "end"])
    assert np.allclose(both[0], x)
    assert np.allclose(both[1], 3 * x)
    assert np.allclose(net.forwardAndRetrieve(["end"])[0][0], 3 * x)


def test_a_class_that_is_registered_after_the_net_was_read():
    """OpenCV makes its layers at the first pass: edge detectors read HED, then register their Crop, which cuts the middle."""

    class Middle:
        def __init__(self, params, blobs):
            pass

        def getMemoryShapes(self, inputs):
            return [[*inputs[0][:2], *inputs[1][2:]]]

        def forward(self, inputs):
            return [inputs[0][:, :, 2:4, 2:4]]

    model = b"""input: "x" input_shape { dim: 1 dim: 1 dim: 6 dim: 6 } input: "like" input_shape { dim: 1 dim: 1 dim: 2 dim: 2 }
    layer { name: "s" type: "Scale" bottom: "x" top: "s" scale_param { bias_term: false } }
    layer { name: "crop" type: "Crop" bottom: "s" bottom: "like" top: "crop" crop_param { offset: 0 } }"""
    x, like = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6), np.zeros((1, 1, 2, 2), np.float32)
    net = dnn.readNetFromCaffe(model)
    net.setParam("s", 0, [2])
    net.setInput(x, "x")
    net.setInput(like, "like")
    dnn.registerLayer("Crop", Middle)
    try:
        assert np.array_equal(net.forward(), 2 * x[:, :, 2:4, 2:4])
    finally:
        dnn.unregisterLayer("Crop")
    assert np.array_equal(net.forward(), 2 * x[:, :, 2:4, 2:4])  # the layers are made
