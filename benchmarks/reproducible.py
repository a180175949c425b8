"""What the same bits on every CPU cost: python -m benchmarks.reproducible [--seconds 0.5] [WORD ...]

Each net of examples/, and of ../shared/models where that is there, forward by its plan with random weights, and each region
operator forward and backward, in turn as always and with reproducible=True, in one process: the least time of each counts. The
table goes to benchmarks/results/reproducible.txt where no WORD chose rows. The first run compiles both builds of the kernels.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boxpresso import Net, ops
from boxpresso.device import open_device

from .nets import deployed, fill

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "benchmarks" / "results" / "reproducible.txt"
MOST, MEAN = 1.3, 1.15  # what a row, and the geometric mean of all, may be
ROUNDS = 3  # at least
Pair = tuple[Callable[[], Any], Callable[[], Any]]  # as always, and reproducible


def nets() -> Iterator[tuple[str, Callable[[], Pair]]]:
    """The nets' names, and what opens one."""
    folders = [ROOT / "examples", ROOT.parent / "shared" / "models"]
    for path in sorted(path for folder in folders for path in folder.rglob("*.prototxt")):
        if not any(word in path.name for word in ("solver", "train", "test.")) and "broken" not in path.parts:
            folder = next(folder for folder in folders if folder in path.parents)
            yield f"net {path.relative_to(folder).with_suffix('').as_posix()}", partial(opened, path)


def opened(path: Path) -> Pair:
    """A net's forward in both modes, with the same weights and inputs."""
    message, made = deployed(str(path)), []
    for reproducible in (False, True):
        net = Net(message, device="cpu", reproducible=reproducible, source=str(path), anchors=None)
        fill(net)
        rng = np.random.default_rng(1)
        for name in net.inputs:
            shape = net.blobs[name].shape
            size_of_image = len(shape) == 2
            values = np.resize([600, 800, 1], shape) if size_of_image else 50 * rng.standard_normal(shape)
            net.blobs[name].data[...] = values
        made.append(net)
    return made[0].forward, made[1].forward


def operators() -> Iterator[tuple[str, Callable[[], Pair]]]:
    """The region operators on a map of 256 channels, and 128 regions."""
    rng = np.random.default_rng(0)
    drawn = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    shares = lambda *shape: rng.uniform(0, 1, shape).astype(np.float32)  # noqa: E731
    x, corners = drawn(1, 256, 50, 76), 40 * shares(128, 2)
    rois = np.concatenate([np.zeros((128, 1)), 8 * corners, 8 * corners + 60 + 200 * shares(128, 2)], 1).astype(
        np.float32
    )
    turned = np.concatenate([rois[:, :1], rois[:, 1:3] + 80, 40 + 200 * shares(128, 2), 3 * drawn(128, 1)], 1)
    maps, bins = drawn(1, 490, 50, 76), {"output_size": 7, "spatial_scale": 0.0625}
    pixels, levels = drawn(1, 1330, 8, 32), np.array([[25.0, 40], [15, 22]], np.float32)
    cases: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("roi_align", {"x": x, "rois": rois}, {**bins, "sampling_ratio": 2}),
        ("roi_align_rotated", {"x": x, "rois": turned}, {**bins, "sampling_ratio": 2}),
        ("riroi_align_rotated", {"x": x, "rois": turned}, {**bins, "num_orientations": 8}),
        ("rotate_roi_pool", {"x": x, "rois": turned, "image_info": np.array([[800, 1216, 1]], np.float32)}, bins),
        ("roi_pool", {"x": x, "rois": rois}, bins),
        ("prroi_pool", {"x": x, "rois": rois}, bins),
        ("ps_roi_align", {"x": maps, "rois": rois}, {**bins, "sampling_ratio": 2}),
        ("ps_roi_pool", {"x": maps, "rois": rois}, bins),
        ("deform_roi_pool", {"x": x, "rois": rois, "offset": drawn(128, 2, 7, 7)}, {**bins, "sampling_ratio": 2}),
        ("modulated_deform_roi_pool",
         {"x": x, "rois": rois, "offset": drawn(128, 2, 7, 7), "mask": shares(128, 1, 7, 7)}, {**bins, "sampling_ratio": 2}),
        ("deformable_psroi_pool", {"x": maps, "rois": rois, "trans": drawn(128, 2, 7, 7)},
         {"spatial_scale": 0.0625, "output_dim": 10, "group_size": 7, "pooled_size": 7, "sample_per_part": 4,
          "trans_std": 0.1}),
        ("deform_conv2d", {"x": x, "offset": drawn(1, 18, 50, 76), "weight": drawn(64, 256, 3, 3)}, {"padding": 1}),
        ("multi_scale_deformable_attn",
         {"value": pixels, "spatial_shapes": levels, "level_start_index": np.array([0, 1000], np.float32),
          "sampling_locations": shares(1, 300, 8, 2, 4, 2), "attention_weights": shares(1, 300, 8, 2, 4)}, {}),
        ("crop_and_resize",
         {"x": x, "boxes": np.sort(shares(128, 2, 2), 1).reshape(128, 4), "box_indices": np.zeros(128, np.float32)},
         {"crop_size": 14}),
        ("point_sample", {"x": x, "points": shares(1, 2000, 2)}, {}),
        ("carafe", {"x": drawn(1, 64, 25, 38), "masks": shares(1, 25, 50, 76)}, {"kernel_size": 5}),
        ("corner_pool", {"x": x}, {"mode": "left"}),
        ("correlation", {"x": drawn(1, 64, 25, 38), "other": drawn(1, 64, 25, 38)}, {"max_displacement": 4}),
    ]  # fmt: skip
    for name, arrays, options in cases:
        op = getattr(ops, name)
        yield f"{name} forward", partial(both, partial(op, **arrays, **options))
        if hasattr(ops, f"{name}_backward"):
            yield f"{name} backward", partial(gradient, op, arrays, options)


def both(call: Callable[[], Any]) -> Pair:
    """A call in both modes."""

    def reproducible() -> None:
        with ops.reproducible():
            call()

    return call, reproducible


def gradient(op: Any, arrays: dict[str, Any], options: dict[str, Any]) -> Pair:
    """An operator's backward in both modes."""
    return both(partial(op.backward, np.ones_like(op(**arrays, **options)), **arrays, **options))


def least(pair: Pair, seconds: float) -> tuple[float, float]:
    """The least time of each in turns, which last so long together."""
    for call in pair:
        call()
    best, end, turns = [math.inf, math.inf], time.perf_counter() + seconds, 0
    while turns < ROUNDS or time.perf_counter() < end:
        for i in (0, 1) if turns % 2 else (1, 0):
            start = time.perf_counter()
            pair[i]()
            best[i] = min(best[i], time.perf_counter() - start)
        turns += 1
    return best[0], best[1]


def main() -> int:
    """Prints and keeps the table; 0."""
    parser = argparse.ArgumentParser("python -m benchmarks.reproducible", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="WORD", help="rows with all of these words in their names")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long a row is measured")
    args = parser.parse_args()
    lines = [
        "reproducible=True beside the ordinary mode: milliseconds, the least of alternate runs.",
        open_device("cpu").describe(), "",
        f"{'':44}{'ordinary':>10}{'reproducible':>14}{'ratio':>8}",
    ]  # fmt: skip
    print("\n".join(lines), flush=True)
    ratios: list[float] = []
    for name, make in (*nets(), *operators()):
        if not all(word in name for word in args.words):
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                first, second = least(make(), args.seconds)
            except Exception as error:  # a net that asks for more than its prototxt says
                line = f"{name[:44]:44}  left out: {str(error).replace(f'{ROOT}/', '')[:60]}"
            else:
                ratios.append(second / first)
                line = f"{name[:44]:44}{1000 * first:10.3f}{1000 * second:14.3f}{ratios[-1]:8.2f}"
        print(line, flush=True)
        lines.append(line)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += ["", f"geometric mean {mean:.3f} (at most {MEAN}), largest {max(ratios):.2f} (at most {MOST})"]
        print("\n".join(lines[-2:]))
    if not args.words:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
