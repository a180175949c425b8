"""DetectionData: Cascade R-CNN's batches of images with a map of targets for each size of receptive field."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...data.augment import check_distort, distort
from ...data.errors import DataError
from ...data.field_maps import Rules, Scene, lay, rounded, sizes, target_maps
from ...data.framed import Framed, read_framed
from ...data.loader import Loader, Order, RecordSource
from ...device import Blob
from .batches import BatchLayer, Numpy
from .framed_batches import draw_center, drop_outside, means, on_canvas, rows_of, scene_of

STEP = 32  # sides that follow short_size are multiples of it
SHUFFLES = ("random", "random_aspect", "random_mix_aspect")
Sample = tuple[Scene, np.random.Generator, str]


class AspectOrder(Order):
    """Tall and wide images apart: one kind after the other, or in turn, `group` of each."""

    def __init__(self, tall: Sequence[int], wide: Sequence[int], group: int, seed: int) -> None:
        super().__init__(len(tall) + len(wide), True, seed)
        self.kinds, self.group = (tuple(tall), tuple(wide)), group

    def __getitem__(self, place: int) -> int:
        turn, at = divmod(place, self.count)
        return aspect_round(self.kinds, self.group, self.seed, turn)[at]


@lru_cache(8)
def aspect_round(kinds: tuple[tuple[int, ...], tuple[int, ...]], group: int, seed: int, turn: int) -> list[int]:
    """The order of one round. group: 0 for one kind after the other.

    >>> sorted(aspect_round(((0, 1, 2), (3, 4)), 0, 1, 0)[:3]) in ([0, 1, 2], [0, 3, 4], [1, 3, 4], [2, 3, 4])
    True
    """
    rng = np.random.default_rng([seed, 2, turn])
    first, second = (list(rng.permutation(np.array(kind, int)).tolist()) for kind in kinds)
    if rng.integers(2):
        first, second = second, first
    result: list[int] = []
    lists = (first, second)
    while group and first and second:
        result.append(lists[len(result) // group % 2].pop(0))
    return [*result, *first, *second]


@dataclass
class DetectionSource(RecordSource):
    """Images of a window file, laid on a canvas whose size the first image of a batch decides."""

    entries: list[Framed]
    param: Any  # a DetectionDataParameter
    transform: Any  # a TransformationParameter
    canvas: tuple[int, int]
    fixed: bool  # whether the canvas always has that size
    rules: Rules
    mean: Numpy
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> Sample:
        scene = scene_of(self.entries[index], self.param.root_folder)
        if self.param.HasField("distort_param"):
            scene.image = distort(scene.image, self.param.distort_param, rng)
        return scene, rng, self.entries[index].path

    def collate(self, samples: Sequence[Sample]) -> list[Numpy]:
        """What depends on the batch: its canvas, and what lies there."""
        p, ratio = self.param, 1.0
        if p.template_ratio:
            ratio = float(p.template_ratio[samples[0][1].integers(len(p.template_ratio))])
        images: list[Numpy] = []
        maps: list[list[Numpy]] = []
        rows: list[Numpy] = []
        canvas = self.canvas
        for scene, rng, name in samples:
            if self.transform.mirror and rng.integers(2):
                scene.flip()
            scene.resize(*self.size(scene, ratio), name)
            if not images and not self.fixed:
                canvas = self.template(scene, ratio)
            chosen = draw_center(scene, canvas, rng)
            factors = self.factors(scene.boxes[chosen] if chosen >= 0 else None, rng)
            scene.rescale(*factors, name)
            part, place = lay(scene, canvas, factors, (int(rng.integers(20)) - 10, int(rng.integers(20)) - 10))
            drop_outside(scene, canvas, (p.min_gt_width, p.min_gt_height))
            images.append(on_canvas(part, place, canvas, self.mean, self.transform.scale))
            maps.append(target_maps(scene, canvas, place, self.rules))
            rows.append(np.column_stack([scene.boxes, scene.labels, scene.ignored, scene.difficult]))
        stacks = [np.stack([own[i] for own in maps]) for i in range(len(self.rules.strides))]
        return [np.stack(images), *stacks, rows_of(rows, [-1] * 8)][: self.tops]

    def size(self, scene: Scene, ratio: float) -> tuple[int, int]:
        """Width and height to resize to."""
        p, sides = self.param, [scene.width, scene.height]
        if p.HasField("resize_width") and p.HasField("resize_height"):
            return p.resize_width, p.resize_height
        factor = 1.0
        if p.HasField("resize_ratio"):
            factor = p.resize_ratio
        elif p.HasField("short_size") and p.HasField("long_size"):
            factor = float(np.float32(rounded(p.short_size * ratio / STEP) * STEP) / np.float32(min(sides)))
        width, height = (rounded(float(np.float32(side) * np.float32(factor))) for side in sides)
        return width, height

    def template(self, scene: Scene, ratio: float) -> tuple[int, int]:
        """Height and width of the canvas for a batch that begins with this image."""
        p, tall = self.param, scene.height >= scene.width
        if p.HasField("crop_short_size") and p.HasField("crop_long_size"):
            short, long = p.crop_short_size, p.crop_long_size
        elif p.HasField("short_size") and p.HasField("long_size"):
            short, long = (rounded(side * ratio / STEP) * STEP for side in (p.short_size, p.long_size))
        else:
            return scene.height, scene.width
        return (long, short) if tall else (short, long)

    def factors(self, box: Numpy | None, rng: np.random.Generator) -> tuple[float, float]:
        """How an image is enlarged across and down."""
        p = self.param
        by_ratio = p.HasField("low_scale_ratio") and p.HasField("high_scale_ratio")
        by_scale = p.HasField("min_scale") and p.HasField("max_scale")
        if not (rng.random() < p.multiscale_prob and (by_ratio or by_scale)):
            return 1.0, 1.0
        low = high = 1.0
        if by_ratio:
            low, high = math.log2(p.low_scale_ratio), math.log2(p.high_scale_ratio)
        elif box is not None:
            area = float((box[2] - box[0] + 1) * (box[3] - box[1] + 1))
            if area <= 0:
                return 1.0, 1.0
            low, high = (math.log2(scale / math.sqrt(area)) for scale in (p.min_scale, p.max_scale))
        across = down = 2.0 ** rng.uniform(low, high)
        if p.HasField("min_whaspect") and p.HasField("max_whaspect"):
            shape = math.sqrt(2.0 ** rng.uniform(math.log2(p.min_whaspect), math.log2(p.max_whaspect)))
            across, down = across * shape, down / shape
        return float(np.float32(across)), float(np.float32(down))

    def name(self, index: int) -> str:
        return self.entries[index].path


class DetectionData(
    BatchLayer, type="DetectionData", param=("detection_data_param", "transform_param"), bottoms=0, tops=(1, None)
):
    """Batches of images and, for each size of receptive field, of maps of what a net is to find there.

    An image gets distort_param's colours, is mirrored, resized, and by multiscale_prob enlarged: by a factor between
    low_scale_ratio and high_scale_ratio, or so that a box that is drawn gets a size between min_scale and max_scale. It is
    laid on the canvas of the top about that box, moved by up to ten pixels; a smaller image near the middle, with 0
    around it. Where short_size and long_size (crop_short_size and crop_long_size) give the canvas, the first image of
    a batch says whether it stands or lies. Maps are made as those of ImageGtData, but the last pixel belongs to a box,
    and regions count only for fields that learn no box. An image that cannot be read is an error that names it.

    Parameters
    ----------
    detection_data_param
        `source` (required): a window file as for ImageGtData, with `class ignore difficult xmin ymin xmax ymax` for a box.
        `root_folder` (""). `batch_size` (required). `stride`, `field_w`, `field_h`: one for each map. `resize_width` and
        `resize_height`, or `resize_ratio`, or `short_size` and `long_size`, with `template_ratio`: one of them, drawn for
        each batch, multiplies both. `crop_width` and `crop_height`, or `crop_short_size` and `crop_long_size`: the canvas.
        `fg_threshold` (0.5), `ignore_fg_threshold` (0.4), `pickup_iou_thr` (0.2); `anchor_ignore_margin_ratio`: how far
        a field may leave the image, in halves of it, or `anchor_ignore_iou_thr`: the share of it that must lie there.
        `min_gt_width`, `min_gt_height` (0): smaller boxes are ignored. `multiscale_prob` (0.5), `min_scale` and
        `max_scale`, or `low_scale_ratio` and `high_scale_ratio`; `min_whaspect` and `max_whaspect`. `distort_param`.
        `shuffle`: "random"; "random_aspect": standing and lying images apart; "random_mix_aspect": in turn, by
        `mix_group_size` (64). Without it, images come in turn. `output_gt_boxes` (false). `cache_images`: without effect.
    transform_param
        `mirror` (false), `mean_value`, `scale` (1).

    Returns
    -------
    top 0
        (batch, 3, height, width), the images.
    top 1, ...
        (batch, 6, height / stride, width / stride), a map for each stride: class (0 for background), x and y of the
        centre, width and height of the box in pixels of the top, and the overlap, which is 1 where nothing counts.
    last top
        With output_gt_boxes: (boxes, 8, 1, 1), image in the batch, xmin, ymin, xmax, ymax, class, ignored, difficult; one
        row of -1 without a box.

    Raises
    ------
    LayerError
        For parameters that are missing or contradict each other, a window file that cannot be read, or an image that
        cannot be read.

    Source
    ------
    Cascade R-CNN.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "DetectionData" top: "data" top: "map"
    ...     detection_data_param { source: "windows.txt" batch_size: 2 short_size: 512 long_size: 1024 crop_short_size: 384
    ...     crop_long_size: 768 stride: 8 field_w: 40 field_h: 40 } }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["map"].shape
    ((2, 3, 768, 384), (2, 6, 96, 48))
    """

    _refuse_broken = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, t = self.param.detection_data_param, self.param.transform_param
        self.need(p.source, "give detection_data_param { source: .. }, the window file")
        self.need(p.batch_size > 0, f"batch_size must be 1 or more, got {p.batch_size}")
        self.need(p.coord_num == 4, f"coord_num must be 4, got {p.coord_num}")
        self.need(p.fg_threshold > 0, f"fg_threshold must be above 0, got {p.fg_threshold:g}")
        strides, widths, heights = map(list, (p.stride, p.field_w, p.field_h))
        self.need(all(strides), f"stride must be 1 or more, got {strides}")
        self.need(
            len(strides) == len(widths) == len(heights),
            f"give stride, field_w and field_h once for each map; got {len(strides)}, {len(widths)}, {len(heights)}",
        )
        wanted = 1 + len(strides) + bool(p.output_gt_boxes)
        self.need(
            len(top) == wanted, f"has {wanted} tops (images, {len(strides)} maps ..), the prototxt gives {len(top)}"
        )
        self.need(
            len(t.mean_value) in (0, 1, 3), f"give mean_value once, or for each of 3 channels; got {len(t.mean_value)}"
        )
        self.need(not t.mean_file, "takes no mean_file; give mean_value")
        self.agree()
        margin = p.anchor_ignore_margin_ratio if p.HasField("anchor_ignore_margin_ratio") else None
        inside = p.anchor_ignore_iou_thr if p.HasField("anchor_ignore_iou_thr") else None
        self.rules = Rules(
            strides, widths, heights, p.fg_threshold, 1, p.ignore_fg_threshold, False, p.pickup_iou_thr, margin, inside
        )
        self.canvas = self.size()
        shapes = [(p.batch_size, 6, *size) for size in sizes(self.canvas, strides)]
        for blob, shape in zip(top, [(p.batch_size, 3, *self.canvas), *shapes, (1, 8, 1, 1)]):
            blob.reshape(*shape)

    def agree(self) -> None:
        """Checks that parameters do not contradict each other."""
        p = self.param.detection_data_param
        pairs = [("resize_width", "resize_height"), ("short_size", "long_size"), ("crop_width", "crop_height")]
        pairs += [
            ("crop_short_size", "crop_long_size"),
            ("min_scale", "max_scale"),
            ("low_scale_ratio", "high_scale_ratio"),
        ]
        pairs += [("min_whaspect", "max_whaspect")]
        present = {}
        for a, b in pairs:
            self.need(p.HasField(a) == p.HasField(b), f"{a} and {b} go together")
            present[a] = p.HasField(a)
            low, high = getattr(p, a), getattr(p, b)
            self.need(
                not present[a] or (low > 0 and high > 0), f"{a} and {b} must be above 0, got {low:g} and {high:g}"
            )
            ordered = a.startswith(("short", "crop_short", "min", "low"))
            self.need(not present[a] or not ordered or low <= high, f"{a} {low:g} is above {b} {high:g}")
        self.need(not p.HasField("resize_ratio") or p.resize_ratio > 0, "resize_ratio must be above 0")
        self.need(all(ratio > 0 for ratio in p.template_ratio), "template_ratio must be above 0")
        ways = present["resize_width"] + present["short_size"] + p.HasField("resize_ratio")
        self.need(ways <= 1, "give one of resize_width and resize_height, resize_ratio, short_size and long_size")
        self.need(
            not present["crop_width"] or not present["crop_short_size"], "give crop_width, or crop_short_size, not both"
        )
        self.need(
            not present["min_scale"] or not present["low_scale_ratio"], "give min_scale, or low_scale_ratio, not both"
        )
        self.need(p.shuffle in SHUFFLES, f"shuffle must be one of {', '.join(SHUFFLES)}, got {p.shuffle!r}")
        try:
            if p.HasField("distort_param"):
                check_distort(p.distort_param)
        except DataError as error:
            self.need(False, str(error))

    def size(self) -> tuple[int, int]:
        """Height and width of the canvas that the fields tell."""
        p = self.param.detection_data_param
        if p.HasField("crop_width"):
            return p.crop_height, p.crop_width
        if p.HasField("crop_short_size"):
            return p.crop_long_size, p.crop_short_size
        if p.HasField("resize_width"):
            return p.resize_height, p.resize_width
        if p.HasField("short_size"):
            return p.long_size, p.short_size
        _, height, width = self.entries()[-1].size
        factor = p.resize_ratio if p.HasField("resize_ratio") else 1.0
        height, width = (rounded(float(np.float32(side) * np.float32(factor))) for side in (height, width))
        self.need(height > 0 < width, "the last image of the list has no size, and no field gives one")
        return height, width

    def entries(self) -> list[Framed]:
        try:
            return read_framed(self.param.detection_data_param.source, difficult=True)
        except DataError as error:
            self.need(False, str(error))
            raise

    def open(self) -> Loader:
        p, t, entries = self.param.detection_data_param, self.param.transform_param, self.entries()
        fixed = p.HasField("crop_width") or p.HasField("resize_width")
        tops = 1 + len(self.rules.strides) + bool(p.output_gt_boxes)
        source = DetectionSource(entries, p, t, self.canvas, fixed, self.rules, means(t), tops)
        order = self.make_order(len(entries), p.HasField("shuffle") and p.shuffle == "random")
        if p.HasField("shuffle") and p.shuffle != "random":
            wide = [i for i, entry in enumerate(entries) if entry.size[1] < entry.size[2]]
            tall = [i for i, entry in enumerate(entries) if entry.size[1] >= entry.size[2]]
            group = max(p.mix_group_size, 1) if p.shuffle == "random_mix_aspect" else 0
            order = AspectOrder(tall, wide, group, order.seed)
        return self.make_loader(source, order, p.batch_size)
