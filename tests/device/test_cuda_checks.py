"""What kernels check of their input on a GPU: the host waits for none of it, and is told when it next waits for something else."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import numpy as np
import pytest
import stand_in
from harness import Rig, close

from boxpresso import LayerError, Net, ops
from boxpresso.device import Check, open_device
from boxpresso.device.records import slots_of
from boxpresso.device.totals import KERNELS as TOTALS
from boxpresso.layers.dense.embed import Embed
from boxpresso.layers.loss.accuracy import Accuracy
from boxpresso.layers.loss.normalized_sum import KERNELS
from boxpresso.layers.regions import region_check
from boxpresso.layers.shape.bias_channel import BiasChannel
from boxpresso.proto import parse_net
from boxpresso.proto.limits import LIMITS, Limits

RNG = np.random.default_rng(12)
MAP = RNG.standard_normal((2, 9, 20, 24))
ROWS = np.array([[0, 2, 3, 14, 15], [1, 0, 0, 23, 19], [0, -4, -4, 3, 3], [1, 9, 8, 9, 8], [7, 0, 0, 4, 4.0]])
TURNED = np.array(
    [[0, 9, 9, 12, 12, 0.3], [1, 3, 4, 30, 5, -1], [0, 2, 2, 1, 1, 2], [-2, 2, 2, 9, 9, 0], [1, 5, 5, 0, 0, 0.0]]
)
BINS = "pooled_h: 3 pooled_w: 2 spatial_scale: 1"
LAYERS = {
    "RoIAlign": f'type: "ROIAlign" roi_align_param {{ {BINS} }}',
    "RoIAlign, aligned": f'type: "ROIAlign" roi_align_param {{ {BINS} aligned: true }}',
    "RoIAlign, max": f'type: "ROIAlign" roi_align_param {{ {BINS} pool_mode: MAX }}',
    "RoIAlignRotated": f'type: "ROIAlignRotated" roi_align_rotated_param {{ {BINS} }}',
    "RiRoIAlignRotated": f'type: "RiROIAlignRotated" riroi_align_rotated_param {{ {BINS} num_orientations: 3 }}',
    "PSROIAlign": 'type: "PSROIAlign" psroi_align_param { spatial_scale: 1 output_dim: 1 group_size: 3 sample_num: 0 }',
    "DeformROIPooling": f'type: "DeformROIPooling" deform_roi_pooling_param {{ {BINS} }}',
    "PrROIPooling": f'type: "PrROIPooling" prroi_pooling_param {{ {BINS} }}',
}
ADAPTIVE = [name for name in LAYERS if name != "PrROIPooling"]
HOSTILE = {"1e6 x 1e6": (0, 0, 1e6, 1e6), "1e30": (-1e30, -1e30, 1e30, 1e30), "a line": (3, 3, 4e7, 4)}
HERE = pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py")


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    """The limits, and a GPU without a wait after each launch."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    monkeypatch.setattr(open_device("cuda") if stand_in.active() else SimpleNamespace(), "debug", False, raising=False)
    for name, value in vars(Limits()).items():
        monkeypatch.setattr(LIMITS, name, value)
    monkeypatch.setenv("BOXPRESSO_LIMITS", "")


def regions(name: str, more: tuple[float, ...] = ()) -> np.ndarray:
    """Some that are in order, some that give nothing, and one more, of corners, in their midst."""
    rows, odd = (TURNED, [0, np.inf, 1, 2, 3, 0]) if "otated" in name else (ROWS, [0, 1, np.nan, 2, 3])
    if more and "otated" in name:
        more = (0.0, 0.0, max(more[2] - more[0], 1), max(more[3] - more[1], 1), 0.2)
    return np.array([*rows[:3], odd, *([[1, *more]] if more else []), *rows[3:]])


def said(rig: Rig) -> str:
    """What a forward is refused with."""
    with pytest.raises(LayerError) as caught, np.errstate(all="ignore"):
        rig.forward()
    return str(caught.value)


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("name", ADAPTIVE)
def test_hostile_regions_are_refused_in_the_same_words(name, case, device):
    rows = regions(name, HOSTILE[case])
    rig = Rig(LAYERS[name], [MAP, rows], device=device)
    words = said(rig)
    assert words == said(Rig(LAYERS[name], [MAP, rows], device="cpu"))
    assert "1 regions ask for more than 2^20 samples a bin, such as [[" in words
    assert f"{rig.layer.type} layer 'layer'" in words
    rig.set_bottom(1, regions(name))
    wanted = Rig(LAYERS[name], [MAP, regions(name)], device="cpu").forward()[0]
    close(rig.forward()[0], wanted)  # the next call is not told of the one before


@pytest.mark.parametrize("name", LAYERS)
def test_a_backward_of_them_ends_and_is_refused(name, device):
    """Nobody has read the forward's outputs: no kernel may work on such a region for hours, and no gradient is given out."""
    if device == "cpu":
        pytest.skip("a CPU's forward has refused them")
    rows = regions(name, HOSTILE["1e6 x 1e6"])
    text = LAYERS[name]
    if name == "PrROIPooling":
        LIMITS.set(region_samples=1000)
    rig = Rig(text, [MAP, rows], device=device, phase="TRAIN")
    rig.layer.forward(rig.bottom, rig.top)
    rig.top[0].diff[...] = 1
    rig.layer.backward(rig.top, [True, name in ("RoIAlign", "RoIAlignRotated", "PrROIPooling")], rig.bottom)
    with pytest.raises(LayerError, match=r"2\^20 samples|region_samples"):
        np.array(rig.bottom[0].diff)


def plainly(monkeypatch, rig: Rig, rows: np.ndarray, least: bool) -> tuple[str, np.ndarray]:
    """What the kernel says of regions, run on the CPU, and the regions that it gives."""
    record = np.zeros(16)
    check = SimpleNamespace(record=record, mark=7)
    monkeypatch.setattr(region_check, "checked_by", lambda layer, fail: check)
    rows = rows.astype(rig.dtype)
    checked = np.array(rig.layer.check_there(rows, 0, least, 2**20))
    if record[0] != 7:
        assert not record.any()
        np.testing.assert_array_equal(checked, rows)
        return "", checked
    with pytest.raises(LayerError) as caught:
        rig.layer.raise_found(record[1:])
    return str(caught.value), checked


def cost_of(monkeypatch, rig: Rig, rows: np.ndarray) -> int:
    """What regions cost, as the host counts it; 0 where that is at most 1."""
    totals = [0.0]
    with monkeypatch.context() as patch:
        patch.setattr(type(rig.layer), "refuse_work", lambda layer, count, total, most: totals.append(total))
        LIMITS.set(region_samples=1)
        rig.layer.check_cost(rows.astype(np.float64), 0)
    return int(totals[-1])


@pytest.mark.later(but=2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_kernel_finds_what_the_host_finds(name, dtype, monkeypatch):
    """Of any regions: which ask for too much, and what all of them cost, to a sample."""
    rng, counts = np.random.default_rng(3), set()
    for turn in range(60):
        count = int(rng.integers(1, 700 if turn % 10 == 0 else 40))
        rows = np.zeros((count, 6 if "otated" in name else 5))
        rows[:, 0] = rng.integers(-1, 3, count)
        rows[:, 1:5] = rng.normal(0, 10.0 ** rng.uniform(0, 5 if turn % 3 else 7), (count, 4))
        rows[rng.random(count) < 0.05, 2] = rng.choice([np.nan, np.inf, -np.inf])
        rows = np.round(rows).astype(dtype)
        rig = Rig(LAYERS[name], [MAP, rows], dtype=dtype)
        least = name == "RoIAlign" or "otated" in name
        try:
            rig.layer.check_grids(rows, least)
            wanted = ""
        except LayerError as error:
            wanted = str(error)
        words, checked = plainly(monkeypatch, rig, rows, least)
        assert words == wanted
        counts.add(bool(words))
        bad = checked[:, 0] != rows[:, 0]
        assert bad.any() == bool(words)
        assert ((checked[bad, 0] <= -1) & (checked[bad, 0] == -2 - rows[bad, 0])).all()
        if words:
            continue
        # As little as they cost is allowed, and one less is not.
        cost = cost_of(monkeypatch, rig, rows)
        LIMITS.set(region_samples=max(cost, 1))
        assert plainly(monkeypatch, rig, rows, least)[0] == ""
        if cost > 1:
            LIMITS.set(region_samples=cost - 1)
            words, checked = plainly(monkeypatch, rig, rows, least)
            assert "allowed in a call" in words
            assert words == said(Rig(LAYERS[name], [MAP, rows], dtype=dtype))
            assert (checked[:, 0] != rows[:, 0]).any()
        LIMITS.set(region_samples=Limits.region_samples)
    assert counts == {False, True}


NET = """layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 2 dim: 4 dim: 20 dim: 24 }} }} }}
layer {{ name: "rois" type: "Input" top: "rois" input_param {{ shape {{ dim: 6 dim: {columns} }} }} }}
layer {{ name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param {{ num_output: 9 kernel_size: 3 pad: 1
    weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "pool" {text} bottom: "c" bottom: "rois" top: "pool" }}
layer {{ name: "fc" type: "InnerProduct" bottom: "pool" top: "fc"
    inner_product_param {{ num_output: 4 weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "prob" type: "Softmax" bottom: "fc" top: "prob" }}"""


def net_of(name: str, device: str, text: str = "") -> Net:
    columns = 6 if "otated" in name else 5
    return Net(parse_net(NET.format(text=text or LAYERS[name], columns=columns)), device=device, seed=2)


@HERE
@pytest.mark.cuda
@pytest.mark.parametrize("name", LAYERS)
def test_the_whole_net_is_one_graph(name):
    """It copies its inputs and its output, and waits for the output alone; hostile regions are refused before it is given out."""
    net, host = net_of(name, "cuda"), net_of(name, "cpu")
    feed = {"x": RNG.standard_normal((2, 4, 20, 24)), "rois": regions(name)}
    for _ in range(5):
        before = stand_in.counts()
        close(net.forward(**feed)["prob"], host.forward(**feed)["prob"])
    grown = stand_in.since(before)
    assert {counter: grown[counter] for counter in ("launches", "replays", "to_device", "to_host", "waits")} == {
        "launches": 0, "replays": 1, "to_device": 2, "to_host": 1, "waits": 1,
    }  # fmt: skip
    (program,) = net._runner.describe()
    assert (program.describe()["graphs"], program.describe()["by themselves"]) == (1, {})
    if name == "PrROIPooling":
        return
    bad = {**feed, "rois": np.concatenate([regions(name, HOSTILE["1e30"])[1:5], regions(name)[:2]])}
    words = []
    for each in (net, host):
        with pytest.raises(LayerError) as caught:
            each.forward(**bad)
        words.append(str(caught.value))
    assert words[0] == words[1]
    close(net.forward(**feed)["prob"], host.forward(**feed)["prob"])
    assert stand_in.since(before)["captures"] == 0


@HERE
@pytest.mark.cuda
def test_whoever_waits_next_is_told():
    """A forward whose outputs nobody reads, then a good one: the first error is kept, whatever is read, and raised once."""
    net = net_of("RoIAlign", "cuda")
    good = {"x": RNG.standard_normal((2, 4, 20, 24)), "rois": regions("RoIAlign")}
    for _ in range(4):
        net.forward(**good)
    rows = np.array(net.blobs["rois"].data)
    rows[2] = [1, 0, 0, 1e7, 1e7]
    net.blobs["rois"].data[...] = rows
    net._runner.run([])
    rows[2] = [0, 1, 1, 5, 5]
    net.blobs["rois"].data[...] = rows
    net._runner.run([])
    with pytest.raises(LayerError, match=r"ROIAlign layer 'pool': 1 regions .* such as \[\[1\.e\+00 0\.e\+00"):
        np.array(net.blobs["prob"].data)
    assert np.isfinite(np.array(net.blobs["prob"].data)).all()
    net.blobs["rois"].data[2] = [0, 1, 1, 1e7, 5e6]
    net._runner.run([])
    with pytest.raises(LayerError, match="samples a bin"):
        net.device.synchronize()


@HERE
@pytest.mark.cuda
def test_of_several_layers_the_first_is_told():
    """Two layers have the same hostile regions: one error, of the first, and none of the second in the next forward."""
    second = LAYERS["RoIAlign, max"]
    text = NET.format(text=LAYERS["RoIAlign"], columns=5).replace(
        'bottom: "pool" top: "fc"', 'bottom: "both" top: "fc"'
    )
    both = 'layer { name: "both" type: "Eltwise" bottom: "pool" bottom: "other" top: "both" }'
    parts = text.partition('layer { name: "fc"')
    text = f'{parts[0]} layer {{ name: "other" {second} bottom: "c" bottom: "rois" top: "other" }} {both} {parts[1]}{parts[2]}'
    net = Net(parse_net(text), device="cuda", seed=2)
    feed = {"x": RNG.standard_normal((2, 4, 20, 24)), "rois": regions("RoIAlign")}
    bad = {**feed, "rois": np.concatenate([ROWS, [[1, 0, 0, 1e7, 1e7]]])}
    wanted = net.forward(**feed)["prob"]
    for _ in range(4):
        with pytest.raises(LayerError, match="layer 'pool': 1 regions"):
            net.forward(**bad)
        np.testing.assert_array_equal(net.forward(**feed)["prob"], wanted)


@HERE
@pytest.mark.cuda
def test_the_limit_may_change_between_replays():
    net = net_of("RoIAlignRotated", "cuda")
    feed = {"x": RNG.standard_normal((2, 4, 20, 24)), "rois": regions("RoIAlignRotated")}
    for _ in range(4):
        wanted = net.forward(**feed)["prob"]
    LIMITS.set(region_samples=50)
    for _ in range(3):
        with pytest.raises(LayerError, match=r"4 regions of 3 x 2 bins read .* pixels .*'region_samples'"):
            net.forward(**feed)
    LIMITS.set(region_samples=10**9)
    np.testing.assert_array_equal(net.forward(**feed)["prob"], wanted)


@HERE
@pytest.mark.cuda
def test_an_operator_is_refused_at_once():
    """Its result is another library's, whose reading nobody could stop."""
    gpu = open_device("cuda")
    x, rows = gpu.table(MAP, np.float32), gpu.table(regions("RoIAlign", HOSTILE["1e6 x 1e6"]), np.float32)
    with pytest.raises(LayerError, match="samples a bin"):
        ops.roi_align(x, rows, (3, 2), sampling_ratio=0)
    good = regions("RoIAlign")
    result = ops.roi_align(x, gpu.table(good, np.float32), (3, 2), sampling_ratio=0)
    close(np.array(result), ops.roi_align(MAP.astype(np.float32), good.astype(np.float32), (3, 2), sampling_ratio=0))


# Labels, and other whole numbers

SCORES, LABELS = RNG.standard_normal((6, 5)), np.array([0, 4, 2, 1, 3, 2])
TABLE = 'weight_filler { type: "gaussian" }'
WHOLE = {
    "SoftmaxWithLoss": ('type: "SoftmaxWithLoss"', [SCORES, LABELS]),
    "SoftmaxWithLoss, ignored": ('type: "SoftmaxWithLoss" loss_param { ignore_label: 255 }', [SCORES, LABELS]),
    "SoftmaxWithLossOHEM": ('type: "SoftmaxWithLossOHEM"', [SCORES, LABELS]),
    "SoftmaxWithLossOHEM, 3 tops": ('type: "SoftmaxWithLossOHEM"', [SCORES, LABELS]),
    "HingeLoss": ('type: "HingeLoss"', [SCORES, LABELS]),
    "MultinomialLogisticLoss": ('type: "MultinomialLogisticLoss"', [abs(SCORES), LABELS]),
    "InfogainLoss": ('type: "InfogainLoss"', [abs(SCORES), LABELS, np.eye(5).reshape(1, 1, 5, 5)]),
    "Accuracy": ('type: "Accuracy" accuracy_param { ignore_label: 255 }', [SCORES, LABELS]),
    "Embed": (f'type: "Embed" embed_param {{ num_output: 3 input_dim: 5 {TABLE} }}', [LABELS]),
}


@pytest.mark.parametrize("wrong", [(5, -1), (np.nan, 5), (1e10, -np.inf)])
@pytest.mark.parametrize("name", WHOLE)
def test_wrong_numbers_are_refused_in_the_same_words(name, wrong, device):
    """The first is named, and the memory behind the channels is not read; the host waits only where a result is read."""
    text, bottoms = WHOLE[name]
    phase = "TEST" if name in ("Accuracy", "Embed") else "TRAIN"
    tops = 3 if "tops" in name else 1
    rig = Rig(text, bottoms, device=device, phase=phase, tops=tops)
    good = rig.forward()[0]
    at = len(bottoms) > 1
    labels = np.array(LABELS, float)
    labels[2], labels[4] = wrong
    rig.set_bottom(int(at), labels)
    words = said(rig)
    other = Rig(text, [*bottoms[:at], labels, *bottoms[at + 1 :]], phase=phase, tops=tops)
    assert words == said(other)
    assert f"{wrong[0]:g} at 2" in words
    if device != "cpu":
        for blob in (*rig.bottom, *rig.layer.blobs):
            blob._data.on_device(False)
        work = rig.layer.device.host_work
        rig.layer.forward(rig.bottom, rig.top)
        if phase == "TRAIN" or name == "Embed":
            rig.top[0].diff.fill(1)
            rig.layer.backward(rig.top, [bool(at), *[False] * (len(bottoms) - 1)], rig.bottom)
        assert rig.layer.device.host_work == work
        with pytest.raises(LayerError, match="at 2"):
            np.array(rig.top[0].data)
    rig.set_bottom(int(at), LABELS)
    np.testing.assert_array_equal(rig.forward()[0], good)


@HERE
@pytest.mark.cuda
def test_numbers_are_looked_up_in_a_graph():
    text = f"""layer {{ name: "x" type: "Input" top: "x" input_param {{ shape {{ dim: 5 }} }} }}
        layer {{ name: "e" type: "Embed" bottom: "x" top: "e" embed_param {{ input_dim: 9 num_output: 4 {TABLE} }} }}
        layer {{ name: "f" type: "Power" bottom: "e" top: "f" power_param {{ scale: 2 }} }}"""
    net, host = (Net(parse_net(text), device=where, seed=1) for where in ("cuda", "cpu"))
    for _ in range(5):
        x = RNG.integers(0, 9, 5)
        np.testing.assert_array_equal(net.forward(x=x)["f"], host.forward(x=x)["f"])
    (program,) = net._runner.describe()
    assert (program.describe()["graphs"], program.describe()["by themselves"]) == (1, {})
    with pytest.raises(LayerError, match="Embed layer 'e': the bottom holds 9 at 3; input_dim 9 has 0 to 8"):
        net.forward(x=[0, 1, 2, 9, -1])


def launch() -> None:
    """For tests/device/test_threaded.py: the kernels that look for what is wrong, in blocks of many threads."""
    cpu, record = open_device("cpu"), np.zeros(16)
    labels, wrong = np.float32([0, 4, 9, -1, 3, 2] * 60), np.float32([2])
    KERNELS.on(cpu).tell_label(1, wrong, labels, record, 360, 5, 1, 9, 7)
    assert record[:4].tolist() == [7, 3, -1, 5]
    right = np.full(360, Accuracy.kernels.constants["NO_CHANNEL"], np.int32)
    right[:299] = 1
    Accuracy.kernels.on(cpu).tell_label_of_rank(1, wrong, right, labels, record, 360, 5, 8)
    assert record[:4].tolist() == [8, 299, 2, 5]
    Embed.kernels.on(cpu).tell_number(1, labels, record, 360, 4, 9)
    assert record[:4].tolist() == [9, 1, 4, 4]
    rule = dict(channels=5, size=1, labels=1, ignored=2, of_pixels=0, has_background=0, background=0)
    left_out, kernels = cpu.table([-1, 9]), BiasChannel.kernels.on(cpu)
    kernels.tell_label(1, labels, left_out, record, 360, kernels.struct("Raised", **rule), 10)
    assert record[0] == 9  # all are channels, or left out
    kernels.tell_label(1, labels, left_out, record, 360, kernels.struct("Raised", **{**rule, "channels": 4}), 10)
    assert record[:4].tolist() == [10, 1, 4, 4]
    sums, values = np.zeros(3), RNG.standard_normal(2000).astype(np.float32)
    TOTALS.on(cpu).add_up(1, values, sums, 2000, 1)
    assert sums.tolist() == pytest.approx([0, values.sum(dtype=np.float64), 0])
    rig = Rig(LAYERS["RoIAlign"], [MAP, np.tile(regions("RoIAlign", HOSTILE["a line"]), (60, 1))])
    with pytest.MonkeyPatch.context() as patch:
        for most in (2**45, 1000):
            LIMITS.set(region_samples=most)
            words, checked = plainly(patch, rig, np.array(rig.bottom[1].data), True)
            assert "60 regions ask for more than 2^20 samples" in words
            assert (checked[:, 0] < -1).sum() == (
                60 if most > 1000 else 5 * 60
            )  # of 7 * 60, of which 2 * 60 give nothing
    LIMITS.set(region_samples=Limits.region_samples)


def test_they_find_it():
    launch()


# The records


@HERE
@pytest.mark.cuda
def test_records_are_given_back_and_marked_anew():
    """Who gets a record after another is not told of what that one's kernels write late."""

    class Owner:
        """Who is told."""

    def fail(owner: Owner, record: np.ndarray) -> None:
        raise LayerError(f"found {record[0]:g}")

    gpu, slots, one = open_device("cuda"), slots_of(0), Owner()
    gc.collect()
    check = Check(gpu, one, fail)
    numbers, mark, free = check.slot.numbers, check.mark, len(slots.free)
    numbers[:2] = mark, 5
    with pytest.raises(LayerError, match="found 5"):
        gpu.synchronize()
    gpu.synchronize()
    numbers[:2] = mark, 6
    del one
    gpu.synchronize()  # nobody is there to be told
    del check
    assert len(slots.free) == free + 1
    two = Owner()
    again = Check(gpu, two, fail)
    assert again.slot.numbers is numbers
    assert again.mark != mark
    numbers[:2] = mark, 7
    gpu.synchronize()
    many = [Check(gpu, two, fail) for _ in range(600)]  # more than a page holds
    assert len({int(each.slot) for each in many}) == 600
    many[-1].slot.numbers[:2] = many[-1].mark, 8
    with pytest.raises(LayerError, match="found 8"):
        np.array(gpu.table([1, 2]))[0], gpu.synchronize()
