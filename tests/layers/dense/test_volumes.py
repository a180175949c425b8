"""Poolings and convolutions over three axes: values by formula in numpy, and the forms in which forks write them."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError, Net
from boxpresso.proto import ModelError, parse_net

RNG = np.random.default_rng(3)
VOLUMES = RNG.permutation(2 * 3 * 4 * 5 * 6).reshape(2, 3, 4, 5, 6) / 100.0
POOL = 'type: "Pooling3D" pooling_param { pool: %s kernel_size_3d: [%s] stride_3d: [%s] pad_3d: [%s] %s }'
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (POOL % (method, "2, 3, 2", "1, 2, 2", "1, 1, 0", ""), [VOLUMES]) for method in ("MAX", "AVE")
]
WINDOWS = [((2, 3, 2), (1, 2, 2), (1, 1, 0)), ((1, 2, 2), (1, 2, 2), (0, 0, 0)), ((3, 3, 3), (2, 2, 3), (2, 1, 1))]


def pooled(x: np.ndarray, method: str, kernel: tuple, stride: tuple, pad: tuple, down: bool) -> np.ndarray:
    out = []
    for size, k, s, p in zip(x.shape[2:], kernel, stride, pad):
        count = int((np.floor if down else np.ceil)((size + 2 * p - k) / s)) + 1
        out.append(count - 1 if any(pad) and (count - 1) * s >= size + p else count)
    top = np.empty((*x.shape[:2], *out))
    for place in np.ndindex(*out):
        starts = [i * s - p for i, s, p in zip(place, stride, pad)]
        part = x[(..., *[slice(max(a, 0), a + k) for a, k in zip(starts, kernel)])]
        area = np.prod([min(a + k, n + p) - a for a, k, n, p in zip(starts, kernel, x.shape[2:], pad)])
        top[(..., *place)] = part.max((2, 3, 4)) if method == "MAX" else part.sum((2, 3, 4)) / area
    return top


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("method", ["MAX", "AVE"])
def test_pooling_of_volumes(method, window, device):
    for down in (False, True):
        text = POOL % (method, *(", ".join(map(str, part)) for part in window), f"ceil_mode: {str(not down).lower()}")
        rig = Rig(text, [VOLUMES], device=device, dtype=np.float64)
        np.testing.assert_allclose(rig.forward()[0], pooled(VOLUMES, method, *window, down), rtol=1e-12)
        check_gradient(rig)


def test_equal_maxima_give_the_first_one_the_gradient(device):
    rig = Rig(POOL % ("MAX", "2, 2, 2", "2, 2, 2", "0", ""), [np.ones((1, 1, 2, 2, 2))], device=device)
    rig.forward()
    assert rig.backward([np.full((1, 1, 1, 1, 1), 3.0)])[0].ravel().tolist() == [3, 0, 0, 0, 0, 0, 0, 0]


def test_what_pooling_of_volumes_refuses():
    for text, words in (
        (POOL % ("STOCHASTIC", "2", "1", "0", ""), "MAX and AVE"),
        (POOL % ("MAX", "2, 2", "1", "0", ""), "one number, or three"),
        (POOL % ("MAX", "2", "1", "2", ""), "smaller than the kernel"),
        (POOL % ("MAX", "9", "1", "0", ""), "larger than the padded"),
        ('type: "Pooling3D"', "give kernel_size_3d"),
    ):
        with pytest.raises(LayerError, match=words):
            Rig(text, [VOLUMES])


INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: [1, 2, 5, 6, 7] } } }'
CONVOLUTION = 'layer%s { name: "c" type: %s bottom: "x" top: "c" %s { num_output: 3 %s } }'
THREE = "{ dim: [%s] }"
FORMS = {
    "several": ('"Convolution"', "convolution_param", "kernel_size: [2, 3, 3] stride: [1, 2, 2] pad: [0, 1, 1]"),
    "shapes": ('"NdConvolution"', "convolution_param", f"kernel_shape {THREE % '2, 3, 3'} stride_shape {THREE % '1, 2, 2'} "
               f"pad_shape {THREE % '0, 1, 1'}"),
    "C3D": ('"Convolution3D"', "convolution_param", "kernel_size: 3 kernel_depth: 2 stride: 2 pad: 1"),
    "own message": ('"Convolution3D"', "convolution3d_param", "kernel_size: 3 kernel_depth: 2 stride: 2 pad: 1"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_convolution(form):
    kind, message, fields = FORMS[form]
    layer = parse_net(CONVOLUTION % ("", kind, message, fields)).layer[0]
    p = layer.convolution_param
    assert (layer.type, list(p.kernel_size), list(p.stride), list(p.pad)) == (
        "Convolution",
        [2, 3, 3],
        [1, 2, 2],
        [0, 1, 1],
    )
    assert Net(parse_net(INPUT + CONVOLUTION % ("", kind, message, fields))).blobs["c"].shape == (1, 3, 4, 3, 4)


POOLS = {
    "several": ('"Pooling"', "pooling_param", "kernel_size: 1 kernel_size: 3 kernel_size: 2 stride: 1 stride: 2 stride: 2 pad: 0 "
                "pad: 1 pad: 0"),
    "shapes": ('"NdPooling"', "pooling_param", f"kernel_shape {THREE % '1, 3, 2'} stride_shape {THREE % '1, 2, 2'} "
               f"pad_shape {THREE % '0, 1, 0'}"),
    "any axes": ('"PoolingND"', "pooling_nd_param", "kernel_size: [1, 3, 2] stride: [1, 2, 2] pad: [0, 1, 0] engine: CAFFE"),
    "Synopsys": ('"Pooling3D"', "pooling3d_param", "kernel_d: 1 kernel_h: 3 kernel_w: 2 stride_d: 1 stride_h: 2 stride_w: 2 "
                 "pad_h0: 1 pad_h1: 1 ceil_mode: true"),
}  # fmt: skip


@pytest.mark.parametrize("form", POOLS)
def test_forms_of_pooling(form):
    kind, message, fields = POOLS[form]
    net = parse_net(f'layer {{ name: "p" type: {kind} bottom: "x" top: "p" {message} {{ {fields} }} }}')
    layer = net.layer[0]
    p = layer.pooling_param
    assert (layer.type, list(p.kernel_size_3d), list(p.stride_3d), list(p.pad_3d)) == (
        "Pooling3D",
        [1, 3, 2],
        [1, 2, 2],
        [0, 1, 0],
    )
    assert p.ceil_mode
    assert not p.HasField("kernel_size")


def test_old_nets_of_volumes():
    pool = "kernel_size: 2 kernel_depth: 1 stride: 2 temporal_stride: 1"
    net = parse_net(
        CONVOLUTION
        % ("s", "CONVOLUTION3D", "convolution_param", "kernel_size: 3 kernel_depth: 3 pad: 1 temporal_pad: 1")
        + f'layers {{ name: "p" type: POOLING3D bottom: "c" top: "p" pooling_param {{ pool: MAX {pool} }} }}'
        + 'input: "x" input_shape { dim: [1, 2, 5, 6, 7] }'
    )
    assert [blob.shape for blob in Net(net).blobs.values()] == [(1, 2, 5, 6, 7), (1, 3, 5, 6, 7), (1, 3, 5, 3, 4)]


def test_a_pooling_of_two_numbers_has_height_and_width():
    p = parse_net('layer { type: "Pooling" pooling_param { kernel_size: 3 kernel_size: 2 stride: 2 } }').layer[0]
    assert (p.type, p.pooling_param.kernel_h, p.pooling_param.kernel_w, p.pooling_param.stride) == ("Pooling", 3, 2, 2)

    for two in ("kernel_size: [3, 2] pool: AVE", "kernel_h: 3 kernel_w: 2 pool: AVE"):
        p = parse_net(f'layer {{ type: "PoolingND" pooling_nd_param {{ {two} }} }}').layer[0]
        assert (p.type, p.pooling_param.kernel_h, p.pooling_param.kernel_w) == ("Pooling", 3, 2)
        assert p.pooling_param.pool == p.pooling_param.AVE

    p = parse_net('layer { type: "NdPooling" pooling_param { kernel_shape { dim: [3, 2] } } }').layer[0]
    assert (p.type, p.pooling_param.kernel_h, p.pooling_param.kernel_w) == ("Pooling", 3, 2)


def test_clips_of_frames_are_volumes():
    text = """layer { name: "d" type: "VideoData" top: "data" top: "label" transform_param { crop_size: 12 }
            video_data_param { batch_size: 2 new_length: 5 new_height: 16 new_width: 20 } }
        layer { name: "c" type: "Convolution" bottom: "data" top: "c"
            convolution_param { num_output: 1 kernel_size: [3, 3, 3] } }"""
    assert Net(parse_net(text), data="shapes").blobs["data"].shape == (2, 3, 5, 12, 12)
    flat = text.replace("[3, 3, 3]", "3").replace("new_length: 5", "new_length: 5 modality: RGB num_segments: 1")
    assert Net(parse_net(flat), data="shapes").blobs["data"].shape == (2, 15, 12, 12)  # frames are channels


def test_ends_that_are_padded_differently_are_refused():
    with pytest.raises(ModelError, match="'p': pooling3d_param pads the two ends"):
        parse_net('layer { name: "p" type: "Pooling3D" pooling3d_param { kernel_d: 2 pad_d0: 1 } }')


def test_one_number_for_all_axes_is_what_the_bottom_has():
    """Of PoolingND the axes of the bottom tell whether its one number is for areas or volumes; stride is 1 without it."""
    pool = 'layer { name: "p" type: "PoolingND" bottom: "x" top: "p" pooling_nd_param { kernel_size: 2 stride: 2 } }'
    x = np.random.default_rng(6).standard_normal((1, 2, 6, 6, 8)).astype(np.float32)
    flat = Net(parse_net(INPUT.replace("5, 6, 7", "6, 8") + pool), device="cpu").forward(x=x[:, :, 0])["p"]
    np.testing.assert_array_equal(flat, x[:, :, 0].reshape(1, 2, 3, 2, 4, 2).max((3, 5)))
    volume = Net(parse_net(INPUT.replace("5, 6, 7", "6, 6, 8") + pool), device="cpu").forward(x=x)["p"]
    np.testing.assert_array_equal(volume, x.reshape(1, 2, 3, 2, 3, 2, 4, 2).max((3, 5, 7)))
    assert Net(parse_net(INPUT + pool.replace("stride: 2", "pad: 1 pool: AVE"))).blobs["p"].shape == (1, 2, 6, 7, 8)


@pytest.mark.parametrize(("text", "three"), [
    ("kernel_size: 3 stride: 2 pad: 1", "kernel_size_3d: 3 stride_3d: 2 pad_3d: 1"),
    ("pool: AVE kernel_size: 2", "pool: AVE kernel_size_3d: 2"),
    ("pool: AVE global_pooling: true", "pool: AVE global_pooling: true"),
])  # fmt: skip
def test_a_plain_pooling_of_volumes_is_pooling3d(text, three):
    net = """layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 5 dim: 6 } } }
        layer { name: "p" type: "%s" bottom: "x" top: "p" pooling_param { %s } }"""
    x = VOLUMES.astype(np.float32)
    outs = [
        Net(parse_net(net % row), device="cpu").forward(x=x)["p"] for row in (("Pooling", text), ("Pooling3D", three))
    ]
    np.testing.assert_array_equal(*outs)
