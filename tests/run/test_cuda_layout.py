"""Chains of convolutions whose arrays are channels last on a GPU: which they are, that they give what the layers give, and which
layout is chosen. By the stand-in's cuDNN, which checks each descriptor, and whose times the tests say."""

from __future__ import annotations

import gc
from itertools import pairwise

import numpy as np
import pytest
import stand_in
from harness import Rig
from layout_nets import (
    COUNTS,
    NETS,
    RNG,
    asked_for,
    images,
    nets,
    of_kind,
    pool,
    program_of,
    relu,
    start,
    text,
    trained,
)
from test_cuda_plan import conv, layer, same

from boxpresso import Net
from boxpresso.__main__ import main
from boxpresso.device import cudnn
from boxpresso.device.cuda import Cuda
from boxpresso.graph.graph import LAST
from boxpresso.layers.core.gpu_lowering import GpuLowering, OnLast, Refused
from boxpresso.layers.core.lowering import Constant, Join
from boxpresso.layers.dense.channels_last import ConvolveLast, LastConvolution
from boxpresso.proto import parse_net
from boxpresso.proto.errors import DeviceError
from boxpresso.run.gpu import choice as gpu_choice
from boxpresso.run.gpu.layout import Turn, find_chains, lay_out
from boxpresso.run.gpu.program import inner_blobs
from boxpresso.summary import summarise_plan

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.usefixtures("libraries"),
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    """Graphs are captured, no layout is asked for, and no test knows what another has measured."""
    for name in ("BOXPRESSO_DEBUG", "BOXPRESSO_GPU_LAYOUT", "BOXPRESSO_GPU_FIND"):
        monkeypatch.delenv(name, raising=False)
    gpu_choice.forget()
    yield
    stand_in.layout_times()
    gpu_choice.forget()


# The same numbers


@pytest.mark.parametrize("name", NETS)
def test_chains_give_what_the_layers_give(name, monkeypatch):
    """Two shapes in turn; launches are counted in a replay, convolutions and arrays that are turned in the plan."""
    asked_for(monkeypatch, "NHWC")
    planned, layers = nets(text(name))
    inputs = {batch: images(planned, batch) for batch in (1, 3)}
    wanted = {batch: layers.forward(x=x) for batch, x in inputs.items()}
    for turn in range(5):
        for batch, x in inputs.items():
            before = stand_in.counts()
            same(planned.forward(x=x), wanted[batch], 2e-5)
            grown = stand_in.since(before)
            if turn == 4:
                assert (grown["replays"], grown["launches"], grown["library_calls"], grown["captures"]) == (1, 0, 0, 0)
    turns = of_kind(planned, Turn)
    counts = len(of_kind(planned, ConvolveLast)), sum(t.last for t in turns), sum(not t.last for t in turns)
    assert counts == COUNTS[name]
    (chain,) = program_of(planned).describe()["layouts"]
    assert (chain["layout"], chain["why"], chain["ms"]) == ("NHWC", "asked for by BOXPRESSO_GPU_LAYOUT", None)


def test_nothing_is_read_or_written_outside_of_arrays(monkeypatch):
    """With a red zone around each array, where every launch is waited for."""
    asked_for(monkeypatch, "NHWC")
    monkeypatch.setenv("BOXPRESSO_DEBUG", "1")
    for name in NETS:
        planned, layers = nets(text(name))
        x = images(planned, 3)
        before = stand_in.counts()
        for _ in range(3):
            same(planned.forward(x=x), layers.forward(x=x), 2e-5)
        assert len(of_kind(planned, ConvolveLast)) == COUNTS[name][0]
        assert stand_in.since(before)["faults"] == 0


def test_joins_stay_where_they_are_in_place(monkeypatch):
    """SSD's heads: with one image, a convolution writes (N, H, W, C) right into the Concat, and there is no Permute."""
    nodes = {}
    for layout in ("NCHW", "NHWC"):
        asked_for(monkeypatch, layout)
        planned, layers = nets(text("heads"))
        x = images(planned)
        for _ in range(4):
            same(planned.forward(x=x), layers.forward(x=x), 2e-5)
        program = program_of(planned)
        assert [planned.layers[i].name for i in program.joined] == ["mbox"]
        nodes[layout] = program.describe()["nodes"]
        rows = {row.what: row.layers for row in summarise_plan(planned).steps}
        heads = [row.layers for row in summarise_plan(planned).steps if row.layers[0] in ("b_h", "c_h")]
        assert heads == ([["b_h", "b_p"], ["c_h", "c_p"]] if layout == "NHWC" else [["b_h"], ["c_h"]])
    assert nodes["NHWC"] == nodes["NCHW"] - 2 + 3, "two Permutes less, and three arrays turned"
    assert {"convolution, channels last", "channels last", "to planes", "layer, channels last"} <= rows.keys()


def test_changed_parameters_are_seen(monkeypatch):
    """Filters are turned again, into the same memory; statistics of a BatchNorm and slopes too, in graphs that stay."""
    asked_for(monkeypatch, "NHWC")
    planned, layers = nets(text("dense"))
    x = images(planned)
    for _ in range(4):
        planned.forward(x=x)
    before = stand_in.counts()
    for name, at in (("a", 0), ("c", 0), ("ab_b", 1), ("ab_s", 0), ("pp", 0), ("d", 1), ("bi", 0)):
        for net in (planned, layers):
            net.params[name][at].data[...] *= 1.5
        same(planned.forward(x=x), layers.forward(x=x), 2e-5)
    grown = stand_in.since(before)
    assert (grown["captures"], grown["replays"]) == (0, 7)
    assert grown["launches"] == 2, "filters of `a` and `c`"
    before = stand_in.counts()
    planned.forward(x=x)
    assert stand_in.since(before)["launches"] == 0


def test_parameters_that_another_net_changes_on_the_gpu_are_seen(monkeypatch):
    asked_for(monkeypatch, "NHWC")
    for name in ("residual", "dense"):
        planned, layers = nets(text(name))
        other = Net(parse_net(text(name)), seed=9, device="cuda", optimize=False)
        planned.share_with(other)
        trained(other)
        x = images(planned)
        first = next(iter(other.params))
        for turn in range(5):
            other.params[first][0].data.fill(0.1 * (turn + 1))
            layers.params[first][0].data.fill(np.float32(0.1 * (turn + 1)))
            same(planned.forward(x=x), layers.forward(x=x), 2e-5)


def test_every_blob_can_be_asked_for(monkeypatch):
    """A blob inside a chain holds its values in Caffe's order for a script; then it is turned in each forward."""
    asked_for(monkeypatch, "NHWC")
    planned, layers = nets(text("fires"))
    x = images(planned)
    for _ in range(4):
        planned.forward(x=x)
    layers.forward(x=x)
    before = len(of_kind(planned, Turn))
    for name in ("f1", "c1", "f2_3", "p2"):
        same({name: np.array(planned.blobs[name].data)}, {name: np.array(layers.blobs[name].data)}, 2e-5)
    for _ in range(4):
        x = images(planned)
        same(planned.forward(x=x, blobs=["f1"]), layers.forward(x=x, blobs=["f1"]), 2e-5)
    assert len(of_kind(planned, Turn)) == before + 4
    same(planned.forward(x=x, start="f2_q", end="f2"), layers.forward(x=x, start="f2_q", end="f2"), 2e-5)
    same(planned.forward(x=x), layers.forward(x=x), 2e-5)


def test_backward_after_a_forward(monkeypatch):
    asked_for(monkeypatch, "NHWC")
    label = 'layer { name: "t" type: "Input" top: "t" input_param { shape { dim: 1 dim: 5 } } }'
    planned, layers = nets("\n".join([text("residual"), label, layer("EuclideanLoss", "loss", "fc", "t")]))
    x, wanted = images(planned), RNG.standard_normal((1, 5))
    for _ in range(4):
        planned.forward(x=x, t=wanted)
    layers.forward(x=x, t=wanted)
    assert len(of_kind(planned, ConvolveLast)) == COUNTS["residual"][0]
    for net in (planned, layers):
        net.clear_param_diffs()
        net.backward()
    for name in ("c1", "r2", "d1", "fc"):
        pairs = [(np.array(net.params[name][0].diff)) for net in (planned, layers)]
        same({name: pairs[0]}, {name: pairs[1]}, 1e-4)
    same(planned.forward(x=x, t=wanted), layers.forward(x=x, t=wanted), 2e-5)


# What a chain is


def plan_of(model: str):
    """The plan of a net before any layout, its net, and the names of blobs that nobody needs."""
    net = Net(parse_net(model), seed=1, device="cuda")
    (plan,) = net._runner.optimised()
    assert all(isinstance(step.lowering, (GpuLowering, Join, Constant, type(None))) for step in plan.steps)
    source = net._runner.source
    return plan, source, inner_blobs(plan, source, range(len(net.layers)))


def drawn(plan, source) -> list[str]:
    """Each step in words: what it writes, the kind of its work, what it reads; * for values that are channels last."""
    mark = lambda v: f"{v[0].replace(', channels last', '~')}{'*' * (plan.layouts.get(v) == LAST)}"  # noqa: E731
    kinds = {ConvolveLast: "conv", Turn: "turn"}
    return [
        f"{mark(s.writes[0])} = "
        f"{next((n for k, n in kinds.items() if isinstance(s.lowering, k)), 'last' if isinstance(s.lowering, OnLast) else 'plain')}"
        f" {' '.join(map(mark, s.reads))}"
        for s in plan.steps if s.reads
    ]  # fmt: skip


def test_the_pass_is_a_function_of_the_plan():
    plan, source, inner = plan_of(text("heads"))
    (chain,) = find_chains(plan, source, inner)
    before = plan.steps
    assert [source.layers[i].name for i in chain.steps] == ["a", "b", "p", "c", "b_h", "c_h", "seen"]
    assert [source.layers[i].name for i in chain.absorbed] == ["b_p", "c_p"]
    assert drawn(lay_out(plan, source, inner, [chain]), source) == [
        "x~* = turn x", "a* = conv x~*", "b~* = conv a*", "b = turn b~*", "n = plain b", "p* = last b~*", "c* = conv p*",
        "b_p = conv b~*", "b_f = plain b_p", "c_p = conv c*", "c_f = plain c_p", "mbox = plain b_f c_f", "boxes = plain mbox",
        "seen~* = conv c*", "seen = turn seen~*",
    ]  # fmt: skip
    assert plan.steps is before
    assert plan.layouts == {}
    assert lay_out(plan, source, inner, []).steps == plan.steps


def test_what_is_no_chain():
    """One convolution, three axes, float64, a user's layer between two, steps that overwrite what others made."""
    head = start(4, 9, 9)
    for lines in (
        [head, conv("a", "x"), relu("a"), pool("p", "a", "kernel_size: 2")],
        [head, conv("a", "x"), layer("LRN", "n", "a"), conv("b", "n")],
        [head, conv("a", "x"), layer("Softmax", "n", "a"), conv("b", "n"), layer("Reshape", "r", "b", more="reshape_param { shape { dim: 0 dim: -1 } }")],
        [head.replace("dim: 9 }", "dim: 9 dim: 5 }"), conv("a", "x"), conv("b", "a")],
    ):  # fmt: skip
        assert find_chains(*plan_of("\n".join(lines))) == []
    planned = Net(parse_net(text("VGG")), seed=1, device="cuda", dtype=np.float64)
    planned.forward(x=images(planned))
    assert "layouts" not in program_of(planned).describe()


def test_memory_that_is_changed_while_it_is_read(monkeypatch):
    """TanH in place changes the top of the Dropout alone, which would else share memory with x, and with g."""
    asked_for(monkeypatch, "NHWC")
    lines = [
        start(4, 9, 9), conv("a", "x"), layer("Dropout", "d", "x"), layer("TanH", "t", "d", top="d"), conv("b", "x"), conv("c", "d"),
        conv("e", "a"), conv("f", "e"), layer("Reshape", "r", "f", more="reshape_param { shape { dim: 0 dim: -1 } }"), conv("g", "f"),
        layer("Dropout", "gd", "g"), layer("TanH", "gt", "gd", top="gd"), conv("h", "g"), conv("i", "gd"),
    ]  # fmt: skip
    planned, layers = nets("\n".join(lines))
    for _ in range(4):
        x = images(planned, 2)
        same(planned.forward(x=x), layers.forward(x=x), 2e-5)
    assert [chain["layers"] for chain in program_of(planned).layouts()] == ["a ... i"]


def test_a_chain_begins_with_its_first_convolution():
    """What changes its input in place stays outside, for a chain is run several times to measure it; pooling before it too."""
    lines = [
        start(4, 12, 12), layer("Power", "twice", "x", top="x", more="power_param { scale: 2 }"),
        pool("p0", "x", "kernel_size: 2 stride: 2"), conv("a", "p0"), layer("TanH", "t", "a", top="a"), conv("b", "a"),
        layer("TanH", "u", "b"),
    ]  # fmt: skip
    plan, source, inner = plan_of("\n".join(lines))
    (chain,) = find_chains(plan, source, inner)
    assert [source.layers[i].name for i in chain.steps] == ["a", "t", "b", "u"]


# Which layout


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize(
    ("first", "last", "layout"), [(0.01, 0.02, "NCHW"), (0.05, 0.01, "NHWC"), (0.0100, 0.0088, "NCHW")]
)
def test_the_faster_layout_is_measured_once_and_kept(first, last, layout, deterministic):
    stand_in.layout_times(first, last)
    planned, layers = nets(text("residual"), deterministic=deterministic)
    x = images(planned)
    outputs = []
    for turn in range(4):
        outputs.append(planned.forward(x=x)["fc"])
        same({"fc": outputs[-1]}, layers.forward(x=x), 2e-5)
        (chain,) = program_of(planned).layouts()
        assert (chain["why"] == "not measured yet") == (turn == 0 and not deterministic)
    assert (chain["layout"], chain["why"], chain["steps"]) == (layout, "measured", 7)
    assert (chain["ms"]["NHWC"] < chain["ms"]["NCHW"]) == (last < first)
    assert chain["layers"] == "c1 ... all"
    assert len(of_kind(planned, ConvolveLast)) == (5 if layout == "NHWC" else 0)
    if deterministic:  # chosen before anything has run, so that no forward differs from another
        for output in outputs:
            np.testing.assert_array_equal(output, outputs[0])
    stand_in.layout_times(last, first)  # another Net of the process takes what was chosen, from its first forward on
    before = stand_in.counts()
    other = trained(Net(parse_net(text("residual")), seed=4, device="cuda", deterministic=deterministic))
    first_output = other.forward(x=x)["fc"]
    assert program_of(other).layouts() == [chain]
    assert stand_in.since(before)["captures"] == 0
    np.testing.assert_array_equal(first_output, outputs[-1])
    planned.forward(x=images(planned, 3))
    planned.forward(x=images(planned, 3))
    (chain,) = program_of(planned).layouts()
    assert chain["layout"] != layout or first / last == pytest.approx(1, abs=0.2), "another shape is measured anew"


def test_people_are_told(tmp_path, capsys):
    """`boxpresso info --plan --device cuda` and `time --plan`."""
    stand_in.layout_times(0.05, 0.01)
    path = tmp_path / "net.prototxt"
    path.write_text(text("residual"))
    assert main(["info", "--plan", "--device", "cuda", str(path)]) == 0
    output = capsys.readouterr().out
    assert "\nlayout: c1 ... all, 7 steps: NHWC, measured: 0.0650 ms, NCHW 0.2600 ms\n" in output
    assert "\nconvolution, channels last  c1 + c1_b + c1_s + c1_relu" in output
    assert "graph 0" in output
    assert main(["time", "--plan", "--device", "cuda", "--iterations", "2", str(path)]) == 0
    assert "layout: c1 ... all, 7 steps: NHWC, measured" in capsys.readouterr().out
    assert main(["info", "--device", "cuda", str(path)]) == 1
    assert "--device is for --plan" in capsys.readouterr().err


def test_each_chain_is_chosen_for_itself():
    """A chain of convolutions with little around it, and one with arrays to turn at every step."""
    model = [
        start(4, 9, 9),
        conv("a", "x"),
        conv("b", "a"),
        layer("Softmax", "cut", "b"),
        conv("c", "cut"),
        conv("d", "c"),
        conv("e", "d"),
    ]
    stand_in.layout_times(0.02, 0.0155)  # less than the two turns of the first cost, more than those of the second
    planned, layers = nets("\n".join(model))
    x = images(planned)
    for _ in range(4):
        same(planned.forward(x=x), layers.forward(x=x), 2e-5)
    chains = program_of(planned).layouts()
    assert [(c["layers"], c["layout"]) for c in chains] == [("a ... b", "NCHW"), ("c ... e", "NHWC")]
    assert program_of(planned).describe()["graphs"] == 1


def test_a_choice_is_kept_when_parameters_change():
    stand_in.layout_times(0.05, 0.01)
    planned, layers = nets(text("residual"))
    x = images(planned)
    for _ in range(4):
        planned.forward(x=x)
    for net in (planned, layers):
        net.params["r1_s"][0].data[...] *= 2  # folded: a new plan
    before = stand_in.counts()
    same(planned.forward(x=x), layers.forward(x=x), 2e-5)
    same(planned.forward(x=x), layers.forward(x=x), 2e-5)
    assert stand_in.since(before)["captures"] == 0
    assert program_of(planned).layouts()[0]["layout"] == "NHWC"


def test_where_cudnn_has_no_algorithm_for_it(monkeypatch):
    algorithm = cudnn.Convolution.algorithm
    monkeypatch.setattr(cudnn.Convolution, "algorithm", lambda self, kind: None if self.last else algorithm(self, kind))
    for asked in ("auto", "NHWC"):
        asked_for(monkeypatch, asked)
        gpu_choice.forget()
        planned, layers = nets(text("VGG"))
        x = images(planned)
        for _ in range(4):
            same(planned.forward(x=x), layers.forward(x=x), 2e-5)
        (chain,) = program_of(planned).layouts()
        assert chain["layout"] == "NCHW"
        assert chain["why"].startswith("cuDNN has no convolution with channels last for 1 x 6 x [11, 9], kernel [3, 3]")


@pytest.mark.parametrize("asked", ["auto", "NHWC"])
def test_a_convolution_without_it_splits_a_chain(monkeypatch, asked):
    """What lies on its sides may be channels last, where there are convolutions enough; other Nets know it without measuring."""
    row = ['layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 9 dim: 8 } } }']
    names = ["x", "a", "b", "odd", "d", "e", "f"]
    for before, name in pairwise(names):
        row += [conv(name, before, f"num_output: {11 if name == 'odd' else 6} kernel_size: 3 pad: 1"), relu(name)]
    monkeypatch.setattr(LastConvolution, "apply", refusing(LastConvolution.apply, lambda sizes: sizes.maps == 11))
    asked_for(monkeypatch, asked)
    gpu_choice.forget()
    stand_in.layout_times(0.05, 0.01)
    for turn in range(2):
        planned, layers = nets("\n".join(row))
        x, before = images(planned), stand_in.counts()
        for _ in range(4):
            same(planned.forward(x=x), layers.forward(x=x), 2e-5)
        said = program_of(planned).layouts()
        assert [(chain["layers"], chain["layout"]) for chain in said] == [("a ... b", "NHWC"), ("d ... f", "NHWC")]
        assert turn == 0 or stand_in.since(before)["captures"] == 1  # the forward alone
    stand_in.layout_times()


def refusing(apply, which):
    """LastConvolution.apply of a cuDNN that has no algorithm for some sizes."""

    def refuses(self, *args):
        if which(self.sizes):
            raise Refused("cuDNN has no convolution with channels last for it")
        apply(self, *args)

    return refuses


def test_where_there_is_no_memory_for_it():
    """The arena of the other layout does not fit: the forward goes on as it is."""
    stand_in.layout_times(0.05, 0.01)
    planned, layers = nets(text("fires"))
    x = images(planned, 3)
    planned.forward(x=x)
    gc.collect()
    for gpu in list(Cuda.instances):  # what other tests have left, which would be taken when memory runs out
        gpu.free_held()
    stand_in.set_memory(stand_in.counts()["held"] + 3000)
    try:
        for _ in range(3):
            same(planned.forward(x=x), layers.forward(x=x), 2e-5)
    finally:
        stand_in.set_memory(4 << 30)
    (chain,) = program_of(planned).layouts()
    assert chain["layout"] == "NCHW"
    assert "out of memory" in chain["why"]


def test_words_for_a_layout(monkeypatch):
    asked_for(monkeypatch, "nhcw")
    planned, _ = nets(text("VGG"))
    with pytest.raises(DeviceError, match=r"BOXPRESSO_GPU_LAYOUT must be auto, NCHW or NHWC, got 'nhcw'"):
        planned.forward(x=images(planned))
    asked_for(monkeypatch, "nchw")
    planned.forward(x=images(planned))
    assert program_of(planned).layouts()[0]["layout"] == "NCHW"


def test_tf32_is_a_choice_of_its_own():
    stand_in.layout_times(0.05, 0.01)
    for fast in (False, True):
        planned, layers = nets(text("VGG"), fast_math=fast)
        x = images(planned)
        before = stand_in.counts()
        for _ in range(3):
            same(planned.forward(x=x), layers.forward(x=x), 5e-3 if fast else 2e-5)
        assert stand_in.since(before)["captures"] == 5, "each of two layouts twice, and the forward"
        assert program_of(planned).layouts()[0]["layout"] == "NHWC"


# What the stand-in for cuDNN refuses


def rig(text_: str, shape: tuple[int, ...]) -> Rig:
    return Rig(f'type: "Convolution" convolution_param {{ {text_} }}', [RNG.standard_normal(shape)], device="cuda")


def test_arrays_must_be_channels_last_as_the_filters_are():
    made = rig("num_output: 4 kernel_size: 3", (1, 4, 6, 6))
    by = LastConvolution(made.layer.sizes, made.device, np.float32).by
    assert by.algorithm("Forward") is not None
    plain = made.layer.convolution.by
    by.x = plain.x  # NCHW
    by.chosen.clear()
    assert by.algorithm("Forward") is None
    assert not by.forward(made.bottom[0].data, made.layer.blobs[0].data, made.top[0].data)


def test_tf32_needs_aligned_arrays(monkeypatch):
    made = rig("num_output: 4 kernel_size: 3", (1, 4, 6, 6))
    monkeypatch.setattr(made.device, "fast_math", True)
    by = LastConvolution(made.layer.sizes, made.device, np.float32).by
    image = made.device.empty((200,), np.float32)
    x = made.device.part(image, 1, made.bottom[0].shape)
    assert by.forward(x, made.layer.blobs[0].data, made.top[0].data)
    assert by.math == cudnn.FMA_MATH  # TF32 is refused


# Algorithms that cuDNN measures


@pytest.mark.parametrize("deterministic", [False, True])
def test_algorithms_can_be_measured(deterministic, monkeypatch):
    """The heuristic's best is number 1; by the stand-in's clock the last is the fastest. Where the bits must not differ from run to
    run, the heuristic decides."""
    monkeypatch.setenv("BOXPRESSO_GPU_FIND", "1")
    planned, layers = nets(text("VGG"), deterministic=deterministic)
    x = images(planned)
    for _ in range(3):
        same(planned.forward(x=x), layers.forward(x=x), 2e-5)
    chosen = planned.layer_dict["a2"].convolution.by.chosen["Forward"][0]
    assert chosen == (cudnn.PRECOMPUTED if deterministic else 2)
