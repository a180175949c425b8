"""boxpresso.caffe.io and caffe_pb2: images as pycaffe makes them, and messages that Caffe's own programs read."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from google.protobuf import text_format
from PIL import Image

from boxpresso import BoxpressoError, ModelError, caffe
from boxpresso.caffe import io
from boxpresso.caffe.proto import caffe_pb2
from boxpresso.proto import parse_net, read_solver
from boxpresso.proto.binary import parse_blob


def test_messages_have_caffes_numbers():
    """The bytes are worked out from BVLC's caffe.proto: BlobProto shape 7, data 5, diff 6; Datum channels 1 .. label 5."""
    blob = io.array_to_blobproto(np.array([[1, 2]], np.float32), np.array([[3, 4]], np.float32))
    assert blob.SerializeToString().hex() == (
        "2a08" + "0000803f00000040" + "3208" + "0000404000008040" + "3a04" + "0a020102"
    )
    datum = io.array_to_datum(np.array([[[7, 8]]], np.uint8), label=9)
    assert datum.SerializeToString().hex() == "08011001" + "1802" + "2202" + "0708" + "2809"
    layer = caffe_pb2.LayerParameter(name="a", type="ReLU", bottom=["b"], top=["c"])
    assert layer.SerializeToString().hex() == "0a0161" + "120452654c55" + "1a0162" + "220163"
    net = caffe_pb2.NetParameter(name="n", layer=[layer])
    assert net.SerializeToString().hex() == "0a016e" + "a206" + "0f" + layer.SerializeToString().hex()


def test_what_a_fork_made_a_list_is_single_as_in_caffe():
    solver = caffe_pb2.SolverParameter(device_id=2, type="Adam", test_iter=[3])
    solver.device_id = 3
    assert "device_id: 3" in str(solver)
    layer = caffe_pb2.LayerParameter()
    layer.transform_param.resize_param.height = 300
    layer.accuracy_param.ignore_label = 255
    assert layer.transform_param.resize_param.height == 300
    assert not caffe_pb2.LayerParameter().accuracy_param.HasField("ignore_label")


def test_messages_are_those_of_a_generated_module(tmp_path):
    assert (caffe_pb2.Phase.Value("TEST"), caffe_pb2.PoolingParameter.AVE) == (1, 1)
    assert caffe_pb2.PoolingParameter.PoolMethod.DESCRIPTOR.values_by_name["MAX"].number == 0
    assert caffe_pb2.V1LayerParameter.LayerType.Name(4) == "CONVOLUTION"
    assert caffe_pb2.SolverParameter.GPU == 1
    assert caffe_pb2.EmitConstraint.CENTER == 0
    net = caffe_pb2.NetParameter()
    text_format.Merge('name: "x" layer { name: "p" type: "Pooling" pooling_param { pool: AVE } }', net)
    assert parse_net(str(net)).layer[0].pooling_param.pool == 1
    solver = caffe_pb2.SolverParameter(net="net.prototxt", eval_type="detection", ap_version="11point", device_id=1)
    (tmp_path / "s").write_text(str(solver))
    assert read_solver(tmp_path / "s").ap_version == "11point"
    with pytest.raises(AttributeError, match="no 'NoSuchParameter'"):
        caffe_pb2.NoSuchParameter  # noqa: B018


def test_blobs_and_arrays():
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in ((2, 3), (4,), (1, 2, 2, 2))]
    vector = io.arraylist_to_blobprotovector_str(arrays)
    for array, back in zip(arrays, io.blobprotovector_str_to_arraylist(vector)):
        np.testing.assert_allclose(back, array, rtol=1e-6)
    blob = io.array_to_blobproto(arrays[0], -arrays[0])
    np.testing.assert_allclose(io.blobproto_to_array(blob, return_diff=True), -arrays[0], rtol=1e-6)
    np.testing.assert_allclose(parse_blob(blob.SerializeToString()), arrays[0], rtol=1e-6)
    old = caffe_pb2.BlobProto(num=1, channels=1, height=2, width=3, data=range(6))
    assert io.blobproto_to_array(old).shape == (1, 1, 2, 3)
    double = caffe_pb2.BlobProto(double_data=[1, 2])
    double.shape.dim.append(2)
    assert io.blobproto_to_array(double).tolist() == [1, 2]
    assert io.blobproto_to_array(caffe_pb2.BlobProto(data=[5])) == 5
    with pytest.raises(ValueError, match="reshape"):
        io.blobproto_to_array(caffe_pb2.BlobProto(data=[1, 2]))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_datums_and_arrays(dtype):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    datum = io.array_to_datum(array, 3)
    assert (datum.channels, datum.height, datum.width, datum.label) == (2, 3, 4, 3)
    back = io.datum_to_array(datum)
    np.testing.assert_array_equal(back, array)
    back[0] = 0  # not a view of the message
    assert not io.array_to_datum(array).HasField("label")
    with pytest.raises(ValueError, match="Incorrect array shape"):
        io.array_to_datum(array[0])


def test_load_image(tmp_path):
    rgb = np.random.default_rng(0).integers(0, 256, (3, 4, 3), dtype=np.uint8)
    grey, deep = rgb[:, :, 0], rgb[:, :, 0].astype(np.uint16) * 257
    alpha = np.dstack([rgb, grey])
    for name, array in (("rgb", rgb), ("grey", grey), ("deep", deep), ("alpha", alpha)):
        Image.fromarray(array).save(tmp_path / f"{name}.png")
    Image.fromarray(rgb).quantize(256).save(tmp_path / "palette.png")
    np.testing.assert_allclose(io.load_image(tmp_path / "rgb.png"), rgb / 255, atol=1e-7)
    np.testing.assert_allclose(io.load_image(tmp_path / "alpha.png"), rgb / 255, atol=1e-7)
    for name in ("grey", "deep"):
        loaded = io.load_image(tmp_path / f"{name}.png")
        np.testing.assert_allclose(loaded, np.repeat(grey[:, :, None], 3, 2) / 255, atol=1e-6)
        np.testing.assert_allclose(io.load_image(tmp_path / f"{name}.png", color=False)[:, :, 0], grey / 255, atol=1e-6)
    weights = np.array([0.2125, 0.7154, 0.0721])  # scikit-image's rgb2gray
    np.testing.assert_allclose(io.load_image(tmp_path / "rgb.png", False)[:, :, 0], rgb @ weights / 255, atol=1e-6)
    loaded = io.load_image(tmp_path / "palette.png")
    assert (loaded.shape, loaded.dtype) == ((3, 4, 3), np.float32)
    (tmp_path / "broken.png").write_bytes(b"no image")
    for name in ("broken.png", "missing.png"):
        with pytest.raises(BoxpressoError, match=name):
            io.load_image(tmp_path / name)


def test_resize_is_scikit_images():
    """By hand: halves of [0, 4, 8] lie at -1/6, 5/12 .. as centres align; beyond the edge the smallest value counts."""
    row = np.array([[0, 4, 8]], np.float32).T[:, :, None]  # (3, 1, 1), and 3 x 1 pixels become 6 x 1
    expected = [0, 1, 3, 5, 7, 6]  # the last: 8 * 0.75 + 0 * 0.25
    np.testing.assert_allclose(io.resize_image(row, (6, 1))[:, 0, 0], expected, atol=1e-6)
    np.testing.assert_allclose(io.resize_image(row + 1, (6, 1))[:, 0, 0], np.add(expected, 1), atol=1e-6)
    np.testing.assert_allclose(io.resize_image(row, (2, 1))[:, 0, 0], [1, 7], atol=1e-6)
    np.testing.assert_array_equal(io.resize_image(row, (2, 1), 0)[:, 0, 0], [0, 8])
    np.testing.assert_array_equal(io.resize_image(np.full((2, 2, 3), 5.0), (7, 3)), np.full((7, 3, 3), 5.0))


def test_resize_of_other_channels_is_scipys_zoom():
    column = np.array([[0, 4, 8]], np.float32).T[:, :, None].repeat(2, 2)  # the corners stay where they are
    np.testing.assert_allclose(io.resize_image(column, (5, 1))[:, 0, 1], [0, 2, 4, 6, 8], atol=1e-6)
    np.testing.assert_allclose(io.resize_image(column, (5, 1), 0)[:, 0, 1], [0, 4, 4, 8, 8], atol=1e-6)


def test_higher_orders_name_what_they_need(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "skimage", None)
    monkeypatch.setitem(sys.modules, "skimage.transform", None)
    with pytest.raises(BoxpressoError, match="interp_order=3 needs skimage"):
        io.resize_image(np.zeros((3, 3, 3)), (2, 2), 3)


def test_transformer_there_and_back():
    rng = np.random.default_rng(0)
    image = rng.random((5, 6, 3)).astype(np.float32)
    t = io.Transformer({"data": (1, 3, 5, 6)})
    t.set_transpose("data", (2, 0, 1))
    t.set_channel_swap("data", (2, 1, 0))
    t.set_raw_scale("data", 255)
    t.set_mean("data", np.array([1.0, 2.0, 3.0]))
    t.set_input_scale("data", 0.5)
    before = image.copy()
    value = t.preprocess("data", image)
    np.testing.assert_array_equal(image, before)  # pycaffe changes what it is given; nobody relies on it
    np.testing.assert_allclose(value[0], (image[:, :, 2] * 255 - 1) * 0.5, rtol=1e-5, atol=1e-5)
    assert value.dtype == np.float32
    np.testing.assert_allclose(t.deprocess("data", value[None]), image, atol=1e-6)


def test_transformers_mean_image_is_resized():
    t = io.Transformer({"data": (1, 3, 4, 4)})
    mean = np.random.default_rng(0).normal(size=(3, 8, 8))
    t.set_mean("data", mean)
    expected = io.resize_image(mean.transpose(1, 2, 0), (4, 4)).transpose(2, 0, 1)
    np.testing.assert_allclose(t.mean["data"], expected)
    t.set_mean("data", np.full((3, 9, 9), 7.0))
    np.testing.assert_allclose(t.mean["data"], 7)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda t: t.preprocess("dta", np.zeros((4, 4, 3))), ModelError, "dta is not one of the net inputs.*'data'"),
        (lambda t: t.set_transpose("data", (0, 1)), ModelError, "same number of dimensions"),
        (lambda t: t.set_channel_swap("data", (0, 1)), ModelError, "input channels"),
        (lambda t: t.set_mean("data", np.zeros(4)), ValueError, "Mean channels incompatible"),
        (lambda t: t.set_mean("data", np.zeros((1, 3, 4, 4))), ValueError, "Mean shape invalid"),
    ],
)
def test_transformer_errors(call, error, words):
    with pytest.raises(error, match=words):
        call(io.Transformer({"data": (1, 3, 4, 4)}))


def test_oversample():
    image = np.arange(5 * 7 * 2, dtype=np.float32).reshape(5, 7, 2)
    crops = caffe.io.oversample([image, image + 1], (2, 4))
    assert (crops.shape, crops.dtype) == ((20, 2, 4, 2), np.float32)
    for i, (y, x) in enumerate([(0, 0), (0, 3), (3, 0), (3, 3), (1, 1)]):
        np.testing.assert_array_equal(crops[i], image[y : y + 2, x : x + 4])
        np.testing.assert_array_equal(crops[i + 5], image[y : y + 2, x : x + 4][:, ::-1])
        np.testing.assert_array_equal(crops[i + 10], image[y : y + 2, x : x + 4] + 1)


def test_an_image_of_an_open_file(tmp_path):
    pixels = np.random.default_rng(1).integers(0, 256, (3, 4, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    with open(tmp_path / "a.png", "rb") as file:
        np.testing.assert_array_equal(caffe.io.load_image(file), caffe.io.load_image(str(tmp_path / "a.png")))


def test_an_image_that_cannot_be_read_is_an_oserror(tmp_path):
    (tmp_path / "damaged.jpg").write_bytes(b"\xff\xd8 no more")
    for name in ("missing.jpg", "damaged.jpg"):
        with pytest.raises(OSError, match=f"cannot read the image .*{name}") as caught:
            io.load_image(tmp_path / name)
        assert isinstance(caught.value, BoxpressoError)


def test_names_of_libraries_that_pycaffes_modules_have(monkeypatch):
    """`caffe.io.resize` is scikit-image's as it was then: it does not smooth, and is 0 beyond the edge."""
    calls = []

    def resize(
        image, output_shape, order=None, mode="reflect", cval=0, clip=True, preserve_range=False, anti_aliasing=None
    ):
        """Of scikit-image 0.25."""
        calls.append((output_shape, order, mode, anti_aliasing))

    skimage, transform = ModuleType("skimage"), ModuleType("skimage.transform")
    skimage.transform, transform.resize = transform, resize
    for name, module in (
        ("skimage", skimage),
        ("skimage.transform", transform),
        ("skimage.io", ModuleType("skimage.io")),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    caffe.io.resize(np.zeros((2, 2)), (4, 4))
    caffe.io.resize(np.zeros((2, 2)), (4, 4), 0, mode="edge", anti_aliasing=True)
    assert calls == [((4, 4), 1, "constant", False), ((4, 4), 0, "edge", True)]
    assert caffe.io.skimage is skimage
    monkeypatch.setitem(sys.modules, "skimage.transform", None)
    with pytest.raises(AttributeError, match=r"caffe.io.resize needs skimage.transform, which is not installed"):
        caffe.io.resize  # noqa: B018
    assert not hasattr(caffe.io, "resized")
    assert caffe.pycaffe.SGDSolver is caffe.SGDSolver
    assert not hasattr(caffe.pycaffe, "SGDSolvers")
