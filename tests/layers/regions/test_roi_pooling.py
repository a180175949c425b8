"""ROIPooling against recorded outputs of mmcv, torchvision and Caffe, by hand, and on wild input."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from harness import Rig, check_gradient, close
from shared import golden

from boxpresso.layers.core import layer_class
from boxpresso.proto.errors import LayerError

POOLING = 'type: "ROIPooling" roi_pooling_param { %s }'
WHOLE = "pooled_h: 2 pooled_w: 2 "
CAFFE_DROPS = {"f32_bin_edge_quirk", "malformed"}  # whose gradient Caffe loses, see ROIPooling
FEATURES_ONLY = [True, False]


def sizes(p: dict) -> str:
    return f"pooled_h: {p['pooled_height']} pooled_w: {p['pooled_width']} spatial_scale: {p['spatial_scale']}"


def follow(argmax: np.ndarray, diff: np.ndarray, rois: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient that follows the recorded places."""
    wanted = np.zeros((*shape[:2], shape[2] * shape[3]))
    for (k, c, ph, pw), place in np.ndenumerate(argmax):
        if place >= 0:
            wanted[int(rois.reshape(-1, 5)[k, 0]), c, place] += diff[k, c, ph, pw]
    return wanted.reshape(shape)


def check_pooling(name, text, features, rois, output, argmax, top_diff, bottom_diff, device) -> None:
    r = Rig(text, [features, rois], device=device, tops=2)
    top, places = r.forward()
    assert np.array_equal(top, output)
    assert np.array_equal(places, argmax)
    got = r.backward([top_diff], FEATURES_ONLY)[0]
    close(got, follow(argmax, top_diff, rois, features.shape))
    if name not in CAFFE_DROPS:
        close(got, bottom_diff)


@pytest.mark.parametrize("path", golden("roi/RoIPooling"), ids=lambda p: p.stem)
def test_roi_pooling_as_fast_rcnn(path, device):
    c = np.load(path)
    arrays = [c[key] for key in ("input", "rois", "output", "argmax", "grad_output", "grad_input")]
    check_pooling(path.stem, POOLING % sizes(json.loads(str(c["params"]))), *arrays, device)


@pytest.mark.parametrize("path", golden("caffe_cuda_only/ROIPooling"), ids=lambda p: p.stem)
def test_roi_pooling_as_caffes_gpu(path, device):
    c = np.load(path)
    arrays = [c[key] for key in ("bottom_0", "bottom_1", "top_0", "argmax", "top_diff_0", "bottom_diff_0")]
    check_pooling(path.stem, str(c["layer"]), *arrays, device)


@pytest.mark.parametrize("path", golden("roi/RoIPool_mmcv"), ids=lambda p: p.stem)
def test_roi_pooling_as_mmcv(path, device, monkeypatch):
    """Its regions without an extent leave argmax 0, so that the gradient leaks to pixel 0: here argmax is -1."""
    monkeypatch.setattr(layer_class("ROIPooling", ""), "mmcv", True)
    c = np.load(path)
    skipped = ((c["rois"][:, 3:] + 1 - c["rois"][:, 1:3]) <= 0).any(1)
    argmax = np.where(skipped[:, None, None, None], -1, c["argmax"])
    text = POOLING % sizes(json.loads(str(c["params"])))
    arrays = [c[key] for key in ("input", "rois", "output")]
    wanted = follow(argmax, c["grad_output"], c["rois"], c["input"].shape)
    check_pooling(path.stem, text, *arrays, argmax, c["grad_output"], wanted, device)
    assert skipped.any() or np.allclose(wanted, c["grad_input"], atol=1e-5)


def test_edges_of_mmcvs_bins_are_rounded_twice(device, monkeypatch):
    """A third, three times, less one is 0, so that no bin of rows -1 to 0 has a pixel; a product and a sum in one give more."""
    monkeypatch.setattr(layer_class("ROIPooling", ""), "mmcv", True)
    r = Rig(POOLING % "pooled_h: 3 pooled_w: 3", [np.ones((1, 1, 3, 3)), [[0, 0, -1, 2, -1]]], device=device)
    assert not r.forward()[0].any()


def regions(rng, count: int, batch: int, extent: float) -> np.ndarray:
    """Proper regions, some of them partly outside."""
    low = rng.uniform(-0.3, 0.8, (count, 2)) * extent
    high = low + rng.uniform(0.05, 0.9, (count, 2)) * extent
    return np.concatenate([rng.integers(0, batch, (count, 1)), low, high], axis=1)


TEXT = POOLING % "pooled_h: 3 pooled_w: 2 spatial_scale: 0.5"


def test_gradient(device):
    rng = np.random.default_rng(1)
    features = rng.permutation(2 * 19 * 6 * 7).reshape(2, 19, 6, 7) / 100.0  # far apart: a maximum that stays one
    check_gradient(Rig(TEXT, [features, regions(rng, 9, 2, 13)], device=device, dtype=np.float64))


def test_new_shapes_no_regions_no_images(device):
    rng = np.random.default_rng(2)
    r = Rig(TEXT, [rng.standard_normal((2, 3, 8, 9)), regions(rng, 4, 2, 16)], device=device)
    first = r.forward()[0]
    bottoms = [np.array(b.data) for b in r.bottom]
    r.set_bottom(1, np.zeros((0, 5)))
    assert r.forward()[0].size == 0
    assert not r.backward([np.zeros(r.top[0].shape)], FEATURES_ONLY)[0].any()
    for shape in ((0, 3, 8, 9), (2, 3, 0, 9), (2, 3, 8, 0)):
        r.set_bottom(0, np.zeros(shape))
        r.set_bottom(1, bottoms[1])
        assert not r.forward()[0].any()
        r.backward([np.ones(r.top[0].shape)], FEATURES_ONLY)
    for i, value in enumerate(bottoms):
        r.set_bottom(i, value)
    assert np.array_equal(r.forward()[0], first)


def test_wild_regions_contribute_nothing(device):
    """NaN, infinity or a batch index outside the batch: 0, no gradient, and nothing of its neighbours changes."""
    rng = np.random.default_rng(3)
    features, good = rng.standard_normal((2, 3, 8, 9)), regions(rng, 5, 2, 16)
    wild = np.repeat(good, 3, axis=0)
    wild[1::3, 0] = [2, -1, 1e9, -1e30, 7.5]
    wild[[2, 5, 8, 11, 14], [0, 1, 2, 3, 4]] = [np.nan, np.inf, -np.inf, np.nan, np.inf]
    alone, among = (Rig(TEXT, [features, r], device=device) for r in (good, wild))
    wanted, got = alone.forward()[0], among.forward()[0]
    assert np.array_equal(got[::3], wanted)
    assert not got[1::3].any()
    assert not got[2::3].any()
    diff = rng.standard_normal(got.shape)
    wanted, got = alone.backward([diff[::3]], FEATURES_ONLY)[0], among.backward([diff], FEATURES_ONLY)[0]
    assert np.array_equal(got, wanted)


def test_any_finite_region_is_survived(device):
    rng = np.random.default_rng(4)
    numbers = np.array([0, 0.5, -0.5, 3, -3, 1e3, 1e9, -1e9, 2.2e9, 1e20, -1e30, 3e38, -3e38, 1e-40])
    r = Rig(TEXT, [rng.standard_normal((2, 3, 8, 9)), rng.choice(numbers, (4000, 5))], device=device)
    top = r.forward()[0]
    assert np.isfinite(top).all()
    assert np.isfinite(r.backward([np.ones(top.shape)], FEATURES_ONLY)[0]).all()


def test_batch_index_is_truncated(device):
    features = np.arange(2 * 4).reshape(2, 1, 2, 2)
    rows = np.array([[b, 0, 0, 1, 1] for b in (0.9, 1.7, -0.5)])
    top = Rig(POOLING % "pooled_h: 1 pooled_w: 1", [features, rows], device=device).forward()[0]
    assert top.reshape(-1).tolist() == [3, 7, 3]


def test_pooling_by_hand():
    features = np.arange(16.0).reshape(1, 1, 4, 4)
    text = POOLING % WHOLE
    top = Rig(text, [features, [[0, 0, 0, 3, 3], [0, 1.5, 0, 2.4, 0.4], [0, 9, 9, 12, 12]]]).forward()[0][:, 0]
    assert top[0].tolist() == [[5, 7], [13, 15]]
    assert top[1].tolist() == [[2, 2], [2, 2]]  # 1.5 rounds to 2, 2.4 to 2: one pixel for all bins
    assert not top[2].any()  # wholly outside
    nans = Rig(text, [np.full((1, 1, 4, 4), np.nan), [[0, 0, 0, 3, 3]]], tops=2)
    assert (nans.forward()[0] == -np.finfo(np.float32).max).all()
    assert (np.array(nans.top[1].data) == -1).all()
    assert not nans.backward([np.ones((1, 1, 2, 2))], FEATURES_ONLY)[0].any()


def test_pooling_is_the_same_for_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(6)
    r = Rig(TEXT, [rng.standard_normal((2, 70, 12, 12)), regions(rng, 40, 2, 24)])
    diff, results = rng.standard_normal(r.top[0].shape), []
    for workers in (1, 2, 5):
        monkeypatch.setattr(r.device, "workers", workers)
        results.append((r.forward()[0], r.backward([diff], FEATURES_ONLY)[0]))
    for top, bottom in results[1:]:
        assert np.array_equal(top, results[0][0])
        assert np.array_equal(bottom, results[0][1])


def largest(features: np.ndarray, rows: np.ndarray, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """What is the largest in each bin, and its place, at a scale of 1/2, bin by bin."""
    (channels, rows_of, columns), shape = features.shape[1:], (len(rows), features.shape[1], height, width)
    top, places = np.zeros(shape), np.full(shape, -1)

    def bins(start: float, end: float, count: int, limit: int) -> list[tuple[int, int]]:
        first, end = (int(np.copysign(np.floor(abs(x) / 2 + 0.5), x)) for x in (start, end))
        size = np.float32(max(end - first + 1, 1)) / np.float32(count)
        edges = [(int(np.floor(p * size)) + first, int(np.ceil((p + 1) * size)) + first) for p in range(count)]
        return [(min(max(a, 0), limit), min(max(b, 0), limit)) for a, b in edges]

    for k, (image, x1, y1, x2, y2) in enumerate(rows):
        for i, (above, below) in enumerate(bins(y1, y2, height, rows_of)):
            for j, (left, right) in enumerate(bins(x1, x2, width, columns)):
                if below > above and right > left:
                    part = features[int(image), :, above:below, left:right].reshape(channels, -1)
                    top[k, :, i, j], at = part.max(1), part.argmax(1)
                    places[k, :, i, j] = (above + at // (right - left)) * columns + left + at % (right - left)
    return top, places


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("last", [False, True], ids=["planes", "channels_last"])
@pytest.mark.parametrize("channels", [20, 64, 72, 90, 130])
def test_slabs_pooled_together(channels, last, workers, monkeypatch):
    """Four slabs by four, and what is left of them one by one, or all one by one where that takes fewer turns."""
    rng = np.random.default_rng(8)
    features, rows = rng.permutation(2 * channels * 110).reshape(2, channels, 10, 11) / 8192.0, regions(rng, 30, 2, 21)
    rows[:, 1:] = np.round(rows[:, 1:] * 4) / 4  # no product that two machines round apart
    wanted = largest(features, rows, 3, 2)
    monkeypatch.setattr(layer_class("ROIPooling", ""), "last", last)
    turned = (lambda a: a.transpose(0, 2, 3, 1)) if last else (lambda a: a)
    for dtype, tops in product((np.float32, np.float64, np.float16), (1, 2)):
        r = Rig(TEXT, [turned(features), rows], dtype=dtype, tops=tops)
        monkeypatch.setattr(r.device, "workers", workers)
        got = r.forward()
        assert r.layer.group == (4 if channels in {64, 130} or (channels, workers) == (90, 1) else 1)
        top = largest(features.astype(dtype).astype(float), rows, 3, 2)[0] if dtype == np.float16 else wanted[0]
        np.testing.assert_array_equal(got[0], turned(top))
        if tops == 2 and dtype != np.float16:
            np.testing.assert_array_equal(got[1], turned(wanted[1]))


def test_pooling_in_float16(device):
    """Stored in half, computed in float: the top is exact, and the gradient rounded once."""
    rng = np.random.default_rng(7)
    bottoms = [rng.standard_normal((2, 19, 9, 8)), regions(rng, 20, 2, 18)]
    half, single = (Rig(TEXT, bottoms, device=device, dtype=d) for d in (np.float16, np.float32))
    for i, blob in enumerate(half.bottom):
        single.set_bottom(i, np.array(blob.data))
    assert np.array_equal(half.forward()[0], single.forward()[0])
    diff = rng.standard_normal(half.top[0].shape).astype(np.float16)
    close(half.backward([diff], FEATURES_ONLY)[0], single.backward([diff], FEATURES_ONLY)[0], rtol=1e-3, atol=1e-5)


def test_pooling_with_padding_as_mscnn():
    features = np.arange(100.0).reshape(1, 1, 10, 10)
    row = [[0, 4, 4, 5, 5]]  # 2 x 2 pixels and 2 * 0.5 more on each side: 3 to 6
    padded = Rig(POOLING % "pooled_h: 1 pooled_w: 1 pad_ratio: 0.5", [features, row]).forward()[0]
    assert padded.item() == 66


@pytest.mark.parametrize(
    ("text", "rois", "message"),
    [
        (POOLING % "pooled_h: 2", np.zeros((1, 5)), "pooled_h and pooled_w must be positive"),
        (POOLING % (WHOLE + "spatial_scale: 0"), np.zeros((1, 5)), "spatial_scale"),
        (POOLING % WHOLE, np.zeros((2, 4)), r"must be \(K, 5\)"),
    ],
)
def test_errors(text, rois, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [np.zeros((1, 1, 4, 4)), rois])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_one_region_of_each_image_has_no_number_of_it(device, dtype):
    rng = np.random.default_rng(11)
    for images in (3, 1, 0, 2):
        features, rows = rng.standard_normal((images, 5, 9, 8)), regions(rng, images, 1, 20)
        rows[:, 0] = np.arange(images)
        text = POOLING % "pooled_h: 3 pooled_w: 2 spatial_scale: 0.5"
        short = Rig(text, [features, rows[:, 1:]], device=device, dtype=dtype, phase="TRAIN")
        whole = Rig(text, [features, rows], device=device, dtype=dtype, phase="TRAIN")
        for _ in range(2):
            np.testing.assert_array_equal(short.forward()[0], whole.forward()[0])
            rows[:, 1:] += 1
            short.set_bottom(1, rows[:, 1:])
            whole.set_bottom(1, rows)
        diff = rng.standard_normal(short.top[0].shape)
        gradients = [rig.backward([diff], FEATURES_ONLY)[0] for rig in (short, whole)]
        np.testing.assert_array_equal(*gradients)
    with pytest.raises(LayerError, match=r"must be \(K, 5\).*got \(3, 4\)"):
        Rig(text, [features, np.zeros((3, 4))], device=device)


def test_regions_get_no_gradient():
    r = Rig(POOLING % WHOLE, [np.zeros((1, 1, 4, 4)), np.zeros((1, 5))])
    r.forward()
    with pytest.raises(LayerError, match="no gradient for the regions"):
        r.backward([np.zeros((1, 1, 2, 2))])
    assert not r.layer.allow_force_backward(1)
