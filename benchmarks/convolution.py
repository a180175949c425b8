"""Times the convolutions of SSD300 and MobileNet-SSD, forward and backward: python benchmarks/convolution.py [device].

One image, float32, bias included; the median of some calls, in milliseconds, and the arithmetic rate of forward.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from boxpresso.device import Blob, open_device
from boxpresso.layers.core import make_layer
from boxpresso.proto import parse_net

# channels, num_output, size, kernel, stride, pad, dilation, group; how often in SSD300, in MobileNet-SSD
LAYERS = [
    (3, 64, 300, 3, 1, 1, 1, 1, 1, 0), (64, 64, 300, 3, 1, 1, 1, 1, 1, 0), (64, 128, 150, 3, 1, 1, 1, 1, 1, 0),
    (128, 128, 150, 3, 1, 1, 1, 1, 1, 0), (128, 256, 75, 3, 1, 1, 1, 1, 1, 0), (256, 256, 75, 3, 1, 1, 1, 1, 2, 0),
    (256, 512, 38, 3, 1, 1, 1, 1, 1, 0), (512, 512, 38, 3, 1, 1, 1, 1, 2, 0), (512, 512, 19, 3, 1, 1, 1, 1, 3, 0),
    (512, 1024, 19, 3, 1, 6, 6, 1, 1, 0), (1024, 1024, 19, 1, 1, 0, 1, 1, 1, 0), (1024, 256, 19, 1, 1, 0, 1, 1, 1, 0),
    (256, 512, 19, 3, 2, 1, 1, 1, 1, 0), (512, 128, 10, 1, 1, 0, 1, 1, 1, 0), (128, 256, 10, 3, 2, 1, 1, 1, 1, 0),
    (256, 128, 5, 1, 1, 0, 1, 1, 2, 0), (128, 256, 5, 3, 1, 0, 1, 1, 2, 0),
    (512, 100, 38, 3, 1, 1, 1, 1, 1, 0), (1024, 150, 19, 3, 1, 1, 1, 1, 1, 0), (512, 150, 10, 3, 1, 1, 1, 1, 1, 0),
    (256, 150, 5, 3, 1, 1, 1, 1, 1, 0), (256, 100, 3, 3, 1, 1, 1, 1, 2, 0),
    (3, 32, 300, 3, 2, 1, 1, 1, 0, 1), (32, 32, 150, 3, 1, 1, 1, 32, 0, 1), (32, 64, 150, 1, 1, 0, 1, 1, 0, 1),
    (64, 64, 150, 3, 2, 1, 1, 64, 0, 1), (64, 128, 75, 1, 1, 0, 1, 1, 0, 1), (128, 128, 75, 3, 1, 1, 1, 128, 0, 1),
    (128, 128, 75, 1, 1, 0, 1, 1, 0, 1), (128, 128, 75, 3, 2, 1, 1, 128, 0, 1), (128, 256, 38, 1, 1, 0, 1, 1, 0, 1),
    (256, 256, 38, 3, 1, 1, 1, 256, 0, 1), (256, 256, 38, 1, 1, 0, 1, 1, 0, 1), (256, 256, 38, 3, 2, 1, 1, 256, 0, 1),
    (256, 512, 19, 1, 1, 0, 1, 1, 0, 1), (512, 512, 19, 3, 1, 1, 1, 512, 0, 5), (512, 512, 19, 1, 1, 0, 1, 1, 0, 5),
    (512, 512, 19, 3, 2, 1, 1, 512, 0, 1), (512, 1024, 10, 1, 1, 0, 1, 1, 0, 1),
    (1024, 1024, 10, 3, 1, 1, 1, 1024, 0, 1), (1024, 1024, 10, 1, 1, 0, 1, 1, 0, 1),
    (1024, 256, 10, 1, 1, 0, 1, 1, 0, 1), (256, 512, 10, 3, 2, 1, 1, 1, 0, 1),
    (512, 128, 5, 1, 1, 0, 1, 1, 0, 1), (128, 256, 5, 3, 2, 1, 1, 1, 0, 1), (512, 75, 19, 1, 1, 0, 1, 1, 0, 1),
    (1024, 150, 10, 1, 1, 0, 1, 1, 0, 1),
]  # fmt: skip


def milliseconds(call: Callable[[], None], seconds: float = 0.25) -> float:
    """The median time of a call, from at least 3 calls after one to warm up."""
    times: list[float] = []
    call()
    while len(times) < 3 or (sum(times) < seconds and len(times) < 200):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times) * 1e3


class Case:
    """One layer over one random image."""

    def __init__(self, device: Any, channels: int, outputs: int, size: int, **window: int) -> None:
        text = f"num_output: {outputs} " + " ".join(f"{name}: {value}" for name, value in window.items())
        text = f'layer {{ type: "Convolution" convolution_param {{ {text} weight_filler {{ type: "xavier" }} }} }}'
        self.device, self.layer = device, make_layer(parse_net(text).layer[0], device=device)
        self.bottom, self.top = [Blob((1, channels, size, size), device=device)], [Blob((), device=device)]
        self.layer.setup(self.bottom, self.top)
        self.layer.reshape(self.bottom, self.top)
        self.bottom[0].data[...] = np.random.default_rng(0).standard_normal(self.bottom[0].shape)
        self.top[0].diff[...] = np.random.default_rng(1).standard_normal(self.top[0].shape)

    def forward(self) -> None:
        self.layer.forward(self.bottom, self.top)
        self.device.synchronize()

    def data_gradient(self) -> None:
        self.layer.param_propagate_down = [False, False]
        self.layer.backward(self.top, [True], self.bottom)
        self.device.synchronize()

    def weights_gradient(self) -> None:
        self.layer.param_propagate_down = [True, True]
        self.layer.backward(self.top, [False], self.bottom)
        self.device.synchronize()


def main() -> None:
    device = open_device(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    print(device.describe())
    print(f"{'layer':42}{'forward':>9}{'GFlop/s':>9}{'data':>9}{'weights':>9}")
    totals = [0.0, 0.0]
    for channels, outputs, size, kernel, stride, pad, dilation, group, in_ssd, in_mobilenet in LAYERS:
        window = {"kernel_size": kernel, "stride": stride, "pad": pad, "dilation": dilation, "group": group}
        case = Case(device, channels, outputs, size, **window)
        forward, data, weights = map(milliseconds, (case.forward, case.data_gradient, case.weights_gradient))
        flops = 2 * case.top[0].count * channels // group * kernel**2
        name = f"{channels}->{outputs} {kernel}x{kernel} {size}x{size}"
        name += "".join(f" {what} {n}" for what, n in (("s", stride), ("d", dilation), ("g", group)) if n > 1)
        print(f"{name:42}{forward:9.3f}{flops / forward / 1e6:9.1f}{data:9.3f}{weights:9.3f}", flush=True)
        totals[0] += forward * in_ssd
        totals[1] += forward * in_mobilenet
    print(f"forward, all convolutions: SSD300 VGG16 {totals[0]:.1f} ms, MobileNet-SSD {totals[1]:.1f} ms")


if __name__ == "__main__":
    main()
