"""Weights that are saved, in both formats, also where the disk is full; and mean images."""

from __future__ import annotations

import os

import numpy as np
import pytest
from shared import need
from weight_files import B, W, net_bytes, put, refused, written

from boxpresso.net.weights import read_blob, read_mean, read_weights, save_weights
from boxpresso.proto import BlobProto, NetParameter
from boxpresso.proto import weights as module
from boxpresso.proto.errors import ModelError

ROWS = [
    ("data", "Input", [], ["data"], []),
    ("conv1/dw", "Convolution", ["data"], ["c"], [W, B]),
    ("n", "Normalize", ["c"], ["n"], [np.array(20, np.float32)]),
    ("empty", "Scale", ["n"], ["e"], [np.zeros((0, 3), np.float32)]),
    ("view", "InnerProduct", ["e"], ["v"], [np.asfortranarray(W.reshape(2, 12)).T, B[::-1]]),
    ("double", "Scale", ["v"], ["d"], [np.array([0.1, 1e300])]),
    ("half", "Scale", ["d"], ["h"], [B.astype(np.float16)]),
]


@pytest.mark.parametrize("name", ["a.caffemodel", "a.caffemodel.h5", "a.h5"])
def test_round_trip(tmp_path, name):
    save_weights(tmp_path / name, iter(ROWS), "größe")
    weights = read_weights(str(tmp_path / name))
    assert sorted(weights) == sorted(row[0] for row in ROWS)
    for row_name, _, _, _, blobs in ROWS:
        for made, blob in zip(weights[row_name].blobs, blobs, strict=True):
            assert made.dtype == (np.float64 if blob.dtype == np.float64 else np.float32)
            np.testing.assert_array_equal(made, blob)
            assert made.shape == blob.shape
    assert os.listdir(tmp_path) == [name]


def test_protobuf_reads_what_is_saved(tmp_path):
    save_weights(tmp_path / "a.caffemodel", ROWS, "net")
    net = NetParameter.FromString((tmp_path / "a.caffemodel").read_bytes())
    assert net.name == "net"
    assert [(one.name, one.type, list(one.bottom), list(one.top)) for one in net.layer] == [row[:4] for row in ROWS]
    conv, norm, double = net.layer[1], net.layer[2], net.layer[5]
    assert [list(blob.shape.dim) for blob in conv.blobs] == [[2, 3, 2, 2], [2]]
    assert list(conv.blobs[0].data) == W.ravel().tolist()
    assert norm.blobs[0].HasField("shape")
    assert list(double.blobs[0].double_data) == [0.1, 1e300]
    assert not double.blobs[0].data


def test_the_same_bytes_as_protobuf(tmp_path):
    """Field order and lengths as Caffe's own writer has them."""
    net = NetParameter(name="n")
    put(net.layer.add(name="a", type="Scale", bottom=["x"], top=["y"]).blobs.add(), np.arange(300, dtype=np.float32))
    put(net.layer.add(name="b", type="Scale").blobs.add(), W, double=True)
    rows = [
        ("a", "Scale", ["x"], ["y"], [np.arange(300, dtype=np.float32)]),
        ("b", "Scale", [], [], [W.astype(np.float64)]),
    ]
    save_weights(tmp_path / "a.caffemodel", rows, "n")
    assert (tmp_path / "a.caffemodel").read_bytes() == net.SerializeToString()


def full(*args):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("name", ["a.caffemodel", "a.h5"])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch, name, step):
    path = tmp_path / name
    save_weights(path, ROWS)
    before = path.read_bytes()
    monkeypatch.setattr(module.os, step, full)
    with pytest.raises(ModelError, match="No space left"):
        save_weights(path, ROWS[:2])
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


def test_an_error_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.caffemodel"
    save_weights(path, ROWS)
    before = path.read_bytes()
    monkeypatch.setattr(module, "encode_net", lambda *args: [b"half of it", "not bytes"])
    with pytest.raises(TypeError):
        save_weights(path, ROWS)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.caffemodel"]


def test_names_that_hdf5_cannot_hold(tmp_path):
    for rows in (
        [("a", "Scale", [], [], [B]), ("a", "Scale", [], [], [B])],
        [("a/0", "Scale", [], [], [B]), ("a", "Scale", [], [], [B])],
        [("/a", "Scale", [], [], [B])],
        [("", "Scale", [], [], [B])],
    ):
        with pytest.raises(ModelError, match=r"save it as \.caffemodel"):
            save_weights(tmp_path / "a.h5", rows)
        assert not os.listdir(tmp_path)
        save_weights(tmp_path / "a.caffemodel", rows)
        assert [layer.name for layer in read_weights(tmp_path / "a.caffemodel").layers] == [row[0] for row in rows]
        os.unlink(tmp_path / "a.caffemodel")


def test_a_file_that_protobuf_could_not_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 100)
    with pytest.raises(ModelError, match=r"save it as \.h5"):
        save_weights(tmp_path / "a.caffemodel", ROWS)


def test_a_link_stays_a_link_and_the_umask_holds(tmp_path):
    (tmp_path / "there").mkdir()
    os.symlink(tmp_path / "there" / "real.caffemodel", tmp_path / "link.caffemodel")
    save_weights(tmp_path / "link.caffemodel", ROWS)
    assert (tmp_path / "link.caffemodel").is_symlink()
    (tmp_path / "plain").touch()
    mode = (tmp_path / "there" / "real.caffemodel").stat().st_mode
    assert mode == (tmp_path / "plain").stat().st_mode


# Mean images


def test_what_compute_image_mean_wrote():
    path = need("golden/io/mean.binaryproto")
    proto = BlobProto.FromString(path.read_bytes())
    mean = read_mean(path)
    assert mean.shape == (3, 4, 4)
    assert mean.dtype == np.float32
    np.testing.assert_array_equal(mean.ravel(), np.array(proto.data, np.float32))
    assert read_blob(path).shape == (1, 3, 4, 4)


def test_means(tmp_path):
    image = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    proto = BlobProto()
    put(proto, image)
    np.testing.assert_array_equal(read_mean(written(tmp_path, proto.SerializeToString(), "a.binaryproto")), image)
    for array in (image, np.array([104, 117, 123])):
        np.save(tmp_path / "a.npy", array)
        np.testing.assert_array_equal(read_mean(tmp_path / "a.npy"), array)
        assert read_mean(tmp_path / "a.npy").dtype == np.float32
    np.save(tmp_path / "a.npy", np.zeros((2, 3, 4, 4)))
    assert "(2, 3, 4, 4)" in refused(tmp_path / "a.npy", read_mean)
    np.save(tmp_path / "a.npy", np.array([None, "a"], object), allow_pickle=True)
    assert "allow_pickle" in refused(tmp_path / "a.npy", read_mean)
    np.save(tmp_path / "a.npy", image)
    refused(written(tmp_path, (tmp_path / "a.npy").read_bytes()[:-1], "b.npy"), read_mean)
    assert "HTML" in refused(written(tmp_path, b"<html>", "c.binaryproto"), read_mean)
    refused(written(tmp_path, net_bytes(), "d.binaryproto"), read_mean)
