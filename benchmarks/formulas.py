"""The operators as other programs have them on the CPU, in float32 or float64: what `benchmarks.acceptance` measures beside.

`PEERS` has for each case of the acceptance the program, its function and how that is called. Those of torchvision, torch
(grid_sample, cummax and the like) and OpenCV are theirs. Where none of these has an operator, "formula" is docs/formulas.md in
torch's own operations (boxpresso/ops/forms.py), which has nothing of the kernels. Gradients are torch's, but for prroi_pool,
whose formula would take an image for each region.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from boxpresso import ops

PIECE = 128  # regions at a time: samples of each take memory for every channel
ROWS = ("rois", "offset", "trans", "mask", "boxes", "box_indices")  # arrays of a row for each region
Arrays = Mapping[str, np.ndarray]
Slopes = dict[str, np.ndarray]


def tensors(arrays: Arrays, real: type, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Tensors of the type `real`, indices as they are; those of `wanted` ask for a gradient."""
    torch = importlib.import_module("torch")
    inputs = {}
    for name, array in arrays.items():
        value = torch.from_numpy(np.ascontiguousarray(array if array.dtype.kind == "i" else array.astype(real)))
        inputs[name] = value.requires_grad_(name in wanted)
    return inputs


def whole(function: Callable[..., Any], inputs: Mapping[str, Any], grad: Any) -> Any:
    """A function's result, after its gradients were added to the tensors' own."""
    torch = importlib.import_module("torch")
    with torch.set_grad_enabled(grad is not None):
        result = function(inputs)
    if grad is not None:
        result.backward(grad)
    return result.detach()


def in_pieces(function: Callable[..., Any], inputs: Mapping[str, Any], grad: Any) -> Any:
    """The same of some regions after others."""
    torch = importlib.import_module("torch")
    rows = next(inputs[name] for name in ("rois", "boxes") if name in inputs)
    results = []
    for start in range(0, len(rows), PIECE):
        here = slice(start, start + PIECE)
        part = {name: value[here] if name in ROWS else value for name, value in inputs.items()}
        results.append(whole(function, part, None if grad is None else grad[here]))
    return torch.cat(results)


def by_torch(
    name: str, options: dict[str, Any], arrays: Arrays, real: type, wanted: tuple[str, ...], grad: Any
) -> tuple[np.ndarray, Slopes]:
    """A peer's result, and the gradients of the arrays of `wanted` where there is a gradient of the result."""
    torch = importlib.import_module("torch")
    torch.set_default_dtype(torch.float64 if real is np.float64 else torch.float32)
    try:
        inputs = tensors(arrays, real, wanted if grad is not None else ())
        slope = None if grad is None else torch.from_numpy(np.asarray(grad, real))
        _, function, run = PEERS[name]
        result = run(lambda t: function(t, options), inputs, slope)
        slopes = {n: inputs[n].grad for n in wanted if grad is not None}
        return result.numpy(), {
            n: np.zeros(arrays[n].shape, real) if s is None else s.numpy() for n, s in slopes.items()
        }
    finally:
        torch.set_default_dtype(torch.float32)


# torchvision's


def vision(op: str) -> Callable[..., Any]:
    def function(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
        call = getattr(importlib.import_module("torchvision").ops, op)
        more = {key: o[key] for key in ("sampling_ratio", "aligned") if key in o}
        return call(t["x"], t["rois"], o["output_size"], o["spatial_scale"], **more)

    return function


def aligned(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    return vision("roi_align")(t, {"sampling_ratio": -1, **o, "aligned": True})


def pyramid(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    """Levels as torchvision's poolers choose them, of the regions in double."""
    torch = importlib.import_module("torch")
    maps, scales, rois = [t[n] for n in t if n.startswith("features")], o["spatial_scales"], t["rois"]
    poolers = importlib.import_module("torchvision").ops.poolers
    lowest, highest = (-round(np.log2(scales[k])) for k in (0, -1))
    levels = poolers.initLevelMapper(lowest, highest)([rois[:, 1:].double()])
    call = importlib.import_module("torchvision").ops.roi_align
    order = [torch.nonzero(levels == k)[:, 0] for k in range(len(maps))]
    parts = [call(x, rois[i], o["output_size"], s, o["sampling_ratio"]) for x, i, s in zip(maps, order, scales)]
    return torch.cat(parts)[torch.argsort(torch.cat(order))]


def convolution(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    call = importlib.import_module("torchvision").ops.deform_conv2d
    return call(t["x"], t["offset"], t["weight"], t["bias"], padding=o["padding"], mask=t["mask"])


# torch's


def point(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    functional = importlib.import_module("torch").nn.functional
    return functional.grid_sample(t["x"], 2 * t["points"][:, :, None] - 1, align_corners=False)[..., 0]


def attention(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    torch = importlib.import_module("torch")
    sizes = t["spatial_shapes"].tolist()
    batch, _, heads, depth = t["value"].shape
    queries, samples = t["sampling_locations"].shape[1], []
    for level, (part, (height, width)) in enumerate(zip(t["value"].split([h * w for h, w in sizes], 1), sizes)):
        maps = part.flatten(2).transpose(1, 2).reshape(-1, depth, height, width)
        grid = 2 * t["sampling_locations"][:, :, :, level].transpose(1, 2).flatten(0, 1) - 1
        samples.append(torch.nn.functional.grid_sample(maps, grid, align_corners=False))
    weights = t["attention_weights"].transpose(1, 2).flatten(0, 1).flatten(2)[:, None]
    result = (torch.stack(samples, -2).flatten(-2) * weights).sum(-1)
    return result.view(batch, heads * depth, queries).transpose(1, 2)


def upsampled(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    functional = importlib.import_module("torch").nn.functional
    height, width = t["x"].shape[2:]
    wide, result = functional.pad(t["x"], (2, 2, 2, 2)), 0
    for tap in range(25):
        part = wide[:, :, tap // 5 : tap // 5 + height, tap % 5 : tap % 5 + width]
        result = result + functional.interpolate(part, scale_factor=2, mode="nearest") * t["masks"][:, tap, None]
    return result


def by_channels(function: Callable[..., Any], inputs: Mapping[str, Any], grad: Any) -> Any:
    """A function of images, 8 channels after others: the rest takes memory for each tap of each channel."""
    torch = importlib.import_module("torch")
    results = []
    for start in range(0, inputs["x"].shape[1], 8):
        here = slice(start, start + 8)
        results.append(whole(function, {**inputs, "x": inputs["x"][:, here]}, None if grad is None else grad[:, here]))
    return torch.cat(results, 1)


def corner(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    return t["x"].flip(2).cummax(2).values.flip(2)


def correlated(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    torch = importlib.import_module("torch")
    n = o["max_displacement"]
    height, width = t["x"].shape[2:]
    wide = torch.nn.functional.pad(t["other"], (n, n, n, n))
    places = [(p, q) for p in range(2 * n + 1) for q in range(2 * n + 1)]
    rows = [(t["x"] * wide[:, :, p : p + height, q : q + width]).sum(1) for p, q in places]
    return torch.stack(rows, 1).unflatten(1, (2 * n + 1, 2 * n + 1))


def permuted(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    return t["x"].permute(*o["dims"])


def pasted(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    torch = importlib.import_module("torch")
    x0, y0, x1, y1 = t["boxes"].split(1, 1)
    height, width = o["image_size"]
    y, x = (torch.arange(n, dtype=t["boxes"].dtype) + 0.5 for n in (height, width))
    y, x = (y - y0) / (y1 - y0) * 2 - 1, (x - x0) / (x1 - x0) * 2 - 1
    grid = torch.stack([x[:, None].expand(-1, height, -1), y[:, :, None].expand(-1, -1, width)], 3)
    return torch.nn.functional.grid_sample(t["masks"][:, None], grid, align_corners=False)[:, 0]


# Formulas


def formula(op: str) -> Callable[..., Any]:
    def function(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
        forms = importlib.import_module("boxpresso.ops.forms")
        inputs, options = ops.OPERATORS[op].bind(**t, **o)
        return forms.compute(op, ops.OPERATORS[op].inputs, inputs, options)

    return function


def integrals(function: Callable[..., Any], inputs: Mapping[str, Any], grad: Any) -> Any:
    """PrRoIPooling from the pixels that each region reaches alone. function: the weights of rows and columns."""
    torch = importlib.import_module("torch")
    weights, x = function(inputs), inputs["x"].detach()
    rows, columns = (w.detach() for w in weights)
    slopes = [torch.zeros_like(w) for w in (rows, columns)]
    image, results, back = inputs["rois"][:, 0].long().tolist(), [], torch.zeros_like(x) if grad is not None else None
    for k, b in enumerate(image):
        (y, x_) = (
            slice(int(at[0]), int(at[-1]) + 1) for at in (torch.nonzero(w[k].any(0))[:, 0] for w in (rows, columns))
        )
        left, right, window = rows[k][:, y], columns[k][:, x_], x[b, :, y, x_]
        half = left @ window
        results.append(half @ right.T)
        if grad is not None:
            across = grad[k] @ right
            back[b, :, y, x_] += left.T @ across  # type: ignore[index]
            slopes[0][k][:, y] = torch.einsum("cpx,cyx->py", across, window)
            slopes[1][k][:, x_] = torch.einsum("cpq,cpx->qx", grad[k], half)
    if grad is not None:
        torch.autograd.backward(weights, slopes)
        inputs["x"].grad = back
    return torch.stack(results)


def shares(t: Mapping[str, Any], o: dict[str, Any]) -> list[Any]:
    """The integral of each pixel's hat over each bin, by rows (K, bins, H) and by columns, over the bin's size."""
    torch = importlib.import_module("torch")
    x1, y1, x2, y2 = t["rois"][:, 1:].unbind(1)
    weights = []
    for low, high, size in zip((y1, x1), (y2, x2), t["x"].shape[2:]):
        step = ((high - low) * o["spatial_scale"] / o["output_size"])[:, None, None]
        edges = low[:, None, None] * o["spatial_scale"] + torch.arange(o["output_size"] + 1)[:, None] * step
        at = (edges - torch.arange(size)).clamp(-1, 1)
        weights.append(torch.where(at < 0, (at + 1) ** 2 / 2, 1 - (1 - at) ** 2 / 2).diff(dim=1) / step)
    return weights


def gathered(t: Mapping[str, Any], o: dict[str, Any]) -> Any:
    """Pixels at `places` (K, C, bins), of maps in their plane or -1: what a maximum gives, and its gradient."""
    torch = importlib.import_module("torch")
    places = o["places"]
    first = t["rois"][:, 0].long()[:, None, None] * t["x"].shape[1] + torch.arange(t["x"].shape[1])[:, None]
    plane = t["x"].shape[2] * t["x"].shape[3]
    values = t["x"].flatten()[first * plane + places.flatten(2).clamp(min=0)]
    return torch.where(places.flatten(2) >= 0, values, 0).reshape(places.shape)


# OpenCV's


def overlaps(name: str, arrays: Arrays, corners: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """OpenCV's areas of intersections of convex polygons, over those of unions; it computes in float32."""
    cv2 = importlib.import_module("cv2")
    shapes = [corners(a) if a.shape[1] == 5 else a for a in (a.astype(np.float32) for a in arrays.values())]
    first, second = (np.ascontiguousarray(s, np.float32).reshape(-1, 4, 2) for s in shapes)
    areas = [[np.float32(cv2.contourArea(p)) for p in polygons] for polygons in (first, second)]
    result = np.zeros((len(first), len(second)), np.float32)
    boxes = [(p.min(1), p.max(1)) for p in (first, second)]
    near = (boxes[0][0][:, None] < boxes[1][1]).all(2) & (boxes[1][0] < boxes[0][1][:, None]).all(2)
    for i, j in zip(*near.nonzero()):
        shared = np.float32(cv2.intersectConvexConvex(first[i], second[j])[0])
        result[i, j] = shared / (areas[0][i] + areas[1][j] - shared)
    return result


PEERS: dict[str, tuple[str, Callable[..., Any], Callable[..., Any]]] = {
    "roi_align": ("torchvision", aligned, whole),
    "roi_align adaptive": ("torchvision", aligned, whole),
    "roi_align maximum": ("formula", formula("roi_align"), in_pieces),
    "multi_scale_roi_align": ("torchvision", pyramid, whole),
    "roi_align_rotated": ("formula", formula("roi_align_rotated"), in_pieces),
    "riroi_align_rotated": ("formula", formula("riroi_align_rotated"), in_pieces),
    "roi_pool": ("torchvision", vision("roi_pool"), whole),
    "roi_pool mmcv": ("torch", gathered, whole),
    "rotate_roi_pool": ("torch", gathered, whole),
    "ps_roi_pool": ("torchvision", vision("ps_roi_pool"), whole),
    "ps_roi_align": ("torchvision", vision("ps_roi_align"), whole),
    "prroi_pool": ("formula", shares, integrals),
    "deform_roi_pool": ("formula", formula("deform_roi_pool"), in_pieces),
    "modulated_deform_roi_pool": ("formula", formula("modulated_deform_roi_pool"), in_pieces),
    "deformable_psroi_pool": ("formula", formula("deformable_psroi_pool"), in_pieces),
    "multi_scale_deformable_attn": ("torch", attention, whole),
    "crop_and_resize": ("formula", formula("crop_and_resize"), in_pieces),
    "point_sample": ("torch", point, whole),
    "deform_conv2d": ("torchvision", convolution, whole),
    "carafe": ("torch", upsampled, by_channels),
    "corner_pool": ("torch", corner, whole),
    "correlation": ("torch", correlated, whole),
    "permute": ("torch", permuted, whole),
    "paste_masks": ("torch", pasted, whole),
    "box_iou_rotated": ("OpenCV", overlaps, whole),
    "polygon_iou": ("OpenCV", overlaps, whole),
}
