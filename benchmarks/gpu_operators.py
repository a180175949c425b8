"""The region operators and Permute on a device: layers over arrays that stay there, and what each must move and compute.

Only numpy and Boxpresso are needed here; torchvision's CUDA operators run beside them where they are installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.cases import PYRAMID, regions_of
from boxpresso import Blob
from boxpresso.device import Device
from boxpresso.layers.core import make_layer
from boxpresso.proto import parse_net

POOLED = 7
BINS = POOLED * POOLED
TINY = [((2, 16, 20, 30), 6, 1 / 4), ((2, 16, 10, 15), 3, 1 / 8)]
POOL = "pooled_h: 7 pooled_w: 7 spatial_scale: {scale}"


@dataclass(frozen=True)
class Operator:
    """A region operator. text: of its layer, with {scale}, {ratio} and {outputs}; extra: shapes of further bottoms a region;
    down: which bottoms get a gradient; group: what the channels must be a multiple of, and the top has so many times fewer;
    samples: in a bin along an axis, 0 for those that read every pixel of a bin; peer: torchvision's name for it."""

    text: str
    columns: int = 5
    extra: tuple[tuple[int, ...], ...] = ()
    down: tuple[bool, ...] = (True, False)
    group: int = 1
    samples: int = 2
    places: int = 0  # numbers that forward leaves for backward, for each number of the top
    peer: str = ""


def psroi(name: str, field: str, more: str = "") -> str:
    return f'type: "{name}" {field} {{ spatial_scale: {{scale}} output_dim: {{outputs}} group_size: 7 {more} }}'


def align(name: str, field: str, more: str = "") -> str:
    return f'type: "{name}" {field} {{ {POOL} sampling_ratio: {{ratio}} {more} }}'


OPERATORS = {
    "ROIAlign": Operator(align("ROIAlign", "roi_align_param", "aligned: true"), peer="roi_align"),
    "ROIAlign max": Operator(align("ROIAlign", "roi_align_param", "aligned: true pool_mode: MAX"), places=1),
    "ROIAlignRotated": Operator(align("ROIAlignRotated", "roi_align_rotated_param", "aligned: true"), columns=6),
    "RiROIAlignRotated": Operator(
        align("RiROIAlignRotated", "riroi_align_rotated_param", "num_orientations: 8"), columns=6
    ),
    "DeformROIPooling": Operator(
        align("DeformROIPooling", "deform_roi_pooling_param", "gamma: 0.1"),
        extra=((2, 7, 7),), down=(True, False, True),
    ),
    "ModulatedDeformROIPooling": Operator(
        align("ModulatedDeformROIPooling", "deform_roi_pooling_param", "gamma: 0.1"),
        extra=((2, 7, 7), (1, 7, 7)), down=(True, False, True, True),
    ),
    "ROIPooling": Operator(
        f'type: "ROIPooling" roi_pooling_param {{ {POOL} }}', samples=0, places=1, peer="roi_pool"
    ),
    "PSROIPooling": Operator(psroi("PSROIPooling", "psroi_pooling_param"), group=49, samples=0, peer="ps_roi_pool"),
    "PSROIAlign": Operator(psroi("PSROIAlign", "psroi_align_param", "sample_num: {ratio}"), group=49, peer="ps_roi_align"),
    "DeformablePSROIPooling": Operator(
        psroi("DeformablePSROIPooling", "deformable_psroi_pooling_param", "sample_per_part: 2 trans_std: 0.1"),
        extra=((2, 7, 7),), down=(True, False, True), group=49,
    ),
    "PrROIPooling": Operator(
        f'type: "PrROIPooling" prroi_pooling_param {{ {POOL} }}', down=(True, True), samples=0
    ),
    "RotateROIPooling": Operator(
        f'type: "RotateROIPooling" rotate_pooling_param {{ {POOL} }}', columns=6, samples=0, places=1
    ),
    "ROIWarping": Operator(f'type: "ROIWarping" roi_warping_param {{ {POOL} }}'),
}  # fmt: skip
ADAPTIVE = ("ROIAlign", "ROIAlignRotated")  # measured with an adaptive grid too


@dataclass(frozen=True)
class Case:
    """One operator at one shape: `name` is its row, `count` its regions, ratio 0 an adaptive grid."""

    operator: str
    shape: tuple[int, int, int, int]
    count: int
    scale: float
    ratio: int = 2
    backward: bool = False

    @property
    def name(self) -> str:
        how = ", adaptive" if self.ratio == 0 else ""
        which = " backward" if self.backward else ""
        return f"{self.operator}{which} {'x'.join(map(str, self.shape))} {self.count} regions{how}"


def cases(quick: bool = False, tiny: bool = False) -> list[Case]:
    """Every operator at the four shapes, forward and backward; `quick`: at the first alone; `tiny`: at shapes for a trial."""
    chosen = []
    for shape, count, scale in TINY[:1] if tiny else PYRAMID[:1] if quick else PYRAMID:
        for name, operator in OPERATORS.items():
            batch, channels, height, width = shape
            channels = max(channels // operator.group, 1) * operator.group
            for ratio in (2, 0) if name in ADAPTIVE else (2,):
                for backward in (False, True):
                    chosen.append(Case(name, (batch, channels, height, width), count, scale, ratio, backward))
    return chosen


def rows_of(case: Case) -> np.ndarray:
    """The regions of a case, (K, 5) or (K, 6)."""
    kind = "roi_align_rotated" if OPERATORS[case.operator].columns == 6 else ""
    return regions_of({"op": kind, "shape": case.shape, "count": case.count, "scale": case.scale})


class Rig:
    """A layer over arrays of a device, with numbers in them."""

    def __init__(self, case: Case, device: Device, dtype: Any = np.float32) -> None:
        operator, (_, channels, height, width) = OPERATORS[case.operator], case.shape
        self.operator, self.case, self.device = operator, case, device
        text = operator.text.replace("{scale}", repr(case.scale)).replace("{ratio}", str(case.ratio))
        text = text.replace("{outputs}", str(channels // operator.group))
        rng = np.random.default_rng(1)
        bottoms = [rng.standard_normal(case.shape, dtype=np.float32), rows_of(case)]
        bottoms += [rng.uniform(0, 1, (case.count, *each)).astype(np.float32) for each in operator.extra]
        if case.operator == "RotateROIPooling":
            bottoms.append(np.array([[height / case.scale, width / case.scale, 1]], np.float32))
        self.layer = make_layer(
            parse_net(f"layer {{ {text} }}").layer[0], device=device, dtype=dtype, phase="TRAIN", seed=0
        )
        self.bottom, self.top = [Blob(b.shape, dtype, device) for b in bottoms], [Blob((), dtype, device)]
        for blob, value in zip(self.bottom, bottoms):
            blob.data[...] = value
        self.layer.setup(self.bottom, self.top)
        self.layer.reshape(self.bottom, self.top)
        self.top[0].diff[...] = np.random.default_rng(2).standard_normal(self.top[0].shape, dtype=np.float32)
        self.down = [*operator.down, *[False] * (len(bottoms) - len(operator.down))]

    def forward(self) -> None:
        self.layer.forward(self.bottom, self.top)

    def backward(self) -> None:
        self.layer.backward(self.top, self.down, self.bottom)

    def results(self) -> list[np.ndarray]:
        """The top, then the gradients."""
        self.forward()
        top = np.array(self.top[0].data)
        self.backward()
        return [top, *(np.array(blob.diff) for blob, asked in zip(self.bottom, self.down) if asked)]


def moved(case: Case) -> int:
    """Bytes that must be moved: each array that is read or written once. A forward pass reads no more of the maps than the
    pixels that its samples name; a backward pass writes all of their gradient."""
    operator, (batch, channels, height, width) = OPERATORS[case.operator], case.shape
    top = case.count * (channels // operator.group) * BINS
    small = case.count * (operator.columns + sum(math.prod(each) for each in operator.extra))
    maps = batch * channels * height * width
    if case.backward:
        reads_maps = any(operator.down[1:])  # a gradient of offsets or of the regions
        return 4 * (top * (1 + operator.places) + maps + small * (2 if reads_maps else 1) + maps * reads_maps)
    named = min(maps, pixels(case) * channels // operator.group)
    return 4 * (named + top * (1 + operator.places) + small)


def pixels(case: Case) -> int:
    """Pixels of one channel that all regions' samples name, each as often as a sample names it."""
    return 4 * samples(case)


def samples(case: Case) -> int:
    """Samples, or pixels of bins, of all regions in one channel of the top."""
    operator = OPERATORS[case.operator]
    rows = rows_of(case).astype(np.float64)
    size = (rows[:, 3:5] - rows[:, 1:3] if operator.columns == 5 else rows[:, 3:5]) * case.scale
    if operator.samples == 0:  # the pixels of a bin
        return int(np.ceil(size / POOLED + 1).prod(1).sum()) * BINS
    if case.ratio == 0:
        return int(np.ceil(size / POOLED).prod(1).sum()) * BINS
    return len(rows) * BINS * operator.samples**2


def operations(case: Case) -> int:
    """Floating point operations of the plain formula: four products and sums a sample, one a pixel of a bin."""
    operator, channels = OPERATORS[case.operator], case.shape[1]
    each = 2 if operator.samples == 0 else 8
    return samples(case) * (channels // operator.group) * each


def peer(case: Case, rig: Rig) -> Callable[[], Any] | None:
    """torchvision's operator on torch's own arrays on the GPU; None where there is none, ImportError where it is not there."""
    name = OPERATORS[case.operator].peer
    if not name:
        return None
    torch: Any = import_module("torch")
    import_module("torchvision")
    if not torch.cuda.is_available():
        raise ImportError("torch has no GPU here", name="torch")
    x, rois = (torch.from_numpy(np.array(blob.data)).cuda() for blob in rig.bottom[:2])
    grad = torch.from_numpy(np.array(rig.top[0].diff)).cuda()
    own, shape = torch.ops.torchvision, case.shape
    if name == "roi_align":
        rest: tuple[Any, ...] = (case.scale, POOLED, POOLED)
        if case.backward:
            return lambda: own._roi_align_backward(grad, rois, *rest, *shape, case.ratio, True)
        return lambda: own.roi_align(x, rois, *rest, case.ratio, True)
    size = (case.scale, POOLED, POOLED, *([case.ratio] if name == "ps_roi_align" else []))
    forward, backward = getattr(own, name), getattr(own, f"_{name}_backward")
    if case.backward:
        places = forward(x, rois, *size)[1]
        return lambda: backward(grad, rois, places, *size, *shape)
    return lambda: forward(x, rois, *size)


def difference(got: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> float:
    """sum |got - wanted| / sum |wanted|, the largest of all arrays, as mlu-ops' diff1; infinite for a NaN on one side."""
    worst = 0.0
    for one, other in zip(got, wanted, strict=True):
        if not np.array_equal(np.isnan(one), np.isnan(other)):
            return math.inf
        apart = np.nansum(np.abs(one.astype(np.float64) - other)) / (np.nansum(np.abs(other)) + 1e-9)
        worst = max(worst, float(apart))
    return worst
