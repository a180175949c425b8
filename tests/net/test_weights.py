"""Weight files: real ones, those that protobuf's own writer makes in all of Caffe's forms, and broken ones."""

from __future__ import annotations

import random
import sys
from contextlib import suppress
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from shared import SHARED, cases, need
from weight_files import B, W, net_bytes, refused, written
from work import calls

from boxpresso.device import Blob
from boxpresso.net.weights import batch_norm_blobs, copy_weights, read_blob, read_mean, read_weights, save_weights
from boxpresso.proto import NetParameter
from boxpresso.proto.errors import BoxpressoWarning, ModelError

MODELS = sorted(p for p in (SHARED / "models").rglob("*.caffemodel") if p.parent.name != "broken")


def layer(name, *blobs, type="Convolution"):
    """What copy_weights asks of a layer: name, type, and blobs with a shape and data."""
    return SimpleNamespace(
        name=name, type=type, blobs=[SimpleNamespace(shape=np.shape(b), data=np.array(b, np.float32)) for b in blobs]
    )


def layers_or_refusal(path, reader=read_weights):
    """The layers of a file, or nothing when it is refused; any other exception than a ModelError fails the test."""
    with suppress(ModelError):
        return getattr(reader(path), "layers", None)
    return []


# Real files


@pytest.mark.parametrize("name", ["net.caffemodel", "net.caffemodel.h5", "net_v1_legacy4d.caffemodel"])
def test_what_caffe_wrote(name):
    weights = read_weights(need(f"golden/io/{name}"))
    expected = np.load(need("golden/io/net.npz"))
    seen = 0
    for layer_name, stored in weights.items():
        for i, blob in enumerate(stored.blobs):
            wanted = expected[f"{layer_name}_{i}"]
            if "legacy" in name:
                assert blob.ndim == 4
                blob = blob.reshape(wanted.shape)
            assert blob.dtype == wanted.dtype
            np.testing.assert_array_equal(blob, wanted, strict=True)
            seen += 1
    assert seen == (4 if "legacy" in name else 11)


@pytest.mark.parametrize("path", cases(MODELS, "models"), ids=lambda p: str(p.relative_to(SHARED / "models")))
def test_real_models_agree_with_protobuf(path):
    """Every model in ../shared: the same layers and values as protobuf's own reader gives."""
    net = NetParameter.FromString(path.read_bytes())
    ours = read_weights(path).layers
    theirs = net.layers or net.layer
    assert [mine.name for mine in ours] == [one.name for one in theirs]
    halves = 0
    for mine, one in zip(ours, theirs, strict=True):
        assert mine.type
        for blob, proto in zip(mine.blobs, one.blobs, strict=True):
            old = [proto.num, proto.channels, proto.height, proto.width]
            assert list(blob.shape) == (old if proto.HasField("num") else list(proto.shape.dim))
            values = np.array(proto.data, np.float32)
            if not len(values):
                values = np.frombuffer(proto.raw_data, {1: np.float32, 2: np.float16}[proto.raw_data_type])
                halves += blob.dtype == np.float16
            assert np.array_equal(blob.ravel(), values)
    assert sum(len(mine.blobs) for mine in ours) > 0
    assert (halves > 0) == ("_half" in path.name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("html_not_a_model.caffemodel", ["HTML", "<!DOCTYPE html>"]),
        ("res10_truncated_1630208.caffemodel", ["truncated", "layer_256_1_conv1", "1179815", "774055"]),
        ("res10_truncated_73728.caffemodel", ["truncated", "layer_64_1_conv2_h", "37005", "14906"]),
        ("res10_deploy.prototxt", ["prototxt"]),
    ],
)
def test_real_broken_files(name, says):
    message = refused(need(f"models/broken/{name}"))
    assert all(word in message for word in says), message


# All forms


@pytest.mark.parametrize("form", ["today", "v1", "v0"])
@pytest.mark.parametrize("double", [False, True])
def test_forms(tmp_path, form, double):
    weights = read_weights(written(tmp_path, net_bytes(form, double)))
    assert weights.name == "net"
    assert list(weights) == ["conv", "relu", "ip"]
    assert [weights[name].type for name in weights] == ["Convolution", "ReLU", "InnerProduct"]
    for name, first in (("conv", W), ("ip", W.reshape(2, 12))):
        values = weights[name].blobs
        assert [v.dtype for v in values] == [np.float64 if double else np.float32] * 2
        assert values[0].ndim == (first.ndim if form == "today" else 4)
        np.testing.assert_array_equal(values[0].reshape(first.shape), first)
        np.testing.assert_array_equal(values[1].ravel(), B)
    assert weights["relu"].blobs == []
    net = [layer("conv", W * 0, B * 0), layer("ip", W.reshape(2, 12) * 0, B * 0, type="InnerProduct")]
    assert copy_weights(weights, net).matched == ["conv", "ip"]
    np.testing.assert_array_equal(net[1].blobs[0].data, W.reshape(2, 12))
    np.testing.assert_array_equal(net[1].blobs[1].data, B)


@pytest.mark.parametrize(("kind", "dtype"), [(0, np.float64), (1, np.float32), (2, np.float16)])
def test_raw_data_of_nvcaffe(tmp_path, kind, dtype):
    net = NetParameter()
    blob = net.layer.add(name="conv", type="Convolution").blobs.add(
        raw_data_type=kind, raw_data=W.astype(dtype).tobytes()
    )
    blob.shape.dim.extend(W.shape)
    made = read_weights(written(tmp_path, net.SerializeToString()))["conv"].blobs[0]
    assert made.dtype == dtype
    np.testing.assert_array_equal(made, W)
    target = layer("conv", W * 0)
    copy_weights(read_weights(tmp_path / "net.caffemodel"), [target])
    np.testing.assert_array_equal(target.blobs[0].data, W)
    assert target.blobs[0].data.dtype == np.float32


def test_fields_that_forks_use_for_other_things(tmp_path):
    """OpenCL's shape_stride and packed half, Cambricon's numbers at 10 to 13, unknown fields of every wire type."""
    shape, half = b"\x3a\x04\x0a\x02\x01\x02", B.astype("<f2").tobytes()
    data = b"\x2a\x08" + B.astype("<f4").tobytes()
    strides, diff = b"\x52\x04\x0a\x02\x02\x01", b"\x62\x04" + b"\0" * 4
    blobs = [
        shape + strides + b"\x5a\x04" + half + diff + b"\x68\x01",  # OpenCL, half
        data + shape + b"\x50\x04\x58\x01\x60\x03" + b"\x6d" + b"\0" * 4,  # Cambricon
        b"\x2d" + data[2:6] + b"\x2d" + data[6:10] + b"\x3a\x04\x08\x01\x08\x02",  # not packed
        data[:1] + b"\x04" + data[2:6] + shape + b"\x2a\x04" + data[6:10],  # packed in two pieces
    ]
    body = b"".join(b"\x3a" + bytes([len(blob)]) + blob for blob in blobs)
    body = b"\x0a\x01c" + b"\x51" + b"\0" * 8 + b"\xfa\x3f\x02hi" + b"\x0d\0\0\0\0" + body
    net = b"\x0a\x01n" + b"\xa2\x06" + bytes([len(body) & 127 | 128, len(body) >> 7]) + body + b"\x98\x06\x01"
    read_blobs = read_weights(written(tmp_path, net))["c"].blobs
    assert [blob.shape for blob in read_blobs] == [(1, 2)] * 4
    for blob in read_blobs:
        np.testing.assert_array_equal(blob[0], B)


def test_v1_layers_count_before_todays(tmp_path):
    """As in Caffe's upgrade: `layer` beside `layers` is dropped."""
    net = NetParameter.FromString(net_bytes("v1"))
    net.layer.add(name="late", type="ReLU")
    assert list(read_weights(written(tmp_path, net.SerializeToString()))) == ["conv", "relu", "ip"]


def test_reading_does_no_work_for_each_value(tmp_path):
    """Values are taken as they lie in the file: a thousand times as many are not one call more."""
    counts = []
    for side in (8, 256):
        rows = [(f"l{i}", "Convolution", [], [], [np.ones((side, side, 5, 5), np.float32)]) for i in range(4)]
        path = tmp_path / f"{side}.caffemodel"
        save_weights(path, rows)
        read_weights(path)  # what a first call imports and remembers is not counted
        counts.append(calls(lambda path=path: read_weights(path)))
        assert [layer.blobs[0].shape for layer in read_weights(path).layers] == [(side, side, 5, 5)] * 4
    assert counts[0] == counts[1] > 0


# Broken files


@pytest.mark.parametrize("form", ["today", "v1", "v0"])
def test_cut_at_every_byte(tmp_path, form):
    """A file cut anywhere is refused, or (cut between two layers) it is those layers, whole."""
    data = net_bytes(form)
    whole = read_weights(written(tmp_path, data)).layers
    read = []
    for end in range(len(data)):
        path = written(tmp_path, data[:end])
        layers = layers_or_refusal(path)
        read += [len(layers)] if layers else []
        for one, expected in zip(layers, whole[: len(layers)], strict=True):
            assert one.name == expected.name
            assert all(np.array_equal(a, b) for a, b in zip(one.blobs, expected.blobs, strict=True))
    assert read == [1, 2]


def test_flipped_bits(tmp_path):
    chance = random.Random(7)
    for form in ("today", "v1", "v0"):
        data = net_bytes(form, double=form == "v1")
        for _ in range(250):
            broken = bytearray(data)
            for _ in range(chance.choice([1, 1, 2, 8])):
                broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path = written(tmp_path, bytes(broken))
            for reader in (read_weights, read_blob, read_mean):
                layers_or_refusal(path, reader)
    for _ in range(100):
        refused(written(tmp_path, b"\x0a\x01n" + chance.randbytes(chance.randrange(60))))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"\n\n <HTML><body>Not found", "HTML"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n", "git-lfs pointer"),
        (b"# a net\nname: 'x'\nlayer { name: 'a' }", "a prototxt, not weights"),
        (b'{"error": "rate limit"}', "a text"),
        (b"PK\x03\x04" + b"\0" * 20 + b"archive/data.pkl", "PyTorch"),
        (b"PK\x03\x04" + b"\0" * 20, "zip archive"),
        (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "pickle"),
        (b"\x08\x07\x12\x07pytorch\x1a\x031.9", "ONNX"),
        (b"\x08\x64\x12\x0enet.caffemodel\x1a\x00", "solverstate"),
        (b"\x08\x01\x10\x03\x18\x01\x20\x01\x2a\x00", "mean image"),
        (b"\x1f\x8b\x08\0\0\0", "gzip"),
        (b"\0" * 100, "zeros"),
        (b"\x0a\x03net", "no layers"),
        (b"\x0a\x03net\x0b", "wire type 3"),
        (b"\x0a\x03net\x02\x00", "number 0"),
        (b"\x0a\x03net\x98\x06" + b"\xff" * 11, "no end"),
    ],
)
def test_what_it_is_instead(tmp_path, data, says):
    assert says in refused(written(tmp_path, data))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda blob: blob.data.append(1), "asks for 2 values, but it holds 3"),
        (lambda blob: blob.ClearField("data"), "holds 0 that can be read"),
        (lambda blob: blob.shape.dim.append(-2), "cannot be"),
        (lambda blob: blob.shape.dim.extend([1] * 40), "32 axes"),
        (lambda blob: blob.shape.dim.extend([2**31 - 1, 0]), "cannot be"),
        (lambda blob: blob.SetInParent() or setattr(blob, "height", 5), r"shape (0, 0, 5, 0)"),
    ],
)
def test_a_blob_that_contradicts_itself(tmp_path, change, says):
    net = NetParameter.FromString(net_bytes())
    change(net.layer[0].blobs[1])
    message = refused(written(tmp_path, net.SerializeToString()))
    assert says in message
    assert "layer 0 'conv'" in message
    assert "blob 1" in message


def test_no_file(tmp_path):
    assert "cannot read" in refused(tmp_path / "none.caffemodel")
    assert "cannot read" in refused(tmp_path)


# HDF5


def test_hdf5_without_h5py(tmp_path, monkeypatch):
    save_weights(tmp_path / "a.h5", [("c", "Convolution", [], [], [W])])
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert "pip install h5py" in refused(tmp_path / "a.h5")


def test_broken_hdf5(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["label"] = B
    assert "without the group /data" in refused(path)
    assert "label" in refused(path)
    with h5py.File(path, "w") as file:
        file["data"] = W  # an HDF5Data source
    assert "without the group /data" in refused(path)
    with h5py.File(path, "w") as file:
        file["data/conv/0"] = "words"
    assert "numbers" in refused(path)
    with h5py.File(path, "w") as file:
        file["data/conv/2000000000"] = B
    assert "2000000000" in refused(path)
    with h5py.File(path, "w") as file:
        file.create_group("data")
    assert "is empty" in refused(path)
    save_weights(path, [("c", "Convolution", [], [], [np.zeros((50, 50), np.float32)])])
    whole = path.read_bytes()
    for end in range(8, len(whole), 97):
        path.write_bytes(whole[:end])
        refused(path)


def test_hdf5_is_known_by_its_content(tmp_path):
    save_weights(tmp_path / "a.h5", [("c", "Convolution", [], [], [W])])
    (tmp_path / "a.h5").rename(tmp_path / "a.caffemodel")
    assert read_weights(tmp_path / "a.caffemodel")["c"].blobs[0].shape == W.shape


def test_hdf5_leaves_shared_blobs_to_their_owner(tmp_path):
    """Caffe's siamese nets: the second tower's group is empty, or lacks an index."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data/conv/0"], file["data/conv/1"] = W, B
        file["data/conv_p/1"] = B * 2
    owner, other = layer("conv", W * 0, B * 0), layer("conv_p", W * 0, B * 0)
    weights = read_weights(tmp_path / "a.h5")
    with pytest.raises(ModelError, match="lacks blob 0"):
        copy_weights(weights, [owner, other])
    other.blobs[0].data = owner.blobs[0].data.reshape(W.shape)
    assert copy_weights(weights, [owner, other]).matched == ["conv", "conv_p"]
    np.testing.assert_array_equal(other.blobs[0].data, W)
    np.testing.assert_array_equal(other.blobs[1].data, B * 2)


# Copying


def weights_of(tmp_path, *rows):
    save_weights(tmp_path / "w.caffemodel", [(name, kind, [], [], blobs) for name, kind, *blobs in rows])
    return read_weights(tmp_path / "w.caffemodel")


def test_the_report(tmp_path):
    weights = weights_of(
        tmp_path, ("conv", "Convolution", W), ("relu", "ReLU"), ("old", "Scale", B), ("drop", "Dropout")
    )
    net = [layer("data", type="Input"), layer("conv", W * 0), layer("new", B), layer("drop", type="Dropout")]
    report = copy_weights(weights, net)
    assert (report.matched, report.missing, report.unused) == (["conv"], ["new"], ["old"])
    assert "w.caffemodel: 1 layers copied" in str(report)
    assert "new" in str(report)
    np.testing.assert_array_equal(net[2].blobs[0].data, B)


def test_nothing_fits_warns(tmp_path):
    with pytest.warns(BoxpressoWarning, match="'conv', the net 'conv1'"):
        copy_weights(weights_of(tmp_path, ("conv", "Convolution", W)), [layer("conv1", W)])


@pytest.mark.parametrize(
    ("stored", "wanted", "fits"),
    [
        ((1, 1, 10, 20), (10, 20), True),
        ((1, 1, 1, 20), (20,), True),
        ((1, 1, 1, 1), (), True),
        ((1, 20), (1, 1, 1, 20), True),
        ((20, 10), (10, 20), False),
        ((200,), (10, 20), False),
        ((10, 20, 1, 1), (10, 20), False),
        ((20, 1, 1, 1), (20,), False),
        ((2, 10, 10), (10, 20), False),
        ((10, 20), (10, 21), False),
    ],
)
def test_shapes(tmp_path, stored, wanted, fits):
    weights = weights_of(tmp_path, ("a", "Scale", B), ("ip", "InnerProduct", np.ones(stored, np.float32)))
    net = [layer("a", B * 0), layer("ip", np.zeros(wanted), type="InnerProduct")]
    if fits:
        copy_weights(weights, net)
        assert (net[1].blobs[0].data == 1).all()
        return
    with pytest.raises(ModelError) as caught:
        copy_weights(weights, net)
    for word in ("w.caffemodel", "'ip'", "InnerProduct", "blob 0", str(stored), str(wanted), "another name"):
        assert word in str(caught.value)
    assert not net[0].blobs[0].data.any(), "the layer before it was copied all the same"


def test_number_of_blobs(tmp_path):
    weights = weights_of(tmp_path, ("conv", "Convolution", W, B))
    with pytest.raises(ModelError, match="2 blobs in the file but 1 in the net"):
        copy_weights(weights, [layer("conv", W)])
    with pytest.raises(ModelError, match="3 blobs in the net, but the file lacks blob 2"):
        copy_weights(weights, [layer("conv", W, B, B)])
    with pytest.raises(ModelError, match="the file lacks blob 0"):
        copy_weights(weights_of(tmp_path, ("conv", "Convolution")), [layer("conv", W)])


def test_names_that_occur_twice(tmp_path):
    weights = weights_of(tmp_path, ("a", "Scale", B), ("a", "Scale", B * 2))
    one = [layer("a", B * 0)]
    copy_weights(weights, one)
    np.testing.assert_array_equal(one[0].blobs[0].data, B * 2)  # as Caffe: the last one stays
    two = [layer("a", B * 0), layer("a", B * 0)]
    copy_weights(weights, two)
    np.testing.assert_array_equal(two[0].blobs[0].data, B)
    np.testing.assert_array_equal(two[1].blobs[0].data, B * 2)


def test_into_blobs_of_both_precisions(tmp_path):
    weights = weights_of(tmp_path, ("a", "Scale", np.array([1e300, 0.1])))
    for dtype in (np.float32, np.float64):
        target = SimpleNamespace(name="a", type="Scale", blobs=[Blob((2,), dtype, "cpu")])
        copy_weights(weights, [target])
        assert target.blobs[0].data[1] == dtype(0.1)
        assert target.blobs[0].data[0] == (np.inf if dtype is np.float32 else 1e300)


def test_batch_norm_of_other_forks(tmp_path):
    mean, variance, factor, scale, bias = (np.array(v, np.float32) for v in ([1, 2], [3, 4], [1], [5, 6], [7, 8]))
    digits = batch_norm_blobs([scale, bias, mean, variance, np.array([9.0])])
    for made, expected in zip(digits, (mean, variance, factor, scale, bias), strict=True):
        np.testing.assert_array_equal(made, expected)
    nvcaffe = [blob.reshape(1, -1, 1, 1) for blob in (mean, variance, factor, scale, bias)]
    weights = weights_of(tmp_path, ("bn", "BatchNorm", *nvcaffe))
    five = layer("bn", *[np.zeros_like(b) for b in (mean, variance, factor, scale, bias)], type="BatchNorm")
    copy_weights(weights, [five])
    for blob, expected in zip(five.blobs, (mean, variance, factor, scale, bias), strict=True):
        np.testing.assert_array_equal(blob.data, expected)
    three = layer("bn", mean * 0, variance * 0, factor * 0, type="BatchNorm")
    with pytest.raises(ModelError, match=r"write batch_norm_param \{ scale_bias: true \}"):
        copy_weights(weights, [three])
    nvcaffe[3:] = [np.ones((1, 2, 1, 1), np.float32), np.zeros((1, 2, 1, 1), np.float32)]
    copy_weights(weights_of(tmp_path, ("bn", "BatchNorm", *nvcaffe)), [three])
    np.testing.assert_array_equal(three.blobs[1].data, variance)
    with pytest.raises(ModelError, match="lacks blob 3"):
        copy_weights(weights_of(tmp_path, ("bn", "BatchNorm", mean, variance, factor)), [five])
    wide = layer("bn", np.zeros(3), np.zeros(3), factor, type="BatchNorm")
    with pytest.raises(ModelError, match=r"\(2,\) in the file but \(3,\)"):
        copy_weights(weights_of(tmp_path, ("bn", "BatchNorm", mean, variance, factor)), [wide])
