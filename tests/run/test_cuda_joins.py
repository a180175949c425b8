"""Concatenations of several images on a GPU: cuDNN's convolutions write into the top, and what cannot is copied."""

from __future__ import annotations

import numpy as np
import pytest
import stand_in
from test_cuda_plan import INPUT, RNG, as_users_have_it, conv, images, layer, nets, same

from boxpresso.device import cudnn
from boxpresso.layers.dense.columns import Finish
from boxpresso.layers.dense.part_of_top import PartOfTop
from boxpresso.proto.errors import DeviceError

assert as_users_have_it  # a fixture of all tests here too
pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]
NARROW = "num_output: 6 kernel_size: 1"
WIDE = "num_output: 7 kernel_size: 3 pad: 1"
LEAKY = "relu_param { negative_slope: 0.1 }"
END = conv("end", "fire", "num_output: 3 kernel_size: 1")
FIRE = [
    INPUT, conv("e1", "x", NARROW), layer("ReLU", "r1", "e1", top="e1"), conv("e3", "x", WIDE),
    layer("ReLU", "r3", "e3", top="e3"), layer("Concat", "fire", "e1", "e3"), END,
]  # fmt: skip


def written(net) -> dict[str, bool]:
    """Of each operand that a convolution may write: whether it has."""
    (program,) = net._runner.describe()
    return {net.layers[i].name: operand.written for i, operand in program.operands.items()}


def check(model: list[str], wanted: dict[str, bool], batches=(2, 3), size: int = 9, turns: int = 5):
    """Forwards launch by launch, and replayed, give what layers one by one give; the net."""
    planned, layers = nets("\n".join(model))
    for _ in range(turns):
        for batch in batches:
            x = images(batch, size)
            same(planned.forward(x=x), layers.forward(x=x))
            assert written(planned) == wanted
    return planned, layers


def test_nothing_is_copied(libraries):
    """Each in one call with its bias and ReLU; and what was left out can be asked for."""
    planned, layers = check(FIRE, {"e1": True, "e3": True})
    (program,) = planned._runner.describe()
    assert program.describe()["nodes"] == 3  # the three convolutions
    before = stand_in.counts()
    x = images(3)
    same(planned.forward(x=x), layers.forward(x=x))
    for name in ("e1", "e3", "fire"):
        same({name: np.array(planned.blobs[name].data)}, {name: np.array(layers.blobs[name].data)})
    assert stand_in.since(before)["faults"] == 0
    for _ in range(4):  # what is asked for has its own memory from then on, and is copied
        x = images(2)
        same(planned.forward(x=x), layers.forward(x=x))
        same({"e1": np.array(planned.blobs["e1"].data)}, {"e1": np.array(layers.blobs["e1"].data)})
        assert "e1" not in written(planned)


def test_what_cudnn_has_no_call_for_is_done_in_place(libraries):
    """A leaky ReLU, no bias, a folded factor for each channel, groups."""
    filled = 'scale_param { bias_term: true filler { type: "gaussian" } bias_filler { type: "gaussian" } }'
    model = [
        INPUT, conv("a", "x", NARROW), layer("ReLU", "ra", "a", top="a", more=LEAKY),
        conv("b", "x", WIDE + " bias_term: false").replace('bias_filler { type: "gaussian" }', ""),
        conv("c", "x", "num_output: 4 kernel_size: 3 pad: 1 group: 4"), layer("Scale", "s", "c", top="c", more=filled),
        layer("PReLU", "p", "c", top="c"), layer("Concat", "fire", "a", "b", "c"), END,
    ]  # fmt: skip
    check(model, {"a": True, "b": True, "c": True})


def test_others_are_copied(libraries):
    """Poolings and the input beside convolutions; convolutions that add a blob, or whose maps another layer reads."""
    pool = "pooling_param { kernel_size: 3 stride: 1 pad: 1 }"
    mixed = [
        INPUT, conv("a", "x", NARROW), layer("Pooling", "p", "x", more=pool), layer("Concat", "fire", "p", "a", "x"), END,
    ]  # fmt: skip
    check(mixed, {"a": True})
    added = [
        INPUT, conv("q", "x", NARROW), conv("a", "x", NARROW), layer("Eltwise", "s", "a", "q"), conv("b", "x", WIDE),
        layer("Concat", "fire", "s", "b"), END,
    ]  # fmt: skip
    check(added, {"b": True})
    read = [*FIRE, layer("Power", "seen", "e1")]
    check(read, {"e3": True})
    twice = [INPUT, conv("a", "x", NARROW), conv("b", "x", NARROW), layer("Concat", "fire", "a", "b", "a"), END]
    check(twice, {"b": True})
    output = [line for line in FIRE if line != END]
    check(output, {})


def test_addresses_are_whole_words(libraries):
    """Operands that begin at no multiple of 16 bytes in each image are copied."""
    check([line.replace("dim: 9 dim: 8", "dim: 5 dim: 5") for line in FIRE], {}, turns=0)
    odd = [INPUT.replace("dim: 8", "dim: 7"), *FIRE[1:]]  # 9 x 7 places: 6 of them are no multiple of 4
    planned, layers = nets("\n".join(odd))
    for _ in range(4):
        x = RNG.standard_normal((2, 4, 9, 7)).astype(np.float32)
        same(planned.forward(x=x), layers.forward(x=x))
    assert written(planned) == {}


def test_joins_in_chains(libraries):
    """One concatenation behind another; memory that is taken again meanwhile."""
    lines = [INPUT]
    below = "x"
    for i in range(4):
        lines += [
            conv(f"n{i}", below, NARROW), layer("ReLU", f"rn{i}", f"n{i}", top=f"n{i}"), conv(f"w{i}", f"n{i}", NARROW),
            conv(f"v{i}", f"n{i}", "num_output: 2 kernel_size: 3 pad: 1"), layer("Concat", f"j{i}", f"w{i}", f"v{i}"),
        ]  # fmt: skip
        below = f"j{i}"
    lines.append(END.replace("fire", below))
    check(lines, {f"{name}{i}": True for i in range(4) for name in "wv"})
    # an operand that is a concatenation itself is copied
    nested = [
        INPUT, conv("a", "x", NARROW), conv("b", "x", NARROW), layer("Concat", "j", "a", "b"), conv("c", "x", NARROW),
        layer("Concat", "fire", "j", "c"), END,
    ]  # fmt: skip
    check(nested, {"a": True, "b": True, "c": True})


def test_what_cudnn_refuses_is_copied(libraries, monkeypatch):
    """Where it has no algorithm for such steps: once it says so, in each forward."""
    plain = cudnn.Convolution.algorithm

    def algorithm(self, kind):
        return None if refused(self) else plain(self, kind)

    parts: list[cudnn.Convolution] = []
    made = PartOfTop.__init__

    def init(self, *args):
        made(self, *args)
        parts.append(self.by)

    def refused(by) -> bool:
        return any(by is part for part in parts)

    monkeypatch.setattr(PartOfTop, "__init__", init)
    monkeypatch.setattr(cudnn.Convolution, "algorithm", algorithm)
    check(FIRE, {"e1": False, "e3": False})
    assert parts


def test_without_cudnn_all_are_copied():
    planned, layers = nets("\n".join(FIRE))
    for _ in range(4):
        x = images(2)
        same(planned.forward(x=x), layers.forward(x=x))
    assert written(planned) == {}


def test_bits_are_those_of_a_copy(libraries, monkeypatch):
    """The same algorithm writes the same numbers, wherever they lie."""
    joined, _ = nets("\n".join(FIRE))
    x = images(3)
    wanted = {name: np.array(value) for name, value in joined.forward(x=x).items()}
    assert all(written(joined).values())
    monkeypatch.setattr("boxpresso.run.gpu.program.spread", lambda *args: [])
    copied, _ = nets("\n".join(FIRE))
    got = copied.forward(x=x)
    assert written(copied) == {}
    assert all(np.array_equal(got[name], wanted[name]) for name in wanted)


def test_the_stand_in_refuses_what_overlaps_or_does_not_fit(libraries):
    """Images that are nearer than they are long, and maps behind the end of the memory."""
    planned, _ = nets("\n".join(FIRE))
    planned.forward(x=images(2))
    net_layer = planned.layer_dict["e3"]
    made, own = net_layer.convolution, 7 * 9 * 8
    with pytest.raises(DeviceError, match="elements overlap"):
        PartOfTop(made, np.dtype(np.float32), own - 1)
    device = net_layer.device
    bottom, weights = device.empty((2, 4, 9, 8), np.float32), net_layer.blobs[0].data
    part = PartOfTop(made, np.dtype(np.float32), own + 64)
    whole = device.empty((2 * own + 64,), np.float32)
    assert part.apply(bottom, weights, whole, 0, Finish(net_layer.blobs[1].data))
    with pytest.raises(UserWarning, match=r"is left out.* y: \d+ bytes at \w+ are not inside one allocation"):
        part.apply(bottom, weights, device.empty((2 * own,), np.float32), 0, Finish(net_layer.blobs[1].data))
