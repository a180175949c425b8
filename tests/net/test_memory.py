"""What a net says that it needs, told from shapes before anything is made, against the arrays that its passes make."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest
import survey
from places import ROOT

from boxpresso import Net, Solver
from boxpresso.cli.main import main
from boxpresso.device import host
from boxpresso.layers.dense import sizes
from boxpresso.proto import DeviceError, SolverParameter, parse_net, read_net

EXAMPLES = ROOT / "examples"
INPUT = 'layer {{ name: "{0}" type: "Input" top: "{0}" input_param {{ shape {{ {1} }} }} }}\n'


def shaped(**shapes: tuple[int, ...]) -> str:
    return "".join(INPUT.format(name, " ".join(f"dim: {d}" for d in shape)) for name, shape in shapes.items())


def of_regions(text: str, wide: int = 5, more: str = "") -> str:
    bottoms = 'bottom: "x" bottom: "rois"' + more
    return shaped(x=(2, 64, 60, 60), rois=(200, wide), **({"move": (200, 2, 7, 7)} if more else {})) + (
        f'force_backward: true layer {{ name: "r" {bottoms} top: "r" propagate_down: [true, false'
        f"{', true' if more else ''}] {text} }}"
    )


BINS = "pooled_h: 7 pooled_w: 7 spatial_scale: 0.5"
LINES = {
    "LSTM": shaped(x=(60, 8, 64), c=(60, 8)) + """force_backward: true layer { name: "r" type: "LSTM" bottom: "x" bottom: "c"
        top: "r" recurrent_param { num_output: 96 } propagate_down: [true, false] }""",
    "ROIAlign": of_regions(f'type: "ROIAlign" roi_align_param {{ {BINS} sampling_ratio: 2 }}'),
    "ROIAlign, max": of_regions(f'type: "ROIAlign" roi_align_param {{ {BINS} pool_mode: MAX }}'),
    "ROIAlignRotated": of_regions(f'type: "ROIAlignRotated" roi_align_rotated_param {{ {BINS} }}', 6),
    "ROIPooling": of_regions(f'type: "ROIPooling" roi_pooling_param {{ {BINS} }}'),
    "PrROIPooling": of_regions(f'type: "PrROIPooling" prroi_pooling_param {{ {BINS} }}'),
    "ROIWarping": of_regions(f'type: "ROIWarping" roi_warping_param {{ {BINS} }}'),
    "DeformROIPooling": of_regions(
        f'type: "DeformROIPooling" deform_roi_pooling_param {{ {BINS} }}', more=' bottom: "move"'
    ),
    "norms in place": shaped(x=(4, 64, 40, 40)) + """force_backward: true
        layer { name: "b" type: "BatchNorm" bottom: "x" top: "b" batch_norm_param { use_global_stats: false } }
        layer { name: "l" type: "LRN" bottom: "b" top: "l" }
        layer { name: "b2" type: "BatchNorm" bottom: "l" top: "l" batch_norm_param { use_global_stats: false } }
        layer { name: "s2" type: "Scale" bottom: "l" top: "l" scale_param { bias_term: true } }
        layer { name: "r2" type: "ReLU" bottom: "l" top: "l" }
        layer { name: "d" type: "Dropout" bottom: "l" top: "l" }
        layer { name: "p" type: "Pooling" bottom: "l" top: "p" pooling_param { kernel_size: 2 stride: 2 } }
        layer { name: "e" type: "ELU" bottom: "p" top: "p" }""",
    "convolutions": shaped(x=(2, 32, 60, 60)) + """force_backward: true
        layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 64 kernel_size: 3 pad: 1 } }
        layer { name: "o" type: "Convolution" bottom: "c" top: "o"
                convolution_param { num_output: 64 kernel_size: 5 pad: 2 stride: 2 } }
        layer { name: "u" type: "Deconvolution" bottom: "o" top: "u"
                convolution_param { num_output: 32 kernel_size: 2 stride: 2 } }
        layer { name: "v" type: "Convolution" bottom: "u" top: "v" convolution_param { num_output: 16 kernel_size: 1 } }""",
    "Im2col": shaped(x=(2, 3, 30, 30)) + """force_backward: true
        layer { name: "c" type: "Im2col" bottom: "x" top: "c" convolution_param { kernel_size: 3 } }""",
    "volumes": shaped(x=(2, 8, 12, 20, 20)) + """force_backward: true
        layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 8 kernel_size: 3 } }""",
}  # fmt: skip
FILES = {
    "shapes, TEST": ("shapes/deploy.prototxt", {}),
    "shapes, TEST, exact to some 1e-5": ("shapes/deploy.prototxt", {"fast_math": True}),
    "shapes, TEST, layer by layer": ("shapes/deploy.prototxt", {"optimize": False}),
    "shapes, TRAIN": ("shapes/train.prototxt", {"phase": "TRAIN"}),
    "digits, TRAIN": ("digits/train_test.prototxt", {"phase": "TRAIN"}),
    "Faster R-CNN, TEST": ("shapes_faster_rcnn/deploy.prototxt", {}),
    "R-FCN, TRAIN": ("shapes_rfcn/train.prototxt", {"phase": "TRAIN"}),
    "rotated, TEST": ("rotated_shapes/deploy.prototxt", {}),
    "words, TEST": ("words/deploy.prototxt", {}),
}


class Live:
    """The bytes of the CPU's arrays that somebody holds, of those that were made since, and the most that there were."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = self.most = 0
        make = host.zeros

        def zeros(size: int) -> np.ndarray:
            array = make(size)
            self.bytes += size
            self.most = max(self.most, self.bytes)
            weakref.finalize(array if array.base is None else array.base, self.gone, size)
            return array

        sizes.local.__dict__.clear()  # what earlier nets of this thread share
        monkeypatch.setattr(host, "zeros", zeros)

    def gone(self, size: int) -> None:
        self.bytes -= size


def passes(net: Net) -> None:
    """What a user runs: twice forward, and backward where there is a gradient."""
    backward = net.phase == "TRAIN" or net.param.force_backward
    for _ in range(2):
        net.forward()
        if backward:
            net.backward()


@pytest.mark.parametrize("name", LINES)
def test_the_arrays_of_layers_are_told(name, monkeypatch):
    live = Live(monkeypatch)
    net = Net(parse_net(LINES[name]), device="cpu", seed=1, phase="TRAIN")
    total = net.memory.total
    if "rois" in net.blobs:
        corners = np.random.default_rng(0).uniform(5, 50, (200, 4))
        corners[:, 2:] += 50
        wide = net.blobs["rois"].shape[1]
        net.blobs["rois"].data[...] = np.column_stack([np.arange(200) % 2, corners, np.zeros((200, wide - 5))])
    passes(net)
    assert 0.95 * live.most <= total <= 1.3 * live.most, (total, live.most, total / live.most)
    assert net.memory.total <= 1.05 * total  # nothing else was found later


@pytest.mark.later(but=4)
@pytest.mark.parametrize("name", FILES)
def test_the_arrays_of_nets_are_told(name, monkeypatch):
    live = Live(monkeypatch)
    file, options = FILES[name]
    model = read_net(EXAMPLES / file)
    model, data = survey.small(model, options.get("phase", "TEST"))
    net = Net(survey.unfilled(model), device="cpu", seed=1, data=data, **options)
    total = net.memory.total
    survey.randomise(net)
    passes(net)
    assert 0.95 * live.most <= total <= 1.3 * live.most, (total, live.most, total / live.most)
    memory = net.memory
    assert memory.parameters + memory.tops + memory.diffs + memory.packed + memory.scratch == memory.total


def test_a_limit_is_what_is_told():
    """One byte less is refused before a forward, and what is asked for later counts too."""
    file = EXAMPLES / "shapes/deploy.prototxt"
    total = Net(file, device="cpu", seed=1).memory.total
    Net(file, device="cpu", seed=1, memory_limit=total).forward()
    with pytest.raises(DeviceError, match="with what comes before; memory_limit"):
        Net(file, device="cpu", seed=1, memory_limit=total - 1)
    net = Net(file, device="cpu", seed=1, memory_limit=total)
    net.forward()
    with pytest.raises(DeviceError, match=r"its top '.*' of shape .* takes .*memory_limit"):  # which the plan left out
        _ = net.blobs["conv1"].data
    with pytest.raises(DeviceError, match="memory_limit"):
        Net(file, device="cpu", memory_limit=total).forward(data=np.zeros((16, 3, 128, 128)))


def test_a_solvers_history_counts():
    text = (
        shaped(x=(4, 8), t=(4, 1000))
        + """
        layer { name: "f" type: "InnerProduct" bottom: "x" top: "f" inner_product_param { num_output: 1000 } }
        layer { name: "l" type: "EuclideanLoss" bottom: "f" bottom: "t" top: "l" }"""
    )
    solver = SolverParameter(base_lr=0.1, lr_policy="fixed", type="Adam", max_iter=1)
    solver.net_param.CopyFrom(parse_net(text))
    parameters = 4 * 9000
    net = Solver(solver, device="cpu").net
    assert net.memory.history == 2 * parameters
    with pytest.raises(DeviceError, match=r"solver: its history, 2 arrays for each parameter, takes 70\.3 kB"):
        Solver(solver, device="cpu", memory_limit=net.memory.total - 1)


def test_info_prints_the_parts(capsys):
    path = str(EXAMPLES / "shapes/deploy.prototxt")
    assert main(["info", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("needs "))
    assert max(map(len, lines[start:])) <= 80
    memory = Net(path, device="cpu", lazy=True).memory
    assert [line.split()[0] for line in lines[start + 1 : start + 6]] == [
        "parameters", "blobs", "packed", "scratch", "code",
    ]  # fmt: skip
    assert main(["info", path, "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["memory"]
    assert parts["parameters"] == memory.parameters
    assert parts["packed"] == memory.packed > 0
    assert parts["total"] == memory.total


MEASURE = """
    import sys
    import boxpresso
    def taken():
        lines = open("/proc/self/status").read().splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))
    before = taken()
    net = boxpresso.Net(sys.argv[1], device="cpu", seed=1, data="shapes")
    told = net.memory.parts["process"]
    net.forward()
    print(told / (taken() - before))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.skipif("QEMU_LD_PREFIX" in os.environ, reason="/proc counts what the emulator has translated, too")
@pytest.mark.parametrize("file", ["ssd/vgg16_300/deploy.prototxt", "ssd/mobilenet_300/deploy.prototxt"])
def test_a_process_takes_what_is_told(file):
    command = [sys.executable, "-c", textwrap.dedent(MEASURE), str(EXAMPLES / file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert 0.93 <= float(done.stdout) <= 1.3  # pages that an allocator keeps are seen to take up to 6 % more
