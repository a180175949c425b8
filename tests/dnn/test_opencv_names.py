"""Names of cv2.dnn beside readNetFromCaffe and forward: shapes, memory, models for maps and points, half weights, errors.

Numbers stand here as OpenCV 4.12 gave them for the same nets; the last test asks OpenCV itself, where it is installed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from boxpresso import BoxpressoError, ModelError, Net, dnn
from boxpresso.dnn.errors import raise_as
from boxpresso.proto import NetParameter

TEXT = """input: "data" input_shape { dim: 1 dim: 3 dim: 8 dim: 10 }
    layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
        convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" std: 1 } } }
    layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
    layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param { kernel_size: 2 stride: 2 } }
    layer { name: "dw" type: "Convolution" bottom: "pool1" top: "dwtop"
        convolution_param { num_output: 4 group: 2 kernel_size: 1 bias_term: false weight_filler { type: "gaussian" std: 1 } } }
    layer { name: "sc" type: "Scale" bottom: "dwtop" top: "sc" scale_param { bias_term: true filler { type: "gaussian" std: 1 } } }
    layer { name: "cat" type: "Concat" bottom: "dwtop" bottom: "sc" top: "cat" }
    layer { name: "fc" type: "InnerProduct" bottom: "sc" top: "fc" inner_product_param { num_output: 5
        weight_filler { type: "gaussian" std: 0.3 } } }
    layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }"""
TWO = """input: "d" input_shape { dim: 1 dim: 3 dim: 4 dim: 5 } input: "i" input_shape { dim: 1 dim: 3 }
    layer { name: "b" type: "Power" bottom: "d" top: "b" power_param { scale: -1 } }
    layer { name: "c" type: "Power" bottom: "i" top: "c" power_param { scale: 2 } }"""
MAPS = """input: "d" input_shape { dim: 1 dim: 3 dim: 4 dim: 5 }
    layer { name: "o" type: "Power" bottom: "d" top: "o" }"""
NUMBERS = """input: "d" input_shape { dim: 1 dim: 3 dim: 2 dim: 2 }
    layer { name: "o" type: "Reshape" bottom: "d" top: "o" reshape_param { shape { dim: 1 dim: 6 dim: 2 } } }"""


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_DEVICE", "cpu")


@pytest.fixture
def files(tmp_path):
    """The prototxt and the weights of TEXT."""
    prototxt, weights = tmp_path / "net.prototxt", tmp_path / "net.caffemodel"
    prototxt.write_text(TEXT)
    Net(prototxt, seed=1, device="cpu").save(weights)
    return str(prototxt), str(weights)


def read(text):
    return dnn.readNetFromCaffe(text.encode())


def noise(height, width):
    return np.random.default_rng(0).integers(0, 255, (height, width, 3), np.uint8)


def lists(shapes):
    return [[each.tolist() for each in row] for row in shapes]


def test_shapes_of_layers(files):
    net = dnn.readNetFromCaffe(*files)
    numbers, ins, outs = net.getLayersShapes([2, 3, 8, 10])
    assert (numbers.dtype, numbers.tolist()) == (np.int32, list(range(9)))
    conv, pool = [2, 4, 8, 10], [2, 4, 4, 5]
    assert lists(ins) == [[[2, 3, 8, 10]]] * 2 + [[conv]] * 2 + [[pool]] * 2 + [[pool, pool], [pool], [[2, 5]]]
    assert lists(outs) == [[[2, 3, 8, 10]], [conv], [conv], [pool], [pool], [pool], [[2, 8, 4, 5]], [[2, 5]], [[2, 5]]]
    assert ins[0][0].dtype == np.int32
    assert net.inputs() == {"data": (1, 3, 8, 10)}  # the net's own stay
    net.setInput(np.ones((1, 3, 8, 10), np.float32))
    assert net.forward().shape == (1, 5)
    numbers, ins, outs = read(TWO).getLayersShapes([[2, 3, 4, 5], [1, 3]])
    assert lists(outs) == [[[2, 3, 4, 5], [1, 3]], [[2, 3, 4, 5]], [[1, 3]]]
    with pytest.raises(BoxpressoError, match=r"inputs \['d', 'i'\], and got 1 shapes"):
        read(TWO).getLayersShapes([1, 3, 4, 5])
    with pytest.raises(BoxpressoError, match="conv1"):
        net.getLayersShapes([1, 4, 8, 10])
    assert net.inputs() == {"data": (1, 3, 8, 10)}


def test_memory_of_layers(files):
    net = dnn.readNetFromCaffe(*files)
    shape = [1, 3, 8, 10]
    assert net.getMemoryConsumption(0, shape) == (0, 960)
    assert net.getMemoryConsumption(1, shape) == (448, 1280)
    assert net.getMemoryConsumption(2, [shape]) == (0, 1280)
    assert net.getMemoryConsumption(7, shape) == (1620, 20)
    each = [net.getMemoryConsumption(number, shape) for number in range(9)]
    assert net.getMemoryConsumption(shape) == tuple(sum(part) for part in zip(*each))
    with pytest.raises(BoxpressoError, match="has no layer 9"):
        net.getMemoryConsumption(9, shape)


def test_names_of_inputs():
    net = read(TWO)
    net.setInputsNames(["left", "right"])
    net.setInput(np.ones((1, 3, 4, 5), np.float32), "left")
    net.setInput(np.ones((1, 3), np.float32), "right")
    assert net.forward("b").min() == -1
    assert net.forward("c").tolist() == [[2, 2, 2]]
    with pytest.raises(BoxpressoError, match='Requested blob "d" not found'):
        net.setInput(np.ones((1, 3, 4, 5), np.float32), "d")


def test_segmentation_model():
    model = dnn.SegmentationModel(read(MAPS))
    model.setInputParams(1.0, (5, 4), (0, 0, 0))
    classes = [[1, 1, 2, 1, 1], [1, 2, 1, 0, 0], [2, 1, 0, 2, 1], [1, 0, 0, 2, 0]]
    mask = model.segment(noise(9, 13))
    assert (mask.dtype, mask.tolist()) == (np.uint8, classes)
    own = np.full((4, 5), 9, np.uint8)
    assert model.segment(noise(9, 13), own) is own
    assert own.tolist() == classes
    assert model.segment(np.zeros((9, 13, 3), np.uint8), np.zeros((2, 2), np.float32)).tolist() == [[0] * 5] * 4
    with pytest.raises(BoxpressoError, match=r"the first output has the shape \(1, 6, 2\)"):
        dnn.SegmentationModel(read(NUMBERS)).segment(noise(9, 13))


def test_keypoints_model():
    model = dnn.KeypointsModel(read(MAPS))
    model.setInputParams(1 / 255, (5, 4), (0, 0, 0))
    points = model.estimate(noise(9, 13))
    assert points.dtype == np.float32
    np.testing.assert_allclose(points, [[5.2, 4.5], [10.4, 2.25]], rtol=1e-6)
    assert model.estimate(noise(9, 13), 0.99).tolist() == [[-1, -1], [-1, -1]]
    assert model.estimate(np.zeros((9, 13, 3), np.uint8), -1.0).tolist() == [[0, 0], [0, 0]]
    assert dnn.KeypointsModel(read(MAPS.replace("dim: 3", "dim: 1"))).estimate(noise(9, 13)[:, :, 0]) == ()
    numbers = dnn.KeypointsModel(read(NUMBERS))
    expected = [[165, 148], [62, 72], [165, 98], [76, 92], [204, 83], [148, 64]]
    assert numbers.estimate(noise(9, 13), 900.0).tolist() == expected
    both = MAPS + ' layer { name: "p" type: "Power" bottom: "d" top: "p" power_param { scale: -1 } }'
    several = dnn.KeypointsModel(read(both))
    with pytest.raises(BoxpressoError, match=r"has 2 outputs, \['o', 'p'\]"):
        several.estimate(noise(9, 13))
    several.setOutputNames(["p"]).setInputSize(5, 4)
    assert several.estimate(noise(9, 13)).tolist() == [[-1, -1], [-1, -1]]


def test_a_softmax_after_the_net():
    model = dnn.ClassificationModel(read(NUMBERS))
    model.setInputParams(0.01, (2, 2))
    scores = model.predict(noise(9, 13))[0].astype(np.float64).ravel()
    assert not model.getEnableSoftmaxPostProcessing()
    assert model.classify(noise(9, 13)) == (8, pytest.approx(2.04))
    assert model.setEnableSoftmaxPostProcessing(True) is model
    assert model.getEnableSoftmaxPostProcessing()
    label, score = model.classify(noise(9, 13))
    assert (label, score) == (8, pytest.approx(np.exp(scores[8]) / np.exp(scores).sum(), rel=1e-6))


def test_half_weights(files, tmp_path):
    prototxt, weights = files
    half = str(tmp_path / "half.caffemodel")
    dnn.shrinkCaffeModel(weights, half)
    whole = {layer.name: layer.blobs for layer in NetParameter.FromString(Path(weights).read_bytes()).layer}
    for layer in NetParameter.FromString(Path(half).read_bytes()).layer:
        for before, after in zip(whole[layer.name], layer.blobs):
            values = np.array(before.data, np.float32)
            if layer.type in ("Convolution", "InnerProduct"):
                assert not after.data
                assert after.raw_data_type == 2
                np.testing.assert_array_equal(np.frombuffer(after.raw_data, "<f2"), values.astype(np.float16))
            else:
                np.testing.assert_array_equal(after.data, values)
    outputs = []
    for path in (weights, half):
        net = dnn.readNetFromCaffe(prototxt, path)
        net.setInput(dnn.blobFromImage(noise(8, 10), 0.01))
        outputs.append(net.forward("fc"))
    assert 0 < np.abs(outputs[0] - outputs[1]).max() < 2e-3 * np.abs(outputs[0]).max()
    dnn.shrinkCaffeModel(half, str(tmp_path / "again.caffemodel"))  # what has been shrunk stays
    assert (tmp_path / "again.caffemodel").read_bytes() == Path(half).read_bytes()
    dnn.shrinkCaffeModel(weights, half, ["Scale"])
    kinds = {
        layer.type
        for layer in NetParameter.FromString(Path(half).read_bytes()).layer
        if layer.blobs and layer.blobs[0].raw_data
    }
    assert kinds == {"Scale"}


def test_weights_that_cannot_be_halved(files, tmp_path):
    with pytest.raises(ModelError, match="cannot read nofile: No such file"):
        dnn.shrinkCaffeModel("nofile", str(tmp_path / "half.caffemodel"))
    (tmp_path / "text").write_text("not a model")
    with pytest.raises(ModelError, match=r"is not a \.caffemodel"):
        dnn.shrinkCaffeModel(str(tmp_path / "text"), str(tmp_path / "half.caffemodel"))
    net = NetParameter.FromString(Path(files[1]).read_bytes())
    next(layer for layer in net.layer if layer.name == "conv1").blobs[0].data[3] = 7e4
    (tmp_path / "large.caffemodel").write_bytes(net.SerializeToString())
    with pytest.raises(BoxpressoError, match=r"blob 0 of the layer 'conv1' goes up to 70000"):
        dnn.shrinkCaffeModel(str(tmp_path / "large.caffemodel"), str(tmp_path / "half.caffemodel"))
    assert not (tmp_path / "half.caffemodel").exists()


def test_overloads(files):
    """Each form that OpenCV 4.12's signatures name."""
    prototxt, weights = (Path(name).read_bytes() for name in files)
    x, image = np.ones((1, 3, 8, 10), np.float32), noise(8, 10)
    for net in (
        dnn.readNetFromCaffe(bufferProto=prototxt, bufferModel=weights),
        dnn.readNet("caffe", np.frombuffer(weights, np.uint8), np.frombuffer(prototxt, np.uint8)),
        dnn.readNet(framework="Caffe", bufferModel=weights, bufferConfig=prototxt),
    ):
        net.setInput(x, None)
        np.testing.assert_allclose(net.forward().sum(), 1, rtol=1e-6)
    prob = net.forward(outputName="prob")
    for result in (net.forward(None), net.forward(outputName=None)):
        np.testing.assert_array_equal(result, prob)
    for results in (
        net.forward(outBlobNames=["prob"]), net.forward(("prob",), []), net.forward([]), net.forward([], "prob"),
        net.forward(outputBlobs=[], outputName="prob"), net.forward(np.zeros(1, np.float32), "prob"),
    ):  # fmt: skip
        assert isinstance(results, tuple)
        assert len(results) == 1
        np.testing.assert_array_equal(results[0], prob)
    assert net.getLayer(layerName="conv1").name == net.getLayer(layerId=np.int32(1)).name == "conv1"
    assert net.getParam(layerName="conv1", numParam=1).shape == (4, 1)
    shape = [1, 3, 8, 10]
    assert lists(net.getLayersShapes(netInputShape=shape)[2]) == lists(net.getLayersShapes(netInputShapes=[shape])[2])
    assert net.getMemoryConsumption(netInputShape=shape) == net.getMemoryConsumption(shape)
    assert net.getMemoryConsumption(layerId=1, netInputShapes=[shape]) == (448, 1280)
    model = dnn.ClassificationModel(net)
    assert model.setInputSize(width=10, height=8).setInputSize(size=(10, 8)).enableWinograd(True) is model
    for one, other in zip(model.predict(image, []), model.predict(frame=image, outs=None)):
        np.testing.assert_array_equal(one, other)
    params, own = dnn.Image2BlobParams(), np.zeros((1, 3, 8, 10), np.float32)
    plain = dnn.blobFromImage(image)
    for blob in (
        dnn.blobFromImageWithParams(image, params), dnn.blobFromImageWithParams(image, None, params),
        dnn.blobFromImageWithParams(image=image, param=params), dnn.blobFromImagesWithParams([image], np.zeros(3), params),
    ):  # fmt: skip
        np.testing.assert_array_equal(blob, plain)
    assert np.shares_memory(dnn.blobFromImageWithParams(image, own, params), own)
    np.testing.assert_array_equal(own, plain)


def test_none_is_a_default():
    """It gave an array of NaN for `mean` and `scalefactor`."""
    image = noise(8, 10)
    for name in ("scalefactor", "size", "mean", "swapRB", "crop", "ddepth"):
        np.testing.assert_array_equal(dnn.blobFromImage(image, **{name: None}), dnn.blobFromImage(image))
    net = read(MAPS)
    net.setInput(np.full((1, 3, 4, 5), 7, np.float32), None, None, None)
    assert net.forward().min() == net.forward().max() == 7
    model = dnn.Model(net)
    model.setInputParams(None, (5, 4), None)
    np.testing.assert_array_equal(model.predict(image)[0], dnn.blobFromImage(image, 1, (5, 4)))


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.int32, np.int16, np.uint16, np.int8, np.float16])
def test_inputs_of_other_types(kind):
    """What numpy makes float32 of them; OpenCV 4.12 gives 2 (x - 1) / 2 for each of these types."""
    net = dnn.readNetFromCaffe(MAPS.replace('"o" }', '"o" power_param { scale: 2 } }').encode())
    x = (np.arange(60) - 20 * np.issubdtype(kind, np.signedinteger)).reshape(1, 3, 4, 5).astype(kind)
    net.setInput(x, "", 0.5, (1, 1, 1))
    np.testing.assert_array_equal(net.forward(), x.astype(np.float32) - 1)
    for wrong in (x > 3, x.astype(complex), None):
        with pytest.raises(BoxpressoError, match="setInput takes an array of numbers"):
            net.setInput(wrong)


def test_errors_are_opencvs_where_it_was_restored():
    class Theirs(Exception):
        """As cv2.error: attributes beside the message."""

        code = err = msg = func = None

    calls = [
        lambda: dnn.readNetFromCaffe("missing.prototxt"),
        lambda: read(MAPS).forward("missing"),
        lambda: dnn.DetectionModel(read(MAPS)).detect(noise(9, 13)),
        lambda: dnn.blobFromImage(np.zeros((2, 2, 9), np.uint8)),
        lambda: dnn.NMSBoxes([[1, 2, 3]], [0.5], 0.1, 0.5),
        lambda: dnn.shrinkCaffeModel("missing", "half.caffemodel"),
        lambda: dnn.Image2BlobParams(size=(0, 0)).blobRectsToImageRects(np.zeros((1, 4)), (3, 3)),
    ]
    raise_as(Theirs)
    try:
        for call in calls:
            with pytest.raises(Theirs) as caught:
                call()
            error = caught.value
            assert isinstance(error, BoxpressoError)
            assert (error.code, error.msg, error.err) == (-2, str(error), str(error))
            assert error.func
    finally:
        raise_as(None)
    with pytest.raises(ModelError) as plain:
        dnn.readNetFromCaffe("missing.prototxt")
    assert not isinstance(plain.value, Theirs)


def test_as_opencv_4(files, tmp_path):
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    if not hasattr(cv2.dnn, "readNetFromCaffe"):
        pytest.skip("this OpenCV is of version 5")
    ours, theirs = dnn.readNetFromCaffe(*files), cv2.dnn.readNetFromCaffe(*files)
    for shape in ([1, 3, 8, 10], [2, 3, 8, 10]):
        mine, other = ours.getLayersShapes(shape), theirs.getLayersShapes(shape)
        assert mine[0].tolist() == other[0].tolist()
        assert [lists(part) for part in mine[1:]] == [lists(part) for part in other[1:]]
        assert ours.getMemoryConsumption(shape) == theirs.getMemoryConsumption(shape)
        for number in range(9):
            assert ours.getMemoryConsumption(number, shape) == theirs.getMemoryConsumption(number, shape)
    for name in ("ours", "theirs"):
        (dnn if name == "ours" else cv2.dnn).shrinkCaffeModel(files[1], str(tmp_path / name))
    halves = [NetParameter.FromString((tmp_path / name).read_bytes()) for name in ("ours", "theirs")]
    blobs = [[(blob.raw_data, list(blob.data)) for layer in net.layer for blob in layer.blobs] for net in halves]
    assert blobs[0] == blobs[1]
    for text, size in ((MAPS, (5, 4)), (NUMBERS, (2, 2))):
        nets = read(text), cv2.dnn.readNetFromCaffe(np.frombuffer(text.encode(), np.uint8))
        for image in (noise(9, 13), noise(31, 22)):
            results = []
            for program, net in zip((dnn, cv2.dnn), nets):
                model = program.KeypointsModel(net)
                model.setInputParams(1 / 255, size, (0, 0, 0))
                labels = program.ClassificationModel(net)
                labels.setInputParams(0.01, size, (0, 0, 0))
                labels.setEnableSoftmaxPostProcessing(True)
                results.append((model.estimate(image, 0.3), labels.classify(image)))
            np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-6)
            assert results[0][1] == (results[1][1][0], pytest.approx(results[1][1][1], rel=1e-5))
            if text == MAPS:
                masks = []
                for program, net in zip((dnn, cv2.dnn), nets):
                    model = program.SegmentationModel(net)
                    model.setInputParams(1.0, size, (0, 0, 0))
                    masks.append(model.segment(image))
                np.testing.assert_array_equal(*masks)
