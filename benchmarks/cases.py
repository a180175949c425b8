"""What is measured: cases as plain dictionaries, and the arrays that every program is given for them.

Only numpy is needed here, so that any Python that has another program can import this file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Case = dict[str, Any]

# The shapes of the mlu-ops design note (pooled 7 x 7), and Faster R-CNN's.
PYRAMID = [((2, 256, 200, 304), 998, 1 / 4), ((2, 256, 100, 152), 13, 1 / 8), ((2, 256, 50, 76), 11, 1 / 16),
           ((2, 256, 25, 38), 2, 1 / 32)]  # fmt: skip
VGG = (1, 512, 38, 63), 300, 1 / 16

# Convolutions: channels, num_output, size, kernel, stride, pad, dilation, group; those of SSD300, then of MobileNet-SSD.
CONVOLUTIONS = [
    (3, 64, 300, 3, 1, 1, 1, 1), (64, 64, 300, 3, 1, 1, 1, 1), (64, 128, 150, 3, 1, 1, 1, 1),
    (128, 128, 150, 3, 1, 1, 1, 1), (128, 256, 75, 3, 1, 1, 1, 1), (256, 256, 75, 3, 1, 1, 1, 1),
    (256, 512, 38, 3, 1, 1, 1, 1), (512, 512, 38, 3, 1, 1, 1, 1), (512, 512, 19, 3, 1, 1, 1, 1),
    (512, 1024, 19, 3, 1, 6, 6, 1), (1024, 1024, 19, 1, 1, 0, 1, 1), (1024, 256, 19, 1, 1, 0, 1, 1),
    (256, 512, 19, 3, 2, 1, 1, 1), (512, 128, 10, 1, 1, 0, 1, 1), (128, 256, 10, 3, 2, 1, 1, 1),
    (256, 128, 5, 1, 1, 0, 1, 1), (128, 256, 5, 3, 1, 0, 1, 1), (512, 100, 38, 3, 1, 1, 1, 1),
    (1024, 150, 19, 3, 1, 1, 1, 1), (512, 150, 10, 3, 1, 1, 1, 1), (256, 150, 5, 3, 1, 1, 1, 1),
    (256, 100, 3, 3, 1, 1, 1, 1),
    (3, 32, 300, 3, 2, 1, 1, 1), (32, 32, 150, 3, 1, 1, 1, 32), (32, 64, 150, 1, 1, 0, 1, 1),
    (64, 64, 150, 3, 2, 1, 1, 64), (64, 128, 75, 1, 1, 0, 1, 1), (128, 128, 75, 3, 1, 1, 1, 128),
    (128, 128, 75, 1, 1, 0, 1, 1), (128, 128, 75, 3, 2, 1, 1, 128), (128, 256, 38, 1, 1, 0, 1, 1),
    (256, 256, 38, 3, 1, 1, 1, 256), (256, 256, 38, 1, 1, 0, 1, 1), (256, 256, 38, 3, 2, 1, 1, 256),
    (256, 512, 19, 1, 1, 0, 1, 1), (512, 512, 19, 3, 1, 1, 1, 512), (512, 512, 19, 1, 1, 0, 1, 1),
    (512, 512, 19, 3, 2, 1, 1, 512), (512, 1024, 10, 1, 1, 0, 1, 1), (1024, 1024, 10, 3, 1, 1, 1, 1024),
    (1024, 1024, 10, 1, 1, 0, 1, 1), (1024, 256, 10, 1, 1, 0, 1, 1), (256, 512, 10, 3, 2, 1, 1, 1),
    (512, 128, 5, 1, 1, 0, 1, 1), (128, 256, 5, 3, 2, 1, 1, 1), (512, 75, 19, 1, 1, 0, 1, 1),
    (1024, 150, 10, 1, 1, 0, 1, 1),
]  # fmt: skip

# Trunks that are trained: batch, size of the image, then layers. ("c", outputs): 3x3 convolution and ReLU; "p": 2x2 pooling;
# ("s", outputs): 3x3 convolution of stride 2, BatchNorm, Scale and ReLU; ("d", channels, outputs, stride): a depthwise and a
# 1x1 convolution, each with BatchNorm, Scale and ReLU.
TRUNKS: dict[str, tuple[int, int, list[Any]]] = {
    "VGG16 trunk, 300x300, batch 1": (1, 300, [
        ("c", 64), ("c", 64), "p", ("c", 128), ("c", 128), "p", ("c", 256), ("c", 256), ("c", 256), "p",
        ("c", 512), ("c", 512), ("c", 512), "p", ("c", 512), ("c", 512), ("c", 512)]),
    "MobileNet trunk, 300x300, batch 4": (4, 300, [
        ("s", 32), ("d", 32, 64, 1), ("d", 64, 128, 2), ("d", 128, 128, 1), ("d", 128, 256, 2), ("d", 256, 256, 1),
        ("d", 256, 512, 2), *[("d", 512, 512, 1)] * 5, ("d", 512, 1024, 2), ("d", 1024, 1024, 1)]),
}  # fmt: skip


def region_cases() -> list[Case]:
    """Region operators, forward and backward."""
    made: list[Case] = []

    def add(op: str, shape: tuple[int, ...], count: int, scale: float, ratio: int = 2, backward: bool = False) -> None:
        how = f", {'adaptive' if ratio == 0 else 'sampling 2'}" if "align" in op or "deform" in op else ""
        name = f"{op}{' backward' * backward} {list(shape)} {count} regions{how}"
        made.append({"kind": "region", "name": name, "op": op, "shape": list(shape), "count": count, "scale": scale,
                     "ratio": ratio, "backward": backward})  # fmt: skip

    for shape, count, scale in PYRAMID:
        for ratio in (2, 0):
            for backward in (False, True):
                add("roi_align", shape, count, scale, ratio, backward)
    for op in ("roi_align_max", "roi_align_rotated", "deform_roi_pool"):
        for ratio in (2, 0):
            for backward in (False, True):
                add(op, *PYRAMID[0], ratio, backward)
    for op, shapes in (("prroi_pool", PYRAMID[:1]), ("roi_pool", [VGG, PYRAMID[0]])):
        for shape, count, scale in shapes:
            for backward in (False, True):
                add(op, shape, count, scale, backward=backward)
    add("roi_pool_channels_last", *VGG)
    add("ps_roi_pool", (1, 1029, 38, 63), 300, 1 / 16)
    return made


def layer_cases() -> list[Case]:
    """Single layers: convolutions, forward and each gradient, and permutations."""
    made: list[Case] = []
    for values in CONVOLUTIONS:
        names = ("channels", "outputs", "size", "kernel", "stride", "pad", "dilation", "group")
        c = dict(zip(names, values))
        name = f"{c['channels']}->{c['outputs']} {c['kernel']}x{c['kernel']} {c['size']}x{c['size']}"
        name += "".join(
            f" {letter} {n}" for letter, n in (("s", c["stride"]), ("d", c["dilation"]), ("g", c["group"])) if n > 1
        )
        made += [
            {"kind": "convolution", "name": f"{name}{suffix}", "want": want, **c}
            for want, suffix in (("forward", ""), ("data", " data gradient"), ("weights", " weight gradient"))
        ]
    for shape in ((32, 512, 38, 38), (1, 512, 38, 38)):
        made.append({"kind": "permute", "name": f"permute {list(shape)} to 0, 2, 3, 1", "shape": list(shape)})
    return made


def train_cases() -> list[Case]:
    return [{"kind": "train", "name": name} for name in TRUNKS]


def regions_of(case: Case) -> np.ndarray:
    """Regions of 16 to 400 pixels inside the image: (K, 5), or (K, 6) with an angle in radians for rotated ones."""
    rng, (batch, _, height, width) = np.random.default_rng(0), case["shape"]
    height, width = height / case["scale"], width / case["scale"]
    size = rng.uniform(16, min(400, height / 2), (case["count"], 2))
    corner = rng.uniform(0, 1, (case["count"], 2)) * ([width, height] - size)
    rows = np.c_[rng.integers(0, batch, case["count"]), corner, corner + size].astype(np.float32)
    if case["op"] != "roi_align_rotated":
        return rows
    angle = np.random.default_rng(3).uniform(-np.pi, np.pi, (case["count"], 1))
    return np.c_[rows[:, :1], (rows[:, 1:3] + rows[:, 3:]) / 2, rows[:, 3:] - rows[:, 1:3], angle].astype(np.float32)


def arrays_of(case: Case) -> dict[str, np.ndarray]:
    """The inputs of a case, the same in every process."""
    normal = lambda seed, *shape: np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)  # noqa: E731
    if case["kind"] == "permute":
        return {"x": normal(1, *case["shape"])}
    if case["kind"] == "convolution":
        size, kernel = case["size"], case["kernel"]
        out = (size + 2 * case["pad"] - case["dilation"] * (kernel - 1) - 1) // case["stride"] + 1
        inner = case["channels"] // case["group"]
        return {
            "x": normal(1, 1, case["channels"], size, size), "w": normal(2, case["outputs"], inner, kernel, kernel),
            "b": normal(3, case["outputs"]), "g": normal(4, 1, case["outputs"], out, out),
        }  # fmt: skip
    if case["kind"] == "train":
        batch, size, _ = TRUNKS[case["name"]]
        return {"x": normal(0, batch, 3, size, size), "g": normal(6, *top_of(case["name"]))}
    channels = case["shape"][1] // 49 if case["op"] == "ps_roi_pool" else case["shape"][1]
    x = normal(1, *case["shape"])
    if case["op"] == "roi_pool_channels_last":
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    arrays = {"x": x, "rois": regions_of(case), "g": normal(2, case["count"], channels, 7, 7)}
    return {**arrays, "offset": normal(5, case["count"], 2, 7, 7)} if case["op"] == "deform_roi_pool" else arrays


def top_of(trunk: str) -> tuple[int, int, int, int]:
    """The shape of what a trunk computes."""
    batch, size, layers = TRUNKS[trunk]
    channels = 3
    for layer in layers:
        stride = 2 if layer == "p" or layer[0] == "s" else layer[3] if layer[0] == "d" else 1
        size = -(-size // stride)
        channels = channels if layer == "p" else layer[2] if layer[0] == "d" else layer[1]
    return batch, channels, size, size


def weights_of(trunk: str) -> list[np.ndarray]:
    """The weights of a trunk in the order of its convolutions (with a bias after each of "c"), scaled by fan-in."""
    rng, channels, made = np.random.default_rng(1), 3, []

    def weight(outputs: int, inner: int, kernel: int) -> np.ndarray:
        scale = np.sqrt(2 / (inner * kernel**2))
        return (rng.standard_normal((outputs, inner, kernel, kernel)) * scale).astype(np.float32)

    for layer in TRUNKS[trunk][2]:
        if layer[0] == "c":
            made += [weight(layer[1], channels, 3), np.zeros(layer[1], np.float32)]
        elif layer[0] == "s":
            made.append(weight(layer[1], channels, 3))
        elif layer[0] == "d":
            made += [weight(layer[1], 1, 3), weight(layer[2], layer[1], 1)]
        channels = channels if layer == "p" else layer[-1] if layer[0] != "d" else layer[2]
    return made
