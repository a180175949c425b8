"""The plan on a GPU: the same as the layers run one by one, in few launches, replayed as graphs without host work."""

from __future__ import annotations

import gc
import timeit

import numpy as np
import pytest
import stand_in

from boxpresso import Layer, LayerError, Net
from boxpresso.device import cuda
from boxpresso.device.graph import CapturedGraph
from boxpresso.layers.core.layer import REGISTRY
from boxpresso.proto import parse_net
from boxpresso.proto.errors import DeviceError
from boxpresso.summary import summarise_plan

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]
RNG = np.random.default_rng(8)


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    """With a pool, without a wait after each launch: graphs are captured only then."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)


def conv(name: str, bottom: str, more: str = "num_output: 6 kernel_size: 3 pad: 1") -> str:
    return f'''layer {{ name: "{name}" type: "Convolution" bottom: "{bottom}" top: "{name}"
        convolution_param {{ {more} weight_filler {{ type: "xavier" }} bias_filler {{ type: "gaussian" }} }} }}'''


def layer(type: str, name: str, *bottoms: str, top: str = "", more: str = "") -> str:
    reads = " ".join(f'bottom: "{b}"' for b in bottoms)
    return f'layer {{ name: "{name}" type: "{type}" {reads} top: "{top or name}" {more} }}'


INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 4 dim: 9 dim: 8 } } }'
FILLED = 'scale_param { bias_term: true filler { type: "gaussian" } bias_filler { type: "gaussian" } }'
MODEL = "\n".join([
    INPUT, conv("c1", "x"), layer("BatchNorm", "b1", "c1"), layer("Scale", "s1", "b1", more=FILLED),
    layer("ReLU", "r1", "s1", top="s1"),
    conv("dw", "s1", "num_output: 6 group: 6 kernel_size: 3 pad: 1"), layer("ReLU", "leaky", "dw", top="dw", more="relu_param { negative_slope: 0.1 }"),
    conv("c2", "dw", "num_output: 6 kernel_size: 1"), layer("Eltwise", "sum", "c2", "s1"), layer("ReLU", "r2", "sum", top="sum"),
    layer("Dropout", "drop", "sum"), layer("Pooling", "pool", "drop", more="pooling_param { pool: MAX kernel_size: 2 stride: 2 }"),
    layer("PReLU", "p", "pool"), conv("c3", "p"), layer("PReLU", "p3", "c3"),
    layer("Permute", "turned", "p3", more="permute_param { order: 0 order: 2 order: 3 order: 1 }"),
    layer("InnerProduct", "fc", "turned", more='inner_product_param { num_output: 5 weight_filler { type: "xavier" } bias_filler { type: "gaussian" } }'),
    layer("Scale", "s2", "fc", more=FILLED), layer("ReLU", "r3", "s2", top="s2"), layer("Softmax", "prob", "s2"),
])  # fmt: skip


def nets(model: str, **options):
    """The net by its plan and layer by layer, with the same parameters, those of a trained BatchNorm among them."""
    made = [Net(parse_net(model), seed=4, device="cuda", optimize=on, **options) for on in (True, False)]
    rng = np.random.default_rng(6)
    for name, blobs in made[0].params.items():
        for i, blob in enumerate(blobs):
            if made[0].layer_dict[name].type == "BatchNorm":
                values = [rng.standard_normal(blob.shape), rng.uniform(0.5, 2, blob.shape), np.full(blob.shape, 2.0)][i]
                for net in made:
                    net.params[name][i].data[...] = values
            else:
                made[1].params[name][i].data[...] = np.array(blob.data)
    return made


def images(batch: int = 2, size: int = 9):
    return RNG.standard_normal((batch, 4, size, 8)).astype(np.float32)


def same(actual, wanted, tolerance=1e-5):
    assert actual.keys() == wanted.keys()
    for name, value in wanted.items():
        assert np.abs(actual[name] - value).max() <= tolerance * np.abs(value).max(), name


@pytest.fixture(params=["ours", "libraries"])
def by(request):
    """With our own kernels, and with cuBLAS and cuDNN."""
    if request.param == "libraries":
        request.getfixturevalue("libraries")
    return request.param


def test_a_plan_gives_what_the_layers_give(by):
    planned, layers = nets(MODEL)
    for turn in range(6):
        x = images()
        before = stand_in.counts()
        output = planned.forward(x=x)
        grown = stand_in.since(before)
        same(output, layers.forward(x=x))
        assert (grown["to_device"], grown["to_host"]) == (1, 1) or turn < 2, "the second forward measures layouts"
        if turn > 2:
            assert (grown["replays"], grown["launches"], grown["library_calls"], grown["allocated"]) == (1, 0, 0, 0)
    rows = summarise_plan(planned).steps
    assert [row.layers for row in rows if row.what != "layer"] == [
        ["c1", "b1", "s1", "r1"], ["dw", "leaky"], ["c2", "sum", "r2"], ["c3", "p3"], ["fc", "s2", "r3"],
    ]  # fmt: skip
    assert {row.at for row in rows} == {"graph 0"}


def test_every_blob_can_be_asked_for():
    planned, layers = nets(MODEL)
    for _ in range(4):
        x = images()
        planned.forward(x=x)
    layers.forward(x=x)
    for name in ("c1", "b1", "c2", "sum", "pool", "c3", "fc", "x"):
        same({name: np.array(planned.blobs[name].data)}, {name: np.array(layers.blobs[name].data)})
    for _ in range(4):
        x = images()
        same(planned.forward(x=x, blobs=["c1", "pool"]), layers.forward(x=x, blobs=["c1", "pool"]))


def test_shapes_have_programs_of_their_own(by):
    planned, layers = nets(MODEL.replace("InnerProduct", "Softmax").split('layer { name: "turned"')[0])
    for _ in range(5):
        for batch, size in ((2, 9), (1, 9), (3, 12)):
            x = images(batch, size)
            same(planned.forward(x=x), layers.forward(x=x))
    before = stand_in.counts()
    for batch, size in ((2, 9), (1, 9), (3, 12)):
        planned.forward(x=images(batch, size))
    grown = stand_in.since(before)
    assert (grown["replays"], grown["captures"], grown["launches"]) == (3, 0, 0)


def test_changed_parameters_are_seen():
    planned, layers = nets(MODEL)
    x = images()
    for name in ("c1", "s1", "c2", "fc", "p3", "b1"):
        for _ in range(4):
            planned.forward(x=x)
        for net in (planned, layers):
            net.params[name][0].data[...] *= 1.5
        same(planned.forward(x=x), layers.forward(x=x))


def test_parameters_that_another_net_changes_on_the_gpu_are_seen():
    planned, layers = nets(MODEL)
    other = Net(parse_net(MODEL), seed=9, device="cuda", optimize=False)
    planned.share_with(other)
    x = images()
    for turn in range(6):
        for name in ("c1", "s1", "dw", "fc"):
            other.params[name][0].data.fill(0.01 * (turn + 1))
        for name, blobs in other.params.items():
            for mine, blob in zip(layers.params[name], blobs):
                mine.data[...] = np.array(blob.data)
        same(planned.forward(x=x), layers.forward(x=x))


class Doubled(Layer, type="PlanDoubled", bottoms=1, tops=1):
    """A user's layer, which works on the host."""

    factor = 2

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        top[0].data[...] = self.factor * np.asarray(bottom[0].data)


def test_layers_that_need_the_host_run_between_graphs():
    model = "\n".join(
        [
            INPUT,
            conv("a", "x"),
            layer("ReLU", "ra", "a", top="a"),
            layer("PlanDoubled", "twice", "a"),
            conv("b", "twice"),
            layer("ReLU", "rb", "b", top="b"),
        ]
    )
    planned, layers = nets(model)
    for turn in range(6):
        x = images()
        Doubled.factor = turn + 1  # what a graph would not see
        same(planned.forward(x=x), layers.forward(x=x))
    (program,) = planned._runner.describe()
    assert program.describe() == {
        "graphs": 2,
        "nodes": program.describe()["nodes"],
        "by themselves": {"twice": "runs a user's code"},
    }
    del REGISTRY["plandoubled"]


class Trimmed(Layer, type="PlanTrimmed", bottoms=1, tops=1):
    """A user's layer whose top has a shape of its own in each forward."""

    def reshape(self, bottom, top):
        top[0].reshape(1, *bottom[0].shape[1:])

    def forward(self, bottom, top):
        values = np.asarray(bottom[0].data)
        count = 1 + int(values.sum() > 0)
        top[0].reshape(count, *values.shape[1:])
        top[0].data[...] = values[:count]


def test_a_net_whose_shapes_a_layer_decides_runs_in_parts():
    model = "\n".join(
        [
            INPUT,
            conv("a", "x"),
            layer("ReLU", "ra", "a", top="a"),
            layer("PlanTrimmed", "t", "a"),
            conv("b", "t"),
            layer("ReLU", "rb", "b", top="b"),
        ]
    )
    planned, layers = nets(model.replace('layer("ReLU", "ra", "a", top="a")', ""))
    one = images()
    for turn in range(8):
        x = one * (1 if turn % 2 else -1)
        same(planned.forward(x=x), layers.forward(x=x))
    before = stand_in.counts()
    same(planned.forward(x=one), layers.forward(x=one))
    planned.forward(x=one)
    grown = stand_in.since(before)
    assert (grown["replays"], grown["captures"]) == (4, 0)
    before = stand_in.counts()
    planned.forward(x=one)
    assert stand_in.since(before)["to_device"] == 2, "the input, and what the user's layer gives"
    del REGISTRY["plantrimmed"]


def test_values_share_memory_by_when_they_are_needed():
    """A chain of twelve equal values needs two places; the layers one by one, and a script that asks for all, need them all."""
    chain = [
        INPUT.replace("dim: 9 dim: 8", "dim: 64 dim: 64"),
        *(conv(f"c{i}", f"c{i - 1}" if i else "x") for i in range(12)),
    ]
    planned, layers = nets("\n".join(chain))
    x = RNG.standard_normal((2, 4, 64, 64)).astype(np.float32)
    value = 2 * 6 * 64 * 64 * 4
    for net, low, high in ((planned, 2, 4), (layers, 12, 14)):
        net.forward(x=x)  # weights, columns
        held = {id(b._data.memory): b._data for b in net.blobs.values()}
        arena = {id(getattr(d.memory, "memory", None)): d for d in held.values() if hasattr(d.memory, "memory")}
        own = sum(d.count * 4 for d in held.values() if not hasattr(d.memory, "memory") and d.memory is not None)
        total = own + (net._runner.arena.size if arena else 0)
        assert low * value <= total <= high * value
    for _ in range(4):
        x = RNG.standard_normal((2, 4, 64, 64)).astype(np.float32)
        same(planned.forward(x=x), layers.forward(x=x))
    for name in ("c0", "c5", "c10"):
        same({name: np.array(planned.blobs[name].data)}, {name: np.array(layers.blobs[name].data)})
    same(planned.forward(x=x, start="c3", end="c7"), layers.forward(x=x, start="c3", end="c7"))
    same(planned.forward(x=x), layers.forward(x=x))


TURN = "permute_param { order: 0 order: 2 order: 3 order: 1 }"
JOINED = "\n".join([
    INPUT, conv("e1", "x", "num_output: 6 kernel_size: 1"), layer("ReLU", "re1", "e1", top="e1"),
    conv("e3", "x", "num_output: 7 kernel_size: 3 pad: 1"), layer("ReLU", "re3", "e3", top="e3"),
    layer("Concat", "fire", "e1", "e3"), layer("Pooling", "half", "fire", more="pooling_param { kernel_size: 2 stride: 2 }"),
    *(line for name in ("fire", "half") for line in (
        conv(f"{name}_loc", name, "num_output: 3 kernel_size: 1"), layer("Permute", f"{name}_perm", f"{name}_loc", more=TURN),
        layer("Flatten", f"{name}_flat", f"{name}_perm"),
    )),
    layer("Concat", "mbox", "fire_flat", "half_flat"), layer("TanH", "out", "mbox"),
])  # fmt: skip


def test_operands_of_a_concatenation_lie_in_its_top(by):
    """With one image nothing is copied: convolutions and Permutes write where the top has them. With two cuDNN alone can."""
    planned, layers = nets(JOINED)
    nodes = {}
    for _ in range(4):
        for batch in (1, 2):
            x = images(batch)
            same(planned.forward(x=x), layers.forward(x=x))
            (program,) = planned._runner.describe()
            nodes[batch] = program.describe()["nodes"]
            assert sorted(planned.layers[i].name for i in program.joined) == (["fire", "mbox"] if batch == 1 else [])
            if batch == 1:
                assert planned.blobs["e3"]._data.start == planned.blobs["fire"]._data.start + 4 * 6 * 9 * 8
                half = planned.blobs["half_perm"]._data.start - planned.blobs["mbox"]._data.start
                assert half == 4 * 3 * 9 * 8
    assert nodes[2] == nodes[1] + (2 if by == "libraries" else 4)  # launches that copy
    x = images(1)
    for name in ("e1", "e3", "fire", "half_flat", "mbox"):  # each may be asked for, and is then kept
        same({name: np.array(planned.blobs[name].data)}, {name: np.array(layers.blobs[name].data)})
    for _ in range(4):
        x = images(1)
        same(planned.forward(x=x), layers.forward(x=x))
        same({"e3": np.array(planned.blobs["e3"].data)}, {"e3": np.array(layers.blobs["e3"].data)})


def test_operands_that_are_needed_elsewhere_are_copied():
    """One that a later layer reads while the top is changed in place, one that is taken twice, and one that is an output."""
    heads = [INPUT, conv("a", "x"), conv("b", "x")]
    later = [
        layer("Concat", "j", "a", "b"),
        layer("ReLU", "r", "j", top="j"),
        layer("Eltwise", "s", "a", "b"),
        layer("Power", "y", "j"),
    ]
    twice = [layer("Concat", "j", "a", "a"), layer("Power", "y", "j"), layer("Power", "z", "b")]
    final = [layer("Concat", "j", "a", "b")]
    nested = [layer("Concat", "j", "a", "b"), conv("c", "x"), layer("Concat", "k", "c", "j"), layer("Power", "y", "k")]
    for rest, joined in ((later, []), (twice, []), (final, []), (nested, ["j", "k"])):
        planned, layers = nets("\n".join([*heads, *rest]).replace("dim: 2", "dim: 1", 1))
        for _ in range(5):
            x = images(1)
            same(planned.forward(x=x), layers.forward(x=x))
        (program,) = planned._runner.describe()
        assert sorted(planned.layers[i].name for i in program.joined) == joined


def test_what_a_layer_reads_on_the_host_is_not_baked_into_a_graph():
    """BatchReindex looks at its numbers on the host, where they are already: nothing is copied, and yet they are not the graph's."""
    fc = 'inner_product_param { num_output: 3 weight_filler { type: "gaussian" } }'
    ids = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 5 } } }'
    rows = 'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 9 dim: 4 } } }'
    planned, layers = nets(
        "\n".join([ids, rows, layer("BatchReindex", "e", "d", "x"), layer("InnerProduct", "f", "e", more=fc)])
    )
    for _ in range(6):
        x, d = RNG.integers(0, 9, 5), RNG.standard_normal((9, 4))
        same(planned.forward(x=x, d=d), layers.forward(x=x, d=d))
    (program,) = planned._runner.describe()
    assert program.describe()["by themselves"] == {"e": "needs the host"}


def test_a_graph_keeps_what_it_uses():
    """Its memory is not taken for others, when arrays of the net are freed, or grow, or other nets come."""
    planned, layers = nets(MODEL)
    for _ in range(4):
        planned.forward(x=images())
    planned.device.memo.pop("convolution float32")
    gc.collect()
    planned.device.free_held()
    others = [Net(parse_net(MODEL), seed=i, device="cuda") for i in range(2)]
    for other in others:
        other.forward(x=images(4))
    x = images()
    same(planned.forward(x=x), layers.forward(x=x))
    graphs = stand_in.counts()["graphs"]
    del planned, other, others
    gc.collect()
    assert stand_in.counts()["graphs"] < graphs


def test_work_that_needs_the_host_is_not_captured():
    device = cuda.Cuda(0)
    x = device.table(np.ones(5), np.float32)
    x.address(True)
    for work in (lambda: np.array(x), device.synchronize, lambda: device.table(np.ones(5)).address(False)):
        with pytest.raises(DeviceError, match="in a part of a net that is captured as a graph"):
            CapturedGraph(device, work)
    graph = CapturedGraph(device, lambda: x.fill(3))
    assert (np.asarray(x) == 1).all()
    graph.launch()
    assert (np.asarray(x) == 3).all()


def test_a_graph_is_replayed_on_what_the_host_has_set():
    device = cuda.Cuda(0)
    x, y = device.table(np.arange(5), np.float32), device.empty((5,), np.float32)
    y.address(True)
    x.address(False)
    graph = CapturedGraph(device, lambda: device.copy(x.address(False), y.address(True), x.nbytes))
    for turn in range(3):
        x[...] = turn
        graph.launch()
        np.testing.assert_array_equal(np.asarray(y), np.full(5, turn))
    x.buffer.grow(1000)
    assert not graph.valid()


def test_the_host_has_little_to_do():
    """On null launches. The bound is loose, for machines that are busy; what is printed is the figure."""
    planned, _ = nets(MODEL)
    x = images()
    for _ in range(4):
        planned.forward(x=x)
    stand_in.null_launches(True)
    try:
        best = min(timeit.repeat(lambda: planned.forward(x=x), number=5, repeat=20)) / 5
    finally:
        stand_in.null_launches(False)
    print(f"a forward of {len(planned.layers)} layers: {best * 1e3:.3f} ms of host time")
    assert best < 5e-3


@pytest.mark.parametrize("kind", ["Accuracy", "SoftmaxWithLoss"])
def test_layers_of_labels_are_captured_and_still_refuse_them(kind):
    """Their kernels look for labels that are none, and who waits for the output is told; two shapes, each with a graph of its own."""
    more = {"Accuracy": "accuracy_param", "SoftmaxWithLoss": "loss_param"}[kind] + " { ignore_label: 9 }"
    text = f"""{layer("Input", "x", more="input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } }")}
        {layer("Input", "label", more="input_param { shape { dim: 2 } }")}
        {conv("c", "x", "num_output: 5 kernel_size: 4")} {layer(kind, "told", "c", "label", more=more)}"""
    net, plain = (Net(parse_net(text), device="cuda", seed=4, optimize=on) for on in (True, False))
    for mine, other in zip(net.params["c"], plain.params["c"]):
        other.data[...] = np.array(mine.data)

    def run(turn: int, labels: list[float]) -> dict:
        count = 2 + turn % 2
        inputs = {"x": RNG.normal(size=(count, 3, 4, 4)), "label": np.resize(labels, count)}
        before = stand_in.counts()
        got = net.forward(**inputs)
        grown = stand_in.since(before)
        np.testing.assert_allclose(got["told"], plain.forward(**inputs)["told"], rtol=1e-5)
        return grown

    for turn in range(9):
        grown = run(turn, [turn % 5, 9, 1])
    # Both inputs; the output alone.
    wanted = {"replays": 1, "captures": 0, "launches": 0, "to_device": 2, "to_host": 1}
    assert {key: grown[key] for key in wanted} == wanted
    for turn in (1, 0, 0, 1):
        run(turn, [9, 0.5, 3])
        for labels, said in (([0, 5], "label 5 at 1"), ([-1, 9], "label -1 at 0")):
            with pytest.raises(LayerError, match=f"{kind} layer 'told': {said} is none of the 5 channels"):
                run(turn, labels)
    assert all(program.describe()["by themselves"] == {} for program in net._runner.describe())
