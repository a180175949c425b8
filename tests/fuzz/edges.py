"""Small nets whose layers have their parameters and bottoms at the edges, beside what the layers are defined to do.

    python tests/fuzz/edges.py --seed 1 --minutes 10             # values and gradients by the definitions; onnxruntime where it is
    python tests/fuzz/edges.py --seed 1 --case 17                # one case: printed, compared and made smaller
    python tests/fuzz/edges.py --type Pooling --oracle gradient  # cases with a layer of that type, one oracle

Kernels larger than the image, strides larger than kernels, one channel to a group, any number of axes, negative axes, empty blobs, axes
of one element, equal values and large ones, every phase and normaliser. What our layers refuse is counted by its reason.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from math import prod
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

import nets  # noqa: E402
import numpy as np  # noqa: E402
import scripts  # noqa: E402
from nets import Builder, Node, Refused, Shape  # noqa: E402
from oracles import ORACLES, Case, Unfit  # noqa: E402

from boxpresso import Net  # noqa: E402
from boxpresso.proto import BoxpressoError, parse_net  # noqa: E402

LAYERS: dict[str, Callable[[Edges, str], None]] = {}
LARGE = 3000  # elements of a blob
LAST = ("Filter", "DetectionOutput", "Proposal")  # whose tops' shapes only a forward tells: no layer follows
FIRST = (
    *LAST,
    "Pooling",
    "BN",
    "Accuracy",
    "Rescale",
    "PSROIPooling",
    "PSROIAlign",
    "DeformablePSROIPooling",
    "RotateROIPooling",
)  # and these,
# like losses, have further tops without a gradient: places, probabilities, statistics


class Edges(Builder):
    """A net whose blobs' shapes are those that our layers give them."""

    def __init__(self, rng: np.random.Generator, phase: str) -> None:
        super().__init__(rng)
        self.phase = phase

    def size(self, most: int = 7) -> int:
        return 1 if self.chance(0.25) else self.below(1, most + 1)

    def shape(self, rank: int, most: int = 7) -> Shape:
        shape = [self.size(most if i else 3) for i in range(rank)]
        if shape and self.chance(0.03):
            shape[0 if self.chance(0.7) else self.below(0, rank)] = 0
        return tuple(shape)

    def feed(self, shape: Shape, kind: str = "x") -> str:
        """A new input; the first word of its name says what its values are."""
        name = f"{kind}_{len(self.nodes)}"
        dims = " ".join(f"dim: {size}" for size in shape)
        self.nodes.append(Node("Input", name, (), (name,), f"input_param {{ shape {{ {dims} }} }}"))
        self.shapes[name] = shape
        return name

    def bottom(self, *ranks: int, kind: str = "") -> str:
        """A blob of one of these numbers of axes: one of an earlier layer or a new input."""
        old = [name for name, shape in self.shapes.items() if len(shape) in ranks and not kind and name[0] in "bxtls"]
        if old and self.chance(0.7):
            return str(self.one(old[-3:]))
        return self.feed(
            self.shape(int(self.one(ranks))), kind or str(self.one(["x"] * 8 + ["tied"] * 3 + ["large", "small"]))
        )

    def of(self, name: str) -> Shape:
        return self.shapes[name]

    def same(self, name: str) -> str:
        """Another blob of that shape."""
        others = [n for n in self.like(self.of(name)) if n != name and n[0] in "bxt"]
        return str(self.one(others)) if others and self.chance(0.5) else self.feed(self.of(name))

    def axis(self, rank: int, first: int = 0) -> int:
        """An axis from the first on, sometimes counted from the end."""
        axis = self.below(first, rank)
        return axis - rank if self.chance(0.3) else axis

    def put(self, type: str, bottoms: list[str], text: str = "", tops: int = 1, in_place: bool = False) -> None:
        n, name = len(self.nodes), bottoms[0] if bottoms else ""
        names = tuple(f"b{n}" if i == 0 else f"b{n}_{i}" for i in range(tops))
        if in_place and name not in self.read and name.startswith("b") and self.chance(0.5):
            names = (name,)
        self.nodes.append(Node(type, f"{type.lower()}{n}", tuple(bottoms), names, text))
        self.read.update(bottoms)
        net = Net(parse_net(nets.text(self.nodes)), device="cpu", phase=self.phase)
        if any(prod(net.blobs[name].shape) > LARGE for name in names):
            raise Refused
        for top in names if type not in FIRST and not type.endswith(("Loss", "OHEM")) else names[: type not in LAST]:
            self.shapes[top] = tuple(net.blobs[top].shape)


def edge(*types: str) -> Callable[[Callable[[Edges, str], None]], Callable[[Edges, str], None]]:
    """Notes a function that adds a layer of a type."""

    def note(function: Callable[[Edges, str], None]) -> Callable[[Edges, str], None]:
        LAYERS.update(dict.fromkeys(types, function))
        return function

    return note


def listed(name: str, values: object) -> str:
    return " ".join(f"{name}: {value}" for value in values)  # type: ignore[attr-defined]


# Windows


def window(b: Edges, axes: int, fit: Shape | None) -> str:
    """Kernel, stride, padding and dilation, each once, for each axis, or as _h and _w."""

    def field(name: str, draw: Callable[[], int], once: str = "") -> tuple[str, list[int]]:
        values = [draw() for _ in range(axes)]
        if axes == 2 and name != "dilation" and b.chance(0.2):
            return f"{name}_h: {values[0]} {name}_w: {values[1]}", values
        if axes == 0 or b.chance(0.6):
            return f"{once or name}: {(values or [1])[0]}", [(values or [1])[0]] * axes
        return listed(once or name, values), values

    kernel, kernels = field("kernel", lambda: b.below(1, 5), "kernel_size")
    dilation, dilations = field("dilation", lambda: int(b.one([1, 1, 2, 3])))
    stride, _ = field("stride", lambda: int(b.one([1, 1, 2, 3, 5])))
    least = [max(0, -(-(d * (k - 1) + 1 - m) // 2)) for d, k, m in zip(dilations, kernels, fit)] if fit else [0]
    pad, _ = field("pad", lambda: max(least, default=0) + int(b.one([0, 0, 1, 2, 4])))
    words = [kernel, dilation, stride, pad]
    return " ".join(word for word in words if word is kernel or not b.chance(0.1) or "_h" in word)


@edge("Convolution", "Deconvolution")
def convolution(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 4, 3, 5, 2)
    shape = b.of(x)
    axis = 1 if b.chance(0.8) else b.below(1, len(shape))
    channels = shape[axis]
    outputs = int(b.one([1, 2, 3, 4, 6]))
    groups = [g for g in range(1, channels + 1) if channels % g == 0 and outputs % g == 0] or [1]
    group = int(b.one(groups))
    if b.chance(0.3) and channels:
        group, outputs = channels, channels * int(b.one([1, 1, 2]))
    bias = "" if b.chance(0.6) else "bias_term: false"
    line = window(b, len(shape) - axis - 1, shape[axis + 1 :] if type == "Convolution" else None)
    text = f"convolution_param {{ num_output: {outputs} group: {group} {bias} {line} axis: {b.one([axis, axis - len(shape)])} }}"
    bottoms = [x, b.same(x)] if b.chance(0.1) else [x]
    b.put(type, bottoms, text, tops=len(bottoms))


@edge("DepthwiseConvolution")
def depthwise(b: Edges, type: str) -> None:
    x = b.bottom(4)
    outputs = b.of(x)[1] * int(b.one([1, 1, 2, 3]))
    b.put(type, [x], f"convolution_param {{ num_output: {outputs} {window(b, 2, b.of(x)[2:])} }}")


@edge("Im2col")
def im2col(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 3)
    b.put(type, [x], f"convolution_param {{ {window(b, len(b.of(x)) - 2, b.of(x)[2:])} }}")


@edge("Pooling")
def pooling(b: Edges, type: str) -> None:
    method = b.one(["MAX", "MAX", "AVE", "AVE", "AVE_EXC_PAD", "STOCHASTIC"])
    x = b.bottom(4, kind="positive" if method == "STOCHASTIC" else "")
    words, tops = [f"pool: {method}"], 1
    if b.chance(0.12):
        words.append("global_pooling: true")
    else:
        kernel = [int(b.one([1, 2, 2, 3, 3, 4, 7])) for _ in range(2)]
        stride = [int(b.one([1, 2, 2, 3, 4])) for _ in range(2)]
        kernel, stride = (pair if b.chance(0.3) else [pair[0]] * 2 for pair in (kernel, stride))
        need = [max(0, -(-(k - m) // 2)) for k, m in zip(kernel, b.of(x)[2:])]
        pad = [min(k - 1, n + int(b.one([0, 0, 0, 1, 2]))) for k, n in zip(kernel, need)]
        pad = [0, 0] if method == "STOCHASTIC" else pad if b.chance(0.4) else [min(max(pad), min(kernel) - 1)] * 2
        for name, both, values in (
            ("kernel", "kernel_size", kernel),
            ("stride", "stride", stride),
            ("pad", "pad", pad),
        ):
            if values[0] == values[1] and b.chance(0.7):
                words.append(f"{both}: {values[0]}")
            else:
                words.append(f"{name}_h: {values[0]} {name}_w: {values[1]}")
        words.append(str(b.one(["", "", "", "round_mode: FLOOR", "ceil_mode: false", "avg_include_pad: false"])))
        tops = 2 if method == "MAX" and b.chance(0.15) else 1
    b.put(type, [x], f"pooling_param {{ {' '.join(words)} }}", tops)


@edge("SPP")
def pyramid(b: Edges, type: str) -> None:
    b.put(type, [b.bottom(4)], f"spp_param {{ pyramid_height: {b.below(1, 4)} pool: {b.one(['MAX', 'AVE'])} }}")


@edge("InnerProduct")
def inner_product(b: Edges, type: str) -> None:
    x = b.bottom(1, 2, 3, 4, 5)
    more = b.one(["", "", "transpose: true", "bias_term: false", "transpose: true bias_term: false"])
    axis = 1 if len(b.of(x)) > 1 and b.chance(0.5) else b.axis(len(b.of(x)))
    b.put(type, [x], f"inner_product_param {{ num_output: {b.size()} axis: {axis} {more} }}")


@edge("Embed")
def embed(b: Edges, type: str) -> None:
    x, most = b.bottom(1, 2, 3, kind="whole5"), b.one(["", "bias_term: false"])
    b.put(type, [x], f"embed_param {{ num_output: {b.size()} input_dim: {b.below(5, 8)} {most} }}")


# Neurons


NEURONS: dict[str, list[str]] = {
    "ReLU": ["", "relu_param { negative_slope: 0.3 }", "relu_param { negative_slope: -1 }", "relu_param { negative_slope: 2 }"],
    "ReLU6": [""],
    "PReLU": ["", "prelu_param { channel_shared: true }"],
    "ELU": ["", "elu_param { alpha: 0 }", "elu_param { alpha: 2.5 }"],
    "Sigmoid": [""], "TanH": [""], "AbsVal": [""], "BNLL": [""], "Quantize": [""], "SeLU": ["", "selu_param { alpha: 2 lambda: 0.5 }"],
    "Swish": ["", "swish_param { beta: 0 }", "swish_param { beta: -2 }"],
    "GELU": ["", "gelu_param { coeff: 0 }", "gelu_param { coeff: -2 }"],
    "HardSigmoid": ["", "hard_sigmoid_param { alpha: 0 beta: 1 }", "hardsigmoid_param { alpha: -2 beta: 2 }"],
    "HardSwish": [""], "Mish": [""], "SignedSqrt": [""], "Softsign": [""], "Softplus": [""],
    "Clip": ["clip_param { min: -0.5 max: 0.5 }", "clip_param { min: 0 max: 0 }", "clip_param { min: 1 max: 2 }"],
    "Threshold": ["", "threshold_param { threshold: -1 }", "threshold_param { threshold: 1 }"],
    "Power": [
        "", "power_param { power: 0 }", "power_param { scale: 0 shift: 3 }", "power_param { power: 2 scale: -3 shift: 1 }", "power_param { scale: 0 }",
        "power_param { power: 3 shift: -1 }", "power_param { power: 1 scale: 2 shift: 1e4 }", "power_param { shift: 0.5 }", "power_param { power: 4 }",
        "power_param { power: 2 scale: 0 shift: 2 }", "power_param { scale: 1e-3 }",
    ],
    "Exp": ["", "exp_param { base: 2 }", "exp_param { base: 0.5 scale: 2 shift: -1 }", "exp_param { scale: 0 shift: 1 }", "exp_param { base: 1 }"],
    "Dropout": ["", "dropout_param { dropout_ratio: 0.9 }", "dropout_param { dropout_ratio: 0.3 scale_train: false }", "dropout_param { dropout_ratio: 0 }"],
    "SpatialDropout": [""], "SeLUDropout": [""],
    "CReLU": ["", "crelu_param { negative_slope: 0.4 }", "crelu_param { concat_axis: -1 }"],
    "Rescale": ["", "rescale_param { rf: 2 }"],
}  # fmt: skip
GROWING = {"CReLU", "Rescale"}  # that do not work in place


@edge(*NEURONS)
def neuron(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 3, 5) if type in ("PReLU", "CReLU", "SpatialDropout") else b.bottom(4, 4, 2, 1, 3, 5)
    b.put(type, [x], str(b.one(NEURONS[type])), in_place=type not in GROWING)


@edge("PowerOfPositive", "Log")
def of_positive(b: Edges, type: str) -> None:
    x = b.bottom(4, 2, 1, 3, kind="positive")
    power = [
        "power_param { power: 0.5 shift: 0.1 }",
        "power_param { power: -1 shift: 0.5 scale: 2 }",
        "power_param { power: 1.7 }",
    ]
    log = [
        "log_param { shift: 0.5 }",
        "log_param { base: 10 shift: 1 scale: 2 }",
        "log_param { base: 0.5 shift: 2 }",
        "log_param { shift: 1 scale: 0 }",
    ]
    b.put("Log" if type == "Log" else "Power", [x], str(b.one(log if type == "Log" else power)))


# Normalisation


@edge("BatchNorm")
def batch_norm(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 4, 2, 3, 5, 1)
    words = [
        b.one(["", "", "", "use_global_stats: true", "use_global_stats: false"]),
        b.one(["", "eps: 0.1", "eps: 1e-2", "eps: 0" if b.chance(0.3) else ""]),
        b.one(["", "", "moving_average_fraction: 0.5", "moving_average_fraction: 0", "moving_average_fraction: 1"]),
        b.one(["", "", "", "", "scale_bias: true", "scale_filler { value: 2 } bias_filler { value: 1 }"])
        if len(b.of(x)) > 1
        else "",
    ]
    b.put(type, [x], f"batch_norm_param {{ {' '.join(map(str, words))} }}", in_place=True)


@edge("BN")
def bn(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 3, 5)
    text = str(b.one(["", "eps: 0.1", "frozen: true", "momentum: 0.5", "bn_mode: LEARN", "bn_mode: INFERENCE"]))
    b.put(type, [x], f"bn_param {{ {text} }}", tops=3 if "LEARN" in text and b.chance(0.4) else 1, in_place=True)


def broadcast(b: Edges, type: str, param: str, bias: str) -> None:
    x = b.bottom(4, 4, 4, 1, 2, 3, 5)
    shape = b.of(x)
    first = b.below(0, len(shape))
    last = b.below(first, len(shape)) + 1
    axis = first - len(shape) if b.chance(0.3) else first
    if b.chance(0.35):
        other = () if b.chance(0.1) else shape[first:last]
        b.put(type, [x, b.feed(other)], f"{param} {{ axis: {axis} {bias} }}", in_place=True)
        return
    if len(shape) > 1 and b.chance(0.4):
        words = ""
    else:
        words = f"axis: {axis} num_axes: {b.one([last - first, last - first, 0] + [-1] * (last == len(shape)))}"
    b.put(type, [x], f"{param} {{ {words} {bias} }}", in_place=True)


@edge("Scale")
def scale(b: Edges, type: str) -> None:
    broadcast(b, type, "scale_param", str(b.one(["", "bias_term: true"])))


@edge("Bias")
def bias(b: Edges, type: str) -> None:
    broadcast(b, type, "bias_param", "")


@edge("LRN")
def lrn(b: Edges, type: str) -> None:
    words = [
        f"local_size: {b.one([1, 3, 5, 7, 9])}", b.one(["", "norm_region: WITHIN_CHANNEL"]), b.one(["", "k: 2", "k: 0.5"]),
        b.one(["", "alpha: 0.0001", "alpha: 0"]), b.one(["", "beta: 0.5", "beta: 0", "beta: 1.5"]),
    ]  # fmt: skip
    b.put(type, [b.bottom(4)], f"lrn_param {{ {' '.join(map(str, words))} }}")


@edge("MVN")
def mvn(b: Edges, type: str) -> None:
    words = [
        b.one(["", "normalize_variance: false"]),
        b.one(["", "across_channels: true"]),
        b.one(["", "eps: 1e-3", "add_eps_before_sqrt: true eps: 0.1"]),
    ]
    b.put(type, [b.bottom(4, 4, 3, 2, 5)], f"mvn_param {{ {' '.join(map(str, words))} }}")


@edge("Normalize")
def normalize(b: Edges, type: str) -> None:
    words = [b.one(["", "across_spatial: false"]), b.one(["", "channel_shared: false"]), b.one(["", "eps: 0.1"])]
    b.put(type, [b.bottom(4, 4, 3, 2)], f"norm_param {{ {' '.join(map(str, words))} }}")


@edge("Softmax")
def softmax(b: Edges, type: str) -> None:
    x = b.bottom(4, 2, 1, 3, 5)
    b.put(type, [x], f"softmax_param {{ axis: {b.axis(len(b.of(x)))} }}", in_place=True)


# Several bottoms or tops


@edge("Eltwise")
def eltwise(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 1, 3, 5)
    bottoms = [x, *(x if b.chance(0.15) else b.same(x) for _ in range(int(b.one([1, 1, 1, 2, 3]))))]
    operation = b.one(["SUM", "SUM", "PROD", "MAX"])
    coeff = (
        listed("coeff", [b.one([1, 1, -1, 0, 0.5, 2]) for _ in bottoms]) if operation == "SUM" and b.chance(0.6) else ""
    )
    more = "stable_prod_grad: false" if operation == "PROD" and b.chance(0.2) else ""
    b.put(type, bottoms, f"eltwise_param {{ operation: {operation} {coeff} {more} }}", in_place=x not in bottoms[1:])


@edge("Concat")
def concat(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 1, 3, 5)
    shape = b.of(x)
    axis = b.axis(len(shape))
    at = axis % len(shape)
    parts = [x]
    for _ in range(int(b.one([0, 1, 1, 2, 3]))):
        size = 0 if b.chance(0.04) else b.size(4)
        parts.append(x if b.chance(0.2) else b.feed((*shape[:at], size, *shape[at + 1 :])))
    b.rng.shuffle(parts)
    b.put(type, parts, f"concat_param {{ {'concat_dim' if axis >= 0 and b.chance(0.1) else 'axis'}: {axis} }}")


@edge("Slice")
def slice_(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 1, 3, 5)
    shape = b.of(x)
    axis = b.axis(len(shape))
    length = shape[axis]
    if b.chance(0.4):
        tops, points = int(b.one([n for n in range(1, 5) if length % n == 0])), ""
    else:
        inner = range(1, length)
        cuts = (
            sorted(int(i) for i in b.rng.choice(inner, size=b.below(0, min(4, len(inner) + 1)), replace=False))
            if length > 1
            else []
        )
        tops, points = len(cuts) + 1, listed("slice_point", cuts)
    b.put(type, [x], f"slice_param {{ axis: {axis} {points} }}", tops)


@edge("Split", "Gather")
def split(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 1, 3)
    b.put(type, [x], "", b.below(1, 4) if type == "Split" else 1)


@edge("Axpy")
def axpy(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 3, 2, 5)
    n, c = b.of(x)[:2]
    b.put(type, [b.feed((n, c) if b.chance(0.4) else (n, c, 1, 1)), x, b.same(x)])


@edge("Crop")
def crop(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 3, 2, 5)
    shape = b.of(x)
    axis = b.axis(len(shape))
    at = axis % len(shape)
    wanted = [b.below(1, m + 1) if m else 0 for m in shape[at:]]
    room = [m - k for m, k in zip(shape[at:], wanted)]
    if b.chance(0.4):
        offsets = [b.below(0, min(room) + 1)]
    else:
        offsets = [b.below(0, m + 1) for m in room]
    like = b.feed((*(b.size() for _ in range(at)), *wanted))
    b.put(type, [x, like], f"crop_param {{ axis: {axis} {listed('offset', offsets)} }}")


@edge("Filter")
def filter_(b: Edges, type: str) -> None:
    x = b.bottom(4, 2, 1, 3)
    more = [b.feed((b.of(x)[0], *b.shape(b.below(0, 3))))] if b.chance(0.3) else []
    b.put(type, [x, *more, b.feed((b.of(x)[0],), "bits")], "", 1 + len(more))


@edge("BatchReindex")
def batch_reindex(b: Edges, type: str) -> None:
    x = b.bottom(4, 2, 1, 3)
    b.put(type, [x, b.feed((b.below(0, 6) if b.of(x)[0] else 0,), f"whole{b.of(x)[0]}")])


# Shapes


@edge("Permute", "Transpose")
def permute(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 3, 5, 1)
    order = [int(i) for i in b.rng.permutation(len(b.of(x)))]
    if type == "Transpose":
        b.put(type, [x], f"transpose_param {{ {listed('dim', order)} }}")
    else:
        b.put(type, [x], f"permute_param {{ {listed('order', order[: b.below(0, len(order) + 1)])} }}")


@edge("Reshape")
def reshape(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 3, 1, 5)
    shape = b.of(x)
    first = b.below(0, len(shape) + 1)
    last = b.below(first, len(shape) + 1)
    inner, dims = list(shape[first:last]), []
    for i, size in enumerate(inner):
        dims.append(0 if b.chance(0.3) and i == len(dims) else size)
    b.rng.shuffle(dims) if 0 not in dims and b.chance(0.5) else None
    if len(dims) > 1 and 0 not in dims and b.chance(0.5):
        dims[-2:] = [dims[-1] * dims[-2]]
    if b.chance(0.3):
        dims.insert(b.below(0, len(dims) + 1) if 0 not in dims else len(dims), 1)
    if dims and b.chance(0.5) and 0 not in inner:
        dims[b.below(0, len(dims))] = -1
    axis = first - len(shape) - 1 if b.chance(0.3) else first
    count = -1 if last == len(shape) and b.chance(0.5) else last - first
    b.put(type, [x], f"reshape_param {{ shape {{ {listed('dim', dims)} }} axis: {axis} num_axes: {count} }}")


@edge("Flatten")
def flatten(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 3, 1, 5)
    rank = len(b.of(x))
    first = b.below(0, rank)
    last = b.below(first, rank)
    axis, end = (i - rank if b.chance(0.3) else i for i in (first, last))
    b.put(type, [x], "" if rank > 1 and b.chance(0.2) else f"flatten_param {{ axis: {axis} end_axis: {end} }}")


@edge("Tile")
def tile(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 3, 1, 5)
    b.put(type, [x], f"tile_param {{ axis: {b.axis(len(b.of(x)))} tiles: {b.below(1, 4)} }}")


@edge("Reduction")
def reduction(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 2, 3, 1, 5)
    words = f"operation: {b.one(['SUM', 'ASUM', 'SUMSQ', 'MEAN'])} axis: {b.axis(len(b.of(x)))} {b.one(['', 'coeff: -2', 'coeff: 0', 'coeff: 0.5'])}"
    b.put(type, [x], f"reduction_param {{ {words} }}")


@edge("ArgMax")
def argmax(b: Edges, type: str) -> None:
    x = b.bottom(4, 2, 3, 1, 5)
    shape = b.of(x)
    axis = b.axis(len(shape)) if b.chance(0.6) else None
    most = prod(shape[1:]) if axis is None else shape[axis]
    words = [f"top_k: {b.below(1, min(4, most) + 1)}" if most else "", "out_max_val: true" if b.chance(0.4) else ""]
    b.put(type, [x], f"argmax_param {{ {' '.join(words)} {'' if axis is None else f'axis: {axis}'} }}")


@edge("ShuffleChannel")
def shuffle_channel(b: Edges, type: str) -> None:
    x = b.bottom(4, 4, 3, 2)
    c = b.of(x)[1]
    b.put(type, [x], f"shuffle_channel_param {{ group: {b.one([g for g in range(1, c + 1) if c % g == 0] or [1])} }}")


@edge("MIL")
def mil(b: Edges, type: str) -> None:
    if b.chance(0.5):
        b.put(type, [b.bottom(4, 2, 3)], "")
    else:
        count = int(b.one([1, 2, 3]))
        n, c = b.shape(2)
        b.put(type, [b.feed((n * count, c))], f"mil_param {{ context_per_roi: {count} }}")


@edge("Correlation")
def correlation(b: Edges, type: str) -> None:
    shape = b.shape(4)
    most, kernel = int(b.one([0, 1, 2, 3])), int(b.one([1, 1, 3]))
    words = [f"kernel_size: {kernel} max_displacement: {most} pad: {b.below(0, most + kernel + 1)}"]
    words += [f"stride_1: {b.one([1, 2, 3])}", f"stride_2: {b.one([1, 2])}"]
    b.put(type, [b.feed(shape), b.feed(shape)], f"correlation_param {{ {' '.join(words)} }}")


@edge("Reorg")
def reorg(b: Edges, type: str) -> None:
    s = int(b.one([1, 2, 3]))
    n, c, h, w = b.shape(4, 2)
    b.put(type, [b.feed((n, c * s * s, h * s, w * s))], f"reorg_param {{ stride: {s} {b.one(['', 'reverse: true'])} }}")


@edge("Tiling")
def tiling(b: Edges, type: str) -> None:
    t = int(b.one([1, 2, 3]))
    n, c, h, w = b.shape(4, 2)
    b.put(type, [b.feed((n, c * t * t, h, w))], f"tiling_param {{ tile_dim: {t} }}")


@edge("Upsample", "UpsampleNearest", "UpsampleDarknet")
def upsample(b: Edges, type: str) -> None:
    x = b.bottom(4)
    h, w = b.of(x)[2:]
    if type == "UpsampleNearest":
        b.put(type, [x], f"upsample_nearest_param {{ scale: {b.below(1, 4)} }}")
    elif type == "UpsampleDarknet":
        b.put(type, [x], f"upsample_darknet_param {{ stride: {b.below(1, 4)} }}")
    elif b.chance(0.6):
        b.put(
            type,
            [x],
            f"upsample_param {{ {b.one(['scale: 2', 'scale: 3', 'scale_h: 1 scale_w: 3', 'scale_h: 3 scale_w: 2'])} }}",
        )
    else:
        text = str(
            b.one(["", "scale: 3", "pad_out_h: true", "pad_out_w: true", f"upsample_h: {h + 2} upsample_w: {2 * w}"])
        )
        b.put(type, [x, b.feed(b.of(x), f"whole{4 * h * w + 3}")], f"upsample_param {{ {text} }}")


@edge("Interp")
def interp(b: Edges, type: str) -> None:
    text = b.one([
        f"height: {b.size(12)} width: {b.size(12)}", f"zoom_factor: {b.below(1, 4)}", f"shrink_factor: {b.below(1, 4)}",
        f"shrink_factor: {b.below(1, 4)} zoom_factor: {b.below(1, 4)}", f"full_zoom_factor: {b.below(1, 4)}",
    ])  # fmt: skip
    pad = b.one(["", "", "pad_beg: -1", "pad_end: -1", "pad_beg: -1 pad_end: -2"])
    b.put(type, [b.bottom(4)], f"interp_param {{ {text} {pad} }}")


@edge("Flip")
def flip(b: Edges, type: str) -> None:
    b.put(
        type,
        [b.bottom(4)],
        f"flip_param {{ {b.one(['', 'flip_height: true', 'flip_width: false', 'flip_height: true flip_width: false'])} }}",
    )


@edge("Reverse")
def reverse(b: Edges, type: str) -> None:
    x = b.bottom(4, 2, 1, 3)
    axes = [int(i) for i in b.rng.permutation(len(b.of(x)))[: b.below(0, len(b.of(x)) + 1)]]
    b.put(type, [x], f"reverse_param {{ {listed('axis', axes)} }}" if axes else "")


@edge("Maxout")
def maxout(b: Edges, type: str) -> None:
    parts, shape = b.below(1, 4), b.shape(int(b.one([2, 4])))
    b.put(type, [b.feed((parts * shape[0], *shape[1:])), b.feed((1, 2 + parts), "unit")])


# Losses


def loss_param(b: Edges) -> str:
    words = [
        b.one(["", "ignore_label: 1", "ignore_label: 255", "ignore_label: -1"]),
        b.one(
            [
                "",
                *(f"normalization: {mode}" for mode in ("FULL", "VALID", "BATCH_SIZE", "NONE")),
                "normalize: true",
                "normalize: false",
            ]
        ),
    ]
    return f"loss_param {{ {' '.join(map(str, words))} }}"


@edge("SoftmaxWithLoss", "FocalLoss", "SoftmaxWithLossOHEM", "Accuracy", "InfogainLoss")
def of_labels(b: Edges, type: str) -> None:
    x = b.bottom(4, 2, 3)
    shape = b.of(x)
    axis = b.axis(len(shape)) if b.chance(0.3) else 1
    at = axis % len(shape)
    label = b.feed(shape[:at] + shape[at + 1 :], f"whole{shape[at]}")
    text, tops, more = loss_param(b), 1, []
    if type == "Accuracy":
        words = [
            f"top_k: {b.below(1, min(3, shape[at]) + 1)}" if shape[at] else "",
            b.one(["", "ignore_label: 1", "ignore_label: 0 ignore_label: 2"]),
        ]
        text, tops = f"accuracy_param {{ axis: {axis} {' '.join(map(str, words))} }}", int(b.one([1, 1, 2]))
    elif type == "InfogainLoss":
        text, more, tops = (
            f"infogain_loss_param {{ axis: {axis} }} {text}",
            [b.feed((shape[at], shape[at]), "unit")],
            int(b.one([1, 2])),
        )
    else:
        text += f" softmax_param {{ axis: {axis} }}"
        tops = int(b.one([1, 1, 2] + [3] * ("Softmax" in type)))
        more = [b.feed(b.of(label), "unit")] if type == "SoftmaxWithLoss" and b.chance(0.2) else []
    b.put(type, [x, label, *more], text, tops)


@edge("MultinomialLogisticLoss", "HingeLoss")
def of_rows(b: Edges, type: str) -> None:
    shape = b.shape(int(b.one([2, 2, 4])))
    x = b.feed(shape, "unit" if type[0] == "M" else "x")
    label = b.feed(shape[:1], f"whole{prod(shape[1:])}")
    b.put(type, [x, label], str(b.one(["", "hinge_loss_param { norm: L2 }"])) if type[0] == "H" else "")


@edge("SigmoidCrossEntropyLoss")
def of_targets(b: Edges, type: str) -> None:
    x = b.bottom(2, 4, 1)
    kind = "unit" if b.chance(0.5) else "bits"
    more = [b.feed(b.of(x), "unit")] if b.chance(0.2) else []
    b.put(type, [x, b.feed(b.of(x), kind), *more], loss_param(b))


@edge("EuclideanLoss", "L1Loss", "CosLoss", "SmoothL1Loss")
def of_pairs(b: Edges, type: str) -> None:
    x = b.bottom(2, 4, 1, 3)
    more = [b.feed(b.of(x), "unit") for _ in range(int(b.one([0, 1, 2])))] if type == "SmoothL1Loss" else []
    text = (
        str(b.one(["", "smooth_l1_loss_param { sigma: 3 }", "smooth_l1_loss_param { sigma: 0.5 }"]))
        if type == "SmoothL1Loss"
        else ""
    )
    b.put(type, [x, b.same(x), *more], text)


@edge("ContrastiveLoss")
def contrastive(b: Edges, type: str) -> None:
    x = b.feed(b.shape(2))
    words = f"margin: {b.one([0.5, 1, 3])} {b.one(['', 'legacy_version: true'])}"
    b.put(type, [x, b.feed(b.of(x)), b.feed(b.of(x)[:1], "bits")], f"contrastive_loss_param {{ {words} }}")


# Recurrent layers


@edge("LSTM", "RNN")
def recurrent(b: Edges, type: str) -> None:
    x = b.bottom(3, 3, 4)
    (steps, count), size, states = b.of(x)[:2], b.size(4), 2 if type == "LSTM" else 1
    bottoms = [x, b.feed((steps, count), "bits")]
    if b.chance(0.3):
        bottoms.append(b.feed((count, *b.shape(b.below(1, 3), 4)[0:])))
    exposed = b.chance(0.4)
    if exposed:
        bottoms += [b.feed((1, count, size)) for _ in range(states)]
    b.put(
        type,
        bottoms,
        f"recurrent_param {{ num_output: {size} expose_hidden: {str(exposed).lower()} }}",
        1 + states * exposed,
    )


@edge("LSTMUnit")
def lstm_unit(b: Edges, type: str) -> None:
    n, d = b.shape(2)
    b.put(type, [b.feed((1, n, d)), b.feed((1, n, 4 * d)), b.feed((1, n), "bits")], "", 2)


# Regions


def bins(b: Edges, more: str = "") -> str:
    return f"pooled_h: {b.size(3)} pooled_w: {b.size(3)} spatial_scale: {b.one([1, 1, 0.5, 0.25])} {more}"


def boxes(b: Edges, x: str, text: str, kind: str = "boxes", count: int | None = None) -> str:
    """Regions of the images of a blob, in the pixels that spatial_scale says."""
    n, _, h, w = b.of(x)
    scale = re.search(r"spatial_scale: (\S+)", text)
    by = round(1 / float(scale[1])) if scale else 1
    size = b.size(4) if count is None else count
    return b.feed((size if n else 0, 5 if kind == "boxes" else 6), f"{kind}{n}x{by * h}x{by * w}")


REGIONS = {
    "ROIPooling": "roi_pooling_param", "ROIAlign": "roi_align_param", "PrROIPooling": "prroi_pooling_param", "ROIWarping": "roi_warping_param",
    "ROIAlignRotated": "roi_align_rotated_param", "RiROIAlignRotated": "riroi_align_rotated_param",
    "DeformROIPooling": "deform_roi_pooling_param", "ModulatedDeformROIPooling": "deform_roi_pooling_param",
}  # fmt: skip


@edge(*REGIONS)
def of_regions(b: Edges, type: str) -> None:
    x, more, rest = b.bottom(4), "", []
    if type.startswith(("ROIAlign", "Deform", "Ri", "Mod")):
        more += f" sampling_ratio: {b.one([0, 1, 2])}"
    if type.startswith("ROIAlign"):
        more += str(b.one(["", " aligned: true"]))
    if type == "ROIAlign" and b.chance(0.3):
        more += " pool_mode: MAX"
    if type.endswith("Rotated"):
        more += str(b.one(["", " clockwise: true"]))
    if type == "RiROIAlignRotated":
        more += f" num_orientations: {b.one([n for n in range(1, b.of(x)[1] + 1) if b.of(x)[1] % n == 0] or [1])}"
    text = bins(b, more)
    rois = boxes(b, x, text, "turned" if type.endswith("Rotated") else "boxes")
    h, w = (int(n) for n in re.findall(r"pooled_.: (\d+)", text))
    if "Deform" in type and (b.chance(0.7) or type[0] == "M"):
        rest = [b.feed((b.of(rois)[0], 2, h, w), "offset")]
    if type[0] == "M":
        rest.append(b.feed((b.of(rois)[0], 1, h, w), "unit"))
    b.put(type, [x, rois, *rest], f"{REGIONS[type]} {{ {text} }}")


@edge("PSROIPooling", "PSROIAlign", "DeformablePSROIPooling")
def position_sensitive(b: Edges, type: str) -> None:
    n, _, h, w = b.shape(4)
    group, outputs = b.below(1, 4), b.size(3)
    x = b.feed((n, outputs * group**2, h, w))
    text = f"spatial_scale: {b.one([1, 0.5])} output_dim: {outputs} group_size: {group}"
    rest = []
    rois = boxes(b, x, text)
    if type == "PSROIAlign":
        text += str(b.one(["", " sample_num: 1", " sampling_ratio: 3"]))
    if type == "DeformablePSROIPooling":
        pooled, cells = b.size(3), b.size(3)
        text += (
            f" pooled_size: {pooled} part_size: {cells} sample_per_part: {b.below(1, 4)} trans_std: {b.one([0, 0.1])}"
        )
        if b.chance(0.3):
            text += " no_trans: true"
        else:
            rest = [b.feed((b.of(rois)[0], 2 * int(b.one([1, outputs])), cells, cells), "offset")]
    message = {"PSROIPooling": "psroi_pooling", "PSROIAlign": "psroi_align"}.get(type, "deformable_psroi_pooling")
    b.put(type, [x, rois, *rest], f"{message}_param {{ {text} }}", tops=int(b.one([1, 1, 2])))


@edge("MaskPooling", "MaskResize", "CropAndResize", "CornerPool", "Carafe", "LocalCorrelation")
def of_maps(b: Edges, type: str) -> None:
    x = b.bottom(4)
    n, c, h, w = b.of(x)
    text, rest = "", []
    if type == "MaskPooling":
        rest = [b.feed((n, 1, h, w))]
    elif type == "MaskResize":
        text = f"mask_resize_param {{ output_height: {b.size(9)} output_width: {b.size(9)} }}"
    elif type == "CropAndResize":
        count = b.size(3) if n else 0
        rest = [b.feed((count, 4), "unit"), b.feed((count,), f"whole{n}")]
        text = f"'crop_size': [{b.size(4)}, {b.size(4)}], 'extrapolation_value': {b.one([0, 2])}"
    elif type == "CornerPool":
        text = f"'mode': '{b.one(['top', 'bottom', 'left', 'right'])}'"
    elif type == "Carafe":
        k, s, g = int(b.one([1, 3, 5])), b.below(1, 4), int(b.one([g for g in range(1, c + 1) if c % g == 0] or [1]))
        text, rest = (
            f"'kernel_size': {k}, 'group_size': {g}, 'scale_factor': {s}",
            [b.feed((n, g * k * k, h * s, w * s))],
        )
    else:
        names = {
            "kernel_size": [1, 1, 2, 3],
            "max_displacement": [0, 1, 2],
            "stride": [1, 2],
            "padding": [0, 1, 3],
            "dilation": [1, 2],
            "dilation_patch": [1, 2],
        }
        text, rest = ", ".join(f"'{name}': {b.one(values)}" for name, values in names.items()), [b.same(x)]
    if text and "{" not in text:
        text = f'python_param {{ param_str: "{text}" }}'
    b.put(type, [x, *rest], text)


@edge("DeformableConvolution", "ModulatedDeformableConvolution")
def deformable(b: Edges, type: str) -> None:
    x = b.bottom(4)
    n, c, h, w = b.of(x)
    group, own = (int(b.one([g for g in range(1, c + 1) if c % g == 0] or [1])) for _ in range(2))
    kernel, stride, pad, dilation = b.below(1, 4), b.below(1, 3), b.below(0, 3), b.below(1, 3)
    size = [(m + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for m in (h, w)]
    if min(size) < 1:
        raise Refused
    text = f"num_output: {group * b.below(1, 3)} group: {group} kernel_size: {kernel} stride: {stride} pad: {pad} dilation: {dilation} deformable_group: {own}"
    rest = [b.feed((n, 2 * own * kernel**2, *size))]
    if type[0] == "M":
        rest.append(b.feed((n, own * kernel**2, *size), "x"))
    b.put(type, [x, *rest], f"deformable_convolution_param {{ {text} {b.one(['', 'bias_term: false'])} }}")


@edge("RotateROIPooling")
def rotate_roi_pooling(b: Edges, type: str) -> None:
    x, text = b.bottom(4), bins(b)
    rois = boxes(b, x, text, "turned")
    b.put(type, [x, rois, b.feed((1, 3), "large")], f"rotate_pooling_param {{ {text} }}", tops=int(b.one([1, 2])))


# Detections


@edge("PriorBox")
def prior_box(b: Edges, type: str) -> None:
    x = b.bottom(4)
    n, _, h, w = b.of(x)
    image = b.feed((n, 3, h * b.below(1, 5) + b.below(0, 3), w * b.below(1, 5) + b.below(0, 3)))
    small = [b.number(1, 30) for _ in range(b.below(1, 3))]
    words = [
        listed("min_size", small),
        listed("max_size", [float(s) + b.below(1, 30) for s in small]) if b.chance(0.5) else "",
        listed("aspect_ratio", [b.one([1, 2, 0.5, 3, 1.5]) for _ in range(b.below(0, 4))]),
        b.one(["", "flip: false"]), b.one(["", "clip: true"]), b.one(["", "offset: 0", "offset: 0.25"]),
        b.one(["", "variance: 0.3", "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2"]),
        b.one(["", "step: 4", "step_h: 3 step_w: 5"]), b.one(["", "", "img_size: 20", "img_h: 30 img_w: 17"]),
    ]  # fmt: skip
    b.put(type, [x, image], f"prior_box_param {{ {' '.join(map(str, words))} }}")


@edge("DetectionOutput")
def detection_output(b: Edges, type: str) -> None:
    images, priors, classes = b.below(1, 4), b.below(1, 12), b.below(1, 5)
    shared = b.chance(0.6)
    loc = b.feed((images, priors * 4 * (1 if shared else classes)))
    prior = b.feed((1, 2, 4 * priors), "priors")
    words = [
        f"num_classes: {classes} share_location: {str(shared).lower()}", f"background_label_id: {b.one([0, 0, -1, classes - 1])}",
        f"code_type: {b.one(['CORNER', 'CENTER_SIZE', 'CENTER_SIZE', 'CORNER_SIZE'])}", b.one(["", "variance_encoded_in_target: true"]),
        b.one(["", f"keep_top_k: {b.below(0, 9)}", "keep_top_k: -1"]), b.one(["", "confidence_threshold: 0.3", "confidence_threshold: 0.99"]),
        f"nms_param {{ nms_threshold: {b.one([0.1, 0.45, 0.7])} {b.one(['', f'top_k: {b.below(1, 9)}'])} {b.one(['', '', 'eta: 0.8'])} }}",
    ]  # fmt: skip
    b.put(
        type,
        [loc, b.feed((images, priors * classes), "unit"), prior],
        f"detection_output_param {{ {' '.join(words)} }}",
    )


@edge("MultiBoxLoss")
def multibox_loss(b: Edges, type: str) -> None:
    images, priors, classes = b.below(1, 4), b.below(1, 12), b.below(2, 5)
    bottoms = [b.feed((images, priors * 4)), b.feed((images, priors * classes)), b.feed((1, 2, 4 * priors), "priors")]
    bottoms.append(b.feed((1, 1, b.below(1, 6), 8), f"truth{images}x{classes}"))
    words = [
        f"num_classes: {classes} code_type: {b.one(['CORNER', 'CENTER_SIZE', 'CENTER_SIZE', 'CORNER_SIZE'])}", b.one(["", "loc_loss_type: L2"]),
        b.one(["", "match_type: BIPARTITE"]), b.one(["", "use_difficult_gt: false"]), b.one(["", "mining_type: NONE"]), b.one(["", "loc_weight: 2"]),
        b.one(["", "neg_pos_ratio: 1.5", "neg_overlap: 0.2"]), b.one(["", "overlap_threshold: 0.2"]),
    ]  # fmt: skip
    norm = b.one(["", "", *(f"loss_param {{ normalization: {mode} }}" for mode in ("FULL", "BATCH_SIZE", "NONE"))])
    b.put(type, bottoms, f"multibox_loss_param {{ {' '.join(map(str, words))} }} {norm}")


@edge("Proposal")
def proposal(b: Edges, type: str) -> None:
    n, h, w = b.below(1, 3), b.size(5), b.size(5)
    ratios, scales = (
        [b.one([0.5, 1, 2, 3]) for _ in range(b.below(1, 3))],
        [b.one([0.5, 1, 2]) for _ in range(b.below(1, 3))],
    )
    count, stride = len(ratios) * len(scales), b.one([8, 16])
    bottoms = [
        b.feed((n, 2 * count, h, w), "unit"),
        b.feed((n, 4 * count, h, w), "offset"),
        b.feed((1, 3), f"info{h * 16}x{w * 16}"),
    ]
    text = f"'feat_stride': {stride}, 'ratios': {ratios}, 'scales': {scales}, 'rpn_pre_nms_top_n': {b.below(1, 40)}, 'rpn_post_nms_top_n': {b.below(1, 20)}"
    text += f", 'rpn_nms_thresh': {b.one([0.3, 0.7])}, 'rpn_min_size': {b.one([0, 4, 16])}"
    b.put(type, bottoms, f'python_param {{ param_str: "{{{text}}}" }}', tops=int(b.one([1, 2])))


# Cases


def draw(number: int, seed: int, types: tuple[str, ...] = (), refusals: collections.Counter[str] | None = None) -> Case:
    """The case of a number: up to four layers; `types` are those that it is to have, `refusals` counts what our layers refuse."""
    rng = np.random.default_rng([seed, number, 2])
    b = Edges(rng, "TRAIN" if rng.random() < 0.25 else "TEST")
    dtype = "float64" if b.chance(0.3) else "float32"
    for _ in range(b.below(1, 5)):
        before = list(b.nodes), dict(b.shapes), set(b.read)
        type = str(b.one(types or tuple(LAYERS)))
        try:
            LAYERS[type](b, type)
        except (Refused, BoxpressoError) as error:
            b.nodes, b.shapes, b.read = before
            if refusals is not None and not isinstance(error, Refused):
                refusals[re.sub(r"'[^']*'|-?\d+(\.\d+)?", "#", str(error))] += 1
    return Case(tuple(b.nodes), (), dtype, phase=b.phase)


NAMES = ("definition", "gradient", "onnxruntime", "export", "batch")


def ask(case: Case, name: str, shrinking: float) -> tuple[str, str]:
    """A verdict, and what is found or why a case says nothing."""
    oracle = ORACLES[name]
    try:
        if oracle(case) is None:
            return "same", ""
        less = scripts.shrink(case, shrinking, oracle)
        return "different", f"{name}: {oracle(less)}\n{less.text}\n{less.dtype} {less.phase}"
    except (Unfit, BoxpressoError) as error:
        return "unfit", f"{type(error).__name__} {error.__cause__ or error}"
    except Exception as error:  # none of ours
        return "different", f"{name}: {type(error).__name__}: {error}\n{case.text}\n{case.dtype} {case.phase}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--minutes", type=float, default=1.0)
    add("--seed", type=int, default=0)
    add("--first", type=int, default=0, help="the number of the first case")
    add("--cases", type=int, help="stop after that many")
    add("--case", type=int, help="this case alone")
    add("--type", action="append", choices=sorted(LAYERS), default=[])
    add("--oracle", action="append", choices=NAMES, default=[])
    add("--shrink", type=float, default=10.0, help="seconds of CPU time to make a finding smaller")
    add("--refused", action="store_true", help="list what our layers refused")
    args = parser.parse_args()
    os.environ.setdefault("BOXPRESSO_PROGRESS", "0")
    warnings.simplefilter("ignore")
    others = all(find_spec(name) for name in ("onnx", "onnxruntime"))
    oracles, types = tuple(args.oracle or NAMES[: None if others else 2]), tuple(args.type)
    counts, refusals, verdicts = collections.Counter[str](), collections.Counter[str](), collections.Counter[str]()
    end, number = time.monotonic() + args.minutes * 60, args.first if args.case is None else args.case
    last = number + (args.cases or 10**9) if args.case is None else number + 1
    while number < last and time.monotonic() < end:
        case = draw(number, args.seed, types, refusals)
        number += 1
        layers = [node.type for node in case.nodes if node.type != "Input"]
        if not layers:
            continue
        counts.update(layers)
        if args.case is not None:
            print(case.text, case.dtype, case.phase, sep="\n")
        for oracle in oracles:
            verdict, line = ask(case, oracle, args.shrink)
            verdicts[f"{oracle} {verdict}"] += 1
            if verdict == "different":
                print(f"case {number - 1} of seed {args.seed}: {line}\n", flush=True)
            elif args.case is not None:
                print(oracle, verdict, line)
    for name, count in sorted([*verdicts.items(), *((f"layer {key}", value) for key, value in counts.items())]):
        print(f"{count:8} {name}")
    if args.refused:
        for name, count in refusals.most_common():
            print(f"{count:8} refused: {name[:220]}")
    different = sum(count for name, count in verdicts.items() if name.endswith("different"))
    print(f"{sum(counts.values())} layers in {number - args.first} nets, {different} findings")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
