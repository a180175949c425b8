"""Random nets: a net is the list of its layers, drawn from a seed, each a line of prototxt that can be left out again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence

import numpy as np

Shape = tuple[int, ...]
VIEWS = ("Split", "Reshape", "Flatten", "Dropout")  # in Caffe their tops are their bottom's memory


@dataclasses.dataclass(frozen=True)
class Node:
    """One layer: names, and the text of its parameters."""

    type: str
    name: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]
    text: str = ""

    def __str__(self) -> str:
        names = " ".join([*(f'bottom: "{b}"' for b in self.bottoms), *(f'top: "{t}"' for t in self.tops)])
        return " ".join(f'layer {{ name: "{self.name}" type: "{self.type}" {names} {self.text} }}'.split())


def text(nodes: Sequence[Node]) -> str:
    return "\n".join(map(str, nodes))


class Refused(Exception):
    """What was drawn does not fit the blobs that there are."""


class Builder:
    """A net while it grows. `shapes` are those of all blobs, by our own formulas; blobs of `read` have a reader."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.nodes = rng, list[Node]()
        self.shapes, self.read = dict[str, Shape](), set[str]()

    # Draws

    def one(self, values: Sequence) -> object:
        return values[int(self.rng.integers(len(values)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def below(self, first: int, end: int) -> int:
        return int(self.rng.integers(first, end))

    def number(self, low: float, high: float) -> str:
        return f"{self.rng.uniform(low, high):.2f}"

    def pick(self, suits: Callable[[Shape], bool] = lambda s: True) -> str:
        """A blob, more often a late one."""
        names = [name for name, shape in self.shapes.items() if suits(shape)]
        if not names:
            raise Refused
        back = min(int(self.rng.exponential(1.5)), len(names) - 1)
        return names[-1 - back]

    def image(self) -> str:
        return self.pick(lambda s: len(s) == 4)

    def like(self, shape: Shape, free: int | None = None) -> list[str]:
        """The blobs of that shape, but for axis `free`."""

        def fits(other: Shape) -> bool:
            return len(other) == len(shape) and all(a == b or i == free for i, (a, b) in enumerate(zip(other, shape)))

        return [name for name, other in self.shapes.items() if fits(other)]

    # What is added

    def add(self, type: str, bottoms: str | Sequence[str], shapes: Shape | Sequence[Shape], text: str = "") -> str:
        """A layer with new tops; the name of the first."""
        bottoms = (bottoms,) if isinstance(bottoms, str) else tuple(bottoms)
        shapes = [shapes] if shapes and isinstance(shapes[0], int) else list(shapes)
        if any(min(s, default=1) < 1 or np.prod(s) > 40000 for s in shapes):
            raise Refused
        n = len(self.nodes)
        tops = tuple(f"b{n}" if i == 0 else f"b{n}_{i}" for i in range(len(shapes)))
        self.nodes.append(Node(type, f"{type.lower()}{n}", bottoms, tops, text))
        self.read.update(bottoms)
        for top, shape in zip(tops, shapes):
            self.shapes[top] = tuple(map(int, shape))
        return tops[0] if tops else ""

    def place(self, type: str, blob: str, text: str = "", often: float = 0.7, more: Sequence[str] = ()) -> str:
        """A layer that keeps the shape: in place where nothing has read the blob, with that probability."""
        if not self.chance(often) or (blob in self.read and not self.chance(0.05)):
            return self.add(type, [blob, *more], self.shapes[blob], text)
        n, shape = len(self.nodes), self.shapes.pop(blob)
        self.nodes.append(Node(type, f"{type.lower()}{n}", (blob, *more), (blob,), text))
        self.read.update(more)
        self.shapes[blob] = shape  # now the latest
        return blob


# Layers that keep the shape

CURVES: dict[str, Callable[[Builder], str]] = {
    "ReLU": lambda b: b.one(["", "", "", "relu_param { negative_slope: 0.1 }"]),
    "ReLU6": lambda b: "",
    "PReLU": lambda b: b.one(["", "prelu_param { channel_shared: true }"]),
    "ELU": lambda b: f"elu_param {{ alpha: {b.number(0.2, 1.5)} }}",
    "Sigmoid": lambda b: "",
    "TanH": lambda b: "",
    "AbsVal": lambda b: "",
    "BNLL": lambda b: "",
    "Swish": lambda b: f"swish_param {{ beta: {b.number(0.5, 2)} }}",
    "GELU": lambda b: f"gelu_param {{ coeff: {b.number(0.5, 2)} }}",
    "HardSigmoid": lambda b: f"hard_sigmoid_param {{ alpha: {b.number(0.2, 1)} }}",
    "HardSwish": lambda b: "",
    "Mish": lambda b: "",
    "Softsign": lambda b: "",
    "Clip": lambda b: "clip_param { min: -0.5 max: 0.75 }",
    "Threshold": lambda b: f"threshold_param {{ threshold: {b.number(-0.5, 0.5)} }}",
    "Power": lambda b: b.one([
        "power_param { scale: 0.5 shift: 1 }", "power_param { scale: -1 shift: 1 }", "power_param { power: 2 scale: 0.3 }",
        "power_param { scale: 2 }", "", "power_param { power: 0 }",
    ]),
    "Exp": lambda b: b.one(["exp_param { scale: 0.2 }", "exp_param { base: 2 scale: 0.3 shift: -1 }"]),
    "Dropout": lambda b: "dropout_param { dropout_ratio: 0.4 }",
}  # fmt: skip
EASY = ("ReLU", "ReLU", "ReLU", "PReLU", "Sigmoid", "Power", "Power", "Dropout")
FILLERS = 'filler { type: "gaussian" std: 1 } bias_filler { type: "gaussian" std: 1 }'


def curve(b: Builder, blob: str | None = None, types: Sequence[str] = ()) -> str:
    blob = blob or b.pick()
    if len(b.shapes[blob]) < 2:
        raise Refused
    type = b.one(types or (EASY if b.chance(0.5) else list(CURVES)))
    return b.place(type, blob, CURVES[type](b))


def logarithm(b: Builder) -> str:
    return b.place("Log", b.place("AbsVal", b.pick()), "log_param { shift: 1.5 }")


def normalised(b: Builder, blob: str | None = None) -> str:
    """Some of BatchNorm, Scale, Bias and ReLU after one another."""
    blob, start = blob or b.pick(lambda s: len(s) >= 2), len(b.nodes)
    if b.chance(0.7):
        own = "batch_norm_param { use_global_stats: false }" if b.chance(0.08) else ""
        blob = b.place("BatchNorm", blob, own, 0.8)
    if b.chance(0.7):
        blob = b.place("Scale", blob, f"scale_param {{ bias_term: {b.one(['true', 'false'])} {FILLERS} }}", 0.8)
    if b.chance(0.15):
        blob = b.place("Bias", blob, 'bias_param { filler { type: "gaussian" } }', 0.8)
    if b.chance(0.6) or len(b.nodes) == start:
        blob = b.place("ReLU", blob, CURVES["ReLU"](b), 0.9)
    return blob


def local(b: Builder) -> str:
    name = b.image()
    shape = b.shapes[name]
    type, text = b.one([
        ("LRN", ""), ("LRN", "lrn_param { local_size: 3 alpha: 0.5 beta: 0.6 k: 2 }"),
        ("LRN", "lrn_param { norm_region: WITHIN_CHANNEL local_size: 3 alpha: 0.4 }"),
        ("Normalize", ""), ("Normalize", "norm_param { across_spatial: false channel_shared: false }"),
        ("MVN", ""), ("MVN", "mvn_param { across_channels: true }"), ("MVN", "mvn_param { normalize_variance: false }"),
        ("Softmax", ""), ("Softmax", "softmax_param { axis: 2 }"), ("Softmax", "softmax_param { axis: -1 }"),
    ])  # fmt: skip
    if type == "Softmax":
        return b.place(type, name, text, 0.2)
    return b.add(type, name, shape, text)


def softmax(b: Builder) -> str:
    name = b.pick(lambda s: len(s) >= 2)
    return b.place("Softmax", name, f"softmax_param {{ axis: {b.below(1, len(b.shapes[name]))} }}", 0.3)


# Sums of windows


def filters(b: Builder, outputs: int, kernel: int, text: str = "") -> str:
    bias = "" if b.chance(0.75) else "bias_term: false"
    return f"convolution_param {{ num_output: {outputs} kernel_size: {kernel} {bias} {text} }}"


def conv(b: Builder, blob: str | None = None, outputs: int = 0, shared: str = "", keep: bool = False) -> str:
    """A Convolution; `keep` keeps height and width."""
    blob = blob or b.image()
    n, c, h, w = b.shapes[blob]
    outputs = outputs or b.one([1, 2, 3, 4, 5, 6, 8, 8, 12, 16, 17, 33])
    kernel = b.one([1, 1, 3, 3, 3, 5])
    pad, stride, dilation = (
        (kernel // 2, 1, 1) if keep or b.chance(0.5) else (b.below(0, 4), b.below(1, 4), b.below(1, 3))
    )
    groups = [g for g in range(1, c + 1) if c % g == 0 and outputs % g == 0]
    group = b.one(groups) if b.chance(0.2) else 1
    size = [(m + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for m in (h, w)]
    rest = f"pad: {pad} stride: {stride} dilation: {dilation} group: {group}"
    line = filters(b, outputs, kernel, rest)
    if not keep and b.chance(0.07):  # other sizes in height and width
        bias = "" if b.chance(0.7) else "bias_term: false"
        line = f"convolution_param {{ num_output: {outputs} kernel_h: 1 kernel_w: 3 pad_h: 0 pad_w: 1 stride_h: 2 stride_w: 1 {bias} }}"
        size = [(h - 1) // 2 + 1, w]
    return b.add("Convolution", blob, (n, outputs, *size), f"{shared} {line}")


def depthwise(b: Builder) -> str:
    blob = b.image()
    n, c, h, w = b.shapes[blob]
    kernel, stride = b.one([1, 3, 3, 5]), b.one([1, 1, 2])
    pad = b.one([kernel // 2, 0, 2])
    size = [(m + 2 * pad - kernel) // stride + 1 for m in (h, w)]
    type, group = b.one([("Convolution", f"group: {c}"), ("DepthwiseConvolution", "")])
    return b.add(type, blob, (n, c, *size), filters(b, c, kernel, f"pad: {pad} stride: {stride} {group}"))


def deconv(b: Builder) -> str:
    blob = b.image()
    n, c, h, w = b.shapes[blob]
    kernel, stride = b.below(1, 5), b.below(1, 4)
    pad, outputs = b.below(0, (kernel + 1) // 2 + 1), b.below(1, 9)
    group = ""
    if b.chance(0.4):
        outputs, group = c, f"group: {c}"
    size = [stride * (m - 1) + kernel - 2 * pad for m in (h, w)]
    return b.add(
        "Deconvolution", blob, (n, outputs, *size), filters(b, outputs, kernel, f"pad: {pad} stride: {stride} {group}")
    )


def dense(b: Builder) -> str:
    blob = b.pick(lambda s: len(s) >= 2)
    shape = b.shapes[blob]
    axis, outputs = (1 if b.chance(0.8) else b.below(1, len(shape))), b.below(1, 20)
    more = b.one(["", "", "transpose: true", "bias_term: false"])
    text = f"inner_product_param {{ num_output: {outputs} axis: {axis} {more} }}"
    return b.add("InnerProduct", blob, (*shape[:axis], outputs), text)


def pooled(size: int, kernel: int, stride: int, pad: int, floor: bool = False) -> int:
    """Caffe's rule: rounded up, and the last window starts inside the image or its padding before."""
    count = (size + 2 * pad - kernel + (0 if floor else stride - 1)) // stride + 1
    return count - 1 if pad and (count - 1) * stride >= size + pad else count


def pool(b: Builder) -> str:
    blob = b.image()
    n, c, h, w = b.shapes[blob]
    kind = b.one(["MAX", "MAX", "AVE"])
    if b.chance(0.15):
        return b.add("Pooling", blob, (n, c, 1, 1), f"pooling_param {{ pool: {kind} global_pooling: true }}")
    kernel = b.one([1, 2, 2, 2, 3, 3])
    stride, pad = b.one([1, 2, 2, 3][: kernel + 1]), b.one([0, 0, 1])
    if pad >= kernel or min(h, w) + 2 * pad < kernel:
        raise Refused
    floor = b.chance(0.1)
    size = [pooled(m, kernel, stride, pad, floor) for m in (h, w)]
    more = ("round_mode: FLOOR " if floor else "") + (
        "avg_include_pad: false" if kind == "AVE" and b.chance(0.1) else ""
    )
    text = f"pooling_param {{ pool: {kind} kernel_size: {kernel} stride: {stride} pad: {pad} {more} }}"
    return b.add("Pooling", blob, (n, c, *size), text)


# Several bottoms or tops


def eltwise(b: Builder) -> str:
    first = b.pick()
    others = [name for name in b.like(b.shapes[first]) if name != first or b.chance(0.1)]
    if not others:
        raise Refused
    operands = [first, b.one(others), *([b.one(others)] if b.chance(0.2) else [])]
    if b.chance(0.5):
        operands.reverse()
    operation = b.one(["SUM", "SUM", "SUM", "MAX", "PROD"])
    coeff = (
        " ".join(f"coeff: {b.one([0.5, -1, 2, 1])}" for _ in operands) if operation == "SUM" and b.chance(0.3) else ""
    )
    text = f"eltwise_param {{ operation: {operation} {coeff} }}"
    blob = b.add("Eltwise", operands, b.shapes[first], text)
    return curve(b, blob, ["ReLU"]) if b.chance(0.5) else blob


def residual(b: Builder) -> str:
    """Two branches of one shape and their sum."""
    start = b.image()
    c = b.shapes[start][1]
    blob = normalised(b, conv(b, start, keep=True)) if b.chance(0.5) else start
    ends = [conv(b, blob, c, keep=True), start]
    if b.chance(0.5):
        ends[0] = normalised(b, ends[0])
    if b.chance(0.3):
        ends[1] = normalised(b, conv(b, start, c, keep=True))
    if b.shapes[ends[0]] != b.shapes[ends[1]]:
        raise Refused
    if b.chance(0.5):
        ends.reverse()
    blob = b.add("Eltwise", ends, b.shapes[start])
    return curve(b, blob, ["ReLU", "ReLU", "PReLU"]) if b.chance(0.7) else blob


def concat(b: Builder) -> str:
    first = b.pick(lambda s: len(s) >= 2)
    shape = b.shapes[first]
    axis = 1 if b.chance(0.8) else b.below(0, len(shape))
    others = b.like(shape, axis)
    parts = [first, *(b.one(others) for _ in range(b.below(1, 4)))]
    b.rng.shuffle(parts)
    total = sum(b.shapes[p][axis] for p in parts)
    blob = b.add("Concat", parts, (*shape[:axis], total, *shape[axis + 1 :]), f"concat_param {{ axis: {axis} }}")
    return curve(b, blob, EASY) if b.chance(0.3) else blob


def branches(b: Builder) -> str:
    """Convolutions of one blob, with and without activations, joined by channels."""
    start = b.image()
    parts = []
    for _ in range(b.below(2, 4)):
        part = conv(b, start, keep=True)
        parts.append(normalised(b, part) if b.chance(0.6) else part)
    if b.chance(0.3):
        parts.append(start)
    n, _, h, w = b.shapes[start]
    return b.add("Concat", parts, (n, sum(b.shapes[p][1] for p in parts), h, w))


def slices(b: Builder) -> str:
    blob = b.pick(lambda s: max(s[1:], default=1) > 1)
    shape = b.shapes[blob]
    axis = b.one([i for i in range(1, len(shape)) if shape[i] > 1])
    point = b.below(1, shape[axis])
    parts = [(*shape[:axis], m, *shape[axis + 1 :]) for m in (point, shape[axis] - point)]
    top = b.add("Slice", blob, parts, f"slice_param {{ axis: {axis} slice_point: {point} }}")
    return curve(b, b.one(b.nodes[-1].tops), EASY) if b.chance(0.5) else top


def copies(b: Builder) -> str:
    blob = b.pick()
    top = b.add("Split", blob, [b.shapes[blob]] * b.below(1, 4))
    return curve(b, b.one(b.nodes[-1].tops), EASY) if b.chance(0.5) else top


def gate(b: Builder) -> str:
    """Squeeze and excitation: Axpy, or Scale with two bottoms."""
    x = b.image()
    n, c, _, _ = b.shapes[x]
    g = b.add("Pooling", x, (n, c, 1, 1), "pooling_param { pool: AVE global_pooling: true }")
    g = b.place("Sigmoid", b.add("Convolution", g, (n, c, 1, 1), filters(b, c, 1)), "", 0.8)
    if b.chance(0.5):
        other = b.one(b.like(b.shapes[x]))
        blob = b.add("Axpy", [g, x, other], b.shapes[x])
    else:
        g = b.add("Reshape", g, (n, c), "reshape_param { shape { dim: 0 dim: -1 } }")
        blob = b.add("Scale", [x, g], b.shapes[x], "scale_param { axis: 0 }")
    return normalised(b, blob) if b.chance(0.5) else blob


def crop(b: Builder) -> str:
    blob = b.image()
    shape = b.shapes[blob]

    def smaller(other: Shape) -> bool:
        return len(other) == 4 and other[2] <= shape[2] and other[3] <= shape[3]

    like = b.one([name for name, other in b.shapes.items() if smaller(other)])
    h, w = b.shapes[like][2:]
    offsets = [b.below(0, shape[2] - h + 1), b.below(0, shape[3] - w + 1)]
    text = f"crop_param {{ axis: 2 offset: {offsets[0]} offset: {offsets[1]} }}"
    return b.add("Crop", [blob, like], (*shape[:2], h, w), text)


# Shapes


def permute(b: Builder) -> str:
    blob = b.pick(lambda s: len(s) >= 3)
    shape = b.shapes[blob]
    orders = [
        (0, 2, 3, 1),
        (0, 2, 3, 1),
        (0, 3, 1, 2),
        (0, 1, 3, 2),
        (0, 2, 1, 3),
        (0, 1, 2, 3),
        (1, 0, 2, 3),
        (3, 2, 1, 0),
    ]
    order = b.one(orders) if len(shape) == 4 else tuple(int(i) for i in b.rng.permutation(len(shape)))
    text = f"permute_param {{ {' '.join(f'order: {i}' for i in order)} }}"
    blob = b.add("Permute", blob, [shape[i] for i in order], text)
    return curve(b, blob, EASY) if b.chance(0.5) else blob


def view(b: Builder) -> str:
    blob = b.pick(lambda s: len(s) >= 2)
    shape = b.shapes[blob]
    if b.chance(0.5):
        axis = b.one([1, 1, 2][: len(shape)])
        if axis >= len(shape):
            raise Refused
        new: Shape = (*shape[:axis], int(np.prod(shape[axis:])))
        blob = b.add("Flatten", blob, new, f"flatten_param {{ axis: {axis} }}")
    else:
        rest = int(np.prod(shape[1:]))
        part = b.one([m for m in range(1, min(rest, 12) + 1) if rest % m == 0])
        new, dims = b.one([
            ((shape[0], rest // part, part), (0, -1, part)),
            ((shape[0], rest // part, 1, part), (0, -1, 1, part)),
            ((shape[0], part, rest // part), (0, part, -1)),
            ((shape[0], part, rest // part, 1), (0, part, -1, 1)),
        ])  # fmt: skip
        blob = b.add("Reshape", blob, new, f"reshape_param {{ shape {{ {' '.join(f'dim: {d}' for d in dims)} }} }}")
    return curve(b, blob, EASY) if b.chance(0.4) else blob


def tile(b: Builder) -> str:
    blob = b.pick(lambda s: len(s) >= 2)
    shape = list(b.shapes[blob])
    axis, times = b.below(1, len(shape)), b.below(1, 4)
    shape[axis] *= times
    return b.add("Tile", blob, shape, f"tile_param {{ axis: {axis} tiles: {times} }}")


def reduction(b: Builder) -> str:
    blob = b.pick(lambda s: len(s) >= 2)
    shape, operation = b.shapes[blob], b.one(["SUM", "ASUM", "SUMSQ", "MEAN"])
    axis = b.below(1, len(shape))
    return b.add(
        "Reduction", blob, shape[:axis], f"reduction_param {{ operation: {operation} axis: {axis} coeff: 0.5 }}"
    )


def argmax(b: Builder) -> str:
    blob = b.pick(lambda s: len(s) == 4)
    shape = list(b.shapes[blob])
    axis = b.below(1, 4)
    shape[axis] = 1
    return b.add("ArgMax", blob, shape, f"argmax_param {{ axis: {axis} out_max_val: {b.one(['true', 'false'])} }}")


def larger(b: Builder) -> str:
    blob = b.image()
    n, c, h, w = b.shapes[blob]
    if b.chance(0.5):
        return b.add("Upsample", blob, (n, c, 2 * h, 2 * w), "upsample_param { scale: 2 }")
    return (
        b.add("Interp", blob, (n, c, 2 * h - 1, 2 * w - 1), "interp_param { zoom_factor: 2 }")
        if min(h, w) > 1
        else larger(b)
    )


def rearranged(b: Builder) -> str:
    blob = b.image()
    n, c, h, w = b.shapes[blob]
    if c % 4 == 0 and h % 2 == 0 and w % 2 == 0 and b.chance(0.6):
        return b.add("Reorg", blob, (n, 4 * c, h // 2, w // 2), "reorg_param { stride: 2 }")
    group = b.one([g for g in range(1, c + 1) if c % g == 0])
    return b.add("ShuffleChannel", blob, (n, c, h, w), f"shuffle_channel_param {{ group: {group} }}")


def silence(b: Builder) -> str:
    return b.add("Silence", b.pick(), [])


def rois(b: Builder) -> str:
    """Regions of a further input."""
    blob = b.image()
    c = b.shapes[blob][1]
    regions = f"rois{len(b.nodes)}"
    b.nodes.insert(0, Node("Input", regions, (), (regions,), "input_param { shape { dim: 3 dim: 5 } }"))
    text = "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 1 }"
    blob = b.add("ROIPooling", [blob, regions], (3, c, 2, 3), text)
    return normalised(b, blob) if b.chance(0.5) else blob


def twins(b: Builder) -> str:
    """Two convolutions of one weight and, or not, one bias."""
    blob = b.image()
    n, c, h, w = b.shapes[blob]
    name = f"shared{len(b.nodes)}"
    names = f'param {{ name: "{name}_w" }} ' + (f'param {{ name: "{name}_b" }}' if b.chance(0.5) else "param { }")
    one = b.add(
        "Convolution", blob, (n, c, h, w), f"{names} convolution_param {{ num_output: {c} kernel_size: 3 pad: 1 }}"
    )
    one = normalised(b, one) if b.chance(0.5) else one
    return b.add(
        "Convolution", one, (n, c, h, w), f"{names} convolution_param {{ num_output: {c} kernel_size: 3 pad: 1 }}"
    )


def heads(b: Builder) -> str:
    """SSD: of one or two images, boxes, probabilities and priors; detections."""
    data = next(iter(b.shapes))
    sources = list(dict.fromkeys(b.image() for _ in range(b.below(1, 3))))
    if len(b.shapes[data]) != 4 or any(b.shapes[s][0] != b.shapes[data][0] for s in sources):
        raise Refused
    classes, parts = 3, {"loc": [], "conf": [], "prior": []}
    for source in sources:
        n, _, h, w = b.shapes[source]
        if h * w > 200:
            raise Refused
        for kind, outputs in (("loc", 4), ("conf", classes)):
            blob = conv(b, source, 2 * outputs, keep=True)
            blob = b.add(
                "Permute", blob, (n, h, w, 2 * outputs), "permute_param { order: 0 order: 2 order: 3 order: 1 }"
            )
            parts[kind].append(b.add("Flatten", blob, (n, 2 * outputs * h * w), "flatten_param { axis: 1 }"))
        text = "prior_box_param { min_size: 3 max_size: 6 clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }"
        parts["prior"].append(b.add("PriorBox", [source, data], (1, 2, 2 * 4 * h * w), text))
    n = b.shapes[parts["loc"][0]][0]
    joined = {}
    for kind, names in parts.items():
        axis = 2 if kind == "prior" else 1
        shape = (1, 2) if kind == "prior" else (n,)
        total = sum(b.shapes[name][axis] for name in names)
        joined[kind] = b.add("Concat", names, (*shape, total), f"concat_param {{ axis: {axis} }}")
    count = b.shapes[joined["loc"]][1] // 4
    rows = b.add(
        "Reshape", joined["conf"], (n, count, classes), f"reshape_param {{ shape {{ dim: 0 dim: -1 dim: {classes} }} }}"
    )
    prob = b.add("Softmax", rows, (n, count, classes), "softmax_param { axis: 2 }")
    flat = b.add("Flatten", prob, (n, count * classes), "flatten_param { axis: 1 }")
    if b.chance(0.6):
        text = (
            f"detection_output_param {{ num_classes: {classes} share_location: true background_label_id: 0 "
            "nms_param { nms_threshold: 0.45 top_k: 20 } code_type: CENTER_SIZE keep_top_k: 10 confidence_threshold: 0.3 }"
        )
        made = b.add("DetectionOutput", [joined["loc"], flat, joined["prior"]], (1, 1, 1, 7), text)
        del b.shapes[made]  # how many rows, only a forward tells
    return flat


# Where values come from, and what carries a state on


def dims(shape: Shape) -> str:
    return f"shape {{ {' '.join(f'dim: {d}' for d in shape)} }}"


def joined(b: Builder, blob: str, other: str) -> str:
    """Another blob of the same shape, and the sum, product or join of the two, or neither."""
    shape = b.shapes[blob]
    if b.chance(0.3):
        return curve(b, other, EASY) if len(shape) > 1 else other
    if len(shape) > 1 and b.chance(0.3):
        return b.add("Concat", [other, blob], (shape[0], 2 * shape[1], *shape[2:]), "concat_param { axis: 1 }")
    text = f"eltwise_param {{ operation: {b.one(['SUM', 'PROD', 'MAX'])} }}"
    return b.add("Eltwise", [blob, other], shape, text)


def inputs(b: Builder) -> str:
    """One or two further inputs, of one layer, as large as the first."""
    shape, n = b.shapes.get("x"), len(b.nodes)
    if shape is None:
        raise Refused
    tops = tuple(f"i{n}_{j}" for j in range(b.below(1, 3)))
    b.nodes.insert(0, Node("Input", f"input{n}", (), tops, f"input_param {{ {dims(shape)} }}"))
    known = dict(b.shapes)
    b.shapes.clear()
    b.shapes.update(dict.fromkeys(tops, shape) | known)
    return joined(b, b.one(b.like(shape)), b.one(tops))


def source(b: Builder) -> str:
    """Values that no input gives: constants, random ones, or those of a parameter."""
    blob = b.pick()
    shape = b.shapes[blob]
    other = b.one([
        ("DummyData", f'dummy_data_param {{ {dims(shape)} data_filler {{ type: "constant" value: 0.5 }} }}'),
        ("DummyData", f'dummy_data_param {{ {dims(shape)} data_filler {{ type: "gaussian" std: 1 }} }}'),
        ("Parameter", f"parameter_param {{ {dims(shape)} }}"),
    ])  # fmt: skip
    return joined(b, blob, b.add(other[0], (), shape, other[1]))


def state(b: Builder) -> str:
    """A layer that a forward must run once and no more."""
    blob = b.pick(lambda s: len(s) >= 2)
    if b.chance(0.7):
        return b.add("FuzzCounter", blob, b.shapes[blob])
    size = int(np.prod(b.shapes[blob]))
    row = b.add("Reshape", blob, (1, 1, size), "reshape_param { shape { dim: 1 dim: 1 dim: -1 } }")
    go_on = b.add(
        "DummyData",
        (),
        (1, 1),
        'dummy_data_param { shape { dim: 1 dim: 1 } data_filler { type: "constant" value: 1 } }',
    )
    filler = 'weight_filler { type: "xavier" }'
    return b.add(b.one(["LSTM", "RNN"]), [row, go_on], (1, 1, 3), f"recurrent_param {{ num_output: 3 {filler} }}")


def loss(b: Builder) -> str:
    blob = b.pick()
    other = b.one(b.like(b.shapes[blob]))
    weight = b.one(["", "loss_weight: 0.5", "loss_weight: 0"])
    if b.chance(0.5):
        b.add("Reduction", blob, [()], f"loss_weight: 0.1 reduction_param {{ operation: {b.one(['SUM', 'SUMSQ'])} }}")
    else:
        b.add("EuclideanLoss", [blob, other], [()], weight)
    del b.shapes[b.nodes[-1].tops[0]]  # no layer is to read it
    return blob


FAMILIES: dict[str, dict[Callable[[Builder], str], float]] = {
    "windows": {conv: 8, depthwise: 2, deconv: 1, dense: 1.5, pool: 4, twins: 0.4},
    "neurons": {curve: 5, normalised: 4, logarithm: 0.3},
    "norms": {local: 1.2, softmax: 0.8},
    "joins": {eltwise: 3, residual: 2, concat: 3, branches: 2, slices: 1.5, copies: 1, gate: 0.7},
    "views": {permute: 2, view: 2.5},
    "shapes": {crop: 0.5, tile: 0.4, reduction: 0.5, argmax: 0.3, larger: 0.7, rearranged: 0.6, silence: 0.2},
    "regions": {rois: 0.4, heads: 0.9},
    "sources": {inputs: 0.6, source: 0.6, state: 0.4, loss: 0.5},
}


def draw(seed: int | Sequence[int], families: Collection[str] = tuple(FAMILIES), most: int = 14) -> list[Node]:
    """The layers of a net of up to some `most` and a few more, of the given families."""
    b = Builder(np.random.default_rng(seed))
    n, c, h, w = b.one([1, 1, 2, 3]), b.one([1, 3, 4, 5, 8, 16, 32]), b.below(4, 17), b.below(4, 17)
    if b.chance(0.08):
        n, c, h, w = 1, b.one([3, 16]), b.below(20, 40), b.below(20, 40)
    b.nodes.append(Node("Input", "x", (), ("x",), f"input_param {{ shape {{ dim: {n} dim: {c} dim: {h} dim: {w} }} }}"))
    b.shapes["x"] = n, c, h, w
    weights = {op: weight for name in families for op, weight in FAMILIES[name].items()}
    odds = np.array(list(weights.values())) / sum(weights.values())
    if b.chance(0.15):
        (b.one([curve, normalised]))(b, "x")
    size = b.below(2, most + 1)
    for _ in range(10 * size):
        if len(b.nodes) > size:
            break
        before = list(b.nodes), dict(b.shapes), set(b.read)
        try:
            list(weights)[int(b.rng.choice(len(weights), p=odds))](b)
        except Refused:
            b.nodes, b.shapes, b.read = before
    return b.nodes
