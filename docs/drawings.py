"""Draws the pictures of write_a_kernel.md into docs/pictures: `python docs/drawings.py` (needs matplotlib).

What they show is computed, not drawn by hand: samples and weights by the rules of the page, gradients by the kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from boxpresso import ops  # noqa: E402

INK, PALE, GRID = "#20303c", "#eef2f5", "#c3ccd3"
ORANGE, BLUE, GREEN, RED = "#e08e00", "#2f7fb5", "#009e73", "#c8452c"
STYLE = {
    "figure.dpi": 110, "savefig.dpi": 110, "font.size": 10, "axes.edgecolor": INK, "text.color": INK, "axes.labelcolor": INK,
    "xtick.color": INK, "ytick.color": INK, "figure.facecolor": "white", "axes.titlesize": 10.5, "axes.titleweight": "bold",
}  # fmt: skip
Numpy = np.ndarray[Any, Any]

# The example of the page: a map of 9 x 11 pixels, and a region (x1, y1, x2, y2) on it, cut into 2 x 3 bins of 2 x 2 samples.
HEIGHT, WIDTH = 9, 11
REGION = (1.3, 1.1, 9.1, 6.5)
BINS, RATIO = (2, 3), 2


def samples() -> tuple[Numpy, Numpy]:
    """The y and the x of the samples, by axis, in the order of bins."""
    x1, y1, x2, y2 = REGION
    result = []
    for start, end, bins in ((y1, y2, BINS[0]), (x1, x2, BINS[1])):
        size = (end - start) / bins
        result.append(
            np.array([start + p * size + (i + 0.5) * size / RATIO for p in range(bins) for i in range(RATIO)])
        )
    return result[0], result[1]


def neighbours(c: float, size: int) -> tuple[int, int, float] | None:
    """The pixels around a coordinate and the part of the upper one, as sample.h has them; None outside."""
    if not -1 <= c <= size:
        return None
    c = max(c, 0.0)
    low = min(int(c), size - 1)
    high = min(low + 1, size - 1)
    return low, high, c - low if high > low else 0.0


def weights(coordinates: Numpy, bins: int, size: int) -> Numpy:
    """(bins, size): the weight that a bin gives to each pixel of an axis, the sum over its samples."""
    result = np.zeros((bins, size))
    for i, c in enumerate(coordinates):
        if found := neighbours(float(c), size):
            low, high, part = found
            result[i // RATIO, low] += 1 - part
            result[i // RATIO, high] += part
    return result


def pixels(ax: Any, height: int = HEIGHT, width: int = WIDTH, marks: bool = True) -> None:
    """A map: a cell for each pixel, whose centre is at whole numbers."""
    for x in np.arange(-0.5, width):
        ax.plot([x, x], [-0.5, height - 0.5], color=GRID, lw=0.8, zorder=0)
    for y in np.arange(-0.5, height):
        ax.plot([-0.5, width - 0.5], [y, y], color=GRID, lw=0.8, zorder=0)
    if marks:
        across, down = np.meshgrid(range(width), range(height))
        ax.scatter(across, down, s=5, color=GRID, zorder=1)
    ax.set_xlim(-0.8, width - 0.2)
    ax.set_ylim(height - 0.2, -0.8)
    ax.set_aspect("equal")
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0, labelsize=8)


def region(ax: Any, color: str = BLUE, lw: float = 2.2) -> None:
    """The region and its bins."""
    x1, y1, x2, y2 = REGION
    ax.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, ec=color, lw=lw, zorder=3))
    for p in range(1, BINS[0]):
        y = y1 + p * (y2 - y1) / BINS[0]
        ax.plot([x1, x2], [y, y], color=color, lw=lw / 2, zorder=3)
    for p in range(1, BINS[1]):
        x = x1 + p * (x2 - x1) / BINS[1]
        ax.plot([x, x], [y1, y2], color=color, lw=lw / 2, zorder=3)


def draw_samples() -> Any:
    """Bins of a region, and where they are sampled."""
    figure, ax = plt.subplots(figsize=(7.2, 4.9), layout="constrained")
    pixels(ax)
    region(ax)
    down, across = samples()
    grid = np.meshgrid(across, down)
    ax.scatter(*grid, s=42, color=ORANGE, ec="white", lw=0.8, zorder=5)
    ax.set_title("a map of 9 x 11 pixels, a region in 2 x 3 bins, 2 x 2 samples in each bin")
    ax.annotate("region, in pixels of the map:\ncorners are not rounded", (REGION[2], 5.9), (7.15, 7.75), color=BLUE,
                arrowprops={"arrowstyle": "-|>", "color": BLUE}, fontsize=9)  # fmt: skip
    ax.annotate("sample", (across[0], down[3]), (-0.6, 7.9), color=ORANGE, fontsize=9,
                arrowprops={"arrowstyle": "-|>", "color": ORANGE})  # fmt: skip
    ax.annotate("centre of pixel (row 0, column 3)", (3, 0), (3.2, -0.62), fontsize=8.5, va="center",
                arrowprops={"arrowstyle": "-|>", "color": INK})  # fmt: skip
    ax.set_xlabel("x, columns of the map")
    ax.set_ylabel("y, rows of the map")
    return figure


def draw_bilinear() -> Any:
    """The four weights of one sample, and the rule of an axis at the border of the map."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained", width_ratios=(1, 1.25))
    y, x = 0.3, 0.6
    pixels(left, 2, 2, marks=False)
    for row in range(2):
        for column in range(2):
            weight = (y if row else 1 - y) * (x if column else 1 - x)
            left.add_patch(
                Rectangle((column - 0.5, row - 0.5), 1, 1, color=BLUE, alpha=0.12 + 0.75 * weight, lw=0, zorder=0)
            )
            side = f"{'' if column else '1 - '}0.6", f"{'' if row else '1 - '}0.3"
            place = row + (0.27 if row else -0.3)
            left.text(column, place, f"({side[1]}) ({side[0]})\n= {weight:.2f}", ha="center", va="center", fontsize=8.2)
            left.scatter([column], [row], s=16, color=INK, zorder=4)
            left.plot([column, x], [row, y], color=ORANGE, lw=1, ls="--", zorder=3)
    left.scatter([x], [y], s=70, color=ORANGE, ec="white", zorder=5)
    left.set_title("a sample at y = 0.3, x = 0.6\nand its weights for four pixels")
    left.set_xticks([0, 1])
    left.set_yticks([0, 1])
    size, values = 5, np.array([2.0, 3.4, 1.2, 2.6, 3.0])
    at = np.linspace(-1.9, size + 0.9, 1400)
    found = [neighbours(float(c), size) for c in at]
    line = np.array([0.0 if f is None else values[f[0]] * (1 - f[2]) + values[f[1]] * f[2] for f in found])
    inside = (at >= -1) & (at <= size)
    for part in (at < -1, inside, at > size):
        right.plot(at[part], line[part], color=ORANGE, lw=2.2, zorder=3)
    for edge, value in ((-1, values[0]), (size, values[-1])):
        right.plot([edge, edge], [0, value], color=ORANGE, lw=1, ls=":", zorder=2)
    right.scatter(range(size), values, s=36, color=INK, zorder=4)
    right.axvspan(-1, 0, color=PALE, zorder=0)
    right.axvspan(size - 1, size, color=PALE, zorder=0)
    right.set_xticks(range(-1, size + 1), ["-1", *map(str, range(size)), f"{size} = size"])
    right.set_ylim(-0.1, 4.3)
    right.set_title("the value of a sample along one axis of 5 pixels")
    right.set_xlabel("coordinate")
    right.text(-0.5, 3.95, "as at\npixel 0", ha="center", va="center", fontsize=8.5)
    right.text(size - 0.5, 3.95, f"as at\npixel {size - 1}", ha="center", va="center", fontsize=8.5)
    right.text(2, 3.95, "linear between pixels", ha="center", va="center", fontsize=8.5)
    right.text(-1.45, 0.32, "0", ha="center", fontsize=9)
    right.text(size + 0.5, 0.32, "0", ha="center", fontsize=9)
    for side in ("top", "right"):
        right.spines[side].set_visible(False)
    return figure


def draw_separable() -> Any:
    """The weights of both axes as matrices, and the map of weights that they make of one bin."""
    down, across = samples()
    by_row, by_column = weights(down, BINS[0], HEIGHT), weights(across, BINS[1], WIDTH)
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.5), layout="constrained", width_ratios=(0.62, 1.15, 1.3))
    scale = {"cmap": "Blues", "vmin": 0, "vmax": 1.3}
    for ax, matrix, title in ((axes[0], by_row.T, "Wy: a column a bin"), (axes[1], by_column, "Wx: a row a bin")):
        ax.imshow(matrix, **scale)
        for (i, j), value in np.ndenumerate(matrix):
            if value:
                ax.text(j, i, f"{value:.2f}".lstrip("0"), ha="center", va="center", fontsize=7.5,
                        color="white" if value > 0.9 else INK)  # fmt: skip
        ax.set_title(title)
        ax.tick_params(length=0, labelsize=8)
    axes[0].set_xlabel("bins of y")
    axes[0].set_ylabel("rows of the map")
    axes[0].set_xticks(range(BINS[0]))
    axes[0].set_yticks(range(HEIGHT))
    axes[1].set_ylabel("bins of x")
    axes[1].set_xlabel("columns of the map")
    axes[1].set_xticks(range(WIDTH))
    axes[1].set_yticks(range(BINS[1]))
    pixels(axes[2], marks=False)
    axes[2].imshow(np.outer(by_row[0], by_column[1]) / RATIO**2, cmap="Blues", vmin=0, vmax=0.45, zorder=-1)
    region(axes[2], lw=1.6)
    axes[2].scatter(*np.meshgrid(across[2:4], down[:2]), s=26, color=ORANGE, ec="white", lw=0.7, zorder=5)
    axes[2].set_title("bin (0, 1): Wy[0] x Wx[1] / 4 samples")
    return figure


def draw_backward() -> Any:
    """The gradient of one bin and of all: what the kernels give."""
    x1, y1, x2, y2 = REGION
    row, x = np.array([[0, x1, y1, x2, y2]], np.float32), np.zeros((1, 1, HEIGHT, WIDTH), np.float32)
    grads = [np.zeros((1, 1, *BINS), np.float32), np.array([[[[1.0, -0.6, 0.3], [-0.2, 0.8, -1.0]]]], np.float32)]
    grads[0][0, 0, 0, 1] = 1
    options = {"spatial_scale": 1.0, "sampling_ratio": RATIO, "aligned": False}
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained")
    titles = "the gradient of bin (0, 1) alone", "of all bins: what each gives is added"
    for ax, grad, title in zip(axes, grads, titles, strict=True):
        result = np.asarray(ops.roi_align_backward(grad, x, row, BINS, **options)["x"])[0, 0]
        pixels(ax, marks=False)
        ax.imshow(result, cmap="RdBu_r", vmin=-0.42, vmax=0.42, zorder=-1)
        for (i, j), value in np.ndenumerate(result):
            if abs(value) > 0.006:
                ax.text(j, i, f"{value:.2f}".replace("0.", "."), ha="center", va="center", fontsize=7)
        region(ax, INK, 1.6)
        for p in range(BINS[0]):
            for q in range(BINS[1]):
                place = x1 + (q + 0.5) * (x2 - x1) / BINS[1], 7.0 if p else 0.1
                ax.text(*place, f"{grad[0, 0, p, q]:g}", ha="center", va="center",
                        fontsize=9, fontweight="bold", color=RED if grad[0, 0, p, q] > 0 else BLUE)  # fmt: skip
        ax.set_title(title)
    return figure


def draw_owners() -> Any:
    """Who writes a number: slabs on the CPU, tiles on a GPU."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.6), layout="constrained", width_ratios=(1, 1.05))
    left.set_title("CPU: a slab, 16 channels of a whole map")
    colors = [BLUE, GREEN, ORANGE]
    for k, color in reversed(list(enumerate(colors))):
        x, y = 0.7 * k, 0.62 * k
        left.add_patch(Rectangle((x, y), 4.6, 3.1, fc="white", ec=color, lw=1.8, zorder=10 - k))
        if k:
            left.text(
                x + 4.52, y + 2.88, f"worker {k}", ha="right", va="center", fontsize=9, color=color, zorder=11 - k
            )
    for y in range(3):
        for x in range(7):
            chosen = (y, x) == (1, 2)
            left.add_patch(Rectangle((0.3 + 0.3 * x, 1.2 + 0.3 * y), 0.3, 0.3, fc=ORANGE if chosen else PALE, ec=GRID, lw=0.8,
                                     zorder=12))  # fmt: skip
    for c in range(16):
        left.add_patch(
            Rectangle((0.3 + 0.25 * c, 0.55), 0.25, 0.3, fc=ORANGE, alpha=0.75, ec="white", lw=0.8, zorder=12)
        )
    for x, end in ((0.9, 0.3), (1.2, 4.3)):
        left.plot([x, end], [1.5, 0.85], color=ORANGE, lw=0.8, zorder=13)
    left.text(
        2.3, 0.28, "a pixel's 16 channels side by side: one vector", ha="center", va="center", fontsize=8.5, zorder=12
    )
    left.text(0.3, 2.62, "worker 0 takes all regions of its\nimage in order, adds to its slab", va="center", fontsize=9,
              color=BLUE, zorder=12)  # fmt: skip
    left.set_xlim(-0.2, 6.3)
    left.set_ylim(-0.2, 4.6)
    left.axis("off")
    right.set_title("GPU: a block has a tile, 16 x 16 pixels, 16 channels")
    for x in range(5):
        right.plot([x * 16, x * 16], [0, 48], color=GRID, lw=1)
    for y in range(4):
        right.plot([0, 64], [y * 16, y * 16], color=GRID, lw=1)
    right.add_patch(Rectangle((16, 16), 16, 16, color=ORANGE, alpha=0.3, lw=0))
    right.add_patch(Rectangle((16, 16), 16, 16, fill=False, ec=ORANGE, lw=2))
    regions = [(5, 6, 24, 25, BLUE), (21, 20, 57, 43, GREEN), (38, 3, 61, 13, RED)]
    for k, (x1, y1, x2, y2, color) in enumerate(regions):
        right.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, ec=color, lw=1.9))
        right.text(x1 + 1, y1 + 1.2, str(k), color=color, fontsize=10, fontweight="bold", va="top")
    right.set_xlim(-1, 66)
    right.set_ylim(49, -1)
    right.set_aspect("equal")
    right.set_xticks(range(0, 65, 16))
    right.set_yticks(range(0, 49, 16))
    right.set_xlabel("the block of the shaded tile takes regions 0 and 1, in order, and no other", fontsize=8.5)
    right.tick_params(length=0, labelsize=8)
    for side in right.spines.values():
        side.set_visible(False)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "roi_align_samples.png": draw_samples, "roi_align_bilinear.png": draw_bilinear, "roi_align_weights.png": draw_separable,
    "roi_align_backward.png": draw_backward, "roi_align_owners.png": draw_owners,
}  # fmt: skip


def draw(name: str, folder: Path) -> Path:
    """Draws one picture into a folder."""
    from PIL import Image

    with matplotlib.rc_context({**matplotlib.rcParamsDefault, "backend": "Agg", **STYLE}):
        figure = PICTURES[name]()
        figure.savefig(folder / name, metadata={"Software": None})
        plt.close(figure)
    with Image.open(folder / name) as picture:
        small = picture.convert("RGB").quantize(256)
    small.save(folder / name, optimize=True)
    return folder / name


if __name__ == "__main__":
    (HERE / "pictures").mkdir(exist_ok=True)
    for each in PICTURES:
        print(draw(each, HERE / "pictures"))
