"""EvalData: Cascade R-CNN's images to test on, with their true boxes and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.errors import DataError
from ...data.field_maps import Scene, rounded
from ...data.framed import Framed, read_framed
from ...data.loader import Loader, RecordSource
from ...device import Blob
from .batches import BatchLayer, Numpy, stack
from .framed_batches import means, rows_of, scene_of

STEP = 32  # sides are multiples of it


@dataclass
class EvalSource(RecordSource):
    """Images of a window file, each resized."""

    entries: list[Framed]
    param: Any  # an EvalDataParameter
    scale: float
    mean: Numpy
    layer: str
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, Numpy]:
        entry = self.entries[index]
        scene = scene_of(entry, self.param.root_folder)
        scene.resize(*self.size(scene), entry.path)
        values = (scene.image.astype(np.float32) - self.mean) * np.float32(self.scale)
        rows = np.column_stack([scene.boxes, scene.labels, scene.ignored, scene.difficult])
        return np.ascontiguousarray(values.transpose(2, 0, 1)), rows

    def size(self, scene: Scene) -> tuple[int, int]:
        """Width and height to resize to."""
        p, sides = self.param, [scene.width, scene.height]
        if p.HasField("resize_width") and p.HasField("resize_height"):
            sides = [p.resize_width, p.resize_height]
        elif p.HasField("short_size") and p.HasField("long_size"):
            factor = np.float32(p.short_size) / np.float32(min(sides))
            sides = [min(rounded(float(np.float32(side) * factor)), p.long_size) for side in sides]
        width, height = (rounded(side / STEP) * STEP for side in sides)
        return width, height

    def collate(self, samples: Sequence[tuple[Numpy, Numpy]]) -> list[Numpy]:
        images = stack([image for image, _ in samples], self.layer)
        sizes = np.tile(np.array(images.shape[2:], np.float32), (len(samples), 1)).reshape(-1, 2, 1, 1)
        return [images, rows_of([rows for _, rows in samples], [-1] * 8), sizes][: self.tops]

    def name(self, index: int) -> str:
        return self.entries[index].path


class EvalData(BatchLayer, type="EvalData", param=("eval_data_param", "transform_param"), bottoms=0, tops=(1, 3)):
    """Batches of images to test on, with their true boxes and their sizes.

    Images come in the order of the list, round after round. Each is resized to resize_width and resize_height, or so that
    its shorter side becomes short_size, each side long_size at most; then each side to the nearest multiple of 32. An
    image that cannot be read is an error that names it.

    Parameters
    ----------
    eval_data_param
        `source` (required): a window file as for DetectionData. `root_folder` (""). `batch_size` (required), 1 without
        resize_width and resize_height. `resize_width` and `resize_height`, or `short_size` and `long_size`.
    transform_param
        `mean_value`, `scale` (1).

    Returns
    -------
    top 0
        (batch, 3, height, width), the images, (pixel - mean) * scale.
    top 1
        Optional. (boxes, 8, 1, 1): image in the batch, xmin, ymin, xmax, ymax in pixels of the top, class, ignored,
        difficult. A batch without a box has one row of -1.
    top 2
        Optional. (batch, 2, 1, 1), height and width of each image.

    Raises
    ------
    LayerError
        For parameters that are missing or do not fit, a window file that cannot be read, or an image that cannot be
        read or is too small.

    Source
    ------
    Cascade R-CNN.

    Examples
    --------
    Before the first batch, the top has short_size and long_size, as there:

    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "EvalData" top: "data" top: "gt_boxes" top: "image_sizes"
    ...     eval_data_param { source: "windows.txt" batch_size: 1 short_size: 600 long_size: 1000 } }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["image_sizes"].shape
    ((1, 3, 1000, 600), (1, 2, 1, 1))
    """

    _refuse_broken = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, t = self.param.eval_data_param, self.param.transform_param
        self.need(p.source, "give eval_data_param { source: .. }, the window file")
        self.need(p.batch_size > 0, f"batch_size must be 1 or more, got {p.batch_size}")
        fixed = p.HasField("resize_width") and p.HasField("resize_height")
        self.need(fixed or p.batch_size == 1, "batch_size must be 1 where images keep their shape")
        self.need(
            len(t.mean_value) in (0, 1, 3), f"give mean_value once, or for each of 3 channels; got {len(t.mean_value)}"
        )
        self.need(not t.mean_file, "takes no mean_file; give mean_value")
        self.count = len(top)
        if fixed:
            size = p.resize_height, p.resize_width
        elif p.HasField("short_size") and p.HasField("long_size"):
            size = p.long_size, p.short_size
        else:
            size = self.entries()[-1].size[1:]
        self.need(min(size) > 0, f"the sides of images must be 1 or more, got {size}")
        for blob, shape in zip(top, [(p.batch_size, 3, *size), (1, 8, 1, 1), (p.batch_size, 2, 1, 1)]):
            blob.reshape(*shape)

    def entries(self) -> list[Framed]:
        try:
            return read_framed(self.param.eval_data_param.source, difficult=True)
        except DataError as error:
            self.need(False, str(error))
            raise

    def open(self) -> Loader:
        p, t, entries = self.param.eval_data_param, self.param.transform_param, self.entries()
        source = EvalSource(entries, p, t.scale, means(t), str(self), self.count)
        return self.make_loader(source, self.make_order(len(entries), False), p.batch_size)
