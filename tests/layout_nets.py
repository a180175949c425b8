"""Nets with chains of convolutions, for tests of which layout they get on a GPU."""

from __future__ import annotations

import numpy as np
from test_cuda_plan import FILLED, TURN, conv, layer

from boxpresso import Net
from boxpresso.proto import parse_net

RNG = np.random.default_rng(12)


def start(channels: int, height: int, width: int) -> str:
    return (
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 '
        f"dim: {channels} dim: {height} dim: {width} }} }} }}"
    )


def pool(name: str, bottom: str, more: str) -> str:
    return layer("Pooling", name, bottom, more=f"pooling_param {{ {more} }}")


def relu(name: str, more: str = "") -> str:
    return layer("ReLU", f"{name}_relu", name, top=name, more=more)


def product(name: str, bottom: str) -> str:
    more = 'inner_product_param { num_output: 5 weight_filler { type: "xavier" } bias_filler { type: "gaussian" } }'
    return layer("InnerProduct", name, bottom, more=more)


def normed(name: str, bottom: str, more: str) -> list[str]:
    return [
        conv(name, bottom, f"{more} bias_term: false"), layer("BatchNorm", f"{name}_b", name, top=name),
        layer("Scale", f"{name}_s", name, top=name, more=FILLED),
    ]  # fmt: skip


def fire(name: str, bottom: str) -> list[str]:
    return [
        conv(f"{name}_q", bottom, "num_output: 3 kernel_size: 1"), relu(f"{name}_q"),
        conv(f"{name}_1", f"{name}_q", "num_output: 4 kernel_size: 1"), relu(f"{name}_1"),
        conv(f"{name}_3", f"{name}_q", "num_output: 5 kernel_size: 3 pad: 1"), relu(f"{name}_3"),
        layer("Concat", name, f"{name}_1", f"{name}_3"),
    ]  # fmt: skip


NETS = {
    # Ceil mode, windows that reach into the padding, means that count it and means that do not, odd sizes.
    "VGG": [
        start(3, 21, 18), conv("a1", "x"), relu("a1"), conv("a2", "a1"), relu("a2"), pool("p1", "a2", "kernel_size: 2 stride: 2"),
        conv("b", "p1", "num_output: 7 kernel_size: 3 pad: 1"), relu("b"), pool("p2", "b", "kernel_size: 3 stride: 2 pad: 1 pool: AVE"),
        conv("c", "p2", "num_output: 8 kernel_h: 1 kernel_w: 3 stride: 2 pad_w: 2"), relu("c", "relu_param { negative_slope: 0.1 }"),
        pool("p3", "c", "kernel_size: 2 stride: 1 pad: 1 pool: AVE avg_include_pad: false"), product("fc", "p3"),
        layer("Softmax", "prob", "fc"),
    ],
    "residual": [
        start(3, 17, 13), *normed("c1", "x", "num_output: 8 kernel_size: 5 stride: 2 pad: 2"), relu("c1"),
        pool("p", "c1", "kernel_size: 3 stride: 2"),
        *normed("r1", "p", "num_output: 8 kernel_size: 3 pad: 1"), relu("r1"), *normed("r2", "r1", "num_output: 8 kernel_size: 3 pad: 1"),
        layer("Eltwise", "s1", "r2", "p"), relu("s1"),
        *normed("d0", "s1", "num_output: 12 kernel_size: 1 stride: 2"), *normed("d1", "s1", "num_output: 12 kernel_size: 3 stride: 2 pad: 1"),
        layer("Eltwise", "s2", "d0", "d1"), relu("s2"), pool("all", "s2", "global_pooling: true pool: AVE"), product("fc", "all"),
    ],
    "fires": [
        start(3, 19, 19), conv("c1", "x", "num_output: 6 kernel_size: 3 stride: 2"), relu("c1"), pool("p1", "c1", "kernel_size: 3 stride: 2"),
        *fire("f1", "p1"), *fire("f2", "f1"), pool("p2", "f2", "kernel_size: 3 stride: 2"), *fire("f3", "p2"),
        layer("Dropout", "drop", "f3", top="f3"), conv("c2", "f3", "num_output: 5 kernel_size: 1"), relu("c2"),
        pool("all", "c2", "pool: MAX global_pooling: true"), layer("Softmax", "prob", "all"),
    ],
    "depthwise": [
        start(3, 15, 14), *normed("c0", "x", "num_output: 8 kernel_size: 3 stride: 2 pad: 1"), relu("c0"),
        *normed("dw", "c0", "num_output: 8 group: 8 kernel_size: 3 pad: 1"), relu("dw"), *normed("sep", "dw", "num_output: 12 kernel_size: 1"), relu("sep"),
        conv("dil", "sep", "num_output: 12 group: 3 kernel_size: 3 pad: 2 dilation: 2"), layer("ReLU6", "r6", "dil", top="dil"),
        *normed("dw2", "dil", "num_output: 24 group: 12 kernel_size: 3 stride: 2"), layer("ELU", "e", "dw2"), conv("end", "e", "num_output: 3 kernel_size: 1"),
    ],
    # What cannot be folded: BatchNorm, Scale and PReLU behind a Concat or a pooling; sums with factors, maxima, products.
    "dense": [
        start(4, 11, 12), conv("a", "x"), conv("b", "a", "num_output: 5 kernel_size: 1"), layer("Concat", "ab", "a", "b"),
        layer("BatchNorm", "ab_b", "ab"), layer("Scale", "ab_s", "ab_b", more=FILLED), layer("ReLU", "ab_r", "ab_s", top="ab_s"),
        conv("c", "ab_s", "num_output: 6 kernel_size: 3 pad: 1"), pool("p", "c", "kernel_size: 2 stride: 2"), layer("PReLU", "pp", "p"),
        layer("PReLU", "pps", "pp", more="prelu_param { channel_shared: true }"), conv("d", "pps"), conv("e", "pps"), conv("f", "pps"),
        layer("Eltwise", "m", "d", "e", "f", more="eltwise_param { operation: MAX }"), layer("Power", "pw", "m", more="power_param { power: 2 scale: 0.5 shift: 0.1 }"),
        layer("Eltwise", "w", "pw", "f", more="eltwise_param { coeff: 0.5 coeff: -2 }"), layer("Eltwise", "t", "w", "e", more="eltwise_param { operation: PROD }"),
        layer("Bias", "bi", "t", more='bias_param { filler { type: "gaussian" } }'), layer("TanH", "th", "bi"), conv("y", "th"),
    ],
    # Values that others need too, of which one is an output, and heads that are brought to channels last anyway.
    "heads": [
        start(3, 18, 18), conv("a", "x"), relu("a"), conv("b", "a", "num_output: 8 kernel_size: 3 pad: 1"), relu("b"),
        layer("LRN", "n", "b"), pool("p", "b", "kernel_size: 2 stride: 2"), conv("c", "p", "num_output: 8 kernel_size: 3 pad: 1"), relu("c"),
        *(line for name, count in (("b", 12), ("c", 8)) for line in (
            conv(f"{name}_h", name, f"num_output: {count} kernel_size: 3 pad: 1"), layer("Permute", f"{name}_p", f"{name}_h", more=TURN),
            layer("Flatten", f"{name}_f", f"{name}_p"))),
        layer("Concat", "mbox", "b_f", "c_f"), layer("TanH", "boxes", "mbox"), conv("seen", "c", "num_output: 4 kernel_size: 1"),
    ],
}  # fmt: skip
# Convolutions that are channels last, arrays that are turned to that, and back.
COUNTS = {
    "VGG": (4, 1, 1), "residual": (5, 1, 0), "fires": (11, 1, 0), "depthwise": (6, 1, 1), "dense": (7, 1, 1), "heads": (6, 1, 2),
}  # fmt: skip


def text(name: str) -> str:
    return "\n".join(NETS[name])


def trained(net: Net) -> Net:
    """With statistics as those of a trained BatchNorm, the same in each net of a model."""
    rng = np.random.default_rng(6)
    for name, blobs in net.params.items():
        for i, blob in enumerate(blobs):
            kind = net.layer_dict[name].type
            if kind == "BatchNorm":
                blob.data[...] = [
                    rng.standard_normal(blob.shape),
                    rng.uniform(0.5, 2, blob.shape),
                    np.full(blob.shape, 2.0),
                ][i]
            else:
                blob.data[...] = rng.standard_normal(blob.shape) / np.sqrt(np.prod(blob.shape[1:]))
    return net


def nets(model: str, **options) -> tuple[Net, Net]:
    """By the plan on the GPU, and layer by layer on the CPU in float64."""
    parsed = parse_net(model)
    planned = trained(Net(parsed, seed=4, device="cuda", **options))
    return planned, trained(Net(parsed, seed=4, device="cpu", optimize=False, dtype=np.float64))


def images(net: Net, batch: int = 1, more: int = 0) -> np.ndarray:
    _, channels, height, width = net.blobs["x"].shape
    return RNG.standard_normal((batch, channels, height + more, width)).astype(np.float32)


def program_of(net: Net):
    return net._runner.describe()[0]


def of_kind(net: Net, kind: type) -> list:
    return [step.lowering for step in program_of(net).steps if isinstance(step.lowering, kind)]


def asked_for(monkeypatch, layout: str) -> None:
    monkeypatch.setenv("BOXPRESSO_GPU_LAYOUT", layout)
