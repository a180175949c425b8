"""Whole nets on a GPU, beside torch: forward passes, steps of training, and a training of the shapes example."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import TRUNKS, arrays_of, weights_of
from benchmarks.gpu_timing import Timer, torch_by_clock, torch_graph
from benchmarks.ours import trunk_of
from benchmarks.peers import train_torch
from boxpresso import Net, Solver
from boxpresso.device import cudnn
from boxpresso.proto import NetParameter, parse_net, read_net
from boxpresso.run.gpu.choice import VARIABLE
from boxpresso.summary import layouts_of

ROOT = Path(__file__).resolve().parents[1]
NETS = {
    "SSD300": "examples/ssd/vgg16_300/deploy.prototxt",
    "MobileNet-SSD": "examples/ssd/mobilenet_300/deploy.prototxt",
    "Faster R-CNN VGG16": "examples/faster_rcnn/vgg16/deploy.prototxt",
}
OURS = ("regions", "detection")  # families of layers that a torch module of a net does by ours
REGIONS = 300  # of an image, as Faster R-CNN's Proposal gives
TINY_NETS = {"shapes": "examples/shapes/deploy.prototxt"}
SMALL = "small trunk, 16x16, batch 1"
ITERATIONS = 200
READY = 4  # forwards until a net runs as it will from then on


def modes(torch: Any) -> Iterator[tuple[str, Any]]:
    """torch's ways to compute: each name, while its settings hold, with the layout of its arrays."""
    for name, tf32, layout in (
        ("torch float32", False, torch.contiguous_format),
        ("torch TF32", True, torch.contiguous_format),
        ("torch TF32 channels last", True, torch.channels_last),
    ):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        yield name, layout


def cuda_torch() -> Any:
    """torch, where it is installed and sees a GPU; ImportError says what is missing."""
    torch: Any = import_module("torch")
    if not torch.cuda.is_available():
        raise ImportError("torch sees no GPU", name="torch")
    return torch


def prepared(path: str, folder: Path) -> dict[str, np.ndarray]:
    """Writes p.prototxt and w.caffemodel with random weights into a folder; the inputs of batch 1."""
    command = [sys.executable, str(ROOT / "benchmarks/nets.py"), str(ROOT / path), "-", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(f"{path} cannot be prepared: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    with np.load(folder / "x.npz") as file:
        return {name: file[name] for name in file.files}


def net_rows(name: str, device: Any, seconds: float, tiny: bool) -> Iterator[dict[str, Any]]:
    """A net's forward pass with its inputs on the device, its outputs brought to the host: "SSD300, batch 8". Then, where torch
    would do some layers by ours, the same without these, which is what torch is measured beside."""
    title, _, batch = name.rpartition(", batch ")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        single = prepared({**NETS, **TINY_NETS}[title], folder)
        param, more = without_ours(read_net(folder / "p.prototxt"))
        whole = NetRow(folder, param if not more else None, single, int(batch), device, seconds, tiny)
        yield {"name": f"{title} forward, batch {batch}"} | whole.row(beside=not more)
        if more:
            rng = np.random.default_rng(2)
            inputs = {
                key: single.get(key, rng.standard_normal(shape).astype(np.float32)) for key, shape in more.items()
            }
            rest = NetRow(folder, param, inputs, int(batch), device, seconds, tiny)
            yield {"name": f"{title} without region and detection layers, batch {batch}"} | rest.row(beside=True)


def without_ours(param: NetParameter) -> tuple[NetParameter, dict[str, tuple[int, ...]]]:
    """A net whose layers of regions and detections, for which torch has no operators, are left out, with an Input in their
    place for what others read (REGIONS rows of what is of regions), and the shapes of all its inputs; the net itself and
    nothing where it has no such layer. A PriorBox stays: it is a number there."""
    net = Net(param, phase="TEST", device="cpu", lazy=True)
    family = {layer.name: type(layer).__module__.split(".")[2] for layer in net.layers}
    own = {layer.name for layer in net.layers if family[layer.name] in OURS and layer.type != "PriorBox"}
    if not own:
        return param, {}
    rows = {top for layer in param.layer if family[layer.name] == "regions" for top in layer.top}
    rest = NetParameter()
    layers = [layer for layer in param.layer if layer.name not in own and layer.type != "Input"]
    written = {top for layer in layers for top in layer.top}
    read = dict.fromkeys(bottom for layer in layers for bottom in layer.bottom if bottom not in written)
    shapes = {b: (REGIONS, *net.blobs[b].shape[1:]) if b in rows else net.blobs[b].shape for b in read}
    for name, shape in shapes.items():
        each = rest.layer.add(name=name, type="Input", top=[name])
        each.input_param.shape.add(dim=shape)
    rest.layer.extend(layers)
    return rest, shapes


class NetRow:
    """A net of a folder, or with its weights, at a batch."""

    def __init__(
        self, folder: Path, param: NetParameter | None, single: dict[str, np.ndarray], batch: int, device: Any,
        seconds: float, tiny: bool,
    ) -> None:  # fmt: skip
        self.model, self.weights = param or folder / "p.prototxt", folder / "w.caffemodel"
        self.inputs = {key: np.repeat(value, batch, axis=0) for key, value in single.items()}
        self.device, self.seconds, self.tiny = device, seconds, tiny

    def net(self, **options: Any) -> Net:
        """The net as it runs from then on: with its plans, kernels, memory, layouts and graphs."""
        net = Net(self.model, self.weights, phase="TEST", device=self.device.name, **options)
        for key, value in self.inputs.items():
            net.blobs[key].reshape(*value.shape)
        for _ in range(READY):
            net.forward(**self.inputs)
        return net

    def row(self, beside: bool) -> dict[str, Any]:
        """Its time and torch's; beside: whether torch is measured."""
        net = self.net()
        row: dict[str, Any] = {
            "ms": Timer(net.device, self.seconds, self.tiny).by_clock(net.forward),
            "peers": {},
            "why": "",
        }
        if beside:
            row["peers"], row["why"] = torch_net(net, self.inputs, self.seconds)
        row["note"] = "; ".join(layouts_of(net._runner.describe()) if net._runner else [])
        del net
        row["peers"] |= by_layout(self)
        return row


def by_layout(row: NetRow) -> dict[str, float]:
    """The times of a net with each layout forced, and of TF32 with the layouts that are then chosen; on a GPU with cuDNN."""
    device = row.device
    if device.kind != "cuda" or cudnn.library() is None:
        return {}
    times = {}
    for name, layout, fast in (("ours NCHW", "NCHW", False), ("ours NHWC", "NHWC", False), ("ours TF32", "auto", True)):
        with asked_for(layout):
            net = row.net(fast_math=fast)
            times[name] = Timer(net.device, row.seconds, row.tiny).by_clock(net.forward)
            del net
    return times


@contextmanager
def asked_for(layout: str) -> Iterator[None]:
    """BOXPRESSO_GPU_LAYOUT is set inside."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = layout
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


def torch_net(net: Net, inputs: dict[str, np.ndarray], seconds: float) -> tuple[dict[str, float], str]:
    """The times of torch's modules of the same net, and why there are none."""
    times: dict[str, float] = {}
    try:
        torch = cuda_torch()
        from boxpresso.exports import to_torch

        module = to_torch(net).cuda().eval()
        for name, layout in modes(torch):
            tensors = {key: torch.from_numpy(value).cuda() for key, value in inputs.items()}
            tensors = {k: t.contiguous(memory_format=layout) if t.ndim == 4 else t for k, t in tensors.items()}
            placed = module.to(memory_format=layout)
            with torch.no_grad():
                call = partial(placed, **tensors)
                times[name] = torch_by_clock(lambda: on_host(call()), seconds)  # noqa: B023
                graph = torch_graph(call)
                if graph is not None:
                    times[f"{name}, graph"] = torch_by_clock(lambda: (graph[0](), on_host(graph[1])), seconds)  # noqa: B023
    except Exception as error:
        return times, f"torch: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return times, ""


def on_host(outputs: dict[str, Any]) -> list[Any]:
    """torch's outputs, copied as ours are."""
    return [tensor.cpu() for tensor in outputs.values()]


def step_rows(name: str, device: Any, seconds: float, tiny: bool) -> Iterator[dict[str, Any]]:
    """Forward and backward of a trunk; its loss is a product with given numbers."""
    if tiny:
        TRUNKS[SMALL] = (1, 16, [("c", 4), "p", ("s", 6), ("d", 6, 8, 1)])
    case = {"kind": "train", "name": name}
    arrays, weights = arrays_of(case), iter(weights_of(name))
    net = Net(parse_net(trunk_of(name)), phase="TRAIN", device=device.name, seed=0)
    for layer in net.layers:
        for blob in layer.blobs if layer.type == "Convolution" else ():
            blob.data[...] = next(weights)
    for key in net.inputs:
        net.blobs[key].data[...] = arrays[key]

    def call() -> None:
        net.clear_param_diffs()
        net.forward()
        net.backward()

    timer = Timer(net.device, seconds, tiny)
    call()
    row: dict[str, Any] = {"name": f"{name}: forward and backward", "ms": timer.by_clock(call), "peers": {}, "why": ""}
    try:
        torch = cuda_torch()
        for mode, layout in modes(torch):
            x, g = (torch.from_numpy(arrays[key]).cuda().contiguous(memory_format=layout) for key in "xg")
            row["peers"][mode] = torch_by_clock(train_torch(torch, case, x, g, layout), seconds)
    except Exception as error:
        row["why"] = f"torch: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    yield row


def training_rows(name: str, device: Any, seconds: float, tiny: bool) -> Iterator[dict[str, Any]]:
    """The shapes example trained: milliseconds an iteration without the first ones, and how the loss falls."""
    from examples.shapes.scenes import TRAINING, draw, records
    from examples.shapes.train import recipe

    iterations, scenes = (3, 16) if tiny else (ITERATIONS, 640)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        draw(folder / "train_lmdb", records(1, TRAINING, scenes))
        draw(folder / "test_lmdb", records(1, TRAINING + 1, 20))
        param = recipe(folder, 1, iterations, 20)
        param.snapshot, param.snapshot_after_train, param.display = 0, False, 1
        for field in ("test_net_param", "test_iter", "test_interval", "test_initialization"):
            param.ClearField(field)
        if tiny:
            param.train_net_param.layer[0].data_param.batch_size = 1
        lines: list[str] = []
        solver = Solver(param, device=device.name, log=lines.append)
        warm = max(iterations // 10, 1)
        solver.step(warm)
        solver.net.device.synchronize()
        start = time.perf_counter()
        solver.step(iterations - warm)
        solver.net.device.synchronize()
        ms = 1000 * (time.perf_counter() - start) / (iterations - warm)
        losses = [float(line.rpartition("loss = ")[2].split()[0]) for line in lines if ", loss = " in line]
        row = {"name": f"{name}, {iterations} iterations: one", "ms": ms, "peers": {}, "why": ""}
        if losses:
            first, last = np.mean(losses[: max(warm, 1)]), np.mean(losses[-max(warm, 1) :])
            row["note"] = f"loss {first:.3f} to {last:.3f}"
            if not np.isfinite(losses).all():
                row["failed"] = "the loss is not finite"
        yield row


Rows = Callable[[str, Any, float, bool], Iterator[dict[str, Any]]]
