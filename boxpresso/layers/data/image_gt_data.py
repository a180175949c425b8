"""ImageGtData: MS-CNN's batches of images with a map of targets for each size of receptive field."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.errors import DataError
from ...data.field_maps import Rules, lay, rounded, sizes, target_maps
from ...data.framed import Framed, read_framed
from ...data.loader import Loader, RecordSource
from ...device import Blob
from .batches import BatchLayer, Numpy
from .framed_batches import draw_center, drop_outside, means, on_canvas, rows_of, scene_of

Sample = tuple[Numpy, list[Numpy], Numpy]


@dataclass
class GtSource(RecordSource):
    """Images of a window file, laid on a canvas."""

    entries: list[Framed]
    param: Any  # an ImageGtDataParameter
    mirror: bool
    canvas: tuple[int, int]
    rules: Rules
    mean: Numpy
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> Sample:
        p, entry = self.param, self.entries[index]
        scene = scene_of(entry, p.root_folder)
        if self.mirror and rng.integers(2):
            scene.flip()
        if p.HasField("resize_width") and p.HasField("resize_height"):
            scene.resize(p.resize_width, p.resize_height, entry.path)
        chosen = draw_center(scene, self.canvas, rng)
        multiple = p.do_multiple_scale and p.HasField("min_scale") and p.HasField("max_scale")
        factors = self.factors(scene.boxes[chosen], rng) if multiple and chosen >= 0 and rng.integers(2) else (1.0, 1.0)
        scene.rescale(*factors, entry.path)
        noise = int(rng.integers(20)) - 10, int(rng.integers(20)) - 10
        part, place = lay(scene, self.canvas, factors, noise)
        drop_outside(scene, self.canvas, (p.min_gt_width, p.min_gt_height))
        maps = target_maps(scene, self.canvas, place, self.rules)
        rows = np.column_stack([scene.boxes, scene.labels, scene.ignored])
        return on_canvas(part, place, self.canvas, self.mean, p.scale), maps, rows

    def factors(self, box: Numpy, rng: np.random.Generator) -> tuple[float, float]:
        """How a box is enlarged across and down: to one of the scales, half an octave apart, and to another shape."""
        p = self.param
        count = rounded(2 * math.log2(p.max_scale / p.min_scale) + 1)
        width, height = float(box[2] - box[0]), float(box[3] - box[1])
        if count < 1 or width <= 0 or height <= 0:
            return 1.0, 1.0
        octaves = np.arange(count) / 2
        areas = (p.min_scale * 2**octaves) ** 2
        nearest = octaves[np.argmax(np.minimum(width * height, areas) / np.maximum(width * height, areas))]
        factor = float(np.float32(2.0 ** (octaves[rng.integers(count)] - nearest)))
        across = down = factor
        if p.HasField("min_whaspect") and p.HasField("max_whaspect") and rng.integers(2):
            steps = max(rounded((p.max_whaspect - p.min_whaspect) / 0.05), 1)
            wanted = (int(rng.integers(steps)) * 0.05 + p.min_whaspect) / (width / height)
            if rng.integers(2):
                across *= wanted if p.min_scale * 0.8 <= width * across * wanted <= p.max_scale * 1.2 else 1
            else:
                down /= wanted if p.min_scale * 0.8 <= height * down / wanted <= p.max_scale * 1.2 else 1
        return across, down

    def collate(self, samples: Sequence[Sample]) -> list[Numpy]:
        arrays = [np.stack([sample[0] for sample in samples])]
        arrays += [np.stack([sample[1][i] for sample in samples]) for i in range(len(self.rules.strides))]
        rows = rows_of([sample[2] for sample in samples], [0, 1, 1, 2, 2, 1, 1])
        return [*arrays, rows][: self.tops]

    def name(self, index: int) -> str:
        return self.entries[index].path


class ImageGtData(
    BatchLayer, type="ImageGtData", param=("image_gt_data_param", "transform_param"), bottoms=0, tops=(2, None)
):
    """Batches of images and, for each size of receptive field, of maps of what a net is to find there.

    An image is mirrored, resized and, with do_multiple_scale, enlarged so that a box that is drawn gets one of the scales
    between min_scale and max_scale. It is laid on the canvas of the top about that box, moved by up to ten pixels; a
    smaller image near the middle, with 0 around it. A cell of a map learns the box that its receptive field overlaps
    by more than fg_threshold; a box that no cell learns goes to the cell at its centre in the map that overlaps it
    most, by 0.2 at least. Fields that lie in regions of the list by 0.4 do not count. An image that cannot be read is
    an error that names it.

    Parameters
    ----------
    image_gt_data_param
        `source` (required): a window file; for each image `# number`, its path, channels, height and width, the number
        of boxes and for each a line `class ignore xmin ymin xmax ymax`, the number of regions that do not count and for
        each `xmin ymin xmax ymax`. `root_folder` (""). `batch_size` (required). `downsample_rate`, `field_w` and
        `field_h` (required): one for each map. `resize_width` and `resize_height`, `crop_width` and `crop_height`: the
        size of the top, that of the last image of the list without them. `fg_threshold` (0.5). `min_gt_width`,
        `min_gt_height` (0): smaller boxes are ignored. `do_multiple_scale` (false), `min_scale`, `max_scale`,
        `min_whaspect`, `max_whaspect`. `shuffle` (false). `fg_img_multiple` (1): how often an image with a box comes in
        a round. `output_gt_boxes` (false). `scale` (1). `cache_images`: without effect here.
    transform_param
        `mirror` (false), `mean_value`.

    Returns
    -------
    top 0
        (batch, 3, height, width), the images.
    top 1, ...
        (batch, 6, height / rate, width / rate), a map for each rate: class (0 for background), x and y of the centre,
        width and height of the box in pixels of the top, and the overlap, which is 1 where nothing counts.
    last top
        With output_gt_boxes: (boxes, 7, 1, 1), image in the batch, xmin, ymin, xmax, ymax, class, ignored.

    Raises
    ------
    LayerError
        For parameters that are missing or do not fit, a window file that cannot be read, or an image that cannot be
        read.

    Source
    ------
    MS-CNN.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "ImageGtData" top: "data" top: "map"
    ...     image_gt_data_param { source: "windows.txt" batch_size: 2 resize_width: 640 resize_height: 480
    ...     crop_width: 448 crop_height: 448 downsample_rate: 8 field_w: 40 field_h: 40 } }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["map"].shape
    ((2, 3, 448, 448), (2, 6, 56, 56))
    """

    _refuse_broken = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, t = self.param.image_gt_data_param, self.param.transform_param
        self.need(p.source, "give image_gt_data_param { source: .. }, the window file")
        self.need(p.batch_size > 0, f"batch_size must be 1 or more, got {p.batch_size}")
        self.need(p.coord_num == 4, f"coord_num must be 4, got {p.coord_num}")
        strides, widths, heights = map(list, (p.downsample_rate, p.field_w, p.field_h))
        self.need(strides and min(strides) > 0, f"give downsample_rate, one for each map, from 1; got {strides}")
        self.need(
            len(strides) == len(widths) == len(heights),
            f"give downsample_rate, field_w and field_h once for each map; got {len(strides)}, {len(widths)}, {len(heights)}",
        )
        wanted = 1 + len(strides) + bool(p.output_gt_boxes)
        self.need(
            len(top) == wanted, f"has {wanted} tops (images, {len(strides)} maps ..), the prototxt gives {len(top)}"
        )
        self.need(
            len(t.mean_value) in (0, 1, 3), f"give mean_value once, or for each of 3 channels; got {len(t.mean_value)}"
        )
        self.need(not t.mean_file and not p.mean_file, "takes no mean_file; give mean_value")
        if p.do_multiple_scale and p.HasField("min_scale") and p.HasField("max_scale"):
            self.need(0 < p.min_scale <= p.max_scale, f"min_scale {p.min_scale} and max_scale {p.max_scale} do not fit")
        self.rules = Rules(strides, widths, heights, p.fg_threshold)
        self.canvas = self.size()
        shapes = [(p.batch_size, 6, *size) for size in sizes(self.canvas, strides)]
        self.need(
            all(min(shape) > 0 for shape in shapes), f"a canvas of {self.canvas} is too small for rates {strides}"
        )
        for blob, shape in zip(top, [(p.batch_size, 3, *self.canvas), *shapes, (1, 7, 1, 1)]):
            blob.reshape(*shape)

    def size(self) -> tuple[int, int]:
        """Height and width of the top."""
        p = self.param.image_gt_data_param
        if p.HasField("resize_width") and p.HasField("resize_height"):
            height, width = p.resize_height, p.resize_width
        elif p.crop_width and p.crop_height:
            return p.crop_height, p.crop_width
        else:
            height, width = self.entries()[-1].size[1:]
        self.need(height > 0 < width, f"resize_height and resize_width must be 1 or more, got {height} and {width}")
        self.need(
            p.crop_height <= height and p.crop_width <= width,
            f"a crop of {p.crop_width}x{p.crop_height} does not fit into images of {width}x{height}",
        )
        return p.crop_height or height, p.crop_width or width

    def entries(self) -> list[Framed]:
        try:
            return read_framed(self.param.image_gt_data_param.source, difficult=False)
        except DataError as error:
            self.need(False, str(error))
            raise

    def open(self) -> Loader:
        p, t = self.param.image_gt_data_param, self.param.transform_param
        repeated = [
            entry for entry in self.entries()
            for _ in range(p.fg_img_multiple if (entry.marks[:, 1] == 0).any() else 1)
        ]  # fmt: skip
        mean = means(t)
        tops = 1 + len(self.rules.strides) + bool(p.output_gt_boxes)
        source = GtSource(repeated, p, t.mirror, self.canvas, self.rules, mean, tops)
        return self.make_loader(source, self.make_order(len(repeated), p.shuffle), p.batch_size)
