"""Local against sums of numpy over windows, in double."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso.proto.errors import LayerError

X = np.random.default_rng(0).standard_normal((2, 3, 5, 7))
FIELDS = {  # the fields beside num_output 4, and (kernel, pad, stride, dilation)
    "kernel_size: 3": (3, 0, 1, 1),
    "kernel_size: 3 pad: 2 stride: 2": (3, 2, 2, 1),
    "kernel_size: 2 pad: 1 dilation: 3": (2, 1, 1, 3),
    "kernel_size: 1 stride: 3 bias_term: false": (1, 0, 3, 1),
}
FILLERS = 'weight_filler { type: "gaussian" std: 1 } bias_filler { type: "gaussian" std: 1 }'


def net(fields):
    return f'type: "Local" local_param {{ num_output: 4 {fields} {FILLERS} }}'


LAUNCHES = [(net(fields), [X]) for fields in FIELDS]  # for tests/device/test_threaded.py


def expected(x, weights, bias, kernel, pad, stride, dilation):
    padded = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    extent = dilation * (kernel - 1) + 1
    windows = np.lib.stride_tricks.sliding_window_view(padded, (extent, extent), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride, ::dilation, ::dilation]  # (N, C, H', W', k, k)
    maps, height, width = weights.shape[0], *windows.shape[2:4]
    filters = weights.reshape(maps, x.shape[1], kernel, kernel, height, width)
    return np.einsum("nchwij,mcijhw->nmhw", windows, filters) + bias.reshape(1, -1, height, width)


@pytest.mark.parametrize("fields", FIELDS)
def test_forward(fields, device):
    rig = Rig(net(fields), [X], device=device)
    for x in (X, X[:1], np.concatenate([X, X])):
        rig.set_bottom(0, x)
        weights, *bias = (np.asarray(blob.data, np.float64) for blob in rig.layer.blobs)
        close(rig.forward()[0], expected(x, weights, bias[0] if bias else 0 * weights[:, :, 0], *FIELDS[fields]))


@pytest.mark.parametrize("fields", FIELDS)
def test_gradient(fields, device):
    check_gradient(Rig(net(fields), [X], device=device, dtype=np.float64))


def test_shapes_of_parameters():
    rig = Rig(net("kernel_size: 3 stride: 2"), [X])
    assert [blob.shape for blob in rig.layer.blobs] == [(4, 1, 27, 6), (1, 1, 4, 6)]


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ("", "kernel_size must be at least 1"),
        ("kernel_size: 3 stride: 0", "stride must be at least 1"),
        ("kernel_size: 3 dilation: 1 dilation: 2", "one dilation for both axes"),
        ("kernel_size: 3 dilation: 3", "7 x 7 does not fit into images of 5 x 7"),
    ],
)
def test_errors(fields, match):
    with pytest.raises(LayerError, match=match):
        Rig(net(fields), [X])


def test_images_of_another_size_are_refused():
    rig = Rig(net("kernel_size: 3"), [X])
    rig.set_bottom(0, X[:, :, :4])
    with pytest.raises(LayerError, match="parameter 0"):
        rig.forward()
