"""Permute against its recorded cases, its published numbers and numpy's transpose."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from harness import Rig, check_gradient
from shared import golden

from boxpresso.device import open_device, strides
from boxpresso.layers.core import strided
from boxpresso.layers.core.strided import merged
from boxpresso.proto.errors import LayerError

CASES = golden("roi/Permute")


def permute(order) -> str:
    return 'type: "Permute" permute_param { ' + " ".join(f"order: {axis}" for axis in order) + " }"


@pytest.mark.parametrize("path", CASES, ids=[p.stem for p in CASES])
def test_recorded(path, device):
    case = np.load(path)
    params = json.loads(str(case["params"]))
    rig = Rig(permute(params["order"]), [case["input"]], device=device)
    np.testing.assert_array_equal(rig.forward()[0], case["output"])
    np.testing.assert_array_equal(rig.backward([case["grad_output"]])[0], case["grad_input"])
    assert rig.layer.order == params["full_order"]
    assert rig.layer.old_steps == params["old_steps"]
    assert rig.layer.new_steps == params["new_steps"]
    assert rig.layer.identity != params["need_permute"]


def test_published_numbers(device):
    bottom = np.arange(24.0).reshape(2, 2, 3, 2)
    rig = Rig(permute([0, 1, 3, 2]), [bottom], device=device)
    top = rig.forward()[0].ravel()
    assert rig.layer.old_steps == [12, 6, 2, 1]
    assert rig.layer.new_steps == [12, 6, 3, 1]
    assert top[1] == bottom.ravel()[2]


@pytest.mark.parametrize("order", [*itertools.permutations(range(3)), (4, 0, 3, 1, 2), (3, 2, 5, 0, 1, 4)], ids=str)
@pytest.mark.parametrize("big", [False, True])
def test_as_numpy(order, big, device):
    """Sizes around the kernels' tile of 32, ones among them."""
    shape = ((65, 1, 33, 40, 2, 3) if big else (3, 4, 1, 5, 2, 2))[: len(order)]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    rig = Rig(permute(order), [x], device=device)
    np.testing.assert_array_equal(rig.forward()[0], x.transpose(order))
    g = np.random.default_rng(1).standard_normal(rig.top[0].shape).astype(np.float32)
    np.testing.assert_array_equal(rig.backward([g])[0], g.transpose(np.argsort(order)))


@pytest.mark.parametrize("past", [0, 2**40], ids=["past the caches", "through the caches"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_order_of_four_axes(dtype, past, device, monkeypatch):
    """Axes of whole vectors, of some and a rest, and of less than one."""
    monkeypatch.setattr(strided, "PAST", past)
    for shape in ((2, 16, 8, 32), (3, 17, 5, 35), (2, 530, 3, 19)):
        x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
        for order in itertools.permutations(range(4)):
            rig = Rig(permute(order), [x], device=device, dtype=dtype)
            np.testing.assert_array_equal(rig.forward()[0], x.transpose(order))


def test_long_runs(device):
    """Rows longer than one block's piece, and more than one row to a block."""
    for shape, order in (((2, 3, 9001), (1, 0, 2)), ((70, 90, 7), (1, 0, 2))):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        np.testing.assert_array_equal(Rig(permute(order), [x], device=device).forward()[0], x.transpose(order))


def test_identity_shares_memory(device):
    rig = Rig(permute([0, 1]), [np.zeros((2, 3, 4))], device=device)
    assert rig.layer.identity
    rig.top[0].data[...] = 5
    rig.top[0].diff[...] = 6
    assert (np.asarray(rig.bottom[0].data) == 5).all()
    assert (np.asarray(rig.bottom[0].diff) == 6).all()


def test_gradient(device):
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    check_gradient(Rig(permute([0, 2, 3, 1]), [x], device=device, dtype=np.float64))


def test_reshape_and_empty(device):
    rig = Rig(permute([0, 2, 1]), [np.ones((2, 3, 4))], device=device)
    for shape in ((1, 5, 2), (0, 3, 4), (2, 0, 4), (4, 7, 3)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        rig.set_bottom(0, x)
        np.testing.assert_array_equal(rig.forward()[0], x.transpose(0, 2, 1))


def test_does_nothing_unasked():
    rig = Rig(permute([1, 0]), [np.ones((2, 3))])
    rig.forward()
    assert np.isnan(rig.backward([np.ones((3, 2))], [False])[0]).all()


@pytest.mark.parametrize(("order", "match"), [([0, 4], r"order \[0, 4\] does not fit a bottom of 3 axes"),
                                              ([0, 1, 1], "names an axis twice")])  # fmt: skip
def test_errors(order, match):
    with pytest.raises(LayerError, match="Permute layer 'layer': .*" + match):
        Rig(permute(order), [np.ones((2, 3, 4))])


def test_rank_may_not_change():
    rig = Rig(permute([1, 0]), [np.ones((2, 3))])
    rig.set_bottom(0, np.ones((2, 3, 4)))
    with pytest.raises(LayerError, match="must have 2 axes"):
        rig.forward()


def test_axes_that_stay_together_are_one():
    shape = (2, 84, 38, 38)
    to = strides((2, 38, 38, 84))
    axes = list(zip(shape, strides(shape), (to[0], to[3], to[1], to[2]), strict=True))
    assert merged(axes) == [(2, 84 * 1444, 84 * 1444), (1444, 1, 84), (84, 1444, 1)]


def test_plans_of_many_shapes_do_not_pile_up(monkeypatch):
    """A process that sees ever new sizes keeps a few plans, and those of the sizes that come again."""
    monkeypatch.setattr(strided, "KEPT", 8)
    cpu, made = open_device("cpu"), []
    plan = strided._plan
    monkeypatch.setattr(strided, "_plan", lambda *args: made.append(args[1]) or plan(*args))
    cpu.memo.pop("strided", None)
    for size in range(2, 40):
        for shape in ((7, 3), (size, 5)):
            x, y = np.arange(float(shape[0] * shape[1])), np.zeros(shape[0] * shape[1])
            strided.copy(cpu, shape, x, (1, shape[0]), y, (shape[1], 1))
            np.testing.assert_array_equal(y.reshape(shape), x.reshape(shape[::-1]).T)
    assert len(cpu.memo["strided"]) == 8
    assert made.count((7, 3)) == 1
