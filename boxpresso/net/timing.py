"""How long each layer of a net takes, for `boxpresso time`: Caffe's own `caffe time`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Union

import numpy as np

from ..proto import read_net
from . import Net

Source = Union[str, "os.PathLike[str]"]


@dataclass
class Times:
    """Seconds: of each layer, summed over the iterations; of each iteration's two passes; of all together."""

    names: list[str]
    forward: list[float]
    backward: list[float]
    passes: list[tuple[float, float]] = field(default_factory=list)  # (forward, backward)
    total: float = 0.0


def timing_net(
    model: Source, weights: Source | None = None, *, backward: bool = True, device: str | None = None, **options: Any
) -> Net:
    """The net to be timed, its inputs filled with random numbers from 0 to 1, and im_info with the size of the picture.

    Of a net without a loss, all gradients are computed as if it said `force_backward: true`. options: as Net's.
    """
    param = read_net(model)
    net = Net(param, weights, device=device, **options)
    if backward and not any(net._gradients.layer_needs):
        param.force_backward = True
        net = Net(param, weights, device=device, **options)
    rng = np.random.default_rng(0)
    for name in net.inputs:
        blob = net.blobs[name]
        blob.data[...] = rng.random(blob.shape)
    picture = next((net.blobs[name].shape for name in net.inputs if len(net.blobs[name].shape) == 4), None)
    if picture and "im_info" in net.inputs:  # else no region fits the picture
        info = net.blobs["im_info"]
        info.data[...] = np.ones(info.shape)
        info.data[:, :2] = picture[2:]
    return net


def time_net(
    net: Net, iterations: int = 50, *, backward: bool = True, report: Callable[[int, float], None] = lambda i, s: None
) -> Times:
    """Runs the net once to warm up, then `iterations` times, waiting for the device after each layer.

    report: called after each iteration with its number, from 1, and its seconds.
    """
    order = range(len(net.layers))
    times = Times(net.layer_names, [0.0] * len(order), [0.0] * len(order))
    start = end = 0.0
    for turn in range(iterations + 1):
        if turn == 1:  # the turn before it compiled, allocated and filled caches
            start = perf_counter()
            times.forward, times.backward = [0.0] * len(order), [0.0] * len(order)
        ahead = run_layers(net, order, net.forward_layer, times.forward)
        back = 0.0
        if backward:
            fill_diffs(net)
            back = run_layers(net, order[::-1], net.backward_layer, times.backward)
        if turn:
            end = perf_counter()
            times.passes.append((ahead, back))
            report(turn, ahead + back)
    times.total = end - start
    return times


def run_layers(net: Net, order: Sequence[int], step: Callable[[int], None], spent: list[float]) -> float:
    """Runs layers one by one, adding the seconds of each to `spent`; returns those of all."""
    net.device.synchronize()
    begin = then = perf_counter()
    for i in order:
        step(i)
        net.device.synchronize()
        now = perf_counter()
        spent[i] += now - then
        then = now
    return then - begin


def fill_diffs(net: Net) -> None:
    """Gives the outputs the diffs from which backward starts: a loss its weight, any other 1."""
    for (_, names), weights, tops in zip(net.names, net.loss_weights, net.tops):
        for name, weight, top in zip(names, weights, tops):
            if weight or name in net.outputs:
                top.diff.fill(weight or 1)
