"""Weight files as protobuf's own writer makes them, for the tests of reading, copying and saving."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso.net.weights import read_weights
from boxpresso.proto import NetParameter
from boxpresso.proto.errors import ModelError

W = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) - 7.5
B = np.array([1.25, -3], np.float32)


def put(proto, array, legacy=False, double=False):
    """Fills a BlobProto as Caffe does."""
    if legacy:
        proto.num, proto.channels, proto.height, proto.width = (1,) * (4 - array.ndim) + array.shape
    else:
        proto.shape.dim.extend(array.shape)
    (proto.double_data if double else proto.data).extend(array.ravel().tolist())


def net_bytes(form="today", double=False):
    """A net of a convolution, a layer without weights and an inner product, written by protobuf."""
    net = NetParameter(name="net")
    for name, type, blobs in (("conv", 4, [W, B]), ("relu", 18, []), ("ip", 14, [W.reshape(2, 12), B])):
        if form == "today":
            one = net.layer.add(name=name, type={4: "Convolution", 18: "ReLU", 14: "InnerProduct"}[type])
            one.bottom.append("x")
            one.param.add(lr_mult=2)
        elif form == "v1":
            one = net.layers.add(name=name, type=type, bottom=["x"], top=["y"], blobs_lr=[1, 2])
        else:
            outer = net.layers.add(bottom=["x"], top=["y"])
            one = outer.layer
            one.name, one.type = name, {4: "conv", 18: "relu", 14: "innerproduct"}[type]
        for blob in blobs:
            put(one.blobs.add(), blob, legacy=form != "today", double=double)
    return net.SerializeToString()


def written(tmp_path, data, name="net.caffemodel"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def refused(path, reader=read_weights):
    with pytest.raises(ModelError) as caught:
        reader(path)
    assert str(path) in str(caught.value)
    return str(caught.value)
