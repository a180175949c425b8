"""Arrays of layers in numpy, tops that grow in a forward, and memory of workers: all within the limit, or refused by name before."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from harness import Rig
from layer_sizes import CASES, Case

from boxpresso import BoxpressoError, Layer, LayerError, Net
from boxpresso.data.detectnet import group_rectangles, judged
from boxpresso.device import host
from boxpresso.graph.connect import AtWork
from boxpresso.layers.core import REGISTRY, layer_class
from boxpresso.proto import DeviceError, parse_net
from boxpresso.proto.limits import LIMITS
from boxpresso.run.training import find_chains

MEGABYTE = 2**20
INPUT = 'layer {{ name: "{0}" type: "Input" top: "{0}" input_param {{ shape {{ {1} }} }} }}\n'


def shaped(shapes: list[tuple[int, ...]]) -> str:
    return "".join(INPUT.format(f"b{i}", " ".join(f"dim: {d}" for d in shape)) for i, shape in enumerate(shapes))


def one_layer(text: str, shapes: list[tuple[int, ...]], tops: int) -> str:
    names = [f'bottom: "b{i}"' for i in range(len(shapes))] + [f'top: "t{i}"' for i in range(tops)]
    return f'{shaped(shapes)}layer {{ name: "it" {" ".join(names)} {text} }}'


# Targets of regions: wide rows of zeros, which lie in the tops alone


def targets(type: str, settings: str) -> tuple[str, list[tuple[int, ...]], int]:
    truth = (300, 6) if type.startswith("Viewpoint") else (300, 5)
    more = {"Inclined": [(300, 8)], "Mask": [(1, 1, 20, 20)]}.get(type.removesuffix("ProposalTarget"), [])
    tops = {"ProposalTarget": 5, "InclinedProposalTarget": 8}.get(type, 7)
    return f'type: "{type}" python_param {{ param_str: "{{{settings}}}" }}', [(300, 5), truth, *more], tops


def boxes(net: Net) -> None:
    draw = np.random.default_rng(0)
    for name in ("b0", "b1"):
        first = name == "b0"
        corners = draw.uniform(0, 50, (300, 4))
        net.blobs[name].data[:, first : 4 + first] = np.sort(corners.reshape(300, 2, 2), 1).reshape(300, 4)
        net.blobs[name].data[:, 0 if first else 4] = 0 if first else 1


WIDE = {
    "ProposalTarget": "num_classes: 3000", "InclinedProposalTarget": "num_classes: 3000",
    "ViewpointProposalTarget": "num_classes: 1000, viewp_bins: 30",
    "MaskProposalTarget": "num_classes: 1000, out_size: 300, batch_size: 40",
}  # fmt: skip


@pytest.fixture
def traced(monkeypatch):
    """Arrays of the device are numpy's own, so that tracemalloc sees them."""

    def zeros(size: int) -> np.ndarray:
        raw = np.zeros(size + 64, np.uint8)
        start = -raw.__array_interface__["data"][0] % 64
        return raw[start : start + size]

    monkeypatch.setattr(host, "zeros", zeros)
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("type", WIDE)
def test_targets_of_regions_lie_in_the_tops_alone(type, traced):
    net = Net(parse_net(one_layer(*targets(type, WIDE[type]))), device="cpu", seed=1)
    boxes(net)
    net.forward_layer(len(net.layers) - 1)  # builds its kernels
    tops = sum(blob.count * 4 for blob in net.tops[-1])
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    net.forward_layer(len(net.layers) - 1)
    assert tops > 4 * MEGABYTE
    assert tracemalloc.get_traced_memory()[1] - before < 0.3 * tops + 2 * MEGABYTE


@pytest.mark.parametrize("type", WIDE)
def test_they_are_refused_before_they_are_made(type, traced):
    text = one_layer(*targets(type, WIDE[type]))
    layer_class(type, "it")  # imports its module
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    with pytest.raises(DeviceError, match=rf"{type} layer 'it': its top 't\d' of .* takes .*memory_limit"):
        Net(parse_net(text), device="cpu", seed=1, memory_limit=2 * MEGABYTE).forward()
    assert tracemalloc.get_traced_memory()[1] - before < 6 * MEGABYTE


@pytest.fixture
def growing():
    """A user's layer that gives its top a million rows in its forward, and does not say so."""

    class Growing(Layer, type="GrowingInForward", bottoms=1, tops=1):
        def reshape(self, bottom, top):
            top[0].reshape(1, 4)

        def forward(self, bottom, top):
            top[0].reshape(1_000_000, 4)
            top[0].data[...] = 1

    yield Growing
    del REGISTRY["growinginforward"]


@pytest.mark.parametrize("optimize", [True, False])
def test_a_top_that_grows_in_a_forward_counts(growing, optimize, traced):
    net = Net(
        parse_net(one_layer('type: "GrowingInForward"', [(2, 3)], 1)), device="cpu", memory_limit=10 * MEGABYTE,
        optimize=optimize,
    )  # fmt: skip
    with pytest.raises(
        DeviceError, match=r"GrowingInForward layer 'it': its top 't0' of 4000000 elements takes 15\.3 MB"
    ):
        net.forward()
    assert net.blobs["t0"].shape == (1, 4)
    assert tracemalloc.get_traced_memory()[1] < 10 * MEGABYTE


# Memory of workers


def test_the_memory_of_a_plans_workers_counts():
    """Winograd's points of a block of tiles: with many channels more than all blobs and weights."""
    text = one_layer(
        'type: "Convolution" convolution_param { num_output: 16 kernel_size: 3 pad: 1 }', [(1, 20000, 12, 12)], 1
    )
    net = Net(parse_net(text), device="cpu", seed=1)
    workers, channels, tiles = net.device.workers, 20000, 36
    least = 4 * 16 * channels * -(-tiles // workers) * workers
    parts = net.memory.parts
    assert least <= parts["scratch"] <= 1.5 * least
    with pytest.raises(DeviceError, match=r"Convolution layer 'it': its scratch memory, which layers share, takes"):
        Net(parse_net(text), device="cpu", seed=1, memory_limit=parts["total"] - 1)
    Net(parse_net(text), device="cpu", seed=1, memory_limit=parts["total"]).forward()


# All layers


def larger(case: Case, letters: str, size: int) -> list[np.ndarray] | None:
    """Its bottoms with these letters as large as `size` bytes in all allow."""
    from layer_sizes import SIZES

    factor = 1.0
    while factor < 1e6:
        arrays = case.arrays(**{letter: max(1, int(SIZES[letter] * factor)) for letter in letters})
        if 4 * sum(array.size for array in arrays) > size:
            return arrays
        factor *= 1.5
    return None


def peak_of(case: Case, letters: str, back: bool, size: int) -> tuple[int, int] | None:
    """The most bytes that passes of a layer take, of those of Python, and what the net says with the copies that it returns."""
    arrays = larger(case, letters, size)
    if arrays is None:
        return None
    text = one_layer(f'type: "{case.type}" {case.text}', [array.shape for array in arrays], case.tops)
    try:
        net = Net(
            parse_net(f"force_backward: true {text}" if back else text), device="cpu", seed=1, phase=case.phase,
            memory_limit=2**32,
        )  # fmt: skip
    except BoxpressoError:
        return None
    for i in range(len(arrays)):
        net.blobs[f"b{i}"].data[...] = arrays[i]
    arrays.clear()
    asked, check = [0], net.memory.check
    net.memory.check = lambda who, part, more, known=None: (
        asked.append(more) or check(who, part, more, known)
    )  # by need_pairs
    tracemalloc.reset_peak()
    try:
        net.forward()
        if back:
            net.backward()
    except BoxpressoError:  # they are refused, before their arrays are made
        return tracemalloc.get_traced_memory()[1], net.memory.total
    copies = [sum(net.blobs[name].count for name in names) * 4 for names in (net.outputs, net.inputs)]
    return tracemalloc.get_traced_memory()[1], net.memory.total + max(copies) + max(asked)


KINDS = [
    pytest.param(
        case,
        letters,
        back,
        id=f"{case.type}-{i}-{letters}-{'back' if back else 'forward'}",
        marks=[pytest.mark.sweep] * (letters != case.letters),  # one size alone at its largest
    )
    for i, case in enumerate(CASES)
    for letters in dict.fromkeys([*case.letters, case.letters])
    for back in ((False, True) if case.down is not None else (False,))
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "letters", "back"), KINDS)
def test_what_layers_make_beside_their_blobs(case, letters, back, traced, tmp_path, monkeypatch):
    """No layer takes a multiple of its blobs that it has not counted."""
    monkeypatch.chdir(tmp_path)
    if (seen := peak_of(case, letters, back, 2 * MEGABYTE)) is None:
        pytest.skip("it does not take such bottoms")
    peak, counted = seen
    assert peak < 2 * counted + MEGABYTE, f"{peak / counted:.1f} times what is counted"


# Time of bands


def test_the_gradient_of_bins_of_many_samples_over_bands_of_rows():
    """What touches no row of a band is left out of it: the gradient is the same as that of few samples of as many pixels."""
    maps = np.random.default_rng(1).normal(size=(1, 3, 40, 5))
    rows = np.array([[0, 0, 1.3, 3.2, 36.6], [0, 1, -30, 4, 90]])
    text = 'type: "DeformROIPooling" deform_roi_pooling_param { pooled_h: 1 pooled_w: 1 spatial_scale: 1 sampling_ratio: %d }'
    rig = Rig(text % 33, [maps, rows], dtype=np.float64)
    assert 33**2 > 1024  # from which on samples are left out
    output = rig.forward()[0]
    rig.top[0].diff[...] = 1
    rig.layer.backward(rig.top, [True, False], rig.bottom)
    gradient = np.array(rig.bottom[0].diff)
    np.testing.assert_allclose((gradient * maps).sum((0, 2, 3)), output.sum((0, 2, 3)), rtol=1e-9)


def test_time_steps_are_bounded(monkeypatch):
    """Each is some launches: a short text asked for minutes."""
    text = one_layer('type: "LSTM" recurrent_param { num_output: 2 }', [(101, 1, 3), (101, 1)], 1)
    monkeypatch.setattr(LIMITS, "time_steps", 100)
    with pytest.raises(
        LayerError, match=r"LSTM layer 'it': bottom 0 has 101 time steps, 100 are allowed: .*'time_steps'"
    ):
        Net(parse_net(text), device="cpu")
    monkeypatch.setattr(LIMITS, "time_steps", 101)
    Net(parse_net(text), device="cpu")


def test_chains_are_looked_for_in_linear_time():
    """Each of ten thousand layers looked at all that follow it."""
    seen = []

    class Counting(list):
        def __getitem__(self, at):
            seen.append(at)
            return super().__getitem__(at)

    text = "".join(f'layer {{ name: "l{i}" type: "ReLU" bottom: "a{i}" top: "a{i + 1}" }}' for i in range(500))
    net = Net(parse_net(INPUT.format("a0", "dim: 1") + text), device="cpu", optimize=False)
    find_chains(Counting(net.layers), net.names, net.bottoms, net.tops, net.outputs, net.loss_weights, AtWork())
    assert 0 < len(seen) < 5 * len(net.layers)


def test_grouping_and_judging_of_many_boxes_take_time_in_proportion(monkeypatch):
    """Each box was compared with each other one in Python."""
    seen = []
    minimum = np.minimum
    monkeypatch.setattr(np, "minimum", lambda a, b: seen.append(max(np.size(a), np.size(b))) or minimum(a, b))
    apart = [[30 * i, 7, 20, 20] for i in range(1000)]
    assert len(group_rectangles(apart, 1, 0.2)) == 0
    alike = group_rectangles([[5, 7, 20, 20]] * 1000 + apart, 1, 0.2)
    assert alike == [([5, 7, 20, 20], 1000)]
    assert sum(seen) < 20 * 3000
    seen.clear()
    boxes = np.array([[30 * i, 0, 30 * i + 20, 20] for i in range(300)], float)
    assert judged(boxes, boxes[::-1])[:, 4].tolist() == [1] * 300
    assert len(seen) < 3 * 300


def judged_one_by_one(truth: np.ndarray, detections: np.ndarray) -> list[int]:
    """By the definition."""
    taken = set()
    for box in truth:
        for j, other in enumerate(detections):
            sides = [max(0.0, min(box[k + 2], other[k + 2]) - max(box[k], other[k])) for k in (0, 1)]
            both = sides[0] * sides[1]
            area = sum((each[2] - each[0]) * (each[3] - each[1]) for each in (box, other))
            if j not in taken and both and both / (area - both) >= 0.7:
                taken.add(j)
                break
    return sorted(taken)


def test_they_are_as_by_the_definition():
    draw = np.random.default_rng(2)
    for _ in range(20):
        truth, detections = (np.sort(draw.integers(0, 9, (12, 2, 2)), 1).reshape(12, 4).astype(float) for _ in "ab")
        right = judged(truth, detections)
        wanted = detections[judged_one_by_one(truth, detections)]
        np.testing.assert_array_equal(right[right[:, 4] == 1, :4], wanted)


def test_pairs_of_boxes_are_bounded(monkeypatch):
    monkeypatch.setattr(LIMITS, "box_pairs", 300 * 300)
    net = Net(parse_net(one_layer(*targets("ProposalTarget", "num_classes: 2"))), device="cpu", seed=1)
    boxes(net)
    with pytest.raises(
        LayerError, match=r"'it': its overlaps of regions and true boxes are of 180000 pairs, 90000 are allowed"
    ):
        net.forward()
    monkeypatch.setattr(LIMITS, "box_pairs", 600 * 300)
    net.forward()


@pytest.mark.parametrize(
    "filler", ['"uniform" min: 0 max: -0', '"uniform" min: -0 max: -0', '"gaussian" std: -0 mean: 0']
)
def test_a_negative_zero_is_a_zero(filler):
    net = Net(parse_net(f"""layer {{ name: "it" type: "DummyData" top: "y"
        dummy_data_param {{ shape {{ dim: 3 }} data_filler {{ type: {filler} }} }} }}"""), device="cpu")  # fmt: skip
    assert net.forward()["y"].tolist() == [0, 0, 0]
