"""The example nets on a GPU beside the CPU, forward after forward with other inputs and weights, as a script would run them.

Nothing here counts what only the stand-in for the driver counts: a real GPU runs the same, with graphs, chains in either layout,
and NVIDIA's libraries or our kernels.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
import stand_in
from places import ROOT

from boxpresso import Net
from boxpresso.device import cublas, cudnn
from boxpresso.run.gpu import choice as gpu_choice

sys.path.insert(0, str(ROOT))
from benchmarks.nets import fill

pytestmark = pytest.mark.cuda
EXAMPLES = ROOT / "examples"
NETS = ("shapes", "shapes_faster_rcnn", "shapes_rfcn", "shapes_fpn", "rotated_shapes", "words", "sheared/plain", "sheared/deformable")  # fmt: skip
FORWARDS = 6
LAYOUTS = ("NCHW", "NHWC", "auto")
FINDS = {module: module.library for module in (cublas, cudnn)}


@pytest.fixture
def as_on_the_day(monkeypatch):
    """No BOXPRESSO_DEBUG, with which nothing is captured, and no layout that another test has measured."""
    monkeypatch.delenv("BOXPRESSO_DEBUG", raising=False)
    gpu_choice.forget()
    yield monkeypatch
    gpu_choice.forget()


def inputs_of(net: Net, turn: int) -> dict[str, np.ndarray]:
    """Other pictures each time."""
    rng, inputs = np.random.default_rng(turn), {}
    picture = next(net.blobs[name].shape for name in net.inputs if len(net.blobs[name].shape) == 4)
    for name in net.inputs:
        shape = net.blobs[name].shape
        inputs[name] = rng.normal(0, 1, shape).astype(np.float32)
        if "info" in name:
            inputs[name] = np.array([[*picture[2:], 1, 1, 1, 1][: shape[-1]]], np.float32)
    return inputs


def change(nets: tuple[Net, Net], turn: int) -> None:
    """Another value in a layer's parameters, alike in both: in turn the first layers' and the last ones'."""
    names = [name for name, blobs in nets[0].params.items() if blobs[0].count > 1]
    name = names[turn % 2 - 1]
    rng = np.random.default_rng(turn)
    for i, blob in enumerate(nets[0].params[name]):
        values = np.array(blob.data) * rng.uniform(0.9, 1.1, blob.shape)
        for net in nets:
            net.params[name][i].data[...] = values


def alike(actual: np.ndarray, wanted: np.ndarray, title: str) -> None:
    """Numbers as those of the CPU. Rows of detections and regions that lie at a threshold may be missing on one side, and those
    after them lie elsewhere: of them nine in ten are to have their like."""
    rows = wanted.reshape(-1, wanted.shape[-1]) if wanted.ndim else wanted
    if wanted.shape == actual.shape and np.allclose(
        actual, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max(initial=1)
    ):
        return
    assert wanted.ndim in (2, 4), title
    assert wanted.shape[-1] in (5, 6, 7, 8), f"{title} differs, and is no list of rows"
    mine = actual.reshape(-1, actual.shape[-1])
    assert abs(len(mine) - len(rows)) <= max(1, len(rows) // 10), f"{title}: {len(mine)} rows, wanted {len(rows)}"
    scale = np.abs(rows).max(0) + 1e-3
    near = [(np.abs(mine - row) <= 1e-3 * scale).all(1).any() for row in rows]
    assert np.mean(near) >= 0.9, f"{title}: {np.mean(near):.0%} of the rows have their like"


CASES = [*((name, "NCHW", False) for name in NETS), *((name, layout, True) for name in NETS for layout in LAYOUTS)]


@pytest.mark.later(but=1)
@pytest.mark.parametrize(("name", "layout", "vendor"), CASES)
def test_an_example_as_on_the_cpu(name, layout, vendor, as_on_the_day):
    if vendor and stand_in.active() and name != NETS[0]:
        pytest.skip("what stands in for cuDNN computes by plain loops, for minutes")
    for module, find in FINDS.items():
        as_on_the_day.setattr(module, "library", find if vendor else lambda: None)
    if vendor and cudnn.library() is None:
        pytest.skip("no cuDNN is found here")
    as_on_the_day.setenv(gpu_choice.VARIABLE, layout)
    path = EXAMPLES / name / "deploy.prototxt"
    nets = cpu, gpu = Net(path, device="cpu", seed=3), Net(path, device="cuda", seed=4)
    gpu.device.debug = False
    fill(cpu)
    for key, blobs in cpu.params.items():
        for mine, theirs in zip(gpu.params[key], blobs, strict=True):
            mine.data[...] = np.array(theirs.data)
    for turn in range(FORWARDS):
        if turn in (1, FORWARDS - 1):  # a plan that has folded it is made anew, and captured from its third forward on
            change(nets, turn)
        inputs = inputs_of(cpu, turn)
        wanted, actual = cpu.forward(**inputs), gpu.forward(**inputs)
        assert list(actual) == list(wanted)
        for key, values in wanted.items():
            alike(actual[key], values, f"{name}, forward {turn}, {key}")
        if turn == FORWARDS - 2:
            said = [program.describe() for program in gpu._runner.describe()]
            assert sum(part["graphs"] for part in said) > 0, said
    chains = [chain for part in said for chain in part.get("layouts", ())]
    assert layout == "auto" or {chain["layout"] for chain in chains} <= {layout}
