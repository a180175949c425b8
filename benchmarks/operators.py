"""The operators of boxpresso.ops beside the forms of them that torch and torchvision have on the CPU: times and ratios.

    python -m benchmarks.operators [--out FILE] [NAME ...]

Needs torch and torchvision in the same Python. Both work on the same arrays, float32, and with the same number of threads. Each
is called in turn, many times; a time is the shortest of them, and results are compared. "backward" is the gradients of all
inputs that have one, for torch what forward and backward together take less the forward. On a shared machine only the ratios
mean something.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from boxpresso import ops

ROUNDS, SECONDS = 3, 1.0  # how often each is called in turn, and for about how long
LEVELS = ((100, 134), (50, 67), (25, 34), (13, 17))  # of an image of 800 x 1066
SCALES = (1 / 8, 1 / 16, 1 / 32, 1 / 64)
Case = tuple[Callable[..., Any], dict[str, Any], dict[str, Any], Callable[..., Any], tuple[str, ...]]


def attention(rng: np.random.Generator, queries: int) -> Case:
    """Places around a point of reference, three pixels away or so, as a net has them after some training."""
    sizes = np.array(LEVELS)
    pixels = sizes.prod(1)
    near = rng.uniform(0, 1, (1, queries, 1, 1, 1, 2))
    if queries == pixels.sum():
        grids = [np.stack(np.meshgrid((np.arange(w) + 0.5) / w, (np.arange(h) + 0.5) / h), -1) for h, w in LEVELS]
        near = np.concatenate([g.reshape(-1, 2) for g in grids]).reshape(near.shape)
    away = 3 * rng.standard_normal((1, queries, 8, 4, 4, 2)) / sizes[None, None, None, :, None, ::-1]
    inputs = {
        "value": rng.standard_normal((1, pixels.sum(), 8, 32)), "spatial_shapes": sizes,
        "level_start_index": np.cumsum(pixels) - pixels, "sampling_locations": near + away,
        "attention_weights": rng.uniform(0, 1, away.shape[:-1]),
    }  # fmt: skip

    def peer(torch: Any, t: dict[str, Any]) -> Any:
        value, where, weights = t["value"], t["sampling_locations"], t["attention_weights"]
        samples = []
        for level, (part, (height, width)) in enumerate(zip(value.split(pixels.tolist(), 1), LEVELS)):
            maps = part.flatten(2).transpose(1, 2).reshape(-1, 32, height, width)
            grid = 2 * where[:, :, :, level].transpose(1, 2).flatten(0, 1) - 1
            samples.append(torch.nn.functional.grid_sample(maps, grid, align_corners=False))
        weights = weights.transpose(1, 2).reshape(8, 1, queries, 16)
        return (
            (torch.stack(samples, -2).flatten(-2) * weights).sum(-1).view(1, 256, queries).transpose(1, 2).contiguous()
        )

    return ops.multi_scale_deformable_attn, inputs, {}, peer, ("value", "sampling_locations", "attention_weights")


def point(rng: np.random.Generator) -> Case:
    inputs = {"x": rng.standard_normal((2, 256, 100, 152)), "points": rng.uniform(0, 1, (2, 784, 2))}

    def peer(torch: Any, t: dict[str, Any]) -> Any:
        grid = 2 * t["points"][:, :, None] - 1
        return torch.nn.functional.grid_sample(t["x"], grid, align_corners=False)[..., 0]

    return ops.point_sample, inputs, {}, peer, ("x", "points")


def crops(rng: np.random.Generator) -> Case:
    low = rng.uniform(0, 0.6, (100, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.05, 0.4, (100, 2))], 1)
    inputs = {"x": rng.standard_normal((1, 256, 50, 76)), "boxes": boxes, "box_indices": np.zeros(100)}

    def peer(torch: Any, t: dict[str, Any]) -> Any:
        b = t["boxes"]
        step = torch.linspace(0, 1, 14)
        y, x = ((b[:, k : k + 1] + step * (b[:, k + 2 : k + 3] - b[:, k : k + 1])) * 2 - 1 for k in (0, 1))
        grid = torch.stack([x[:, None].expand(-1, 14, -1), y[:, :, None].expand(-1, -1, 14)], -1)
        return torch.nn.functional.grid_sample(t["x"].expand(100, -1, -1, -1), grid, align_corners=True)

    return ops.crop_and_resize, inputs, {"crop_size": 14}, peer, ("x", "boxes")


def carafe(rng: np.random.Generator) -> Case:
    masks = rng.uniform(0, 1, (1, 25, 100, 152))
    inputs = {"x": rng.standard_normal((1, 256, 50, 76)), "masks": masks / masks.sum(1, keepdims=True)}

    def peer(torch: Any, t: dict[str, Any]) -> Any:
        parts = torch.nn.functional.unfold(t["x"], 5, padding=2).view(1, 256 * 25, 50, 76)
        wide = torch.nn.functional.interpolate(parts, scale_factor=2, mode="nearest").view(1, 256, 25, 100, 152)
        return (wide * t["masks"][:, None]).sum(2)

    return ops.carafe, inputs, {}, peer, ("x", "masks")


def corner(rng: np.random.Generator) -> Case:
    def peer(torch: Any, t: dict[str, Any]) -> Any:
        return t["x"].flip(3).cummax(3)[0].flip(3)

    return ops.corner_pool, {"x": rng.standard_normal((1, 128, 128, 128))}, {"mode": "left"}, peer, ("x",)


def correlated(rng: np.random.Generator) -> Case:
    inputs = {name: rng.standard_normal((1, 128, 48, 64)) for name in ("x", "other")}

    def peer(torch: Any, t: dict[str, Any]) -> Any:
        wide = torch.nn.functional.pad(t["other"], (4, 4, 4, 4))
        rows = [(t["x"] * wide[:, :, p : p + 48, q : q + 64]).sum(1) for p in range(9) for q in range(9)]
        return torch.stack(rows, 1).view(1, 9, 9, 48, 64)

    return ops.correlation, inputs, {"max_displacement": 4}, peer, ("x", "other")


def pyramid(rng: np.random.Generator) -> Case:
    low, size = rng.uniform(0, 600, (500, 2)), 2 ** rng.uniform(4, 9, (500, 2))
    maps = {f"level {k}": rng.standard_normal((1, 256, h, w)) for k, (h, w) in enumerate(LEVELS)}
    rois = np.concatenate([np.zeros((500, 1)), low, np.minimum(low + size, (1066, 800))], 1)

    def ours(*args: Any, rois: Any, **levels: Any) -> Any:
        return ops.multi_scale_roi_align(list(levels.values()), rois, 7, SCALES, 2, canonical_level=5)

    def back(grad: Any, rois: Any, **levels: Any) -> Any:
        call = ops.multi_scale_roi_align_backward(grad, list(levels.values()), rois, 7, SCALES, 2, canonical_level=5)
        return dict(zip(levels, call["features"]))

    ours.backward = back  # type: ignore[attr-defined]
    held: list[Any] = []

    def peer(torch: Any, t: dict[str, Any]) -> Any:
        if not held:
            vision = importlib.import_module("torchvision")
            held.append(vision.ops.MultiScaleRoIAlign(list(maps), 7, 2, canonical_level=5))
            held[0].scales, held[0].map_levels = list(SCALES), vision.ops.poolers.initLevelMapper(3, 6, 224, 5)
        return held[0]({name: t[name] for name in maps}, [t["rois"][:, 1:]], [(800, 1066)])

    return ours, {**maps, "rois": rois}, {}, peer, tuple(maps)


def pasted(rng: np.random.Generator) -> Case:
    low = rng.uniform(0, 500, (50, 2))
    inputs = {
        "masks": rng.uniform(0, 1, (50, 28, 28)),
        "boxes": np.concatenate([low, low + rng.uniform(20, 300, (50, 2))], 1),
    }

    def peer(torch: Any, t: dict[str, Any]) -> Any:
        x0, y0, x1, y1 = t["boxes"].split(1, 1)
        y, x = (torch.arange(n) + 0.5 for n in (800, 1066))
        y, x = (y - y0) / (y1 - y0) * 2 - 1, (x - x0) / (x1 - x0) * 2 - 1
        grid = torch.stack([x[:, None].expand(-1, 800, -1), y[:, :, None].expand(-1, -1, 1066)], 3)
        return torch.nn.functional.grid_sample(t["masks"][:, None], grid, align_corners=False)[:, 0]

    return ops.paste_masks, inputs, {"image_size": (800, 1066), "threshold": None}, peer, ()


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "multi_scale_deformable_attn, 300 queries": lambda rng: attention(rng, 300),
    "multi_scale_deformable_attn, 17821 queries": lambda rng: attention(rng, sum(h * w for h, w in LEVELS)),
    "multi_scale_roi_align, 500 regions": pyramid,
    "point_sample [2, 256, 100, 152], 784 points": point,
    "crop_and_resize [1, 256, 50, 76], 100 boxes": crops,
    "carafe [1, 256, 50, 76] k 5 s 2": carafe,
    "corner_pool [1, 128, 128, 128]": corner,
    "correlation [1, 128, 48, 64], 9 x 9": correlated,
    "paste_masks, 50 of 800 x 1066": pasted,
}


def shortest(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least time of each, in ms, called in turn."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            end = time.perf_counter() + SECONDS / ROUNDS
            while True:
                start = time.perf_counter()
                call()
                now = time.perf_counter()
                best[name] = min(best[name], 1e3 * (now - start))
                if now >= end:
                    break
    return best


def measure(torch: Any, name: str) -> list[str]:
    op, inputs, options, peer, differentiable = CASES[name](np.random.default_rng(0))
    inputs = {n: a.astype(np.float32) if a.dtype.kind == "f" else a for n, a in inputs.items()}
    tensors = {n: torch.from_numpy(a).requires_grad_(n in differentiable) for n, a in inputs.items()}

    def forward() -> Any:
        with torch.no_grad():
            return peer(torch, tensors)

    result, wanted = op(**inputs, **options), forward().numpy()
    grad = np.random.default_rng(1).standard_normal(result.shape).astype(np.float32)
    off = [np.abs(result - wanted).max() / np.abs(wanted).max()]
    calls: dict[str, Callable[[], Any]] = {"ours": lambda: op(**inputs, **options), "torch": forward}
    if differentiable:
        back: Any = op.backward  # type: ignore[attr-defined]

        def both() -> None:
            for tensor in tensors.values():
                tensor.grad = None
            peer(torch, tensors).backward(torch.from_numpy(grad))

        both()
        grads = back(grad, **inputs, **options)
        off += [
            np.abs(grads[n] - t.grad.numpy()).max() / np.abs(t.grad.numpy()).max()
            for n, t in tensors.items()
            if n in grads
        ]
        calls.update({"ours back": lambda: back(grad, **inputs, **options), "torch both": both})
    best = shortest(calls)
    lines = [f"{name:<46}{'forward':<10}{best['ours']:9.2f}{best['torch']:10.2f}{best['torch'] / best['ours']:8.1f}x"]
    if differentiable:
        theirs = best["torch both"] - best["torch"]
        lines.append(
            f"{'':<46}{'backward':<10}{best['ours back']:9.2f}{theirs:10.2f}{theirs / best['ours back']:8.1f}x"
        )
    if max(off) > 2e-3:
        lines.append(f"    results differ by {max(off):.1e} of the largest number")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="python -m benchmarks.operators")
    parser.add_argument("names", nargs="*", help="words in the names of operators")
    parser.add_argument("--out", type=Path, help="write the table here, too")
    arguments = parser.parse_args()
    torch = importlib.import_module("torch")
    threads = int(os.environ.get("BOXPRESSO_THREADS", os.cpu_count() or 1))
    torch.set_num_threads(threads)
    lines = [
        f"python -m benchmarks.operators: torch {torch.__version__}, {threads} threads, float32; shortest times in ms",
        f"{'operator':<46}{'':<10}{'boxpresso':>9}{'torch':>10}{'ratio':>9}",
    ]
    print("\n".join(lines), flush=True)
    for name in CASES:
        if not arguments.names or any(word in name for word in arguments.names):
            for line in measure(torch, name):
                print(line, flush=True)
                lines.append(line)
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
