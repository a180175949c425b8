"""What several ranks cost: the gradients' way between them, measured with two ranks here, and a model of many machines.

    mpirun -n 2 python benchmarks/ranks.py

SSD300 of examples/ssd, batch 1 for each rank, random weights. Measured, medians: backward alone, all sums alone, and backward
with the sums under way; what they cost is `visible`, the rest is hidden behind backward. Ranks that share one memory and its
cores pay for a sum with the cores' own time, so that here little can be hidden; between machines it is the network's.

The model has no measured network. A sum over N machines takes 2 (N - 1) / N * bytes / bandwidth + 2 log2(N) * latency (Thakur
et al. 2005; a ring moves as many bytes). Messages go one after another, each when backward, measured here layer by layer and
taken times the batch, has made it. What is not over when backward ends is visible, and the efficiency is the step alone over
the step with it. "x 100" is a device a hundred times as fast as one core of this machine, about what a GPU is.
"""

from __future__ import annotations

import statistics
import time
import warnings
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np

from boxpresso import Net
from boxpresso.device.host import threads
from boxpresso.graph.prepare import select
from boxpresso.proto import parse_net, read_net
from boxpresso.train.ranks import Ranks, open_ranks
from boxpresso.train.reduction import Reduction

MODELS = {"SSD300 VGG16": ("vgg16_300", 5), "MobileNet-SSD": ("mobilenet_300", 12)}  # and how many turns
INPUTS = """
layer { name: "in" type: "Input" top: "data" top: "label"
        input_param { shape { dim: 1 dim: 3 dim: 300 dim: 300 } shape { dim: 1 dim: 1 dim: 2 dim: 8 } } }
"""
GIGABITS = (1, 10, 25)
MACHINES = (2, 4, 8, 16, 32)
LATENCY = 30e-6  # seconds, of TCP in one data centre
BATCH = 8  # images of each machine in the model
SPEEDS = (1, 100)  # of its device


def make(folder: str) -> Net:
    train_net = select(
        read_net(Path(__file__).resolve().parents[1] / "examples" / "ssd" / folder / "train.prototxt"), "TRAIN"
    )
    param = parse_net(INPUTS)
    param.layer.extend(layer for layer in train_net.layer if layer.type != "AnnotatedData")
    net = Net(param, phase="TRAIN", device="cpu", seed=1)
    rng = np.random.default_rng(0)
    net.blobs["data"].data[...] = rng.standard_normal((1, 3, 300, 300))
    net.blobs["label"].data[...] = [[[[0, 5, 0, 0.1, 0.1, 0.5, 0.6, 0], [0, 9, 1, 0.4, 0.3, 0.9, 0.8, 0]]]]
    return net


def seconds(work: Any, ranks: Ranks) -> tuple[float, float]:
    """When all ranks began some work together, and how long it took until all were done."""
    ranks.mean(0)
    start = time.perf_counter()
    work()
    ranks.mean(0)
    return start, time.perf_counter() - start


def measure(net: Net, turns: int, ranks: Ranks) -> tuple[Reduction, list[float], list[float], dict[str, float]]:
    """The reduction; when each message is ready; the seconds from there on that a layer ran; medians of all the times."""
    reduction = Reduction(ranks, net)
    clock: list[tuple[int, float]] = []
    net.after_backward.append(lambda layer: clock.append((layer, time.perf_counter())))
    times: dict[str, list[float]] = {"forward": [], "backward": [], "sums": [], "together": []}
    ready: list[list[float]] = []

    def together() -> None:
        reduction.begin(0, False, False)
        net.backward()
        reduction.finish()

    def sums() -> None:
        reduction.begin(0, False, False)
        reduction.send(0)
        reduction.finish()

    for turn in range(turns + 1):
        net.clear_param_diffs()
        forward = seconds(net.forward, ranks)
        clock.clear()
        start, backward = seconds(net.backward, ranks)
        at = dict(clock)
        spent = [forward[1], backward, seconds(sums, ranks)[1], seconds(together, ranks)[1]]
        if turn:
            ready.append([at[message.layer] - start for message in reduction.messages])
            for series, one in zip(times.values(), spent):
                series.append(one)
    medians = {name: statistics.median(series) for name, series in times.items()}
    sizes = [float(m.count * m.blobs[0].dtype.itemsize) for m in reduction.messages]
    return reduction, [statistics.median(column) for column in zip(*ready)], sizes, medians


def transfer(size: float, machines: int, gigabits: float) -> float:
    """Seconds that the sum of a message over so many machines takes."""
    return 2 * (machines - 1) / machines * size / (gigabits * 1e9 / 8) + 2 * ceil(log2(machines)) * LATENCY


def visible(ready: list[float], sizes: list[float], backward: float, machines: int, gigabits: float) -> float:
    """Seconds from the end of backward to that of the last sum."""
    free = 0.0
    for at, size in zip(ready, sizes):
        free = max(free, at) + transfer(size, machines, gigabits)
    return max(0.0, free - backward)


def main() -> None:
    warnings.simplefilter("ignore")
    ranks = open_ranks()
    say = print if ranks.rank == 0 else lambda *words, **options: None
    measured = {}
    with ranks.together():
        say(f"{ranks.size} ranks on one machine, {threads()} CPU threads each, batch 1 each; ms")
        heads = ("MB", "messages", "forward", "backward", "sums", "with sums", "visible", "hidden")
        say(f"{'net':14}" + "".join(f"{head:>10}" for head in heads))
        for name, (folder, turns) in MODELS.items():
            reduction, ready, sizes, t = measure(make(folder), turns, ranks)
            measured[name] = ready, sizes, t
            cost = t["together"] - t["backward"]
            hidden = 1 - cost / t["sums"]
            ms = [1e3 * value for value in (t["forward"], t["backward"], t["sums"], t["together"], cost)]
            row = f"{name:14}{reduction.bytes / 1e6:10.1f}{len(sizes):10}" + "".join(f"{value:10.1f}" for value in ms)
            say(f"{row}{hidden:10.0%}", flush=True)
    say(
        f"\nModel: N machines, batch {BATCH} each, latency {1e6 * LATENCY:.0f} us; ms of all sums, of them visible, efficiency"
    )
    say(f"{'net':20} {'step':>7} {'N':>3}" + "".join(f" {f'{g} Gb/s':>24}" for g in GIGABITS))
    for name, (ready, sizes, t) in measured.items():
        for speed in SPEEDS:
            for machines in MACHINES:
                say(line(name, ready, sizes, t, speed, machines))


def line(name: str, ready: list[float], sizes: list[float], t: dict[str, float], speed: int, machines: int) -> str:
    """A row of the model's table."""
    scale = BATCH / speed
    step = scale * (t["forward"] + t["backward"])
    row = f"{name:14} x{speed:4} {1e3 * step:7.0f} {machines:3}"
    for gigabits in GIGABITS:
        whole = sum(transfer(size, machines, gigabits) for size in sizes)
        late = visible([scale * at for at in ready], sizes, scale * t["backward"], machines, gigabits)
        row += f" {1e3 * whole:10.1f} {1e3 * late:6.1f} {step / (step + late):6.1%}"
    return row


if __name__ == "__main__":
    main()
