"""Fillers against Caffe's formulas: exactly where there is no chance in them, else by their moments and bounds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import sqrt

import numpy as np
import pytest

from boxpresso import Net
from boxpresso.layers.core import fill
from boxpresso.proto import FillerParameter
from boxpresso.proto.errors import LayerError

SHAPE = (40, 30, 5, 4)  # fan in 600, fan out 800, average 700


def filled(shape, dtype=np.float32, seed=1, **fields):
    return fill(shape, FillerParameter(**fields), np.random.default_rng(seed), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["constant", "uniform", "gaussian", "xavier", "msra", "positive_unitball", "bilinear"])
def test_shape_dtype_and_seed(kind, dtype):
    made = filled((3, 2, 4, 4), dtype, type=kind)
    assert made.shape == (3, 2, 4, 4)
    assert made.dtype == dtype
    assert made.flags.writeable
    np.testing.assert_array_equal(made, filled((3, 2, 4, 4), dtype, type=kind))


def test_constant_is_the_default_and_zero():
    assert not filled((2, 3)).any()
    assert (filled((2, 3), value=1.5) == 1.5).all()
    assert filled((), type="constant", value=0.25) == 0.25  # PReLU's shared slope has no axes


def test_uniform():
    made = filled(SHAPE, type="uniform", min=-1, max=3)
    assert made.min() >= -1
    assert made.max() <= 3
    assert made.min() < -0.99
    assert made.max() > 2.99
    assert made.mean() == pytest.approx(1, abs=0.03)
    assert made.var() == pytest.approx(16 / 12, rel=0.03)


def test_gaussian():
    made = filled(SHAPE, np.float64, type="gaussian", mean=2, std=0.5)
    assert made.mean() == pytest.approx(2, abs=0.02)
    assert made.std() == pytest.approx(0.5, rel=0.02)
    assert np.mean(((made - 2) / 0.5) ** 4) == pytest.approx(3, rel=0.05)
    assert (filled((5,), type="gaussian", mean=2, std=0) == 2).all()


def test_sparse_keeps_a_share_of_the_outputs():
    made = filled((50, 400), type="gaussian", sparse=5)
    assert np.mean(made != 0) == pytest.approx(5 / 50, rel=0.1)
    assert np.std(made[made != 0]) == pytest.approx(1, rel=0.1)
    assert not filled((50, 400), type="gaussian", sparse=0).any()
    assert filled((50, 400), type="gaussian", sparse=50).all()


@pytest.mark.parametrize(("norm", "n"), [(None, 600), ("FAN_IN", 600), ("FAN_OUT", 800), ("AVERAGE", 700)])
def test_xavier_and_msra_scale_by_the_fan(norm, n):
    extra = {"variance_norm": norm} if norm else {}
    made = filled(SHAPE, np.float64, type="xavier", **extra)
    assert 0.999 * sqrt(3 / n) < np.abs(made).max() <= sqrt(3 / n)
    assert made.mean() == pytest.approx(0, abs=0.001)
    made = filled(SHAPE, np.float64, type="msra", **extra)
    assert made.std() == pytest.approx(sqrt(2 / n), rel=0.015)


def test_fan_of_one_axis():
    """Caffe: fan in is count / shape[0], which is 1, and fan out is the count."""
    assert 0.9 * sqrt(3) < np.abs(filled((300,), type="xavier")).max() <= sqrt(3)
    assert np.abs(filled((300,), type="xavier", variance_norm="FAN_OUT")).max() <= sqrt(3 / 300) * (1 + 1e-6)


@pytest.mark.parametrize("shape", [(7, 3, 2), (1,), (4, 1)])
def test_unit_ball_sums_to_one(shape):
    made = filled(shape, np.float64, type="positive_unitball")
    assert (made > 0).all()
    np.testing.assert_allclose(made.reshape(shape[0], -1).sum(1), 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("size", "line"),
    [
        (1, [1]),
        (2, [0.5, 0.5]),
        (3, [0.5, 1, 0.5]),
        (4, [0.25, 0.75, 0.75, 0.25]),
        (5, [1 / 3, 2 / 3, 1, 2 / 3, 1 / 3]),
    ],
)
def test_bilinear_is_a_tent(size, line):
    made = filled((3, 2, size, size), np.float64, type="bilinear")
    for kernel in made.reshape(-1, size, size):
        np.testing.assert_allclose(kernel, np.outer(line, line), rtol=1e-12)


@pytest.mark.parametrize(
    ("shape", "fields", "says"),
    [
        ((2, 2), {"type": "xavjer"}, "did you mean 'xavier'"),
        ((2, 0), {"type": "constant"}, r"\(2, 0\)"),
        ((2, 2), {"type": "uniform", "min": 2, "max": 1}, "min: 2 max: 1"),
        ((2, 2), {"type": "gaussian", "std": -1}, "std >= 0"),
        ((2, 2), {"type": "gaussian", "sparse": 3}, "sparse: 3"),
        ((2, 2), {"type": "gaussian", "sparse": -2}, "sparse: -2"),
        ((2, 2), {"type": "msra", "sparse": 1}, "only gaussian"),
        ((), {"type": "msra"}, "at least one axis"),
        ((), {"type": "positive_unitball"}, "at least one axis"),
        ((2, 2), {"type": "bilinear"}, "square"),
        ((1, 1, 2, 3), {"type": "bilinear"}, "square"),
    ],
)
def test_errors(shape, fields, says):
    with pytest.raises(LayerError, match=says):
        filled(shape, **fields)


TWO = """
layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 6 dim: 6 } } }
layer { name: "a" type: "Convolution" bottom: "x" top: "a"
  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } bias_filler { type: "gaussian" std: 1 } } }
layer { name: "b" type: "InnerProduct" bottom: "a" top: "b"
  inner_product_param { num_output: 5 weight_filler { type: "gaussian" sparse: 2 std: 1 } bias_filler { type: "uniform" max: 1 } } }
"""


def two(tmp_path, device, **options):
    path = tmp_path / "two.prototxt"
    path.write_text(TWO)
    return Net(path, device=device, **options)


def values(net, name):
    return [np.array(blob.data) for blob in net.params[name]]


def test_values_are_the_same_whoever_asks_for_them_first(tmp_path, device):
    one, other, third = (two(tmp_path, device, seed=4) for _ in range(3))
    wanted = {name: values(one, name) for name in ("a", "b")}
    number = one.layer_dict["a"].rng.random()
    assert other.layer_dict["a"].rng.random() == number  # before anybody looked at the weights
    for name in ("b", "a"):
        bias, weights = other.params[name][1].data, other.params[name][0].data
        np.testing.assert_array_equal(weights, wanted[name][0])
        np.testing.assert_array_equal(bias, wanted[name][1])
    third.params["a"][0].data[...] = 1  # its own place is drawn all the same
    np.testing.assert_array_equal(third.params["a"][1].data, wanted["a"][1])
    assert (np.asarray(third.params["a"][0].data) == 1).all()
    assert (wanted["a"][0] != two(tmp_path, device, seed=5).params["a"][0].data).any()


def test_a_file_of_weights_leaves_nothing_to_draw(tmp_path, device):
    net = two(tmp_path, device, seed=4)
    net.save(tmp_path / "two.caffemodel")
    read = two(tmp_path, device, seed=9, weights=tmp_path / "two.caffemodel")
    read.forward(x=np.ones((2, 3, 6, 6)))
    for name in ("a", "b"):
        assert read.layer_dict[name].fills.made is None
        for ours, theirs in zip(values(read, name), values(net, name)):
            np.testing.assert_array_equal(ours, theirs)
    fresh = two(tmp_path, device, seed=9)  # the random numbers behind the parameters are those of a net without a file
    assert read.layer_dict["a"].rng.random() == fresh.layer_dict["a"].rng.random()
    np.testing.assert_array_equal(values(read, "a")[0], values(net, "a")[0])


def test_threads_that_look_at_once_see_the_same(tmp_path):
    wanted = values(two(tmp_path, "cpu", seed=4), "b")[0]
    for _ in range(20):
        net = two(tmp_path, "cpu", seed=4)
        with ThreadPoolExecutor(8) as pool:
            for seen in pool.map(lambda _, net=net: values(net, "b")[0], range(8)):
                np.testing.assert_array_equal(seen, wanted)


def test_numbers_of_the_prototxt_or_of_a_file(tmp_path):
    (tmp_path / "numbers.txt").write_text("0.5 1\n-2 3\n0 7\n")
    wanted = [[0.5, 1, -2], [3, 0, 7]]
    np.testing.assert_array_equal(filled((2, 3), type="value", values=[0.5, 1, -2, 3, 0, 7]), wanted)
    np.testing.assert_array_equal(filled((2, 3), type="file", file=str(tmp_path / "numbers.txt")), wanted)
    with pytest.raises(LayerError, match=r"value filler: has 2 numbers for the 6 elements of \(2, 3\)"):
        filled((2, 3), type="value", values=[1, 2])
    with pytest.raises(LayerError, match=r"file filler: cannot read .*none\.txt"):
        filled((2, 3), type="file", file=str(tmp_path / "none.txt"))
    (tmp_path / "numbers.txt").write_text("1 two")
    with pytest.raises(LayerError, match=r"file filler: cannot read .*two"):
        filled((1, 2), type="file", file=str(tmp_path / "numbers.txt"))


def test_marks_of_sequences():
    """What an LSTM asks for as its second bottom: 0 where a sequence begins, over the elements in their order."""
    assert filled((6, 1), type="sequence", value=3).ravel().tolist() == [0, 1, 1, 0, 1, 1]
    assert filled((4, 2), np.float64, type="sequence", value=4).tolist() == [[0, 1], [1, 1], [0, 1], [1, 1]]
    assert not filled((3,), type="sequence", value=1).any()
    with pytest.raises(LayerError, match="sequence filler: needs a value from 1, the length of a sequence, got 0"):
        filled((2, 2), type="sequence")
