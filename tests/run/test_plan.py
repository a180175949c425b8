"""The plan of a net at TEST: its passes, that it computes what the layers do, and that a script cannot tell the difference."""

from __future__ import annotations

import itertools
import sys
from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from plan_nets import FIRE, HEADS, NETS, RESIDUAL, conv, data, halve, layer, normal, relu

from boxpresso import Net
from boxpresso.device import Blob, open_device
from boxpresso.device.chain import Chain
from boxpresso.device.signature import HALVES
from boxpresso.graph.graph import BFLOAT16, DTYPES, FLOAT16, LAST, plain
from boxpresso.graph.graph import Source as Layers
from boxpresso.graph.passes import Portion, fold_affine, fuse_activations, fuse_sums, portions
from boxpresso.layers.core.lowering import bf16_available
from boxpresso.layers.dense.lowerings import cut
from boxpresso.proto import parse_net
from boxpresso.proto.errors import DeviceError, ModelError
from boxpresso.run.arena import Arena, Home, Placement, shared_memory
from boxpresso.run.cpu import CpuProgram
from boxpresso.run.gpu.memory import Bound
from boxpresso.run.layout import lower, optimise
from boxpresso.summary import summarise_plan

RNG = np.random.default_rng(11)


def nets(text, dtype=np.float32, **options):
    """The net without a plan and with one, with the same random parameters."""
    pair = [
        Net(parse_net(text), device="cpu", seed=3, dtype=dtype, optimize=on, **(options if on else {}))
        for on in (False, True)
    ]
    rng = np.random.default_rng(5)
    for one, other in zip(*(net.layers for net in pair)):
        if one.type == "BatchNorm":
            for blob, values in zip(
                one.blobs, (rng.standard_normal, lambda n: rng.random(n) + 0.5, lambda n: np.full(n, 2.0))
            ):
                blob.data[...] = values(blob.shape)
        for blob, twin in zip(one.blobs, other.blobs):
            twin.data[...] = blob.data
    return pair


def steps(text, passes=None):
    """What each step of a plan stands for: the names of its layers joined by +."""
    net = Net(parse_net(text), device="cpu", optimize=False)
    source = Layers(net.layers, net.names, net.bottoms, net.tops, net.blobs)
    plan = optimise(source, net.outputs)[0] if passes is None else lower(plain(source, net.outputs), source)
    for step in passes or ():
        plan = step(plan, source)
    return ["+".join(net.layers[i].name for i in step.layers) for step in plan.steps]


def same(one, other, tolerance=1e-5):
    assert list(one) == list(other)
    for name in one:
        assert one[name].shape == other[name].shape
        if one[name].size:
            np.testing.assert_allclose(
                other[name], one[name], rtol=0, atol=tolerance * max(1e-30, np.abs(one[name]).max()), err_msg=name
            )


def test_batch_norm_and_scale_are_folded():
    text = data(1, 3, 8, 8) + conv("a", "data", 4) + normal("a", "a") + relu("r", "a")
    assert steps(text, [fold_affine]) == ["data", "a+a_bn+a_scale", "r"]
    assert steps(text) == ["data", "a+a_bn+a_scale+r"]


def test_what_has_two_readers_or_is_asked_for_is_not_folded():
    text = data(1, 3, 8, 8) + conv("a", "data", 4) + normal("a", "a", "n") + relu("r", "n")
    assert steps(text, [fold_affine]) == ["data", "a+a_bn+a_scale", "r"]
    both = text + layer("twice", "Power", "a", text="power_param { scale: 2 }")
    assert "a" in steps(both)  # read by BatchNorm and by Power
    net = Net(parse_net(text), device="cpu")
    net.forward(blobs=["a"])
    assert ["a"] in [row.layers for row in summarise_plan(net).steps]


def test_sums_and_activations_are_fused():
    assert steps(RESIDUAL, [fold_affine, fuse_sums, fuse_activations]) == [
        "data", "a+a_bn+a_scale+a_relu", "a_a_relu_0_split", "b+b_bn+b_scale+sum+sum_relu", "c",
    ] or steps(RESIDUAL) == ["data", "a+a_bn+a_scale+a_relu", "b+b_bn+b_scale+sum+sum_relu", "c"]  # fmt: skip
    assert steps(RESIDUAL) == ["data", "a+a_bn+a_scale+a_relu", "b+b_bn+b_scale+sum+sum_relu", "c"]


JOINED = data(1, 3, 9, 7) + conv("a", "data", 5) + conv("b", "data", 20) + layer("j", "Concat", ["a", "b"])


def test_an_activation_behind_a_concatenation_is_done_in_its_parts():
    behind = relu("r", "j", "relu_param { negative_slope: 0.1 }") + conv("c", "j", 4)
    assert steps(JOINED + behind) == ["data", "a+r", "b+r", "j", "c"]
    plain, planned = nets(JOINED + behind)
    x = RNG.standard_normal((1, 3, 9, 7)).astype(np.float32)
    same(plain.forward(data=x), planned.forward(data=x))
    parts = [planned.params[name] for name in "abc"]
    padded = np.pad(x[0].astype(np.float64), ((0, 0), (1, 1), (1, 1)))

    def convolved(image, weights, bias):
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))
        return np.einsum("chwyx,fcyx->fhw", windows, weights.data) + bias.data.astype(np.float64)[:, None, None]

    joined = np.concatenate([convolved(padded, *each) for each in parts[:2]])
    joined = np.pad(np.where(joined < 0, 0.1 * joined, joined), ((0, 0), (1, 1), (1, 1)))
    np.testing.assert_allclose(planned.blobs["c"].data[0], convolved(joined, *parts[2]), rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        JOINED + layer("r", "PReLU", "j", "j") + conv("c", "j", 4),  # a slope for each channel
        JOINED + relu("r", "j") + conv("c", "j", 4) + layer("twice", "Power", "a", text="power_param { scale: 2 }"),
        JOINED + layer("r", "ReLU", "j", "rj") + layer("twice", "Power", "j", text="power_param { scale: 2 }"),
        data(1, 3, 9, 7) + conv("a", "data", 5) + layer("j", "Concat", ["a", "a"]) + relu("r", "j") + conv("c", "j", 4),
        data(1, 3, 9, 7) + conv("a", "data", 5) + layer("j", "Concat", ["a", "data"]) + relu("r", "j") + conv("c", "j", 4),
        JOINED + layer("f", "Flatten", "j") + relu("r", "f"),
    ],
    ids=["slopes", "a part that others read", "a concatenation that others read", "a part twice", "an input", "another shape"],
)  # fmt: skip
def test_an_activation_that_stays_behind_a_concatenation(text):
    assert not [row for row in steps(text) if row.endswith("+r")]
    plain, planned = nets(text)
    x = RNG.standard_normal((1, 3, 9, 7)).astype(np.float32)
    same(plain.forward(data=x), planned.forward(data=x))


def test_a_crop_of_all_is_free():
    text = data(1, 4, 6, 6) + data(1, 2, 6, 6).replace('"data"', '"size"') + conv("a", "data", 4)
    text += (
        layer("cut", "Crop", ["a", "size"], text="crop_param { axis: 2 offset: 0 }")
        + relu("r", "cut")
        + conv("b", "cut", 3)
    )
    assert steps(text) == ["data", "size", "a+r", "b"]
    plain, planned = nets(text)
    for height, width in ((6, 6), (5, 4), (6, 6)):
        x = RNG.standard_normal((1, 4, 6, 6)).astype(np.float32)
        for net in (plain, planned):
            net.blobs["size"].reshape(1, 2, height, width)
        want, actual = (net.forward(data=x) for net in (plain, planned))
        same(want, actual)
        assert actual["b"].shape == (1, 3, height, width)


def test_filters_that_no_cache_holds_are_read_once():
    assert cut(100, 1024, 1, 1, 2**22) == cut(100, 64, 1, 1, 2**12) == (100, 1)
    assert cut(300, 4096, 1, 1, 2**28) == (300, 1)
    assert cut(300, 4096, 1, 2, 2**28) == (300, 2)  # the filters are shared
    assert cut(300, 64, 1, 2, 2**12) == (75, 1)
    for places, workers, size in itertools.product((1, 95, 97, 385, 5000), (1, 2, 3, 8), (2**10, 2**30)):
        high, across = cut(places, 1000, 1, workers, size)
        assert 0 < high <= min(places, 600)
        assert -(-places // high) * across >= workers or places == 1


@pytest.mark.parametrize(
    "after", ["", relu("r", "f"), layer("r", "PReLU", "f", "f", "prelu_param { filler { value: 0.3 } }")]
)
@pytest.mark.parametrize("shape", [(300, 700, 1, 1), (1, 512, 10, 10), (29, 2300, 1, 1)])
def test_large_filters_are_multiplied(shape, after):
    """Sums of several pieces, whose filters are brought near while others are multiplied."""
    if shape[2] == 1:
        fill = 'weight_filler { type: "xavier" } bias_filler { type: "gaussian" std: 1 }'
        text = layer("f", "InnerProduct", "data", text=f"inner_product_param {{ num_output: 300 {fill} }}")
    else:
        text = conv("f", "data", 300, "kernel_size: 1")
    net = Net(parse_net(data(*shape) + text + after), device="cpu", seed=1)
    x = RNG.standard_normal(shape).astype(np.float32)
    weights, bias = (blob.data.astype(np.float64) for blob in net.params["f"])
    wanted = np.einsum("nchw,fc->nfhw", x.astype(np.float64), weights.reshape(300, -1)) + bias[:, None, None]
    slope = 1.0 if not after else 0.0 if "ReLU" in after and "PReLU" not in after else 0.3
    wanted = np.where(wanted < 0, slope * wanted, wanted)
    actual = net.forward(data=x)["f"].reshape(wanted.shape)
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=2e-6 * np.abs(wanted).max())


def test_the_maximum_of_2_x_2_places_is_stored_by_the_convolution():
    text = NETS["halved"]
    assert steps(text) == ["data", "a+r+p", "b+b_bn+b_scale+q"]
    assert steps(NETS["halved sum"]) == ["data", "a", "b+sum+r+p"]
    assert steps(NETS["not halved"]) == ["data", "a", "p", "b", "q", "c", "s", "d", "t"]
    both = text + layer("twice", "Power", "a", text="power_param { scale: 2 }")
    assert steps(both)[:3] == ["data", "a+r", "p"]  # read by the pooling and by Power


@pytest.mark.parametrize(
    "window",
    [
        "kernel_size: 2 stride: 2 pad: 1", "kernel_size: 2 stride: 2 pad_h: 1 pad_w: 0", "kernel_size: 2 stride: 2 pad_h: 0 pad_w: 1", "kernel_size: 2 stride: 1",
        "kernel_size: 2 stride_h: 2 stride_w: 1", "kernel_h: 2 kernel_w: 3 stride: 2", "kernel_size: 3 stride: 2", "kernel_size: 1 stride: 2",
        "kernel_size: 2 stride: 2 pool: AVE", "kernel_size: 2 stride: 2 round_mode: FLOOR", "global_pooling: true",
    ],
)  # fmt: skip
def test_another_window_is_not_the_maximum_of_2_x_2_places(window):
    """The convolution may store the maximum, but of windows of 2 x 2 without padding alone."""
    start = data(1, 16, 21, 20) + conv("a", "data", 16)
    assert steps(start + halve("p", "a")) == ["data", "a+p"]
    text = start + layer("p", "Pooling", "a", text=f"pooling_param {{ {window} }}")
    assert steps(text) == ["data", "a", "p"]
    one, other = nets(text)
    image = RNG.standard_normal(one.blobs["data"].shape)
    same(one.forward(data=image), other.forward(data=image))


SIXTEEN = data(1, 16, 12, 16) + conv("a", "data", 16) + conv("b", "data", 16)
SCALE = 'scale_param { axis: %d bias_term: true filler { type: "gaussian" std: 1 } bias_filler { type: "gaussian" std: 1 } }'
APART = {  # nets whose last layer looks like one that a step can do beside its own, and is not
    "sum of halves": SIXTEEN + layer("s", "Eltwise", ["a", "b"], text="eltwise_param { coeff: 0.5 coeff: 0.5 }"),
    "sum with half of the first": SIXTEEN + layer("s", "Eltwise", ["a", "b"], text="eltwise_param { coeff: 0.5 coeff: 1 }"),
    "difference": SIXTEEN + layer("s", "Eltwise", ["a", "b"], text="eltwise_param { coeff: 1 coeff: -1 }"),
    "sum with itself": data(1, 8, 9, 9) + conv("a", "data", 8) + layer("s", "Eltwise", ["a", "a"]),
    "maximum": SIXTEEN + layer("s", "Eltwise", ["a", "b"], text="eltwise_param { operation: MAX }"),
    "statistics of the batch": SIXTEEN + layer("n", "BatchNorm", "a", text="batch_norm_param { use_global_stats: false }"),
    "scale by rows": data(1, 12, 12, 12) + conv("a", "data", 12) + layer("s", "Scale", "a", text=SCALE % 2),
    "scale by columns": data(1, 12, 12, 12) + conv("a", "data", 12) + layer("s", "Scale", "a", text=SCALE % 3),
    "scale by another blob": SIXTEEN + layer("g", "Pooling", "b", text="pooling_param { pool: AVE global_pooling: true }")
    + layer("r", "Reshape", "g", text="reshape_param { shape { dim: 0 dim: -1 } }") + layer("s", "Scale", ["a", "r"], text="scale_param { axis: 0 }"),
    "priors beside values": data(1, 4, 6, 8) + conv("a", "data", 4) + layer("prior", "PriorBox", ["a", "data"], text="prior_box_param { min_size: 3 }")
    + layer("r", "Reshape", "a", text="reshape_param { shape { dim: 0 dim: 2 dim: -1 } }") + layer("s", "Concat", ["prior", "r"], text="concat_param { axis: 2 }"),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_what_is_not_done_beside_another_layer(name):
    assert steps(APART[name])[-1] in ("n", "s")
    one, other = nets(APART[name])
    for _ in range(2):
        image = RNG.standard_normal(one.blobs["data"].shape)
        same(one.forward(data=image), other.forward(data=image))


def test_a_value_that_two_blobs_are_to_hold():
    """A Permute of a single place changes nothing, but its top is another blob: a copy behind what makes the bottom."""
    text = (
        data(1, 1, 9, 6) + conv("a", "data", 8) + layer("p", "Pooling", "a", text="pooling_param { global_pooling: true }")
        + layer("t", "Permute", "p", text="permute_param { order: 0 order: 2 order: 3 order: 1 }") + conv("b", "t", 5, "kernel_size: 1")
    )  # fmt: skip
    one, other = nets(text)
    for _ in range(2):
        image = RNG.standard_normal((1, 1, 9, 6))
        blobs = ["a", "p", "t"]
        same(one.forward(data=image, blobs=blobs), other.forward(data=image, blobs=blobs))
    rows = summarise_plan(other).steps
    assert "copy" in [row.what for row in rows]


def test_a_batch_norm_that_has_seen_nothing_is_folded():
    """Caffe takes the mean and the variance to be 0 where their factor is 0, whatever they are."""
    text = data(1, 3, 8, 8) + conv("a", "data", 4) + layer("n", "BatchNorm", "a")
    assert steps(text) == ["data", "a+n"]
    one, other = nets(text)
    for net in (one, other):
        net.params["n"][2].data[...] = 0
        net.params["n"][1].data[...] = 5
    image = RNG.standard_normal((1, 3, 8, 8))
    result = other.forward(data=image)
    same(one.forward(data=image), result)
    plain = Net(parse_net(data(1, 3, 8, 8) + conv("a", "data", 4)), device="cpu")
    for blob, values in zip(plain.params["a"], other.params["a"]):
        blob.data[...] = values.data
    np.testing.assert_allclose(result["n"], plain.forward(data=image)["a"] / np.sqrt(1e-5), rtol=1e-4, atol=1e-2)


def test_identities_are_free():
    text = (
        data(1, 4, 6, 6) + layer("drop", "Dropout", "data") + conv("a", "drop", 4)
        + layer("same", "Permute", "a", text="permute_param { order: 0 order: 1 }") + relu("r", "same")
    )  # fmt: skip
    assert steps(text) == ["data", "a+r"]


def test_heads_are_stored_where_the_concatenation_lies():
    plan = summarise_plan(Net(parse_net(HEADS), device="cpu"))
    assert {row.at for row in plan.steps if row.layers[0] in ("a_loc", "b_loc")} == {plan.steps[2].at}
    assert not [row for row in plan.steps if row.what in ("copy", "to planes", "channels last")]


def test_operands_of_a_concatenation_are_stored_in_it():
    net = Net(parse_net(FIRE), device="cpu")
    rows = summarise_plan(net).steps
    assert [row.what for row in rows] == ["convolution"] * 3 + ["pooling", "convolution", "pooling", "kernels"]
    homes = net._runner.describe()[0].placement.homes
    one, three = (homes[(name, 1), LAST] for name in ("b1", "b3"))
    assert one.base == three.base
    assert one.pitch == three.pitch == 22
    assert three.offset - one.offset == 10


VIEWED = {
    "by images": layer("v", "Concat", ["p", "p"], text="concat_param { axis: 0 }"),
    "other images": layer("v", "Reshape", "p", text="reshape_param { shape { dim: -1 dim: 2 } }")
    + layer("w", "InnerProduct", "v", text='inner_product_param { num_output: 3 weight_filler { type: "xavier" } }'),
}


@pytest.mark.parametrize("name", VIEWED)
def test_an_operand_of_a_concatenation_that_others_read_without_gaps(name):
    """Stored in the concatenation, there are the other operands between its images."""
    pooled = layer("p", "Pooling", "data", text="pooling_param { pool: MAX global_pooling: true }")
    text = data(2, 4, 6, 16) + pooled + VIEWED[name] + layer("j", "Concat", ["p", "p"])
    plain, planned = nets(text)
    x = RNG.standard_normal((2, 4, 6, 16)).astype(np.float32)
    same(plain.forward(data=x), planned.forward(data=x))


def test_a_layer_in_place_behind_a_split_of_priors():
    """The Split copies, for what is written over in place; it is no step, so that nothing made of its copy is a constant."""
    text = """
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 5 dim: 3 dim: 4 } } }
        layer { name: "p" type: "PriorBox" bottom: "x" bottom: "x" top: "p" prior_box_param { min_size: 3 } }
        layer { name: "s" type: "Split" bottom: "p" top: "a" top: "b" }
        layer { name: "r" type: "ReLU" bottom: "a" top: "a" relu_param { negative_slope: 0.1 } }"""
    plain, planned = nets(text)
    for _ in range(2):
        same(plain.forward(), planned.forward())


def test_an_identity_of_what_an_earlier_part_has_made():
    """A Filter ends a part of the plan; the Dropout behind it has no step in the next one."""
    text = """
        layer { name: "x" type: "Input" top: "x" top: "s" input_param { shape { dim: 2 dim: 5 dim: 3 } shape { dim: 2 } } }
        layer { name: "f" type: "Filter" bottom: "x" bottom: "s" top: "f" }
        layer { name: "d" type: "Dropout" bottom: "f" top: "d" }"""
    x, net = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32), Net(parse_net(text), device="cpu")
    for chosen in ([0, 1], [1, 1], [0, 0]):
        assert np.array_equal(net.forward(x=x, s=np.array(chosen))["d"], x[np.array(chosen, bool)])


def test_an_activation_behind_a_concatenation_with_what_an_earlier_part_has_made():
    """A Filter ends a part of the plan: what was made before it is stored without what comes after."""
    text = """
        layer { name: "x" type: "Input" top: "x" top: "s" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } shape { dim: 2 } } }
        layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 5 kernel_size: 1 } }
        layer { name: "f" type: "Filter" bottom: "x" bottom: "s" top: "f" }
        layer { name: "t" type: "Reduction" bottom: "f" top: "t" }
        layer { name: "b" type: "Convolution" bottom: "x" top: "b" convolution_param { num_output: 5 kernel_size: 1 } }
        layer { name: "j" type: "Concat" bottom: "a" bottom: "b" top: "j" }
        layer { name: "r" type: "ReLU" bottom: "j" top: "r" }"""
    net, x = Net(parse_net(text), device="cpu"), RNG.standard_normal((2, 3, 4, 4)).astype(np.float32)
    for name in "ab":
        net.params[name][0].data[...] = RNG.standard_normal((5, 3, 1, 1))
    sums = [np.einsum("nchw,oc->nohw", x, np.float64(net.params[name][0].data[:, :, 0, 0])) for name in "ab"]
    made = net.forward(x=x, s=np.ones(2))["r"]
    np.testing.assert_allclose(made, np.maximum(np.concatenate(sums, 1), 0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(net.blobs["j"].data, np.concatenate(sums, 1), rtol=1e-4, atol=1e-5)


def test_shared_memory_is_used_again():
    text = data(1, 16, 20, 20) + "".join(conv(f"c{i}", f"c{i - 1}" if i else "data", 16) for i in range(8))
    net = Net(parse_net(text), device="cpu")
    net.forward()
    program = net._runner.parts[0].now
    one = 16 * 20 * 20
    assert 2 * one <= program.shared.size < 2.2 * one + 1000


def sixteen_bits(layout):
    """A pass that marks what convolutions give each other as of 16 bits, and has them read it so."""

    def mark(plan, source):
        between = set(plan.readers()) - {*plan.wanted.values(), ("data", 0)}
        steps = []
        for step in plan.steps:
            lowering = copy(step.lowering)
            if between.intersection(step.reads):
                lowering.takes = layout
            steps.append(replace(step, lowering=lowering))
        return replace(plan, steps=tuple(steps), layouts={**plan.layouts, **dict.fromkeys(between, layout)})

    return mark


@pytest.mark.parametrize("layout", [FLOAT16, BFLOAT16])
def test_values_of_16_bits_take_half_of_the_bytes(layout):
    """The door for nets in 16 bits: where they lie. No lowering of today computes on them."""
    text = data(1, 16, 20, 20) + "".join(conv(f"c{i}", f"c{i - 1}" if i else "data", 16) for i in range(8))
    net = Net(parse_net(text), device="cpu")
    net.forward()
    of_float, runner = net._runner.parts[0].now, net._runner
    (plan,) = optimise(runner.source, net.outputs, narrow=sixteen_bits(layout))
    program = CpuProgram(plan, runner.source, runner.device, runner.dtype, runner.arena, range(len(net.layers)))
    one = 16 * 20 * 20
    assert 1.5 * one <= program.shared.size < 1.6 * one < 2 * one <= of_float.shared.size  # the data is of float yet
    arrays = [program.array(((f"c{i}", 0), layout)) for i in range(7)]
    assert {array.memory.dtype for array in arrays} == {DTYPES[layout]}
    assert {array.memory.nbytes for array in arrays} == {2 * one}
    assert not any(np.may_share_memory(a.memory, b.memory) for a, b in itertools.pairwise(arrays))
    assert not [
        action
        for action in program.placement.actions
        if action.kind == "turn" and layout in (action.source[1], action.target[1])
    ]


def test_a_reader_that_does_not_take_16_bits_has_them_turned():
    net = Net(parse_net(data(1, 16, 20, 20) + conv("a", "data", 16) + conv("b", "a", 16)), device="cpu")
    net.forward()
    runner = net._runner
    mark = lambda plan, source: replace(plan, layouts={("a", 0): FLOAT16})  # noqa: E731
    (plan,) = optimise(runner.source, net.outputs, narrow=mark)
    program = CpuProgram(plan, runner.source, runner.device, runner.dtype, runner.arena, range(len(net.layers)))
    keys = [(action.source, action.target) for action in program.placement.actions if action.kind == "turn"]
    assert ((("a", 0), FLOAT16), (("a", 0), LAST)) in keys
    (turn,) = [action for action in program.placement.actions if action.source == (("a", 0), FLOAT16)]
    runner.arena.grow(program.shared.size)
    with pytest.raises(DeviceError, match="does not turn values of float16"):
        program.launch(Chain(runner.device, runner.dtype), turn, None)


def test_memory_of_values_that_live_at_once_does_not_overlap():
    net = Net(parse_net(RESIDUAL), device="cpu")
    source = Layers(net.layers, net.names, net.bottoms, net.tops, net.blobs)
    placement = Placement(optimise(source, net.outputs)[0], source)
    keys = list(placement.homes)
    shared = shared_memory(placement.homes, [keys, keys])
    starts, total = shared.starts, shared.size  # all at once
    spans = sorted(
        (starts[h.base], starts[h.base] + h.end)
        for h in {h.base: h for h in placement.homes.values() if h.base in starts}.values()
    )
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert spans[-1][1] <= total


@pytest.mark.parametrize(("align", "behind"), [(16, 16), (512, 0)], ids=["cpu", "gpu"])
def test_no_two_values_have_a_place_at_the_same_time(align, behind):
    """Bases of random sizes and lives: element by element, what an action uses is nobody else's from the base's first use to its
    last; and some memory is used twice."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        lives = [sorted(rng.integers(0, 12, 2)) for _ in range(15)]
        sizes = [int(size) for size in rng.integers(1, 3000, 15)]
        homes = {i: Home(1, size, 1, 1, size, size, ("shared", i)) for i, size in enumerate(sizes)}
        uses = [[i for i, life in enumerate(lives) if now in life] for now in range(12)]
        shared = shared_memory(homes, uses, align=align, behind=behind)
        for now in range(12):
            owner = np.full(shared.size, -1)
            for i in (i for i, (first, last) in enumerate(lives) if first <= now <= last):
                at = shared.starts["shared", i]
                assert at % align == 0
                part = owner[at : at + sizes[i] + behind]
                assert len(part) == sizes[i] + behind
                assert (part == -1).all()
                part[:] = i
        assert shared.size < sum(-(-size // align) * align + behind for size in sizes)


def test_what_lies_in_a_concatenation():
    """Portions are Concat's own places, element by element, on every axis."""
    one = (2, 3, 4, 5)
    for axis in range(4):
        other = tuple(size + (i == axis) for i, size in enumerate(one))
        dims = " ".join(f"shape {{ {' '.join(f'dim: {size}' for size in shape)} }}" for shape in (one, other))
        text = f'layer {{ name: "x" type: "Input" top: "a" top: "b" input_param {{ {dims} }} }}'
        net = Net(
            parse_net(text + layer("c", "Concat", ["a", "b"], text=f"concat_param {{ axis: {axis} }}")), device="cpu"
        )
        source = net._runner.source
        step = lower(plain(source, net.outputs), source).steps[-1]
        arrays = [np.random.default_rng(i).random(shape) for i, shape in enumerate((one, other))]
        whole = np.full(net.blobs["c"].count, -1.0)
        for portion, array in zip(portions(step, source), arrays, strict=True):
            for i, piece in enumerate(array.reshape(portion.pieces, portion.size)):
                at = portion.at + i * portion.step
                whole[at : at + portion.size] = piece
        assert np.array_equal(whole, np.concatenate(arrays, axis).ravel())
        assert portions(step, source)[1].start == one[axis]


def test_buffers_on_a_gpu_lie_in_concatenations_of_concatenations():
    """a and b in ab, ab and c in all: addresses by hand; not where an operand is read later, or begins where cuDNN may not."""
    count = {"x": 8, "a": 4, "b": 8, "ab": 12, "c": 4, "all": 16, "y": 16}
    buffers = {name: Blob((size,), np.float32, open_device("cpu"))._data for name, size in count.items()}
    for name, buffer in buffers.items():
        buffer.count = count[name]

    def part(name, at):
        blob = SimpleNamespace(_data=buffers[name], dtype=np.dtype("f4"))
        return blob, Portion((name, 0), ("", 0), 0, at, 1, 1, 1)

    def bound(tight, *more, second=4):
        words = ["x > a", "x > b", "a b > ab", "x > c", "ab c > all", "all > y", *more]
        uses = [tuple([buffers[name] for name in side.split()] for side in line.split(" > ")) for line in words]
        joins = {2: [part("a", 0), part("b", second)], 4: [part("ab", 0), part("c", 12)]}
        outside = {id(buffers["x"]), id(buffers["y"])}
        return Bound(Arena(lambda size: 4096), uses, outside, joins, {id(buffers[name]) for name in tight})

    def at(bound):
        names = {id(buffer): name for name, buffer in buffers.items()}
        return {names[id(buffer)]: int(address) - 4096 for buffer, _, address in bound.buffers}

    assert at(bound("")) == {"a": 0, "b": 16, "ab": 0, "c": 48, "all": 0}
    assert bound("").joined == [2, 4]
    assert bound("").size == 512
    assert bound("b").joined == [2, 4]  # at 16 bytes
    assert bound("", second=5).joined == [2, 4]
    assert bound("b", second=5).joined == [4]  # at 20
    read_later = bound("", "a > y")
    assert read_later.joined == [4]
    assert at(read_later)["a"] >= 512


@pytest.mark.parametrize("dtype", [np.dtype(np.float32), *HALVES], ids=["float32", "float16", "bfloat16"])
def test_buffers_on_a_gpu_take_the_bytes_of_their_type(dtype):
    """The door for nets in 16 bits: nothing in the arena has numbers of 4 bytes. The operands of a concatenation lie in it."""
    count = {"x": 8, "a": 1024, "b": 3072, "ab": 4096, "y": 16}
    blobs = {name: Blob((size,), dtype, open_device("cpu")) for name, size in count.items()}
    for name, blob in blobs.items():
        blob._data.count = count[name]

    def part(name, at):
        return blobs[name], Portion((name, 0), ("", 0), 0, at, 1, 1, 1)

    lines = ("x > a", "x > b", "a b > ab", "ab > y")
    uses = [tuple([blobs[name]._data for name in side.split()] for side in line.split(" > ")) for line in lines]
    outside = {id(blobs[name]._data) for name in "xy"}
    size = dtype.itemsize
    apart = Bound(Arena(lambda size: 4096), uses, outside, {}, ())
    assert apart.size == 8192 * size
    joined = Bound(Arena(lambda size: 4096), uses, outside, {2: [part("a", 0), part("b", 1024)]}, ())
    assert joined.size == 4096 * size
    places = {id(buffer): int(address) - 4096 for buffer, _, address in joined.buffers}
    assert [places[id(blobs[name]._data)] for name in ("a", "b", "ab")] == [0, 1024 * size, 0]


# Numbers


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NETS)
def test_a_plan_computes_what_the_layers_do(name, dtype):
    one, other = nets(NETS[name], dtype)
    for _ in range(2):
        image = RNG.standard_normal(one.blobs["data"].shape)
        same(one.forward(data=image), other.forward(data=image))
    for blob in one.blobs:  # and what it left out is there when asked for
        same({blob: one.blobs[blob].data}, {blob: other.blobs[blob].data})
    same(one.forward(data=image), other.forward(data=image))  # now with everything kept


@pytest.mark.parametrize("name", ["residual", "heads", "depthwise", "dense", "groups"])
def test_other_shapes_and_back(name):
    one, other = nets(NETS[name])
    first = one.blobs["data"].shape
    larger = (first[0] + 2, first[1], *((first[2] + 9, first[3] + 4) if name != "dense" else first[2:]))
    for shape in (first, larger, first, (1, *larger[1:]), larger):
        image = RNG.standard_normal(shape)
        same(one.forward(data=image), other.forward(data=image))
        assert {n: b.shape for n, b in one.blobs.items()} == {n: b.shape for n, b in other.blobs.items()}


def test_a_crop_that_is_one_for_other_shapes():
    """No step for a Crop of all that there is, but one where the image has another row and column."""
    floor = layer("f", "Pooling", "data", text="pooling_param { kernel_size: 2 stride: 2 round_mode: FLOOR }")
    text = data(1, 2, 8, 8) + layer("p", "Pooling", "data", text="pooling_param { kernel_size: 2 stride: 2 }") + floor
    net = Net(parse_net(text + layer("y", "Crop", ["p", "f"], text="crop_param { axis: 2 offset: 0 }")), device="cpu")
    assert summarise_plan(net).dropped == ["y"]
    net.blobs["data"].reshape(1, 2, 13, 13)
    net.reshape()
    assert summarise_plan(net).dropped == []
    for size in (8, 9, 8, 11, 9):
        x, half = RNG.standard_normal((1, 2, size, size)).astype(np.float32), size // 2
        net.blobs["data"].reshape(*x.shape)
        expected = x[:, :, : 2 * half, : 2 * half].reshape(1, 2, half, 2, half, 2).max((3, 5))
        assert np.array_equal(net.forward(data=x)["y"], expected)
        assert net.blobs["p"].shape == (1, 2, -(-size // 2), -(-size // 2))


def test_an_image_of_another_number_of_axes():
    """The layouts that were chosen for four axes do not hold, of the blobs behind the input neither."""
    product = "inner_product_param { num_output: 5 }"
    text = (
        data(2, 3, 4, 4) + layer("p", "PReLU", "data") + layer("y", "InnerProduct", "p", text=product) + relu("r", "y")
    )
    net = Net(parse_net(text), device="cpu")
    slopes, weights = RNG.standard_normal(3), RNG.standard_normal((5, 48))
    net.params["p"][0].data[...], net.params["y"][0].data[...] = slopes, weights
    for shape in ((2, 3, 4, 4), (1, 3, 16), (2, 3, 4, 4), (3, 3, 2, 2, 4), (3, 3, 16)):
        x = RNG.standard_normal((shape[0], 3, 16))
        net.blobs["data"].reshape(*shape)
        made, inner = net.forward(data=x.reshape(shape))["y"], np.where(x > 0, x, x * slopes[:, None])
        np.testing.assert_allclose(made, np.maximum(inner.reshape(-1, 48) @ weights.T, 0), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(net.blobs["p"].data, inner.reshape(shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("transpose", [False, True])
def test_a_product_whose_elements_lie_in_another_number_of_channels(transpose):
    """Its weights are packed by channels, and were so for the first shape."""
    text = f"inner_product_param {{ num_output: 5 transpose: {str(transpose).lower()} }}"
    net = Net(parse_net(data(2, 4, 2, 3) + layer("y", "InnerProduct", "data", text=text)), device="cpu")
    weights = RNG.standard_normal((24, 5))
    net.params["y"][0].data[...] = weights if transpose else weights.T
    for shape in ((2, 4, 2, 3), (2, 6, 2, 2), (2, 24, 1, 1), (3, 2, 3, 4), (2, 4, 2, 3)):
        x = RNG.standard_normal(shape)
        net.blobs["data"].reshape(*shape)
        np.testing.assert_allclose(net.forward(data=x)["y"], x.reshape(-1, 24) @ weights, rtol=1e-4, atol=1e-4)


def test_lrn_over_more_channels_than_the_net_was_made_for():
    net = Net(parse_net(data(1, 1, 4, 4) + layer("p", "Pooling", "data", text="pooling_param { kernel_size: 1 }")
                        + layer("y", "LRN", "p", text="lrn_param { local_size: 5 alpha: 2 }")), device="cpu")  # fmt: skip
    for channels in (1, 7):
        x = RNG.standard_normal((1, channels, 4, 4)).astype(np.float32)
        squares = np.pad(np.float64(x) ** 2, ((0, 0), (2, 2), (0, 0), (0, 0)))
        sums = 1 + 2 / 5 * sum(squares[:, i : i + channels] for i in range(5))
        net.blobs["data"].reshape(*x.shape)
        np.testing.assert_allclose(net.forward(data=x)["y"], x * sums**-0.75, rtol=1e-5)


def test_memory_that_was_outgrown_is_freed():
    net = Net(parse_net(RESIDUAL), device="cpu")
    for size in (12, 24, 48):
        net.forward(data=np.zeros((1, 16, size, size)))
    programs = list(net._runner.parts[0].programs.values())
    assert [bool(program.chains) for program in programs] == [False, False, True]
    one, other = nets(RESIDUAL)
    for size in (12, 40, 12, 20):
        image = RNG.standard_normal((1, 16, size, size))
        same(one.forward(data=image), other.forward(data=image))


@pytest.mark.parametrize("name", ["residual", "heads", "fire", "winograd", "depthwise", "dense"])
def test_results_do_not_depend_on_the_number_of_workers(name, monkeypatch, always_all):
    device = open_device("cpu")
    image = RNG.standard_normal(nets(NETS[name])[0].blobs["data"].shape)
    results = []
    for workers in (1, 2, 3):
        monkeypatch.setattr(device, "workers", workers)
        results.append(nets(NETS[name])[1].forward(data=image))
    for result in results[1:]:
        for blob, values in result.items():
            np.testing.assert_array_equal(values, results[0][blob])


@pytest.mark.parametrize(("name", "top"), [("winograd", "b"), ("halved", "q")])
def test_fast_math_is_near(name, top):
    one, other = nets(NETS[name], fast_math=True)
    image = RNG.standard_normal(one.blobs["data"].shape)
    a, b = one.forward(data=image)[top], other.forward(data=image)[top]
    assert a.shape == b.shape
    assert 1e-7 < np.abs(a - b).max() / np.abs(a).max() < 1e-4


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_stays_where_it_is(value):
    one, other = nets(NETS["winograd"])
    image = RNG.standard_normal(one.blobs["data"].shape)
    image[0, 3, 10, 10] = value
    a, b = one.forward(data=image)["b"], other.forward(data=image)["b"]
    np.testing.assert_array_equal(np.isfinite(a), np.isfinite(b))
    assert not np.isfinite(a).all()


# What a script sees


def test_a_blob_that_was_left_out_is_that_of_the_last_forward():
    one, other = nets(RESIDUAL)
    image = RNG.standard_normal(one.blobs["data"].shape)
    one.forward(data=image), other.forward(data=image)
    other.blobs["data"].data[...] = 0  # the next image, before the last one's blobs are looked at
    same({"b": one.blobs["b"].data}, {"b": other.blobs["b"].data})
    np.testing.assert_array_equal(other.blobs["data"].data, 0)
    one.blobs["data"].data[...] = 0
    same(one.forward(), other.forward())
    assert ["b", "b_bn", "b_scale"] in [row.layers for row in summarise_plan(other).steps]  # kept from now on


def test_changed_weights_are_seen():
    one, other = nets(RESIDUAL)
    image = RNG.standard_normal(one.blobs["data"].shape)
    other.forward(data=image)
    held = other.params["a"][0].data
    for net, weights in ((one, one.params["a"][0].data), (other, held)):
        weights[...] *= 2
        same(one.forward(data=image), net.forward(data=image)) if net is other else net.forward(data=image)
    one.params["a"][0].data[0, 0] = held[0, 0] = np.nan
    assert np.isnan(other.forward(data=image)["c"]).any()
    one.params["a"][0].data[...] = held[...] = 0.25  # through what was taken before
    same(one.forward(data=image), other.forward(data=image))
    one.params["b_bn"][1].data[...] = other.params["b_bn"][1].data[...] = 9
    same(one.forward(data=image), other.forward(data=image))


def test_weights_from_a_file_and_from_another_net(tmp_path):
    one, _other = nets(RESIDUAL)
    image = RNG.standard_normal(one.blobs["data"].shape)
    third = Net(parse_net(RESIDUAL), device="cpu", seed=9)
    before = third.forward(data=image)
    one.save(tmp_path / "w.caffemodel")
    third.copy_from(tmp_path / "w.caffemodel")
    same(one.forward(data=image), third.forward(data=image))
    assert not np.allclose(before["c"], third.forward(data=image)["c"])
    fourth = Net(parse_net(RESIDUAL), device="cpu", seed=10)
    fourth.forward(data=image)
    fourth.share_with(one)
    same(one.forward(data=image), fourth.forward(data=image))
    one.params["c"][0].data[...] *= 3
    same(one.forward(data=image), fourth.forward(data=image))


def test_a_part_of_the_net():
    one, other = nets(RESIDUAL)
    image = RNG.standard_normal(one.blobs["data"].shape)
    same(one.forward(data=image, blobs=["a", "sum"]), other.forward(data=image, blobs=["a", "sum"]))
    same(one.forward(data=image, end="b_bn"), other.forward(data=image, end="b_bn"))
    same(one.forward(data=image), other.forward(data=image))
    for net in (one, other):
        net.blobs["sum"].data[...] = 1
    same(one.forward(start="c"), other.forward(start="c"))


def test_a_part_with_an_input_of_another_shape():
    text = (
        data(1, 8, 20, 20) + conv("a", "data", 8) + relu("r", "a") + data(3, 5).replace('"data"', '"rois"')
        + layer("pool", "ROIPooling", ["a", "rois"], text="roi_pooling_param { pooled_w: 3 pooled_h: 3 }")
        + layer("ip", "InnerProduct", "pool", text='inner_product_param { num_output: 4 weight_filler { type: "xavier" } }')
        + relu("r2", "ip")
    )  # fmt: skip
    one, other = nets(text)
    for count in (3, 5, 2, 5):
        rois = np.abs(np.insert(RNG.uniform(0, 19, (count, 4)), 0, 0, 1))
        image = RNG.standard_normal((1, 8, 20, 20))
        same(one.forward(data=image, rois=rois), other.forward(data=image, rois=rois))
        for rows in (1, 4):
            same(
                one.forward(start="pool", rois=rois[:1].repeat(rows, 0)),
                other.forward(start="pool", rois=rois[:1].repeat(rows, 0)),
            )


def test_gradients_after_a_forward_by_plan():
    text = RESIDUAL + layer("loss", "EuclideanLoss", ["c", "label"]) + data(1, 8, 12, 13).replace("data", "label")
    text = data(1, 8, 12, 13).replace('"data"', '"label"') + RESIDUAL + layer("loss", "EuclideanLoss", ["c", "label"])
    one, other = nets(text)
    image, label = (RNG.standard_normal(one.blobs[name].shape) for name in ("data", "label"))
    for net in (one, other):
        net.forward(data=image, label=label)
        net.clear_param_diffs()
        net.backward()
    for name in one.params:
        for a, b in zip(one.params[name], other.params[name]):
            same({name: a.diff}, {name: b.diff})
    assert np.abs(other.params["a"][0].diff).max() > 0


VIEWS = {
    "Split": layer("s", "Split", "a", ["x", "y"]),
    "Dropout": layer("s", "Dropout", "a", "y"),
    "Reshape": layer("s", "Reshape", "a", "y", "reshape_param { shape { dim: 0 dim: -1 dim: 6 } }"),
    "Flatten": layer("s", "Flatten", "a", "y"),
    "Permute": layer("s", "Permute", "a", "y", "permute_param { order: 0 order: 1 order: 2 order: 3 }"),
    "channels last": layer("s", "Permute", "a", "y", "permute_param { order: 0 order: 2 order: 3 order: 1 }"),
    "Slice": layer("s", "Slice", "a", "y"),
    "Concat": layer("s", "Concat", "a", "y"),
}


def test_gradients_where_the_input_is_overwritten_in_place():
    """And statistics of a layer that runs once a forward count once."""
    text = (
        data(2, 4, 6, 7) + relu("r", "data", "relu_param { negative_slope: 0.5 }")
        + layer("n", "BatchNorm", "data", "data", "batch_norm_param { use_global_stats: false }") + relu("q", "data")
        + conv("c", "data", 3) + layer("loss", "Reduction", "c", text="loss_weight: 1 reduction_param { operation: SUMSQ }")
    )  # fmt: skip
    seen = []
    for net in nets(text, np.float64):
        net.forward(data=np.random.default_rng(2).standard_normal((2, 4, 6, 7)))
        net.clear_param_diffs()
        net.backward()
        params = {
            f"{name} {i}": np.array(a)
            for name, bs in net.params.items()
            for i, b in enumerate(bs)
            for a in (b.data, b.diff)
        }
        seen.append(params | {name: np.array(blob.data) for name, blob in net.blobs.items()})
    same(*seen, tolerance=1e-10)


def test_gradients_after_a_look_at_what_a_layer_in_place_overwrote():
    text = (
        layer("x", "Input", [], "x", "input_param { shape { dim: 2 dim: 3 } }") + layer("r", "ReLU", "x", "y")
        + layer("s", "Scale", "y", "y", 'scale_param { filler { type: "constant" value: 2 } }')
        + layer("p", "Power", "y", "z", "power_param { scale: 3 }") + layer("loss", "Reduction", "z", text="loss_weight: 1")
    )  # fmt: skip
    for net in nets(text, np.float64):
        net.forward(x=np.arange(6).reshape(2, 3) - 2)
        assert net.blobs["y"].data.tolist() == [[0, 0, 0], [2, 4, 6]]
        net.backward()
        assert net.params["s"][0].diff.tolist() == [3, 6, 9]


def test_gradients_after_a_forward_of_a_part():
    """The other layers have from the plan's forward what their backward takes."""
    text = (
        layer("x", "Input", [], "x", "input_param { shape { dim: 1 dim: 1 dim: 2 dim: 2 } }")
        + conv("c", "x", 1, "kernel_size: 1") + layer("b", "BatchNorm", "c", "c", "batch_norm_param { eps: 1e-12 }")
        + layer("loss", "Reduction", "c", text="loss_weight: 1")
    )  # fmt: skip
    for net in nets(text, np.float64):
        for blob, value in zip(net.params["b"], (0, 4, 1)):
            blob.data[...] = value
        net.forward(x=[[[[1, 2], [3, 4]]]])
        net.forward(start="loss")
        net.clear_param_diffs()
        net.backward()
        assert net.params["c"][0].diff.item() == pytest.approx(5)


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("made", ["conv", "power", "input"])
@pytest.mark.parametrize("kind", VIEWS)
def test_a_layer_in_place_changes_the_blob_that_it_names_alone(kind, made, optimize):
    """What shares memory with that blob, and is read later or looked at, keeps its values."""
    maker = {
        "conv": conv("a", "data", 4, "kernel_size: 1"),
        "power": layer("a", "Power", "data", "a", "power_param { scale: 2 }"),
        "input": "",
    }
    text = data(2, 4, 6, 6) + (
        maker[made] + VIEWS[kind] + layer("p", "Power", "y", "y", "power_param { scale: -3 shift: 1 }")
    )
    text += layer("late", "TanH", "x" if kind == "Split" else "a", "late")
    net = Net(
        parse_net(text if made != "input" else text.replace('"a"', '"data"')), device="cpu", optimize=optimize, seed=1
    )
    image = RNG.standard_normal((2, 4, 6, 6)).astype(np.float32)
    a = image
    if made == "conv":
        weights, bias = (np.asarray(blob.data, np.float64) for blob in net.params["a"])
        a = np.einsum("oc,nchw->nohw", weights[:, :, 0, 0], image) + bias[:, None, None]
    elif made == "power":
        a = 2 * image
    turned = a.transpose(0, 2, 3, 1) if kind == "channels last" else a
    for _ in range(2):
        out = net.forward(data=image)
        same({"late": np.tanh(a), "y": (1 - 3 * turned).reshape(net.blobs["y"].shape)}, out)
        same({"a": a}, {"a": net.blobs["data" if made == "input" else "a"].data})


@pytest.mark.parametrize("options", [{"optimize": False}, {"phase": "TRAIN"}])
def test_nets_without_a_plan(options):
    assert summarise_plan(Net(parse_net(RESIDUAL), device="cpu", **options)) is None


def test_a_layer_that_is_asked_to_run_alone():
    one, other = nets(RESIDUAL)
    image = RNG.standard_normal(one.blobs["data"].shape)
    one.forward(data=image), other.forward(data=image)
    for net in (one, other):
        for i in range(len(net.layers)):
            net.forward_layer(i)
    same({"c": one.blobs["c"].data}, {"c": other.blobs["c"].data})


def test_empty_batches():
    one, other = nets(NETS["dense"])
    same(one.forward(data=np.zeros((0, 8, 5, 4))), other.forward(data=np.zeros((0, 8, 5, 4))))
    image = RNG.standard_normal((3, 8, 5, 4))
    same(one.forward(data=image), other.forward(data=image))


@pytest.mark.parametrize("name", ["dense", "wide", "page", "groups", "fire", "residual"])
def test_bf16_is_near(name):
    if not bf16_available(open_device("cpu")):
        with pytest.raises(DeviceError, match="AVX512-BF16"):
            Net(parse_net(NETS[name]), device="cpu", precision="bf16")
        pytest.skip("this CPU has no AVX512-BF16")
    one, other = nets(NETS[name], precision="bf16")
    image = RNG.standard_normal(one.blobs["data"].shape)
    plain, rounded = one.forward(data=image), other.forward(data=image)
    same(plain, rounded, 3e-2)
    if name == "page":
        assert any(np.abs(plain[blob] - rounded[blob]).max() > 1e-4 * np.abs(plain[blob]).max() for blob in plain)


def test_bf16_sums_in_float32():
    if not bf16_available(open_device("cpu")):
        pytest.skip("this CPU has no AVX512-BF16")
    text = data(1, 999, 3, 3) + conv("a", "data", 37, "kernel_size: 1")
    one, other = nets(text, precision="bf16")
    for net in (one, other):  # numbers that bfloat16 holds exactly, with sums that it does not
        net.params["a"][0].data[...] = np.arange(37 * 999).reshape(37, 999, 1, 1) % 7 - 2
    image = RNG.integers(-100, 100, (1, 999, 3, 3))
    a, b = one.forward(data=image)["a"], other.forward(data=image)["a"]
    np.testing.assert_allclose(b, a, rtol=1e-6)


def test_an_unknown_precision():
    with pytest.raises(ModelError, match="precision must be"):
        Net(parse_net(RESIDUAL), device="cpu", precision="int4")


def test_a_blob_that_a_script_gives_another_number_of_axes():
    """The top of a layer of data keeps what a script makes of it: the layouts that were chosen for four axes do not hold."""
    text = (
        data(1, 3, 8, 9) + conv("a", "data", 3, "kernel_size: 3 pad: 1")
        + 'layer { name: "d" type: "DummyData" top: "d" dummy_data_param { shape { dim: 1 dim: 3 dim: 8 dim: 9 } } }'
        + layer("b", "Eltwise", ["a", "d"], text="eltwise_param { operation: PROD }")
    )  # fmt: skip
    one, other = nets(text)
    image = RNG.standard_normal((1, 3, 8, 9))
    for shape in ((1, 3, 8, 9), (1, 3, 8, 9, 1), (1, 3, 8, 9)):
        for net in (one, other):
            net.blobs["d"].reshape(*shape)
        same(one.forward(data=image), other.forward(data=image))


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ('type: "Parameter" parameter_param { SHAPE }', [3, 3, 3]),
        ('type: "DummyData" dummy_data_param { SHAPE data_filler { value: 1 } }', [3, 9, 27]),  # Caffe fills it once
    ],
)
def test_constants_that_are_changed_in_place_are_made_again_with_the_rest(source, wanted):
    """Where NaN in a convolution's sums has the layers run by themselves."""
    shape = "shape { dim: 1 dim: 16 dim: 8 dim: 7 }"
    text = f"""
        layer {{ name: "x" type: "Input" top: "x" input_param {{ {shape} }} }}
        layer {{ name: "p" top: "p" {source.replace("SHAPE", shape)} }}
        layer {{ name: "three" type: "Power" bottom: "p" top: "p" power_param {{ scale: 3 }} }}
        layer {{ name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param {{ num_output: 17 kernel_size: 3 }} }}"""
    x = np.ones((1, 16, 8, 7))
    x[0, 0, 0, 0] = np.nan
    for optimize in (False, True):
        net = Net(parse_net(text), device="cpu", optimize=optimize)
        for blob in net.layers[1].blobs:
            blob.data[...] = 1
        tops = [net.forward(x=x)["p"], net.forward()["p"], net.forward()["p"]]
        for top, value in zip(tops, wanted):
            np.testing.assert_array_equal(top, value)


@pytest.mark.parametrize("back", ["dim: 4 dim: 9 dim: 9", "dim: -1"])
def test_more_views_of_views_than_python_calls_functions(back):
    """Each a shape of the memory of the one before; in a Concat at last, of which the convolution makes a part."""
    shapes = ["dim: 0 dim: 9 dim: 4 dim: -1", f"dim: 0 {back}"]
    count = sys.getrecursionlimit() + 100
    names = ["c", *(f"v{i}" for i in range(count))]
    text = data(2, 3, 9, 9) + conv("c", "data", 4) + "".join(
        layer(top, "Reshape", bottom, text=f"reshape_param {{ shape {{ {shapes[i % 2]} }} }}")
        for i, (bottom, top) in enumerate(itertools.pairwise(names))
    )  # fmt: skip
    text += layer("j", "Concat", f"{names[-1]} {names[-1]}".split(), text="concat_param { axis: 0 }")
    plain_net, net = nets(text)
    x = RNG.standard_normal((2, 3, 9, 9))
    tops = [one.forward(data=x, blobs=["v7"]) for one in (net, plain_net)]
    for name, top in tops[1].items():
        np.testing.assert_allclose(tops[0][name], top, rtol=0, atol=1e-5)
