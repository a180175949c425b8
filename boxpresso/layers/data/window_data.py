"""WindowData: R-CNN's batches of warped regions, objects and background in a fixed share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...data.errors import DataError
from ...data.loader import Loader, Order, RecordSource
from ...data.picture import decode
from ...data.windows import Windows, cut_window, read_windows
from ...device import Blob
from .batches import BatchLayer, Numpy, stack


@dataclass
class WindowSource(RecordSource):
    """A record is a place in the batch: windows of objects come last, and which ones is drawn."""

    windows: Windows
    objects: Numpy  # rows of the windows
    rest: Numpy
    backgrounds: int  # how many of the rest a batch has
    mean: Numpy | None
    param: Any  # a WindowDataParameter
    transform: Any  # a TransformationParameter
    layer: str
    pictures: dict[str, Numpy] = field(default_factory=dict)  # with cache_images, those that were read

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, float]:
        transform, param, mean = self.transform, self.param, self.mean
        background = index < self.backgrounds
        rows = self.rest if background else self.objects
        row = rows[rng.integers(len(rows))]
        flip = bool(transform.mirror and rng.integers(2))
        path = self.windows.paths[int(row[0])]
        picture = self.pictures.get(path)
        if picture is None:
            picture = decode(Path(param.root_folder + path), True)
            if param.cache_images:
                self.pictures[path] = picture
        size = transform.crop_size
        try:
            crop, y, x = cut_window(picture, row[3:], size, param.context_pad, param.crop_mode == "square", flip)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        where = (slice(None), slice(y, y + crop.shape[0]), slice(x, x + crop.shape[1]))
        values = np.zeros((3, size, size), np.float32)
        values[where] = crop.transpose(2, 0, 1)
        if mean is not None:
            values[where] -= mean[where] if mean.shape[1] > 1 else mean
        return values * np.float32(transform.scale), 0 if background else float(row[1])

    def collate(self, samples: Sequence[tuple[Numpy, float]]) -> list[Numpy]:
        pictures = stack([picture for picture, _ in samples], self.layer)
        return [pictures, np.array([label for _, label in samples], np.float32)]

    def name(self, index: int) -> str:
        return f"window {index} of the batch"


class WindowData(BatchLayer, type="WindowData", param=("window_data_param", "transform_param"), bottoms=0, tops=2):
    """R-CNN's batches of warped regions and their classes, objects and background in a fixed ratio.

    A window that overlaps an object by fg_threshold or more is an object; of the others, a window that overlaps by less
    than bg_threshold is background, class 0. In a batch, background comes first, then objects. What lies outside the picture
    is 0 after the mean has been subtracted. A picture that cannot be read is an error.

    Parameters
    ----------
    window_data_param
        `source` (required): the window file. `batch_size` (required). `fg_fraction` (0.25): the part of a batch that is
        objects. `fg_threshold` (0.5), `bg_threshold` (0.5): overlaps. `context_pad` (0): pixels around a window.
        `crop_mode` ("warp"): "warp" or "square". `root_folder` (""): goes before each path. `cache_images` (false):
        keep pictures in memory.
    transform_param
        `crop_size` (required): the side of a region in the top. `mean_file` or `mean_value`, `scale` (1), `mirror`
        (false).

    Returns
    -------
    top 0
        (batch, 3, crop_size, crop_size), the regions.
    top 1
        (batch), their classes.

    Raises
    ------
    LayerError
        For parameters that are missing or do not fit, a context_pad that leaves nothing of the crop, a window file
        without a kind of window that a batch needs, an object of class 0, a mean smaller than crop_size, or a picture
        that cannot be read.

    Source
    ------
    Caffe.

    Examples
    --------
    The shapes are known before the window file is opened:

    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "WindowData" top: "data" top: "label"
    ...     window_data_param { source: "windows.txt" batch_size: 128 context_pad: 16 crop_mode: "warp" }
    ...     transform_param { crop_size: 227 mirror: true } }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((128, 3, 227, 227), (128,))
    """

    _refuse_broken = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param, transform = self.param.window_data_param, self.param.transform_param
        self.need(param.source, "give window_data_param { source: .. }, the window file")
        self.need(param.batch_size > 0, f"batch_size must be 1 or more, got {param.batch_size}")
        self.need(param.crop_mode in ("warp", "square"), f"crop_mode must be warp or square, got {param.crop_mode!r}")
        self.need(0 <= param.fg_fraction <= 1, f"fg_fraction must be from 0 to 1, got {param.fg_fraction}")
        self.need(transform.crop_size > 0, "give transform_param { crop_size: .. }")
        self.need(
            2 * param.context_pad < transform.crop_size, f"context_pad {param.context_pad} leaves nothing of the crop"
        )
        self.transform = self.make_transform()
        top[0].reshape(param.batch_size, 3, transform.crop_size, transform.crop_size)
        top[1].reshape(param.batch_size)

    def open(self) -> Loader:
        param, transform = self.param.window_data_param, self.param.transform_param
        windows, size = read_windows(param.source), transform.crop_size
        overlap = windows.rows[:, 2]
        on_object = overlap >= param.fg_threshold
        objects, rest = windows.rows[on_object], windows.rows[~on_object & (overlap < param.bg_threshold)]
        count = int(np.float32(param.batch_size) * np.float32(param.fg_fraction))
        for kind, rows, needed in (("object", objects, count), ("background", rest, param.batch_size - count)):
            if needed and not len(rows):
                raise DataError(
                    f"{param.source!r} has no window that counts as {kind}; check fg_threshold and bg_threshold"
                )
        if not (objects[:, 1] > 0).all():
            raise DataError(f"{param.source!r} has an object of class 0, which is the background")
        mean = self.transform.mean(3)
        if mean is not None and mean.shape[1:] != (1, 1):
            room = [(side - size) // 2 for side in mean.shape[1:]]
            if min(room) < 0:
                raise DataError(f"the mean {transform.mean_file} is smaller than crop_size {size}")
            mean = mean[:, room[0] : room[0] + size, room[1] : room[1] + size]
        backgrounds = param.batch_size - count
        source = WindowSource(windows, objects, rest, backgrounds, mean, param, transform, str(self))
        order = Order(param.batch_size, False, 0)  # the place in the batch says what to draw
        return self.make_loader(source, order, param.batch_size)
