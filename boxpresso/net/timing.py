"""The times of the layers of a net, for `boxpresso time`, as `caffe time` measures them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from ..proto import read_net
from . import Net
from .weights import Source


@dataclass
class Times:
    """Seconds: of each layer, summed over the iterations; of the two passes of each iteration; of everything."""

    names: list[str]
    forward: list[float]
    backward: list[float]
    passes: list[tuple[float, float]] = field(default_factory=list)  # (forward, backward)
    total: float = 0.0


def timing_net(
    model: Source, weights: Source | None = None, *, backward: bool = True, device: str | None = None, **options: Any
) -> Net:
    """A net to be timed, its inputs filled with random numbers from 0 to 1, and im_info with the size of the picture.

    Parameters
    ----------
    model, weights, device, options
        As for Net.
    backward
        Whether the backward pass will be timed: a net without a loss then computes all gradients, as if its prototxt said
        `force_backward: true`.

    Returns
    -------
    Net
        Ready for `time_net`.
    """
    param = read_net(model)
    net = Net(param, weights, device=device, **options)
    if backward and not any(net._gradients.layer_needs):
        param.force_backward = True
        net = Net(param, weights, device=device, **options)
    if net.sources:  # which has filled the inputs
        return net
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
    """Measures the layers of a net: one iteration to warm up, then `iterations`, with a wait for the device after each layer.

    Parameters
    ----------
    net
        Of `timing_net`, or any other with its inputs filled.
    iterations
        How many.
    backward
        Whether to run the backward pass too.
    report
        Called after each iteration with its number, from 1, and its seconds.

    Returns
    -------
    Times
        Seconds of layers and passes, summed over the iterations.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''
    ...     layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
    ...     layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { scale: 2 } }'''), device="cpu")
    >>> times = time_net(net, 3, backward=False)
    >>> times.names, len(times.passes), times.total > 0
    (['x', 'y'], 3, True)
    """
    order = range(len(net.layers))
    times = Times(net.layer_names, [0.0] * len(order), [0.0] * len(order))
    start = end = 0.0
    if net._runner is not None:  # from here on the layers run one by one
        net._runner.forget()
    for turn in range(iterations + 1):
        if turn == 1:  # turn 0 compiled, allocated and filled caches
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
    """Runs layers one by one and adds the seconds of each to `spent`; returns those of all."""
    net.device.synchronize()
    start = before = perf_counter()
    for i in order:
        step(i)
        net.device.synchronize()
        now = perf_counter()
        spent[i] += now - before
        before = now
    return before - start


def fill_diffs(net: Net) -> None:
    """Fills the diffs from which the backward pass starts: of a loss with its weight, of any other output with 1."""
    for (_, names), weights, tops in zip(net.names, net.loss_weights, net.tops):
        for name, weight, top in zip(names, weights, tops):
            if weight or name in net.outputs:
                top.diff.fill(weight or 1)
