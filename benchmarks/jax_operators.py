"""RoIAlign of boxpresso.jax beside the same as a vmapped function of jax's own operations, under jit, and their gradients.

    python -m benchmarks.jax_operators [--out FILE] [--rounds N]

Needs jax in the same Python. The shape is the largest of the mlu-ops notes: a map (2, 256, 200, 304), 998 regions, 7 x 7 bins
of 2 x 2 samples. Both are called in turn, in one process with the same number of threads; a time is the shortest, and results
are compared: "difference" is the largest, of the largest number. On a shared machine only the ratios mean something.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import boxpresso.jax as ours

from .cases import PYRAMID

BINS, SAMPLES = 7, 2


def pure(x: Any, rois: Any, scale: float) -> Any:
    """RoIAlign, aligned, as users of jax write it: four pixels of each sample, for each region."""
    height, width = x.shape[2:]

    def one(roi: Any) -> Any:
        def axis(low: Any, high: Any, size: int) -> Any:
            at = low * scale - 0.5 + (jnp.arange(BINS * SAMPLES) + 0.5) * (high - low) * scale / (BINS * SAMPLES)
            inside = (at >= -1) & (at <= size)
            at = jnp.clip(at, 0, size - 1)
            first = jnp.minimum(at.astype(int), size - 2)
            return first, at - first, inside

        top, down, rows = axis(roi[2], roi[4], height)
        left, across, columns = axis(roi[1], roi[3], width)
        image = roi[0].astype(int)
        total: Any = 0
        for i, of_row in ((0, 1 - down), (1, down)):
            for j, of_column in ((0, 1 - across), (1, across)):
                weight = (of_row * rows)[:, None] * (of_column * columns)
                total = total + x[image, :, (top + i)[:, None], left + j] * weight[..., None]
        return total.reshape(BINS, SAMPLES, BINS, SAMPLES, -1).mean((1, 3)).transpose(2, 0, 1)

    return jax.vmap(one)(rois)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    shape, count, scale = PYRAMID[0]
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.standard_normal(shape, np.float32))
    size = np.array(shape[:1:-1]) / scale
    low = rng.uniform(0, 0.8, (count, 2)) * size
    high = np.minimum(low + rng.uniform(0.02, 0.4, (count, 2)) * size, size)
    rois = jnp.asarray(np.hstack([rng.integers(0, shape[0], (count, 1)), low, high]), jnp.float32)
    forms = {
        "boxpresso.jax": lambda x: ours.roi_align(x, rois, BINS, scale, SAMPLES),
        "vmapped": lambda x: pure(x, rois, scale),
    }
    lines = [
        f"jax {jax.__version__}, map {list(shape)}, {count} regions, {BINS} x {BINS} bins of {SAMPLES} x {SAMPLES} samples"
    ]
    grad = jnp.asarray(rng.standard_normal((count, shape[1], BINS, BINS), np.float32))
    for kind in ("forward", "with its gradient"):
        if kind == "forward":
            runs = {name: jax.jit(form) for name, form in forms.items()}
        else:
            runs = {
                name: jax.jit(jax.grad(lambda x, form=form: (form(x) * grad).sum())) for name, form in forms.items()
            }
        results = {name: np.asarray(run(x)) for name, run in runs.items()}  # compiled
        largest = np.abs(results["vmapped"]).max()
        difference = float(np.abs(results["boxpresso.jax"] - results["vmapped"]).max() / largest)
        del results
        least = dict.fromkeys(runs, np.inf)
        for _ in range(args.rounds):
            for name, run in runs.items():
                start = time.perf_counter()
                jax.block_until_ready(run(x))
                least[name] = min(least[name], time.perf_counter() - start)
        mine, theirs = least.values()
        said = f"ratio {theirs / mine:.1f}, difference {difference:.0e}"
        lines.append(f"{kind}: {mine * 1e3:.0f} ms, vmapped {theirs * 1e3:.0f} ms, {said}")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    main()
