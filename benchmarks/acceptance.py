"""Accuracy of the operators as the mlu-ops notes ask for it: errors beside float64 no larger than ten times a peer's own.

    python -m benchmarks.acceptance [--small] [--out FILE] [NAME ...]

Needs torch, torchvision and OpenCV in the same Python. A NAME chooses the operators that have it in their name. --small takes a
sixteenth of the regions and channels, for a trial. The table goes to FILE too, as it is printed;
benchmarks/results/acceptance.txt is such a file. The exit status is 1 where a row is not accepted.

Ours and a peer (benchmarks/formulas.py: torchvision's operators, torch's, OpenCV's, or else the formula in torch's own
operations) compute each operator in the storage type; the peer in float64, too, from the same stored numbers: the
baseline. What a peer has in 16 bits is its float32 result, rounded once. OpenCV has no float64: there the baseline is ours.
roi_pool of mmcv and rotate_roi_pool have no peer: our float64 says which pixels are the largest, and torch adds up.
With e a result and b the baseline:

    diff1 = sum |e - b| / (sum |b| + 1e-9)
    diff2 = sqrt(sum (e - b)^2 / (sum b^2 + 1e-9))
    diff4 = the share of the elements with e < b among those with e != b; - where fewer than 100 differ
    diff3 = max |e - b|, of whole numbers: the places of maxima

Accepted is a row whose diff1 and diff2 are each at most 10 times the peer's (0 where the peer's is 0), whose diff4 is other
than 0 and 1, which is an error all to one side, and whose diff3 is 0. "ratio" is the larger of the two quotients. A peer whose
own error is beyond 1e-2 computes something else: the row FAILED.

The operators that give places, not numbers (nms and its kind), are compared with references box by box in the tests.

Where bins are cut at whole pixels, rounding decides now and then where: regions whose bins differ between float32 and float64,
which they do in every program that cuts them in float32, are drawn again; the table says how many. The gradient of a maximum
goes where it lies: where two pixels or samples are equal but for the last bits, and float32 takes the one and float64 the
other, the gradient given is 0; the table says in how many places. A bilinear sample's gradient by its place jumps at whole
pixels: the taps of the deformable convolution keep a hundredth of a pixel away from them. The gradient of the offsets of
deformable ROI pooling is mmcv's, which is not that of its formula within a pixel of the border: its bins stay further inside.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from boxpresso import ops
from boxpresso.device.cast import cast_to
from boxpresso.device.signature import BFLOAT16
from boxpresso.layers.core import run_layer

from . import formulas
from .__main__ import machine

Arrays = dict[str, np.ndarray]
# The shapes of the mlu-ops design note: features, regions, pixels of the map per pixel of the image.
SHAPES = [((2, 256, 200, 304), 998, 1 / 4), ((2, 256, 100, 152), 13, 1 / 8), ((2, 256, 50, 76), 11, 1 / 16),
          ((2, 256, 25, 38), 2, 1 / 32)]  # fmt: skip
NAMES = {np.dtype(np.float32): "float32", np.dtype(np.float16): "float16", BFLOAT16: "bfloat16"}
FACTOR, ODD = (
    10,
    1e-2,
)  # ours may have so many times the peer's error; a peer with more than that computes something else
FEW = 100  # mismatches for diff4
POOLED = 7


def regions(
    rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float, moves: float | None = None
) -> np.ndarray:
    """(K, 5), of 16 to 400 pixels, inside the image, also when moved by `moves` of their size, and then two pixels of the
    map off its border."""
    height, width = shape[2] / scale, shape[3] / scale
    size = rng.uniform(16, min(400, height / 2), (count, 2))
    border = 0 * size if moves is None else moves * size + 2 / scale
    corner = border + rng.uniform(0, 1, (count, 2)) * ([width, height] - size - 2 * border)
    return np.c_[rng.integers(0, shape[0], count), corner, corner + size].astype(np.float32)


def turned(rng: np.random.Generator, rows: np.ndarray, whole: float) -> np.ndarray:
    """(K, 6): the same with an angle, `whole` being a full turn."""
    angle = rng.uniform(-whole / 2, whole / 2, len(rows))
    return np.c_[rows[:, 0], (rows[:, 1:3] + rows[:, 3:]) / 2, rows[:, 3:] - rows[:, 1:3], angle].astype(np.float32)


def pooled(op: str, kind: str = "upright", **options: Any) -> Callable[..., tuple[str, Arrays, dict[str, Any]]]:
    """A case of an operator of features and regions."""

    def make(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
        moved = "deform_roi" in op
        rows = regions(rng, shape, count, scale, 0.1 if moved else None)
        if kind == "bins":
            shape = shape[0], max(shape[1] // POOLED**2, 2) * POOLED**2, *shape[2:]
        inputs = {"x": rng.standard_normal(shape)}
        inputs["rois"] = turned(rng, rows, 2 * np.pi if kind == "turned" else 360) if "turned" in kind else rows
        if kind == "turned in degrees":
            inputs["image_info"] = np.array([[shape[2] / scale, shape[3] / scale, 1]])
        if op == "deformable_psroi_pool":
            inputs["trans"] = rng.standard_normal((count, 2, POOLED, POOLED))
        elif moved:
            inputs["offset"] = rng.uniform(-1, 1, (count, 2, POOLED, POOLED))
        if "modulated" in op:
            inputs["mask"] = rng.uniform(0, 1, (count, 1, POOLED, POOLED))
        more = {"output_size": POOLED, "spatial_scale": scale}
        if op == "deformable_psroi_pool":
            more = {
                "spatial_scale": scale,
                "output_dim": shape[1] // POOLED**2,
                "group_size": POOLED,
                "pooled_size": POOLED,
            }
        return op, inputs, {**more, **options}

    return make


def attention(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
    """Four levels from the shape's size down, 8 heads, 4 points, as many queries as regions."""
    sizes = np.array([[max(n >> k, 1) for n in shape[2:]] for k in range(4)])
    pixels = sizes.prod(1)
    places = rng.uniform(-0.05, 1.05, (shape[0], count, 8, 4, 4, 2))
    weights = rng.uniform(0, 1, places.shape[:-1])
    return "multi_scale_deformable_attn", {
        "value": rng.standard_normal((shape[0], pixels.sum(), 8, max(shape[1] // 8, 4))),
        "spatial_shapes": sizes, "level_start_index": np.cumsum(pixels) - pixels, "sampling_locations": places,
        "attention_weights": weights / weights.sum((-2, -1), keepdims=True),
    }, {}  # fmt: skip


def pyramid(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
    maps = {f"features {k}": rng.standard_normal((*shape[:2], *(max(n >> k, 1) for n in shape[2:]))) for k in range(4)}
    scales = [scale / 2**k for k in range(4)]
    inputs = {**maps, "rois": regions(rng, shape, count, scale)}
    return "multi_scale_roi_align", inputs, {"output_size": POOLED, "spatial_scales": scales, "sampling_ratio": 2}


def crops(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
    rows = regions(rng, shape, count, scale)
    size = np.array(shape[2:] * 2) / scale
    inputs = {"x": rng.standard_normal(shape), "boxes": rows[:, [2, 1, 4, 3]] / size, "box_indices": rows[:, 0]}
    return "crop_and_resize", inputs, {"crop_size": POOLED}


def points(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
    inputs = {"x": rng.standard_normal(shape), "points": rng.uniform(-0.02, 1.02, (shape[0], count, 2))}
    return "point_sample", inputs, {}


def convolution(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
    batch, channels, height, width = shape
    offset = rng.integers(-4, 4, (batch, 18, height, width)) + rng.uniform(0.01, 0.99, (batch, 18, height, width))
    inputs = {
        "x": rng.standard_normal(shape), "offset": offset,
        "weight": rng.standard_normal((16, channels, 3, 3)), "bias": rng.standard_normal(16),
        "mask": rng.uniform(0, 1, (batch, 9, height, width)),
    }  # fmt: skip
    return "deform_conv2d", inputs, {"padding": 1}


def upsampling(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
    batch, _, height, width = shape
    return "carafe", {
        "x": rng.standard_normal(shape), "masks": rng.uniform(0, 0.1, (batch, 25, 2 * height, 2 * width))
    }, {}  # fmt: skip


def image(op: str, **options: Any) -> Callable[..., tuple[str, Arrays, dict[str, Any]]]:
    """A case of an operator of one map, or of two."""

    def make(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
        names = ("x", "other") if op == "correlation" else ("x",)
        return op, {name: rng.standard_normal(shape) for name in names}, options

    return make


def pasted(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
    """Masks of 28 x 28 in images of the map's size, of at most 100 objects."""
    rows = regions(rng, shape, min(count, 100), scale)[:, 1:] * scale
    inputs = {"masks": rng.uniform(0, 1, (len(rows), 28, 28)), "boxes": rows}
    return "paste_masks", inputs, {"image_size": shape[2:], "threshold": None}


def overlaps(op: str) -> Callable[..., tuple[str, Arrays, dict[str, Any]]]:
    """Of all regions with 100 that lie near some of them."""

    def make(rng: np.random.Generator, shape: tuple[int, ...], count: int, scale: float) -> Any:
        rows = turned(rng, regions(rng, shape, count, scale), 2 * np.pi)[:, 1:]
        near = rows[np.arange(100) % count] + rng.uniform(-4, 4, (100, 5)) * [1, 1, 1, 1, 0.1]
        if op == "box_iou_rotated":
            return op, {"boxes1": rows, "boxes2": near}, {}
        return op, {"polygons1": quadrilaterals(rows), "polygons2": quadrilaterals(near)}, {}

    return make


def quadrilaterals(boxes: np.ndarray) -> np.ndarray:
    """The corners (K, 8) of rotated boxes (K, 5)."""
    cos, sin = np.cos(boxes[:, 4:]), np.sin(boxes[:, 4:])
    x, y = (boxes[:, at : at + 1] / 2 * signs for at, signs in ((2, [-1, 1, 1, -1]), (3, [-1, -1, 1, 1])))
    corners = np.stack([boxes[:, :1] + x * cos - y * sin, boxes[:, 1:2] + x * sin + y * cos], 2)
    return corners.reshape(len(boxes), 8)


OPERATORS: dict[str, Callable[..., Any]] = {
    "roi_align": pooled("roi_align", sampling_ratio=2),
    "roi_align adaptive": pooled("roi_align"),
    "roi_align maximum": pooled("roi_align", sampling_ratio=2, pool_mode="max"),
    "multi_scale_roi_align": pyramid,
    "roi_align_rotated": pooled("roi_align_rotated", "turned", sampling_ratio=2),
    "riroi_align_rotated": pooled("riroi_align_rotated", "turned", num_samples=2),
    "roi_pool": pooled("roi_pool"),
    "roi_pool mmcv": pooled("roi_pool", mmcv=True),
    "rotate_roi_pool": pooled("rotate_roi_pool", "turned in degrees"),
    "ps_roi_pool": pooled("ps_roi_pool", "bins"),
    "ps_roi_align": pooled("ps_roi_align", "bins", sampling_ratio=2),
    "prroi_pool": pooled("prroi_pool"),
    "deform_roi_pool": pooled("deform_roi_pool", sampling_ratio=2),
    "modulated_deform_roi_pool": pooled("modulated_deform_roi_pool", sampling_ratio=2),
    "deformable_psroi_pool": pooled("deformable_psroi_pool", "bins", sample_per_part=4, trans_std=0.1),
    "multi_scale_deformable_attn": attention,
    "crop_and_resize": crops,
    "point_sample": points,
    "deform_conv2d": convolution,
    "carafe": upsampling,
    "corner_pool": image("corner_pool", mode="top"),
    "correlation": image("correlation", max_displacement=2),
    "permute": image("permute", dims=(0, 2, 3, 1)),
    "paste_masks": pasted,
    "box_iou_rotated": overlaps("box_iou_rotated"),
    "polygon_iou": overlaps("polygon_iou"),
}
PLACES = (
    "nms",
    "nms_rotated",
    "batched_nms",
    "batched_nms_rotated",
    "soft_nms",
    "matrix_nms",
)  # they choose, see above
FORWARD = ("paste_masks", "box_iou_rotated", "polygon_iou")  # those without a gradient
INDICES = ("spatial_shapes", "level_start_index", "box_indices")


NOISES = 6  # maps of 256 channels
CUT = ("roi_pool", "ps_roi_pool", "rotate_roi_pool")  # whose bins are whole pixels


def with_sure_bins(rng: np.random.Generator, op: str, inputs: Arrays, options: dict[str, Any]) -> int:
    """Draws regions again whose bins hold other pixels in float32 than in float64; how many draws it took.

    Maps that rise, and fall, from pixel to pixel show which pixels a bin of rows and columns holds; those within a
    rotated bin are seen by noise in so many channels that each pixel is the largest of its bin in some.
    """
    shape, draws = inputs["x"].shape, 0
    ramp = np.broadcast_to(np.arange(shape[2] * shape[3]).reshape(1, 1, *shape[2:]), (shape[0], 49, *shape[2:]))
    unsure = np.ones(len(inputs["rois"]), bool)
    while unsure.any():
        off = np.zeros(len(unsure), bool)
        maps = NOISES if op == "rotate_roi_pool" else 0
        noise = (rng.standard_normal((shape[0], 256, *shape[2:])) for _ in range(maps))
        for x in (ramp, -ramp, *noise):
            low, high = stored({**inputs, "x": x}, np.dtype(np.float32))
            results = [run(op, arrays, options, None)[""] for arrays in (low, high)]
            off |= np.abs(results[0] - results[1]).max((1, 2, 3)) > 1e-3
        unsure = off
        draws += int(off.sum())
        fresh = regions(rng, shape, int(off.sum()), options["spatial_scale"])
        inputs["rois"][off] = turned(rng, fresh, 360) if inputs["rois"].shape[1] == 6 else fresh
    return draws


def undecided(name: str, low: Arrays, high: Arrays, options: dict[str, Any]) -> np.ndarray | None:
    """Where a maximum lies elsewhere in float32 than in float64, of operators that do not hand out its places; else None."""
    size = f"pooled_h: {POOLED} pooled_w: {POOLED} spatial_scale: {options.get('spatial_scale')}"
    if name == "roi_align maximum":
        text = f'type: "ROIAlign" roi_align_param {{ {size} sampling_ratio: 2 aligned: true pool_mode: MAX }}'
    elif name == "rotate_roi_pool":
        text = f'type: "RotateROIPooling" rotate_pooling_param {{ {size} }}'
    else:
        return None
    tops = 3 if "align" in name else 2
    single, double = (
        run_layer(text, *(cast_to(a, dtype) for a in arrays.values()), tops=tops, dtype=dtype)[1:]
        for arrays, dtype in ((low, np.float32), (high, np.float64))
    )
    return np.any([np.abs(a - b) > 0.01 for a, b in zip(single, double)], axis=0)


def run(op: str, inputs: Arrays, options: dict[str, Any], grad: np.ndarray | None) -> Arrays:
    """The result, or with a gradient of it those of the inputs."""
    call = getattr(ops, op if grad is None else f"{op}_backward")
    first = () if grad is None else (grad,)
    if op == "multi_scale_roi_align":
        maps = [a for name, a in inputs.items() if name.startswith("features")]
        result = call(*first, maps, inputs["rois"], **options)
        return {"": result} if grad is None else {f"features {k}": a for k, a in enumerate(result["features"])}
    result = call(*first, **inputs, **options)
    return {"": result} if grad is None else result


def stored(inputs: Arrays, dtype: np.dtype[Any]) -> tuple[Arrays, Arrays]:
    """The inputs in the storage type, what samples and weights in float32 beside float16, and the same numbers in float64."""
    maps = (next(iter(inputs)), "other", "features 1", "features 2", "features 3")
    low = {
        n: a if n in INDICES else cast_to(a, dtype if n in maps else np.dtype(np.float32)) for n, a in inputs.items()
    }
    return low, {n: a if n in INDICES else cast_to(a, np.float64) for n, a in low.items()}


def differences(e: np.ndarray, b: np.ndarray) -> tuple[float, float, float | None]:
    """diff1, diff2 and diff4. Raises ValueError where NaN or infinity lie in other places."""
    e, b = (cast_to(np.asarray(a), np.float64) for a in (e, b))
    if e.shape != b.shape or not np.array_equal(np.isfinite(e), np.isfinite(b)):
        raise ValueError("shapes, or the places of NaN and infinity, differ")
    e, b = (np.where(np.isfinite(b), a, 0) for a in (e, b))
    off = e - b
    unequal = int(np.count_nonzero(off))
    below = None if unequal < FEW else np.count_nonzero(off < 0) / unequal
    first = float(np.abs(off).sum() / (np.abs(b).sum() + 1e-9))
    return first, float(np.sqrt((off**2).sum() / ((b**2).sum() + 1e-9))), below


Errors = tuple[float, float, float | None]


def verdict(ours: Errors, peer: Errors) -> tuple[float, str]:
    """The larger of the quotients of ours and the peer's diff1 and diff2, and what follows."""
    ratio = max(0.0 if e == 0 else e / p if p else np.inf for e, p in zip(ours[:2], peer[:2]))
    right = ratio <= FACTOR and ours[2] not in (0.0, 1.0) and max(peer[:2]) <= ODD
    return ratio, "accepted" if right else "FAILED"


def places_of(name: str, high: Arrays, options: dict[str, Any]) -> np.ndarray:
    """Where the maxima lie in float64, of what has no peer that says it: (K, C, bins), a pixel of its plane or -1."""
    if name == "roi_pool mmcv":
        return ops.roi_pool_argmax(**high, **options)[1]
    size = f"pooled_h: {POOLED} pooled_w: {POOLED} spatial_scale: {options['spatial_scale']}"
    text = f'type: "RotateROIPooling" rotate_pooling_param {{ {size} }}'
    return np.asarray(run_layer(text, *high.values(), tops=2, dtype=np.float64)[1]).astype(np.int64)


def beside(name: str, high: Arrays, options: dict[str, Any], wanted: tuple[str, ...], grad: np.ndarray | None) -> Any:
    """The peer's result and gradients in float32 and in float64, by what they are of; "": the result."""
    if name in ("box_iou_rotated", "polygon_iou"):
        return {"": formulas.overlaps(name, high, quadrilaterals)}, {"": run(name, high, options, None)[""]}
    if "roi_pool mmcv" in name or name == "rotate_roi_pool":
        options = {
            **options,
            "places": formulas.importlib.import_module("torch").from_numpy(places_of(name, high, options)),
        }
    results = []
    for real in (np.float32, np.float64):
        result, slopes = formulas.by_torch(name, options, high, real, wanted, grad)
        results.append({"": result, **slopes})
    return results


def rows_of(name: str, small: bool) -> Iterator[tuple[str, str, float]]:
    """The rows of an operator, the verdict of each and its ratio; of what is only said, "" and 0."""
    for shape, count, scale in SHAPES:
        channels = shape[1]
        if small:
            channels, count = max(channels // 16, 8), max(count // 16, 2)
        rng = np.random.default_rng(0)
        op, inputs, options = OPERATORS[name](rng, (shape[0], channels, *shape[2:]), count, scale)
        if op in CUT:
            again = with_sure_bins(rng, op, inputs, options)
            if again:
                yield f"{name}, {list(shape)}: {again} of {count} regions drawn again", "", 0
        for dtype, kind in NAMES.items():
            low, high = stored(inputs, dtype)
            got = run(op, low, options, None)
            grad = cast_to(np.random.default_rng(1).standard_normal(got[""].shape), dtype)
            elsewhere = undecided(name, low, high, options)
            if elsewhere is not None and elsewhere.any():
                grad[elsewhere] = cast_to(np.zeros(1), dtype)
                yield f"{name}, {list(shape)}: {elsewhere.sum()} of {grad.size} maxima undecided", "", 0
            if op not in FORWARD:
                got.update(run(op, low, options, grad))
            slope = None if op in FORWARD else cast_to(grad, np.float64)
            single, wanted = beside(name, high, options, tuple(key for key in got if key), slope)
            text = f"{[shape[0], channels, *shape[2:]]} {count}"
            for key, value in got.items():
                ours, peer = (differences(e, wanted[key]) for e in (value, cast_to(single[key], value.dtype)))
                ratio, said = verdict(ours, peer)
                share = "-" if ours[2] is None else f"{ours[2]:.3f}"
                line = (
                    f"{name:<28}{f'd {key}' if key else 'forward':<22}{text:<24}{kind:<9}{ours[0]:9.1e}{ours[1]:9.1e}"
                )
                yield f"{line}{share:>7}{peer[0]:9.1e}{peer[1]:9.1e}{ratio:8.2f}  {said}", said, ratio
            if name == "roi_pool":
                places = [ops.roi_pool_argmax(**v, **options)[1] for v in (low, high)]
                off = int(np.abs(places[0].astype(np.int64) - places[1]).max())
                said = "accepted" if off == 0 else "FAILED"
                line = f"{name:<28}{'argmax':<22}{text:<24}{kind:<9}{'diff3':>9}{off:>9}{'-':>7}"
                yield f"{line}{'-':>9}{'-':>9}{'-':>8}  {said}", said, 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="python -m benchmarks.acceptance")
    parser.add_argument("names", nargs="*", help="words in the names of operators")
    parser.add_argument("--small", action="store_true", help="a sixteenth of the regions and channels")
    parser.add_argument("--out", type=Path, help="write the table here, too")
    arguments = parser.parse_args()
    names = [n for n in OPERATORS if not arguments.names or any(word in n for word in arguments.names)]
    versions = [
        f"{name} {formulas.importlib.import_module(name).__version__}" for name in ("torch", "torchvision", "cv2")
    ]
    lines = [
        f"{time.strftime('%Y-%m-%d')}, python -m benchmarks.acceptance {' '.join(sys.argv[1:])}".strip(),
        f"{machine()}; numpy {np.__version__}, {', '.join(versions)}; storage in 32 and 16 bits beside float64, 7 x 7 bins",
        f"{'':<99}{'the peer:':>16}",
        f"{'operator':<28}{'what':<22}{'shape, regions':<24}{'storage':<9}{'diff1':>9}{'diff2':>9}{'diff4':>7}{'diff1':>9}"
        f"{'diff2':>9}{'ratio':>8}",
    ]
    print("\n".join(lines), flush=True)
    verdicts: list[str] = []
    worst = 0.0
    for name in names:
        lines.append(f"{name} beside {formulas.PEERS[name][0]}")
        print(lines[-1])
        for line, said, ratio in rows_of(name, arguments.small):
            print(line, flush=True)
            lines.append(line)
            verdicts += [said] if said else []
            worst = max(worst, ratio)
        ops.forget()
    counts = {said: verdicts.count(said) for said in ("accepted", "FAILED")}
    lines.append(
        ", ".join(f"{count} rows {said}" for said, count in counts.items()) + f"; the largest ratio {worst:.2f}"
    )
    print(lines[-1])
    if arguments.out:
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(counts["FAILED"] > 0)


if __name__ == "__main__":
    sys.exit(main())
