"""WindowData: R-CNN's batches of warped regions, objects and background in a fixed share."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from ..data.errors import DataError
from ..data.loader import Loader, Order
from ..data.picture import decode
from ..data.windows import cut_window, read_windows
from .core.batches import BatchLayer, stack


class WindowData(BatchLayer, type="WindowData", bottoms=0, tops=2):
    """Regions (batch, 3, crop_size, crop_size), and their classes (batch): background first, then objects.

    window_data_param { source: "windows.txt" batch_size: 128 fg_fraction: 0.25 fg_threshold: 0.5 bg_threshold: 0.5
    context_pad: 16 crop_mode: "warp" }: a window that overlaps an object by fg_threshold or more is an object, below
    bg_threshold it is background, class 0. transform_param { crop_size: 227 mean_file, mean_value, scale, mirror }; what lies
    outside the picture is 0, after the mean. A picture that cannot be read is an error. Source: Caffe.
    """

    _refuse_broken = True

    def setup(self, bottom, top) -> None:
        param, transform = self.param.window_data_param, self.param.transform_param
        self.need(param.source, "give window_data_param { source: .. }, the window file")
        self.need(param.batch_size > 0, f"batch_size must be 1 or more, got {param.batch_size}")
        self.need(param.crop_mode in ("warp", "square"), f"crop_mode must be warp or square, got {param.crop_mode!r}")
        self.need(0 <= param.fg_fraction <= 1, f"fg_fraction must be from 0 to 1, got {param.fg_fraction}")
        self.need(transform.crop_size > 0, "give transform_param { crop_size: .. }")
        self.need(2 * param.context_pad < transform.crop_size, f"context_pad {param.context_pad} leaves nothing of the crop")
        self.transform = self.make_transform()
        top[0].reshape(param.batch_size, 3, transform.crop_size, transform.crop_size)
        top[1].reshape(param.batch_size)

    def open(self) -> Loader:
        param, transform = self.param.window_data_param, self.param.transform_param
        windows, layer, size = read_windows(param.source), str(self), transform.crop_size
        overlap = windows.rows[:, 2]
        objects, rest = windows.rows[overlap >= param.fg_threshold], windows.rows[overlap < param.bg_threshold]
        count = int(np.float32(param.batch_size) * np.float32(param.fg_fraction))
        for kind, rows, wanted in (("object", objects, count), ("background", rest, param.batch_size - count)):
            if wanted and not len(rows):
                raise DataError(f"{param.source!r} has no window that counts as {kind}; check fg_threshold and bg_threshold")
        if not (objects[:, 1] > 0).all():
            raise DataError(f"{param.source!r} has an object of class 0, which is the background")
        mean = self.transform.mean(3)
        if mean is not None and mean.shape[1:] != (1, 1):
            room = [(side - size) // 2 for side in mean.shape[1:]]
            if min(room) < 0:
                raise DataError(f"the mean {transform.mean_file} is smaller than crop_size {size}")
            mean = mean[:, room[0] : room[0] + size, room[1] : room[1] + size]
        read = lru_cache(maxsize=None if param.cache_images else 8)(decode)

        def load(index: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
            background = index < param.batch_size - count
            rows = rest if background else objects
            row = rows[rng.integers(len(rows))]
            flip = bool(transform.mirror and rng.integers(2))
            path = windows.paths[int(row[0])]
            picture = read(Path(param.root_folder + path), True)
            try:
                crop, y, x = cut_window(picture, row[3:], size, param.context_pad, param.crop_mode == "square", flip)
            except DataError as error:
                raise DataError(f"{path}: {error}") from error
            where = (slice(None), slice(y, y + crop.shape[0]), slice(x, x + crop.shape[1]))
            made = np.zeros((3, size, size), np.float32)
            made[where] = crop.transpose(2, 0, 1)
            if mean is not None:
                made[where] -= mean[where] if mean.shape[1] > 1 else mean
            return made * np.float32(transform.scale), 0 if background else float(row[1])

        def collate(samples) -> list[np.ndarray]:
            pictures = stack([picture for picture, _ in samples], layer)
            return [pictures, np.array([label for _, label in samples], np.float32)]

        order = Order(param.batch_size, False, 0)  # the place in the batch says what to draw
        return self.make_loader(load, collate, order, param.batch_size, "window {} of the batch".format)
