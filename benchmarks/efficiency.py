"""How near the region operators are to what the machine can do: bytes and multiply-adds that must be, over the time.

    python -m benchmarks.efficiency [--out FILE] [WORD ...]

WORDs choose the rows that have them all. The rows are those of `python -m benchmarks regions`, float32, on all threads. In the
same process, before the rows and behind them, STREAM's triad (192 MB; 12 bytes a number, as STREAM counts) and chains of
multiply-adds in registers are timed, the best of all. For each row:

    GB     the bytes that must move: forward the pixels in which a region has a sample, once, and the result; backward the
           gradient of the result, the whole gradient of the map, and of a maximum its place
    GMA    the multiply-adds that must be, in 10^9: four a sample, pixel or tap and channel, or where rows and columns are
           weighed apart what that takes, whichever is fewer; a comparison of a maximum counts as one
    IO     GB over the time, of the triad's rate
    FMA    GMA over the time, of the highest rate
    L2     what the multiply-adds read from caches over the time, of the rate at which walks over 512 KB read: a number of a map
           each and, backward, its sum, which is written as well and counts as another

The larger of the first two is the row's efficiency; where it is low and the third is high, loads are what bounds it. Maps
that fit a cache may have more than 100 %. A loaded machine gives nothing: the load is in the head.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from boxpresso.device import Kernels, open_device

from . import ours
from .__main__ import machine
from .cases import Case, arrays_of, region_cases

KERNELS = Kernels(Path(__file__).with_name("efficiency.cu"))
BINS, WIDE = 7, 1 << 24
SHARE, SECONDS = 0.5, 1.0


def samples(case: Case, arrays: dict[str, np.ndarray]) -> list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Of each region its image, where its samples lie, y and x (rows, columns), and the number of a bin's."""
    made = []
    offsets = arrays.get("offset")
    for k, (image, *row) in enumerate(arrays["rois"].astype(np.float64)):
        if case["op"] == "roi_align_rotated":
            cx, cy, width, height, angle = (*np.array(row[:4]) * case["scale"], row[4])
            start = np.zeros(2)
        else:
            start = np.array([row[1], row[0]]) * case["scale"] - 0.5
            height, width = np.array([row[3] - row[1], row[2] - row[0]]) * case["scale"]
        count = [case["ratio"] or int(np.ceil(size / BINS)) for size in (height, width)]
        down, across = ((np.arange(BINS * n) + 0.5) / n * size / BINS for n, size in zip(count, (height, width)))
        y, x = np.meshgrid(start[0] + down, start[1] + across, indexing="ij")
        if case["op"] == "roi_align_rotated":
            v, u = y - height / 2, x - width / 2
            y, x = v * np.cos(angle) - u * np.sin(angle) + cy - 0.5, v * np.sin(angle) + u * np.cos(angle) + cx - 0.5
        if offsets is not None:
            moves = [np.kron(move, np.ones(count)) for move in offsets[k]]
            y, x = y + 0.1 * height * moves[1], x + 0.1 * width * moves[0]
        made.append((int(image), y, x, np.array(count)))
    return made


def touched(case: Case, arrays: dict[str, np.ndarray]) -> tuple[int, float]:
    """The pixels of all maps of which a region reads one, and the fewest multiply-adds of a channel."""
    batch, height, width = case["shape"][0], *case["shape"][2:]
    mask, work = np.zeros((batch, height, width), bool), 0.0
    if "pool" in case["op"] and case["op"] != "deform_roi_pool":
        for image, *row in arrays["rois"].astype(np.float64):
            x1, y1, x2, y2 = np.array(row) * case["scale"]
            rows, columns = (slice(max(int(low), 0), int(np.ceil(high)) + 1) for low, high in ((y1, y2), (x1, x2)))
            area = mask[int(image), rows, columns]
            area[...] = True
            work += area.size if case["op"] != "prroi_pool" else area.shape[0] * (BINS + area.shape[1])
        return int(mask.sum()), work
    for image, y, x, count in samples(case, arrays):
        inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
        top, left = (
            np.clip(np.floor(np.clip(at, 0, size - 1)), 0, size - 1).astype(int)
            for at, size in ((y, height), (x, width))
        )
        for row in (top, np.minimum(top + 1, height - 1)):
            for column in (left, np.minimum(left + 1, width - 1)):
                mask[image, row[inside], column[inside]] = True
        plain = 4.0 * inside.sum() + (inside.sum() if case["op"] == "roi_align_max" else 0)
        if case["op"] == "roi_align":
            rows, columns = (
                len({*at, *np.minimum(at + 1, size - 1)}) for at, size in ((top[:, 0], height), (left[0], width))
            )
            taps = [min(2 * n, -(-size // BINS) + 1) for n, size in zip(count, (rows, columns))]
            plain = min(plain, rows * BINS * taps[1] + BINS * BINS * taps[0])
        work += plain
    return int(mask.sum()), work


def needed(case: Case, arrays: dict[str, np.ndarray]) -> tuple[float, float]:
    """Bytes and multiply-adds that must be."""
    pixels, work = touched(case, arrays)
    channels, result = case["shape"][1], arrays["g"].size
    if case["op"] == "ps_roi_pool":  # a bin reads the pixels of its own channels
        pixels, work = pixels / BINS**2, work / BINS**2
    if not case["backward"]:
        return 4.0 * (pixels * channels + result), work * channels
    place = {"roi_align_max": 2, "roi_pool": 1}.get(case["op"], 0)
    return 4.0 * (arrays["x"].size + result * (1 + place)), work * channels


def shortest(call: Callable[[], Any], seconds: float = SECONDS) -> float:
    """The least time of a call, in seconds, of those that fit into some."""
    call()
    best, end = np.inf, time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - start)
        if now >= end:
            return best


def rates(seconds: float = SECONDS) -> tuple[float, float, float]:
    """Bytes a second of the triad, multiply-adds a second, and bytes a second that are read from second caches."""
    device = open_device("cpu")
    kernels = KERNELS.on(device)
    a, b, c = (np.ones(WIDE, np.float32) for _ in range(3))
    moved = shortest(lambda: kernels.triad(WIDE, b, c, a, np.float32(3)), seconds)
    lanes, blocks, steps = KERNELS.constants["LANES"], 64, 20000
    x = np.ones(lanes, np.float32)
    computed = shortest(lambda: kernels.multiply_add(blocks, x, a[:blocks], np.float32(0.5), steps), seconds)
    near, walks = np.ones((device.workers, KERNELS.constants["NEAR"]), np.float32), 200
    read = shortest(
        lambda: kernels.near_loads(device.workers, near, np.empty(device.workers, np.float32), walks), seconds
    )
    return 12 * WIDE / moved, blocks * steps * lanes / computed, walks * near.nbytes / read


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="python -m benchmarks.efficiency")
    parser.add_argument("words", nargs="*", help="words in the names of rows")
    parser.add_argument("--out", type=Path, help="write the table here, too")
    arguments = parser.parse_args()
    lines = [
        f"{time.strftime('%Y-%m-%d')}, python -m benchmarks.efficiency {' '.join(arguments.words)}".strip(),
        machine(),
    ]
    before = rates()
    rows = []
    with TemporaryDirectory() as folder:
        for case in region_cases():
            if all(word in case["name"] for word in arguments.words):
                arrays = arrays_of(case)
                rows.append((case, *needed(case, arrays), shortest(ours.region(case, arrays, Path(folder)))))
    stream, peak, loads = (max(pair) for pair in zip(before, rates()))
    lines += [
        f"triad {stream / 1e9:.1f} GB/s, multiply-adds {peak / 1e9:.1f} G/s, second caches {loads / 1e9:.1f} GB/s, float32; "
        "the shortest times", "",
        f"{'':<68}{'ms':>8}{'GB':>8}{'GMA':>8}{'IO':>7}{'FMA':>7}{'L2':>7}",
    ]  # fmt: skip
    below = 0
    for case, moved, work, seconds in rows:
        shares = moved / seconds / stream, work / seconds / peak
        near = work * (8 if case["backward"] else 4) / seconds / loads
        low = max(shares) < SHARE
        below += int(low)
        lines.append(
            f"{case['name']:<68}{1e3 * seconds:8.2f}{moved / 1e9:8.3f}{work / 1e9:8.3f}"
            f"{shares[0]:7.0%}{shares[1]:7.0%}{near:7.0%}" + ("  below" if low else "")
        )
    lines.append(f"{len(rows)} rows, {below} of an efficiency below {SHARE:.0%}")
    print("\n".join(lines))
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
