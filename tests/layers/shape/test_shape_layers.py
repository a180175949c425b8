"""Concat, Slice, Split, Reshape, Flatten, Crop, Silence, Input and DummyData: by numpy's own words, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def shared(rig: Rig, top: int = 0) -> bool:
    """Whether what is written to the top, data and diff, is read from bottom 0."""
    rig.top[top].data.fill(3)
    rig.top[top].diff.fill(4)
    return bool((np.asarray(rig.bottom[0].data) == 3).all() and (np.asarray(rig.bottom[0].diff) == 4).all())


# Concat

CONCATS = [("", 1), ("axis: 0", 0), ("axis: 2", 2), ("axis: -1", 3), ("axis: -4", 0), ("concat_dim: 2", 2)]


@pytest.mark.parametrize(("param", "axis"), CONCATS)
@pytest.mark.parametrize("lengths", [(2, 3), (1, 1, 1), (4, 0, 5), (40, 7, 1)])
def test_concat(param, axis, lengths, device):
    parts = [random(*(3, 2, 5, 4)[:axis], n, *(3, 2, 5, 4)[axis + 1 :], seed=i) for i, n in enumerate(lengths)]
    rig = Rig(f'type: "Concat" concat_param {{ {param} }}', parts, device=device)
    np.testing.assert_array_equal(rig.forward()[0], np.concatenate(parts, axis))
    g = random(*rig.top[0].shape)
    for diff, wanted in zip(rig.backward([g]), np.split(g, np.cumsum(lengths)[:-1], axis), strict=True):
        np.testing.assert_array_equal(diff, wanted)


def test_concat_asks_for_some_gradients_alone(device):
    rig = Rig('type: "Concat"', [random(1, 2), random(1, 3)], device=device)
    rig.forward()
    first, second = rig.backward([random(1, 5)], [False, True])
    assert np.isnan(first).all()
    np.testing.assert_array_equal(second, random(1, 5)[:, 2:])


def test_concat_reshape_and_empty(device):
    rig = Rig('type: "Concat"', [random(2, 2, 3), random(2, 1, 3)], device=device)
    for batch, width in ((5, 7), (0, 3), (1, 1)):
        parts = [random(batch, 2, width), random(batch, 1, width, seed=1)]
        for i, part in enumerate(parts):
            rig.set_bottom(i, part)
        np.testing.assert_array_equal(rig.forward()[0], np.concatenate(parts, 1))


def test_concat_of_one_shares(device):
    assert shared(Rig('type: "Concat"', [random(2, 3)], device=device))


def test_concat_gradient(device):
    bottoms = [random(2, 3, 4), random(2, 5, 4)]
    check_gradient(Rig('type: "Concat"', bottoms, device=device, dtype=np.float64), bottoms=(0, 1))


@pytest.mark.parametrize(
    ("param", "shapes", "match"),
    [
        ("axis: 3", [(2, 3), (2, 3)], "axis 3 does not fit"),
        ("concat_dim: 2", [(2, 3), (2, 3)], "concat_dim 2 does not fit"),
        ("axis: 1", [(2, 3), (3, 3)], r"bottom 1 of shape \(3, 3\)"),
        ("axis: 1", [(2, 3), (2, 3, 1)], r"bottom 1 of shape \(2, 3, 1\)"),
        ("axis: 1 concat_dim: 1", [(2, 3), (2, 3)], "give one of them"),
    ],
)
def test_concat_errors(param, shapes, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Concat" concat_param {{ {param} }}', [np.zeros(s) for s in shapes])


# Slice

SLICES = [
    ("", 1, None, 3),
    ("axis: 0 slice_point: 1", 0, [1], 2),
    ("axis: -1 slice_point: 3 slice_point: 4", 3, [3, 4], 3),
    ("slice_dim: 2", 2, None, 2),
    ("axis: 2 slice_point: 1 slice_point: 2 slice_point: 7", 2, [1, 2, 7], 4),
]


@pytest.mark.parametrize(("param", "axis", "points", "tops"), SLICES)
def test_slice(param, axis, points, tops, device):
    x = random(4, 6, 8, 5)
    rig = Rig(f'type: "Slice" slice_param {{ {param} }}', [x], device=device, tops=tops)
    wanted = np.split(x, points or tops, axis)
    for top, part in zip(rig.forward(), wanted, strict=True):
        np.testing.assert_array_equal(top, part)
    diffs = [random(*part.shape, seed=i) for i, part in enumerate(wanted)]
    np.testing.assert_array_equal(rig.backward(diffs)[0], np.concatenate(diffs, axis))


def test_slice_of_one_shares(device):
    assert shared(Rig('type: "Slice"', [random(2, 3)], device=device))


def test_slice_reshape_empty_and_gradient(device):
    rig = Rig(
        'type: "Slice" slice_param { slice_point: 1 }', [random(2, 3, 4)], device=device, dtype=np.float64, tops=2
    )
    check_gradient(rig)
    for shape in ((3, 5, 2), (0, 2, 2)):
        rig.set_bottom(0, random(*shape))
        first, second = rig.forward()
        np.testing.assert_array_equal(first, random(*shape)[:, :1])
        np.testing.assert_array_equal(second, random(*shape)[:, 1:])


@pytest.mark.parametrize(
    ("param", "tops", "match"),
    [
        ("", 2, "does not divide into 2 equal pieces"),
        ("slice_point: 1", 3, "3 tops need 2 slice_point"),
        ("slice_point: 2 slice_point: 2", 3, "must rise"),
        ("slice_point: 0", 2, "must rise"),
        ("slice_point: 3", 2, "must rise"),
        ("axis: 1 slice_dim: 1", 1, "give one of them"),
        ("axis: -3", 1, "axis -3 does not fit"),
    ],
)
def test_slice_errors(param, tops, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Slice" slice_param {{ {param} }}', [np.zeros((2, 3))], tops=tops)


# Split


@pytest.mark.parametrize("tops", [1, 2, 4])
def test_split(tops, device):
    x = random(3, 5)
    rig = Rig('type: "Split"', [x], device=device, tops=tops)
    for top in rig.forward():
        np.testing.assert_array_equal(top, x)
    diffs = [random(3, 5, seed=i) for i in range(tops)]
    np.testing.assert_allclose(rig.backward(diffs)[0], sum(diffs), rtol=1e-6)
    rig.bottom[0].data.fill(7)
    assert all((np.asarray(top.data) == 7).all() for top in rig.top)


def test_split_follows_a_bottom_that_grows(device):
    rig = Rig('type: "Split"', [random(1, 2)], device=device, tops=2)
    for shape in ((4, 50), (0, 2), (2, 2)):
        rig.set_bottom(0, random(*shape))
        np.testing.assert_array_equal(rig.forward()[1], random(*shape))
        np.testing.assert_allclose(rig.backward([random(*shape)] * 2)[0], 2 * random(*shape), rtol=1e-6)


def test_split_gradient(device):
    check_gradient(Rig('type: "Split"', [random(3, 4)], device=device, dtype=np.float64, tops=3))


# Reshape and Flatten

RESHAPES = [
    ("shape { dim: 0 dim: -1 }", (2, 3, 4, 5), (2, 60)),
    ("shape { dim: -1 }", (2, 3), (6,)),
    ("shape { dim: 4 dim: 0 dim: -1 }", (2, 4, 4), (4, 4, 2)),
    ("shape { dim: -1 dim: 2 } axis: 2", (2, 3, 4, 5), (2, 3, 10, 2)),
    ("shape { dim: 6 } axis: 0 num_axes: 2", (2, 3, 4), (6, 4)),
    ("shape { dim: 1 dim: 1 } axis: -1 num_axes: 0", (2, 3), (2, 3, 1, 1)),
    ("shape { dim: 1 } axis: 0 num_axes: 0", (2, 3), (1, 2, 3)),
    ("shape { dim: -1 } axis: -3", (2, 3, 4), (2, 12)),
    ("shape { dim: -1 } axis: 1 num_axes: 0", (2, 3), (2, 1, 3)),
    ("shape { dim: 0 dim: 2 dim: -1 dim: 0 }", (1, 18, 3, 4), (1, 2, 27, 4)),
    ("axis: 1 num_axes: 1", (4, 1, 3), (4, 3)),
    ("", (1,), ()),
]


@pytest.mark.parametrize(("param", "bottom", "top"), RESHAPES)
def test_reshape(param, bottom, top, device):
    x = random(*bottom)
    rig = Rig(f'type: "Reshape" reshape_param {{ {param} }}', [x], device=device)
    np.testing.assert_array_equal(rig.forward()[0], x.reshape(top))
    g = random(*top)
    np.testing.assert_array_equal(rig.backward([g])[0], g.reshape(bottom))
    assert shared(rig)


def test_reshape_an_empty_batch_keeps_the_other_lengths(device):
    rig = Rig('type: "Reshape" reshape_param { shape { dim: 0 dim: 2 dim: -1 } }', [random(3, 4, 5)], device=device)
    assert rig.forward()[0].shape == (3, 2, 10)
    rig.set_bottom(0, random(0, 4, 5))
    assert rig.forward()[0].shape == (0, 2, 10)
    rig = Rig('type: "Reshape" reshape_param { shape { dim: -1 dim: 4 } }', [random(0, 3, 4)], device=device)
    assert rig.forward()[0].shape == (0, 4)


@pytest.mark.parametrize(
    ("param", "match"),
    [
        ("shape { dim: -1 dim: -1 }", "-1 more than once"),
        ("shape { dim: -2 }", "must be lengths"),
        ("shape { dim: 7 }", r"make \(7,\) of a bottom of shape \(2, 3\), which has 6 elements"),
        ("shape { dim: 4 dim: -1 }", r"make \(4, 1\)"),
        ("shape { dim: 1 dim: 2 dim: 0 }", "dim 2 is 0, but there is no axis 2"),
        ("shape { dim: 6 } axis: 3", "axis 3 with num_axes -1 does not fit"),
        ("shape { dim: 6 } axis: -4", "axis -4"),
        ("shape { dim: 6 } num_axes: 3", "num_axes 3 does not fit"),
        ("shape { dim: 6 } num_axes: -2", "num_axes -2 must be a count"),
        ("shape { dim: 6 } pixelshuffler: 2", "pixelshuffler 2 moves elements"),
    ],
)
def test_reshape_errors(param, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Reshape" reshape_param {{ {param} }}', [np.zeros((2, 3))])


FLATTENS = [
    ("", (2, 60)),
    ("axis: 0", (120,)),
    ("axis: 2", (2, 3, 20)),
    ("axis: -2", (2, 3, 20)),
    ("axis: 1 end_axis: 2", (2, 12, 5)),
    ("axis: 0 end_axis: -2", (24, 5)),
    ("axis: 3", (2, 3, 4, 5)),
    ("axis: 2 end_axis: 1", (2, 3, 1, 4, 5)),
]


@pytest.mark.parametrize(("param", "top"), FLATTENS)
def test_flatten(param, top, device):
    x = random(2, 3, 4, 5)
    rig = Rig(f'type: "Flatten" flatten_param {{ {param} }}', [x], device=device)
    np.testing.assert_array_equal(rig.forward()[0], x.reshape(top))
    np.testing.assert_array_equal(rig.backward([random(*top)])[0], random(*top).reshape(x.shape))
    assert shared(rig)
    rig.set_bottom(0, random(0, 3, 4, 5))
    assert rig.forward()[0].size == 0


@pytest.mark.parametrize(("param", "match"), [("axis: 4", "axis 4"), ("end_axis: 4", "end_axis 4"),
                                              ("axis: 3 end_axis: 1", "axis 3 lies behind end_axis 1")])  # fmt: skip
def test_flatten_errors(param, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Flatten" flatten_param {{ {param} }}', [np.zeros((2, 3, 4, 5))])


# Crop

CROPS = [
    ("", (9, 9, 4, 5), np.s_[:, :, 0:4, 0:5]),
    ("offset: 1", (1, 1, 4, 5), np.s_[:, :, 1:5, 1:6]),
    ("axis: 1 offset: 1 offset: 0 offset: 3", (1, 2, 7, 5), np.s_[:, 1:3, :, 3:8]),
    ("axis: -1 offset: 2", (9, 9, 9, 6), np.s_[..., 2:8]),
    ("axis: 0 offset: 1 offset: 2 offset: 3 offset: 4", (1, 1, 2, 2), np.s_[1:2, 2:3, 3:5, 4:6]),
    ("axis: 2", (1, 1, 7, 8), np.s_[...]),
]  # fmt: skip


@pytest.mark.parametrize(("param", "like", "window"), CROPS)
def test_crop(param, like, window, device):
    x = random(2, 3, 7, 8)
    rig = Rig(f'type: "Crop" crop_param {{ {param} }}', [x, np.zeros(like)], device=device)
    np.testing.assert_array_equal(rig.forward()[0], x[window])
    g = random(*rig.top[0].shape, seed=1)
    wanted = np.zeros_like(x)
    wanted[window] = g
    diff, other = rig.backward([g], [True, False])
    np.testing.assert_array_equal(diff, wanted)
    assert np.isnan(other).all()
    diff, other = rig.backward([g], [False, True])
    assert np.isnan(diff).all()
    assert (other == 0).all()


def test_crop_of_a_size_that_the_prototxt_gives(device):
    x = random(2, 3, 7, 9)
    text = 'type: "Crop" crop_param { axis: 2 height: 4 weight: 5 offset: 3 offset: 1 }'
    rig = Rig(text, [x], device=device, dtype=np.float64)
    np.testing.assert_array_equal(rig.forward()[0], x[:, :, 3:7, 1:6])
    check_gradient(rig)
    for fields, bottoms in (("height: 4", [x]), ("", [x]), ("height: 4 weight: 5", [x, x])):
        with pytest.raises(LayerError, match="for a Crop without bottom 1"):
            Rig(f'type: "Crop" crop_param {{ {fields} }}', bottoms)
    with pytest.raises(LayerError, match="the crop asks for 3 to 8"):
        Rig('type: "Crop" crop_param { height: 5 weight: 5 offset: 3 offset: 1 }', [x])


def test_crop_reshape_empty_and_gradient(device):
    text = 'type: "Crop" crop_param { offset: 1 }'
    rig = Rig(text, [random(2, 3, 5, 5), random(1, 1, 3, 2)], device=device, dtype=np.float64)
    check_gradient(rig)
    rig.set_bottom(0, random(1, 1, 9, 9))
    np.testing.assert_array_equal(rig.forward()[0], random(1, 1, 9, 9)[:, :, 1:4, 1:3])
    rig.set_bottom(0, random(0, 1, 9, 9))
    assert rig.forward()[0].shape == (0, 1, 3, 2)


@pytest.mark.parametrize(
    ("param", "like", "match"),
    [
        ("axis: 4", (1, 1, 1, 1), "axis 4 does not fit"),
        ("axis: 1 offset: 1 offset: 1", (1, 1, 1, 1), r"offset \[1, 1\] is for 2 axes, but 3"),
        ("offset: 2", (1, 1, 6, 6), "axis 2 .* ends at 7, the crop asks for 2 to 8"),
        ("axis: 1", (1, 4, 7, 8), "axis 1 .* ends at 3"),
        ("", (1, 1, 3), "fewer axes"),
    ],
)
def test_crop_errors(param, like, match):
    with pytest.raises(LayerError, match=match):
        Rig(f'type: "Crop" crop_param {{ {param} }}', [np.zeros((2, 3, 7, 8)), np.zeros(like)])


# Silence, Input, DummyData


def test_silence(device):
    rig = Rig('type: "Silence"', [random(2, 3), random(4)], device=device, tops=0)
    assert rig.forward() == []
    first, second = rig.backward([], [True, False])
    assert (first == 0).all()
    assert np.isnan(second).all()


def test_input(device):
    rig = Rig('type: "Input" input_param { shape { dim: 2 dim: 3 } }', [], device=device, tops=2)
    assert [top.shape for top in rig.top] == [(2, 3), (2, 3)]
    rig = Rig('type: "Input" input_param { shape { dim: 2 dim: 3 } shape { dim: 4 } }', [], device=device, tops=2)
    assert [top.shape for top in rig.top] == [(2, 3), (4,)]
    rig.top[1].reshape(9)
    rig.top[1].data.fill(5)
    np.testing.assert_array_equal(rig.forward()[1], np.full(9, 5))
    assert Rig('type: "Input"', [], device=device).top[0].shape == ()


def test_input_errors():
    with pytest.raises(LayerError, match="one for each of the 3 tops, or none; 2 were given"):
        Rig('type: "Input" input_param { shape { dim: 2 } shape { dim: 4 } }', [], tops=3)
    with pytest.raises(LayerError, match="negative length"):
        Rig('type: "Input" input_param { shape { dim: -1 dim: 3 } }', [])


def dummy(param: str, **options) -> Rig:
    return Rig(f'type: "DummyData" dummy_data_param {{ {param} }}', [], **options)


def test_dummy_data_shapes(device):
    rig = dummy("shape { dim: 2 dim: 3 }", device=device, tops=2)
    for top in rig.forward():
        np.testing.assert_array_equal(top, np.zeros((2, 3)))
    assert [t.shape for t in dummy("shape { dim: 2 } shape { dim: 3 dim: 1 }", tops=2).top] == [(2,), (3, 1)]
    old = dummy("num: 2 channels: 3 channels: 4 height: 5 width: 6", tops=2)
    assert [t.shape for t in old.top] == [(2, 3, 5, 6), (2, 4, 5, 6)]


def test_dummy_data_constant_is_filled_once_random_every_time(device):
    fillers = 'data_filler { value: 7 } data_filler { type: "uniform" min: 1 max: 2 }'
    rig = dummy("shape { dim: 100 } " + fillers, device=device, tops=2)
    constant, first = rig.forward()
    assert (constant == 7).all()
    assert ((first >= 1) & (first <= 2)).all()
    rig.top[0].data.fill(3)
    constant, second = rig.forward()
    assert (constant == 3).all()
    assert (first != second).any()


def test_dummy_data_is_reproducible(device):
    outputs = [
        dummy('shape { dim: 9 } data_filler { type: "gaussian" }', device=device, seed=s).forward()[0]
        for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert (outputs[0] != outputs[2]).any()


@pytest.mark.parametrize(
    ("param", "match"),
    [
        ("", "give shape once"),
        ("shape { dim: 1 } num: 1", "not both"),
        ("num: 1 channels: 1 height: 1", "give width once"),
        ("shape { dim: 1 } shape { dim: 1 }", "for each of the 3 tops; 2 were given"),
        ("shape { dim: 1 } data_filler {} data_filler {}", "give data_filler once"),
        ("shape { dim: -3 }", "negative length"),
    ],
)
def test_dummy_data_errors(param, match):
    with pytest.raises(LayerError, match=match):
        dummy(param, tops=3)
