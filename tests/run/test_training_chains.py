"""Chains of BatchNorm, Scale and ReLU: they train as one, and nobody can tell but by the time."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from boxpresso import Net
from boxpresso.proto import parse_net

RAW = np.random.default_rng(5).standard_normal((3, 4, 5, 6)) * 2 + 1
SAME, OTHER, NONE = "in place", "of its own", "missing"


def text(norm: str, scale: str, relu: str, *, more: str = "", slope: float = 0, field: str = "") -> str:
    """A convolution, the chain, and a convolution, under a squared loss."""
    names = ["c"]
    lines = []
    for kind, where, fields in (
        ("BatchNorm", norm, f"batch_norm_param {{ eps: 1e-4 {field} }}"),
        (
            "Scale",
            scale,
            "scale_param { bias_term: true filler { type: 'gaussian' std: 1 } bias_filler { value: 0.3 } }",
        ),
        ("ReLU", relu, f"relu_param {{ negative_slope: {slope} }}"),
    ):
        if where == NONE:
            continue
        top = names[-1] if where == SAME else kind[0].lower()
        lines.append(
            f'layer {{ name: "{kind}" type: "{kind}" bottom: "{names[-1]}" top: "{top}" {fields} {more if kind == "Scale" else ""} }}'
        )
        names.append(top)
    convolution = "convolution_param { num_output: 4 kernel_size: 1 weight_filler { type: 'msra' } }"
    return f"""
        force_backward: true
        layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 3 dim: 4 dim: 5 dim: 6 }} }} }}
        layer {{ name: "conv" type: "Convolution" bottom: "x" top: "c" {convolution} }}
        {" ".join(lines)}
        layer {{ name: "end" type: "Convolution" bottom: "{names[-1]}" top: "e" {convolution} }}
        layer {{ name: "loss" type: "Reduction" bottom: "e" top: "loss" loss_weight: 1 reduction_param {{ operation: SUMSQ }} }}
    """


def pair(prototxt: str, dtype: type = np.float64) -> tuple[Net, Net]:
    """The net with chains and without, of the same weights."""
    nets = [
        Net(parse_net(prototxt), phase="TRAIN", device=None, dtype=dtype, seed=3, optimize=o) for o in (True, False)
    ]
    return nets[0], nets[1]


def run(net: Net, scale: float = 1) -> None:
    net.clear_param_diffs()
    net.forward(x=RAW * scale)
    net.backward()


def close(ours: object, expected: object, dtype: type = np.float64, title: str = "", largest: float = 0) -> None:
    """Equal within rounding of the largest number, here or, by `largest`, in what was computed with it."""
    bound = 1e-10 if dtype is np.float64 else 2e-5
    expected = np.asarray(expected)
    largest = max(1, largest, abs(expected).max(initial=0))
    np.testing.assert_allclose(np.asarray(ours), expected, rtol=0, atol=bound * largest, err_msg=title)


def compare(net: Net, plain: Net, dtype: type = np.float64, blobs: bool = True) -> None:
    for name, params in net.params.items():
        # A bias before BatchNorm has the gradient 0, what rounding leaves of terms like those of the weights' gradient.
        largest = max(abs(b.diff).max(initial=0) for b in plain.params[name])
        for i, (a, b) in enumerate(zip(params, plain.params[name])):
            close(a.data, b.data, dtype, f"{name} {i}")
            close(a.diff, b.diff, dtype, f"diff of {name} {i}", largest)
    for name in plain.blobs if blobs else ["x", "e", "loss"]:
        close(net.blobs[name].data, plain.blobs[name].data, dtype, name)
        close(net.blobs[name].diff, plain.blobs[name].diff, dtype, f"diff of {name}")


SHAPES = [
    shape
    for shape in product((SAME, OTHER), (SAME, OTHER, NONE), (SAME, OTHER, NONE))
    if shape[1:] != (NONE, NONE) and (shape[0] == OTHER or OTHER not in shape)
]


@pytest.mark.parametrize("shape", SHAPES, ids=" ".join)
@pytest.mark.parametrize("field", ["", "use_global_stats: true"])
def test_a_chain_equals_its_layers(shape, field):
    net, plain = pair(text(*shape, field=field, slope=0.25))
    for i in range(3):  # the sums of BatchNorm run on
        run(net, 1 + i)
        run(plain, 1 + i)
        compare(net, plain, blobs=False)
    assert len(net._layers.chains) == 1 + 2 - shape.count(NONE)
    assert not any(chain.open for chain in net._layers.chains.values())
    final = net.tops[len(net.layers) - 3][0]
    close(final.data, plain.tops[len(net.layers) - 3][0].data)
    close(final.diff, plain.tops[len(net.layers) - 3][0].diff, title="the diff that the layers in place leave")
    compare(net, plain)  # looks at everything, which opens the chain
    run(net)
    run(plain)
    compare(net, plain)


def test_infinity_and_nan_in_a_chain():
    """As in ReLU: without a slope -infinity gives 0, and NaN stays NaN."""
    prototxt = """
        force_backward: true
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 dim: 1 dim: 4 } } }
        layer { name: "b" type: "BatchNorm" bottom: "x" top: "b" batch_norm_param { use_global_stats: true } }
        layer { name: "r" type: "ReLU" bottom: "b" top: "b" }
        layer { name: "y" type: "Power" bottom: "b" top: "y" power_param { scale: 2 } }"""
    x = np.array([-np.inf, np.inf, np.nan, -1, 0, 1, -np.inf, 2]).reshape(1, 2, 1, 4)
    net, plain = (Net(parse_net(prototxt), seed=3, dtype=np.float64, optimize=optimize) for optimize in (True, False))
    ours, expected = (one.forward(x=x)["y"] for one in (net, plain))
    np.testing.assert_array_equal(ours, expected)
    assert ours.ravel()[0] == 0
    assert np.isnan(ours).sum() == 1
    diffs = [one.backward(y=np.arange(8.0).reshape(1, 2, 1, 4))["x"] for one in (net, plain)]
    np.testing.assert_array_equal(*diffs)


@pytest.mark.parametrize("shape", SHAPES, ids=" ".join)
def test_a_chain_on_what_needs_no_gradient(shape):
    """As where it normalises the data: Scale learns, and nothing before it."""
    fixed = 'layer { name: "conv" param { lr_mult: 0 } param { lr_mult: 0 }'
    prototxt = text(*shape).replace("force_backward: true", "").replace('layer { name: "conv"', fixed)
    net, plain = pair(prototxt)
    for i in range(2):
        run(net, 1 + i)
        run(plain, 1 + i)
        compare(net, plain, blobs=False)
    assert not any(chain.open for chain in net._layers.chains.values())
    compare(net, plain)
    run(net)
    run(plain)
    compare(net, plain)


CHANGES = {
    "input": lambda net, held: held("c").__imul__(-2),
    "held": lambda net, held: held.array.__imul__(-2),
    "part": lambda net, held: net.forward(end="conv", x=RAW * 3),
    "scale": lambda net, held: net.params["Scale"][0].data.__imul__(-2),
}


class Held:
    """Arrays of a net: one from before the first forward, others when they are asked for."""

    def __init__(self, net: Net, early: bool) -> None:
        self.net, self.array = net, net.blobs["c"].data if early else None

    def __call__(self, name: str) -> np.ndarray:
        return self.net.blobs[name].data


@pytest.mark.parametrize("when", ["after the forward", "after the backward"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shape", [(OTHER, OTHER, SAME), (SAME, SAME, SAME), (OTHER, SAME, OTHER)], ids=" ".join)
def test_blobs_inside_a_chain_are_those_of_its_forward(shape, change, when):
    """Whatever has been done since to what it reads, and to its parameters."""
    nets = pair(text(*shape))
    arrays = [Held(net, change == "held") for net in nets]
    for net, held in zip(nets, arrays):
        run(net)
        if when == "after the backward":
            net.backward()
        CHANGES[change](net, held)
    blobs = [{name: np.array(net.blobs[name].data) for name in nets[1].blobs} for net in nets]
    for name, array in blobs[1].items():
        close(blobs[0][name], array, title=name)
    for net in nets:
        run(net, 2)
    compare(*nets)


@pytest.mark.parametrize("name", ["c", "b", "s"])
@pytest.mark.parametrize("shape", [(2, 3), (4, 4, 5, 6)])
def test_a_blob_of_a_chain_that_a_script_reshapes(name, shape):
    """Its memory is that of the forward; the next one has its own shapes."""
    net, plain = pair(text(OTHER, OTHER, SAME))
    for one in (net, plain):
        one.forward(x=RAW)
        one.blobs[name].reshape(*shape)
        one.blobs[name].data[...] = 1
    for other in ("b", "s"):
        if other != name:
            close(net.blobs[other].data, plain.blobs[other].data, title=other)
    for one in (net, plain):
        one.reshape()
        run(one)
    compare(net, plain)


def test_a_look_at_what_a_chain_reads_is_over_with_its_pass():
    net, plain = pair(text(OTHER, OTHER, SAME))
    for _ in range(2):
        for one in (net, plain):
            one.clear_param_diffs()
            one.forward(x=RAW)
            one.blobs["c"].data[...] += 1
            one.backward()
        compare(net, plain, blobs=False)
    assert not any(chain.open for chain in net._layers.chains.values())
    run(net)
    run(plain)
    assert not any(chain.open or chain.apart for chain in net._layers.chains.values())
    compare(net, plain)


def test_a_relu_whose_blob_is_overwritten_in_place():
    """Its backward looks at the sign of what the blob holds then, as Caffe's does."""
    again = 'bottom: "c" top: "c" batch_norm_param { use_global_stats: false }'
    prototxt = text(SAME, SAME, SAME).replace(
        'layer { name: "end"', f'layer {{ name: "again" type: "BatchNorm" {again} }} layer {{ name: "end"'
    )
    net, plain = pair(prototxt)
    for i in range(2):
        run(net, 1 + i)
        run(plain, 1 + i)
        compare(net, plain, blobs=False)
    assert len(net._layers.chains) == 2


@pytest.mark.parametrize("shape", [(OTHER, OTHER, SAME), (SAME, SAME, SAME), (OTHER, SAME, OTHER)], ids=" ".join)
@pytest.mark.parametrize("last", range(2, 5))
def test_a_look_in_the_middle_of_a_forward(shape, last):
    net, plain = pair(text(*shape))
    run(net), run(plain)
    for one in (net, plain):
        one.blobs["x"].data[...] = 2 * RAW
        for i in range(last):
            one.forward_layer(i)
    for name in [name for _, tops in net.names[1:last] for name in tops]:
        close(net.blobs[name].data, plain.blobs[name].data, title=name)
    for one in (net, plain):
        one.clear_param_diffs()
        for i in range(last, len(one.layers)):
            one.forward_layer(i)
        one.backward()
    compare(net, plain)


@pytest.mark.parametrize(
    "shape", [(OTHER, OTHER, OTHER), (OTHER, SAME, OTHER), (OTHER, SAME, SAME), (SAME, SAME, SAME)], ids=" ".join
)
def test_a_look_between_forward_and_backward(shape):
    net, plain = pair(text(*shape))
    for one in (net, plain):
        one.forward(x=RAW)
    for name in plain.blobs:
        close(net.blobs[name].data, plain.blobs[name].data, title=name)
    for one in (net, plain):
        one.clear_param_diffs()
        one.backward()
    compare(net, plain)


def test_blobs_and_parts_of_a_pass_that_are_asked_for():
    shape = (OTHER, OTHER, SAME)
    for ask in (
        lambda net: net.forward(x=RAW, blobs=["b", "s"]),
        lambda net: net.forward(x=RAW, end="Scale"),
        lambda net: {**net.forward(x=RAW), **net.forward(start="Scale", blobs=["b"])},
        lambda net: {**net.forward(x=RAW), **net.backward(diffs=["b", "s"])},
        lambda net: {**net.forward(x=RAW), **net.backward(end="Scale")},
        lambda net: {**net.forward(x=RAW), **net.backward(), **net.backward(diffs=["b", "x"])},
    ):
        net, plain = pair(text(*shape))
        ours, expected = ask(net), ask(plain)
        assert ours.keys() == expected.keys()
        for name in expected:
            close(ours[name], expected[name], title=name)
        run(net), run(plain)
        compare(net, plain)


def test_an_array_taken_before_is_written_in_every_pass():
    net, plain = pair(text(OTHER, OTHER, OTHER))
    arrays = [(one.blobs["s"].data, one.blobs["b"].diff) for one in (net, plain)]
    for i in range(2):
        run(net, 1 + i), run(plain, 1 + i)
        for ours, expected in zip(*arrays):
            close(ours, expected)


def test_frozen_layers_and_single_precision():
    for more, field in (("param { lr_mult: 0 } param { lr_mult: 0 }", ""), ("", "use_global_stats: true"), ("", "")):
        prototxt = text(OTHER, OTHER, SAME, more=more, field=field).replace("force_backward: true", "")
        net, plain = pair(prototxt, np.float32)
        for _ in range(2):
            run(net), run(plain)
        compare(net, plain, np.float32, blobs=False)
        assert not net._layers.chains[2].open


def test_what_is_no_chain():
    leaky = text(OTHER, NONE, OTHER, slope=-0.5)
    other = text(OTHER, OTHER, SAME).replace('type: "ReLU"', 'type: "TanH"')
    axis = text(OTHER, OTHER, SAME).replace("scale_param {", "scale_param { axis: 0 num_axes: 2 ")
    loss = text(OTHER, NONE, OTHER).replace('top: "b"', 'top: "b" loss_weight: 1')
    for prototxt, length in ((leaky, 0), (other, 2), (axis, 0), (loss, 0), (text(SAME, OTHER, SAME), 0)):
        net, plain = pair(prototxt)
        assert len(net._layers.chains) == length
        run(net), run(plain)
        compare(net, plain)


def test_an_empty_batch_and_another_shape():
    net, plain = pair(text(OTHER, OTHER, SAME))
    for shape in ((0, 4, 5, 6), (2, 4, 3, 3), (3, 4, 5, 6)):
        for one in (net, plain):
            one.clear_param_diffs()
            one.forward(x=np.resize(RAW, shape))
            one.backward()
        compare(net, plain, blobs=False)
    assert not net._layers.chains[2].open


@pytest.mark.parametrize("last", ["end", "ReLU", "Scale"])
def test_a_backward_of_a_part_of_the_net(last):
    """A chain that it ends in has been half done; a later forward shows what it has left."""
    net, plain = pair(text(OTHER, SAME, OTHER))
    for one in (net, plain):
        one.forward(x=RAW)
        one.backward(end=last)
    for name in plain.blobs:
        close(net.blobs[name].diff, plain.blobs[name].diff, np.float64, f"diff of {name}")
    run(net)
    run(plain)
    compare(net, plain)


def test_a_blob_of_two_chains_in_the_midst_of_the_first():
    layers = 'layer {{ name: "{0}2" type: "{0}" bottom: "c" top: "c" }}'
    more = " ".join(layers.format(kind) for kind in ("BatchNorm", "Scale", "ReLU"))
    net, plain = pair(text(SAME, SAME, SAME).replace('layer { name: "end"', f'{more} layer {{ name: "end"'))
    for one in (net, plain):
        one.forward(x=RAW)
        one.forward(end="BatchNorm")
    close(net.blobs["c"].data, plain.blobs["c"].data, np.float64, "c")
    assert len({id(chain) for chain in net._layers.chains.values()}) == 2


@pytest.mark.parametrize("held", [False, True])
def test_an_edit_of_a_blob_whose_signs_a_relu_in_place_goes_by(held):
    net, plain = pair(text(OTHER, OTHER, SAME))
    for one in (net, plain):
        array = one.blobs["s"].data if held else None
        one.clear_param_diffs()
        one.forward(x=RAW)
        (array if held else one.blobs["s"].data)[...] *= -1
        one.backward()
    compare(net, plain, blobs=False)
    assert not any(chain.open for chain in net._layers.chains.values())


@pytest.mark.parametrize("relu", [SAME, OTHER])
def test_an_edit_of_the_scale_before_the_backward(relu):
    """A ReLU goes by the signs of the forward, whatever has become of the scale and the bias since."""
    net, plain = pair(text(OTHER, OTHER, relu))
    held = [one.params["Scale"][1].data for one in (net, plain)]
    for i in range(3):
        for one, bias in zip((net, plain), held):
            one.clear_param_diffs()
            one.forward(x=RAW)
            if i == 0:
                one.params["Scale"][0].data[...] *= -1
            if i == 1:
                bias[...] += 0.5
            one.backward()
        compare(net, plain, blobs=False)
    assert not any(chain.open or chain.apart for chain in net._layers.chains.values())
